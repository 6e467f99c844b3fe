"""Exact endgame tables: one side bearing off alone, and two sides racing with at most six checkers each.

One-sided: all 54,264 positions of up to 15 checkers on points 1..6. The distribution of the number of rolls to bear
all of them off is exact for the play that minimises the mean number of rolls; the distribution of the number of rolls
until the first of them is off, for the play that minimises the mean of that. Of equally good plays one is chosen by a
fixed order; that changes nothing: they have equal distributions too (checked for all positions of up to 12 checkers).

Two-sided: all 924 x 924 pairs of positions of up to 6 checkers. Equities under best play, exact: money play with
the cube at 1, no gammons (both sides have borne off a checker), no beavers, no cube limit; the Jacoby rule changes
nothing.

Races of two home boards outside the two-sided table (`race_win`, `race_outcome`) come from two one-sided
distributions. That is exact for two players who ignore each other. Against best play it is an approximation: who is
behind should at times play for a large roll and who is ahead for safety, and who saves a gammon first and then races
gives up a little of one for the other. Where the two-sided table knows, the chance to win is off by 0.0009 on average
and by 0.014 at most.

The tables are built on first need (seconds) into tables/ of the cache folder, see engine.tablefile, and then
memory-mapped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.bearoff_build import CUBELESS, build_one_sided, build_two_sided
from engine.board import ending
from engine.errors import BoardError
from engine.homeboard import POINTS, extent, home_index, home_indices
from engine.jit import kernel, sources_digest
from engine.moves import check_boards
from engine.outcomes import LOSE, WIN
from engine.position import Position
from engine.tablefile import Arrays, Report, load_or_build, table_path

__all__ = [
    "ONE_SIDED_MOST", "PIPS_PER_ROLL", "TWO_SIDED_MOST", "Endgames", "OneSided", "TwoSided", "chance_first", "endgames",
    "known_outcomes", "one_sided", "race_outcome", "race_win", "two_sided",
]  # fmt: skip

ONE_SIDED_MOST = 15
TWO_SIDED_MOST = 6
"""Checkers a side that the tables go up to."""
PIPS_PER_ROLL = 49 / 6
"""The mean of the 36 rolls, doubles counted twice: 8 1/6 pips."""

# Of both tables: the sources that settle what is in them. A number raised by hand is forgotten once, and then a table
# that an older version left in the cache folder is read as if it were right.
_VERSION = sources_digest(*(Path(__file__).with_name(f"{name}.py") for name in ("bearoff_build", "dice", "homeboard")))

T = TypeVar("T")
Points = Iterable[int]
Boards = NDArray[np.int8]


class OneSided:
    """How many rolls one side needs alone. points6: its checkers on points 1 to 6, at most 15 in all.

    Every method raises BoardError for anything else than 6 whole numbers >= 0 that sum to at most 15.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.means: NDArray[Any] = arrays["means"]
        self.starts: NDArray[Any] = arrays["starts"]
        self.chances: NDArray[Any] = arrays["chances"]
        self.first_starts: NDArray[Any] = arrays["first_starts"]
        self.first_chances: NDArray[Any] = arrays["first_chances"]

    def distribution(self, points6: Points) -> NDArray[np.float64]:
        """float64[K]: [k] is the chance to be off in exactly k rolls; [1.] for the empty board. Read-only."""
        i = self.index(points6)
        return self.chances[self.starts[i] : self.starts[i + 1]]

    def first_off(self, points6: Points) -> NDArray[np.float64]:
        """float64[K]: [k] is the chance that the first of these checkers is off after exactly k rolls. Read-only.

        With all 15 checkers this is how fast a gammon is saved.
        """
        i = self.index(points6)
        return self.first_chances[self.first_starts[i] : self.first_starts[i + 1]]

    def mean_rolls(self, points6: Points) -> float:
        """The mean number of rolls to bear off all."""
        return float(self.means[self.index(points6)])

    def epc(self, points6: Points) -> float:
        """The effective pip count: mean rolls times 8 1/6 pips."""
        return self.mean_rolls(points6) * PIPS_PER_ROLL

    def index(self, points6: Points) -> int:
        """The position's number in the arrays: engine.homeboard.home_index(points6, 15)."""
        return int(home_index(_home_points(points6), ONE_SIDED_MOST))


class TwoSided:
    """Races with all checkers home and at most six a side. Boards are in the view of the player on roll."""

    def __init__(self, arrays: Arrays) -> None:
        self.table: NDArray[Any] = arrays["equities"]
        """float64[924, 924, 4], indexed by engine.homeboard.home_indices(board, 6), own number first."""

    def knows(self, board: Boards) -> bool:
        """Whether the table has a board int8[26]; a finished game with at most six checkers left is known too.

        Raises ArrayError or BoardError for what is no board.
        """
        return bool(self.lookup(_one_board(board))[1][0])

    def equities(self, board: Boards) -> NDArray[np.float64]:
        """float64[4] for a board int8[26]: cubeless, with own cube, centred cube, opponent's cube.

        Before the roll, the player on roll not doubling now, per unit of the cube. A finished game is worth 1 or -1.
        Raises ArrayError or BoardError for what is no board, BoardError for one that the table does not have.
        """
        one = _one_board(board)
        equities, known = self.lookup(one)
        if not known[0]:
            raise BoardError(
                "the two-sided table has positions with all checkers of both sides home and at most "
                f"{TWO_SIDED_MOST} a side, not {one[0].tolist()}"
            )
        one_row: NDArray[np.float64] = equities[0]
        return one_row

    def lookup(self, boards: Boards) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Many boards int8[N, 26] -> float64[N, 4], nan where the table does not know; bool[N], where it does.

        Raises ArrayError or BoardError naming the first bad row.
        """
        boards = check_boards(boards)
        equities = np.full((len(boards), 4), np.nan, dtype=np.float64)
        known = np.empty(len(boards), dtype=np.bool_)
        _two_sided_rows(self.table, boards, equities, known)
        return equities, known


class Endgames(NamedTuple):
    """The arrays of both tables, for kernels."""

    starts: NDArray[np.int64]
    """int64[54265], where each one-sided distribution begins in `chances`."""
    chances: NDArray[np.float64]
    first_starts: NDArray[np.int64]
    """int64[54265], where each distribution of the first checker off begins in `first_chances`."""
    first_chances: NDArray[np.float64]
    equities: NDArray[np.float64]
    """float64[924, 924, 4], see TwoSided."""


_loaded: dict[Path, Any] = {}
_lock = threading.Lock()


def one_sided(folder: str | PathLike[str] | None = None, progress: Report | None = None) -> OneSided:
    """The one-sided table, built first if `folder` (by default tables/ of the cache folder) has none that is usable.

    progress(done, total) is called while building. A folder that cannot be written costs a TableWarning, not
    the table. Loaded once a process.
    """
    return _load(OneSided, "one-sided", build_one_sided, folder, progress)


def two_sided(folder: str | PathLike[str] | None = None, progress: Report | None = None) -> TwoSided:
    """The two-sided table; otherwise as `one_sided`."""
    return _load(TwoSided, "two-sided", build_two_sided, folder, progress)


def endgames(folder: str | PathLike[str] | None = None, progress: Report | None = None) -> Endgames:
    """The arrays of both tables; otherwise as `one_sided`. progress starts over with the second table."""
    one, two = one_sided(folder, progress), two_sided(folder, progress)
    return Endgames(one.starts, one.chances, one.first_starts, one.first_chances, two.table)


def _load(
    kind: Callable[[Arrays], T],
    name: str,
    build: Callable[[Report], Arrays],
    folder: str | PathLike[str] | None,
    progress: Report | None,
) -> T:
    path = table_path(name, folder).absolute()
    with _lock:
        if path not in _loaded:
            _loaded[path] = kind(load_or_build(path, _VERSION, build, progress))
        table: T = _loaded[path]
        return table


# Races of two home boards


def race_win(own6: Points, opponent6: Points, table: OneSided | None = None) -> float:
    """The chance of the player on roll to be off first, each side playing for the lowest mean number of rolls.

    own6, opponent6: checkers on each side's own points 1 to 6. Raises BoardError as OneSided does, and when both
    are empty.
    """
    return float(race_outcome(own6, opponent6, table=table)[:LOSE].sum())


def race_outcome(
    own6: Points, opponent6: Points, checkers: int = 15, table: OneSided | None = None
) -> NDArray[np.float64]:
    """float64[6], the chances of the six endings (engine.outcomes) for the player on roll; otherwise as `race_win`.

    A side can lose a gammon while all its `checkers` are on the board; then it is taken to play for its first checker
    off, and otherwise for the lowest mean. Nobody loses a backgammon from home.
    """
    own, opponent = _home_points(own6), _home_points(opponent6)
    if not own.any() and not opponent.any():
        raise BoardError("both sides have borne off all checkers: one of them has won before")
    table = table or one_sided()
    out = np.zeros(6, dtype=np.float64)
    _race(
        table.starts, table.chances, table.first_starts, table.first_chances,
        home_index(own, ONE_SIDED_MOST), home_index(opponent, ONE_SIDED_MOST),
        bool(own.sum() >= checkers), bool(opponent.sum() >= checkers), out,
    )  # fmt: skip
    return out


@kernel
def chance_first(a, a_start, a_end, b, b_start, b_end, b_begins):
    """a[a_start:a_end], b[b_start:b_end]: chances of two sides to need 0, 1, ... rolls, float64; whether b rolls first
    -> the chance that a is done before b.
    """
    unfinished = 1.0  # the chance that b is not done before a's k-th roll ends
    used = b_start
    total = 0.0
    for k in range(a_end - a_start):
        while used < b_end and used - b_start < k + (1 if b_begins else 0):
            unfinished -= b[used]
            used += 1
        total += a[a_start + k] * unfinished
    return total


@kernel
def _race(starts, chances, first_starts, first_chances, own, opponent, own_full, opponent_full, out):
    """The one-sided arrays, the numbers of both positions, whether each can lose a gammon -> out float[6]."""
    own_end = starts[own + 1]
    opponent_end = starts[opponent + 1]
    win = chance_first(chances, starts[own], own_end, chances, starts[opponent], opponent_end, False)
    win = min(max(win, 0.0), 1.0)
    win_gammon = 0.0
    lose_gammon = 0.0
    if opponent_full:
        first, last = first_starts[opponent], first_starts[opponent + 1]
        win_gammon = chance_first(chances, starts[own], own_end, first_chances, first, last, False)
    if own_full:
        first, last = first_starts[own], first_starts[own + 1]
        lose_gammon = chance_first(chances, starts[opponent], opponent_end, first_chances, first, last, True)
    win_gammon = min(max(win_gammon, 0.0), win)
    lose_gammon = min(max(lose_gammon, 0.0), 1.0 - win)
    out[:] = 0.0
    out[WIN] = win - win_gammon
    out[WIN + 1] = win_gammon
    out[LOSE] = 1.0 - win - lose_gammon
    out[LOSE + 1] = lose_gammon


@kernel
def known_outcomes(tables, boards, checkers, out, open_rows):
    """Endgames, boards int8[N, 26], checkers a side -> out float[N, 6] where the tables or the game's end settle it;
    the other rows' numbers in open_rows int64[N]; how many of these there are.
    """
    starts, chances, equities = tables.starts, tables.chances, tables.equities  # each use of the tuple costs, so once
    first_starts, first_chances = tables.first_starts, tables.first_chances
    count = 0
    for i in range(boards.shape[0]):
        board = boards[i]
        own_count, opponent_count, rear, other_rear = extent(board)
        if own_count == 0 or opponent_count == 0:
            out[i] = 0.0
            out[i, ending(board, checkers)] = 1.0
        elif max(rear, other_rear) > POINTS:
            open_rows[count] = i
            count += 1
        elif max(own_count, opponent_count) <= min(TWO_SIDED_MOST, checkers - 1):
            own, opponent = home_indices(board, TWO_SIDED_MOST)
            out[i] = 0.0
            out[i, WIN] = 0.5 + 0.5 * equities[own, opponent, CUBELESS]
            out[i, LOSE] = 0.5 - 0.5 * equities[own, opponent, CUBELESS]
        else:
            own, opponent = home_indices(board, ONE_SIDED_MOST)
            _race(
                starts, chances, first_starts, first_chances,
                own, opponent, own_count >= checkers, opponent_count >= checkers, out[i],
            )  # fmt: skip
    return count


@kernel
def _two_sided_rows(table, boards, out, known):
    """table float64[924, 924, 4], boards int8[N, 26] -> out float64[N, 4] where known bool[N]."""
    for i in range(boards.shape[0]):
        own, opponent = home_indices(boards[i], TWO_SIDED_MOST)
        known[i] = own >= 0 and opponent >= 0
        if known[i]:
            out[i] = table[own, opponent]


# Checking input


def _home_points(points6: Points) -> NDArray[np.int64]:
    try:
        counts = np.array(list(points6))
    except (TypeError, ValueError) as error:
        raise BoardError(f"{points6!r}: checkers on points 1 to 6 are needed, 6 whole numbers") from error
    if counts.shape != (POINTS,) or not np.issubdtype(counts.dtype, np.integer):
        raise BoardError(f"{points6!r}: checkers on points 1 to 6 are needed, 6 whole numbers")
    if counts.min() < 0 or counts.astype(object).sum() > ONE_SIDED_MOST:
        raise BoardError(f"{points6!r}: each point holds 0 checkers or more, and all together at most {ONE_SIDED_MOST}")
    return counts.astype(np.int64)


def _one_board(board: Boards) -> Boards:
    """int8[26] (a Position or 26 whole numbers will do) -> int8[1, 26], checked."""
    position = board if isinstance(board, Position) else Position(board)
    return check_boards(position.board[None])
