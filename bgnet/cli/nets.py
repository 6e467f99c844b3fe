"""`bgnet nets`: which networks there are, and what they are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bgnet.cli.common import JsonOption, VerboseOption, print_json, print_text, reporting

__all__ = ["EPILOG", "nets"]

EPILOG = """Examples:

bgnet nets

bgnet nets standard --json"""


def nets(
    name: Annotated[
        str | None, typer.Argument(metavar="[NET]", help="A name, file or run folder; without it, all shipped.")
    ] = None,
    paths: Annotated[bool, typer.Option("--paths", help="Where networks, kernels and runs are kept.")] = False,
    as_json: JsonOption = False,
    verbose: VerboseOption = False,
) -> None:
    """List the networks that come with the package, or show one in detail."""
    with reporting(as_json=as_json, verbose=verbose):
        from bgnet.evaluators import shipped_nets

        if paths:
            _show(_places(), as_json)
        elif name is not None:
            _show(_details(name), as_json)
        else:
            found = [_details(shipped) for shipped in shipped_nets()]
            if as_json:
                print_json({"schema": "bgnet.nets/1", "nets": found})
            else:
                print_text(_table(found))


def _show(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({"schema": "bgnet.nets/1", **facts})
    else:
        print_text("\n".join(f"{key:16} {value}" for key, value in facts.items()))


def _places() -> dict[str, Any]:
    from pathlib import Path

    import bgnet
    from engine.jit import cache_dir

    return {
        "nets": str(Path(bgnet.__file__).parent / "nets"),
        "cache": str(cache_dir()),
        "runs": str(Path("runs").resolve()),
    }


def _details(name: str) -> dict[str, Any]:
    from bgnet.evaluators import find_net
    from bgnet.netfile import load_net

    path = find_net(name)
    weights, info = load_net(path)
    return {
        "name": name,
        "file": str(path),
        "bytes": path.stat().st_size,
        "layers": info.label,
        "weights": weights.count,
        "encoding": f"{info.encoding}/{info.encoding_version}",
        "rules": info.rules,
        "checkers": info.checkers,
        "games": info.games,
        "seconds": info.seconds,
        "seed": info.seed,
        "commit": info.commit,
        "parent": info.parent,
        "note": info.note,
    }


def _table(found: list[dict[str, Any]]) -> str:
    lines = ["name          layers        size    games trained      time  note"]
    for net in found:
        size, time = f"{net['bytes'] / 1000:.0f} kB", f"{net['seconds'] / 60:.0f} min"
        lines.append(
            f"{net['name']:<13} {net['layers']:<10} {size:>7} {net['games']:>16,} {time:>9}  {net['note']}".rstrip()
        )
    return "\n".join([*lines, "one in detail: bgnet nets NAME"])
