"""Reading .mat files: what programs and people write, and every way in which a file can be wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Action, GameStatus, RecordError, WinKind
from engine.records import MatchRecord, parse_mat, read_mat, to_mat
from tests.boards import DATA
from tests.states import mutations

SAMPLE = (DATA / "sample.mat").read_text(encoding="utf-8")


def game(*rows: str, length: int = 5, score: tuple[int, int] = (0, 0), top: str = "", number: int = 1) -> str:
    """A file with one game, its rows as they are written."""
    head = f" Game {number}\n Alice : {score[0]}                      Bob : {score[1]}\n"
    return f"{top}\n {length} point match\n\n{head}" + "\n".join(rows) + "\n"


def row(number: int, left: str = "", right: str = "") -> str:
    return f"{f'{number:>3}) {left}':<33}{right}"


def told(record: MatchRecord) -> list[str]:
    """The actions of the last game in short."""
    return [
        f"{'LR'[done.seat]} {done.play.notation if done.play else done.level or done.action.value}"
        for done in record.games[-1].actions
    ]


def refused(text: str) -> RecordError:
    with pytest.raises(RecordError) as caught:
        parse_mat(text)
    return caught.value


OPENING = row(1, "31: 8/5 6/5", "64: 24/14")


# ---- what is read


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("52: 13/8 6/4*", "13/8 6/4*"),
        ("52: 13/8 6/4", "13/8 6/4*"),
        ("25: 6/4*, 13/8", "13/8 6/4*"),
        ("52:13/8 6/4*", "13/8 6/4*"),
        ("52 : 13/8 6/4*", "13/8 6/4*"),
        ("21: 6/4*/3", "6/4*/3"),
        ("21: 6/3", "6/3"),
    ],
)
def test_plays_in_every_form(written, meant):
    record = parse_mat(game(row(1, "31: 13/10 24/23", "43: 24/21 13/9"), row(2, written)))
    assert told(record)[-1] == f"L {meant}"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("66: 24/18(2) 13/7(2)", "24/18(2) 13/7(2)"),
        ("66: 24/18 24/18 13/7 13/7", "24/18(2) 13/7(2)"),
        ("66: 24/18(2)  13/7 13/7  ", "24/18(2) 13/7(2)"),
        ("44: 24/16 13/5", "24/16 13/5"),
        ("44: 24/20/16 13/9/5", "24/16 13/5"),
        ("44: 24/20 20/16 13/9 9/5 0/0", "24/16 13/5"),
    ],
)
def test_doubles_in_every_form(written, meant):
    assert told(parse_mat(game(OPENING, row(2, written))))[-1] == f"L {meant}"


def test_bar_and_off_as_numbers_and_words():
    start = [row(1, "62: 24/18 13/11", "61: 13/7* 8/7")]
    for written in ("51: bar/24 13/8", "51: 25/24 13/8", "51: Bar/24 13/8"):
        assert told(parse_mat(game(*start, row(2, written))))[-1] == "L bar/24 13/8"
    bearing_off = (DATA / "gnubg_bearoff.mat").read_text(encoding="utf-8")
    numbers = read_mat(bearing_off)
    words = read_mat(bearing_off.replace("/0", "/Off"))
    assert numbers == words and numbers.games[0].result.kind is not WinKind.DROP
    assert any("off" in done.play.notation for done in numbers.games[0].actions if done.play)


@pytest.mark.parametrize("word", ["", "Cannot Move", "cannot move", "No move"])
def test_dances(word):
    record = parse_mat(game(row(1, "62: 24/18 13/11", "61: 13/7* 8/7"), row(2, f"66: {word}", "31: 8/5 6/5")))
    assert told(record)[2:] == ["L no play", "R 8/5 6/5"]


def test_a_forced_play_may_be_left_out():
    """As GNU Backgammon reads it."""
    text = (DATA / "closed_out.mat").read_text(encoding="utf-8")
    assert text.count("26: bar/19") == 1
    assert parse_mat(text.replace("26: bar/19", "26:")) == parse_mat(text)
    for word in ("Cannot Move", "no move"):
        with pytest.raises(RecordError, match="26 can be played, e.g. bar/19"):
            parse_mat(text.replace("26: bar/19", f"26: {word}"))


@pytest.mark.parametrize("hidden", ["66:", "66: ???", "66: ????", "66: Illegal play", "00:", "00: ????", ""])
def test_a_roll_without_a_play_at_the_end_is_a_resignation(hidden):
    rows = [OPENING, row(2, hidden) if hidden else "", " " * 34 + "Wins 2 points"]
    record = parse_mat(game(*rows))
    assert told(record)[2:] == (["L roll"] if hidden.startswith("66") else []) + ["L 2"]
    assert (record.games[0].winner, record.games[0].points) == (1, 2)
    assert record.games[0].result.kind is WinKind.GAMMON and record.games[0].result.resigned
    assert parse_mat(to_mat(record)) == record


def test_who_resigns_follows_from_the_column_of_the_winner():
    record = parse_mat(game(OPENING, "      Wins 1 point"))
    assert told(record)[2:] == ["R 1"] and record.score == (1, 0), "it was the left player's turn"
    walked = list(record.games[0].states())
    assert walked[-1][0].on_roll == 1 and walked[-1][0].resign(1).accept() == record.games[0].end
    assert parse_mat(to_mat(record)) == record


def test_a_double_that_is_not_answered_is_dropped():
    record = parse_mat(game(OPENING, row(2, " Doubles => 2"), "      Wins 1 point"))
    assert told(record)[2:] == ["L double", "R drop"] and record.games[0].result.kind is WinKind.DROP


@pytest.mark.parametrize(
    "cell", [" Doubles => 2", "Doubles ==> 2", "doubles => 2", "Double", "Doubles to 2", "Redoubles => 2"]
)
def test_cube_words(cell):
    record = parse_mat(game(OPENING, row(2, cell, " Takes"), row(3, "66: 24/18(2) 13/7(2)")))
    assert told(record)[2:4] == ["L double", "R take"]


def test_beavers():
    rows = [OPENING, row(2, " Doubles => 2", " Beavers => 4")]
    for answer in ([], [row(3, " Takes")]):
        record = parse_mat(game(*rows, *answer, row(4, "66: 24/18(2) 13/7(2)"), length=0))
        assert told(record)[2:4] == ["L double", "R beaver"]
        assert (record.games[0].end.cube, record.games[0].end.owner) == (4, 1)
        assert record.tags["Beaver"] == "On"
    assert "a beaver that is dropped cannot be recorded" in str(refused(game(*rows, row(3, " Drops"), length=0)))
    raccoon = refused(game(*rows, row(3, " Raccoons => 8"), length=0))
    assert "raccoons cannot be recorded" in str(raccoon)
    assert "beavers belong to money play" in str(refused(game(*rows)))
    assert "the cube goes to 4, not to 8" in str(refused(game(OPENING, row(2, "Doubles", "Beavers => 8"), length=0)))


def test_what_stands_after_the_end_is_left_alone():
    rows = [OPENING, row(2, " Doubles => 2", " Drops"), "      Wins 1 point"]
    record = parse_mat(game(*rows))
    for more in ([" Beavers => 4", " " * 34 + "Wins 4 points"], [row(3, "31: 8/5 6/5")], ["   Losses 1 point"]):
        assert parse_mat(game(*rows, *more)) == record
    assert parse_mat(game(*rows[:2], " Beavers => 4", "      Wins 1 point")) == record
    assert parse_mat(game(*rows[:2])) == record, "the line with the points may be missing"
    assert parse_mat(game(rows[0], row(2, " Doubles => 2", " Drops   Wins 1 point"))).games[0].winner == 0
    one_row = "  2)  Doubles => 2              Drops      Wins 1 point and the match"
    assert parse_mat(game(rows[0], one_row)) == record


@pytest.mark.parametrize(
    ("wins", "score"),
    [("Wins 1 point", (4, 3)), ("Wins 1 points and the match", (4, 3)), ("Wins 2 points and the match", (4, 3))],
)
def test_points_may_be_cut_at_the_end_of_the_match(wins, score):
    """Some programs write what the match needed, others what the game was worth."""
    rows = [OPENING, row(2, " Doubles => 2", " Takes"), row(3, "66: 24/18(2) 13/7(2)"), " " * 34 + wins]
    record = parse_mat(game(*rows, score=(3, 4)))
    assert record.winner == 1 and record.games[0].points == 2 and record.score == (3, 6)


def test_unfinished_games():
    record = parse_mat(game(OPENING))
    assert record.games[0].result is None and record.games[0].points == 0 and record.games[0].winner is None
    assert record.winner is None and record.score == (0, 0)
    assert parse_mat(game()).games[0].actions == ()
    second = " Game 2\n Alice : 0      Bob : 0\n" + OPENING
    both = parse_mat(game(OPENING) + second)
    assert [g.result for g in both.games] == [None, None]


def test_the_next_score_tells_how_a_game_ended_that_does_not_say_so():
    record = parse_mat(game(OPENING) + " Game 2\n Alice : 0      Bob : 3\n" + OPENING)
    assert (record.games[0].points, record.games[0].winner) == (3, 1)
    assert record.games[0].result.kind is WinKind.BACKGAMMON


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_line_ends(ends):
    assert parse_mat(SAMPLE.replace("\n", ends)) == parse_mat(SAMPLE)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings(encoding, tmp_path):
    text = SAMPLE.replace("Alice", "Zoë Müller")
    path = tmp_path / "match.mat"
    path.write_bytes(text.encode(encoding))
    assert read_mat(path).players == ("Zoë Müller", "Bob")
    path.write_bytes(SAMPLE.replace("Alice", "\x81").encode("latin-1"))  # means nothing in Windows-1252
    with pytest.raises(RecordError, match="printable"):
        read_mat(path)


def test_tabs():
    text = SAMPLE.replace("                 64:", "\t\t\t64:").replace("          42:", "\t\t42:")
    assert "\t" in text and parse_mat(text) == parse_mat(SAMPLE)
    assert told(parse_mat(game("  1)\t\t\t\t31: 8/5 6/5"))) == ["R 8/5 6/5"], "a tab stands for up to eight columns"


@pytest.mark.parametrize(
    ("line", "players"),
    [
        (" Alice(1500) : 0       Bob(1612.5) : 0", ("Alice(1500)", "Bob(1612.5)")),
        (" Alice A. Smith : 0    Bob : 0", ("Alice A. Smith", "Bob")),
        (" Alice:x : 0           Bob:0 : 0", ("Alice:x", "Bob:0")),
        ("Alice: 0  Bob: 0", ("Alice", "Bob")),
        ("gopreta: 0 hajjs: 0", ("gopreta", "hajjs")),
        (" Alice   B : 0\tBob : 0 ", ("Alice B", "Bob")),
        (" Alice,1500 : 0          Bob,1700 : 0", ("Alice,1500", "Bob,1700")),
    ],
)
def test_players(line, players):
    text = SAMPLE.replace(" Alice : 0                      Bob : 0", line)
    assert parse_mat(text).players == players


def test_ratings_may_change_from_game_to_game():
    second = " Game 2\n Alice(1504.2) : 0      Bob(1496) : 2\n"
    text = SAMPLE.replace(" Alice : 0                      Bob : 0", " Alice(1500) : 0      Bob(1500) : 0")
    assert parse_mat(text + second).players == ("Alice(1500)", "Bob(1500)")


def test_top_of_other_programs():
    top = """; [Site "eXtreme Gammon"]
; [Player 1 "Alice"]
;[EventDate "2025.10.22"]
; [Crawford "On"]
; [CubeLimit "1024"]
; [Variation "Backgammon"]
+-----------------+
|  Monte Carlo    |
# a remark
;
"""
    record = parse_mat(top + SAMPLE.split("\n\n", 1)[1].replace(" 5 point match", "5 Point Match"))
    assert record.tags == {
        "Site": "eXtreme Gammon", "Player 1": "Alice", "EventDate": "2025.10.22", "Crawford": "On",
        "CubeLimit": "1024", "Variation": "Backgammon",
    }  # fmt: skip
    assert record.comments == ("+-----------------+", "| Monte Carlo |", "a remark")
    assert record.games == parse_mat(SAMPLE).games
    assert parse_mat(to_mat(record)) == record


@pytest.mark.parametrize("line", ["0 point match", "Unlimited match", "Money session", " 0 points match "])
def test_money(line):
    assert parse_mat(SAMPLE.replace(" 5 point match", line)).length == 0


def test_set_position_that_says_what_is_known():
    start = "; Set Pos=-b----E-C---eE---c-e----B-/0"
    assert parse_mat(game(start, OPENING)) == parse_mat(game(OPENING))
    error = refused(game("; Set Pos=-b----E-C---eE---c-e---AA-/0", OPENING))
    assert error.line == 6 and "goes on from a set position" in str(error)


def test_a_player_who_is_closed_out_may_be_left_out():
    """Six points are held, so that no roll enters; some programs then write nothing for him."""
    text = (DATA / "closed_out.mat").read_text(encoding="utf-8")
    record = read_mat(text, strict=True)
    passed = [done for done in record.games[0].actions if done.action is Action.PLAY and done.dice is None]
    assert passed and all(not done.play.moves for done in passed)
    assert parse_mat(to_mat(record)) == record
    assert len(list(record.games[0].states())) == len(record.games[0].actions) - len(passed)


# ---- the rules that a file implies


def test_crawford_game():
    """4-2 in a match to 5 at the top of a file: the Crawford game, unless somebody doubles in it."""
    assert parse_mat(game(OPENING, score=(4, 2))).games[0].start.crawford
    double = row(2, "21: 13/11 6/5", " Doubles => 2")
    assert not parse_mat(game(OPENING, double, score=(4, 2))).games[0].start.crawford
    assert not parse_mat(game(OPENING, score=(4, 4))).games[0].start.crawford
    assert not parse_mat(game(OPENING, score=(4, 2), top='; [Crawford "Off"]\n')).games[0].start.crawford
    assert parse_mat(game(OPENING, length=1)).games[0].start.crawford
    first = game(OPENING, " " * 34 + "Wins 1 point", score=(0, 3))
    second = " Game 2\n Alice : 0      Bob : 4\n" + OPENING + "\n" + row(2, " Doubles => 2")
    error = refused(first + second)
    assert "it is the Crawford game: nobody may double" in str(error) and error.line == 11
    assert not parse_mat('; [Crawford "Off"]\n' + first + second).games[1].start.crawford


def test_a_useless_double_stands():
    """Double match point: the rules of others allow to turn a cube that wins nothing."""
    rows = [OPENING, row(2, " Doubles => 2", " Takes"), row(3, "66: 24/18(2) 13/7(2)")]
    record = parse_mat(game(*rows, score=(4, 4)))
    assert record.games[0].end.cube == 2
    assert parse_mat(to_mat(record)) == record
    assert [action.value for _, action, _ in record.games[0].states()][2:4] == ["double", "take"]


def test_jacoby_rule_is_seen_in_the_points():
    gammon = (DATA / "gnubg_bearoff.mat").read_text(encoding="utf-8")
    record = parse_mat(gammon)
    assert record.games[0].result.kind is WinKind.GAMMON and record.games[0].points == 2 and not record.tags
    jacoby = parse_mat(gammon.replace("Wins 2 points", "Wins 1 point"))
    assert jacoby.tags == {"Jacoby": "On"} and jacoby.games[0].points == 1
    assert "wins 2 points here, not 3" in str(refused(gammon.replace("Wins 2 points", "Wins 3 points")))
    off = '; [Jacoby "Off"]\n' + gammon.replace("Wins 2 points", "Wins 1 point")
    assert "wins 2 points here, not 1" in str(refused(off))


# ---- what is refused


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", None, 'no line " n point match": this is not a .mat file'),
        ("\x89PNG\r\n\x1a\n", None, "this is not a .mat file"),
        (" Game 1\n Alice : 0   Bob : 0\n", 1, '" n point match" is missing above the first game'),
        (" 5 point match\n", None, "the file has no game"),
        (" 40000 point match\n Game 1\n", 1, "too long"),
        (" 5 point match\n\n Alice : 0   Bob : 0\n", 3, "' Game 1' is expected, not 'Alice : 0   Bob : 0'"),
        (" 5 point match\n\n Game 1\n", 3, "no line with the players and the score"),
        (" 5 point match\n\n Game 1\n Game 2\n A : 0  B : 0\n", 3, "no line with the players and the score"),
        (" 5 point match\n\n Game 1\n  1) 31: 8/5 6/5\n", 4, "' name : score     name : score' is expected"),
        (game(score=(5, 0)), 5, "at 5-0 the match to 5 points is over"),
        (game("  1) hello"), 6, "cannot read 'hello'"),
        (game(OPENING, row(2, "xx 31: 8/5")), 7, "cannot read 'xx'"),
        (game(row(1, "37: 8/5")), 6, "Alice, '37: 8/5': dice '37'"),
        (game(row(1, "31: 8/4 6/5")), 6, "Alice, '31: 8/4 6/5': '8/4 6/5' is not legal"),
        (game(row(1, "", "31: 8/5 5/3")), 6, "Bob, '31: 8/5 5/3': '8/5 5/3' is not legal"),
        (game(row(1, "31: 8/5* 6/5")), 6, "nothing is hit on 5"),
        (game(row(1, "31: 8/5*")), 6, "is not legal"),
        (game(row(1, "31: 8-5 6-5")), 6, "cannot read '8-5'"),
        (game(row(1, "31: cannot move")), 6, "31 can be played, e.g. 24/2"),
        (game(row(1, "31:", "64: 24/14")), 6, "Alice's play of 31 before it is missing"),
        (game(row(1, "31: Illegal play (;0;0)")), 6, "a play that breaks the rules cannot be recorded"),
        (game(row(1, " Doubles => 2")), 6, "a game begins with a roll"),
        (game(OPENING, row(2, "", "31: 8/5 6/5")), 7, "it is the turn of Alice, in the other column"),
        (game(OPENING, row(2, " Takes")), 7, "cannot take: no double is pending"),
        (game(OPENING, row(2, "", " Drops")), 7, "it is the turn of Alice"),
        (game(OPENING, row(2, " Doubles => 2", "31: 8/5 6/5")), 7, "takes or drops first"),
        (game(OPENING, row(2, " Doubles => 4", " Takes")), 7, "Alice, 'Doubles => 4': the cube goes to 2, not to 4"),
        (game(OPENING, row(2, "31: 6/2 Takes Drops")), 7, "3 actions in one row"),
        (game(OPENING, "      Wins 4 points", length=0), 7, "Bob cannot resign 4 points with the cube at 1"),
        (game(OPENING, "      Wins"), 7, "Bob has not lost yet, so it must be said how many points he resigns"),
        (game(OPENING, row(2, " Doubles => 2", " Drops"), "      Wins 2 points"), 8, "Alice wins 1 point here, not 2"),
        (SAMPLE + " Game 2\n Alice : 0   Bob : 1\n", 17, "the score is 0-1, but after the games before it is 0-2"),
        (SAMPLE + " Game 2\n Bob : 2   Alice : 0\n", 17, "the players are Alice and Bob, not Bob and Alice"),
        (game(length=0, top='\n; [Jacoby "maybe"]'), 2, "tag Jacoby: On or Off, not 'maybe'"),
        ('; [Crawford "maybe"]\n' + SAMPLE, 1, "tag Crawford: On or Off, not 'maybe'"),
        ('; [CubeLimit "48"]\n' + SAMPLE, 1, "tag CubeLimit: a power of two is needed, not '48'"),
        ('; [Variation "Longgammon"]\n' + SAMPLE, 1, "tag Variation: 'Longgammon' is not played here"),
        ('; [Stakes "1 x"]\n' + SAMPLE, 1, "tag Stakes: three numbers are needed"),
        ('; [Stakes "3 2 1"]\n' + SAMPLE, None, "stakes must be three whole numbers"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, line, reason):
    error = refused(text)
    assert reason in str(error)
    assert error.line == line
    assert str(error).startswith(f"line {line}: ") or line is None


# ---- broken games


GAMES = """ 4 point match

 Game 1
 Alice : 0                      Bob : 0
  1) 31: 8/5 6/5                 64: 24/14
  2)  Doubles => 2                Drops
      Wins 1 point

 Game 2
 Alice : 1                      Bob : 0
  1)                             52: 13/8 13/11
  2)  Doubles => 2                Takes
  3) 31: 8/5 6/5                 64: 24/14
      Wins 2 points

 Game 3
 Alice : 3                      Bob : 0
  1) 31: 8/5 6/5                 64: 24/14
                                  Wins 1 point

 Game 4
 Alice : 3                      Bob : 1
  1) 31: 8/5 6/5                 64: 24/14
  2) 65: 24/13
"""


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("52: 13/8 13/11", "52: 13/8 6/5", 11),
        ("52: 13/8 13/11", "52: 13/8 13/", 11),
        ("52: 13/8 13/11", "52: Illegal play (13/8)", 11),
        ("52: 13/8 13/11", "52: Cannot Move", 11),
        ("52: 13/8 13/11", "52: ????", 12),
        ("52: 13/8 13/11", "hello", 11),
        ("Takes", "Raccoons", 12),
        ("Wins 2 points", "Wins 1 point", 14),
        ("Alice : 1 ", "Alice : 2 ", 10),
        ("Alice : 1  ", "Alice, 1  ", 10),
        (" Alice : 1                      Bob : 0\n", "", 10),
    ],
)
def test_a_broken_game_does_not_cost_the_others(right, wrong, line):
    whole, text = parse_mat(GAMES), GAMES.replace(right, wrong)
    assert [game.start.crawford for game in whole.games] == [False, False, True, False]
    record = parse_mat(text, keep_broken=True)
    assert [record.games[i] for i in (0, 2, 3)] == [whole.games[i] for i in (0, 2, 3)]
    assert (record.games[1].actions, record.games[1].result) == ((), None)
    assert list(record.broken_games) == [2] and record.broken_games[2].line == line
    assert (record.score, record.winner) == (whole.score, None)
    assert str(refused(text)) == str(record.broken_games[2])
    with pytest.raises(RecordError, match="game 2 was not read"):
        to_mat(record)


@pytest.mark.parametrize("last", [" Alice : 3                      Bob : 1\n", "  2) 65: 24/13\n"])
def test_a_file_may_be_cut(last):
    record = parse_mat(GAMES[: GAMES.rindex(last)] + last[:-4], keep_broken=True)
    assert list(record.broken_games) == [4] and record.score == (3, 1) and record.winner is None


def test_a_file_of_broken_games_is_refused():
    text = GAMES.replace("31: 8/5 6/5", "31: 8/5 6/4").replace("52: 13/8", "52: 13/7")
    with pytest.raises(RecordError, match="line 5: "):
        parse_mat(text, keep_broken=True)


def test_the_crawford_game_may_be_the_broken_one():
    record = parse_mat(GAMES.replace("Wins 1 point\n\n Game 4", "Wins\n\n Game 4"), keep_broken=True)
    assert list(record.broken_games) == [3] and not record.games[3].start.crawford


def test_the_jacoby_rule_is_seen_beside_a_broken_game():
    jacoby = (DATA / "gnubg_bearoff.mat").read_text(encoding="utf-8").replace("Wins 2 points", "Wins 1 point")
    (left, right), score = parse_mat(jacoby).players, parse_mat(jacoby).score
    second = f" Game 2\n {left} : {score[0]}      {right} : {score[1]}\n  1) 31: 8/3\n"
    record = parse_mat(f"{jacoby}\n{second}", keep_broken=True)
    assert record.tags == {"Jacoby": "On"} and list(record.broken_games) == [2]


@pytest.mark.parametrize(("value", "jacoby"), [("On", True), ("TRUE", True), ("yes", True), ("1", True), ("off", False),
                                               ("False", False), ("No", False), ("0", False)])  # fmt: skip
def test_a_tag_may_say_yes_in_many_words(value, jacoby):
    record = parse_mat(game(OPENING, length=0, top=f'; [Jacoby "{value}"]'))
    assert record.games[0].start.jacoby is jacoby
    assert parse_mat(to_mat(record)) == record


def test_a_match_has_no_rules_of_money_play():
    for value in ("True", "whatever"):
        record = parse_mat(game(OPENING, top=f'; [Jacoby "{value}"]\n; [Beaver "{value}"]'))
        assert not record.games[0].start.jacoby and parse_mat(to_mat(record)) == record


def test_an_opening_roll_of_doubles_is_told():
    record = parse_mat(game(row(1, "33: 8/5(2) 6/3(2)", "64: 24/14")))
    assert record.irregular_openings == ["game 1, Alice: 33"]
    assert parse_mat(SAMPLE).irregular_openings == []


def test_no_game_can_follow_the_match():
    won = game(OPENING, " " * 34 + "Wins 3 points and the match", score=(0, 2))
    empty = " Game 2\n Alice : 0      Bob : 5\n"
    assert parse_mat(won + empty).winner == 1, "some programs begin one all the same"
    error = refused(won + empty + OPENING)
    assert error.line == 9 and "the match is over, no game can follow" in str(error)
    kept = parse_mat(won + empty + OPENING, keep_broken=True)
    assert (kept.winner, kept.score, list(kept.broken_games)) == (1, (0, 5), [2])


def test_rolls_after_the_last_checker():
    text = (DATA / "gnubg_bearoff.mat").read_text(encoding="utf-8")
    wins = next(line for line in text.split("\n") if "Wins" in line)
    error = refused(text.replace(wins, row(99, "31: 8/5 6/5", "31: 8/5 6/5") + "\n" + wins))
    assert "the game is over" in str(error)


def test_only_text_is_read():
    for nothing in (None, 3, b"text"):
        with pytest.raises(RecordError, match="is text, not"):
            parse_mat(nothing)


@settings(max_examples=150)
@given(mutations([SAMPLE], SAMPLE + "()*\t;|\x00é=") | st.text(max_size=60).map(lambda text: " 5 point match\n" + text))
def test_any_text_is_read_or_refused(text):
    try:
        parse_mat(text, keep_broken=True)
        record = parse_mat(text)
    except RecordError:
        return
    assert parse_mat(to_mat(record)) == record
    assert record.games[0].end.game_state in GameStatus
