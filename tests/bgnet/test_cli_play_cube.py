"""`bgnet play` for stakes, as a user meets it: the cube, matches, files for other programs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bgnet.cli import app
from bgnet.cli.common import signed
from bgnet.cubeful_analysis import analyze_cube
from bgnet.match_equity import LONGEST
from engine import START, GameState, Position, legal_plays
from engine.actions import Action
from engine.records import read_mat
from tests.boards import board

JUDGE = ["--hints", "net:standard@0ply"]
FAR_AHEAD = Position(board({6: 3, 5: 3, 4: 3, 3: 3, 2: 3}, {12: 5, 13: 5, 14: 4}))
"""A race that is won, but no gammon: a double is passed."""
EVEN_RACE = Position(board({6: 5, 5: 5, 4: 5}, {19: 5, 20: 5, 21: 5}))


def invoke(*arguments: str, typed: str = "") -> Any:
    return CliRunner().invoke(app, ["play", *arguments, *JUDGE], input=typed)


def play(*arguments: str, typed: list[str]) -> str:
    result = invoke(*arguments, typed="".join(f"{line}\n" for line in typed))
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def summary(screen: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(screen.splitlines()[-1])
    return found


def on_roll(position: Position, seat: int = 1, **fields: Any) -> str:
    return GameState(position, on_roll=seat, **fields).xgid


# ---- whole matches -------------------------------------------------------------------------------------------------


def test_a_short_match_with_the_crawford_game_to_its_end(tmp_path: Path) -> None:
    """O passes every double of a race that is won, so each game is a few lines."""
    file = tmp_path / "match.txt"
    start = on_roll(FAR_AHEAD, match_length=3, score=(0, 1))
    typed = ["double"]  # 2-0 becomes the score, and game 2 is the Crawford game
    screen = play("--position", start, "--seed", "5", "--against", "net:standard", "--save", str(file), "--json",
                  typed=typed)  # fmt: skip
    assert "game 1 of a 3-point match: you (X) 1, net:standard (O) 0\n" in screen
    assert "you double to 2\nO passes\nX wins by a drop: 1 point\n" in screen
    assert "game 2 of a 3-point match: you (X) 2, net:standard (O) 0, Crawford game: nobody may double\n" in screen
    assert "roll or double" not in screen.partition("game 2")[2], "nobody doubles in the Crawford game"
    told = summary(screen)
    assert (told["match_length"], told["match_winner"], told["left"]) == (3, None, "end of input")
    assert told["games"] == [
        {"game": 1, "winner": "you", "ending": "drop", "points": 1, "cube": 1, "turns": 0, "resigned": False}
    ]
    assert "X doubles to 2\n     O drops" in file.read_text(encoding="utf-8")


def test_the_end_of_a_match() -> None:
    lost = on_roll(Position(board({13: 15}, {24: 1})), match_length=3, score=(2, 1), dice=(2, 1))
    screen = play("--position", lost, "--against", "random", "--seed", "1", "--json", typed=["resign single"])
    assert "O wins a single game, resigned: 1 point\n" in screen
    assert "O wins the match, 3-1\n" in screen
    assert (summary(screen)["match_winner"], summary(screen)["score"]) == ("bot", {"you": 1, "bot": 3})


def test_a_match_is_saved_as_other_programs_read_it(tmp_path: Path) -> None:
    file = tmp_path / "evening.mat"
    screen = play("--match", "3", "--seed", "3", "--save", str(file), "--json", typed=["roll", "24/23 13/8", "quit"])
    record = read_mat(file)
    assert (record.length, record.players) == (3, ("net standard", "you"))
    game = record.games[0]
    assert [action.seat for action in game.actions[:2]] == [0, 1]
    second = game.actions[1]
    assert (second.dice, second.play and second.play.notation) == ((5, 1), "24/23 13/8")
    assert f"log    {file}" in screen
    told = summary(screen)
    assert (told["log"], told["cube"], told["jacoby"], told["left"]) == (str(file), True, False, "quit")


def test_a_saved_match_is_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "evening.mat"
    play("--match", "3", "--seed", "3", "--save", str(file), typed=["roll", "24/23 13/8", "quit"])
    before = read_mat(file)
    screen = play("--resume", str(file), "--seed", "3", "--json", typed=["quit"])
    assert "game 1 of a 3-point match: you (X) 0, net:standard (O) 0\n" in screen
    assert summary(screen)["log"] == str(file)
    after = read_mat(file)
    assert after.games[0].actions[: len(before.games[0].actions)] == before.games[0].actions
    result = invoke("--resume", str(file), "--match", "5")
    assert result.exit_code == 2
    assert "leave --match, --position and rules out" in result.stderr
    foreign = tmp_path / "foreign.mat"
    foreign.write_text(file.read_text(encoding="utf-8").replace("you :", "Eve :"), encoding="utf-8")
    text = foreign.read_text(encoding="utf-8")
    assert summary(play("--resume", str(foreign), "--seed", "3", "--json", typed=["quit"]))["log"] is None
    assert foreign.read_text(encoding="utf-8") == text


def test_a_position_cannot_be_saved_as_mat(tmp_path: Path) -> None:
    result = invoke("--position", on_roll(EVEN_RACE), "--save", str(tmp_path / "x.mat"))
    assert result.exit_code == 2
    assert "began from a position: name a text file such as x.txt" in result.stderr
    assert not list(tmp_path.iterdir())


# ---- the own cube --------------------------------------------------------------------------------------------------


def test_before_the_roll_one_may_double_and_enter_does_nothing() -> None:
    screen = play("--position", on_roll(FAR_AHEAD), "--against", "net:standard", "--seed", "1",
                  typed=["", "8/5", "take", "beaver", "pass", "d"])  # fmt: skip
    assert screen.count("roll or double > ") == 6
    assert "  say roll or double first" in screen
    assert screen.count("no double is pending") == 2
    assert "you double to 2\nO passes\nX wins by a drop: 1 point\n" in screen


def test_a_double_that_is_taken() -> None:
    screen = play("--position", on_roll(EVEN_RACE), "--against", "random", "--seed", "1", typed=["double", "double"])
    assert "you double to 2\nO takes, the cube is at 2\n" in screen
    assert re.search(r"cube 2 owned by O\n", screen)
    assert "you rolled " in screen, "the roll comes by itself, since O owns the cube"
    assert "cannot double: one doubles before the roll" in screen


@pytest.mark.parametrize(
    ("fields", "options"),
    [({"crawford": True, "match_length": 3, "score": (2, 0)}, []), ({}, ["--no-cube"]), ({"cube": 2, "owner": 0}, [])],
    ids=["Crawford game", "no cube", "opponent's cube"],
)
def test_where_one_may_not_double_the_roll_comes_by_itself(fields: dict[str, Any], options: list[str]) -> None:
    screen = play("--position", on_roll(EVEN_RACE, **fields), "--against", "random", "--seed", "1", *options, typed=[])
    assert "roll or double" not in screen
    assert "you rolled " in screen


# ---- the bot's cube ------------------------------------------------------------------------------------------------


def test_a_double_to_answer_has_no_default() -> None:
    start = on_roll(FAR_AHEAD, 0)
    typed = ["", "maybe", "roll", "resign", "TAKE"]
    screen = play("--position", start, "--against", "net:standard", "--seed", "1", typed=typed)
    assert screen.count("O doubles to 2. Type take or pass (Enter alone does nothing) > ") == 5
    assert "  say take or pass" in screen
    assert "O doubles to 2\n" in screen, "the drawing"
    assert "O rolled " in screen
    assert re.search(r"cube 2 owned by X\n", screen)


@pytest.mark.parametrize("word", ["pass", "drop", "fold"])
def test_dropping(word: str) -> None:
    screen = play("--position", on_roll(FAR_AHEAD, 0), "--against", "net:standard", "--json", typed=[word])
    assert "O wins by a drop: 1 point" in screen
    assert summary(screen)["score"] == {"you": 0, "bot": 1}


def test_a_beaver_is_offered_only_where_it_is_played() -> None:
    arguments = ["--position", on_roll(FAR_AHEAD, 0), "--against", "net:standard", "--seed", "1"]
    screen = play(*arguments, "--beavers", typed=["beaver"])
    assert "Type take, beaver or pass (" in screen
    assert re.search(r"cube 4 owned by X\n", screen)
    screen = play(*arguments, typed=["beaver"])
    assert "cannot beaver: beavers are not played" in screen


def test_typed_dice_with_the_cube() -> None:
    typed = ["31", "8/5 6/5", "64", "hint", "double", "52", "quit"]
    screen = play("--dice", "--against", "pubeval" if _pubeval() else "random", typed=typed)
    assert "your dice, or double > hint\n" in screen
    assert "hint by net:standard, 0-ply: you win " in screen
    assert "you double to 2\nO takes, the cube is at 2\nyour dice > 52\n" in screen


def _pubeval() -> bool:
    from bgnet import peers

    return "pubeval" in peers.available()


# ---- hints ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [{}, {"match_length": 5, "score": (1, 2)}], ids=["money", "match"])
def test_hints_about_the_cube(fields: dict[str, Any]) -> None:
    start = on_roll(EVEN_RACE, **fields)
    screen = play("--position", start, "--against", "random", typed=["hint", "quit"])
    decision = analyze_cube(start, bot="net:standard", ply=0).decision
    for name, equity in (("no double", decision.no_double), ("double, take", decision.double_take)):
        row = next(line for line in screen.splitlines() if line.startswith(f"  {name}"))
        assert signed(equity or 0.0, 3) in row
        assert ("MWC" in row) == bool(fields)
    assert f"  {decision.label}\n" in screen


def test_hints_for_an_answer_are_in_the_users_view() -> None:
    start = on_roll(FAR_AHEAD, 0, match_length=5)
    screen = play("--position", start, "--against", "net:standard", typed=["hint", "pass", "quit"])
    decision = analyze_cube(start, bot="net:standard", ply=0).decision
    assert decision.double_take is not None and decision.mwc is not None and decision.mwc.double_pass is not None
    rows = {line.split()[0]: line.split() for line in screen.splitlines() if re.match("  (take|pass) +[-+]", line)}
    assert rows["take"][1] == signed(-decision.double_take, 3)
    passed = f"{100 * (1 - decision.mwc.double_pass):.2f}"
    assert rows["pass"][1:] == ["-1.000", "MWC", passed, "%"]
    assert "\n  pass\n" in screen
    assert "you win 0.0 % (G 0.0)" in screen


# ---- rules and errors ----------------------------------------------------------------------------------------------


def test_the_rules_are_said() -> None:
    assert play("--against", "random", "--jacoby", "--beavers", "--games", "2", typed=["quit"]).startswith(
        "money play, Jacoby, beavers, dice of seed "
    )
    assert play("--against", "random", "--match", "7", "--no-cube", typed=["quit"]).startswith(
        "cubeless 7-point match, "
    )
    assert "take, pass[, beaver]" in play("--position", on_roll(START), "--against", "random", typed=["help", "quit"])


@pytest.mark.parametrize(("arguments", "words"), [
    (["--match", "5", "--games", "2"], "leave --games out"),
    (["--match", "5", "--money"], "leave --money out"),
    (["--match", "5", "--jacoby"], "the Jacoby rule belongs to money play"),
    (["--match", "5", "--position", on_roll(START)], "leave --match out"),
    (["--match", str(LONGEST + 1)], f"less than or equal to {LONGEST}"),
    (["--position", on_roll(START, match_length=LONGEST + 6)], f"from {LONGEST} points away at most"),
    (["--no-cube", "--position", on_roll(START, cube=2, owner=0)], "leave --no-cube out"),
    (["--against", "random", "--ply", "1"], "leave --ply out"),
    (["--against", "random", "--no-cube", "--ply", "1"], "leave --ply out"),
], ids=str)  # fmt: skip
def test_what_cannot_be_played(arguments: list[str], words: str) -> None:
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_a_match_of_which_no_more_than_is_known_is_left() -> None:
    position = on_roll(START, match_length=LONGEST + 6, score=(6, 6), dice=(3, 1))
    assert "O rolled" in play("--position", position, "--seed", "1", typed=["8/5 6/5", "quit"])


def test_the_bot_plays_for_the_score_at_its_depth() -> None:
    """Its plays are those of the cubeful search of that depth, at the score."""
    from bgnet.composite import Composite
    from bgnet.cubeful import CubefulSearch
    from bgnet.evaluators import load

    position = legal_plays(START, "64")[0].position
    state = GameState(position, on_roll=0, dice=(6, 6), match_length=3, score=(2, 0), crawford=True)
    best = CubefulSearch(Composite(load("standard")), 1).plays([state])[0]
    notation = next(p.notation for p in legal_plays(position, "66") if (p.position.board == best).all())
    screen = play("--position", state.xgid, "--against", "net:standard", "--ply", "1", "--seed", "1", typed=["quit"])
    assert f"O rolled 6-6: {notation} (O's own numbers)" in screen
    assert Action.DOUBLE not in state.legal_actions()
