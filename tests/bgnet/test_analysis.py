"""Looking at positions: the function, its typed result, the command, and its refusals. And judged decisions."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import bgnet
import engine
from bgnet.analysis import analyze, read_state
from bgnet.players import evaluator
from engine import START, BoardError, DiceError, GameState, IllegalPlayError, NotationError, Position
from engine.rules import MONEY
from tests.bgnet.nets import random_net

MOCK = "XGID=-a----EaC---dEa--c-e----B-:0:0:1:11:0:0:0:0:10"


def test_a_position_before_the_roll() -> None:
    net = random_net([16])
    found = analyze(START, bot=net, ply=0, tables=False)
    assert (found.outcomes == net.outcomes(START.board)).all()
    assert found.equity == pytest.approx(float(found.outcomes @ MONEY.payoff))
    assert found.depth == "0-ply" and found.plays == ()
    with pytest.raises(BoardError, match="not rolled"):
        _ = found.best


def test_plays_are_ranked_and_complete() -> None:
    found = analyze(MOCK, bot="net:standard", ply=1)
    assert len(found.plays) == 42 == len(engine.legal_plays(found.state.position, "11"))
    assert [play.rank for play in found.plays] == list(range(1, 43))
    assert found.best.play == "8/7*(2) 6/5(2)" and found.best.loss == 0
    assert all(play.loss >= 0 for play in found.plays)
    for play in found.plays:
        assert play.equity == pytest.approx(float(play.outcomes @ MONEY.payoff), abs=1e-5)
    assert found.equity == found.best.equity
    chosen = bgnet.player("net:standard@1ply").choose(found.state.position.board[None], np.array([[1, 1]], np.int8))
    assert found.best.position == Position(chosen[0])


def test_the_asked_play_is_as_deep_as_the_best() -> None:
    found = analyze(MOCK, bot="net:standard", ply=1, played="24/22 6/5(2)")
    asked = next(play for play in found.plays if play.played)
    assert asked.play == "24/22 6/5(2)"
    assert asked.ply == found.best.ply == 1
    assert sum(play.played for play in found.plays) == 1


def test_exact_endings_say_so() -> None:
    found = analyze("kQcAgEoDAAAAAA", bot="net:standard", ply=0)
    assert found.depth == "exact"
    assert float(found.outcomes[:3].sum()) == pytest.approx(0.877719, abs=1e-5)
    assert analyze("kQcAgEoDAAAAAA", bot="net:standard", ply=0, tables=False).depth == "0-ply"
    assert all(play.depth == "exact" and play.ply is None for play in analyze("kQcAgEoDAAAAAA", dice="21").plays)


def test_the_depth_may_stand_in_the_bots_name() -> None:
    assert analyze(START, bot="net:standard@1ply").ply == 1
    assert analyze(START, bot="net:standard@1ply", ply=0).ply == 0


def test_every_form_of_a_position() -> None:
    for form in ("4HPwATDgc/ABMA", START, GameState(START)):
        assert read_state(form, (3, 1)) == GameState(START, dice=(3, 1))
    jacoby = read_state("4HPwATDgc/ABMA:cAkAAAAAAAAA", (3, 1))
    assert jacoby == GameState(START, dice=(3, 1), jacoby=True)
    assert read_state(MOCK).dice == (1, 1)
    assert read_state(MOCK, "64").dice == (6, 4)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"position": "nonsense"}, NotationError, "nonsense"),
        ({"position": START, "dice": "77"}, DiceError, "7"),
        ({"position": START, "played": "8/5 6/5"}, DiceError, "no dice"),
        ({"position": START, "dice": "31", "played": "8/2"}, IllegalPlayError, "8/2"),
        ({"position": Position(np.eye(1, 26, 6, dtype=int)[0])}, BoardError, "game is over"),
        ({"position": START, "bot": "pubeval"}, ValueError, "no chances to give"),
        ({"position": START, "bot": "random"}, ValueError, "no chances to give"),
        ({"position": START, "ply": 11}, ValueError, "ply"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        analyze(**arguments)  # type: ignore[arg-type]


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bgnet", "analyze", *words],
        capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip


def test_command_prints_and_gives_json() -> None:
    done = command(MOCK, "--ply", "1", "--played", "24/22 6/5(2)", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "  1  8/7*(2) 6/5(2)" in done.stdout and ">24/22 6/5(2)" in done.stdout
    assert "cubeless equity" in done.stdout and "judged at 0-ply only, not ranked" in done.stdout
    found = json.loads(command(MOCK, "--ply", "1", "--json").stdout.splitlines()[-1])
    assert found["schema"] == "bgnet.analyze/1" and found["plays"][0]["play"] == "8/7*(2) 6/5(2)"
    assert found["plays"][0]["depth"] == "1-ply" and len(found["plays"]) == 42
    assert sum(found["outcomes"]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["XGID=-b----E-C---eE---c-f----B-:0:0:1:31:0:0:0:0:10"], 2, "O has 16 checkers"),
        (["4HPwATDgc/ABM"], 2, "4HPwATDgc/ABM"),
        (["4HPwATDgc/ABMA", "--dice", "07"], 2, "dice"),
        (["4HPwATDgc/ABMA", "--bot", "net:none"], 2, "no network"),
    ],
)
def test_command_names_what_is_wrong(words: list[str], code: int, message: str) -> None:
    done = command(*words)
    assert done.returncode == code and message in done.stderr and "Traceback" not in done.stderr
    as_json = json.loads(command(*words, "--json").stdout.splitlines()[-1])
    assert message in as_json["error"]["message"]


@pytest.mark.parametrize(
    ("position", "dice"), [("iQAAAAwAAAAAAA", "23"), ("QQAAAAkAAAAAAA", "13"), ("YAAAgDIAAAAAAA", "25")]
)
@pytest.mark.parametrize("ply", [0, 1, 2])
def test_what_the_tables_know_ranks_with_the_deepest(position: str, dice: str, ply: int) -> None:
    """A play that ends in the exact table must not be hidden by the filters, whatever play is asked about."""
    found = analyze(position, dice=dice, ply=ply)
    assert any(play.depth == "exact" for play in found.plays)
    equities = [play.equity for play in found.plays if play.depth in ("exact", f"{ply}-ply")]
    assert equities == sorted(equities, reverse=True)
    assert found.best.equity == max(play.equity for play in found.plays if play.depth == "exact" or play.ply == ply)
    for play in found.plays[:3]:
        asked = analyze(position, dice=dice, ply=ply, played=play.play)
        assert [p.play for p in asked.plays][:3] == [p.play for p in found.plays][:3]


def test_an_engine_that_looks_ahead_itself_is_asked_for_its_bare_network() -> None:
    pytest.importorskip("gnubg_nn", reason='needs the optional package gnubg-nn: pip install "bgnet[peers]"')
    found = analyze(START, bot="gnubg:1")
    assert (found.bot, found.ply, found.depth) == ("gnubg:0", 1, "1-ply")
    assert analyze(START, bot="gnubg:1", ply=0).equity == analyze(START, bot="gnubg:0", ply=0).equity
    with pytest.raises(ValueError, match="looks ahead itself"):
        evaluator("gnubg:1")


def test_states_without_an_xgid_have_null_in_json() -> None:
    found = analyze("4HPwATDgc/ABMA:FEhAAQgIMIAA", bot=random_net([8]), ply=0, tables=False)
    assert found.as_dict()["xgid"] is None
    assert found != analyze(START, bot=random_net([8]), ply=0, tables=False), "results compare by identity, and hash"
    assert len({found}) == 1


@pytest.mark.parametrize(
    ("board", "ply", "expected", "tolerance"),
    [
        pytest.param(START.board.tolist(), 0, [0.525, 0.149, 0.007, 0.126, 0.0055], 0.02, id="ev-004 opening"),
        pytest.param(
            [-1, 3, 2, 3, -2, -1, 0, 0, 0, -3, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2, 0, -2, 0, -2, -2, 0],
            2, [0.951, 0.876, 0.196, 0.0, 0.0], 0.06, id="ev-002 one on the bar",
        ),
    ],
)  # fmt: skip
def test_cases_of_judgement(board: list[int], ply: int, expected: list[float], tolerance: float) -> None:
    """Cumulative chances that other engines and reports give; ev-002 needs the 2-ply that `analyze` does by default."""
    found = analyze(Position(board), bot="net:standard", ply=ply)
    assert engine.outcomes.to_cumulative(found.outcomes) == pytest.approx(np.array(expected), abs=tolerance)
