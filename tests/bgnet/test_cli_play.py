"""`bgnet play` as a user meets it: typed lines in, screens out."""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner

import bgnet
import engine
from bgnet.cli import app
from bgnet.cli.play import EPILOG
from bgnet.search import MoveFilter
from engine import START, GameState, Play, Position, dice, legal_plays
from tests.boards import board
from tests.marks import needs_peers

ON_ROLL_31 = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
LEVELS = ("single", "gammon", "backgammon")


def invoke(*arguments: str, typed: str = "") -> Any:
    """Without a cube; games with one are in test_cli_play_cube.py."""
    return CliRunner().invoke(app, ["play", "--no-cube", *arguments], input=typed)


class Script(NamedTuple):
    """A game as it must go, worked out without bgnet.session."""

    lines: list[str]
    """What X types."""
    own: list[tuple[Position, tuple[int, int]]]
    """X's turns, each in his view."""
    bot: list[str]
    """O's plays, in O's numbers."""
    points: int
    """X's."""
    turns: int


def script(bot: str, seed: int, game: int, choose: Callable[[list[Play]], Play]) -> Script:
    player = bgnet.player(bot)
    one, two = dice.opening(seed, game)
    own_turn, position, roll = one > two, START, (one, two)
    lines, own, replies, turns = [], [], [], 0
    while position.ending() is None:
        roll = (max(roll), min(roll))
        plays = legal_plays(position, roll)
        if own_turn:
            own.append((position, roll))
            play = choose(plays)
            if len(plays) > 1:
                lines.append(play.notation)
        else:
            chosen = player.choose(position.board.copy()[None], np.array([roll], np.int8))[0]
            play = next(play for play in plays if (play.position.board == chosen).all())
            replies.append(f"O rolled {roll[0]}-{roll[1]}: {play.notation} (O's own numbers)")
        position, own_turn, turns = play.position, not own_turn, turns + 1
        roll = dice.roll(seed, game, turns)
    level = (position.ending() or 0) - 2
    return Script(lines, own, replies, -level if own_turn else level, turns)


def differently(notation: str) -> str:
    """The same play as other people write it."""
    return ", ".join(reversed(notation.upper().replace("*", "").replace("BAR", "25").replace("OFF", "0").split()))


# ---- whole games ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bot", "seed"), [("net:standard", 1), ("net:standard", 2), ("random", 3), ("random", 4)])
def test_two_games_go_as_the_dice_and_the_bot_say(bot: str, seed: int) -> None:
    rng = random.Random(seed)
    scripts = [script(bot, seed, game, rng.choice) for game in (1, 2)]
    typed = "".join(f"{line}\n" for game in scripts for line in game.lines)
    result = invoke("--against", bot, "--seed", str(seed), "--games", "2", "--json", "--quiet", typed=typed)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert [line for line in lines if line.startswith("O rolled")] == [reply for game in scripts for reply in game.bot]
    rolled = [line.split()[2].rstrip(":") for line in lines if line.startswith("you rolled")]
    assert rolled == [f"{roll[0]}-{roll[1]}" for game in scripts for _, roll in game.own]
    summary = json.loads(lines[-1])
    assert summary["schema"] == "bgnet.play/1"
    assert (summary["bot"], summary["seed"], summary["dice"], summary["left"]) == (bot, seed, "seed", None)
    assert summary["games"] == [
        {
            "game": number,
            "winner": "you" if game.points > 0 else "bot",
            "ending": LEVELS[abs(game.points) - 1],
            "points": abs(game.points),
            "cube": 1,
            "turns": game.turns,
            "resigned": False,
        }
        for number, game in enumerate(scripts, 1)
    ]
    own, theirs = (sum(max(side * game.points, 0) for game in scripts) for side in (1, -1))
    assert summary["score"] == {"you": own, "bot": theirs}
    assert lines[-2] == f"score after game 2: you (X) {own}, {bot} (O) {theirs}"


def test_the_board_is_always_seen_from_the_users_side() -> None:
    played = script("net:standard", 1, 1, lambda plays: plays[0])
    typed = "".join(f"{line}\n" for line in played.lines)
    result = invoke("--against", "net:standard", "--seed", "1", typed=typed)
    boards = re.findall(r"^ \+13-.*?\n \+12-.*?$", result.stdout, re.MULTILINE | re.DOTALL)
    assert len(boards) == len(played.own) + 1, "one before each own turn, and the last"
    for shown, (position, roll) in zip(boards, played.own, strict=False):
        assert f"X to play {roll[0]}-{roll[1]}" in shown
        assert shown.replace(f"  X to play {roll[0]}-{roll[1]}", "") == str(position)
    assert boards[-1].splitlines()[-2].endswith("game over")
    assert re.search(r"  O  pips \d+  off 15$|  O  pips 0", boards[-1], re.MULTILINE), (
        "the bot has won against plays[0]"
    )


def test_plays_may_be_typed_in_any_way_and_are_shown_as_they_were_understood() -> None:
    played = script("random", 6, 1, lambda plays: plays[-1])
    typed = "".join(f"  {differently(line)} \n" for line in played.lines)
    result = invoke("--against", "random", "--seed", "6", "--json", typed=typed)
    assert json.loads(result.stdout.splitlines()[-1])["games"][0]["turns"] == played.turns
    shown = re.findall(r"^you play (.*)$", result.stdout, re.MULTILINE)
    assert shown == [line for line in played.lines if differently(line) != line]
    assert len(shown) > 10


def test_forced_plays_are_made_and_announced() -> None:
    closed = board({25: 1, 6: 14}, {24: 2, 23: 2, 22: 2, 21: 2, 20: 2, 19: 5})
    position = Position(closed).position_id
    result = invoke("--position", position, "--against", "random", "--seed", "1")
    assert re.search(r"^you rolled \d-\d: no play$", result.stdout, re.MULTILINE)
    last = GameState(Position(board({1: 1}, {20: 14})), dice=(2, 1)).xgid
    result = invoke("--position", last, "--against", "random", "--seed", "1", "--json")
    assert "you rolled 2-1: 1/off (the only legal play)" in result.stdout
    assert "X wins a single game: 1 point" in result.stdout
    assert "  X  pips 0  off 15\n" in result.stdout
    assert json.loads(result.stdout.splitlines()[-1])["score"] == {"you": 1, "bot": 0}


def test_several_games_from_one_position() -> None:
    start = GameState(Position(board({1: 1}, {20: 15})), dice=(2, 1)).xgid
    result = invoke("--position", start, "--against", "random", "--games", "3", "--json")
    summary = json.loads(result.stdout.splitlines()[-1])
    assert [game["points"] for game in summary["games"]] == [2, 2, 2]
    assert "game 3 of 3: you (X) 4, random (O) 0" in result.stdout


def test_the_bot_may_be_on_roll_in_the_position_and_its_match_goes_on() -> None:
    start = GameState(Position(board({1: 1}, {20: 15})), on_roll=0, dice=(2, 1), match_length=7, score=(1, 2)).xgid
    result = invoke("--position", start, "--against", "random", "--seed", "1", "--json", "--quiet", typed="quit\n")
    assert "O rolled 2-1: 1/off (O's own numbers)" in result.stdout
    assert "game 2 of a 7-point match: you (X) 2, random (O) 3\n" in result.stdout
    assert json.loads(result.stdout.splitlines()[-1])["score"] == {"you": 2, "bot": 3}
    assert result.stderr == ""


# ---- what is typed besides plays -----------------------------------------------------------------------------------


def at_31(*typed: str, options: tuple[str, ...] = ()) -> str:
    """The screen after the opening 3-1 of the user; what is typed, then quit."""
    arguments = ["--position", ON_ROLL_31, "--against", "net:standard", "--seed", "1", *options]
    result = invoke(*arguments, typed="".join(f"{line}\n" for line in [*typed, "quit"]))
    assert result.exit_code == 0, result.output
    return str(result.stdout)


REFUSED = [
    ("8/5 6/4", "'8/5 6/4' is not legal: 6/4 is 2 pips, you have a 1 left. From 6: 6/5"),
    ("8/5", "both dice can and must be played"),
    ("pass", "3-1 can be played, so it must be"),
    ("foo", "help lists the commands"),
    ("hnit", "did you mean hint?"),
    ("Undo 3", "undo stands alone, without '3'"),
    ("undo", "nothing to undo: this is your first choice"),
    ("hint some", "hint takes a number of rows or all, not 'some'"),
    ("hint 0", "hint takes a number"),
    ("roll", "you have rolled: 3-1"),
    ("dice 31", "cannot be changed"),
    ("save", "save where?"),
    ("save /no/such/folder/x.txt", "cannot be written to /no/such/folder/x.txt"),
    ("8/5\x006/5", "cannot read"),
]


@pytest.mark.parametrize(("typed", "words"), REFUSED, ids=lambda value: str(value)[:20])
def test_what_cannot_be_done_gets_its_reason_and_a_new_prompt(typed: str, words: str) -> None:
    screen = at_31(typed, "8/5 6/5")
    assert words in screen
    assert screen.count("you rolled 3-1 > ") == 2
    assert screen.count("O rolled") == 1, "the legal play then went through"


def test_enter_alone_does_nothing() -> None:
    screen = at_31("", "", "")
    assert screen.count("you rolled 3-1 > ") == 4
    assert "O rolled" not in screen


def test_pips_board_and_help() -> None:
    screen = at_31("pips", "board", "help", "?")
    assert "pips: you 167, O 167 (level)" in screen
    assert screen.count("X to play 3-1") == 2
    assert screen.count("save [FILE]") == 2
    assert "dice 31" not in screen
    behind = GameState(Position(board({4: 2}, {20: 1, 19: 1})), dice=(2, 1)).xgid
    assert "pips: you 8, O 11 (you lead by 3)" in invoke("--position", behind, typed="pips\n").stdout


def rows(screen: str) -> list[list[str]]:
    """The hint's rows: rank or nothing, play, equity, loss or nothing, depth."""
    pattern = r"^ {0,2}(\d*) +(\S+/\S+(?: \S+/\S+)*|no play) +([+-]\d\.\d{3})  (\([+-]\d\.\d{3}\))? .*  (\S+)$"
    return [list(found) for found in re.findall(pattern, screen, re.MULTILINE)]


def test_hints_are_what_analyze_says_with_the_depth_on_every_row() -> None:
    screen = at_31("hint")
    assert "hint by net:standard, cubeless equity, points" in screen
    analysis = bgnet.analyze(ON_ROLL_31, bot="net:standard", filters=[MoveFilter(5, 3, 0.16)])
    shown = rows(screen)
    best = [play for play in analysis.plays if play.depth == "2-ply"]
    assert shown[:5] == [
        [
            str(play.rank),
            play.play,
            f"{play.equity:+.3f}",
            f"({-play.loss:+.3f})" if play.loss > 0.0005 else "",
            "2-ply",
        ]
        for play in best[:5]
    ]
    assert len(best) >= 5
    assert [row[0] for row in shown[5:]] == [""] * (len(shown) - 5), "other depths are not ranked"
    assert {row[4] for row in shown} == {play.depth for play in analysis.plays}


def test_hints_at_one_depth_are_cut_to_the_rows_asked_for() -> None:
    for typed, expected in (("hint", 5), ("hint 2", 2), ("HINT all", 16)):
        shown = rows(at_31(typed, options=("--hints", "net:standard@0ply")))
        assert [row[4] for row in shown] == ["0-ply"] * expected
        assert [row[0] for row in shown] == [str(n) for n in range(1, expected + 1)]
        assert shown[0][1] == "8/5 6/5"


@needs_peers
@pytest.mark.parametrize(
    ("against", "judge", "depth"),
    [("gnubg:1", "gnubg:0", "1-ply"), ("sage:0", "sage:0", "0-ply"), ("pubeval", "net:standard", "2-ply")],
)
def test_hints_come_from_the_opponent_or_who_can_give_them(against: str, judge: str, depth: str) -> None:
    screen = invoke("--position", ON_ROLL_31, "--against", against, typed="hint\n").stdout
    assert f"hint by {judge}, cubeless" in screen
    assert rows(screen)[0][4] == depth


def test_who_has_no_chances_to_give_cannot_be_asked_for_hints() -> None:
    result = invoke("--hints", "random")
    assert result.exit_code == 2
    assert "no chances to give" in result.stderr


def test_undo_goes_back_and_the_dice_stay() -> None:
    played = script("net:standard", 9, 1, lambda plays: plays[0])
    other = script("net:standard", 9, 1, lambda plays: plays[-1])
    head = len([1 for line, twin in zip(played.lines, other.lines, strict=False) if line == twin])
    typed = [*other.lines[:4], "undo", "undo", "undo", "undo", "undo", *played.lines]
    assert head < 4, "the two ways differ early"
    result = invoke("--against", "net:standard", "--seed", "9", "--json", typed="\n".join(typed) + "\n")
    lines = result.stdout.splitlines()
    assert json.loads(lines[-1])["games"][0]["turns"] == played.turns
    assert (
        lines.count("back to your previous turn, with the same dice")
        + lines.count("back to your first turn, with the same dice")
        == 4
    )
    assert sum("nothing to undo" in line for line in lines) == 1


# ---- resigning -----------------------------------------------------------------------------------------------------

LOST_GAMMON = Position(board({13: 15}, {24: 1})).position_id
"""O bears off his last checker next; X has borne off none."""


def test_resigning_asks_and_has_no_default() -> None:
    screen = at_31("resign", "", "maybe", "no", "resign", "NO")
    assert screen.count("resign as 1 single, 2 gammon, 3 backgammon (costs 1, 2, 3 points) or no > ") == 4
    assert "'maybe' is none of: 1 single, 2 gammon, 3 backgammon, no" in screen
    assert screen.count("you play on") == 2
    assert "resigns" not in screen


@pytest.mark.parametrize(
    ("level", "points"), [("single", 1), ("Gammon", 2), ("backgammon", 3), ("1", 1), ("2", 2), ("3", 3)]
)
def test_resigning(level: str, points: int) -> None:
    result = invoke("--position", ON_ROLL_31, "--games", "2", "--json", typed=f"resign {level}\nresign\n1\n")
    summary = json.loads(result.stdout.splitlines()[-1])
    assert [game["points"] for game in summary["games"]] == [points, 1]
    assert all(game["resigned"] and game["winner"] == "bot" for game in summary["games"])
    assert summary["score"] == {"you": 0, "bot": points + 1}


def test_what_can_be_typed_instead_of_a_level() -> None:
    result = invoke("--position", ON_ROLL_31, "--json", typed="resign\n?\nboard\nquit\n")
    assert result.stdout.count("save [FILE]") == 1
    assert result.stdout.count("X to play 3-1") == 2
    assert json.loads(result.stdout.splitlines()[-1])["left"] == "quit"


def test_a_level_is_no_number_of_points() -> None:
    start = GameState(START, dice=(3, 1), cube=2, owner=1).xgid
    result = CliRunner().invoke(app, ["play", "--position", start, "--json"], input="resign\n2\n")
    assert "resign as 1 single, 2 gammon, 3 backgammon (costs 2, 4, 6 points) or no > " in result.stdout
    assert json.loads(result.stdout.splitlines()[-1])["score"] == {"you": 0, "bot": 4}


def test_a_resignation_that_is_too_cheap_is_not_accepted() -> None:
    result = invoke("--position", LOST_GAMMON, "--seed", "1", "--json", typed="resign single\nresign gammon\n")
    assert "O does not accept: net:standard expects it to win +2." in result.stdout
    summary = json.loads(result.stdout.splitlines()[-1])
    assert [game["points"] for game in summary["games"]] == [2]


def test_who_has_borne_off_resigns_a_single_game_only() -> None:
    start = GameState(Position(board({6: 14}, {19: 15})), dice=(2, 1)).xgid
    screen = invoke("--position", start, typed="resign\ngammon\nno\nresign gammon\nno\n").stdout
    assert screen.count("resign as 1 single (costs 1 point) or no > ") == 3
    assert screen.count("you have borne off a checker, so you can lose a single game only") == 2


# ---- typed dice ----------------------------------------------------------------------------------------------------


def test_all_dice_are_typed() -> None:
    typed = ["x", "33", "31", "8/5 6/5", "7-1", "", "hint", "board", "6 4", "board", "5-2", "quit"]
    result = invoke("--dice", "--against", "net:standard", "--json", typed="\n".join(typed) + "\n")
    screen = result.stdout
    assert screen.count("opening dice, yours first (31: you start, 13: O starts) > ") == 3
    assert "both threw a 3: equal dice are thrown again" in screen
    assert "opening roll: you 3, O 1: you start" in screen
    assert "dice '7-1': two numbers from 1 to 6 are needed" in screen
    assert "a hint is for a roll: the dice come first" in screen
    assert re.search(r"O rolled 6-4: \S+", screen)
    boards = re.findall(r"^ \+13-.*?\n \+12-.*?$", screen, re.MULTILINE | re.DOTALL)
    after = engine.parse_play(START, "31", "8/5 6/5").position.flipped()
    assert boards[1].replace("  O to roll", "") == str(after), "X's view while O is on roll"
    assert "X to roll" in boards[2]
    assert "you rolled 5-2 > " in screen
    summary = json.loads(screen.splitlines()[-1])
    assert (summary["dice"], summary["seed"], summary["left"]) == ("typed", None, "quit")


def test_o_may_start_and_a_roll_typed_wrong_is_corrected() -> None:
    typed = ["13", "52", "dice 66", "24/18(2) 13/7(2)", "roll", "dice 11", "undo", "dice 7", "dice 65", "help"]
    screen = invoke("--dice", "--against", "random", typed="\n".join(typed) + "\n").stdout
    assert "opening roll: you 1, O 3: O starts" in screen
    assert "O rolled 3-1" in screen
    for roll in ("5-2", "6-6", "6-5"):
        assert f"you rolled {roll} > " in screen
    assert "you type the dice here, such as 31" in screen
    assert "just type the roll, such as 31" in screen
    assert "back to your previous turn, with the same dice" in screen
    assert "dice '7'" in screen
    assert "dice 31     the roll at hand was typed wrong" in screen


def test_the_opening_can_be_corrected_too() -> None:
    screen = invoke("--dice", "--against", "random", typed="31\ndice 13\nundo\n31\n").stdout
    assert screen.count("opening roll: you 3, O 1: you start") == 2
    assert screen.count("opening roll: you 1, O 3: O starts") == 1
    assert "back to the start of the game" in screen


def test_seeds() -> None:
    result = invoke("--dice", "--seed", "1")
    assert result.exit_code == 2
    assert "leave one out" in result.stderr
    seeds = {re.search(r"dice of seed (\d+)", invoke("--against", "random").stdout)[1] for _ in range(3)}  # type: ignore[index]
    assert len(seeds) == 3, "random unless named"
    assert "engine.dice.roll(seed, g, n)" in invoke("--help").stdout


# ---- the log -------------------------------------------------------------------------------------------------------


def test_the_log(tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    start = ["--position", ON_ROLL_31, "--against", "net:standard", "--seed", "1"]
    result = invoke(*start, "--save", str(file), "--json", typed="6/5 8/5\nquit\n")
    assert json.loads(result.stdout.splitlines()[-1])["log"] == str(file)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[2].startswith("game 1, from XGID=")
    assert lines[3] == "   1 X 3-1  8/5 6/5"
    assert lines[4].startswith("   2 O ")
    assert list(tmp_path.iterdir()) == [file]
    again = invoke(*start, "--save", str(file))
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    assert file.read_text(encoding="utf-8").splitlines() == lines
    nowhere = invoke(*start, "--save", str(tmp_path / "no" / "x.txt"))
    assert nowhere.exit_code == 2
    assert "No such file or directory" in nowhere.stderr


def test_save_while_playing(tmp_path: Path) -> None:
    first, second = tmp_path / "first.txt", tmp_path / "Second file.txt"
    screen = at_31(f"save {first}", "8/5 6/5", "save", f"save {second}")
    assert screen.count(f"saved {first}; it is kept up to date from now on\n") == 2
    assert f"saved {second}; it is kept up to date from now on; {first} stays as it is now\n" in screen
    assert f"log    {second}" in screen
    for file in (first, second):
        assert "1 X 3-1  8/5 6/5" in file.read_text(encoding="utf-8")


def test_one_goes_back_to_a_file_of_this_game_and_to_no_other(tmp_path: Path) -> None:
    first, second, other = tmp_path / "first.txt", tmp_path / "second.txt", tmp_path / "other.txt"
    other.write_text("my letters", encoding="utf-8")
    screen = invoke(
        "--position", ON_ROLL_31, "--save", str(first), typed=f"save {second}\nsave {other}\nsave {first}\n8/5 6/5\n"
    ).stdout
    assert f"saved {first}; it is kept up to date from now on; {second} stays as it is now\n" in screen
    assert f"{other} exists already" in screen and other.read_text(encoding="utf-8") == "my letters"
    assert "1 X 3-1  8/5 6/5" in first.read_text(encoding="utf-8")
    assert "8/5 6/5" not in second.read_text(encoding="utf-8")


def test_a_log_that_cannot_be_written_any_more_does_not_end_the_game(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    from bgnet.cli.game_table import GameTable, Judge
    from bgnet.session import Session

    table = GameTable(Session(bgnet.player("random"), seed=1), "random", Judge("net:standard", 0), 1, False)
    table.keep_log(folder / "log.txt")
    (folder / "log.txt").unlink()
    folder.rmdir()
    table._update_log()


# ---- leaving, errors -----------------------------------------------------------------------------------------------


def test_the_end_of_the_input_leaves_with_a_word() -> None:
    result = invoke("--position", ON_ROLL_31, "--against", "random", typed="8/5 6/5\n")
    assert result.exit_code == 0
    assert "end of input: game 1 is not finished and does not count\nscore: you (X) 0, random (O) 0" in result.stdout
    result = invoke("--position", ON_ROLL_31, "--against", "random", "--json", typed="resign\n")
    assert json.loads(result.stdout.splitlines()[-1])["left"] == "end of input"


BAD = [
    (["--against", "randm"], "bot_spec", "did you mean random?"),
    (["--against", "net:nosuch"], "net_file", "nosuch"),
    (["--position", "zzz"], "notation", "zzz"),
    (["--seed", "-1"], "dice", "seed"),
    (["--position", Position(board({}, {1: 3})).position_id], "session", "the game is over"),
    (["--hints", "nobody"], "bot_spec", "nobody"),
]


@pytest.mark.parametrize(("arguments", "kind", "words"), BAD, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_said_and_gives_exit_code_2(arguments: list[str], kind: str, words: str) -> None:
    plain = invoke(*arguments)
    assert (plain.exit_code, plain.stdout) == (2, "")
    assert plain.stderr.startswith("error: ")
    assert words in plain.stderr
    error = json.loads(invoke(*arguments, "--json").stdout)["error"]
    assert error["kind"] == kind
    assert words in error["message"]


def test_a_bot_that_breaks_the_rules_ends_the_game_and_the_log_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("bgnet.players.RandomPlayer.choose", lambda self, boards, dice: boards)
    file = tmp_path / "log.txt"
    arguments = ["--position", ON_ROLL_31, "--against", "random", "--save", str(file)]
    result = invoke(*arguments, typed="8/5 6/5\n")
    assert result.exit_code == 1
    assert "error: the bot chose an illegal result" in result.stderr
    assert "1 X 3-1  8/5 6/5" in file.read_text(encoding="utf-8")


def test_the_examples_in_the_help_run() -> None:
    shown = " ".join(invoke("--help").stdout.split())
    examples = [line for line in EPILOG.splitlines() if line.startswith("bgnet ")]
    assert len(examples) == 3
    for example in examples:
        assert example in shown
        assert "pubeval" in example or invoke(*shlex.split(example)[2:], typed="quit\n").exit_code == 0
