"""A sample of the generator tests for interpreted kernels: NUMBA_DISABLE_JIT=1 python -m tests.jit_off_sample

Interpreted kernels compute with numpy scalars, where int8 wraps with a RuntimeWarning; python's option
-W error::RuntimeWarning makes that an error.
"""

from __future__ import annotations

import json
import os

import numpy as np

import engine
from engine import Position, dice, rules
from tests.boards import DATA, Board, array, cases, engine_results, expected_results, movegen_lines


def main() -> None:
    assert os.environ.get("NUMBA_DISABLE_JIT") == "1", "set NUMBA_DISABLE_JIT=1"
    assert not hasattr(dice.philox, "py_func"), "kernels are compiled all the same"
    checked = 0
    for line in movegen_lines()[::10]:
        _check(tuple(line["board"]), line["dice"], expected_results(tuple(line["board"]), line["results"]))
        checked += 1
    for case in cases("movegen"):
        if "results" in case["expect"]:
            position = tuple(case["input"]["board"])
            _check(position, case["input"]["dice"], expected_results(position, case["expect"]["results"]))
            checked += 1
    _perft_depth_1()
    _crowded_boards()
    assert dice.philox(0x243F6A88, 0x85A308D3, 0x13198A2E) == (0xDD7CE038, 0xF62A4C12)
    assert dice.roll(2**32 - 1, 2**32 - 1, 2**32 - 1) == (2, 5)
    assert dice.rolls_of_games(3, np.array([5, 2**32 - 1]), 1)[0].tolist() == list(dice.roll(3, 5, 1))
    print(f"{checked} positions agree with the JIT off")


def _check(position: Board, dice: list[int], want: set[Board]) -> None:
    got = engine_results(position, dice[0], dice[1])
    assert set(got) == want and len(got) == len(want), f"{position} {dice}"


def _perft_depth_1() -> None:
    perft = json.loads((DATA / "perft.json").read_text(encoding="utf-8"))
    for (high, low), want in zip(dice.ROLLS.tolist(), perft["depth1"].values(), strict=True):
        assert len(engine_results(tuple(perft["position"]), high, low)) == want


def _crowded_boards() -> None:
    """Fifteen on one point and the largest counts int8 holds."""
    assert engine_results((-15, *[0] * 5, 15, *[0] * 19), 6, 6) == [(-15, *[0] * 5, 11, *[0] * 19)]
    assert rules.CLUB.payoff[Position((-15, *[0] * 25)).ending()] == 3
    try:
        engine.legal_afterstates(array((0, *[127] * 3, *[0] * 20, -2, 0)), dice.ROLLS[:1])
    except engine.BoardError:
        return
    raise AssertionError("381 checkers were accepted")


if __name__ == "__main__":
    main()
