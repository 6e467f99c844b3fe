"""Checks of arguments."""

from __future__ import annotations

import numpy as np
import pytest

from bgnet.checks import check_whole


@pytest.mark.parametrize("value", [1, 5, np.int64(3)])
def test_whole_numbers(value: object) -> None:
    check_whole("threads", value, 1, 5)


@pytest.mark.parametrize("value", [0, 6, 1.0, True, "2", None])
def test_what_is_no_whole_number_of_the_range(value: object) -> None:
    with pytest.raises(LookupError, match=f"threads must be a whole number, from 1 to 5, not {value!r}"):
        check_whole("threads", value, 1, 5, error=LookupError)


def test_without_a_limit() -> None:
    check_whole("games", 10**30, 2)
    with pytest.raises(ValueError, match="games must be a whole number, at least 2, not 1"):
        check_whole("games", 1, 2)
