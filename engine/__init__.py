"""The game of backgammon: positions, legal plays, dice, rules. Knows nothing of networks or screens."""

from engine import bearoff, dice, outcomes, records, rules
from engine.actions import Action, GameResult, WinKind, new_game
from engine.drawing import Drawing, draw
from engine.errors import (
    ActionError,
    ArrayError,
    BoardError,
    DiceError,
    EngineError,
    IllegalPlayError,
    NotationError,
    RecordError,
    StateError,
)
from engine.moves import Afterstates, legal_afterstates
from engine.plays import Play, legal_plays, parse_play
from engine.position import START, Flaw, Position
from engine.rules import RuleSet
from engine.state import GameState, GameStatus, read_position

__all__ = [
    "START",
    "Action",
    "ActionError",
    "Afterstates",
    "ArrayError",
    "BoardError",
    "DiceError",
    "Drawing",
    "EngineError",
    "Flaw",
    "GameResult",
    "GameState",
    "GameStatus",
    "IllegalPlayError",
    "NotationError",
    "Play",
    "Position",
    "RecordError",
    "RuleSet",
    "StateError",
    "WinKind",
    "bearoff",
    "dice",
    "draw",
    "legal_afterstates",
    "legal_plays",
    "new_game",
    "outcomes",
    "parse_play",
    "read_position",
    "records",
    "rules",
]
