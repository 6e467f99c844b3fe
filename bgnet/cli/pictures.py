"""The pictures that commands draw when asked (bgnet.plots)."""

from __future__ import annotations

from pathlib import Path

__all__ = ["check_pictures", "draw_picture"]


def check_pictures(*paths: Path | None) -> None:
    """Raise ValueError now, not after the work, when a picture that is asked for cannot be drawn."""
    from importlib.util import find_spec

    from bgnet.plots_style import PlotError, check_path

    for path in paths:
        if path is None:
            continue
        check_path(path)
        if find_spec("matplotlib") is None:
            raise PlotError('pictures need matplotlib, which is not installed: pip install "bgnet[plot]"')
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise PlotError(f"cannot write {path}: it is a folder, or its folder is missing")


def draw_picture(function: str, found: object, path: Path | None) -> None:
    """Draw with a function of bgnet.plots, if there is a path to draw to."""
    if path is not None:
        from bgnet import plots

        getattr(plots, function)(found, path=path)
