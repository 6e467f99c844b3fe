"""Cubeful rollouts: against exact bearoffs, and a recursion that plays out every roll by the same rules."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bgnet.cli import app
from bgnet.cube import CubeAction, CubeContext, CubeError, cubeful_values, decide
from bgnet.cube_values import expand
from bgnet.cubeful import CubefulSearch
from bgnet.cubeful_rollouts import CubefulRollout, CubeRolloutInterrupted, rollout_cube
from bgnet.cubeful_rollouts_games import _answers
from bgnet.evaluators import load
from bgnet.lockstep import RolloutError
from bgnet.match_equity import MatchEquityError
from bgnet.search import SearchStopped
from engine import GameState, Position, legal_afterstates
from engine.bearoff import two_sided
from engine.dice import ROLLS, WEIGHTS
from tests.bgnet.nets import random_net
from tests.boards import board

near = pytest.approx
NET = random_net([16], seed=4)
CONTACT = Position(board({6: 2, 5: 1, 20: 1}, {1: 1, 9: 2, 22: 1}))
LONG = Position(board({6: 1, 4: 1, 1: 1}, {20: 1, 21: 1, 23: 1}))
SHORT = Position(board({6: 1, 5: 1}, {19: 1, 24: 1}))
EVEN = Position(board({5: 2, 4: 1}, {20: 1, 21: 1, 19: 1}))
POSITIONS = [LONG, SHORT, EVEN]
FORMULA: dict[str, Any] = {"tables": False, "efficiency": 0.68}  # the exact tables are not asked for anything


def money(position: Position, owner: int = 0, cube: int = 1, **rules: Any) -> GameState:
    """X on roll; owner +1 his, -1 the opponent's."""
    return GameState(position, owner=(None, 1, 0)[owner], cube=cube if owner == 0 else 2, **rules)


# ---- against right answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("owner", [0, 1])
def test_luck_included_it_agrees_with_the_exact_table(position: Position, owner: int) -> None:
    _, own, centred, theirs = two_sided().equities(position.board)
    result = rollout_cube(money(position, owner), NET, luck=False, seed=5)
    branch = result.double_take
    assert branch is not None and result.no_double.std_error > 0.005
    assert abs(result.no_double.equity - (own if owner else centred)) < 3 * result.no_double.std_error
    assert abs(branch.equity - 2 * theirs) < 3 * branch.std_error
    assert result.no_double.equity == result.no_double.plain_equity


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("owner", [0, 1, -1])
def test_with_an_exact_judge_no_luck_is_left(position: Position, owner: int) -> None:
    state = money(position, owner)
    _, own, centred, theirs = two_sided().equities(position.board)
    result = rollout_cube(state, NET, trials=36)
    assert result.no_double.equity == near((centred, own, theirs)[owner], abs=1e-6)
    assert result.no_double.std_error == near(0, abs=1e-6)
    if owner < 0:
        assert result.double_take is None and result.double_pass is None and result.difference is None
    else:
        assert result.double_take is not None and result.double_take.equity == near(2 * theirs, abs=1e-6)
        assert result.difference == near(2 * theirs - (own if owner else centred), abs=1e-6)
        assert result.joint_std_error == near(0, abs=1e-6)
    assert result.action == decide(None, state).action


Key = tuple[tuple[int, ...], int, int]


class Twin:
    """What the bot's way to play is worth: every roll of the game, one position at a time."""

    def __init__(self, context: CubeContext) -> None:
        self.root = context
        self.known: dict[tuple[Key, bool], float] = {}

    def leaf(self, points: tuple[int, ...], cubes: list[tuple[int, int]], context: CubeContext) -> list[float]:
        chances = NET.outcomes(np.array([points], dtype=np.int8))
        return [float(cubeful_values(chances, [cube], context, 0.68)[0, 0]) for cube in cubes]

    def judged(self, points: tuple[int, ...], cube: int, owner: int, context: CubeContext) -> tuple[float, float, str]:
        """With a double if that is right; without; and what happens."""
        waits, taken, turned = self.leaf(points, [(cube, owner), (2 * cube, -1), (4 * cube, -1)], context)
        if not context.may_double(cube, owner):
            return waits, waits, "wait"
        answers = {"pass": context.won(cube), "take": taken}
        if context.may_beaver(cube):
            answers["beaver"] = turned
        answer = min(answers, key=lambda name: answers[name])
        return (answers[answer], waits, answer) if answers[answer] > waits else (waits, waits, "wait")

    def begun(self, points: tuple[int, ...], cube: int, owner: int, first: bool) -> float:
        """No double any more in this turn. first: the player on roll is the one of the root."""
        context = self.root if first else self.root.flipped
        if not any(n > 0 for n in points) or not any(n < 0 for n in points):
            return self.leaf(points, [(cube, owner)], context)[0]
        key = ((points, cube, owner), first)
        if key not in self.known:
            total = 0.0
            for roll, weight in zip(ROLLS, WEIGHTS, strict=True):
                found = legal_afterstates(np.array([points], dtype=np.int8), roll[None]).boards
                rows = [tuple(row) for row in found.tolist()]
                ranked = [self.judged(row, cube, -owner, context.flipped)[:2] for row in rows]
                best = min(range(len(rows)), key=lambda i: (round(ranked[i][0] * 1e9), ranked[i][1]))
                total += weight * float(context.turned(self.turn(rows[best], cube, -owner, not first)))
            self.known[key] = total
        return self.known[key]

    def turn(self, points: tuple[int, ...], cube: int, owner: int, first: bool) -> float:
        context = self.root if first else self.root.flipped
        what = "wait"
        if any(n > 0 for n in points) and any(n < 0 for n in points):
            what = self.judged(points, cube, owner, context)[2]
        if what == "pass":
            return context.won(cube)
        cube, owner = {"wait": (cube, owner), "take": (2 * cube, -1), "beaver": (4 * cube, -1)}[what]
        return self.begun(points, cube, owner, first)


RULES: list[dict[str, Any]] = [
    {},
    {"jacoby": True, "beavers": True},
    {"max_cube": 4},
    {"match_length": 5, "score": (2, 1)},
    {"match_length": 7, "score": (5, 6)},
    {"match_length": 7, "score": (6, 5)},
    {"match_length": 5, "score": (4, 2), "crawford": True},
]


@pytest.mark.parametrize("rules", RULES)
def test_it_agrees_with_the_recursion_and_luck_adjustment_changes_no_mean(rules: dict[str, Any]) -> None:
    state = GameState(LONG, **rules)
    result = rollout_cube(state, NET, trials=1296, **FORMULA)
    twin = Twin(CubeContext.from_state(state))
    context = twin.root
    points = tuple(LONG.board.tolist())
    branches = [(result.no_double, twin.begun(points, 1, 0, True))]
    assert (result.double_take is not None) == state.may_double
    if result.double_take is not None:
        branches.append((result.double_take, twin.begun(points, 2, -1, True)))
    for branch, value in branches:
        right = float(context.to_equity(value, 1))
        assert abs(branch.equity - right) < 3.5 * branch.std_error
        assert abs(branch.plain_equity - right) < 3.5 * branch.std_error_plain
        assert branch.std_error < 0.9 * branch.std_error_plain
        if context.away is not None:
            assert branch.mwc is not None and branch.mwc_std_error is not None
            assert context.to_equity(branch.mwc, 1) == near(branch.equity)


def test_luck_adjustment_cuts_the_variance_of_a_bot_that_knows_something() -> None:
    result = rollout_cube(money(LONG), "net:standard", trials=324, efficiency=0.6)
    assert result.double_take is not None
    assert result.no_double.variance_factor > 10 and result.double_take.variance_factor > 10
    plain = rollout_cube(money(LONG), "net:standard", trials=324, efficiency=0.6, luck=False)
    assert plain.no_double.equity == near(result.no_double.plain_equity, abs=1e-9)  # the same games


def test_a_dead_cube_is_a_cubeless_game() -> None:
    """At 1-away 1-away only winning counts: the exact table knows its chance."""
    state = GameState(LONG, match_length=5, score=(4, 4))
    win = 0.5 + 0.5 * float(two_sided().equities(LONG.board)[0])
    result = rollout_cube(state, NET, luck=False)
    assert result.action == CubeAction.DEAD_CUBE and result.double_take is None
    assert result.no_double.mwc is not None and result.no_double.mwc_std_error is not None
    assert abs(result.no_double.mwc - win) < 3 * result.no_double.mwc_std_error
    assert result.no_double.mean_cube == 1 and result.no_double.cashed == result.no_double.passed == 0
    assert result.no_double.outcomes[0] == near(result.no_double.mwc)


def test_the_pending_double_is_rolled_out_too() -> None:
    state = money(LONG)
    asked, pending = (rollout_cube(x, NET, trials=36) for x in (state, replace(state, doubled=True)))
    assert pending.double_take is not None and asked.double_take is not None
    assert pending.double_take.equity == asked.double_take.equity
    assert pending.decision.best == min(pending.double_take.equity, 1.0)


@pytest.mark.parametrize(
    ("values", "cube"),
    [
        ([0.5, 0.7, 1.4], (2, -1)),  # a double that is taken
        ([0.5, 1.2, 2.4], None),  # passed
        ([0.5, 1.0, 2.0], None),  # equal values are a pass
        ([0.5, 0.4, 0.8], (1, 0)),  # too early
        ([1.1, 1.5, 3.0], (1, 0)),  # too good
        ([0.7, 0.7, 1.4], (1, 0)),  # nothing gained
        ([-0.5, -0.1, -0.2], (4, -1)),  # under Jacoby a double may be right, and a beaver too
        ([-0.15, -0.1, -0.2], (1, 0)),  # right but for the beaver
    ],
)
def test_what_a_double_leads_to(values: list[float], cube: tuple[int, int] | None) -> None:
    wider = expand([(1, 0)], CubeContext(jacoby=True, beavers=True))
    (place,) = _answers(wider, np.array([values]))
    assert (None if place < 0 else tuple(wider.states[place])) == cube


# ---- truncation, depth, batches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", RULES)
def test_truncated_at_once_it_is_the_decision_at_0_ply(rules: dict[str, Any]) -> None:
    state = GameState(CONTACT, **rules)
    result = rollout_cube(state, NET, trials=36, truncate=0, efficiency=0.68, tables=False)
    want = CubefulSearch(NET, 0, efficiency=0.68).decide(state)
    assert result.no_double.equity == near(want.no_double, abs=1e-6)
    assert result.decision.double_take == near(want.double_take, abs=1e-6)
    assert result.label == want.label and result.no_double.truncated == 1
    assert result.no_double.std_error == near(0, abs=1e-12)
    assert result.no_double.outcomes == near(want.outcomes, abs=1e-6)


def test_truncated_after_one_ply_it_is_1_ply() -> None:
    """36 trials hold every first roll in its right proportion."""
    state = money(CONTACT)
    result = rollout_cube(state, NET, trials=36, truncate=1, efficiency=0.68, tables=False)
    want = CubefulSearch(NET, 1, efficiency=0.68).decide(state)
    assert result.no_double.plain_equity == near(want.no_double, abs=1e-6)
    assert result.double_take is not None and result.double_take.plain_equity == near(want.double_take, abs=1e-6)
    assert result.no_double.equity == near(want.no_double, abs=1e-6)


def test_passes_are_counted() -> None:
    """Six rolls win at once. After the other 30 the opponent, with 29 good rolls, doubles, and that is a pass."""
    position = Position(board({6: 1, 5: 1}, {24: 1, 21: 1}))
    result = rollout_cube(money(position), NET, trials=36, luck=False)
    assert result.no_double.passed == 30 / 36 and result.no_double.cashed == 0 and result.no_double.mean_cube == 1
    assert result.no_double.equity == near(6 / 36 - 30 / 36)
    assert result.double_take is not None and result.double_take.equity == near(2 * (6 / 36 - 30 / 36))
    assert result.double_take.passed == 30 / 36 and result.double_take.mean_cube == 2
    assert result.no_double.outcomes[0] > 6 / 36  # those who pass would have won some games
    other = rollout_cube(money(EVEN), NET, trials=36, luck=False)
    assert other.double_take is not None and other.double_take.cashed < other.no_double.cashed


def same(one: CubefulRollout, other: CubefulRollout) -> bool:
    left, right = ({k: v for k, v in x.as_dict().items() if k != "seconds"} for x in (one, other))
    return json.dumps(left) == json.dumps(right)


@pytest.mark.parametrize("luck", [True, False])
def test_the_same_seed_gives_the_same_answer(luck: bool) -> None:
    state = money(CONTACT, beavers=True, jacoby=True)
    options: dict[str, Any] = {"trials": 72, "truncate": 6, "efficiency": 0.68, "tables": False, "luck": luck}
    first = rollout_cube(state, NET, threads=1, **options)
    assert same(first, rollout_cube(state, NET, threads=2, chunk=17, **options))
    assert not same(first, rollout_cube(state, NET, seed=2, **options))


def test_deeper_play_and_cube() -> None:
    state = GameState(LONG, match_length=5, score=(2, 1))
    result = rollout_cube(state, NET, ply=1, trials=36, truncate=3, **FORMULA)
    assert result.depth == "cubeful rollout 36x1-ply, 3 plies" and result.settings.ply == 1
    shallow = rollout_cube(state, NET, trials=36, truncate=3, **FORMULA)
    assert result.no_double.equity != shallow.no_double.equity
    exact = rollout_cube(money(SHORT), NET, ply=1, trials=36)  # with the tables depth changes nothing
    assert exact.no_double.equity == near(float(two_sided().equities(SHORT.board)[2]), abs=1e-6)


# ---- the end, and errors --------------------------------------------------------------------------------------------


def test_it_stops_once_the_errors_are_small_enough() -> None:
    options: dict[str, Any] = {**FORMULA, "threads": 1}
    whole = rollout_cube(money(LONG), NET, trials=144, **options)
    assert whole.stopped == "trials" and whole.double_take is not None
    limit = max(whole.no_double.std_error, whole.double_take.std_error) * 1.2
    found = rollout_cube(money(LONG), NET, trials=10_000, stop_se=limit, min_trials=36, chunk=50, **options)
    assert found.stopped == "std_error" and found.trials % 36 == 0 and found.trials <= 144
    assert found.double_take is not None and max(found.no_double.std_error, found.double_take.std_error) <= limit
    assert same(found, replace(rollout_cube(money(LONG), NET, trials=found.trials, **options), stopped="std_error",
                               settings=found.settings))  # fmt: skip


class Recorder:
    """Counts trials, and interrupts once there are enough."""

    def __init__(self, most: int = 10**9) -> None:
        self.seen, self.most = 0, most

    def update(self, n: int, **fields: object) -> None:
        self.seen += n
        assert set(fields) == {"no_double", "double_take", "SE"}
        if self.seen >= self.most:
            raise KeyboardInterrupt


def test_progress_and_interruption() -> None:
    recorder = Recorder()
    rollout_cube(money(SHORT), NET, trials=72, chunk=36, progress=recorder, **FORMULA)
    assert recorder.seen == 72
    with pytest.raises(CubeRolloutInterrupted) as caught:
        rollout_cube(money(SHORT), NET, trials=720, chunk=36, threads=1, progress=Recorder(72), **FORMULA)
    assert caught.value.result.trials == 72 and caught.value.result.stopped == "asked"
    with pytest.raises(SearchStopped):
        rollout_cube(money(SHORT), NET, stop=lambda: True)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"trials": 0}, RolloutError, "trials must be"),
        ({"truncate": -1}, RolloutError, "truncate must be"),
        ({"chunk": 0}, RolloutError, "chunk must be"),
        ({"threads": -1}, RolloutError, "threads must be"),
        ({"min_trials": 0}, RolloutError, "min_trials must be"),
        ({"stop_se": 0.0}, RolloutError, "stop_se must be"),
        ({"ply": -1}, CubeError, "ply must be"),
        ({"efficiency": 2.0}, CubeError, "efficiency must be"),
        ({"table": "kazaross"}, CubeError, "table must be a MatchEquityTable"),
        ({"seed": -1}, ValueError, "seed"),
    ],
)
def test_bad_settings(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rollout_cube(money(SHORT), NET, **options)


def test_states_without_a_decision() -> None:
    with pytest.raises(CubeError, match="the dice show 3-1"):
        rollout_cube(money(CONTACT, dice=(3, 1)), NET)
    with pytest.raises(CubeError, match="the game is over"):
        rollout_cube(GameState(Position(board({}, {24: 1}))), NET)
    with pytest.raises(MatchEquityError):
        rollout_cube(GameState(SHORT, match_length=2000), NET)


# ---- the command ----------------------------------------------------------------------------------------------------


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["rollout", *arguments])


def test_the_command() -> None:
    result = invoke(LONG.position_id, "--cube", "-n", "36", "--no-luck", "--threads", "1", "--bot", "net:standard")
    assert result.exit_code == 0, result.output
    want = rollout_cube(money(LONG), load("standard"), trials=36, luck=False)
    assert want.double_take is not None
    rows = [line.split() for line in result.stdout.splitlines()]
    assert next(row for row in rows if row[:2] == ["no", "double"])[2] == f"{want.no_double.equity:+.4f}"
    assert next(row for row in rows if row[:2] == ["double,", "take"])[2] == f"{want.double_take.equity:+.4f}"
    assert ["double,", "pass", "+1.0000"] in rows
    assert f"Proper action: {want.label}" in result.stdout and "trials=36" in result.stderr


def test_the_command_in_a_match_as_json() -> None:
    state = GameState(LONG, match_length=5, score=(2, 1))
    result = invoke(state.xgid, "--cube", "-n", "36", "--json", "--quiet")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout.splitlines()[-1])
    want = rollout_cube(state, "net:standard", trials=36).as_dict()
    assert told | {"seconds": 0} == json.loads(json.dumps(want)) | {"seconds": 0}
    assert told["schema"] == "bgnet.cube_rollout/1" and told["away"] == [4, 3]
    text = invoke(state.xgid, "--cube", "-n", "36", "--quiet")
    assert "chance to win the match" in text.stdout


@pytest.mark.parametrize("extra", [["--dice", "31"], ["--plays", "6/5"], ["--save", "x"], ["--resume", "x"]])
def test_the_command_refuses_what_does_not_go_with_it(extra: list[str]) -> None:
    result = invoke(LONG.position_id, "--cube", *extra)
    assert result.exit_code == 2 and "--cube" in result.stderr


def test_the_command_refuses_dice() -> None:
    result = invoke(money(LONG, dice=(3, 1)).xgid, "--cube")
    assert result.exit_code == 2 and "3-1" in result.stderr
    assert f'bgnet rollout "{money(LONG).xgid}" --cube' in result.stderr


QUICK = ["--cube", "--truncate", "0", "--quiet", "--no-luck"]


def test_the_command_places_the_cube_as_bgnet_cube_does() -> None:
    asked = ["--length", "7", "--score", "3-2", "--cube-value", "2", "--owner", "me"]
    told = json.loads(invoke(LONG.position_id, *QUICK, "-n", "2", *asked, "--json").stdout.splitlines()[-1])
    cube = [*asked[:4], "--cube", *asked[5:], "--ply", "0", "--quiet", "--json"]
    same = json.loads(CliRunner().invoke(app, ["cube", LONG.position_id, *cube]).stdout.splitlines()[-1])
    for key in ("xgid", "away", "cube", "cube_owner", "jacoby"):
        assert told[key] == same[key]
    jacoby = invoke(LONG.position_id, *QUICK, "-n", "2", "--jacoby", "--json").stdout
    assert json.loads(jacoby.splitlines()[-1])["jacoby"]
    refused = invoke(LONG.position_id, "--jacoby")
    assert refused.exit_code == 2 and "say --cube" in refused.stderr


def test_errors_of_rounding_make_no_ratio() -> None:
    """Positions that the exact tables know: the difference has no error but that of rounding."""
    text = invoke("UgEAgCoAAAAAAA", "--cube", "-n", "36", "--truncate", "4", "--quiet").stdout
    line = next(line for line in text.splitlines() if line.startswith("take less no double"))
    assert line.endswith("(.0000)") and "joint SE" not in line


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"cube": 2, "owner": 0}, "O owns the cube."),
        ({"match_length": 5, "score": (2, 4), "crawford": True}, "it is the Crawford game, in which nobody doubles."),
    ],
)
def test_the_screen_where_there_is_no_decision(fields: dict[str, Any], why: str) -> None:
    text = invoke(GameState(LONG, **fields).xgid, *QUICK, "-n", "2").stdout
    assert f"\nNo cube decision: {why}\n" in text and "Proper action" not in text
    assert ("\nno redouble" in text) == ("owner" in fields)


def test_one_trial_is_no_judgement() -> None:
    warning = "One trial has no standard error"
    assert warning in invoke(LONG.position_id, *QUICK, "-n", "1").stdout
    assert warning not in invoke(LONG.position_id, *QUICK, "-n", "2").stdout
