"""Colours of drawn boards: told apart in normal, protan, deutan and tritan sight, on dark pages as on light ones.

The arrows are the blue and the orange of Okabe and Ito. Nothing is told by colour alone: arrows that are compared are
dashed, hits carry a `*`, the players' names stand beside their pips.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DARK", "LIGHT", "PRINT", "THEMES", "Palette", "dark_rules", "paint"]


@dataclass(frozen=True)
class Palette:
    """What a drawing is painted with, as #rrggbb."""

    field: str
    frame: str
    edge: str
    """Thin lines round points, trays and the field."""
    pale_point: str
    deep_point: str
    light: str
    """Checkers, dice and the cube of one player, and what stands on dark ones."""
    dark: str
    ring: str
    """Outlines of checkers, dice and the cube."""
    text: str
    best: str
    """The arrows of the first play."""
    compared: str
    """The arrows of the play that it is compared with."""


LIGHT = Palette(
    field="#F4EFE6", frame="#E6DCCA", edge="#BBAE96", pale_point="#D9CBB2", deep_point="#8FA3B0", light="#FFFFFF",
    dark="#1F2A37", ring="#1F2A37", text="#1F2A37", best="#0072B2", compared="#E69F00",
)  # fmt: skip
DARK = Palette(
    field="#22272E", frame="#2D333B", edge="#4B5561", pale_point="#3A434E", deep_point="#59636F", light="#F2F2F2",
    dark="#0B0D10", ring="#C9D1D9", text="#C9D1D9", best="#56B4E9", compared="#E69F00",
)  # fmt: skip
PRINT = Palette(
    field="#FFFFFF", frame="#FFFFFF", edge="#000000", pale_point="#FFFFFF", deep_point="#FFFFFF", light="#FFFFFF",
    dark="#000000", ring="#000000", text="#000000", best="#000000", compared="#000000",
)  # fmt: skip

THEMES = {"auto": LIGHT, "light": LIGHT, "dark": DARK, "print": PRINT}
"""By name. auto is light, and dark where the reader's system is dark; print is black and white, hatched."""

# Class of a shape -> the colours of its inside and of its outline.
_CLASSES: dict[str, tuple[str | None, str | None]] = {
    "frame": ("frame", None),
    "field": ("field", "edge"),
    "pale": ("pale_point", "edge"),
    "deep": ("deep_point", "edge"),
    "hatch": (None, "edge"),
    "light": ("light", "ring"),
    "dark": ("dark", "ring"),
    "on-light": ("dark", None),
    "on-dark": ("light", None),
    "words": ("text", None),
    "casing": (None, "field"),
    "best": (None, "best"),
    "best-head": ("best", "best"),
    "compared": (None, "compared"),
    "compared-head": ("compared", "compared"),
    "badge": ("field", "text"),
}


def paint(name: str, palette: Palette) -> str:
    """The attributes of a class of shapes: its name, and its colours for viewers that read no style sheets."""
    inside, outline = _CLASSES[name]
    fill = getattr(palette, inside) if inside else "none"
    stroke = f' stroke="{getattr(palette, outline)}"' if outline else ""
    return f'class="{name}" fill="{fill}"{stroke}'


def dark_rules(scope: str) -> str:
    """CSS that turns the drawings of class `scope` dark where the reader's system is dark."""
    rules = []
    for name, (inside, outline) in _CLASSES.items():
        parts = [f"fill:{getattr(DARK, inside)}"] if inside else []
        parts += [f"stroke:{getattr(DARK, outline)}"] if outline else []
        rules.append(f".{scope} .{name}{{{';'.join(parts)}}}")
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"
