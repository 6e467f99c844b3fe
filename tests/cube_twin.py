"""A slow, obvious twin of the cubeful values: plain Python, recursion over scores, one position at a time.

Written from the formulas (Janowski 1993; live cash points through all faces of the cube), on cumulative chances
(win, win gammon, win backgammon, lose gammon, lose backgammon). It judges bgnet, so it must not import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Chances = Sequence[float]


def flip(p: Chances) -> tuple[float, ...]:
    w, wg, wb, lg, lb = p
    return 1 - w, lg, lb, wg, wb


def cubeless(p: Chances) -> float:
    w, wg, wb, lg, lb = p
    return 2 * w - 1 + wg + wb - lg - lb


def money(p: Chances, owner: int, x: float, jacoby: bool = False) -> float:
    """Equity per unit of the cube of the player on roll, who does not double now."""
    w, wg, wb, lg, lb = p
    dead = 2 * w - 1 if jacoby and owner == 0 else cubeless(p)
    if not 1e-7 <= w <= 1 - 1e-7:
        return dead
    win, loss = 1 + (wg + wb) / w, 1 + (lg + lb) / (1 - w)
    tp, cp = (loss - 0.5) / (win + loss + 0.5), (loss + 1) / (win + loss + 0.5)
    if owner == 1:
        corners = [(0.0, -loss), (cp, 1.0), (1.0, win)]
    elif owner == -1:
        corners = [(0.0, -loss), (tp, -1.0), (1.0, win)]
    elif jacoby:
        corners = [(0.0, -1.0), (tp, -1.0), (cp, 1.0), (1.0, 1.0)]
    else:
        corners = [(0.0, -loss), (tp, -1.0), (cp, 1.0), (1.0, win)]
    return (1 - x) * dead + x * between(corners, w)


def between(corners: list[tuple[float, float]], w: float) -> float:
    """Linear between the corners (w, value)."""
    for (w0, v0), (w1, v1) in zip(corners, corners[1:], strict=False):
        if w0 <= w <= w1 and w1 > w0:
            return v0 + (v1 - v0) * (w - w0) / (w1 - w0)
    raise AssertionError((corners, w))


@dataclass
class Match:
    """A score seen by the player on roll; pre and post are indexed by the points needed, less 1."""

    a: int
    b: int
    crawford: bool
    pre: Sequence[Sequence[float]]
    post: Sequence[float]

    def other(self) -> Match:
        return Match(self.b, self.a, self.crawford, self.pre, self.post)

    def after(self, points: int, wins: bool) -> float:
        a, b = (self.a - points, self.b) if wins else (self.a, self.b - points)
        if a <= 0:
            return 1.0
        if b <= 0:
            return 0.0
        if self.crawford or self.a == 1 or self.b == 1:
            return self.post[a - 1] if b == 1 else 1 - self.post[b - 1]
        return self.pre[a - 1][b - 1]

    def mean(self, p: Chances, cube: int, wins: bool) -> float:
        """The chance to win the match, over the kinds of win (or loss) with the cube as it stands."""
        w, wg, wb, lg, lb = p
        total, gammons, backgammons = (w, wg, wb) if wins else (1 - w, lg, lb)
        g, bg = ((gammons - backgammons) / total, backgammons / total) if total > 0 else (0.0, 0.0)
        kinds = ((1 - g - bg, 1), (g, 2), (bg, 3))
        return sum(share * self.after(cube * points, wins) for share, points in kinds)

    def dead(self, p: Chances, cube: int) -> float:
        return p[0] * self.mean(p, cube, True) + (1 - p[0]) * self.mean(p, cube, False)

    def cash(self, p: Chances, k: int) -> float:
        """The chance to win with which the player on roll just cashes by doubling from k."""
        passed = self.after(k, True)
        if self.a <= 2 * k or self.b <= 2 * k:
            stays = 4 * k if self.a <= 2 * k < self.b else 2 * k
            worst, best = self.mean(p, stays, False), self.mean(p, stays, True)
            return (worst - passed) / (worst - best)
        best = self.mean(p, 2 * k, True)
        theirs = self.other().cash(flip(p), 2 * k)
        return 1 - theirs * (passed - best) / (self.after(2 * k, False) - best)

    def value(self, p: Chances, k: int, owner: int, x: float) -> float:
        """The chance to win the match of the player on roll, who does not double now."""
        dead = self.dead(p, k)
        w = p[0]
        worthless = self.crawford or (self.a <= k and self.b <= k) or self.a == self.b == 2
        if worthless or not 1e-7 <= w <= 1 - 1e-7:
            return dead
        c, t = self.cash(p, k), 1 - self.other().cash(flip(p), k)
        low, high = (0.0, self.mean(p, k, False)), (1.0, self.mean(p, k, True))
        cashed, lost = (c, self.after(k, True)), (t, self.after(k, False))
        corners = {1: [low, cashed, high], 0: [low, lost, cashed, high], -1: [low, lost, high]}[owner]
        return (1 - x) * dead + x * between(corners, w)
