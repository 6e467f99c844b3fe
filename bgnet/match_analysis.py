"""A recorded match judged: every play and cube decision with what it loses, the luck of every roll, totals per player.

    found = analyze_match(read_mat("game.mat"), bot="net:standard", ply=0)
    found.totals(1).error_rate        # of player 1, thousandths of equity a decision
    found.worst(5)                    # the five most expensive decisions

Losses are in equity per unit of the cube as it stands (a lost single game is -1, a won one +1), and beside them in
points, or in a match in chances to win it. What a rate counts is said in bgnet.match_analysis_totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bgnet.analysis import FILTERS, named_evaluator
from bgnet.composite import Composite
from bgnet.cube import CubeDecision, Efficiencies
from bgnet.cube_context import CubeContexts
from bgnet.cubeful import CubefulCandidate, CubefulSearch
from bgnet.evaluators import Evaluator
from bgnet.match_analysis_decisions import MARKS, DecisionKind, JudgedDecision, mark_of
from bgnet.match_analysis_events import Event, Script
from bgnet.match_analysis_luck import JudgedRoll, LuckJudge
from bgnet.match_analysis_totals import Totals, totals_of
from bgnet.match_equity import MatchEquityTable
from bgnet.players import DEFAULT_BOT
from bgnet.resignation import equity_of_resigning, equity_of_turn
from engine.actions import LEVELS, Action
from engine.errors import EngineError
from engine.plays import Play, legal_plays
from engine.records import GameRecord, MatchRecord
from engine.state import GameState

__all__ = [
    "MARKS", "DecisionKind", "GameAnalysis", "JudgedDecision", "MatchAnalysis", "MatchAnalysisError", "analyze_match",
    "mark_of",
]  # fmt: skip

_CLOSE = 0.16  # in equity: what a double may lose in a cube decision that GNU Backgammon 1.07 counts as close
_ALIKE = 0.001  # plays whose first ten differ by less are no decision for PR
_FIRST = 10
_ANSWERS = {Action.TAKE: DecisionKind.TAKE, Action.DROP: DecisionKind.PASS, Action.BEAVER: DecisionKind.BEAVER}


class MatchAnalysisError(EngineError):
    """What cannot be analysed: rules that a record contradicts, a game that it does not have."""


@dataclass(frozen=True, eq=False)
class GameAnalysis:
    """A game, judged."""

    number: int
    """In the record, from 1."""
    record: GameRecord
    decisions: tuple[JudgedDecision, ...]
    """In the order in which they were made."""
    rolls: tuple[JudgedRoll, ...]
    result: float | None
    """Of player 1: points, in a match by how much his chance to win it went up; None for an unfinished game."""
    curve: tuple[tuple[int, float], ...]
    """(turn, what player 1 could expect after it): points, in a match his chance to win it. Turn 0 is the start; a
    finished game ends with its result."""

    def totals(self, seat: int) -> Totals:
        """The sums of a player."""
        return totals_of([self], seat)


@dataclass(frozen=True, eq=False)
class MatchAnalysis:
    """A record, judged."""

    record: MatchRecord
    bot: str
    ply: int
    jacoby: bool
    beavers: bool
    table: str | None
    """The name of the match equity table; None in money play."""
    games: tuple[GameAnalysis, ...]

    def totals(self, seat: int) -> Totals:
        """The sums of a player over all games that were judged."""
        return totals_of(self.games, seat)

    def worst(self, count: int) -> list[tuple[int, JudgedDecision]]:
        """(game number, decision) of the most expensive ones, the worst first."""
        found = [(game.number, decision) for game in self.games for decision in game.decisions]
        return sorted(found, key=lambda pair: -pair[1].loss)[:count]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = self.record.players
        match = bool(self.record.length)
        return {
            "schema": "bgnet.analyze_match/1",
            "bot": self.bot,
            "ply": self.ply,
            "luck_ply": 0,
            "match_length": self.record.length,
            "match_equity_table": self.table,
            "jacoby": self.jacoby,
            "beavers": self.beavers,
            "broken_games": [
                {"game": number, "line": fault.line, "message": str(fault)}
                for number, fault in self.record.broken_games.items()
            ],
            "players": list(names),
            "score": list(self.record.score),
            "winner": self.record.winner,
            "totals": [self.totals(seat).as_dict(names[seat], match) for seat in (0, 1)],
            "games": [self._game(game) for game in self.games],
        }

    def _game(self, game: GameAnalysis) -> dict[str, Any]:
        names, match = self.record.players, bool(self.record.length)
        unit = "mwc" if match else "points"
        return {
            "game": game.number,
            "score_before": list(game.record.score_before),
            "crawford": game.record.start.crawford,
            "winner": game.record.winner,
            "points": game.record.points,
            "ending": game.record.result.kind.value if game.record.result else None,
            "totals": [game.totals(seat).as_dict(names[seat], match) for seat in (0, 1)],
            "decisions": [decision.as_dict(names) for decision in game.decisions],
            "rolls": [
                {
                    "turn": roll.turn,
                    "player": names[roll.seat],
                    "seat": roll.seat,
                    "dice": list(roll.state.dice or ()),
                    "luck": roll.luck,
                    f"{unit}_luck": roll.stake_luck,
                    "mark": roll.mark,
                }
                for roll in game.rolls
            ],
            "curve": [{"turn": turn, unit: value} for turn, value in game.curve],
        }


def analyze_match(
    record: MatchRecord,
    *,
    bot: str | Evaluator = DEFAULT_BOT,
    ply: int | None = None,
    jacoby: bool | None = None,
    beavers: bool | None = None,
    games: Sequence[int] | None = None,
    efficiency: float | str | Efficiencies | None = None,
    table: MatchEquityTable | None = None,
    threads: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
    stop: Callable[[], bool] = lambda: False,
) -> MatchAnalysis:
    """Judge every decision and roll of a record.

    bot: a name (its depth may stand in it) or an Evaluator; the exact endgame tables are asked where they know. ply:
    the depth, 0 unless said; luck is judged at 0-ply always. jacoby, beavers: the rules of money play, where they are
    not what the record says or shows. games: their numbers from 1, None = all that could be read. efficiency, table:
    as of bgnet.cube.decide. threads: 0 = all cores. progress: called with the decisions judged so far, and all.

    Left out are turns of a player who is closed out and does not roll, irregular plays (see engine.records), and the
    luck of an opening roll of doubles, which there cannot be.
    Raises MatchAnalysisError, CubeError, MatchEquityError, and what making the bot raises.
    """
    rules = _rules(record, jacoby, beavers)
    numbers = _numbers(record, games)
    evaluator, name, depth = named_evaluator(bot, 0 if ply is None and not _names_depth(bot) else ply)
    leaves = Composite(evaluator)
    search = CubefulSearch(
        leaves, depth, filters=FILTERS, efficiency=efficiency, table=table, threads=threads, stop=stop
    )
    contexts = CubeContexts(table)
    judge = _Judge(search, contexts, LuckJudge(leaves, search.efficiency, contexts, stop), progress)
    scripts = [Script(record.games[number - 1], **rules) for number in numbers]
    first = contexts(scripts[0].record.start)
    return MatchAnalysis(
        record, name, depth, rules["jacoby"], rules["beavers"], first.table.name if first.table else None,
        tuple(judge.games(list(zip(numbers, scripts, strict=True)))),
    )  # fmt: skip


def _names_depth(bot: str | Evaluator) -> bool:
    from bgnet.players import split_depth

    return isinstance(bot, str) and split_depth(bot)[1] is not None


def _rules(record: MatchRecord, jacoby: bool | None, beavers: bool | None) -> dict[str, bool]:
    """The rules of money play. MatchAnalysisError where the games cannot have been played by them."""
    start = record.games[0].start
    wanted = {
        "jacoby": start.jacoby if jacoby is None else jacoby,
        "beavers": start.beavers if beavers is None else beavers,
    }
    if record.length and (wanted["jacoby"] or wanted["beavers"]):
        raise MatchAnalysisError("the Jacoby rule and beavers belong to money play, and this is a match")
    for number, game in enumerate(record.games, 1):
        if not wanted["beavers"] and any(done.action is Action.BEAVER for done in game.actions):
            raise MatchAnalysisError(f"game {number} has a beaver, so beavers were played")
        ended = game.result
        if ended is None or game.end.owner is not None or ended.kind not in LEVELS[1:]:
            continue
        counted = ended.points > game.end.cube * game.end.stakes[0]
        if counted == wanted["jacoby"] and jacoby is not None:
            shown = f"a {ended.kind} without a turned cube counted {ended.points}"
            raise MatchAnalysisError(f"game {number}: {shown}, so the Jacoby rule was {'not ' * counted}in force")
    return wanted


def _numbers(record: MatchRecord, games: Sequence[int] | None) -> list[int]:
    broken = record.broken_games
    sound = [number for number in range(1, len(record.games) + 1) if number not in broken]
    numbers = sound if games is None else list(games)
    for number in numbers:
        if not isinstance(number, int) or not 1 <= number <= len(record.games):
            raise MatchAnalysisError(f"there is no game {number!r}: the record has {len(record.games)}")
        if number in broken:
            raise MatchAnalysisError(f"game {number} cannot be read: {broken[number]}")
    if not numbers:
        raise MatchAnalysisError("no game to analyse")
    return numbers


def _has_luck(event: Event) -> bool:
    """Whether it is a roll, and one that there can be: an opening roll is no double."""
    dice = event.state.dice
    if dice is None or event.action not in (Action.PLAY, Action.ROLL):
        return False
    return not event.opening or dice[0] != dice[1]


# ---- judging --------------------------------------------------------------------------------------------------------


class _Judge:
    def __init__(
        self,
        search: CubefulSearch,
        contexts: CubeContexts,
        luck: LuckJudge,
        progress: Callable[[int, int], None],
    ) -> None:
        self.search = search
        self.contexts = contexts
        self.luck = luck
        self.progress = progress
        self._cubes: dict[GameState, CubeDecision] = {}

    def games(self, scripts: list[tuple[int, Script]]) -> Iterator[GameAnalysis]:
        """The cube decisions of all games are judged together, then game after game."""
        plays = sum(event.action is Action.PLAY for _, script in scripts for event in script.events)
        asked: dict[GameState, None] = {}
        for _, script in scripts:
            for event in script.events:
                for state in (event.before_roll, event.doubled):
                    if state is not None:
                        asked[state] = None
        total = plays + len(asked)
        states = list(asked)
        share = 4096 if self.search.ply == 0 else 32
        for start in range(0, len(states), share):
            some = states[start : start + share]
            self._cubes.update(zip(some, self.search.decide_many(some), strict=True))
            self.progress(len(self._cubes), total)
        done = len(states)
        for number, script in scripts:
            decisions: list[JudgedDecision] = []
            curve = [(0, self._start(script.record.start))]
            for event in script.events:
                for decision in self._judged(event):
                    decisions.append(decision)
                    if decision.kind is DecisionKind.PLAY:
                        curve.append((event.turn, self._seen_by_1(decision)))
                        done += 1
                        self.progress(done, total)
            rolls = self.luck.judge([(e.turn, e.state, e.opening) for e in script.events if _has_luck(e)])
            result = self._result(script.record)
            if result is not None:
                curve.append((max(event.turn for event in script.events), curve[0][1] + result))
            yield GameAnalysis(number, script.record, tuple(decisions), tuple(rolls), result, tuple(curve))

    def _judged(self, event: Event) -> Iterator[JudgedDecision]:
        if event.before_roll is not None:
            yield self._cube(event, DecisionKind.NO_DOUBLE, event.before_roll)
        match event.action:
            case Action.PLAY:
                yield self._play(event)
            case Action.DOUBLE:
                assert event.doubled is not None
                yield self._cube(event, DecisionKind.DOUBLE, event.doubled)
            case Action.RESIGN:
                yield from self._resignation(event)
            case action if action in _ANSWERS:
                yield self._cube(event, _ANSWERS[action], event.state)

    def _play(self, event: Event) -> JudgedDecision:
        state, play = event.state, event.play
        assert play is not None
        played = play.position.board
        ranked = self.search.rank(state, [played])
        found = next(candidate for candidate in ranked if (candidate.board == played).all())
        best = ranked[0]
        unforced = len(ranked) > 1
        first = [candidate.equity for candidate in ranked[:_FIRST]]
        return self._decision(
            event, DecisionKind.PLAY, state, state.on_roll, play.notation, self._notation(state, play, best),
            (found.equity, best.equity, found.loss), unforced,
            unforced and max(first) - min(first) >= _ALIKE, len(ranked),
        )  # fmt: skip

    def _notation(self, state: GameState, play: Play, best: CubefulCandidate) -> str:
        if (best.board == play.position.board).all():
            return play.notation
        plays = legal_plays(state.position, state.dice)
        return next(other.notation for other in plays if (other.position.board == best.board).all())

    def _cube(self, event: Event, kind: DecisionKind, state: GameState) -> JudgedDecision:
        """A cube decision in a state without dice, or with a double to answer."""
        judged = self._cubes[state]
        costs = judged.costs
        taken, passed = judged.double_take, judged.double_pass
        assert taken is not None and passed is not None and costs.double is not None
        reply = min(value for value in (taken, passed, judged.beaver) if value is not None)
        best = max(judged.no_double, reply)
        if kind in (DecisionKind.NO_DOUBLE, DecisionKind.DOUBLE):
            equity, loss = (
                (judged.no_double, costs.no_double) if kind is DecisionKind.NO_DOUBLE else (reply, costs.double)
            )
            close = kind is DecisionKind.DOUBLE or best - min(taken, passed) < _CLOSE
            words = kind.value.replace("_", " ")
            return self._decision(
                event, kind, state, state.on_roll, words, judged.label, (equity, best, loss), close, close, 2
            )
        value = {DecisionKind.TAKE: taken, DecisionKind.PASS: passed, DecisionKind.BEAVER: judged.beaver}[kind]
        assert value is not None
        answers = {"take": taken, "pass": passed} | ({} if judged.beaver is None else {"beaver": judged.beaver})
        # Equal values are a pass, and a beaver that costs nothing is none.
        proper = min(("pass", "take", "beaver"), key=lambda name: answers.get(name, np.inf))
        return self._decision(
            event, kind, state, state.decider, kind.value, proper, (-value, -reply, value - reply), True, True,
            len(answers),
        )  # fmt: skip

    def _resignation(self, event: Event) -> Iterator[JudgedDecision]:
        """What the player who resigns gives away, or the other who accepts."""
        state = event.state
        offered = equity_of_resigning(state, event.level, self.contexts(state))
        if event.turn_state is not None:
            expected = -equity_of_turn(self.search, event.turn_state)
        else:
            expected = equity_of_turn(self.search, state)
        level = f"a {LEVELS[event.level - 1]}{' game' * (event.level == 1)}"
        gain = offered - expected  # of the one who resigns
        seat = state.on_roll
        yield self._decision(
            event, DecisionKind.RESIGN, state, seat, f"resign {level}", "play on" if gain < 0 else f"resign {level}",
            (offered, max(offered, expected), max(-gain, 0.0)), False, False, 2,
        )  # fmt: skip
        yield self._decision(
            event, DecisionKind.ACCEPT, state, 1 - seat, "accept", "reject" if gain > 0 else "accept",
            (-offered, max(-offered, -expected), max(gain, 0.0)), False, False, 2,
        )  # fmt: skip

    def _decision(
        self,
        event: Event,
        kind: DecisionKind,
        state: GameState,
        seat: int,
        chosen: str,
        best: str,
        equities: tuple[float, float, float],
        counts: bool,
        counts_for_pr: bool,
        choices: int,
    ) -> JudgedDecision:
        """equities: of what was chosen, of the best, and the loss."""
        equity, best_equity, loss = equities
        context = self.contexts(state)
        unit = 0.5 * (context.won(state.cube) - context.lost(state.cube))
        return JudgedDecision(
            kind, event.turn, seat, state, chosen, best, equity, best_equity, max(loss, 0.0), max(loss, 0.0) * unit,
            counts, counts_for_pr, choices,
        )  # fmt: skip

    # ---- what player 1 could expect

    def _seen_by_1(self, decision: JudgedDecision) -> float:
        context = self.contexts(decision.state)
        value = context.from_equity(decision.equity, decision.state.cube)
        return float(value if decision.seat == 1 else context.turned(value))

    def _start(self, start: GameState) -> float:
        """Points, or the chance to win the match, before the game."""
        if not start.match_length:
            return 0.0
        context = self.contexts(replace(start, on_roll=1))
        assert context.table is not None and context.away is not None
        return context.table.chance(context.away, crawford_over=min(context.away) == 1 and not start.crawford)

    def _result(self, record: GameRecord) -> float | None:
        ended = record.result
        if ended is None:
            return None
        start = replace(record.start, on_roll=1)
        if not start.match_length:
            return float(ended.points if ended.winner == 1 else -ended.points)
        context = self.contexts(start)
        assert context.table is not None and context.away is not None
        after = context.table.after(context.away, ended.points, won=ended.winner == 1, crawford=start.crawford)
        return after - self._start(start)
