"""What stands above the first game of a .mat file: `; [Tag "value"]` lines, some of which name rules, and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from engine.errors import RecordError
from engine.state import GameState

__all__ = ["checked_comments", "checked_tags", "read_tag", "rule_tags", "rules_of_tags"]

_TAG = re.compile(r'\[\s*([^"\[\]]*[^"\[\]\s])\s+"([^"]*)"\s*\]')
# As eXtreme Gammon and GNU Backgammon write them. They know nothing of Stakes.
_VARIATIONS = {"backgammon": "Backgammon", "nackgammon": "NackGammon", "hypergammon": "HyperGammon (3)"}
_USUAL_LIMIT = 1024  # what programs write when nobody has asked for a limit
_USUAL_STAKES = (1, 2, 3)


def read_tag(comment: str) -> tuple[str, str] | None:
    """Name and value of a comment, without its semicolon, that is a tag."""
    match = _TAG.fullmatch(comment.strip())
    return None if match is None else (match.group(1), match.group(2).strip())


def rule_tags(start: GameState) -> dict[str, str]:
    """The tags that say in what the rules of a game differ from the usual ones."""
    tags = {}
    if start.jacoby:
        tags["Jacoby"] = "On"
    if start.beavers:
        tags["Beaver"] = "On"
    if start.max_cube is not None:
        tags["CubeLimit"] = str(start.max_cube)
    if start.variant != "backgammon":
        tags["Variation"] = _VARIATIONS[start.variant]
    if start.stakes != _USUAL_STAKES:
        tags["Stakes"] = " ".join(map(str, start.stakes))
    return tags


def rules_of_tags(tags: Mapping[str, str]) -> dict[str, object]:
    """Arguments of GameState that tags name, and "crawford" for whether that rule is in force.

    Raises RecordError for a value that cannot be read.
    """
    found: dict[str, object] = {}
    for name, key in (("Jacoby", "jacoby"), ("Beaver", "beavers"), ("Crawford", "crawford")):
        if name in tags:
            value = tags[name].lower()
            if value not in ("on", "off"):
                raise RecordError(f"tag {name}: On or Off, not {tags[name]!r}")
            found[key] = value == "on"
    if "CubeLimit" in tags:
        limit = tags["CubeLimit"]
        if not re.fullmatch("[0-9]{1,5}", limit) or bin(int(limit)).count("1") != 1:
            raise RecordError(f"tag CubeLimit: a power of two is needed, not {limit!r}")
        found["max_cube"] = None if int(limit) == _USUAL_LIMIT else int(limit)
    if "Variation" in tags:
        known = {text.lower(): variant for variant, text in _VARIATIONS.items()}
        known["hypergammon"] = "hypergammon"
        if tags["Variation"].lower() not in known:
            raise RecordError(f"tag Variation: {tags['Variation']!r} is not played here, only {', '.join(_VARIATIONS)}")
        found["variant"] = known[tags["Variation"].lower()]
    if "Stakes" in tags:
        words = tags["Stakes"].split()
        if not all(re.fullmatch("[0-9]{1,3}", word) for word in words):
            raise RecordError(f"tag Stakes: three numbers are needed, not {tags['Stakes']!r}")
        found["stakes"] = tuple(map(int, words))
    return found


def checked_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags; RecordError for one that would not be read back."""
    for name, value in tags.items():
        if not isinstance(value, str) or read_tag(f'[{name} "{value}"]') != (name, value) or not _one_line(name, value):
            raise RecordError(f"a tag is a name and a text in one line without quotes, not {name!r}: {value!r}")
    return dict(tags)


def checked_comments(comments: Iterable[str]) -> tuple[str, ...]:
    """The comments; RecordError for one that would not be read back."""
    for comment in comments:
        if not isinstance(comment, str) or not comment or comment != comment.strip() or not _one_line(comment):
            raise RecordError(f"a comment is one line of text, not {comment!r}")
        if read_tag(comment) is not None:
            raise RecordError(f"the comment {comment!r} would be read as a tag")
    return tuple(comments)


def _one_line(*texts: str) -> bool:
    return all(text.isprintable() for text in texts)
