"""Pictures of results, with matplotlib (pip install "bgnet[plot]").

    figure = learning_curves("runs/quick-20260101-120000-s1")
    cube_window(analyze_cube("XGID=...").decision, path="window.svg")

Every function returns a matplotlib Figure, which notebooks show by themselves, and with `path` writes it too: PNG, SVG
or PDF by the ending. No display is needed. Bands and bars are 95 % intervals.
"""

from bgnet.plots_benchmarks import benchmark_comparison, error_by_class, reliability
from bgnet.plots_cube import cube_matrix, cube_window
from bgnet.plots_positions import equity_along_game, move_table, opening_rolls
from bgnet.plots_style import SUFFIXES, PlotError
from bgnet.plots_training import learning_curves

__all__ = [
    "SUFFIXES", "PlotError", "benchmark_comparison", "cube_matrix", "cube_window", "equity_along_game",
    "error_by_class", "learning_curves", "move_table", "opening_rolls", "reliability",
]  # fmt: skip
