"""What `bgnet analyze-match` prints: a table for each game, and the totals of both players."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bgnet.cli.common import signed
from bgnet.match_analysis import DecisionKind, GameAnalysis, JudgedDecision, MatchAnalysis
from bgnet.match_analysis_luck import JudgedRoll
from bgnet.match_analysis_totals import Totals

__all__ = ["match_screen"]

_NAME = 16
_COLUMN = 24
_NOTHING = 0.0005  # shown as 0.000


def match_screen(found: MatchAnalysis, seconds: float, threshold: float, rolls: bool) -> str:
    """The whole answer, in ASCII apart from the players' names.

    threshold: decisions that lose less are left out. rolls: show the luck of all rolls, not only of the jokers.
    """
    record = found.record
    kind = f"{record.length}-point match" if record.length else "money" + ", Jacoby" * found.jacoby
    kind += ", beavers" * found.beavers
    table = "" if found.table is None else f", match equity table {found.table}"
    names = f"{record.players[0]} (O) against {record.players[1]} (X)"
    lines = [names, f"{kind}, judged by {found.bot}, {found.ply}-ply{table}"]
    shown = {game.number: _game(found, game, threshold, rolls) for game in found.games}
    shown |= {number: [f"Game {number}: not judged, {fault}"] for number, fault in record.broken_games.items()}
    for _, told in sorted(shown.items()):
        lines += ["", *told]
    lines += ["", *_totals(found)]
    lines.append(f"Our 2-ply is GNU Backgammon's, XG's 3-ply. Formulas: bgnet analyze-match --help   {seconds:.1f} s")
    return "\n".join(line.rstrip() for line in lines)


# ---- a game ---------------------------------------------------------------------------------------------------------


def _game(found: MatchAnalysis, game: GameAnalysis, threshold: float, rolls: bool) -> list[str]:
    names, start = found.record.players, game.record.start
    score = f"{names[0]} {start.score[0]}, {names[1]} {start.score[1]}"
    ended = game.record.result
    how = "not finished"
    if ended is not None:
        points = f"{ended.points} point{'s' * (ended.points != 1)}"
        how = f"{names[ended.winner]} wins {points} ({ended.kind}{', resigned' * ended.resigned})"
    lines = [f"Game {game.number}: {score}{', Crawford game' * start.crawford}; {how}"]
    shown = [decision for decision in game.decisions if decision.loss >= threshold]
    rows = list(_rows(found, shown, game.rolls if rolls else ()))
    if rows:
        cost = "MWC loss" if found.record.length else "points"
        head = f"  turn {'player':<{_NAME}} roll  {'what was done':<26} {'best':<26} {'equity':>7}"
        lines += [f"{head}    loss {cost:>8}" + "     luck" * rolls, *rows]
    hidden = len(game.decisions) - len(shown)
    if hidden:
        lines.append(f"  {hidden} other decisions lose less than {threshold:.3f} (--all shows them)")
    return lines


def _rows(found: MatchAnalysis, decisions: list[JudgedDecision], rolls: tuple[JudgedRoll, ...]) -> Iterator[str]:
    by_turn = {roll.turn: roll for roll in rolls}
    for decision in decisions:
        roll = by_turn.pop(decision.turn, None) if decision.kind is DecisionKind.PLAY else None
        yield _row(found, decision, roll)
    for roll in by_turn.values():  # rolled, and never played
        dice = "{}{}".format(*roll.state.dice or ())
        yield f"  {roll.turn:>4} {_name(found, roll.seat)} {dice}    {'not played':<70}{signed(roll.luck, 3):>18}"


def _row(found: MatchAnalysis, decision: JudgedDecision, roll: JudgedRoll | None) -> str:
    dice = "" if decision.state.dice is None else "{}{}".format(*decision.state.dice)
    best = decision.best if decision.loss >= _NOTHING or decision.kind is not DecisionKind.PLAY else ""
    stake = f"{100 * decision.stake_loss:.2f} %" if found.record.length else f"{decision.stake_loss:.3f}"
    loss = f"{signed(-decision.loss, 3)} {stake:>8}" if decision.loss >= _NOTHING else " " * 15
    luck = "" if roll is None else f" {signed(roll.luck, 3)} {roll.mark}"
    chosen = decision.chosen + ("" if decision.choices > 1 else " (forced)")
    return (
        f"  {decision.turn:>4} {_name(found, decision.seat)} {dice:<4}  {chosen:<26} {best:<26} "
        f"{signed(decision.equity, 3):>7}  {loss} {decision.mark:<2}{luck}"
    )


def _name(found: MatchAnalysis, seat: int) -> str:
    name = found.record.players[seat]
    return f"{name if len(name) <= _NAME else name[: _NAME - 1] + '~':<{_NAME}}"


# ---- the totals -----------------------------------------------------------------------------------------------------


def _totals(found: MatchAnalysis) -> list[str]:
    both = [found.totals(seat) for seat in (0, 1)]
    match = bool(found.record.length)

    def stake(value: float | None) -> str:
        if value is None:
            return "-"
        return f"{signed(100 * value, 2)} %" if match else signed(value, 3)

    def loss(equity: float, stakes: float) -> str:
        return f"{signed(-equity, 3)} ({stake(-stakes)})"

    def rate(value: float | None, count: int, what: str = "decisions") -> str:
        return "-" if value is None else f"{value:.1f} ({count} {what})"

    unit = "chance to win the match" if match else "points"
    rows: list[tuple[str, Callable[[Totals], str]]] = [
        ("plays, unforced", lambda t: f"{t.plays}, {t.unforced_plays}"),
        (f"  lost, equity ({'MWC' if match else unit})", lambda t: loss(t.checker_loss, t.checker_stake_loss)),
        ("  ER of plays", lambda t: rate(t.checker_error_rate, t.unforced_plays, "plays")),
        ("cube, close or actual", lambda t: f"{t.cube_decisions}, {t.counted_cube_decisions}"),
        *((f"  {words}", lambda t, kind=kind: _kind(t, kind)) for kind, words in _KINDS),
        (f"  lost, equity ({'MWC' if match else unit})", lambda t: loss(t.cube_loss, t.cube_stake_loss)),
        ("  ER of the cube", lambda t: rate(t.cube_error_rate, t.counted_cube_decisions)),
        ("errors ?!  ?  ??", lambda t: "  ".join(str(count) for count in t.marks.values())),
        ("ER (mEMG)", lambda t: rate(t.error_rate, t.counted)),
        ("  in words", lambda t: t.words),
        ("PR", lambda t: rate(t.performance_rating, t.counted_for_pr)),
        ("Snowie ER", lambda t: rate(t.snowie_error_rate, t.plays_of_both, "plays")),
        (f"luck, equity ({'MWC' if match else unit})", lambda t: f"{signed(t.luck, 3)} ({stake(t.stake_luck)})"),
        (f"result, {unit}", lambda t: stake(t.result)),
        ("luck-adjusted", lambda t: stake(t.luck_adjusted)),
    ]
    if any(total.resignation_loss >= _NOTHING for total in both):
        rows.insert(-3, ("lost by resignations", lambda t: signed(-t.resignation_loss, 3)))
    lines = [f"{'Totals':<32}" + "".join(f"{_name(found, seat):<{_COLUMN}}" for seat in (0, 1))]
    lines += [f"{words:<32}" + "".join(f"{value(total):<{_COLUMN}}" for total in both) for words, value in rows]
    return lines


_KINDS = (
    ("no_double", "rolled without a double"), ("double", "doubles"), ("take", "takes"), ("pass", "passes"),
    ("beaver", "beavers"),
)  # fmt: skip


def _kind(totals: Totals, kind: str) -> str:
    count = totals.kinds.get(kind, 0)
    return f"{count}" + (f" ({signed(-totals.losses[kind], 3)})" if count and totals.losses[kind] >= _NOTHING else "")
