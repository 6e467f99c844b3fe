"""A stand-in for the program GNU Backgammon: it runs a script given with -p, whose `import gnubg` finds what is here.

`make` writes it as an executable. Its chances, plays and cube answers are fixed and mean nothing; what it is asked
goes to a file. `extra` is code that runs before the script and may change everything.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bgnet.gnubg_cli import GnubgCli
from engine.board import START_BOARD

CUBE_ANSWER = [0.25, 0.25, 0.5, 1.0, 2.0, "No double, take"]
"""What its cfevaluate gives: the best value, no double, double/take, double/pass, a code, the text."""

RAMP = np.repeat(START_BOARD[None], 10, axis=0)
"""int8[10, 26]; row n has n checkers on the player's 24 point, and the stand-in gives him n per cent more wins."""
RAMP[:, [8, 13]] = 0
RAMP[:, 24] = np.arange(10)

_PROGRAM = '''#!{python} -IS
"""A stand-in for GNU Backgammon."""
import json, os, signal, sys, time, types

def record(*what):
    with open({log!r}, "a") as file:
        file.write(json.dumps(what) + "\\n")

def count(name):
    """How many processes of this program have come here."""
    with open({log!r} + "." + name, "a") as file:
        file.write("x")
        return file.tell()

def cubeinfo(value, owner, on_roll, length, score, crawford, variant):
    return dict(cube=value, owner=owner, move=on_roll, matchto=length, score=score, crawford=crawford)

def evaluate(board, info, context):
    record("evaluate", board, info, context)
    return 0.5 + board[1][23] / 100, 0.25, 0.125, 0.2, 0.0, 0.0

def findbestmove(board, info, context, dice):
    record("findbestmove", board, info, context, dice)
    return (8, 5, 6, 5, 0, 0, 0, 0)

def cfevaluate(board, info, context):
    record("cfevaluate", board, info, context)
    return {cube!r}

gnubg = types.ModuleType("gnubg")
gnubg.command = lambda text: (record("command", text), os.write(1, b"done: half a line"))
gnubg.calcgammonprice = dict
gnubg.eq2mwc = lambda equity, info: 0.5 + equity / 10
gnubg.cubeinfo, gnubg.evaluate, gnubg.findbestmove, gnubg.cfevaluate = cubeinfo, evaluate, findbestmove, cfevaluate
sys.modules["gnubg"] = gnubg
record("start", sys.argv[1:], os.environ.get("HOME"), os.environ.get("DISPLAY"), os.getpid(), os.getcwd())
print("GNU Backgammon 0.00", flush=True)
{extra}
script = sys.argv[sys.argv.index("-p") + 1]
exec(compile(open(script).read(), script, "exec"), {{"__name__": "__main__"}})
'''


def make(folder: Path, extra: str = "", cube: list[Any] | None = None) -> Path:
    """The program, an executable file in `folder`; cube: another CUBE_ANSWER."""
    path = folder / "gnubg"
    source = _PROGRAM.format(python=sys.executable, log=str(folder / "asked"), cube=cube or CUBE_ANSWER, extra=extra)
    path.write_text(source, encoding="utf-8")
    path.chmod(0o755)
    return path


def asked(folder: Path, name: str) -> list[list[Any]]:
    """What the programs made in `folder` were called with under this name, "start" among them."""
    lines = (folder / "asked").read_text(encoding="utf-8").splitlines()
    return [what for call, *what in map(json.loads, lines) if call == name]


@contextlib.contextmanager
def stand_ins(folder: Path) -> Iterator[Callable[..., GnubgCli]]:
    """A maker of bots that drive a program made of its first two arguments; one process each unless said."""
    bots = []

    def made(extra: str = "", cube: list[Any] | None = None, **options: Any) -> GnubgCli:
        bots.append(GnubgCli(executable=make(folder, extra, cube), **{"processes": 1, "timeout": 10, **options}))
        return bots[-1]

    try:
        yield made
    finally:
        for bot in bots:
            bot.close()
