"""Pictures: every one shows its numbers and says what its axes are, from small inputs; refusals give a reason."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import bgnet
from bgnet import plots
from bgnet.benchmark_calibration import ReliabilityCurve
from bgnet.benchmark_results import DecisionScore, OutcomeScore
from bgnet.cube import CubeDecision, decide
from bgnet.cubeful_analysis import analyze_cube, analyze_scores
from bgnet.match_analysis import analyze_match
from bgnet.plots import PlotError
from bgnet.plots_style import Name, line_style, name_lines, new_figure
from engine import START, GameState
from engine.records import read_mat

if TYPE_CHECKING:
    from matplotlib.figure import Figure

pytest.importorskip("matplotlib", reason='needs the optional package matplotlib: pip install "bgnet[plot]"')

DATA = Path(__file__).parent.parent / "data"
RACE = "SneDGQBjew4wAA"


def words(figure: Figure) -> str:
    """Everything that is written on a figure."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    return "\n".join(text.get_text() for text in figure.findobj(Text) if isinstance(text, Text) and text.get_visible())


def labels(ticks: Any) -> list[str]:
    return [label.get_text() for label in ticks]


def decision_score(bot: str, worse: float) -> DecisionScore:
    losses = np.array([0.0, 10, 20, 30, 0, 4]) + worse
    return DecisionScore(
        bot=bot, judge="exact", losses=losses, chosen=np.zeros((6, 26), np.int8),
        classes=np.array([0, 0, 0, 1, 1, 1], np.int8), seconds=1.0,
    )  # fmt: skip


# ---- training -------------------------------------------------------------------------------------------------------


def write_run(folder: Path, points: dict[str, list[float]], low: bool = True) -> Path:
    folder.mkdir(parents=True)
    rows: list[dict[str, float]] = [{"games": 1000, "train/loss": 1.2}, {"games": 2000, "train/loss": 1.0}]
    for n, games in enumerate((1000, 2000)):
        row = {"games": games, "learn/bellman_rms": 0.05 - 0.01 * n}
        for bot, values in points.items():
            row[f"eval/ppg_{bot}"] = values[n]
            row |= {f"eval/ppg_{bot}_low": values[n] - 0.1, f"eval/ppg_{bot}_high": values[n] + 0.1} if low else {}
        rows.append(row)
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return folder


def lines(figure: Figure) -> list[tuple[list[float], list[float]]]:
    return [
        (list(map(float, line.get_xdata())), list(map(float, line.get_ydata())))  # type: ignore[arg-type]
        for axes in figure.axes
        for line in axes.get_lines()
    ]


def test_learning_curves_of_a_run(tmp_path: Path) -> None:
    run = write_run(tmp_path / "mine", {"gnubg0": [-0.5, -0.2], "pubeval": [0.1, 0.4]})
    figure = plots.learning_curves(run)
    drawn = lines(figure)
    for expected in ([-0.5, -0.2], [0.1, 0.4], [1.2, 1.0], [0.05, 0.04]):
        assert any(y == pytest.approx(expected) and x == [1000, 2000] for x, y in drawn), expected
    said = words(figure)
    for text in (
        "games played",
        "points per game",
        "nats",
        "Bellman residual",
        "points",
        "gnubg:0",
        "pubeval",
        "mine",
        "2k",
    ):
        assert text in said
    bands = [band.get_paths()[0].get_extents() for band in figure.axes[0].collections]
    assert [(band.y0, band.y1) for band in bands] == [pytest.approx((-0.6, -0.1)), pytest.approx((0.0, 0.5))]
    assert len({str(line.get_linestyle()) for line in figure.axes[0].get_lines()[-2:]}) == 2


def test_learning_curves_of_several_runs(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / "a" / "run", {"gnubg0": [-0.5, -0.2]}),
        write_run(tmp_path / "b" / "run", {"gnubg0": [-0.4, -0.1], "random": [1.0, 2.0]}, low=False),
    ]
    figure = plots.learning_curves([str(run) for run in runs])
    said = words(figure)
    assert all(text in said for text in ("a/run", "b/run", "against gnubg:0", "against random"))
    assert len(figure.axes) == 4
    (legend,) = figure.legends
    assert labels(legend.get_texts()) == ["a/run", "b/run"]
    assert ([1000.0, 2000.0], [-0.4, -0.1]) in lines(figure)
    with pytest.raises(PlotError, match="the same run twice"):
        plots.learning_curves([runs[0], runs[0]])


def test_a_log_that_is_being_written(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"random": [1.0, 2.0]})
    with (run / "log.jsonl").open("a") as file:
        file.write('{"games": 3000, "eval/pp')
    assert ([1000.0, 2000.0], [1.0, 2.0]) in lines(plots.learning_curves(run))


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (None, "no run of bgnet train"),
        ("", "no evaluations"),
        ('{"games": 1, "train/loss": 2}\n', "no evaluations"),
        ("not json\n{}\n", "line 1 is not JSON"),
        ('{"train/loss": 2}\n', 'line 1 has no number of "games"'),
        ("[1]\n", "line 1 has no number"),
    ],
)
def test_runs_without_anything_to_draw(tmp_path: Path, log: str | None, reason: str) -> None:
    if log is not None:
        (tmp_path / "log.jsonl").write_text(log)
    with pytest.raises(PlotError, match=reason):
        plots.learning_curves(tmp_path)


# ---- benchmarks -----------------------------------------------------------------------------------------------------


def test_benchmark_comparison() -> None:
    scores = [decision_score("pubeval", 20), decision_score("net:standard", 0), decision_score("random", 50)]
    figure = plots.benchmark_comparison(scores)
    (axes,) = figure.axes
    assert labels(axes.get_yticklabels()) == ["net:standard", "pubeval", "random"] and axes.yaxis_inverted()
    bars = [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]
    assert bars == pytest.approx([score.total.mean for score in (scores[1], scores[0], scores[2])])
    (intervals,) = axes.collections
    ends = [segment[:, 0].tolist() for segment in intervals.get_segments()]  # type: ignore[attr-defined]
    assert ends[1] == pytest.approx([scores[0].total.low, scores[0].total.high])
    said = words(figure)
    assert "mean loss, thousandths of a point per decision" in said and "95 %" in said and f"{bars[2]:.2f}" in said
    lone = decision_score("one", 0)
    lone = replace(lone, losses=lone.losses[:1], classes=lone.classes[:1])
    assert math.isinf(lone.total.high)
    words(plots.benchmark_comparison([lone]))


def test_error_by_class() -> None:
    scores = [decision_score("pubeval", 20), decision_score("net:standard", 0)]
    figure = plots.error_by_class(scores)
    (axes,) = figure.axes
    heights = [bar.get_height() for bar in axes.patches]  # type: ignore[attr-defined]
    assert heights == pytest.approx([e.mean for score in scores for e in score.by_class.values()])
    assert len({bar.get_hatch() for bar in axes.patches}) == 2
    said = words(figure)
    assert all(
        text in said for text in ("contact\nn = 3", "race\nn = 3", "pubeval", "thousandths of a point", "class of")
    )
    assert "backgame" not in said


def test_scores_of_other_kinds() -> None:
    rng = np.random.default_rng(1)
    outcome = OutcomeScore(
        bot="a",
        errors=rng.normal(size=(6, 6)),
        equity_errors=rng.normal(size=6),
        classes=np.zeros(6, np.int8),
        seconds=1.0,
    )
    assert "root mean square error of equity" in words(plots.benchmark_comparison([outcome]))
    with pytest.raises(PlotError, match="scores of one kind"):
        plots.error_by_class([outcome, decision_score("b", 0)])
    for function in (plots.benchmark_comparison, plots.error_by_class, plots.reliability):
        with pytest.raises(PlotError, match="nothing to draw"):
            function([])


def test_reliability() -> None:
    x = np.linspace(0.1, 0.9, 5)
    curves = [
        ReliabilityCurve(
            bot=bot, chance=chance, predicted=x, observed=x**power, low=x**power - 0.05, high=x**power + 0.05,
            positions=np.full(5, 10), games=np.full(5, 3),
        )
        for bot, power in (("a", 1), ("b", 2)) for chance in ("win", "gammon_win", "gammon_loss")
    ]  # fmt: skip
    figure = plots.reliability(curves)
    assert len(figure.axes) == 3
    for axes in figure.axes:
        drawn = [line.get_ydata() for line in axes.get_lines() if line.get_label() in "ab"]
        assert np.allclose(drawn, [100 * x, 100 * x**2])
        assert len(axes.collections) == 2, "a band for each bot"
    said = words(figure)
    assert "predicted chance of winning a gammon, per cent" in said and "how often it came true, per cent" in said
    assert labels(figure.legends[0].get_texts()) == ["a", "b", "as predicted"]


# ---- positions ------------------------------------------------------------------------------------------------------


def test_move_table() -> None:
    analysis = bgnet.analyze(START, dice=(3, 1), ply=0)
    asked = bgnet.analyze(START, dice=(3, 1), ply=0, played=analysis.plays[8].play)
    figure = plots.move_table(asked, most=4)
    shown = [*asked.plays[:4], asked.plays[8]]
    equities, losses = figure.axes
    rows = labels(equities.get_yticklabels())
    assert rows[0] == f"1.  {shown[0].play}" and rows[4] == f"> 9.  {shown[4].play}" and len(rows) == 5
    assert equities.yaxis_inverted()
    for axes, values in ((equities, [p.equity for p in shown]), (losses, [p.loss for p in shown])):
        assert [bar.get_width() for bar in axes.patches] == pytest.approx(values)  # type: ignore[attr-defined]
    said = words(figure)
    for text in ("cubeless equity, points", "loss against the best play, points", "3-1", "0-ply", "net:standard", "??"):
        assert text in said
    assert not any(bar.get_hatch() for bar in equities.patches)
    deeper = replace(asked, plays=(replace(asked.plays[0], depth="1-ply", ply=1), *asked.plays[1:]), cubeful=True)
    figure = plots.move_table(deeper, most=2)
    assert [bool(bar.get_hatch()) for bar in figure.axes[1].patches] == [False, True, True]
    assert "per unit of the cube" in words(figure)
    with pytest.raises(PlotError, match="1 or more"):
        plots.move_table(analysis, most=0)
    with pytest.raises(PlotError, match="no dice"):
        plots.move_table(bgnet.analyze(START, ply=0))


def test_opening_rolls() -> None:
    figure = plots.opening_rolls()
    (axes,) = figure.axes
    rolls = labels(axes.get_yticklabels())
    assert sorted(rolls) == sorted(f"{high}-{low}" for high in range(2, 7) for low in range(1, high))
    bars = [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]
    assert bars == sorted(bars, reverse=True) and rolls[0] == "3-1" and axes.yaxis_inverted()
    best = bgnet.analyze(START, dice=(3, 1), ply=0).best
    assert bars[0] == pytest.approx(best.equity) and f"{best.equity:+.3f}  8/5 6/5" in words(figure)
    assert "cubeless equity after the best play, points" in words(figure)
    assert len(plots.opening_rolls(bgnet.load("standard"), doubles=True).axes[0].patches) == 21
    with pytest.raises(ValueError, match="nobody"):
        plots.opening_rolls("nobody")


def test_equity_along_a_game() -> None:
    found = analyze_match(read_mat(DATA / "sample.mat"), ply=0)
    figure = plots.equity_along_game(found)
    game = found.games[0]
    assert ([float(t) for t, _ in game.curve], pytest.approx([100 * v for _, v in game.curve])) in lines(figure)
    said = words(figure)
    assert all(
        text in said for text in ("chance of Bob to win the match,\nper cent", "turn", "game 1", "Bob (X) against")
    )
    for seat, name in enumerate(found.record.players):
        turns = {float(d.turn) for d in game.decisions if d.seat == seat and d.loss >= 0.08}
        marked = [line for line in figure.axes[0].get_lines() if line.get_label() == f"blunder (??) of {name}"]
        assert turns == {x for line in marked for x in map(float, line.get_xdata())}  # type: ignore[arg-type]
        assert turns


def test_games_follow_one_another() -> None:
    games = [SimpleNamespace(number=n, decisions=(), curve=((0, 0.5), (1, 0.6), (2, -1.0))) for n in (1, 2)]
    session = SimpleNamespace(record=SimpleNamespace(length=0, players=("bot", "you")), games=games, bot="b", ply=1)
    figure = plots.equity_along_game(session)  # type: ignore[arg-type]
    assert ([3.0, 4.0, 5.0], [0.5, 0.6, -1.0]) in lines(figure)
    assert "expected result for you,\npoints" in words(figure) and not figure.legends
    session.games = []
    with pytest.raises(PlotError, match="no game"):
        plots.equity_along_game(session)  # type: ignore[arg-type]


# ---- the cube -------------------------------------------------------------------------------------------------------


def test_the_window() -> None:
    decision = analyze_cube(RACE, ply=0).decision
    said = words(plots.cube_window(decision))
    points = decision.points
    for name, at in (
        ("X takes O's double", points.take),
        ("X doubles", points.double),
        ("O passes", points.cash),
        ("X too good", points.too_good),
    ):
        assert at is not None and f"{name}\n{100 * at:.1f}" in said
    assert f"now {100 * decision.outcomes[:3].sum():.1f}" in said and decision.label in said and "per cent" in said
    assert f"double/take {decision.double_take:+.3f}" in said


MONEY = GameState(START)


@pytest.mark.parametrize(
    ("state", "shown", "hidden"),
    [
        (replace(MONEY, cube=2, owner=1), "X redoubles", "X doubles"),
        (replace(MONEY, cube=2, owner=0), "no double", "O passes"),
        (replace(MONEY, beavers=True), "O beavers below", "redouble"),
        (replace(MONEY, match_length=5, score=(4, 1), crawford=True), "no double", "O passes"),
        (replace(MONEY, match_length=5, score=(4, 3)), "X doubles", "redouble"),
    ],
)
@pytest.mark.parametrize("win", [0.0, 0.3, 0.8, 1.0])
def test_every_kind_of_window(state: GameState, shown: str, hidden: str, win: float) -> None:
    decision: CubeDecision = decide([win * 0.8, win * 0.2, 0.0, (1 - win) * 0.8, (1 - win) * 0.2, 0.0], state)
    said = words(plots.cube_window(decision))
    assert shown in said and hidden not in said and f"now {100 * win:.1f}" in said


@pytest.mark.parametrize(("length", "codes"), [(3, None), (11, {"double_take": "D/t", "double_pass": "D/p"})])
def test_the_matrix(length: int, codes: dict[str, str] | None) -> None:
    matrix = analyze_scores(RACE, length, ply=0)
    figure = plots.cube_matrix(matrix)
    (axes,) = figure.axes
    rows, columns = labels(axes.get_yticklabels()), labels(axes.get_xticklabels())
    assert rows == columns == ["1C", *map(str, range(1, length + 1))]
    cells = {text.get_position(): text.get_text() for text in axes.texts}
    assert len(cells) == len(matrix.cells) == len(axes.patches)
    for cell in matrix.cells:
        names = [f"1{'C' * cell.crawford}" if away == 1 else str(away) for away in (cell.opponent_away, cell.away)]
        action = cell.decision.action.value
        said = cells[columns.index(names[0]), rows.index(names[1])]
        if action == "dead_cube" or action == "not_available":
            assert said == "-"
        elif codes is None:
            assert said.replace("\n", "_").replace(" ", "_") == action
        elif action in codes:
            assert said == codes[action]
    assert any("ass" in text or text == "D/p" for text in cells.values())
    said = words(figure)
    assert "points X needs" in said and "points O needs" in said and "Kazaross-XG2" in said and "net:standard" in said


# ---- files and what is missing --------------------------------------------------------------------------------------


def test_names_stand_apart() -> None:
    axes = new_figure(5, 3).subplots()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    name_lines(
        axes, [Name(1, 0.5, "a", "red"), Name(1, 0.5, "b", "red"), Name(1, 0.51, "c", "red"), Name(0, 0.5, "d", "red")]
    )
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    middles = {text.get_text(): (e := text.get_window_extent()).y0 + e.height / 2 for text in axes.texts}
    apart = 10.5 * figure.dpi / 72
    assert middles["b"] - middles["a"] > apart and middles["c"] - middles["b"] > apart
    assert middles["d"] == pytest.approx(middles["a"], abs=3)


def test_thirty_lines_differ() -> None:
    assert len({tuple(map(str, line_style(i).values())) for i in range(30)}) == 30


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")])
def test_files(tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"a{suffix}"
    plots.benchmark_comparison([decision_score("a", 0)], path)
    assert path.read_bytes().startswith(start)
    plots.benchmark_comparison([decision_score("a", 0)], path=str(path))


def every_function() -> list[tuple[Callable[..., Any], Any]]:
    """Each function with something that it can draw, made without matplotlib."""
    score = decision_score("a", 0)
    x = np.array([0.5])
    curve = ReliabilityCurve(
        bot="a", chance="win", predicted=x, observed=x, low=x, high=x, positions=np.array([1]), games=np.array([1])
    )
    game = SimpleNamespace(number=1, decisions=(), curve=((0, 0.5), (1, 0.6)))
    session = SimpleNamespace(record=SimpleNamespace(length=0, players=("a", "b")), games=[game], bot="b", ply=1)
    return [
        (plots.benchmark_comparison, [score]),
        (plots.error_by_class, [score]),
        (plots.reliability, [curve]),
        (plots.move_table, bgnet.analyze(START, dice=(3, 1), ply=0)),
        (plots.opening_rolls, "net:standard"),
        (plots.equity_along_game, session),
        (plots.cube_window, analyze_cube(RACE, ply=0).decision),
        (plots.cube_matrix, analyze_scores(RACE, 2, ply=0)),
    ]


def test_other_files_are_refused(tmp_path: Path) -> None:
    functions = [*every_function(), (plots.learning_curves, write_run(tmp_path / "run", {"random": [1.0, 2.0]}))]
    assert {function.__name__ for function, _ in functions} == set(plots.__all__) - {"PlotError", "SUFFIXES"}
    for function, value in functions:
        for name in ("a.gif", "a", ".png"):
            with pytest.raises(PlotError, match=r"name ends in \.png, \.svg, \.pdf"):
                function(value, path=tmp_path / name)
    assert not [*tmp_path.glob("a*")]
    with pytest.raises(OSError, match="nowhere"):
        plots.benchmark_comparison([decision_score("a", 0)], tmp_path / "nowhere" / "a.png")


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    functions = [*every_function(), (plots.learning_curves, write_run(tmp_path / "run", {"random": [1.0, 2.0]}))]
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for function, value in functions:
        with pytest.raises(PlotError, match=r'not installed: pip install "bgnet\[plot\]"'):
            function(value)


def test_matplotlib_comes_late_and_without_windows(tmp_path: Path) -> None:
    code = """if True:
        import sys, bgnet.plots, bgnet
        assert not {"matplotlib", "torch"} & set(sys.modules)
        bgnet.plots.move_table(bgnet.analyze("4HPwATDgc/ABMA", dice=(3, 1), ply=0))
        assert "matplotlib.pyplot" not in sys.modules and "torch" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)
