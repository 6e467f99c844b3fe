"""The game of backgammon: positions, legal plays, dice, rules. Knows nothing of networks or screens."""

from engine import bearoff, dice, outcomes, rules
from engine.errors import ArrayError, BoardError, DiceError, EngineError, IllegalPlayError, NotationError, StateError
from engine.moves import Afterstates, legal_afterstates
from engine.plays import Play, legal_plays, parse_play
from engine.position import START, Flaw, Position
from engine.rules import RuleSet
from engine.state import GameState, read_position

__all__ = [
    "START",
    "Afterstates",
    "ArrayError",
    "BoardError",
    "DiceError",
    "EngineError",
    "Flaw",
    "GameState",
    "IllegalPlayError",
    "NotationError",
    "Play",
    "Position",
    "RuleSet",
    "StateError",
    "bearoff",
    "dice",
    "legal_afterstates",
    "legal_plays",
    "outcomes",
    "parse_play",
    "read_position",
    "rules",
]
