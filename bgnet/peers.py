"""Other engines as bots: GNU Backgammon's networks and PubEval (package gnubg-nn), Open Sage (package bgsage).

The packages are optional and imported when a bot is made, and so is bgnet.gnubg_cli, the real GNU Backgammon program
with its cube. Depth is counted as GNU Backgammon does: 0-ply is the bare network (Open Sage and XG call that 1-ply).
All of them play games of 15 checkers; the classes here play them cubeless.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bgnet.legality import legal_choices
from engine import outcomes as endings
from engine.board import ending
from engine.moves import check_boards, check_dice

if TYPE_CHECKING:
    from bgnet.players import Player

__all__ = [
    "BotSpecError",
    "GnubgNN",
    "MissingEngineError",
    "OpenSage",
    "PubEval",
    "apply_play",
    "available",
    "checked_rules",
    "checked_turns",
    "judged",
    "player",
    "side_rows",
    "usable_bots",
]

Boards = NDArray[np.int8]

_MODULES = {"gnubg-nn": "gnubg_nn", "bgsage": "bgsage"}
_SPECS = {"gnubg-nn": ("pubeval", "gnubg:0", "gnubg:1", "gnubg:2"), "bgsage": ("sage:0",)}
_GNUBG_CLI = ("gnubg-cli:0", "gnubg-cli:1", "gnubg-cli:2", "gnubg-cli:3")
_RULES = ("money", "dmp")


class BotSpecError(ValueError):
    """A bot spec that names no bot."""


class MissingEngineError(ValueError):
    """A bot whose optional package or program is not installed, or does not load."""


def available() -> list[str]:
    """The specs of other engines that can be used now, as far as the installed packages and programs tell."""
    from bgnet.gnubg_cli_process import is_installed

    found = [spec for package, specs in _SPECS.items() if importlib.util.find_spec(_MODULES[package]) for spec in specs]
    return [*found, *(_GNUBG_CLI if is_installed() else ())]


def usable_bots() -> str:
    """What to say of the bots that can be used now."""
    return ", ".join(["random", "net:NAME", *available()])


def player(spec: str, rules: str = "money") -> Player | None:
    """The bot that a spec names, or None when the spec belongs to no other engine.

    spec: `pubeval`, `gnubg:0`, `gnubg:1`, `gnubg:2`, `sage:0` or `gnubg-cli:0` to `gnubg-cli:3`. rules: what the bot
    plays for, `money` or `dmp`. Raises BotSpecError for a depth that is not offered, MissingEngineError without the
    package or program.
    """
    kind, colon, depth = spec.partition(":")
    if kind == "pubeval":
        if colon:
            raise BotSpecError(f'bot "{spec}": PubEval has no depths, write pubeval')
        return PubEval()
    if kind == "gnubg":
        if depth not in ("0", "1", "2"):
            raise BotSpecError(f'bot "{spec}": GNU Backgammon needs a depth of 0, 1 or 2, such as gnubg:0')
        return GnubgNN(int(depth), rules)
    if kind == "sage":
        if depth != "0":
            hint = "its bare net, which Open Sage itself calls 1-ply"
            raise BotSpecError(f'bot "{spec}": of Open Sage only sage:0 is offered, {hint}')
        return OpenSage(rules=rules)
    if kind == "gnubg-cli":
        from bgnet.gnubg_cli import GnubgCli

        if spec not in _GNUBG_CLI:
            reason = "the program GNU Backgammon needs a depth of 0, 1, 2 or 3, such as gnubg-cli:0"
            raise BotSpecError(f'bot "{spec}": {reason}')
        return GnubgCli(int(depth), rules)
    return None


class GnubgNN:
    """GNU Backgammon's networks at `ply` 0, 1 or 2: an Evaluator and a Player.

    Choices are cubeless: the greatest expected points (rules "money") or chance to win ("dmp"). Deeper than
    0-ply the package's own defaults prune: its small networks and move filters pick what is searched.
    The engine is process-wide C state, so calls of all instances take turns. It remembers judgements whatever
    they were made for: deeper than 0-ply, play for money and for wins in different processes.
    """

    checkers = 15
    """A side, at the start of the games it knows."""

    def __init__(self, ply: int = 0, rules: str = "money") -> None:
        if ply not in (0, 1, 2):
            raise BotSpecError(f"GNU Backgammon plays at 0, 1 or 2 plies here, not {ply!r}")
        self.ply = int(ply)
        # The engine's match score decides what its plays are best for. 0-0 away is cubeless money: best_move()
        # is the best by the cubeless equities of probabilities(). 1-1 away is the chance to win. Tested.
        self._away = {"money": 0, "dmp": 1}[checked_rules(rules)]
        self._gnubg = _load("gnubg:" + str(ply), "gnubg-nn")

    def __repr__(self) -> str:
        return f"GnubgNN({self.ply})"

    @property
    def best_move(self) -> Callable[..., Any]:
        """gnubg-nn's own function, for benchmarks: best_move(rows of `side_rows`, die, die, ply)."""
        found: Callable[..., Any] = self._gnubg.best_move
        return found

    def outcomes(self, boards: Boards) -> NDArray[np.float32]:
        """int8[N, 26] in the view of the player on roll -> float32[N, 6]; exact for finished games."""
        boards = check_boards(boards)
        return judged(boards, self._probabilities)

    def choose(self, boards: Boards, dice: Boards) -> Boards:
        """int8[N, 26], dice int8[N, 2] -> int8[N, 26], the chosen results in the next player's view."""
        boards, dice = checked_turns(boards, dice)
        best_move, ply = self.best_move, self.ply
        with self._engine_set_up():
            found = [
                best_move(rows, one, two, ply, b=1)[1]
                for rows, (one, two) in zip(side_rows(boards), dice.tolist(), strict=True)
            ]
        return _boards_of_keys(found)

    @contextlib.contextmanager
    def _engine_set_up(self) -> Iterator[None]:
        with _GNUBG_LOCK:
            self._gnubg.set.score(self._away, self._away)
            try:
                yield
            finally:
                self._gnubg.set.score(0, 0)

    def _probabilities(self, boards: Boards) -> list[tuple[float, ...]]:
        with self._engine_set_up():
            return [self._gnubg.probabilities(rows, self.ply) for rows in side_rows(boards)]


class PubEval:
    """Tesauro's public evaluator of 1993, the field's oldest yardstick: a Player, it has no chances to give.

    It scores the results with one of two linear functions: race or contact, as it is before the play.
    """

    checkers = 15
    """A side, at the start of the games it knows."""

    def __init__(self) -> None:
        self._gnubg = _load("pubeval", "gnubg-nn")

    def __repr__(self) -> str:
        return "PubEval()"

    def choose(self, boards: Boards, dice: Boards) -> Boards:
        """int8[N, 26], dice int8[N, 2] -> int8[N, 26], the chosen results in the next player's view."""
        boards, dice = checked_turns(boards, dice)
        best_move = self._gnubg.pub_best_move
        with _GNUBG_LOCK:
            plays = [
                best_move(rows, one, two) for rows, (one, two) in zip(side_rows(boards), dice.tolist(), strict=True)
            ]
        rows = boards.tolist()
        for row, play in zip(rows, plays, strict=True):
            apply_play(row, play)
        moved = np.array(rows, dtype=np.int8).reshape(-1, 26)
        return np.ascontiguousarray(-moved[:, ::-1])


class OpenSage:
    """Open Sage's bare networks: an Evaluator and a Player.

    Sage judges a position for the player who has just moved, so `outcomes` turns the board and the chances
    (the conversion Open Sage documents). Its own plays come from the network that suits the position before
    the play, for all results alike; `choose` does that too, so it is not always the best by `outcomes`.
    """

    checkers = 15
    """A side, at the start of the games it knows."""

    def __init__(self, ply: int = 0, rules: str = "money") -> None:
        if ply != 0:
            raise BotSpecError(f"only Open Sage's bare net is offered, ply 0 (it says 1-ply), not {ply!r}")
        self._by_wins = checked_rules(rules) == "dmp"
        sage = _load("sage:0", "bgsage")
        self._cpp: Any = importlib.import_module("bgbot_cpp")
        weights = sage.default_weights()
        self._strategy = self._cpp.create_strategy(
            weights.strategy_type, weights.weight_paths_list, weights.hidden_sizes_list
        )
        self._centred = self._cpp.CubeOwner.CENTERED
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "OpenSage()"

    def outcomes(self, boards: Boards) -> NDArray[np.float32]:
        """int8[N, 26] in the view of the player on roll -> float32[N, 6]; exact for finished games."""
        boards = check_boards(boards)
        return judged(boards, self._probabilities)

    def choose(self, boards: Boards, dice: Boards) -> Boards:
        """int8[N, 26], dice int8[N, 2] -> int8[N, 26], the chosen results in the next player's view."""
        boards, dice = checked_turns(boards, dice)
        asked = [
            {"board": board, "die1": one, "die2": two, "cube_value": 1, "cube_owner": self._centred}
            for board, (one, two) in zip(_sage_rows(boards), dice.tolist(), strict=True)
        ]
        with self._lock:
            answers = self._cpp.batch_checker_play(asked, self._strategy, n_threads=1)
        # its own order is by cubeful equity: choose again by the cubeless one, or by wins alone
        value = _chance_to_win if self._by_wins else _cubeless_equity
        chosen = _from_sage_moves([max(answer["moves"], key=value) for answer in answers])
        # Sage may bear its last checker off with one die where the rules want both dice played
        for i in np.flatnonzero(~legal_choices(boards, dice, chosen)):
            candidates = _from_sage_moves(sorted(answers[i]["moves"], key=value, reverse=True))
            row = np.full(len(candidates), i)
            legal = legal_choices(boards[row], dice[row], candidates)
            chosen[i] = candidates[legal.argmax()]
        return chosen

    def _probabilities(self, boards: Boards) -> list[list[float]]:
        turned = -boards[:, ::-1]
        asked = [(board, self._centred) for board in _sage_rows(turned)]
        with self._lock:
            answers = self._cpp.batch_evaluate_post_move(asked, self._strategy, n_threads=1)
        five = (answer["probs"] for answer in answers)  # of the player who is not on roll
        return [[1 - win, g_loss, b_loss, g_win, b_win] for win, g_win, b_win, g_loss, b_loss in five]


_GNUBG_LOCK = threading.Lock()


def _load(spec: str, package: str) -> Any:
    try:
        return importlib.import_module(_MODULES[package])
    except ImportError as error:
        raise MissingEngineError(
            f'bot "{spec}" needs the package {package}, which is not installed or does not load ({error}): '
            f'pip install "bgnet[peers]"; usable now: {usable_bots()}'
        ) from error


def checked_rules(rules: str) -> str:
    """The rules, if engines play for them here; else BotSpecError."""
    if rules not in _RULES:
        raise BotSpecError(f"engines play for money or dmp here, not {rules!r}")
    return rules


def checked_turns(boards: Boards, dice: Boards) -> tuple[Boards, Boards]:
    """Boards int8[N, 26] of games that go on and their dice int8[N, 2]; raises what a Player does for others."""
    boards = check_boards(boards, finished=False)
    return boards, check_dice(dice, len(boards))


def judged(boards: Boards, probabilities: Callable[[Boards], Any]) -> NDArray[np.float32]:
    """int8[N, 26] -> float32[N, 6]: finished games exactly, the rest by `probabilities` (cumulative five)."""
    result = np.zeros((len(boards), 6), dtype=np.float32)
    going = (boards > 0).any(axis=1) & (boards < 0).any(axis=1)
    for i in np.flatnonzero(~going):
        result[i, ending(boards[i], 15)] = 1
    if going.any():
        five = np.array(probabilities(boards[going]), dtype=np.float64)
        # single precision makes a gammon a hair likelier than the win that contains it
        six = np.maximum(endings.from_cumulative(five), 0)
        _no_impossible_gammons(boards[going], six)
        result[going] = six / six.sum(axis=1, keepdims=True)
    return result


def _no_impossible_gammons(boards: Boards, six: NDArray[np.float64]) -> None:
    """Who has borne off a checker cannot lose a gammon, though Sage's networks now and then say so."""
    for first, borne_off in (
        (endings.WIN, np.minimum(boards, 0).sum(axis=1) > -15),
        (endings.LOSE, np.maximum(boards, 0).sum(axis=1) < 15),
    ):
        six[borne_off, first] += six[borne_off, first + 1 : first + 3].sum(axis=1)
        six[borne_off, first + 1 : first + 3] = 0


def side_rows(boards: Boards) -> list[list[list[int]]]:
    """int8[N, 26] -> N times [opponent's 25, own 25] checkers on each side's own points 1..24 and bar."""
    own = np.maximum(boards[:, 1:], 0)
    opponent = np.maximum(-boards[:, 24::-1], 0)
    rows: list[list[list[int]]] = np.stack([opponent, own], axis=1).tolist()
    return rows


def _boards_of_keys(keys: list[str]) -> Boards:
    """N position keys of gnubg-nn (20 letters A..P) -> int8[N, 26] in the view of the player on roll.

    A key is the Position ID's 80 bits, four a letter: for each side's points 1..24 and bar, the opponent
    first, as many ones as there are checkers and a zero.
    """
    letters = np.frombuffer("".join(keys).encode(), dtype=np.uint8).reshape(len(keys), 10, 2)
    nibbles = letters - np.uint8(ord("A"))
    octets = (nibbles[:, :, 0] << np.uint8(4)) | nibbles[:, :, 1]
    bits = np.unpackbits(octets, axis=1, bitorder="little")
    zeros = np.argsort(bits, axis=1, kind="stable")[:, :50]
    counts = np.diff(zeros, axis=1, prepend=-1) - 1
    boards = np.zeros((len(keys), 26), dtype=np.int8)
    boards[:, 1:] = counts[:, 25:]
    boards[:, :25] -= counts[:, 24::-1].astype(np.int8)
    return boards


def apply_play(board: list[int], play: list[int]) -> None:
    """Play on `board` (26 counts, mover's view). play: from, to, from, ...: our numbers less 1, off < 0."""
    for start, end in zip(play[::2], play[1::2], strict=True):
        board[start + 1] -= 1
        if end >= 0:
            if board[end + 1] < 0:
                board[end + 1] = 0
                board[0] -= 1
            board[end + 1] += 1


def _sage_rows(boards: Boards) -> list[list[int]]:
    """int8[N, 26] -> N lists of 26: Sage counts the opponent's checkers on the bar as positive."""
    boards = boards.copy()
    boards[:, 0] *= -1
    rows: list[list[int]] = boards.tolist()
    return rows


def _from_sage_moves(moves: list[dict[str, Any]]) -> Boards:
    """Sage's moves -> their results int8[N, 26], turned to the next player's view."""
    boards = np.array([move["board"] for move in moves], dtype=np.int8).reshape(-1, 26)
    boards[:, 0] *= -1
    return np.ascontiguousarray(-boards[:, ::-1])


def _cubeless_equity(move: dict[str, Any]) -> float:
    return float(move["cubeless_equity"])


def _chance_to_win(move: dict[str, Any]) -> float:
    return float(move["probs"][0])
