"""Small endgame tables by interpreted kernels against the twin: NUMBA_DISABLE_JIT=1 python -m tests.bearoff_jit_off"""

from __future__ import annotations

import numpy as np

from bgnet.possible import make_possible
from engine import dice
from engine.bearoff import Endgames, chance_first
from engine.bearoff_build import build_one_sided, build_two_sided
from engine.homeboard import home_index, home_indices
from tests import bearoff_twin as twin


def main() -> None:
    assert not hasattr(dice.philox, "py_func"), "kernels are compiled all the same"
    one = build_one_sided(most=2)
    for home in twin.homes(2):
        i = home_index(home, 2)
        for prefix, first_only in (("", False), ("first_", True)):
            starts, chances = one[prefix + "starts"], one[prefix + "chances"]
            want = np.array(twin.rolls(home, first_only)[1], dtype=float)
            assert np.allclose(chances[starts[i] : starts[i + 1]], want, rtol=0, atol=1e-15), home
    two = build_two_sided(most=1)["equities"]
    single = [home for home in twin.homes(1) if sum(home)]
    for own in single:
        for opponent in single:
            want = [float(twin.no_double(own, opponent, owner)) for owner in (None, 1, 0, -1)]
            assert np.allclose(two[home_index(own, 1), home_index(opponent, 1)], want, rtol=0, atol=1e-13)
    board = np.array([0, 15, *[0] * 17, -15, *[0] * 6], dtype=np.int8)
    assert home_indices(board, 15) == (home_index((15, 0, 0, 0, 0, 0), 15), home_index((0, 0, 0, 0, 0, 15), 15))
    half = np.array([0.0, 0.5, 0.5])
    assert chance_first(half, 0, 3, half, 0, 3, False) == 0.75 and chance_first(half, 0, 3, half, 0, 3, True) == 0.25
    boards = np.array([[0, *[0] * 6, 15, *[0] * 10, -15, *[0] * 7], [-1, 13, *[0] * 22, -14, 0]], dtype=np.int8)
    out = np.array([[0.3, 0.2, 0.1, 0.15, 0.15, 0.1]] * 2, dtype=np.float32)
    unused = np.zeros(0)  # nobody is home
    make_possible(Endgames(unused, unused, unused, unused, unused), boards, np.arange(2), 15, out)
    assert np.allclose(out, [[0.3, 0.3, 0, 0.15, 0.25, 0], [0.3, 0.2, 0.1, 0.4, 0, 0]], rtol=0, atol=1e-6)
    print("tables agree with the JIT off")


if __name__ == "__main__":
    main()
