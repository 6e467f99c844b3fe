"""Recorded matches judged: against a slow account from single decisions, by hand, and against GNU Backgammon."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bgnet import peers
from bgnet.composite import Composite
from bgnet.cube import CubeDecision, decide
from bgnet.cube_context import CubeContext
from bgnet.cubeful import CubefulSearch
from bgnet.evaluators import load
from bgnet.gnubg_cli_process import find_gnubg
from bgnet.match_analysis import DecisionKind, JudgedDecision, MatchAnalysis, MatchAnalysisError, analyze_match, mark_of
from bgnet.match_analysis_luck import LuckJudge, luck_mark
from bgnet.resignation import equity_of_resigning
from engine import GameState, legal_plays
from engine.actions import Action, new_game
from engine.dice import ROLLS
from engine.records import MatchRecord, RecordBuilder, parse_mat, to_mat
from engine.state import GameStatus
from tests.marks import needs_gnubg, needs_peers
from tests.random_play import choice

LEAVES = Composite(load("standard"))
CUBE_KINDS = {DecisionKind.NO_DOUBLE, DecisionKind.DOUBLE, DecisionKind.TAKE, DecisionKind.PASS, DecisionKind.BEAVER}


def played(start: GameState, seed: int, games: int, noise: float = 0.3) -> MatchRecord:
    """Games of two players who know something, and now and then do anything that is legal."""
    rng = random.Random(seed)
    search = CubefulSearch(LEAVES, 0)
    builder = RecordBuilder(("Alice", "Bob"), start)
    while True:
        state = builder.state
        if state.result is not None:
            if state.match_over or state.game_state != GameStatus.NONE and len(builder.record().games) >= games:
                return builder.record()
            builder.next_game()
            continue
        action, argument = choice(state, rng)
        if action is not Action.ROLL and rng.random() >= noise or action is Action.RESIGN:
            if state.doubled:
                action, argument = (Action.TAKE if search.takes([state])[0] else Action.DROP), None
            elif state.dice is not None and not state.resigned:
                action, argument = Action.PLAY, search.plays([state])[0]
            elif action is Action.DOUBLE:
                action, argument = Action.ROLL, (rng.randint(1, 6), rng.randint(1, 6))
        builder.apply(action, argument)


@cache
def match() -> MatchRecord:
    return played(new_game(5), 3, 3)


@cache
def money() -> MatchRecord:
    return played(new_game(jacoby=True, beavers=True), 4, 3)


@cache
def plain_money() -> MatchRecord:
    """Without beavers: where they are right, GNU Backgammon's analysis leaves them out of account."""
    return played(new_game(jacoby=True), 6, 3)


@cache
def judged(kind: str) -> MatchAnalysis:
    return analyze_match({"match": match, "money": money}[kind](), bot=LEAVES)


# ---- the slow account ----------------------------------------------------------------------------------------------


@cache
def slow_decision(state: GameState) -> CubeDecision:
    return decide(LEAVES.outcomes(state.position.board[None])[0], state)


def slow_values(state: GameState) -> list[float]:
    """What the mover has after each legal play, per unit of the cube: the opponent doubles or not as is best."""
    context = CubeContext.from_state(state)
    values = []
    for play in legal_plays(state.position, state.dice):
        after = replace(state, position=play.position, on_roll=1 - state.on_roll, dice=None)
        if play.position.ending() is not None:
            level = (play.position.ending() or 0) - 2
            theirs = equity_of_resigning(after, level, context.flipped)
        else:
            theirs = slow_decision(after).best
        units = context.flipped.from_equity(theirs, state.cube)
        values.append(float(context.to_equity(context.turned(units), state.cube)))
    return values


def decisions(kind: str) -> list[JudgedDecision]:
    return [decision for game in judged(kind).games for decision in game.decisions]


@pytest.mark.parametrize("kind", ["match", "money"])
def test_plays_lose_what_single_decisions_say(kind: str) -> None:
    plays = [decision for decision in decisions(kind) if decision.kind is DecisionKind.PLAY]
    assert len(plays) > 60
    wrong = 0
    for decision in plays[::2]:
        values = slow_values(decision.state)
        names = [play.notation for play in legal_plays(decision.state.position, decision.state.dice)]
        chosen = values[names.index(decision.chosen)]
        assert decision.equity == pytest.approx(chosen, abs=1e-6)
        assert decision.loss == pytest.approx(max(values) - chosen, abs=1e-6)
        assert values[names.index(decision.best)] == pytest.approx(max(values), abs=1e-6)
        assert decision.choices == len(names)
        assert decision.counts == (len(names) > 1)
        wrong += decision.loss > 0.01
    assert wrong > 5


@pytest.mark.parametrize("kind", ["match", "money"])
def test_cube_decisions_lose_what_decide_says(kind: str) -> None:
    cubes = [decision for decision in decisions(kind) if decision.kind in CUBE_KINDS]
    seen = set()
    for decision in cubes:
        cost = slow_decision(decision.state).costs
        expected = {
            DecisionKind.NO_DOUBLE: cost.no_double, DecisionKind.DOUBLE: cost.double, DecisionKind.TAKE: cost.take,
            DecisionKind.PASS: cost.pass_, DecisionKind.BEAVER: cost.beaver,
        }[decision.kind]  # fmt: skip
        assert decision.loss == pytest.approx(expected, abs=1e-9)
        assert decision.best_equity - decision.equity == pytest.approx(decision.loss, abs=1e-9)
        answer = decision.kind in (DecisionKind.TAKE, DecisionKind.PASS, DecisionKind.BEAVER)
        assert decision.seat == (decision.state.decider if answer else decision.state.on_roll)
        seen.add(decision.kind)
    assert seen >= CUBE_KINDS - {DecisionKind.BEAVER, DecisionKind.PASS}
    assert seen >= {{"match": DecisionKind.TAKE, "money": DecisionKind.PASS}[kind]}


@pytest.mark.parametrize("kind", ["match", "money"])
def test_every_decision_and_roll_of_the_record_is_there_once(kind: str) -> None:
    for game in judged(kind).games:
        done = [action for action in game.record.actions]
        names = {Action.PLAY: "play", Action.DOUBLE: "double", Action.TAKE: "take", Action.DROP: "pass",
                 Action.BEAVER: "beaver", Action.RESIGN: "resign"}  # fmt: skip
        acted = [(names[action.action], action.seat) for action in done if action.action in names]
        told = [(d.kind.value, d.seat) for d in game.decisions if d.kind.value not in ("no_double", "accept")]
        assert told == acted
        rolled = [(action.seat, action.dice) for action in done if action.dice is not None]
        assert [(roll.seat, roll.state.dice) for roll in game.rolls] == rolled
        may_double = 0  # by the states of the record alone
        for number, (before, action, _) in enumerate(game.record.states()):
            if action in (Action.PLAY, Action.ROLL) and number:
                may_double += replace(before, dice=None).may_double
        assert sum(d.kind is DecisionKind.NO_DOUBLE for d in game.decisions) == may_double
        turns = [roll.turn for roll in game.rolls]
        assert turns == sorted(set(turns))


@pytest.mark.parametrize("kind", ["match", "money"])
def test_luck_is_the_best_play_less_the_mean_over_the_rolls(kind: str) -> None:
    rolls = [roll for game in judged(kind).games for roll in game.rolls]
    assert [roll.opening for roll in judged(kind).games[0].rolls[:2]] == [True, False]
    for roll in [roll for roll in rolls if not roll.opening][::25]:
        best = {tuple(dice): max(slow_values(replace(roll.state, dice=tuple(dice)))) for dice in ROLLS.tolist()}
        mean = sum(value * (1 if high == low else 2) / 36 for (high, low), value in best.items())
        dice = roll.state.dice or (0, 0)
        assert roll.luck == pytest.approx(best[max(dice), min(dice)] - mean, abs=1e-6)


def test_luck_of_the_opening_counts_who_starts() -> None:
    """The 30 throws of two different dice, half of them for each: their luck sums to nothing, at any score."""
    judge = LuckJudge(LEAVES, CubefulSearch(LEAVES, 0).efficiency, CubeContext.from_state, lambda: False)
    for start in (new_game(), new_game(5), replace(new_game(7), score=(5, 1))):
        opened = [start.open((one, two)) for one in range(1, 7) for two in range(1, 7) if one != two]
        rolls = [roll for state in opened for roll in _judge_one(judge, state)]
        seen_by_1 = [roll * (1 if state.on_roll == 1 else -1) for roll, state in zip(rolls, opened, strict=True)]
        assert sum(seen_by_1) == pytest.approx(0, abs=1e-9)
        assert max(rolls) > 0.005


def _judge_one(judge: LuckJudge, state: GameState) -> list[float]:
    contexts: dict[int, CubeContext] = {}

    def context(asked: GameState) -> CubeContext:
        return contexts.setdefault(asked.on_roll, CubeContext.from_state(asked))

    judge.context = context
    return [roll.stake_luck for roll in judge.judge([(1, state, True)])]


# ---- sums ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["match", "money"])
def test_totals_and_rates_by_hand(kind: str) -> None:
    found = judged(kind)
    for seat in (0, 1):
        totals = found.totals(seat)
        own = [d for d in decisions(kind) if d.seat == seat]
        plays = [d for d in own if d.kind is DecisionKind.PLAY]
        cubes = [d for d in own if d.kind in CUBE_KINDS]
        unforced = [d for d in plays if len(legal_plays(d.state.position, d.state.dice)) > 1]
        close = []
        for d in cubes:
            c = slow_decision(d.state)
            taken = c.double_take
            assert taken is not None
            best = max(c.no_double, min(x for x in (taken, 1.0, c.beaver) if x is not None))
            if d.kind is not DecisionKind.NO_DOUBLE or best - min(taken, 1.0) < 0.16:
                close.append(d)
        s = sum(d.loss for d in plays) + sum(d.loss for d in cubes)
        assert totals.loss == pytest.approx(s)
        assert totals.error_rate == pytest.approx(1000 * s / (len(unforced) + len(close)))
        every = sum(d.kind is DecisionKind.PLAY for d in decisions(kind))
        assert totals.snowie_error_rate == pytest.approx(1000 * s / every)
        alike = 0
        for d in unforced:
            first = sorted(slow_values(d.state), reverse=True)[:10]
            alike += max(first) - min(first) < 0.001
        counted = len(unforced) - alike + len(close)
        assert totals.performance_rating == pytest.approx(500 * s / counted)
        assert sum(totals.marks.values()) == sum(d.loss >= 0.02 for d in [*plays, *cubes])
        assert totals.checker_loss == pytest.approx(sum(game.totals(seat).checker_loss for game in found.games))
    one, other = found.totals(0), found.totals(1)
    assert one.result == pytest.approx(-(other.result or 0))
    assert one.luck_adjusted == pytest.approx(-(other.luck_adjusted or 0))


def test_results_are_points_or_chances_to_win_the_match() -> None:
    points = [(game.points if game.winner == 1 else -game.points) for game in money().games if game.result is not None]
    assert judged("money").totals(1).result == sum(points)
    record = match()
    assert record.winner is not None
    assert judged("match").totals(record.winner).result == pytest.approx(0.5)
    for game in judged("match").games:
        assert game.curve[0] == (0, pytest.approx(game.curve[0][1]))
        assert 0 <= min(value for _, value in game.curve) <= max(value for _, value in game.curve) <= 1
    assert judged("match").games[-1].curve[-1][1] == pytest.approx(float(record.winner == 1))
    assert judged("match").games[0].curve[0][1] == 0.5


def test_stake_losses_are_points_or_match_winning_chances() -> None:
    for decision in decisions("money"):
        assert decision.stake_loss == pytest.approx(decision.loss * decision.state.cube)
    for decision in decisions("match"):
        context = CubeContext.from_state(decision.state)
        gained = context.from_equity([decision.best_equity, decision.equity], decision.state.cube)
        if decision.kind not in (DecisionKind.TAKE, DecisionKind.PASS, DecisionKind.ACCEPT):
            assert decision.stake_loss == pytest.approx(float(gained[0] - gained[1]), abs=1e-9)


def test_marks() -> None:
    assert [mark_of(loss) for loss in (0.0199, 0.02, 0.0399, 0.04, 0.0799, 0.08, 2)] == ["", "?!", "?!", "?", "?"] + [
        "??"
    ] * 2
    assert [luck_mark(luck) for luck in (0.29, 0.3, -0.3, 0.6, -0.61)] == [
        "", "lucky", "unlucky", "very lucky", "very unlucky",
    ]  # fmt: skip


# ---- what is asked -------------------------------------------------------------------------------------------------


def test_depth_games_and_json() -> None:
    one = analyze_match(match(), bot="net:standard", games=[2])
    assert [game.number for game in one.games] == [2]
    twin = judged("match").games[1]
    assert [d.loss for d in one.games[0].decisions] == pytest.approx([d.loss for d in twin.decisions], abs=1e-6)
    short = parse_mat(Path(__file__).parent.parent.joinpath("data", "sample.mat").read_text(encoding="utf-8"))
    assert analyze_match(short, bot="net:standard@1ply").ply == 1
    deep = analyze_match(short, bot="net:standard", ply=1)
    assert deep.ply == 1
    shallow = analyze_match(short, bot="net:standard")
    assert shallow.ply == 0
    assert [d.chosen for d in deep.games[0].decisions] == [d.chosen for d in shallow.games[0].decisions]
    assert deep.games[0].decisions[-1].loss != shallow.games[0].decisions[-1].loss
    told = json.loads(json.dumps(deep.as_dict(), allow_nan=False))
    assert told["schema"] == "bgnet.analyze_match/1"
    assert (told["ply"], told["luck_ply"], told["players"]) == (1, 0, ["Alice", "Bob"])
    for seat in (0, 1):
        losses = [d["loss"] for d in told["games"][0]["decisions"] if d["seat"] == seat]
        assert told["totals"][seat]["loss"] == pytest.approx(sum(losses))
        assert told["totals"][seat]["counted_decisions"] > 0


def test_progress_counts_every_decision_once() -> None:
    seen: list[tuple[int, int]] = []
    analyze_match(match(), bot=LEAVES, games=[1], progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    assert seen == sorted(seen)


def test_what_cannot_be_analysed() -> None:
    for games, words in (([4], "no game 4"), ([0], "no game 0"), ([], "no game to analyse")):
        with pytest.raises(MatchAnalysisError, match=words):
            analyze_match(match(), bot=LEAVES, games=games)
    for rule in ("jacoby", "beavers"):
        with pytest.raises(MatchAnalysisError, match="belong to money play"):
            analyze_match(match(), bot=LEAVES, **{rule: True})
    with pytest.raises(peers.BotSpecError, match="no chances"):
        analyze_match(match(), bot="random")
    beavered = RecordBuilder(("a", "b"), new_game(beavers=True))
    for action, argument in (
        (Action.ROLL, "31"),
        (Action.PLAY, "8/5 6/5"),
        (Action.DOUBLE, None),
        (Action.BEAVER, None),
    ):
        beavered.apply(action, argument)
    with pytest.raises(MatchAnalysisError, match="game 1 has a beaver"):
        analyze_match(beavered.record(), bot=LEAVES, beavers=False)


@pytest.mark.parametrize("counted", [1, 2])
def test_a_gammon_tells_whether_the_jacoby_rule_was_in_force(counted: int) -> None:
    builder = RecordBuilder(("a", "b"), new_game(jacoby=counted == 1))
    for action, argument in ((Action.ROLL, "31"), (Action.PLAY, "8/5 6/5"), (Action.ROLL, "64"), (Action.RESIGN, 2),
                             (Action.ACCEPT, None)):  # fmt: skip
        builder.apply(action, argument)
    record = builder.record()
    kind = record.games[0].result.kind if record.games[0].result else ""
    if counted == 1:  # told as a single game, since it counts as much: nothing contradicts either rule
        assert kind == "single"
        assert not analyze_match(record, bot=LEAVES, jacoby=False).jacoby
    else:
        assert kind == "gammon"
        assert not analyze_match(record, bot=LEAVES).jacoby
        with pytest.raises(MatchAnalysisError, match="counted 2, so the Jacoby rule was not in force"):
            analyze_match(record, bot=LEAVES, jacoby=True)


def test_rules_change_the_judgement() -> None:
    record = played(new_game(), 12, 1, noise=0.1)
    plain, jacoby = (analyze_match(record, bot=LEAVES, jacoby=rule, games=[1]) for rule in (None, True))
    one, other = ([d.equity for d in found.games[0].decisions] for found in (plain, jacoby))
    assert (plain.jacoby, jacoby.jacoby) == (False, True)
    assert len(one) == len(other)
    assert not np.allclose(one, other, atol=1e-3)


def resigned(*steps: tuple[Action, object]) -> list[JudgedDecision]:
    builder = RecordBuilder(("a", "b"), new_game())
    for action, argument in ((Action.ROLL, "31"), (Action.PLAY, "8/5 6/5"), *steps):
        builder.apply(action, argument)
    return list(analyze_match(builder.record(), bot=LEAVES).games[0].decisions)


def test_resignations_are_judged_for_both() -> None:
    found = resigned((Action.ROLL, "64"), (Action.RESIGN, 3), (Action.ACCEPT, None))
    assert [d.kind for d in found[-2:]] == [DecisionKind.RESIGN, DecisionKind.ACCEPT]
    resign, accept = found[-2:]
    expected = max(slow_values(resign.state))
    assert (resign.seat, accept.seat) == (0, 1)
    assert (resign.chosen, resign.best, accept.best) == ("resign a backgammon", "play on", "accept")
    assert resign.equity == -3.0
    assert resign.loss == pytest.approx(expected + 3)
    assert accept.loss == 0
    assert not (resign.counts or accept.counts)
    before = resigned((Action.RESIGN, 1), (Action.ACCEPT, None))[-2]
    assert before.loss == pytest.approx(slow_decision(before.state).best + 1)


def test_a_resignation_out_of_turn_is_judged_as_it_was() -> None:
    """The file only says who won: here the player who has just played."""
    lines = [" 0 point match", "", " Game 1", " a : 0                         b : 0",
             "  1)                             31: 8/5 6/5",
             "      Wins 1 point", ""]  # fmt: skip
    record = parse_mat("\n".join(lines))
    found = analyze_match(record, bot=LEAVES).games[0].decisions
    resign, accept = found[-2:]
    assert (resign.kind, resign.seat, accept.seat) == (DecisionKind.RESIGN, 1, 0)
    theirs = GameState(found[0].state.play("8/5 6/5").position, on_roll=0)
    assert resign.best_equity == pytest.approx(-slow_decision(theirs).best, abs=1e-6)
    assert resign.loss == pytest.approx(1 - slow_decision(theirs).best, abs=1e-6)


# ---- GNU Backgammon ------------------------------------------------------------------------------------------------


@needs_gnubg
@needs_peers
@pytest.mark.parametrize("kind", ["match", "money"])
def test_gnubg_counts_and_adds_up_the_same(kind: str, tmp_path: Path) -> None:
    """Its own analysis at 0-ply against ours with its networks: the same counts, nearly the same errors and luck."""
    record = {"match": match, "money": plain_money}[kind]()
    file, commands = tmp_path / "game.mat", tmp_path / "commands"
    file.write_text(to_mat(record), encoding="utf-8")
    jacoby = "on" if kind == "money" else "off"
    settings = ["evaluation plies 0", "evaluation prune off"]
    lines = [
        "set automatic game off", f"set jacoby {jacoby}",
        *(f"set analysis {part} {setting}" for part in ("chequerplay", "cubedecision") for setting in settings),
        "set analysis luck yes", f"import mat {file}", "analyse match", "show statistics match",
    ]  # fmt: skip
    commands.write_text("\n".join(lines) + "\n", encoding="utf-8")
    env = {**os.environ, "HOME": str(tmp_path), "LC_ALL": "C"}
    run = subprocess.run(
        [find_gnubg(), "-t", "-q", "-c", str(commands)], env=env, input="", capture_output=True, text=True, timeout=120
    )
    shown = run.stdout[run.stdout.rindex("Chequerplay statistics") :]

    def row(name: str, part: str = "") -> list[float]:
        text = shown[shown.index(part) :] if part else shown
        line = next(line for line in text.splitlines() if line.startswith(name))
        values = re.sub(r"\(EMG \(\w+\)\)|EMG|\(MWC\)|\(Points\)|\([^()]*\)", " ", line[len(name) :])
        return [float(value) for value in values.split()[:2]]

    found = analyze_match(record, bot="gnubg:0")
    totals = [found.totals(seat) for seat in (0, 1)]
    assert [t.plays for t in totals] == row("Total moves")
    assert [t.unforced_plays for t in totals] == row("Unforced moves")
    assert [t.cube_decisions for t in totals] == row("Total cube decisions")
    assert [t.kinds.get("double", 0) for t in totals] == row("Doubles")
    assert [t.counted_cube_decisions for t in totals] == pytest.approx(row("Close or actual cube decisions"), abs=1)
    assert [-t.checker_loss for t in totals] == pytest.approx(row("Error total"), abs=0.03)
    assert [-t.cube_loss for t in totals] == pytest.approx(row("Error total", "Cube statistics"), abs=0.03)
    assert [t.luck for t in totals] == pytest.approx(row("Luck total"), abs=0.05)
