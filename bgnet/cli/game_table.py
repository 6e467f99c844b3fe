"""A game at the terminal: what is asked, shown and typed, line by line. Also through a pipe."""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from bgnet.analysis import Analysis, JudgedPlay, analyze
from bgnet.cli.analyze import percents
from bgnet.cli.common import print_text, signed
from bgnet.netfile import atomic_write
from bgnet.search import NORMAL, MoveFilter
from bgnet.session import LEVELS, O, Session, X, written
from engine import diagram

__all__ = ["GameTable", "Judge", "PlayError"]

_HINT_ROWS = 5
_HELP = """a play      8/5 6/5, bar/20, 13/7*/5, 6/off, 6/5(2): your own numbers, any order, the * may be left out
hint [N]    the best plays and what the others cost; N of them (5), or all
undo        back to your previous turn, again and again; the dice stay the same
board       draw the board
pips        pip counts
resign      give the game up, as a single game, a gammon or a backgammon; nothing happens before you say which
save [FILE] write all plays so far to a text file
quit        leave; a game that is not finished does not count
Plays are forced or impossible at times: these are made for you and announced. Enter alone does nothing."""
_HELP_TYPED = """dice 31     the roll at hand was typed wrong: take this one (undo takes back an earlier one)
"""
_COMMANDS = ("hint", "undo", "board", "pips", "resign", "save", "help", "quit", "roll", "dice")
_SYNONYMS = {"?": "help", "q": "quit", "exit": "quit", "hints": "hint"}


class PlayError(ValueError):
    """An option or a command that cannot be used, or not now."""


class _Left(Exception):
    """The user has left; the reason as the JSON object has it."""


class Judge(NamedTuple):
    """Who gives hints, in the words of `bgnet.analyze`."""

    bot: str
    ply: int | None


class GameTable:
    """Where the two sit: asks, shows, and carries out what is typed."""

    def __init__(self, session: Session, bot: str, judge: Judge, games: int, unicode: bool) -> None:
        self.session, self.bot, self.judge, self.games, self.unicode = session, bot, judge, games, unicode
        self.log_file: Path | None = None
        self._ask = _reader()

    # ---- the evening ------------------------------------------------------------------------------------------

    def sit(self) -> str | None:
        """Play all games -> None, or why they were left: "quit", "end of input" or "interrupted"."""
        left = None
        dice = "you type all dice" if self.session.seed is None else f"dice of seed {self.session.seed}"
        print_text(f"cubeless money play, {dice}; you are X, at the bottom; O is {self.bot}")
        print_text("type a play such as 8/5 6/5, or: hint, undo, board, pips, resign, save, help, quit")
        try:
            while True:
                self._play_game()
                if self.session.game == self.games:
                    break
                self.session.begin()
        except _Left as reason:
            left = str(reason)
        except KeyboardInterrupt:
            left = "interrupted"
        finally:
            self._update_log()
        self._say_goodbye(left)
        return left

    def _play_game(self) -> None:
        session = self.session
        count = f"game {session.game} of {self.games}" if self.games > 1 else "game"
        print_text(f"\n{count}: {self._score()}")
        while session.result is None:
            if session.state.dice is None:
                self._roll()  # or a command that changes the game: look again
            elif session.state.on_roll == O:
                print(f"O rolled {written(session.state.dice)}: ", end="", flush=True)  # a deep bot takes its time
                print_text(f"{session.bot_turn().play.notation} (O's own numbers)")
            else:
                self._own_turn()
        if not session.result.resigned:
            print_text("\n" + self._drawing())
        print_text(session.result.text)
        print_text(f"score after game {session.game}: {self._score()}")

    def _roll(self) -> None:
        """Get the dice of the player on roll."""
        session = self.session
        opening = session.is_opening
        if session.seed is not None:
            self._announce(session.roll(), opening)
            return
        if opening:
            prompt = "opening dice, yours first (31: you start, 13: O starts) > "
        else:
            prompt = "O's dice > " if session.state.on_roll == O else "your dice > "

        def take(text: str) -> None:
            self._announce(session.roll(text), opening)

        self._until_taken(prompt, take)

    def _announce(self, fell: tuple[int, int], opening: bool) -> None:
        if opening:
            starts = "you start" if fell[0] > fell[1] else "O starts"
            print_text(f"opening roll: you {fell[0]}, O {fell[1]}: {starts}")

    def _own_turn(self) -> None:
        session = self.session
        self._update_log()
        print_text("\n" + self._drawing())
        rolled = written(session.state.dice)
        if len(session.plays) == 1:
            turn = session.play(session.plays[0])
            print_text(f"you rolled {rolled}: {turn.play.notation}" + " (the only legal play)" * bool(turn.play.moves))
            return

        def take(text: str) -> None:
            turn = session.play(text)
            if turn.play.notation != text:
                print_text(f"you play {turn.play.notation}")

        self._until_taken(f"you rolled {rolled} > ", take)

    def _until_taken(self, prompt: str, take: Callable[[str], object]) -> None:
        """Ask until `take` accepts a line or a command changes the game; refusals are shown with their reasons."""
        while True:
            text = self._ask(prompt).strip()
            if not text:
                continue
            try:
                changed = self._command(text)
                if changed is None:
                    take(text)
                    return
                if changed:
                    return
            except (ValueError, OSError) as error:
                print_text(f"  {error}{_did_you_mean(text)}")

    # ---- commands ---------------------------------------------------------------------------------------------

    def _command(self, text: str) -> bool | None:
        """Carry out a command -> whether it changed the game; None when the text is no command."""
        word, _, rest = text.partition(" ")
        word, rest = word.lower(), rest.strip()
        word = _SYNONYMS.get(word, word)
        if word not in _COMMANDS:
            return None
        if rest and word not in ("hint", "save", "resign", "dice"):
            raise PlayError(f"{word} stands alone, without {rest!r}")
        changed: bool | None = getattr(self, f"_do_{word}")(rest)
        return bool(changed)

    def _do_hint(self, rest: str) -> None:
        if self.session.state.dice is None:
            raise PlayError("a hint is for a roll: the dice come first")
        if rest and rest.lower() != "all" and not (rest.isdecimal() and int(rest) > 0):
            raise PlayError(f"hint takes a number of rows or all, not {rest!r}")
        rows = 10_000 if rest.lower() == "all" else int(rest or _HINT_ROWS)
        print_text(_hint_table(self._judged(MoveFilter(rows, 3, 0.16)), rows))

    def _do_undo(self, _: str) -> bool:
        self.session.undo()
        if self.session.is_opening:
            print_text("back to the start of the game")
        else:
            print_text(f"back to your {'previous ' if self.session.turns else 'first '}turn, with the same dice")
        return True

    def _do_board(self, _: str) -> None:
        print_text(self._drawing())

    def _do_pips(self, _: str) -> None:
        own, opponent = self.session.seen_by_x.pips
        lead = "level" if own == opponent else f"you {'lead' if own < opponent else 'trail'} by {abs(own - opponent)}"
        print_text(f"pips: you {own}, O {opponent} ({lead})")

    def _do_resign(self, rest: str) -> bool:
        allowed = [LEVELS[level - 1] for level in self.session.can_lose]
        stakes = self.session.rules.stakes
        prompt = (
            "resign as " + ", ".join(f"{name} ({stakes[LEVELS.index(name)]:.0f})" for name in allowed) + " or no > "
        )
        answer = rest.lower()
        while answer not in (*allowed, "no", "n"):
            if answer in LEVELS:
                print_text("  you have borne off a checker, so you can lose a single game only")
            elif answer:
                print_text(f"  {answer!r} is none of: {', '.join(allowed)}, no")
            answer = self._ask(prompt).strip().lower()
        if answer not in allowed:
            print_text("you play on")
            return False
        level = LEVELS.index(answer) + 1
        judged = self._judged()
        own = judged.equity if self.session.state.on_roll == X else -judged.equity
        # A network is off by some hundredths about endings that are all but impossible.
        if stakes[level - 1] < -own - 0.05:
            expected = f"{judged.bot} expects it to win {signed(-own, 3)} points ({judged.depth})"
            print_text(f"O does not accept: {expected}")
            return False
        self.session.resign(level)
        return True

    def _do_save(self, rest: str) -> None:
        if rest:
            self.keep_log(Path(rest).expanduser())
        elif self.log_file is None:
            raise PlayError("save where? For example: save game.txt")
        else:
            self._write_log()
        print_text(f"saved {self.log_file}; it is kept up to date from now on")

    def _do_help(self, _: str) -> None:
        print_text((_HELP_TYPED if self.session.seed is None else "") + _HELP)

    def _do_quit(self, _: str) -> NoReturn:
        raise _Left("quit")

    def _do_roll(self, _: str) -> None:
        if self.session.seed is None:
            raise PlayError("you type the dice here, such as 31")
        raise PlayError(f"you have rolled: {written(self.session.state.dice)}")

    def _do_dice(self, rest: str) -> bool:
        if self.session.state.dice is None:
            raise PlayError("just type the roll, such as 31")
        opening = self.session.correct_dice(rest)
        if opening is not None:
            self._announce(opening, True)
        return True

    # ---- showing ----------------------------------------------------------------------------------------------

    def _judged(self, move_filter: MoveFilter = NORMAL[0]) -> Analysis:
        """What the judge says of the position; move_filter: which plays it looks at as deep as it can."""
        return analyze(self.session.state, bot=self.judge.bot, ply=self.judge.ply, filters=[move_filter])

    def _drawing(self) -> str:
        session, state = self.session, self.session.state
        who = "X" if state.on_roll == X else "O"
        if session.result is not None:
            action = "game over"
        elif session.is_opening:
            action = "opening roll"
        else:
            action = f"{who} to play {written(state.dice)}" if state.dice else f"{who} to roll"
        return diagram.text(session.seen_by_x, self.unicode, last=action, checkers=session.rules.checkers)

    def _score(self) -> str:
        return f"you (X) {self.session.score[X]}, {self.bot} (O) {self.session.score[O]}"

    def _say_goodbye(self, left: str | None) -> None:
        session = self.session
        if left is not None:
            unfinished = f"game {session.game} is not finished and does not count" if session.result is None else ""
            words = {"quit": "left", "end of input": "end of input", "interrupted": "\nstopped"}[left]
            message = ": ".join(filter(None, [words, unfinished]))
            print(message, file=sys.stderr if left == "interrupted" else sys.stdout, flush=True)
            print_text(f"score: {self._score()}")
        if self.log_file is not None:
            print_text(f"log    {self.log_file}")

    def summary(self, left: str | None) -> dict[str, Any]:
        """The JSON object."""
        session = self.session
        return {
            "schema": "bgnet.play/1",
            "bot": self.bot,
            "dice": "typed" if session.seed is None else "seed",
            "seed": session.seed,
            "games": [
                {
                    "game": result.game,
                    "winner": "you" if result.winner == X else "bot",
                    "ending": LEVELS[result.level - 1],
                    "points": result.points,
                    "turns": result.turns,
                    "resigned": result.resigned,
                }
                for result in session.results
            ],
            "games_asked": self.games,
            "score": {"you": session.score[X], "bot": session.score[O]},
            "left": left,
            "log": None if self.log_file is None else str(self.log_file),
        }

    # ---- the log ----------------------------------------------------------------------------------------------

    def keep_log(self, path: Path) -> None:
        """Write the log there from now on; PlayError for a file that exists or cannot be written."""
        if path != self.log_file and path.exists():
            raise PlayError(f"{path} exists already: name a new file for the log")
        before, self.log_file = self.log_file, path
        try:
            self._write_log()
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            self.log_file = before
            raise PlayError(f"the log cannot be written to {path}: {error}") from error

    def _update_log(self) -> None:
        """The file as the game now stands; a full disk must not end the game."""
        if self.log_file is not None:
            try:
                self._write_log()
            except OSError as error:
                print(f"warning: {self.log_file} cannot be written: {error}", file=sys.stderr, flush=True)

    def _write_log(self) -> None:
        assert self.log_file is not None
        with atomic_write(self.log_file) as temporary:  # a kill leaves the old or the new log, whole
            temporary.write_text(self.session.log(self.bot), encoding="utf-8")


def _did_you_mean(text: str) -> str:
    """For a line that looks like no play: the command that was meant, or where they are listed."""
    if any(character.isdigit() for character in text) or text.split()[0].lower() in (*_COMMANDS, *_SYNONYMS):
        return ""
    close = difflib.get_close_matches(text.lower(), _COMMANDS, n=1)
    return f"\n  did you mean {close[0]}?" if close else "\n  help lists the commands"


def _hint_table(found: Analysis, rows: int) -> str:
    """The best plays of the deepest search, and the best of those that were judged less deep."""
    deepest = [play for play in found.plays if play.depth in (found.plays[0].depth, "exact")]
    lines = [
        f"hint by {found.bot}, cubeless equity, points",
        "     play                  equity    loss     win     G    B   lose     G    B   depth",
        *(_hint_row(play) for play in deepest[:rows]),
    ]
    if len(deepest) > rows:
        lines.append(f" -- {len(deepest) - rows} more (hint all) --")
    rest = [play for play in found.plays if play not in deepest]
    for depth in dict.fromkeys(play.depth for play in rest):
        same = [play for play in rest if play.depth == depth]
        more = "; the best:" if len(same) > 1 else ""
        lines.append(f" -- {len(same)} judged at {depth} only, not ranked with the rows above{more} --")
        lines.append(_hint_row(same[0], ranked=False))
    return "\n".join(lines)


def _hint_row(play: JudgedPlay, ranked: bool = True) -> str:
    number = f"{play.rank:>3}" if ranked else "   "
    loss = f"({signed(-play.loss, 3)})" if ranked and play.loss > 0.0005 else ""
    return f"{number}  {play.play:<21} {signed(play.equity, 3)}  {loss:<8} {percents(play.outcomes)}   {play.depth}"


def _reader() -> Callable[[str], str]:
    """What asks for a line: with editing on a terminal; else plain, and what comes from a pipe is echoed.

    The function returned raises _Left at the end of the input.
    """
    if sys.stdin is None:  # closed by the caller

        def nothing(prompt: str) -> str:
            raise _Left("end of input")

        return nothing
    with contextlib.suppress(AttributeError, ValueError, OSError):
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]  # bytes of another encoding: no play
    on_terminal = sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()
    if on_terminal:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  # gives input() its editing

    def ask(prompt: str) -> str:
        try:
            if on_terminal:
                return input(prompt)
            print(prompt, end="", flush=True)
            line = sys.stdin.readline()
        except EOFError:
            line = ""
        if not line:
            print(flush=True)
            raise _Left("end of input")
        if not sys.stdin.isatty():
            print_text(line.rstrip("\r\n"))
        return line

    return ask
