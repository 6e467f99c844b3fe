"""Errors that point: what is wrong with a text, the text itself, and a caret under the place."""

from __future__ import annotations

from engine.errors import NotationError

__all__ = ["pointed", "quoted", "stripped_text"]

_WIDTH = 100  # of a longer text, so much around the wrong place is shown


def stripped_text(what: str, text: object) -> str:
    """The text without surrounding white space; NotationError for anything that is no text, or is empty.

    what: its name with the article, as "an XGID".
    """
    if not isinstance(text, str):
        raise NotationError(f"{what} is text, not {type(text).__name__}: {text!r}")
    stripped = text.strip()
    if not stripped:
        raise NotationError(f"{what} is needed, not the empty text {text!r}")
    return stripped


def pointed(
    what: str, reason: str, text: str, start: int = 0, stop: int | None = None, note: str = ""
) -> NotationError:
    """A NotationError in three lines: `what: reason`, the text, and ^ under text[start:stop] with a note.

    stop: None = the end. Where nothing is left to point at, one caret stands where something is missing.
    Characters outside printable ASCII are shown escaped, so that the carets stand where they should.
    """
    stop = len(text) if stop is None else stop
    first = max(0, min(start - _WIDTH // 2, len(text) - _WIDTH))
    last = min(len(text), first + _WIDTH)
    pieces = [_shown(character) for character in text[first:last]]
    before, after = "..." if first > 0 else "", "..." if last < len(text) else ""
    indent = len(before) + sum(map(len, pieces[: start - first]))
    carets = sum(map(len, pieces[start - first : stop - first])) or 1
    lines = [
        f"{what}: {reason}",
        f"  {before}{''.join(pieces)}{after}",
        f"  {' ' * indent}{'^' * carets} {note}".rstrip(),
    ]
    return NotationError("\n".join(lines))


def quoted(part: str) -> str:
    """A part of a text in quotes, cut when it is long: the text itself is shown anyway."""
    return repr(part if len(part) <= 20 else part[:17] + "...")


def _shown(character: str) -> str:
    return character if " " <= character <= "~" else character.encode("unicode_escape").decode("ascii")
