"""Records: what they hold, how they are built, written and read back, and what GNU Backgammon makes of them."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine import (
    START,
    Action,
    ActionError,
    GameState,
    IllegalPlayError,
    RecordError,
    WinKind,
    legal_plays,
    new_game,
    rules,
)
from engine.records import MatchRecord, RecordBuilder, RecordedAction, parse_mat, read_mat, to_mat, write_mat
from tests.boards import DATA
from tests.random_play import choice

SAMPLE = (DATA / "sample.mat").read_text(encoding="utf-8")


def random_record(start: GameState, seed: int, games: int) -> MatchRecord:
    """A match or a session of players who know nothing but the rules; the last game may be unfinished."""
    rng = random.Random(seed)
    builder = RecordBuilder(("Alice", "Bob B."), start)
    for number in range(games):
        for _ in range(rng.randrange(2, 40) if number == games - 1 else 10_000):
            if builder.state.result is not None:
                break
            builder.apply(*choice(builder.state, rng))
        if builder.state.match_over or builder.state.result is None:
            break
        builder.next_game()
    return builder.record()


def right_trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


# ---- the sample of the format description


def test_sample():
    record = read_mat(SAMPLE)
    assert (record.length, record.players, record.winner) == (5, ("Alice", "Bob"), None)
    assert record.tags == {"Event": "Sample"} and record.comments == ("a comment",)
    (game,) = record.games
    assert game.score_before == (0, 0) and (game.winner, game.points) == (1, 2)
    assert game.result.kind is WinKind.DROP and record.score == (0, 2)
    assert game.end.next_game() == replace(new_game(5), score=(0, 2))
    assert [(done.seat, done.action.value) for done in game.actions] == [
        (0, "play"), (1, "play"), (0, "play"), (1, "play"), (0, "double"), (1, "take"), (0, "play"), (1, "play"),
        (0, "play"), (1, "double"), (0, "drop"),
    ]  # fmt: skip
    assert right_trimmed(to_mat(record)) == SAMPLE
    assert f"\n{'  6)  Drops':<33}\n" in to_mat(record), "GNU Backgammon 1.07 misreads a short row without a colon"
    assert to_mat(parse_mat(to_mat(record))) == to_mat(record)
    assert parse_mat(to_mat(record)) == record


def test_sample_has_a_play_that_leaves_a_die_unplayed():
    """bar/21 with 4-2 leaves a 2 that can be played, and so must be: it stood, and the game went on from there."""
    assert read_mat(SAMPLE).irregular_plays == ["game 1, Bob: 42: bar/21"]
    with pytest.raises(RecordError, match="line 9: Bob, '42: bar/21': .*both dice can and must be played") as caught:
        read_mat(SAMPLE, strict=True)
    assert caught.value.line == 9
    mended = SAMPLE.replace("42: bar/21", "42: bar/21 13/11")
    assert read_mat(mended, strict=True).irregular_plays == []


def test_states_replay_the_game():
    game = read_mat(SAMPLE).games[0]
    walked = list(game.states())
    assert [action for _, action, _ in walked] == [done.action for done in game.actions if not done.irregular]
    for state, action, argument in walked:
        assert action in state.legal_actions()
        if action is Action.PLAY:
            assert argument in legal_plays(state.position, state.dice)
        else:
            assert argument is None
    state, action, argument = walked[0]
    assert (state.on_roll, state.dice, argument.notation) == (0, (3, 1), "8/5 6/5")
    assert walked[-1][0].drop() == game.end


# ---- building


def test_builder():
    builder = RecordBuilder(("bot", "you"), new_game(3), tags={"Site": "here"}, comments=("test",))
    assert builder.apply(Action.ROLL, (3, 1)) == builder.state == new_game(3).open((3, 1))
    builder.apply(Action.PLAY, "8/5 6/5")
    builder.apply("double")
    builder.apply(Action.TAKE)
    builder.apply(Action.ROLL, "64")
    builder.apply(Action.PLAY, legal_plays(builder.state.position, (6, 4))[0].position.board)
    builder.apply(Action.RESIGN, 1)
    builder.apply(Action.REJECT)
    builder.apply(Action.ROLL, (2, 2))
    builder.apply(Action.RESIGN, 1)
    unfinished = builder.record()
    assert unfinished.games[0].actions[-1] == RecordedAction(1, Action.ROLL, (2, 2))
    assert unfinished.games[0].result is None
    builder.apply(Action.ACCEPT)
    first = builder.record()
    assert [(done.seat, done.action.value, done.dice, done.level) for done in first.games[0].actions] == [
        (1, "play", (3, 1), 0), (0, "double", None, 0), (1, "take", None, 0), (0, "play", (6, 4), 0),
        (1, "roll", (2, 2), 0), (1, "resign", None, 1),
    ]  # fmt: skip
    assert first.score == (2, 0) and first.tags == {"Site": "here"} and first.comments == ("test",)
    assert builder.next_game() == builder.state == replace(new_game(3), score=(2, 0), crawford=True)
    assert builder.record() == first, "a game in which nothing happened yet is left out"
    builder.apply(Action.ROLL, (2, 1))
    assert builder.record().games[1].actions == (RecordedAction(1, Action.ROLL, (2, 1)),)
    assert builder.record().games[0] == first.games[0]


def test_builder_refuses_what_the_rules_forbid_and_records_nothing_then():
    builder = RecordBuilder(("a", "b"), new_game(5))
    with pytest.raises(ActionError, match="opening roll comes first"):
        builder.apply(Action.PLAY, "8/5 6/5")
    builder.apply(Action.ROLL, (3, 1))
    for action, argument, error in [
        (Action.PLAY, "8/4 6/5", IllegalPlayError), (Action.PLAY, START.board, ActionError),
        (Action.ROLL, (3, 1), ActionError), (Action.DOUBLE, None, ActionError), (Action.ACCEPT, None, ActionError),
        (Action.RESIGN, 4, ActionError), ("jump", None, ValueError),
    ]:  # fmt: skip
        with pytest.raises(error):
            builder.apply(action, argument)
        assert builder.state == new_game(5).open((3, 1))
    with pytest.raises(ActionError, match="not over yet"):
        builder.next_game()
    with pytest.raises(RecordError, match="before its opening roll"):
        RecordBuilder(("a", "b"), GameState(START))


def test_a_resignation_is_told_as_a_file_can_tell_it():
    """The level by what it costs; a roll that allows one play as played."""
    jacoby = RecordBuilder(("a", "b"), new_game(jacoby=True))
    jacoby.apply(Action.ROLL, (3, 1))
    jacoby.apply(Action.RESIGN, 3)
    jacoby.apply(Action.ACCEPT)
    assert jacoby.record().games[0].actions[-1].level == 1
    assert jacoby.state.result.points == 1
    record = read_mat(LATER_DANCE)
    assert [(done.seat, done.action.value) for done in record.games[0].actions[-2:]] == [(0, "play"), (0, "resign")]
    assert parse_mat(to_mat(record)) == record
    builder = RecordBuilder(record.players, record.games[0].start)
    for action, argument in [
        (Action.ROLL, (2, 6)), (Action.PLAY, "24/18 13/11"), (Action.ROLL, (6, 1)), (Action.PLAY, "13/7* 8/7"),
        (Action.ROLL, (6, 6)), (Action.RESIGN, 1), (Action.ACCEPT, None),
    ]:  # fmt: skip
        builder.apply(action, argument)
    assert builder.record() == record


LATER_DANCE = """ 0 point match

 Game 1
 a : 0                          b : 0
  1) 62: 24/18 13/11             61: 13/7* 8/7
  2) 66:
                                  Wins 1 point

"""


def test_a_roll_that_nobody_has_played_yet_is_told_from_a_dance():
    builder = RecordBuilder(("a", "b"), new_game())
    for action, argument in [
        (Action.ROLL, (2, 6)), (Action.PLAY, "24/18 13/11"), (Action.ROLL, (6, 1)), (Action.PLAY, "13/7* 8/7"),
        (Action.ROLL, (6, 6)),
    ]:  # fmt: skip
        builder.apply(action, argument)
    record = builder.record()
    assert record.games[0].actions[-1].action is Action.ROLL and "66: ???\n" in to_mat(record)
    assert parse_mat(to_mat(record)) == record
    builder.apply(Action.PLAY, "no play")
    assert parse_mat(to_mat(builder.record())) == builder.record() != record


def test_hand_made_records_are_checked():
    record = read_mat(SAMPLE)
    for fields, reason in [
        ({"games": ()}, "at least one game"),
        ({"length": 7}, "a game to 5 points in a match to 7"),
        ({"players": ("a",)}, "two players"),
        ({"players": ("a", " ")}, "printable text"),
        ({"players": ("a", "b\x07")}, "printable text"),
        ({"players": ("a", "; b")}, "printable text"),
        ({"tags": {"a": 'say "hi"'}}, "a tag is a name and a text"),
        ({"tags": {"a": "two\nlines"}}, "a tag is a name and a text"),
        ({"tags": {"": "x"}}, "a tag is a name and a text"),
        ({"tags": {"a": "two  spaces"}}, "a tag is a name and a text"),
        ({"tags": {"Crawford": "maybe"}}, "tag Crawford: On or Off"),
        ({"tags": {"CubeLimit": "banana"}}, "tag CubeLimit: a power of two"),
        ({"tags": {"CubeLimit": "64"}}, "a tag says that max_cube is 64, but in a game it is None"),
        ({"tags": {"Variation": "NackGammon"}}, "variant is nackgammon, but in a game it is backgammon"),
        ({"tags": {"Stakes": "1 1 1"}}, "stakes is"),
        ({"comments": ("two\nlines",)}, "one line of text"),
        ({"comments": ("two  spaces",)}, "one line of text"),
        ({"comments": ("",)}, "one line of text"),
        ({"comments": ('[a "b"]',)}, "read as a tag"),
    ]:
        with pytest.raises(RecordError, match=reason):
            replace(record, **fields)
    other = replace(new_game(5), max_cube=64)
    with pytest.raises(RecordError, match="same rules"):
        replace(record, games=(*record.games, replace(record.games[0], start=other)))
    money = random_record(new_game(), 1, 1)
    for name, word in (("Jacoby", "On"), ("Beaver", "yes")):
        with pytest.raises(RecordError, match=f"{name.lower()}s? is True"):
            replace(money, tags={name: word})
    with pytest.raises(RecordError, match="crawford is False, but in a game it is True"):
        replace(random_record(new_game(1), 1, 1), tags={"Crawford": "Off"})
    usual = {"Jacoby": "Off", "Beaver": "no", "Variation": "Backgammon", "CubeLimit": "1024", "Crawford": "Off"}
    assert parse_mat(to_mat(replace(money, tags=usual))).tags == usual
    assert replace(record, players=(" A  B ", "c")).players == ("A B", "c")
    wrong = replace(record.games[0], actions=record.games[0].actions[1:])
    with pytest.raises(ActionError):
        list(replace(wrong, start=replace(new_game(5).open((1, 3)), dice=None)).states())


def test_actions_of_the_wrong_player_are_refused():
    game = read_mat(SAMPLE).games[0]
    for number in (1, 4, 5):
        done = list(game.actions)
        done[number] = replace(done[number], seat=1 - done[number].seat)
        with pytest.raises(ActionError, match="it is not his turn"):
            list(replace(game, actions=tuple(done)).states())


def test_record_errors_can_be_pickled():
    error = RecordError("nothing", 3)
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.line, copied.reason) == ("line 3: nothing", 3, "nothing")


# ---- writing and reading back

SESSIONS = {
    "match": new_game(3),
    "long match": new_game(15),
    "one point": new_game(1),
    "money": new_game(),
    "Jacoby and beavers": new_game(jacoby=True, beavers=True),
    "club": new_game(rules=rules.CLUB),
    "towel": new_game(rules=rules.TOWEL),
    "nackgammon": new_game(5, variant="nackgammon"),
    "hypergammon": new_game(rules=rules.CLUB, variant="hypergammon"),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", SESSIONS)
def test_round_trip(name, seed):
    record = random_record(SESSIONS[name], seed, games=3)
    text = to_mat(record)
    again = parse_mat(text, strict=True)
    assert again == record
    assert to_mat(again) == text
    for game, following in zip(again.games, [*again.games[1:], None], strict=True):
        assert [action for _, action, _ in game.states()] == [done.action for done in game.actions]
        if following is not None:
            assert following.start == game.end.next_game()


def test_rules_stand_in_tags():
    start = new_game(jacoby=True, beavers=True, max_cube=64, variant="nackgammon")
    record = random_record(replace(start, stakes=(1, 1, 1)), 3, 1)
    assert record.tags == {
        "Jacoby": "On", "Beaver": "On", "CubeLimit": "64", "Variation": "NackGammon", "Stakes": "1 1 1",
    }  # fmt: skip
    assert random_record(new_game(5), 3, 1).tags == {}


@pytest.mark.parametrize("score", [(2, 1), (0, 2)])
@pytest.mark.parametrize("crawford", [True, False])
def test_a_record_may_begin_late_in_a_match(score, crawford):
    start = replace(new_game(3), score=score, crawford=crawford)
    record = random_record(start, 1, 2)
    assert record.games[0].start == start and record.tags == ({} if crawford else {"Crawford": "Off"})
    again = parse_mat(to_mat(record))
    assert again == record and again.games[0].start.crawford == crawford


def test_a_resignation_without_an_answer_leaves_no_trace():
    builder = RecordBuilder(("a", "b"), new_game(5))
    builder.apply(Action.ROLL, (3, 1))
    before = builder.record()
    builder.apply(Action.RESIGN, 1)
    assert builder.record() == before == parse_mat(to_mat(builder.record())) and builder.state.resigned == 1


def test_a_highest_cube_of_1024_is_read_as_none():
    record = random_record(new_game(max_cube=1024), 1, 1)
    assert record.games[0].start.max_cube == 1024
    assert parse_mat(to_mat(record)).games[0].start.max_cube is None


@given(st.text(max_size=40), st.text(max_size=40), st.tuples(*[st.integers(0, 10**6)] * 2))
@example("a : 1 b", "c : 2", (12345, 678901))
@example("Game 1", "Wins 2 points", (0, 0))
def test_names_are_read_back(one, other, score):
    try:
        record = RecordBuilder((one, other), replace(new_game(), score=score)).record()
    except RecordError:
        return
    assert parse_mat(to_mat(record)) == record


def test_columns():
    lines = to_mat(random_record(new_game(), 5, 4)).split("\n")
    games = [i for i, line in enumerate(lines) if line.startswith(" Game")]
    assert lines[:2] == [" 0 point match", ""] and len(games) == 4
    for i in games:
        assert lines[i - 1] == "" and lines[i + 1][32:].startswith("Bob B. : ")
    rows = [line for line in lines if ")" in line[:4]]
    assert all(line[3:5] == ") " for line in rows)
    rights = [line[33:] for line in rows if len(line.rstrip()) > 33]
    assert rights and all(right[0] in " 123456" and right[:2] != "  " for right in rights)


def test_files(tmp_path):
    record = replace(read_mat(SAMPLE), players=("Zoë Ünal", "李"))
    path = tmp_path / "match.mat"
    write_mat(record, path)
    assert read_mat(path) == read_mat(str(path)) == record
    assert path.read_bytes() == to_mat(record).encode("utf-8")
    write_mat(read_mat(SAMPLE), path)
    assert read_mat(path) == read_mat(SAMPLE)
    assert [entry.name for entry in tmp_path.iterdir()] == ["match.mat"], "nothing else is left"


def test_files_that_cannot_be(tmp_path):
    with pytest.raises(RecordError, match="cannot read .*nothing.mat.*No such file"):
        read_mat(tmp_path / "nothing.mat")
    with pytest.raises(RecordError, match="cannot read"):
        read_mat(tmp_path)
    with pytest.raises(RecordError, match="cannot read"):
        read_mat("zero\0byte")
    with pytest.raises(RecordError, match="cannot write .*No such file"):
        write_mat(read_mat(SAMPLE), tmp_path / "no folder" / "match.mat")
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(RecordError, match="cannot write"):
        write_mat(read_mat(SAMPLE), target)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


# ---- the other side

GNUBG = shutil.which("gnubg") or ("/usr/games/gnubg" if Path("/usr/games/gnubg").exists() else None)
WARNINGS = ("warning", "unrecognised", "invalid", "error", "illegal", "doesn't follow", "garbage")


@pytest.mark.skipif(GNUBG is None, reason="needs the program GNU Backgammon, which is optional: apt install gnubg")
@pytest.mark.parametrize(
    ("start", "seed"),
    [
        (new_game(9), 2),
        (new_game(7, variant="nackgammon"), 7),
        (new_game(7, variant="hypergammon"), 8),
        (new_game(max_cube=64), 3),
        (new_game(jacoby=True, beavers=True, max_cube=64), 6),
    ],
    ids=["match", "nackgammon", "hypergammon", "money", "Jacoby and beavers"],
)
def test_gnubg_reads_what_we_write_and_we_read_what_it_writes(start, seed, tmp_path):
    """GNU Backgammon imports a random match without a warning, and exports the same actions and scores."""
    record = random_record(start, seed, games=12)
    finished = tuple(game for game in record.games if game.result is not None)
    record = replace(record, games=finished)
    write_mat(record, tmp_path / "ours.mat")
    commands = [
        f"set jacoby {'on' if start.jacoby else 'off'}",
        f"import mat {tmp_path / 'ours.mat'}",
        "show score",
        f"export match mat {tmp_path / 'theirs.mat'}",
    ]
    environment = {**os.environ, "HOME": str(tmp_path)}
    run = subprocess.run(
        [str(GNUBG), "-t", "-q"],
        input="\n".join(commands) + "\n",
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    said = run.stdout[run.stdout.index("show copying") :] + run.stderr
    assert not [line for line in said.splitlines() if any(word in line.lower() for word in WARNINGS)]
    alice, bob = record.score
    assert f"Alice {alice}, Bob B. {bob}" in said
    theirs = read_mat(tmp_path / "theirs.mat", strict=True)
    assert theirs.players == record.players and theirs.score == record.score
    assert [game.actions for game in theirs.games] == [game.actions for game in record.games]
    kinds = {game.result.kind for game in finished}
    assert len(finished) == 1 or len(kinds) > 1


def test_what_gnubg_wrote_is_read():
    """A file that GNU Backgammon 1.07.001 exported: every step written out, and a pair of lines too many at the end."""
    theirs = read_mat(DATA / "gnubg_export.mat")
    assert theirs.games == read_mat(SAMPLE).games
    assert theirs.score == (0, 2)
    session = (DATA / "gnubg_export.mat").read_text(encoding="utf-8").replace(" 5 point", " 0 point")
    assert "Beavers => 8" in session and read_mat(session).tags == {"Site": "sample", "EventDate": "2026.11.30"}
