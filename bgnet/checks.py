"""Checks of arguments that many functions take."""

from __future__ import annotations

import numpy as np

__all__ = ["check_whole"]


def check_whole(
    name: str, value: object, least: int, most: int | None = None, *, error: type[Exception] = ValueError
) -> None:
    """Raise the error unless the value is a whole number from least to most (None: no limit); True is none."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        whole = int(value)
        if whole >= least and (most is None or whole <= most):
            return
    limits = f"at least {least}" if most is None else f"from {least} to {most}"
    raise error(f"{name} must be a whole number, {limits}, not {value!r}")
