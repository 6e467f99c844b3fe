"""What stands above the first game of a .mat file: `; [Tag "value"]` lines, some of which name rules, and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from engine.errors import RecordError
from engine.state import GameState

__all__ = ["check_rule_tags", "checked_comments", "checked_tags", "read_tag", "rule_tags", "rules_of_tags"]

_TAG = re.compile(r'\[\s*([^"\[\]]*[^"\[\]\s])\s+"([^"]*)"\s*\]')
# As eXtreme Gammon and GNU Backgammon write them. They know nothing of Stakes.
_VARIATIONS = {"backgammon": "Backgammon", "nackgammon": "NackGammon", "hypergammon": "HyperGammon (3)"}
_USUAL_LIMIT = 1024  # what programs write when nobody has asked for a limit
_USUAL_STAKES = (1, 2, 3)
_SWITCH = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


def read_tag(comment: str) -> tuple[str, str] | None:
    """Name and value of a comment, without its semicolon, that is a tag."""
    match = _TAG.fullmatch(comment.strip())
    return None if match is None else (match.group(1), match.group(2).strip())


def rule_tags(start: GameState) -> dict[str, str]:
    """The tags that say in what the rules of a game differ from the usual ones.

    A game after the Crawford game says that there is none: from its score on that is the same.
    """
    tags = {}
    if not start.crawford and [start.match_length - 1 == points for points in start.score].count(True) == 1:
        tags["Crawford"] = "Off"
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


def check_rule_tags(tags: Mapping[str, str], starts: Iterable[GameState]) -> None:
    """RecordError for tags that name other rules than games have, given their starts; a limit of 1024 means none."""
    for start in starts:
        for key, value in rules_of_tags(tags, {}, match=bool(start.match_length)).items():
            kept = getattr(start, key)
            if key == "max_cube" and kept == _USUAL_LIMIT:
                kept = None
            if value != kept and not (key == "crawford" and value):  # not every game is the Crawford game
                raise RecordError(f"a tag says that {key} is {value}, but in a game it is {kept}")


def rules_of_tags(tags: Mapping[str, str], lines: Mapping[str, int], *, match: bool) -> dict[str, object]:
    """Arguments of GameState that tags name, and "crawford" for whether that rule is in force.

    lines: where they stand, if that is known. match: these are rules of a match, where the tags of money play mean
    nothing. Raises RecordError for a value that cannot be read.
    """

    def refused(name: str, reason: str) -> RecordError:
        return RecordError(f"tag {name}: {reason}", lines.get(name))

    found: dict[str, object] = {}
    switches = [("Crawford", "crawford")] if match else [("Jacoby", "jacoby"), ("Beaver", "beavers")]
    for name, key in switches:
        if name in tags:
            value = _SWITCH.get(tags[name].lower())
            if value is None:
                raise refused(name, f"On or Off, not {tags[name]!r}")
            found[key] = value
    if "CubeLimit" in tags:
        limit = tags["CubeLimit"]
        if not re.fullmatch("[0-9]{1,5}", limit) or bin(int(limit)).count("1") != 1:
            raise refused("CubeLimit", f"a power of two is needed, not {limit!r}")
        found["max_cube"] = None if int(limit) == _USUAL_LIMIT else int(limit)
    if "Variation" in tags:
        known = {text.lower(): variant for variant, text in _VARIATIONS.items()}
        known["hypergammon"] = "hypergammon"
        if tags["Variation"].lower() not in known:
            raise refused("Variation", f"{tags['Variation']!r} is not played here, only {', '.join(_VARIATIONS)}")
        found["variant"] = known[tags["Variation"].lower()]
    if "Stakes" in tags:
        words = tags["Stakes"].split()
        if not all(re.fullmatch("[0-9]{1,3}", word) for word in words):
            raise refused("Stakes", f"three numbers are needed, not {tags['Stakes']!r}")
        found["stakes"] = tuple(map(int, words))
    return found


def checked_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags; RecordError for one that would not be read back."""
    for name, value in tags.items():
        if not isinstance(value, str) or read_tag(f'[{name} "{value}"]') != (name, value) or not _one_line(name, value):
            raise RecordError(
                f"a tag is a name and a text in one line with single spaces and no quotes, not {name!r}: {value!r}"
            )
    return dict(tags)


def checked_comments(comments: Iterable[str]) -> tuple[str, ...]:
    """The comments; RecordError for one that would not be read back."""
    for comment in comments:
        if not isinstance(comment, str) or not comment or comment != comment.strip() or not _one_line(comment):
            raise RecordError(f"a comment is one line of text with single spaces, not {comment!r}")
        if read_tag(comment) is not None:
            raise RecordError(f"the comment {comment!r} would be read as a tag")
    return tuple(comments)


def _one_line(*texts: str) -> bool:
    return all(text.isprintable() and " ".join(text.split()) == text for text in texts)
