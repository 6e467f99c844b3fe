"""The `bgnet` command. Each subcommand has a file; what they need is imported when they run."""

from __future__ import annotations

try:
    from typing import Annotated, NoReturn

    import typer

    from bgnet import __version__
    from bgnet.cli import analyze, analyze_match, arena, bench, common, cube, nets, play, rollout, train
except KeyboardInterrupt:  # Ctrl-C at once: there is nothing to say, and nothing to show where it struck
    raise SystemExit(130) from None

__all__ = ["app", "main"]

app = typer.Typer(
    name="bgnet",
    help="Train, measure and question backgammon networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("train", epilog=train.EPILOG)(train.train)
app.command("analyze", epilog=analyze.EPILOG)(analyze.analyze)
app.command("analyze-match", epilog=analyze_match.EPILOG)(analyze_match.analyze_match)
app.command("arena", epilog=arena.EPILOG)(arena.arena)
app.add_typer(bench.app, name="bench")
app.command("cube", epilog=cube.EPILOG)(cube.cube)
app.command("play", epilog=play.EPILOG)(play.play)
app.command("rollout", epilog=rollout.EPILOG)(rollout.rollout)
app.command("nets", epilog=nets.EPILOG)(nets.nets)


def _version(wanted: bool) -> None:
    if wanted:
        common.print_text(f"bgnet {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


def main() -> NoReturn:
    """The console command."""
    common.run(app)
