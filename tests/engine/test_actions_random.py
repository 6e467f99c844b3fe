"""Thousands of random actions: valid states all along, IDs that are read back, and a slow account of the score."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Action, GameState, GameStatus, Position, StateError, new_game, rules
from tests import oracle
from tests.random_play import done, random_session

STARTS = {
    "money": new_game(),
    "money with everything": new_game(jacoby=True, beavers=True),
    "club": new_game(rules=rules.CLUB),
    "towel": new_game(rules=rules.TOWEL),
    "1-point match": new_game(1),
    "3-point match": new_game(3),
    "11-point match": new_game(11),
    "nackgammon": new_game(5, variant="nackgammon"),
    "5-point match for 2, 4, 6": new_game(rules=rules.RuleSet("double", stakes=(2, 4, 6), match_length=5)),
    "hypergammon": new_game(jacoby=True, variant="hypergammon"),
}


class Scorer:
    """A slow account of one session, kept from the actions alone: no state's cube, score or flags are believed."""

    def __init__(self, start: GameState) -> None:
        self.start = start
        self.score, self.games, self.crawford_seen = [0, 0], 0, start.match_length == 1
        self.begin()

    def begin(self) -> None:
        self.cube, self.owner, self.offer = 1, None, 0

    def count(self, before: GameState, action: Action, argument: object, after: GameState) -> None:
        actor = before.decider
        if action is Action.TAKE:
            self.cube, self.owner = 2 * self.cube, actor
        elif action is Action.BEAVER:
            self.cube, self.owner = 4 * self.cube, actor
        elif action is Action.DROP:
            self.win(1 - actor, 1)
        elif action is Action.RESIGN:
            self.offer = argument
        elif action is Action.ACCEPT:
            self.win(actor, self.offer)
        elif action is Action.PLAY:
            ending = oracle.ending(tuple(after.position.board.tolist()), self.start.checkers)
            if ending is not None:  # 3, 4, 5: the next player has lost
                self.win(actor, ending - 2)

    def may_double(self, state: GameState) -> bool:
        """The cube, the score and the stakes are our own; who is on roll and what is pending are believed."""
        if state.game_state != GameStatus.PLAYING or state.dice or state.doubled or state.resigned or state.crawford:
            return False
        length = self.start.match_length
        needed = length - self.score[state.on_roll] if length else float("inf")
        dead = needed <= self.cube * self.start.stakes[0]
        return self.owner in (None, state.on_roll) and self.cube < (self.start.max_cube or 2**15) and not dead

    def win(self, seat: int, level: int) -> None:
        if self.start.jacoby and self.owner is None:
            level = 1
        self.score[seat] += self.cube * self.start.stakes[level - 1]
        self.games += 1
        self.begin()


@pytest.mark.parametrize("name", STARTS)
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32))
def test_random_actions(name, seed):
    start = STARTS[name]
    scorer, doubled_ever = Scorer(start), False
    previous: GameState | None = None
    for before, action, argument in random_session(start, random.Random(seed), 250):
        if before.game_state == GameStatus.NONE:
            if before == start:
                scorer = Scorer(start)
            check_start(scorer, before, previous)
        after = done(before, action, argument)
        scorer.count(before, action, argument, after)
        assert after.score == tuple(scorer.score)
        assert (after.result is None) == bool(after.legal_actions())
        assert after.may_double == (Action.DOUBLE in after.legal_actions()) == scorer.may_double(after)
        if after.result is None:
            assert (after.cube, after.owner) == (scorer.cube, scorer.owner)
        if start.match_length:
            assert after.match_over == (max(scorer.score) >= start.match_length)
        doubled_ever |= after.doubled
        check_ids(after)
        assert eval(repr(after), {"GameState": GameState, "Position": Position}) == after
        previous = after
    assert doubled_ever == (name not in ("towel", "1-point match"))


def check_start(scorer: Scorer, state: GameState, previous: GameState | None) -> None:
    """The Crawford game is the first one in which a player needs one point."""
    length = scorer.start.match_length
    at_match_point = bool(length) and length - 1 in scorer.score
    assert state.crawford == (at_match_point and (length == 1 or not scorer.crawford_seen))
    scorer.crawford_seen |= at_match_point
    assert (state.cube, state.owner, state.dice, state.doubled, state.resigned) == (1, None, None, False, 0)


def check_ids(state: GameState) -> None:
    lost = {"beavers": state.beavers, "max_cube": state.max_cube, "variant": state.variant, "stakes": state.stakes}
    if max(state.score) > 32767:  # an endless session without a limit of the cube
        for name in ("match_id", "xgid"):
            with pytest.raises(StateError, match="holds scores up to 32767" if name == "match_id" else "no XGID"):
                getattr(state, name)
        return
    again = replace(GameState.from_gnubg_id(state.gnubg_id), **lost)
    assert replace(again, dice=None) == replace(state, dice=None)
    assert sorted(again.dice or ()) == sorted(state.dice or ())
    over = state.game_state == GameStatus.OVER and not state.match_over
    if over or (state.result is None and not state.resigned):
        again = replace(GameState.from_xgid(state.xgid), **lost)
        assert again == replace(state, game_state=GameStatus.OVER if over else GameStatus.PLAYING)
