"""The real GNU Backgammon program as a bot with a cube (spec gnubg-cli:PLY), at 0 to 3 plies.

It must be installed (tested with 1.07.001) with Python inside, as all usual packages have it; gnubg_cli_process.py
says where it is looked for. Its settings are those it has by itself: no noise, the Kazaross-XG2 match equity
table, one thread a process. From 1-ply on it prunes: its small networks choose what is looked at inside the
search, and of the plays at most eight within 0.16 of the best survive the filter of each depth.

Every question is asked as if player 1 were on roll: GNU Backgammon's numbers do not depend on the seat, apart from
the rounding of match winning chances. So no score can reach it from the wrong side.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bgnet.gnubg_cli_process import GnubgDied, GnubgError, GnubgProcess, Request, find_gnubg
from bgnet.legality import legal_choices
from bgnet.peers import BotSpecError, apply_play, checked_rules, checked_turns, judged, side_rows
from engine.errors import StateError
from engine.moves import check_boards
from engine.position import Position
from engine.state import GameState, GameStatus

__all__ = ["PLIES", "GnubgCli", "GnubgCubeDecision", "GnubgError"]

PLIES = (0, 1, 2, 3)
"""The depths that are offered."""

Boards = NDArray[np.int8]
Answer = TypeVar("Answer")

# A call inside gnubg waits 10 ms for its own event loop, however short the thinking (0.1 ms at 0-ply, 2 ms at 1-ply,
# 30 ms at 2-ply): as many processes as together keep about one core busy, within reason.
_PROCESSES = {0: 8, 1: 4, 2: 1, 3: 1}
_CACHE = {0: 1024, 1: None, 2: None, 3: None}  # at 0-ply its cache of 30 MB is of no use
_BATCH = 32  # requests sent together: few enough for both pipes
_LONGEST_MATCH = 64
_NOT_AVAILABLE = "cube not available"
_ACTIONS = ("Double", "Redouble", "No ", "Too good", "Optional", "Never")
_MONEY = [1, -1, 1, 0, [0, 0], 0, 0, 0]
_DMP = [1, -1, 1, 1, [0, 0], 1, 0, 0]


class GnubgCubeDecision(NamedTuple):
    """What GNU Backgammon makes of the cube, for the player on roll before his roll.

    Equities are per unit of the cube before any double, in a match normalised by it (winning it is +1, losing it -1).
    """

    no_double: float
    double_take: float | None
    """Before any beaver; None when there is no cube to turn."""
    double_pass: float | None
    mwc: tuple[float, float | None, float | None] | None
    """The three as chances to win the match; None in money play."""
    action: str
    """In its words, such as "No double, take", "Too good to redouble, pass"; "cube not available"."""

    @property
    def doubles(self) -> bool:
        """Whether it doubles; what it calls optional it leaves alone."""
        return self.action.startswith(("Double", "Redouble"))

    @property
    def takes(self) -> bool:
        """Whether its opponent should take; a dead cube is always taken."""
        return not self.action.endswith("pass")

    @property
    def beavers(self) -> bool:
        """Whether its opponent should beaver."""
        return self.action.endswith("beaver")


class GnubgCli:
    """GNU Backgammon at `ply` 0 to 3: an Evaluator, a Player, and a player with the cube.

    rules: what `choose` and `outcomes` play for, "money" (cubeless) or "dmp"; the other methods go by the state.
    executable: the program; by default the environment variable BGNET_GNUBG, else PATH, /usr/games and the like.
    timeout: seconds without an answer after which GnubgError is raised. processes: how many copies share the
    questions of one call; started when first needed. Results do not depend on their number.

    A process that dies is replaced once in a call. Threads may share a bot: their calls take turns. `close` ends the
    processes, as does the end of the program; a later call starts them again. Raises BotSpecError for a depth or
    rules it does not play, MissingEngineError without the program; its methods raise GnubgError.
    """

    checkers = 15
    """A side, at the start of the games it knows."""

    def __init__(
        self,
        ply: int = 0,
        rules: str = "money",
        *,
        executable: str | os.PathLike[str] | None = None,
        timeout: float = 120.0,
        processes: int | None = None,
    ) -> None:
        if isinstance(ply, bool) or ply not in PLIES:
            raise BotSpecError(f"GNU Backgammon plays at 0, 1, 2 or 3 plies here, not {ply!r}")
        if not timeout > 0:
            raise BotSpecError(f"timeout must be more than 0 seconds, not {timeout!r}")
        if processes is not None and (isinstance(processes, bool) or not 1 <= processes <= 64):
            raise BotSpecError(f"processes must be a number from 1 to 64, not {processes!r}")
        self.ply = int(ply)
        self.timeout = float(timeout)
        self._cubeless = {"money": _MONEY, "dmp": _DMP}[checked_rules(rules)]
        self._executable = find_gnubg(executable)
        self._processes: list[GnubgProcess | None] = [None] * (processes or _PROCESSES[self.ply])
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._owner = os.getpid()
        self._process(0)  # one that cannot work is found out now

    def __repr__(self) -> str:
        return f"GnubgCli({self.ply})"

    def outcomes(self, boards: Boards) -> NDArray[np.float32]:
        """int8[N, 26] in the view of the player on roll -> float32[N, 6]; exact for finished games."""
        return judged(check_boards(boards), self._probabilities)

    def choose(self, boards: Boards, dice: Boards) -> Boards:
        """int8[N, 26], dice int8[N, 2] -> int8[N, 26], the chosen results in the next player's view; cubeless."""
        boards, dice = checked_turns(boards, dice)
        return self._play("play", boards, dice, [self._cubeless] * len(boards))

    def plays(self, states: Sequence[GameState]) -> Boards:
        """States with dice -> int8[N, 26]: the results it chooses at their score and cube, in the next player's view.

        Raises StateError for a state where there is nothing to play, or that GNU Backgammon does not know.
        """
        for row, state in enumerate(states):
            if state.dice is None:
                raise _wrong(row, state, "there are no dice to play")
        boards = _boards(states)
        dice = np.array([state.dice for state in states], dtype=np.int8).reshape(-1, 2)
        # a cube at its highest face is no cube, which gnubg cannot be told otherwise
        kinds = ["play" if _at_top(state) else "cubeful play" for state in states]
        return self._play(kinds, boards, dice, [_cube(state) for state in states])

    def decide(self, states: Sequence[GameState]) -> list[GnubgCubeDecision]:
        """What it makes of the cube in states before the roll; with a double pending, of the double.

        The numbers are the doubler's: the player on roll. Raises StateError for a state with dice, and for those that
        GNU Backgammon does not know: a cube at its highest face, other stakes than 1, 2, 3, another game. A highest
        face that the cube has not reached yet is not known to it either, and left out.
        """
        for row, state in enumerate(states):
            if state.dice is not None:
                raise _wrong(row, state, "the dice are rolled, and one doubles before")
            if _at_top(state):
                raise _wrong(row, state, "the cube is at its highest face, which GNU Backgammon does not know")
        boards = _boards(states)
        cubes = [_cube(state) for state in states]
        answers = self._ask(_requests("cube", boards, cubes))
        return [_read(_decision, answer) for answer in answers]

    def doubles(self, states: Sequence[GameState]) -> NDArray[np.bool_]:
        """bool[N]: whether it doubles in states before the roll; False where the player on roll may not."""
        return self._where([state.may_double for state in states], states, lambda decision: decision.doubles)

    def takes(self, states: Sequence[GameState]) -> NDArray[np.bool_]:
        """bool[N]: whether it takes as the receiver of a pending double. StateError where none is pending."""
        return self._where(_pending(states), states, lambda decision: decision.takes)

    def beavers(self, states: Sequence[GameState]) -> NDArray[np.bool_]:
        """bool[N]: whether the receiver of a pending double beavers. StateError where none is pending."""
        return self._where(_pending(states), states, lambda decision: decision.beavers)

    def close(self) -> None:
        """End the processes; a call that is under way in another thread ends with GnubgError."""
        self._closing.set()
        for slot, process in enumerate(self._processes):
            if process is not None:
                process.close()
                self._processes[slot] = None

    def _where(
        self, asked: Sequence[bool], states: Sequence[GameState], says: Callable[[GnubgCubeDecision], bool]
    ) -> NDArray[np.bool_]:
        found = np.array(asked, dtype=np.bool_).reshape(-1)
        rows = np.flatnonzero(found)
        found[rows] = [says(decision) for decision in self.decide([states[row] for row in rows.tolist()])]
        return found

    def _probabilities(self, boards: Boards) -> list[list[float]]:
        answers = self._ask(_requests("chances", boards, [self._cubeless] * len(boards)))
        return [_read(_five, answer) for answer in answers]

    def _play(self, kinds: str | list[str], boards: Boards, dice: Boards, cubes: list[Any]) -> Boards:
        requests = _requests(kinds, boards, cubes)
        for request, roll in zip(requests, dice.tolist(), strict=True):
            request["dice"] = roll
        rows = boards.tolist()
        for row, answer in zip(rows, self._ask(requests), strict=True):
            apply_play(row, _read(_steps, answer))
        chosen = np.ascontiguousarray(-np.array(rows, dtype=np.int8).reshape(-1, 26)[:, ::-1])
        legal = legal_choices(boards, dice, chosen)
        if not legal.all():
            row = int(legal.argmin())
            where = Position(boards[row].tolist()).position_id
            raise GnubgError(f"GNU Backgammon chose an illegal play for {where} and {dice[row].tolist()}")
        return chosen

    # ---- the processes ----------------------------------------------------------------------------------------------

    def _ask(self, requests: list[Request]) -> list[Any]:
        """The answers in order, the requests dealt out to the processes."""
        answers: list[Any] = [None] * len(requests)
        with self._lock:
            self._begin()
            count = min(len(self._processes), len(requests))
            try:
                if count == 1:
                    return self._answers(0, requests)
                with ThreadPoolExecutor(max(count, 1)) as threads:
                    shares = [threads.submit(self._answers, slot, requests[slot::count]) for slot in range(count)]
                    try:
                        for slot, share in enumerate(shares):
                            answers[slot::count] = share.result()
                    except BaseException:
                        self.close()  # here, or leaving the block would wait for the other threads
                        raise
            except BaseException:  # also Ctrl-C: a process that still has answers to give is of no use
                self.close()
                raise
        return answers

    def _begin(self) -> None:
        self._closing.clear()
        if self._owner != os.getpid():  # in a fork: those processes are the other program's
            self._processes = [None] * len(self._processes)
            self._owner = os.getpid()

    def _answers(self, slot: int, requests: list[Request]) -> list[Any]:
        """All answers of one process; a second one goes on where the first has died."""
        answers: list[Any] = []
        died_before = False
        while len(answers) < len(requests):
            process = self._process(slot)
            try:
                answers.extend(process.ask(requests[len(answers) : len(answers) + _BATCH]))
            except GnubgDied:
                if died_before or self._closing.is_set():
                    raise
                died_before = True
                process.close()
                self._processes[slot] = None
        return answers

    def _process(self, slot: int) -> GnubgProcess:
        process = self._processes[slot]
        if process is None:
            process = GnubgProcess(self._executable, self.ply, _CACHE[self.ply], self.timeout)
            self._processes[slot] = process
            if self._closing.is_set():  # meanwhile
                process.close()
        return process


def _requests(kinds: str | list[str], boards: Boards, cubes: list[Any]) -> list[Request]:
    kinds = [kinds] * len(boards) if isinstance(kinds, str) else kinds
    rows = side_rows(boards)
    return [{"do": kind, "board": board, "cube": cube} for kind, board, cube in zip(kinds, rows, cubes, strict=True)]


def _boards(states: Sequence[GameState]) -> Boards:
    """The boards of states that GNU Backgammon knows and where a game goes on. StateError names the first other."""
    for row, state in enumerate(states):
        if state.resigned:
            raise _wrong(row, state, "a resignation is pending")
        if state.checkers != 15:
            raise _wrong(row, state, f"it is a game of {state.checkers} checkers, and 15 are played here")
        if state.stakes != (1, 2, 3):
            raise _wrong(row, state, f"the stakes are {state.stakes}, and GNU Backgammon knows only 1, 2, 3")
        if state.match_length > _LONGEST_MATCH:
            raise _wrong(row, state, f"GNU Backgammon plays matches to {_LONGEST_MATCH} points, not more")
        if state.game_state != GameStatus.PLAYING:
            raise _wrong(row, state, "no game is under way")
    rows = [state.position.board for state in states]
    return check_boards(np.array(rows, dtype=np.int8).reshape(-1, 26), finished=False)


def _pending(states: Sequence[GameState]) -> list[bool]:
    """True for every state; StateError for the first one without a double to answer."""
    for row, state in enumerate(states):
        if not state.doubled:
            raise _wrong(row, state, "no double is pending")
    return [True] * len(states)


def _wrong(row: int, state: GameState, reason: str) -> StateError:
    return StateError(f"state {row}: {reason}: {state!r}")


def _at_top(state: GameState) -> bool:
    return state.max_cube is not None and state.cube >= state.max_cube


def _cube(state: GameState) -> list[Any]:
    """The "cube" of a request, with the player on roll as GNU Backgammon's player 1."""
    own, opponent = state.score[state.on_roll], state.score[1 - state.on_roll]
    score = [opponent, own] if state.match_length else [0, 0]
    owner = {0: -1, 1: 1, -1: 0}[state.cube_owner]
    rules = [int(state.crawford), int(state.jacoby), int(state.beavers)]
    return [state.cube, owner, 1, state.match_length, score, *rules]


def _read(reader: Callable[[Any], Answer], answer: Any) -> Answer:
    try:
        return reader(answer)
    except (KeyError, TypeError, ValueError) as error:
        raise GnubgError(f"GNU Backgammon gave an answer that cannot be used: {str(answer)[:200]}") from error


def _five(answer: Any) -> list[float]:
    five = [float(chance) for chance in answer]
    if len(five) != 5 or not all(-1e-5 <= chance <= 1 + 1e-5 for chance in five):
        raise ValueError
    return five


def _steps(answer: Any) -> list[int]:
    """Its from, to, ... (25 the bar, 0 off) -> those of `apply_play`: our numbers less 1."""
    steps = [int(point) for point in answer]
    if len(steps) % 2 or not all(0 <= point <= 25 for point in steps):
        raise ValueError
    used = steps[: 2 * sum(start > 0 for start in steps[::2])]  # unused ones are 0 to 0
    return [point - 1 for point in used]


def _decision(answer: Any) -> GnubgCubeDecision:
    equities = [float(equity) for equity in answer["equities"]]
    mwc = None if answer["mwc"] is None else [float(chance) for chance in answer["mwc"]]
    action = str(answer["action"])
    if action == "Unknown cube decision" or action.lower().startswith("cube not available"):
        action = _NOT_AVAILABLE
    elif not action.startswith(_ACTIONS):
        raise ValueError
    if action == _NOT_AVAILABLE or action.startswith("Never"):
        chances = None if mwc is None else (mwc[0], None, None)
        return GnubgCubeDecision(equities[0], None, None, chances, action)
    no_double, double_take, double_pass = equities
    return GnubgCubeDecision(
        no_double, double_take, double_pass, None if mwc is None else (mwc[0], mwc[1], mwc[2]), action
    )
