"""Rollouts: unbiased, with honest errors, reproducible, resumable."""

from __future__ import annotations

import gzip
import json
import math
import threading
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgnet
from bgnet import rollouts
from bgnet.composite import Composite
from bgnet.evaluators import NetEvaluator, load
from bgnet.lockstep import Plan, Trials, play_trials
from bgnet.players import EvaluatorPlayer, RandomPlayer
from bgnet.rollout_runs import in_order
from bgnet.rollouts import (
    PlaysRollout,
    RolloutError,
    RolloutInterrupted,
    RolloutResult,
    read_rollout,
    rollout,
    rollout_plays,
)
from bgnet.search import Search, SearchStopped
from bgnet.strata import std_error, strata
from engine import START, BoardError, DiceError, GameState, IllegalPlayError, NotationError, Position, parse_play
from engine.outcomes import swap, to_cumulative
from engine.rules import DMP, MONEY
from tests.bgnet.nets import random_net
from tests.boards import DATA, board

NET = random_net([32], seed=1)
ENDING = Position(board({6: 2, 5: 1, 20: 1}, {1: 1, 9: 2, 22: 1}))  # contact, over soon
QUICK: dict[str, Any] = {"trials": 72, "tables": False, "threads": 1}


@cache
def standard() -> NetEvaluator:
    return load("standard")


@cache
def exact() -> Composite:
    return Composite(standard())


def case(name: str) -> dict[str, Any]:
    lines = (DATA / "cases_rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    return next(found for found in map(json.loads, lines) if found["id"] == name)


def two_sided(count: int) -> list[dict[str, Any]]:
    with gzip.open(DATA / "bearoff.jsonl.gz", "rt") as file:
        rows = [row for row in map(json.loads, file) if row["type"] == "two_sided"]
    return rows[:: len(rows) // count][:count]


def same_rows(one: RolloutResult | PlaysRollout, other: RolloutResult | PlaysRollout) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one.saved.rows, other.saved.rows, strict=True))


class Recorder:
    """A progress display that remembers, and can interrupt."""

    def __init__(self, interrupt_after: int = 10**9) -> None:
        self.seen: list[tuple[int, dict[str, object]]] = []
        self.left = interrupt_after

    def update(self, n: int, **fields: object) -> None:
        self.seen.append((n, fields))
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


# Right


@pytest.mark.parametrize("games", [36, 72, 360])
@pytest.mark.parametrize("luck", [True, False])
def test_a_one_roll_position_is_exact(games: int, luck: bool) -> None:
    ro_001 = case("ro-001")
    result = rollout(Position(ro_001["input"]["board"]), standard(), trials=games, luck=luck, tables=False)
    assert result.chances["win"] == pytest.approx(ro_001["expect"]["win"], abs=1e-12)
    assert result.std_error == result.std_error_plain == ro_001["expect"]["standard_error"]
    assert result.chance_std_errors.tolist() == [0] * 5


@pytest.mark.parametrize("tables", [True, False])
def test_gammons_that_are_impossible_are_not_reported(tables: bool) -> None:
    ro_002 = case("ro-002")
    expected = ro_002["expect"]
    result = rollout(Position(ro_002["input"]["board"]), standard(), trials=ro_002["input"]["games"], tables=tables)
    assert result.outcomes[[1, 2, 4, 5]].tolist() == [0] * 4
    for name in ("gammon_win", "backgammon_win", "gammon_loss", "backgammon_loss"):
        assert result.chances[name] == expected[name]
    allowed = expected["win_tolerance_in_standard_errors"] * result.chance_std_errors[0] + 1e-6
    assert result.chances["win"] == pytest.approx(expected["win"], abs=allowed)


@pytest.mark.parametrize("luck_net", ["standard", "random"])
def test_unbiased_against_the_exact_table(luck_net: str) -> None:
    """Exact plays, but luck from a bare net, even from one that knows nothing."""
    judge = standard() if luck_net == "standard" else NET
    off = []
    for row in two_sided(25):
        result = rollout(
            Position(row["board"]), standard(), player=EvaluatorPlayer(exact()), luck_evaluator=judge,
            trials=144, seed=3,
        )  # fmt: skip
        error = result.equity - row["equity_cubeless"]
        assert abs(error) <= 4 * result.std_error + 1e-6, row["board"]
        if result.std_error > 1e-6:
            off.append(error / result.std_error)
    assert len(off) >= 15
    assert abs(np.mean(off)) < 4 / math.sqrt(len(off))
    assert np.mean(np.square(off)) < 1 + 4 * math.sqrt(2 / len(off)), "errors are as large as they say"


def test_luck_adjustment_cuts_the_variance_tenfold() -> None:
    ids = ("4HPwATDgc/ABMA", "4HPKATDgc/ABMA", "sGfwATDgc/ABMA")
    results = [rollout(text, standard(), trials=72, tables=False) for text in ids]
    plain, reduced = (sum(getattr(r, name) ** 2 for r in results) for name in ("std_error_plain", "std_error"))
    assert plain > 10 * reduced
    for result in results:
        assert result.variance_factor == pytest.approx((result.std_error_plain / result.std_error) ** 2)
        assert abs(result.equity - result.plain_equity) < 4 * result.std_error_plain


@pytest.mark.parametrize(("plies", "depth"), [(1, "rollout 36x0-ply, 1 ply"), (2, "rollout 36x0-ply, 2 plies")])
def test_very_short_trials_with_luck_taken_off_are_lookahead(plies: int, depth: str) -> None:
    """What is left of such a trial depends on its first roll at most, and every first roll is there."""
    result = rollout(ENDING, NET, truncate=plies, **{**QUICK, "trials": 36})
    expected = Search(NET, plies).outcomes(ENDING.board[None])[0]
    assert result.chances["win"] == pytest.approx(float(expected[:3].sum()), abs=1e-6)
    assert result.std_error < 1e-6
    assert result.depth == depth


def test_numbers_follow_from_the_trials() -> None:
    result = rollout(ENDING, NET, **QUICK)
    rows = result.saved.rows
    assert result.outcomes == pytest.approx((rows.results - rows.luck)[0].mean(axis=0))
    assert result.plain_outcomes == pytest.approx(rows.results[0].mean(axis=0))
    assert result.outcomes.sum() == pytest.approx(1, abs=1e-6)
    assert result.equity == pytest.approx(float(result.outcomes @ MONEY.payoff))
    assert result.plain_equity == pytest.approx(float(result.plain_outcomes @ MONEY.payoff))
    assert list(result.chances.values()) == pytest.approx(np.clip(to_cumulative(result.outcomes), 0, 1).tolist())
    assert result.trials == 72 and result.stopped == "trials"
    without = rollout(ENDING, NET, luck=False, **QUICK)
    assert without.plain_equity == without.equity == pytest.approx(result.plain_equity)
    assert without.std_error == without.std_error_plain == pytest.approx(result.std_error_plain)


def test_what_is_played_for_decides_the_equity() -> None:
    result = rollout(ENDING, NET, payoff=DMP.payoff, **QUICK)
    assert result.equity == pytest.approx(2 * result.outcomes[:3].sum() - 1)


def test_the_depth_of_play_inside() -> None:
    searched = rollout(ENDING, NET, ply=1, truncate=2, **QUICK)
    assert not same_rows(searched, rollout(ENDING, NET, truncate=2, **QUICK))
    expected = rollout(ENDING, NET, player=Search(NET, 1), truncate=2, **QUICK)
    assert same_rows(searched, expected)
    assert searched.depth == "rollout 72x1-ply, 2 plies"
    assert "Search(" in expected.depth
    assert rollout(ENDING, "net:standard@1ply", trials=1, truncate=1, tables=False).settings.ply == 1


def test_players_and_luck_judges_by_name() -> None:
    named = rollout(ENDING, NET, player="random", luck_evaluator="net:standard", **QUICK)
    assert same_rows(named, rollout(ENDING, NET, player=RandomPlayer(), luck_evaluator=standard(), **QUICK))
    assert (named.settings.player, named.settings.luck_evaluator) == ("random", "net:standard")


def test_tables_judge_where_they_know() -> None:
    row = two_sided(1)[0]
    result = rollout(Position(row["board"]), NET, trials=36)
    assert result.equity == pytest.approx(row["equity_cubeless"], abs=1e-6)
    assert result.std_error < 1e-7 and math.isnan(result.variance_factor)


# Plays


def test_plays_get_the_same_dice_and_are_ranked() -> None:
    texts = ["8/7*(2) 6/5(2)", "24/22 6/5(2)"]
    xgid = "XGID=-a----EaC---dEa--c-e----B-:0:0:1:11:0:0:0:0:10"
    result = rollout_plays(xgid, None, texts, standard(), trials=36, tables=False)
    position = GameState.from_xgid(xgid).position
    points = []
    for text in texts:
        play = parse_play(position, (1, 1), text)
        alone = rollout(play.position, standard(), trials=36, tables=False)
        rolled = next(found for found in result.plays if found.play == play.notation)
        assert rolled.position == play.position
        assert rolled.outcomes == pytest.approx(swap(alone.outcomes), abs=1e-12)
        assert rolled.equity == pytest.approx(-alone.equity)
        assert rolled.std_error == pytest.approx(alone.std_error)
        points.append(-alone.saved.rows.points(MONEY.payoff.tolist())[0])
    best, second = result.plays
    assert [play.rank for play in result.plays] == [1, 2]
    assert best.play == texts[0] and best.loss == 0
    assert result.lead == second.loss == pytest.approx(best.equity - second.equity)
    joint = std_error(points[0] - points[1], strata(1, 36))
    assert best.joint_std_error == second.joint_std_error == pytest.approx(joint)


def test_plays_left_out_are_the_best_few() -> None:
    ranked = Search(NET, 0).rank(START.board, np.array([3, 1], np.int8))
    for most in (1, 2, 4):
        result = rollout_plays(START, "31", None, NET, most=most, within=9.0, truncate=1, **QUICK)
        assert {play.position for play in result.plays} == {Position(c.board) for c in ranked[:most]}
    assert len(rollout_plays(START, "31", None, NET, within=0.0, truncate=1, **QUICK).plays) == 2


def test_a_single_play_has_no_lead() -> None:
    closed = Position(board({25: 1, 1: 1}, {24 - k: 2 for k in range(6)}))
    result = rollout_plays(closed, (6, 6), None, NET, truncate=1, **QUICK)
    assert [play.play for play in result.plays] == ["no play"]
    assert result.lead is None and result.best.joint_std_error is None
    json.dumps(result.as_dict(), allow_nan=False)


def test_a_play_that_ends_the_game_is_exact() -> None:
    position = Position(board({1: 1, 2: 1}, {24: 2}))
    result = rollout_plays(position, "65", None, NET, **QUICK)
    assert result.best.equity == 1.0 and result.best.std_error == 0.0
    assert result.best.outcomes.tolist() == [1, 0, 0, 0, 0, 0]


# Reproducible


def test_the_same_numbers_on_any_number_of_threads_and_in_any_chunks() -> None:
    results = [
        rollout_plays(ENDING, "21", None, NET, trials=100, tables=False, threads=threads, chunk=chunk)
        for threads, chunk in ((1, 36), (3, 36), (2, 7), (1, 500))
    ]
    assert all(same_rows(results[0], other) for other in results[1:])
    assert len({str([play.as_dict() for play in result.plays]) for result in results}) == 1
    assert not same_rows(results[0], rollout_plays(ENDING, "21", None, NET, trials=100, tables=False, seed=2))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rollout")]


def test_going_on_gives_what_one_long_rollout_gives(tmp_path: Path) -> None:
    file = tmp_path / "r"
    whole = rollout(ENDING, NET, **{**QUICK, "trials": 100})
    first = rollout(ENDING, NET, save=file, **{**QUICK, "trials": 41})
    for start in (file, str(file), first, read_rollout(file)):
        assert same_rows(rollout(ENDING, NET, resume=start, **{**QUICK, "trials": 100}), whole)
    progress = Recorder()
    again = rollout(ENDING, NET, resume=file, progress=progress, **{**QUICK, "trials": 10})
    assert same_rows(again, first), "trials that are done stay done"
    assert again.settings.trials == 41 and [n for n, _ in progress.seen] == [0]
    whole.save(file)
    assert same_rows(rollout(ENDING, NET, resume=file, **QUICK), whole)

    texts = ["6/5 6/4", "20/17"]
    plays = rollout_plays(ENDING, "21", texts, NET, save=file, **QUICK)
    longer = rollout_plays(ENDING, "21", None, NET, resume=file, **{**QUICK, "trials": 90})
    assert [play.play for play in longer.plays] != [] and longer.saved.plays == plays.saved.plays
    assert same_rows(longer, rollout_plays(ENDING, "21", texts, NET, **{**QUICK, "trials": 90}))


def test_trials_of_another_rollout_are_refused() -> None:
    first = rollout(ENDING, NET, **QUICK)
    flipped = ENDING.flipped()
    for words, call in {
        "seed is 1, not 2": lambda: rollout(ENDING, NET, seed=2, resume=first, **QUICK),
        "truncate is None, not 5": lambda: rollout(ENDING, NET, truncate=5, resume=first, **QUICK),
        "luck is True, not False": lambda: rollout(ENDING, NET, luck=False, resume=first, **QUICK),
        "ply is 0, not 1": lambda: rollout(ENDING, NET, ply=1, resume=first, **QUICK),
        f"position is {ENDING.position_id}, not": lambda: rollout(flipped, NET, resume=first, **QUICK),
        "made by another bot": lambda: rollout(ENDING, random_net([32], seed=5), resume=first, **QUICK),
        "the plays are None, not": lambda: rollout_plays(ENDING, "21", None, NET, resume=first, **QUICK),
    }.items():
        with pytest.raises(RolloutError, match=words):
            call()


# Enough


def test_stopping_at_a_standard_error() -> None:
    free = rollout(ENDING, standard(), stop_se=1e-9, **{**QUICK, "trials": 180})
    points = free.saved.rows.points(MONEY.payoff.tolist())[0]
    counts = range(36, 181, 36)
    errors = {n: std_error(points[:n], strata(1, n)) for n in counts}
    assert (free.trials, free.stopped, free.std_error) == (180, "trials", errors[180])
    wanted = 1.01 * errors[108]
    first = next(n for n in counts if errors[n] <= wanted)
    later = next(n for n in counts if errors[n] <= wanted and n > first)
    for threads, chunk in ((1, 36), (2, 50), (1, 180)):
        how: dict[str, Any] = {"trials": 180, "tables": False, "threads": threads, "chunk": chunk, "stop_se": wanted}
        result = rollout(ENDING, standard(), min_trials=36, **how)
        assert (result.trials, result.stopped, result.std_error) == (first, "std_error", errors[first])
        assert rollout(ENDING, standard(), min_trials=first + 1, **how).trials == later
    again = rollout(ENDING, standard(), resume=result, min_trials=36, **how)
    assert again.trials == first, "it was enough already"


def test_stopping_when_the_leader_is_clear() -> None:
    texts = ["8/5 6/5", "24/20", "24/23 13/10"]
    how: dict[str, Any] = {"tables": False, "min_trials": 36}
    result = rollout_plays(START, "31", texts, standard(), trials=180, stop_clear=3.0, **how)
    assert result.stopped == "clear" and result.trials < 180
    for play in result.plays[1:]:
        assert play.joint_std_error is not None and play.loss >= 3 * play.joint_std_error
    for count in range(36, result.trials, 36):  # it was not clear before
        points = -result.saved.rows.points(MONEY.payoff.tolist())[:, :count]
        best = int(points.mean(axis=1).argmax())
        leads = [points[best] - points[i] for i in range(3) if i != best]
        assert any(lead.mean() < 3 * std_error(lead, strata(1, count)) for lead in leads)
    never = rollout_plays(START, "31", texts, standard(), trials=72, stop_clear=1e9, truncate=3, **how)
    assert (never.trials, never.stopped) == (72, "trials")


# Stopped


def test_stop_gives_the_trials_done_so_far(tmp_path: Path) -> None:
    progress = Recorder()
    file = tmp_path / "r"
    result = rollout(
        ENDING, NET, trials=10**6, tables=False, chunk=40, progress=progress, save=file, threads=2,
        stop=lambda: len(progress.seen) >= 2,
    )  # fmt: skip
    assert result.stopped == "asked" and result.settings.trials == 10**6
    assert result.trials == sum(n for n, _ in progress.seen) == 80
    assert same_rows(result, rollout(ENDING, NET, **{**QUICK, "trials": 80}))
    assert same_rows(rollout(ENDING, NET, resume=file, **{**QUICK, "trials": 80}), result)
    with pytest.raises(SearchStopped):
        rollout(ENDING, NET, stop=lambda: True, **QUICK)


def test_ctrl_c_carries_the_trials_done_so_far(tmp_path: Path) -> None:
    file = tmp_path / "r"
    with pytest.raises(RolloutInterrupted) as caught:
        rollout(ENDING, NET, trials=10**6, tables=False, progress=Recorder(2), save=file)
    result = caught.value.result
    assert isinstance(result, RolloutResult)
    assert result.trials == 72 and result.stopped == "asked"
    assert same_rows(result, rollout(ENDING, NET, **QUICK))
    assert read_rollout(file).rows.results.shape == (1, 72, 6)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rollout")]
    with pytest.raises(RolloutInterrupted) as caught:
        rollout_plays(ENDING, "21", None, NET, trials=10**6, tables=False, progress=Recorder(1))
    assert isinstance(caught.value.result, PlaysRollout)
    with pytest.raises(KeyboardInterrupt) as plain:
        rollout(ENDING, NET, stop=interrupt, **QUICK)
    assert not isinstance(plain.value, RolloutInterrupted), "there is nothing to carry"


def interrupt() -> bool:
    raise KeyboardInterrupt


def test_long_rollouts_are_kept_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bgnet.rollout_runs._SAVE_EVERY_S", 0.0)
    file, sizes = tmp_path / "r", []

    class Look(Recorder):
        def update(self, n: int, **fields: object) -> None:
            sizes.append(read_rollout(file).rows.results.shape[1] if file.exists() else 0)

    rollout(ENDING, NET, progress=Look(), save=file, **{**QUICK, "trials": 108})
    assert sizes == [0, 36, 72]


def test_a_file_that_cannot_be_written_is_found_out_before_the_first_trial(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "no" / "r", "there is no folder"), (tmp_path, "it is a folder")):
        progress = Recorder()
        with pytest.raises(OSError, match=f"cannot write {path}: {reason}"):
            rollout(ENDING, NET, progress=progress, save=path, **QUICK)
        assert progress.seen == []


def test_an_error_in_a_thread_is_raised_and_ends_the_others() -> None:
    class Broken:
        def outcomes(self, boards: np.ndarray) -> np.ndarray:
            raise ZeroDivisionError("broken")

    with pytest.raises(ZeroDivisionError, match="broken"):
        rollout(ENDING, Broken(), trials=360, tables=False, threads=2)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rollout")]


def test_chunks_under_way_are_called_off() -> None:
    plan = Plan(EvaluatorPlayer(NET), NET, NET, MONEY.payoff, None, 1)
    cancelled = threading.Event()

    def play(first: int, count: int) -> Trials:
        return play_trials(plan, ENDING.board[None], first, count, cancelled.is_set)

    chunks = in_order(play, range(0, 10**6, 36), 2, cancelled, lambda: False)
    assert next(chunks).results.shape == (1, 36, 6)
    assert not cancelled.is_set()
    chunks.close()
    assert cancelled.is_set()


def test_progress_tells_the_running_estimate() -> None:
    progress = Recorder()
    result = rollout(ENDING, NET, progress=progress, **QUICK)
    assert [n for n, _ in progress.seen] == [36, 36]
    assert progress.seen[-1][1] == {"equity": f"{result.equity:+.4f}", "SE": f"{result.std_error:.4f}"}
    plays = rollout_plays(ENDING, "21", ["6/5 6/4", "20/17"], NET, progress=progress, **QUICK)
    joint = plays.best.joint_std_error
    assert plays.lead is not None and joint is not None
    assert progress.seen[-1][1] == {
        "best": f"{plays.best.play} {plays.best.equity:+.4f}",
        "lead": f"{plays.lead:+.4f} = {plays.lead / joint:.1f} joint SE",
    }


# What is asked and answered


def test_any_form_of_a_position() -> None:
    state = GameState(ENDING)
    forms = (ENDING, state, ENDING.position_id, state.gnubg_id, state.xgid)
    results = [rollout(form, NET, truncate=1, **QUICK) for form in forms]
    assert all(same_rows(results[0], other) and other.state.position == ENDING for other in results)


def test_bgnet_rollout_is_the_function() -> None:
    assert bgnet.rollout is rollout
    assert rollouts.rollout is rollout


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"trials": 0}, RolloutError, "trials must be a whole number, from 1"),
    ({"trials": 1.5}, RolloutError, "trials"),
    ({"trials": True}, RolloutError, "trials"),
    ({"truncate": 0}, RolloutError, "truncate must be a whole number, at least 1, not 0"),
    ({"ply": -1}, RolloutError, "ply"),
    ({"threads": -1}, RolloutError, "threads"),
    ({"chunk": 0}, RolloutError, "chunk"),
    ({"min_trials": 0}, RolloutError, "min_trials"),
    ({"stop_se": 0.0}, RolloutError, "stop_se must be above 0"),
    ({"stop_se": math.nan}, RolloutError, "stop_se"),
    ({"seed": -1}, DiceError, "seed"),
    ({"payoff": [1, 2, 3, -1, -1, -1]}, RolloutError, "payoff"),
    ({"luck": False, "luck_evaluator": NET}, RolloutError, "luck is False"),
    ({"player": "random", "ply": 1}, RolloutError, "leave one out"),
]


@pytest.mark.parametrize(("options", "kind", "words"), BAD, ids=lambda value: str(value)[:30])
def test_what_cannot_be_asked(options: dict[str, Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        rollout(ENDING, NET, **{**QUICK, **options})


def test_positions_and_plays_that_cannot_be_rolled_out() -> None:
    with pytest.raises(RolloutError, match=r"the roll 3-1 is thrown: rollout_plays"):
        rollout(GameState(START, dice=(3, 1)), NET)
    with pytest.raises(DiceError, match="the dice are not rolled"):
        rollout_plays(START, None, None, NET)
    over = Position(board({}, {24: 2}))
    with pytest.raises(BoardError, match="the game is over"):
        rollout(over, NET)
    with pytest.raises(BoardError, match="the game is over"):
        rollout_plays(over, "31", None, NET)
    with pytest.raises(IllegalPlayError, match="8/4"):
        rollout_plays(START, "31", ["8/4 6/5"], NET)
    with pytest.raises(RolloutError, match="plays is empty"):
        rollout_plays(START, "31", [], NET)
    with pytest.raises(RolloutError, match="most"):
        rollout_plays(START, "31", None, NET, most=0)
    with pytest.raises(NotationError):
        rollout("no position", NET)


def test_equal_plays_are_rolled_out_once() -> None:
    result = rollout_plays(START, "31", ["8/5 6/5", "6/5 8/5"], NET, truncate=1, **QUICK)
    assert len(result.plays) == 1


def test_json_of_a_position() -> None:
    result = rollout(ENDING, NET, truncate=4, **QUICK)
    found = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert found["schema"] == "bgnet.rollout/1"
    assert found["position_id"] == ENDING.position_id and found["xgid"] == GameState(ENDING).xgid
    assert (found["dice"], found["ply"], found["trials"], found["seed"]) == (None, None, 72, 1)
    assert (found["play_ply"], found["trials_asked"], found["luck"], found["truncate"]) == (0, 72, True, 4)
    assert found["depth"] == "rollout 72x0-ply, 4 plies"
    assert found["equity"] == result.equity
    assert found["std_error"] == result.std_error and found["std_error_plain"] == result.std_error_plain
    assert found["outcomes"] == result.outcomes.tolist() and found["chances"] == result.chances
    single = rollout(ENDING, NET, **{**QUICK, "trials": 1})
    assert single.as_dict()["std_error"] is None, "JSON has no nan"


def test_json_of_plays() -> None:
    result = rollout_plays(ENDING, "21", ["6/5 6/4", "20/17"], NET, **QUICK)
    found = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert (found["schema"], found["dice"], found["trials"]) == ("bgnet.rollout/1", [2, 1], 72)
    assert found["lead"] == result.lead and found["joint_std_error"] == result.best.joint_std_error
    for rank, play in enumerate(found["plays"], start=1):
        assert play["rank"] == rank and play["ply"] is None
        assert play["depth"] == "rollout 72x0-ply" and play["trials"] == 72
        assert play["loss"] >= 0 and play["std_error"] > 0 and play["joint_std_error"] > 0
        assert sum(play["outcomes"]) == pytest.approx(1, abs=1e-6)
        assert Position.from_position_id(play["position_id"])


def test_a_state_that_no_xgid_holds() -> None:
    result = rollout(GameState(ENDING, resigned=1), NET, truncate=1, **QUICK)
    assert result.as_dict()["xgid"] is None
