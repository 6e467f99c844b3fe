"""`bgnet cube` as a user meets it, the functions behind it, and `bgnet analyze` with the cube."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bgnet.analysis import analyze
from bgnet.cli import app
from bgnet.cube import CubeError, decide
from bgnet.cubeful_analysis import analyze_cube, analyze_scores
from bgnet.match_equity import MatchEquityTable
from bgnet.match_equity_files import write_table
from engine import GameState, Position, StateError
from engine.bearoff import two_sided
from tests.bgnet.nets import random_net
from tests.boards import board
from tests.cube_states import VECTORS, match_state, money_state

near = pytest.approx
NET = random_net([16], seed=4)
F = VECTORS["F"].position_id
B = VECTORS["B"].position_id
C = VECTORS["C"].position_id
BEAROFF = Position(board({6: 1, 5: 1}, {19: 1, 24: 1}))
QUICK = ["--ply", "0", "--threads", "1", "--quiet"]


def invoke(*arguments: str, command: str = "cube") -> Any:
    return CliRunner().invoke(app, [command, *arguments])


def answer(*arguments: str, command: str = "cube") -> dict[str, Any]:
    result = invoke(*arguments, "--json", command=command)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def branches(lines: list[str]) -> list[str]:
    return [line for line in lines if re.match(r"   (No d|Double)", line)]


# ---- the screen -----------------------------------------------------------------------------------------------------


def test_the_screen() -> None:
    result = invoke(F, "--jacoby", *QUICK)
    assert result.exit_code == 0 and result.stdout.isascii()
    lines = result.stdout.splitlines()
    want = analyze_cube(money_state(F, jacoby=True), ply=0)
    assert " money, Jacoby, cube 1 centred, X on roll" in lines
    assert any(line.startswith(" pips X 100, O 121 (X leads by 21)     net:standard, 0-ply") for line in lines)
    decision = want.decision
    rows = branches(lines)
    assert [row[3:20].strip() for row in rows] == ["No double", "Double / Take", "Double / Pass"]
    for row, equity in zip(rows, (decision.no_double, decision.double_take, decision.double_pass), strict=True):
        assert f" {equity:+.3f} " in row
    assert f"costs X {decision.costs.no_double:.3f}   ??" in rows[0]
    assert rows[1].endswith("best") and f"passing would cost O {decision.costs.pass_:.3f}   ??" in rows[2]
    assert "Proper action: Double / Take" in lines
    assert any(f"{100 * decision.outcomes[:3].sum():.2f}" in line and "cubeless" in line for line in lines)


def test_the_line_of_the_window() -> None:
    found = analyze_cube(money_state(F), bot=NET, ply=0, efficiency=0.68)
    from bgnet.cli.cube_screens import decision_screen

    text = decision_screen(found, 0.0)
    line = re.search(r"X wins 0 %  \|(.*)\| 100 %", text)
    assert line is not None and len(line[1]) == 49
    points, win = found.decision.points, float(found.decision.outcomes[:3].sum())
    for mark, at in (("*", win), ("t", points.take), ("P", points.cash), ("D", points.double)):
        assert at is not None
        assert abs(line[1].index(mark) - 49 * at) <= 1
    assert f"t X takes this cube from {100 * (points.take or 0):.1f}" in text


def test_too_good_with_beavers() -> None:
    lines = invoke(C, "--beavers", *QUICK).stdout.splitlines()
    rows = branches(lines)
    assert [row[3:20].strip() for row in rows] == ["No double", "Double / Take", "Double / Pass", "Double / Beaver"]
    assert rows[0].endswith("best") and "taking would cost O" in rows[1] and "costs X" in rows[2]
    assert "Proper action: Too good to double / Pass" in lines
    assert any(re.fullmatch(r"A double is right only if O takes wrongly in over [\d.]+ % of games\.", x) for x in lines)


def test_a_pending_double_is_explained_to_the_receiver() -> None:
    state = money_state(F, doubled=True)
    lines = invoke(state.xgid, *QUICK).stdout.splitlines()
    assert " money, cube 1 centred, X doubles to 2, O to answer" in lines
    assert "Proper answer of O: Take" in lines
    assert "Proper action of X before his double: Double / Take" in lines
    found = answer(state.xgid, *QUICK)
    assert found["double_pending"] and found["costs"]["take"] == 0 and found["best"] == found["double_take"]


def test_a_match_shows_chances_to_win_it() -> None:
    result = invoke(B, "--length", "7", "--score", "3-5", *QUICK)
    found = answer(B, "--length", "7", "--score", "3-5", *QUICK)
    assert "7-point match, X 3, O 5" in result.stdout and "match equity table Kazaross-XG2" in result.stdout
    for key in ("no_double", "double_take", "double_pass"):
        assert f"MWC {100 * found['mwc'][key]:5.2f} %" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--length", "7", "--score", "5-5", "--cube", "2", "--owner", "me"], "the cube is dead, X needs 2 points"),
        (["--length", "7", "--score", "3-6", "--crawford"], "it is the Crawford game"),
        (["--cube", "2", "--owner", "opponent"], "O owns the cube"),
        (["--length", "7", "--score", "6-3", "--no-crawford"], "the cube is dead, X needs 1 point "),
    ],
)
def test_there_may_be_nothing_to_decide(arguments: list[str], why: str) -> None:
    result = invoke(B, *arguments, *QUICK)
    assert ("   No redouble " in result.stdout) == ("--owner" in arguments)
    assert f"No cube decision: {why}" in result.stdout and "X wins 0 %" not in result.stdout
    assert answer(B, *arguments, *QUICK)["double_take"] is None


def test_json_has_the_names_of_others() -> None:
    found = answer(F, "--jacoby", *QUICK)
    assert found["schema"] == "bgnet.cube/1" and found["position_id"] == F and found["jacoby"]
    want = decide(found["outcomes"], money_state(F, jacoby=True))
    for key in ("no_double", "double_take", "double_pass", "best", "take_point", "double_point", "cash_point"):
        assert found[key] == near(getattr(want, key), abs=1e-9)
    assert found["action"] == "double_take" and found["label"] == "Double, take"
    assert set(found["costs"]) == {"no_double", "double", "take", "pass", "beaver"}
    assert found["mwc"] is None and found["depth"] == "0-ply" and found["bot"] == "net:standard"
    assert sum(found["outcomes"]) == near(1)


def test_it_prints_in_any_encoding() -> None:
    for encoding in ("ascii", "cp1252"):
        done = subprocess.run(
            [sys.executable, "-c", "from bgnet.cli import main; main()", "cube", F, *QUICK],
            env={**os.environ, "PYTHONIOENCODING": encoding},
            capture_output=True,
            check=True,
        )
        assert b"Proper action: Double / Take" in done.stdout and b"?," not in done.stdout


# ---- what the options say -------------------------------------------------------------------------------------------


def test_options_stand_in_for_what_the_position_lacks() -> None:
    found = answer(B, "--length", "9", "--score", "2-7", "--cube", "2", "--owner", "me", *QUICK)
    want = match_state((7, 2), B, 1, length=9)
    assert found["xgid"] == want.xgid and found["away"] == [7, 2] and found["cube_owner"] == "own"
    xgid = match_state((5, 3), B, length=7).xgid
    assert answer(xgid, "--score", "1-0", *QUICK)["away"] == [6, 7]
    assert answer(xgid, "--length", "0", "--jacoby", *QUICK)["match_length"] == 0
    assert answer(money_state(B, 1).xgid, "--cube", "1", *QUICK)["cube_owner"] == "centre"
    other = GameState(Position.from_position_id(B), on_roll=0, match_length=7, score=(3, 5))
    assert answer(other.xgid, "--owner", "me", "--cube", "2", "--score", "1-4", *QUICK)["score"] == [1, 4]


def test_efficiency_and_table(tmp_path: Path) -> None:
    dead = answer(B, "--efficiency", "0", *QUICK)
    assert dead["efficiency"] == 0 and dead["no_double"] == near(dead["cubeless"], abs=1e-9)
    assert answer(B, "--efficiency", "gnubg-1.08", *QUICK)["efficiency"] == 0.76
    write_table(tmp_path / "own.json", MatchEquityTable.from_rates(7, name="own"))
    match = ["--length", "5", "--score", "0-2", *QUICK]
    found = answer(B, "--met", str(tmp_path / "own.json"), *match)
    assert found["match_equity_table"] == "own" and found["no_double"] != answer(B, *match)["no_double"]


def test_small_bearoffs_are_exact() -> None:
    found = answer(BEAROFF.position_id, "--quiet")
    centred = float(two_sided().equities(BEAROFF.board)[2])
    assert found["depth"] == "exact" and found["no_double"] == near(centred, abs=1e-12)
    assert answer(BEAROFF.position_id, "--length", "5", "--quiet")["depth"] == "2-ply"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([money_state(B, dice=(3, 1)).xgid], "before the roll, and the dice show 3-1"),
        ([B, "--score", "3"], "give two numbers"),
        ([B, "--owner", "he"], "say me"),
        ([B, "--length", "7", "--score", "6-3"], "say --crawford"),
        ([B, "--length", "7", "--score", "7-3"], "won the match"),
        ([B, "--cube", "3"], "power of two"),
        ([B, "--owner", "me"], "nobody owns it"),
        ([B, "--length", "7", "--jacoby"], "money play"),
        ([B, "--efficiency", "1.2"], "from 0 to 1"),
        ([B, "--efficiency", "gnubg"], "presets are"),
        ([B, "--ply", "-1"], "ply must be"),
        ([B, "--matrix", "1"], "2..64 points"),
        ([B, "--matrix", "5", "--cube", "2"], "in the middle"),
        ([B, "--matrix", "5", "--jacoby"], "leave --jacoby out"),
        ([B, "--matrix", "5", "--length", "7"], "leave --length out"),
        ([B, "--no-crawford"], "this is money play"),
        ([match_state((5, 3), B).xgid, "--length", "0", "--no-crawford"], "this is money play"),
        ([B, "--met", "nowhere.json"], "cannot read the match equity table 'nowhere.json': No such file"),
        (["zzz"], "Position ID"),
        ([B, "--bot", "pubeval"], "no chances"),
    ],
)
def test_errors(arguments: list[str], words: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2 and words in result.stderr.replace("\n", " ") and not result.stdout
    told = invoke(*arguments, "--json")
    assert words in json.loads(told.stdout)["error"]["message"]


def test_dice_are_answered_by_the_position_before_them() -> None:
    state = match_state((5, 3), B)
    told = invoke(state.roll("31").xgid).stderr
    assert f'bgnet cube "{state.xgid}"' in told


# ---- every score ----------------------------------------------------------------------------------------------------


def test_the_matrix_is_the_decision_at_each_score() -> None:
    found = analyze_scores(F, 4, bot=NET, ply=1, threads=1)
    scores = [(c.away, c.opponent_away, c.crawford) for c in found.cells]
    assert len(scores) == len(set(scores)) == 9 + 1 + 6 + 4  # both need more; 1-1; Crawford; after it (who won it)
    assert (1, 1, False) in scores and (1, 4, True) in scores and (1, 4, False) not in scores
    for own, opponent, crawford in ((2, 3, False), (4, 2, False), (3, 1, False), (1, 3, True)):
        cell = found.cells[scores.index((own, opponent, crawford))]
        want = analyze_cube(match_state((own, opponent), F, length=4, crawford=crawford), bot=NET, ply=1, threads=1)
        assert cell.decision.as_dict() == want.decision.as_dict()
    turned = analyze_scores(GameState(Position.from_position_id(F), on_roll=0), 4, bot=NET, ply=1, threads=1)
    assert turned.as_dict()["cells"] == found.as_dict()["cells"]


def test_the_matrix_screen_and_json() -> None:
    lines = invoke(F, "--matrix", "3", *QUICK).stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("X needs"))
    assert lines[head].split()[-4:] == ["1C", "1", "2", "3"]
    assert [line.split()[0] for line in lines[head + 1 : head + 5]] == ["1C", "1", "2", "3"]
    found = answer(F, "--matrix", "3", *QUICK)
    assert found["schema"] == "bgnet.cube_matrix/1" and found["match_length"] == 3
    codes = {"double_take": "D/t", "double_pass": "D/p", "no_double_take": "no", "dead_cube": "."}
    cell = next(c for c in found["cells"] if c["away"] == [2, 3])
    assert lines[head + 3].split()[-1] == codes[cell["action"]]
    owned = answer(match_state((5, 5), F, 1).xgid, "--matrix", "5", *QUICK)
    assert not any(c["crawford"] for c in owned["cells"]) and owned["cube_owner"] == "own"


def test_pictures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason='needs the optional package matplotlib: pip install "bgnet[plot]"')
    window, matrix = tmp_path / "window.svg", tmp_path / "matrix.svg"
    assert invoke(F, "--plot", str(window), *QUICK).exit_code == 0
    assert invoke(F, "--matrix", "2", "--plot", str(matrix), *QUICK).exit_code == 0
    assert "<svg" in window.read_text() and "<svg" in matrix.read_text() and window.read_text() != matrix.read_text()
    assert "its folder is missing" in invoke(F, "--plot", str(tmp_path / "no" / "a.png"), *QUICK).stderr
    assert "ends in .png, .svg, .pdf" in invoke(F, "--plot", str(tmp_path / "a.gif"), *QUICK).stderr
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install" in invoke(F, "--plot", str(window), *QUICK).stderr


# ---- bgnet analyze --------------------------------------------------------------------------------------------------


def test_analyze_minds_the_cube_where_one_expects_it() -> None:
    rolled = match_state((5, 3), B, dice=(6, 2))
    found = analyze(rolled, bot=NET, ply=0)
    assert found.cubeful and all(play.mwc is not None for play in found.plays)
    assert not analyze(replace(rolled, match_length=0, score=(0, 0)), bot=NET, ply=0).cubeful
    assert analyze(money_state(B, 1, dice=(6, 2)), bot=NET, ply=0).cubeful
    cubeless = analyze(rolled, bot=NET, ply=0, cubeful=False)
    assert not cubeless.cubeful and cubeless.best.mwc is None
    assert not analyze(replace(rolled, dice=None, resigned=1), bot=NET, ply=0).cubeful
    with pytest.raises(CubeError, match="resignation"):
        analyze(replace(rolled, dice=None, resigned=1), bot=NET, ply=0, cubeful=True)


def test_analyze_shows_the_cube_before_the_roll() -> None:
    state = match_state((5, 3), B)
    found = analyze(state, bot=NET, ply=1)
    assert found.cube is not None
    assert found.cube.as_dict() == analyze_cube(state, bot=NET, ply=1).decision.as_dict()
    text = invoke(state.xgid, *QUICK, command="analyze").stdout
    assert "cubeless equity, points" in text and "   No double " in text and "Proper action: " in text
    assert analyze(state, bot=NET, ply=0, cubeful=False).cube is None


def test_analyze_ranks_plays_with_the_cube() -> None:
    """The best play with an owned cube, from bgnet.cubeful; exact plays say so in money play alone."""
    state = money_state(Position(board({6: 2, 5: 1}, {19: 2, 24: 1})), 1, dice=(2, 1))
    found = analyze(state, bot=NET, ply=1)
    assert {play.depth for play in found.plays} == {"exact"}
    for play in found.plays:
        theirs = two_sided().equities(play.position.board)
        doubled = min(2 * theirs[3], 1.0)
        assert play.equity == near(-theirs[3], abs=1e-6) and play.mwc is None, doubled
    match = match_state((5, 3), state.position, dice=(2, 1))
    assert "exact" not in {play.depth for play in analyze(match, bot=NET, ply=1).plays}
    text = invoke(match.xgid, *QUICK, command="analyze").stdout
    assert "cubeful equity, per cube, and chance to win the match" in text and "MWC " in text
    assert "not taken into account" not in text
    plain = invoke(match.xgid, *QUICK, "--cubeless", command="analyze").stdout
    assert "cubeless equity, points" in plain and "The score of the match is not taken into account." in plain
    assert answer(match.xgid, *QUICK, command="analyze")["plays"][0]["mwc"] is not None


def test_states_that_cannot_be() -> None:
    with pytest.raises(StateError, match="in the middle"):
        analyze_scores(GameState(Position.from_position_id(B), cube=2), 5, bot=NET)
    with pytest.raises(CubeError, match=re.escape("2..64")):
        analyze_scores(B, 65, bot=NET)
