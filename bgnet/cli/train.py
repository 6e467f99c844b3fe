"""`bgnet train`: from a run file to a network."""

from __future__ import annotations

import contextlib
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bgnet.cli.common import (
    JsonOption,
    ProgressOption,
    QuietOption,
    VerboseOption,
    print_json,
    print_text,
    reporting,
)
from bgnet.progress import Progress, check_mode

if TYPE_CHECKING:
    from bgnet.checkpoints import Counters
    from bgnet.training import Training

__all__ = ["EPILOG", "train"]

EPILOG = """Examples:

bgnet train configs/quick.toml --minutes 2

bgnet train configs/quick.toml --set games=2000 --set evaluation.final_games=0 --out runs/small"""


def train(
    config: Annotated[
        Path,
        typer.Argument(metavar="CONFIG", help="A run file; with --resume also a run's folder.", show_default=False),
    ],
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out, or the newest of CONFIG.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a key, e.g. learning.average=0.99; with --resume FOLDER from here on.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes",
            min=0.05,
            max=100_000.0,
            help="Fit the number of games to a time; with exact backups only roughly.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The run's folder; default: a new one under runs/.")] = None,
    parent: Annotated[
        str | None, typer.Option("--from", metavar="NET", help="Start from a network, not from zero.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    progress: ProgressOption = "auto",
    verbose: VerboseOption = False,
) -> None:
    """Train a network by self-play.

    Ctrl-C (or SIGTERM) saves and stops; --resume goes on as if nothing had happened.

    Watch it with: tensorboard --logdir runs
    """
    with reporting(
        as_json=as_json, verbose=verbose, stopped="the last checkpoint stands, if there was one; go on with --resume"
    ):
        screen = _Screen("none" if quiet else progress)
        training = _prepare(config, resume, settings or [], minutes, out, parent, screen)
        screen.announce(training)
        with screen:
            summary = _go(training, screen)
        if as_json:
            print_json(summary)
        else:
            print_text(_closing(summary, training))


def _prepare(
    config: Path,
    resume: bool,
    settings: list[str],
    minutes: float | None,
    out: Path | None,
    parent: str | None,
    screen: _Screen,
) -> Training:
    from bgnet.config import load_config
    from bgnet.runlog import RunError, RunFolder
    from bgnet.training import Training

    if parent == "":
        raise RunError("--from needs the name or the file of a network")
    if parent is not None:
        settings = [*settings, f"parent={json.dumps(parent, ensure_ascii=False)}"]
    if resume and config.is_dir():
        if parent is not None:
            raise RunError("a run goes on with its own networks; --from belongs to new ones")
        if out is not None:
            raise RunError(f"{config} is the run's folder: --out belongs to a run file")
        return Training.resume(RunFolder(config), None, screen, minutes, settings)
    run_config = load_config(config, settings)
    if resume:
        run = RunFolder(out) if out is not None else RunFolder.newest(config.stem)
        return Training.resume(run, run_config, screen, minutes)
    training = Training(RunFolder.planned(out, config.stem, run_config), run_config, screen, minutes)
    training.run.create(run_config)  # last: what cannot start leaves no folder behind
    return training


def _go(training: Training, screen: _Screen) -> dict[str, Any]:
    """Run it; a stop signal ends it after the round at hand, with exit code 128 + signal."""
    from bgnet.training import Stopped

    before = {number: signal.signal(number, screen.on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return training.go()
    except Stopped as stop:
        screen.close()
        print_stop = f"{stop}\nto go on: bgnet train {training.run.path} --resume"
        typer.echo(print_stop, err=True)
        raise typer.Exit(128 + int(screen.signal or signal.SIGINT)) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Screen:
    """Shows a run on stderr: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._bar: Progress | None = None
        self._shown_at = 0.0
        self._resumed_at = 0
        self.signal: int | None = None
        check_mode(mode)  # before anything starts

    def __enter__(self) -> _Screen:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def announce(self, training: Training) -> None:
        from bgnet.runlog import machine

        config = training.config
        self._resumed_at = training.counters.games
        inputs = f"{config.net.encoding} inputs ({training.encoding.size})"
        start = f"from {config.parent}" if config.parent else "from zero"
        weights = training.learner.weights()
        hidden = "-".join(str(width) for width in config.net.hidden)
        self.note(f"run    {training.run.path}      watch: tensorboard --logdir {training.run.path.parent}")
        self.note(
            f"net    {hidden} on {inputs}, {weights.count:,} weights, {start}     seed {config.seed}, {machine()}"
        )
        if config.learning.precision == "auto":
            self.note(f"learn  precision auto: {training.learner.precision} on this machine")
        for missing in training.trial.missing:
            self.note(f"note   {missing}")

    def note(self, text: str) -> None:
        with self._quiet_when_nobody_reads():
            if self._bar is not None:
                self._bar.write(text)
            elif self._mode != "none":
                typer.echo(text, err=True)

    def progress(self, counters: Counters, values: dict[str, float]) -> None:
        with self._quiet_when_nobody_reads():
            if self._bar is None:
                self._bar = Progress(counters.total_games, "games", self._mode, label="train", initial=self._resumed_at)
            self._bar.set_total(counters.total_games)
            now = time.monotonic()
            fields: dict[str, object] = {}
            if now - self._shown_at >= 0.5:
                self._shown_at = now
                fields = {"loss": f"{values['loss']:.4f}", "lr": f"{values['lr']:.1e}"}
            self._bar.update(counters.games - self._bar.count, **fields)

    @contextlib.contextmanager
    def _quiet_when_nobody_reads(self) -> Iterator[None]:
        """The reader of stderr may leave (a pipe into head): hours of training are worth more than its display."""
        try:
            yield
        except (BrokenPipeError, ValueError):  # ValueError: the stream is closed
            self._mode, self._bar = "none", None

    def stop_requested(self) -> bool:
        return self.signal is not None

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.signal is not None:  # asked twice: leave at once, the last checkpoint stays
            raise KeyboardInterrupt
        self.signal = number
        self.note("stopping after this round; once more to leave at once")

    def close(self) -> None:
        with self._quiet_when_nobody_reads():
            if self._bar is not None:
                self._bar.close()
        self._bar = None


def _closing(summary: dict[str, Any], training: Training) -> str:
    from bgnet.baselines import table

    minutes, seconds = divmod(round(summary["seconds"]), 60)
    lines = [
        f"done   {minutes}:{seconds:02d}   {summary['games']:,} games   {summary['games_per_s']:,.0f} games/s   "
        f"{summary['positions'] / 1e6:.1f} M positions",
        f"saved  {training.run.last}",
    ]
    if training.results:
        lines += ["", table(training.results), ""]
    else:  # a run that was finished before
        lines += [f"       {result['b']} {result['points_per_game']:+.3f}" for result in summary["results"]]
    lines.append(f"next   bgnet arena net:{training.run.path} gnubg:0 --games 2000")
    return "\n".join(lines)
