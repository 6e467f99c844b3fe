"""Writing .mat files: one row for a turn of either player, the left one from column 6, the right one from column 34."""

from __future__ import annotations

from collections.abc import Iterator

from engine.actions import Action
from engine.plays import legal_plays
from engine.records import GameRecord, MatchRecord, RecordedAction, replayed
from engine.state import GameState

__all__ = ["written"]

_LEFT, _RIGHT = 5, 33  # where cells begin, counted from 0
_NAME = 32  # where the right player's name begins


def written(record: MatchRecord) -> str:
    """The text of the file, with a newline at its end."""
    lines = [f'; [{name} "{value}"]' for name, value in record.tags.items()]
    lines += [f"; {comment}" for comment in record.comments]
    lines += [""] * bool(lines) + [f" {record.length} point match", ""]
    for number, game in enumerate(record.games, 1):
        lines += [f" Game {number}", _score_line(record.players, game.score_before), *_rows(game)]
        if game.result is not None:
            points = f" Wins {game.points} point{'s' * (game.points != 1)}"
            lines.append(" " * (_RIGHT if game.winner else _LEFT) + points)
        lines.append("")
    return "\n".join(lines) + "\n"


def _score_line(players: tuple[str, str], score: tuple[int, int]) -> str:
    left = f" {players[0]} : {score[0]}"
    return f"{left:<{_NAME - 2}}  {players[1]} : {score[1]}"


def _rows(game: GameRecord) -> list[str]:
    rows: list[list[str]] = []
    taken = [True, True]  # whose cells in the last row have been used
    for seat, text in _cells(game):
        if taken[seat] or taken[1]:
            rows.append(["", ""])
            taken = [False, False]
        rows[-1][seat] = text
        taken[seat] = True
    lines = []
    for number, (left, right) in enumerate(rows, 1):
        # A long left cell still leaves one space, and a cube action to its right begins with another one.
        line = f"{f'{number:>3}) {left}':<{_RIGHT - 1}} {right}"
        # GNU Backgammon 1.07 reads the right cell of the row before once more when a row is short and has no colon.
        lines.append(line if left.startswith(" ") else line.rstrip())
    return lines


def _cells(game: GameRecord) -> Iterator[tuple[int, str]]:
    """(seat, text) of every action that has a cell; a resignation is told by the points that follow."""
    state = game.start
    for done in game.actions:
        before, after = replayed(state, done)
        match done.action:
            case Action.PLAY if done.dice is None:
                yield done.seat, ""
            case Action.PLAY | Action.ROLL:
                yield done.seat, _rolled(before, done)
            case Action.DOUBLE:
                yield done.seat, f" Doubles => {2 * before.cube}"
            case Action.BEAVER:
                yield done.seat, f" Beavers => {after.cube}"
            case Action.TAKE:
                yield done.seat, " Takes"
            case Action.DROP:
                yield done.seat, " Drops"
        state = after


def _rolled(state: GameState, done: RecordedAction) -> str:
    """A roll with its play. Where an empty cell would be read as a forced play, one that was not made is marked."""
    assert done.dice is not None
    roll = f"{done.dice[0]}{done.dice[1]}:"
    if done.play is not None:
        return f"{roll} {done.play.notation}" if done.play.moves else roll
    return roll if len(legal_plays(state.position, done.dice)) > 1 else f"{roll} ???"
