"""Runs inside GNU Backgammon's own Python (`gnubg -p`): reads requests on stdin, writes answers to stdout.

One JSON value a line. The first line that comes in holds the settings {"ply", "cache", "folder"}; it is answered by
{"ready": 1}. Each later line is a list of requests, each of which gets a line of its own as soon as it is
answered, so that the reader sees progress and a vanished reader ends this at the next answer.

A request is {"do", "board", "cube"}, with "dice" for a play:
- "board": [opponent's 25, own 25] checkers on each side's own points 1..24 and bar, own = the player on roll's;
- "cube": [value, owner (-1 nobody), seat on roll, match length, [score 0, score 1], Crawford, Jacoby, beavers];
- "do": "chances" -> [win, gammon, backgammon, lose gammon, lose backgammon], cumulative; "play" or "cubeful play" ->
  [from, to, from, to, ...], 25 the bar, 0 off; "cube" -> {"equities": [no double, double/take, double/pass],
  "mwc": the same as match winning chances or null in money play, "action": text}.
A request that fails is answered by {"error": text}.
"""

import json
import os
import shutil
import sys

import gnubg  # type: ignore[import-not-found]  # exists inside the program only


def prepare(settings):
    """Contexts of evaluation by whether they mind the cube: no noise, pruning networks as gnubg's own levels have."""
    gnubg.command("set threads 1")
    if settings["cache"] is not None:
        gnubg.command(f"set cache {settings['cache']}")
    return [
        {"cubeful": cubeful, "plies": settings["ply"], "deterministic": 1, "prune": 1, "noise": 0.0}
        for cubeful in (0, 1)
    ]


def cube_info(cube):
    """gnubg's cube-info; the two rules that its maker does not take are set afterwards, and prices follow from them."""
    value, owner, on_roll, length, score, crawford, jacoby, beavers = cube
    info = gnubg.cubeinfo(value, owner, on_roll, length, tuple(score), crawford, 0)
    info["jacoby"] = jacoby
    info["beavers"] = beavers
    return gnubg.calcgammonprice(info)


def answer(request, contexts):
    """The answer to one request."""
    board = tuple(tuple(side) for side in request["board"])
    info = cube_info(request["cube"])
    wanted = request["do"]
    if wanted == "chances":
        return list(gnubg.evaluate(board, info, contexts[0])[:5])
    if wanted in ("play", "cubeful play"):
        context = contexts[wanted == "cubeful play"]
        return list(gnubg.findbestmove(board, info, context, tuple(request["dice"])))
    _, no_double, take, drop, _, text = gnubg.cfevaluate(board, info, contexts[1])
    equities = [no_double, take, drop]
    mwc = [gnubg.eq2mwc(equity, info) for equity in equities] if info["matchto"] else None
    return {"equities": equities, "mwc": mwc, "action": text}


def serve():
    """Until stdin ends, which it also does when the other side is killed."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what gnubg itself prints goes to stderr, and stdout holds nothing but answers from here on
    requests = os.fdopen(os.dup(0), "r")
    settings = json.loads(requests.readline())

    def say(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        contexts = prepare(settings)
        say({"ready": 1})
        while True:
            line = requests.readline()
            if not line:
                return
            for request in json.loads(line):
                try:
                    found = answer(request, contexts)
                except Exception as error:
                    found = {"error": f"{type(error).__name__}: {error}"}
                say(found)
    except (OSError, KeyboardInterrupt):
        pass  # nobody reads the answers any more
    finally:
        sys.stdout.flush()
        if os.path.basename(settings["folder"]).startswith("bgnet-gnubg-"):
            shutil.rmtree(settings["folder"], ignore_errors=True)


serve()
