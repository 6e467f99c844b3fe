"""The legal results according to gnubg_nn, GNU Backgammon's own move generator, in the oracle's notation.

A gnubg_nn board is a pair of 25-lists, one a side: first the opponent of the player on roll, then the player
on roll; slot k is that side's own (k + 1)-point, slot 24 its bar. `moves` answers with keys in that order.
"""

from __future__ import annotations

import gnubg_nn

from tests.oracle import Board, Dice


def results(board: Board, dice: Dice) -> set[Board]:
    """Every board the mover may leave, in the mover's view; {board} if he has to pass."""
    opponent = [max(0, -count) for count in reversed(board[:25])]
    own = [max(0, count) for count in board[1:]]
    keys = gnubg_nn.moves([opponent, own], dice[0], dice[1])
    return {_board(key) for key in keys} or {board}


def _board(key: str) -> Board:
    opponent, own = gnubg_nn.board_from_position_key(key)
    return tuple(mine - theirs for mine, theirs in zip((0, *own), (*reversed(opponent), 0), strict=True))
