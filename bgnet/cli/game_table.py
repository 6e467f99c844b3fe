"""A session at the terminal: what is asked, shown and typed, line by line. Also through a pipe."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from bgnet.cli.common import print_text, signed
from bgnet.cli.game_hints import Judge, cube_hint, play_hint
from bgnet.cli.game_input import Left, on_terminal, reader
from bgnet.netfile import atomic_write
from bgnet.session import Need, O, Session, SessionError, X, written
from engine import diagram
from engine.actions import LEVELS, Action, points_of
from engine.records import write_mat

__all__ = ["GameTable", "PlayError"]

_HINT_ROWS = 5
_HELP = """a play      8/5 6/5, bar/20, 13/7*/5, 6/off, 6/5(2): your own numbers, any order, the * may be left out
hint [N]    the best plays and what the others cost; N of them (5), or all; before a roll or for a double the cube
undo        back to your previous turn, again and again; the dice stay the same
board       draw the board
pips        pip counts
resign      give the game up, as a single game, a gammon or a backgammon; nothing happens before you say which
save [FILE] write all plays so far to a file: FILE.mat for other programs, any other name as text
quit        leave; a game that is not finished does not count
Plays are forced or impossible at times: these are made for you and announced. Enter alone does nothing."""
_HELP_CUBE = """roll, double             before your roll, when you may double
take, pass[, beaver]     the answers to a double; drop and fold are read as pass
"""
_HELP_TYPED = """dice 31     the roll at hand was typed wrong: take this one (undo takes back an earlier one)
"""
_COMMANDS = (
    "hint", "undo", "board", "pips", "resign", "save", "help", "quit",
    "roll", "double", "take", "pass", "beaver", "dice",
)  # fmt: skip
_SYNONYMS = {
    "?": "help", "q": "quit", "exit": "quit", "hints": "hint", "r": "roll", "d": "double", "redouble": "double",
    "drop": "pass", "fold": "pass",
}  # fmt: skip


class PlayError(ValueError):
    """An option or a command that cannot be used, or not now."""


class GameTable:
    """Where the two sit: asks, shows, and carries out what is typed."""

    def __init__(self, session: Session, bot: str, judge: Judge, games: int, unicode: bool) -> None:
        self.session, self.bot, self.judge, self.games, self.unicode = session, bot, judge, games, unicode
        self.log_file: Path | None = None
        self._own_files: set[Path] = set()
        self._ask = reader()

    # ---- the evening ------------------------------------------------------------------------------------------

    def sit(self) -> str | None:
        """Play all games, or the match -> None, or why they were left: "quit", "end of input" or "interrupted"."""
        left = None
        session = self.session
        dice = "you type all dice" if session.seed is None else f"dice of seed {session.seed}"
        print_text(f"{session.words}, {dice}; you are X, at the bottom; O is {self.bot}")
        print_text("type a play such as 8/5 6/5, or: hint, undo, board, pips, resign, save, help, quit")
        try:
            while True:
                self._play_game()
                if session.state.match_over or (not session.state.match_length and session.game >= self.games):
                    break
                session.next_game()
            self._offer_to_save()
        except Left as reason:
            left = str(reason)
        except KeyboardInterrupt:
            left = "interrupted"
        finally:
            self._update_log()
        self._say_goodbye(left)
        return left

    def _play_game(self) -> None:
        session = self.session
        print_text(f"\n{self._count()}: {self._score()}{self._crawford()}")
        while session.result is None:
            self._go_on()
        result = session.result
        if not result.resigned and session.state.position.ending(session.state.checkers) is not None:
            print_text("\n" + self._drawing())
        print_text(str(result))
        print_text(f"score after game {session.game}: {self._score()}")
        if session.state.match_over:
            who = "you win" if session.score[X] > session.score[O] else "O wins"
            print_text(f"{who} the match, {max(session.score)}-{min(session.score)}")

    def _go_on(self) -> None:
        """One thing that is to be done; or a command that changes the game: then one looks again."""
        session = self.session
        need, bots = session.need, session.state.decider == O and not session.is_opening
        if need is Need.PLAY and bots:
            print(f"O rolled {written(session.state.dice)}: ", end="", flush=True)  # a deep bot takes its time
            print_text(f"{_notation(session.bot_turn().argument)} (O's own numbers)")
        elif need is Need.PLAY:
            self._own_turn()
        elif need is Need.ANSWER and bots:
            answer = session.bot_answers().action
            cube = f", the cube is at {session.state.cube}" if answer is not Action.DROP else ""
            print_text(f"O {_DONE[answer]}{cube}")
        elif need is Need.ANSWER:
            self._own_answer()
        elif need is Need.CUBE and bots and session.bot_doubles():
            print_text("\n" + self._drawing())
        elif need is Need.CUBE and not bots and session.seed is not None:
            self._roll_or_double()
        else:
            self._roll()

    def _roll(self) -> None:
        """Get the dice of the player on roll."""
        session = self.session
        opening = session.is_opening
        if session.seed is not None:
            self._announce(session.roll(), opening)
            return
        if opening:
            prompt = "opening dice, yours first (31: you start, 13: O starts) > "
        elif session.state.on_roll == O:
            prompt = "O's dice > "
        else:
            prompt = "your dice, or double > " if session.need is Need.CUBE else "your dice > "

        def take(text: str) -> None:
            self._announce(session.roll(text), opening)

        self._until_taken(prompt, take)

    def _announce(self, fell: tuple[int, int], opening: bool) -> None:
        if opening:
            starts = "you start" if fell[0] > fell[1] else "O starts"
            print_text(f"opening roll: you {fell[0]}, O {fell[1]}: {starts}")

    def _roll_or_double(self) -> None:
        self._update_log()
        print_text("\n" + self._drawing())

        def take(text: str) -> None:
            raise PlayError("say roll or double first")

        self._until_taken("roll or double > ", take)

    def _own_answer(self) -> None:
        self._update_log()
        may_beaver = Action.BEAVER in self.session.state.legal_actions()
        answers = "take, beaver or pass" if may_beaver else "take or pass"

        def take(text: str) -> None:
            raise PlayError(f"say {answers}")

        doubled = 2 * self.session.state.cube
        self._until_taken(f"O doubles to {doubled}. Type {answers} (Enter alone does nothing) > ", take)

    def _own_turn(self) -> None:
        session = self.session
        self._update_log()
        print_text("\n" + self._drawing())
        rolled = written(session.state.dice)
        if len(session.plays) == 1:
            play = session.plays[0]
            session.play(play)
            print_text(f"you rolled {rolled}: {play.notation}" + " (the only legal play)" * bool(play.moves))
            return

        def take(text: str) -> None:
            notation = _notation(session.play(text).argument)
            if notation != text:
                print_text(f"you play {notation}")

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
        return None if word == "pass" and changed is None else bool(changed)

    def _do_hint(self, rest: str) -> None:
        session = self.session
        if session.need in (Need.CUBE, Need.ANSWER) and session.state.decider == X:
            print_text(cube_hint(session.state, self.judge))
            return
        if session.state.dice is None:
            raise PlayError("a hint is for a roll: the dice come first")
        if rest and rest.lower() != "all" and not (rest.isdecimal() and int(rest) > 0):
            raise PlayError(f"hint takes a number of rows or all, not {rest!r}")
        print_text(play_hint(session.state, self.judge, 10_000 if rest.lower() == "all" else int(rest or _HINT_ROWS)))

    def _do_undo(self, _: str) -> bool:
        self.session.undo()
        if self.session.is_opening:
            print_text("back to the start of the game")
        else:
            first = not any(step.action is Action.PLAY for step in self.session.steps)
            print_text(f"back to your {'first ' if first else 'previous '}turn, with the same dice")
        return True

    def _do_board(self, _: str) -> None:
        print_text(self._drawing())

    def _do_pips(self, _: str) -> None:
        own, opponent = self.session.seen_by_x.pips
        lead = "level" if own == opponent else f"you {'lead' if own < opponent else 'trail'} by {abs(own - opponent)}"
        print_text(f"pips: you {own}, O {opponent} ({lead})")

    def _do_resign(self, rest: str) -> bool:
        state = self.session.state
        if state.decider != X or state.doubled or self.session.is_opening:
            raise PlayError("one resigns when it is one's turn" if not state.doubled else "first answer: take or pass")
        level = self._level_to_resign(rest)
        if level is None:
            print_text("you play on")
            return False
        offer = self.session.resign(level)
        if not offer.accepted:
            scale = 1 if state.match_length else state.cube
            unit = "in equity" if state.match_length else "points"
            print_text(
                f"O does not accept: {self.judge.bot} expects it to win {signed(scale * offer.expected, 3)} {unit}, "
                f"and that is {signed(scale * offer.offered, 3)}"
            )
        return offer.accepted

    def _level_to_resign(self, answer: str) -> int | None:
        """The level that was said, or is asked for, by name or number; None when he plays on after all."""
        state = self.session.state
        names = {level: LEVELS[level - 1].value for level in state.can_lose}
        offers = ", ".join(f"{level} {name}" for level, name in names.items())
        costs = [points_of(state, level) for level in names]
        points = f"{', '.join(map(str, costs))} point{'s' * (costs != [1])}"
        prompt = f"resign as {offers} (costs {points}) or no > "
        meant = {text: level for level, name in names.items() for text in (name, str(level))}
        answer = answer.lower()
        while answer not in (*meant, "no", "n"):
            word = _SYNONYMS.get(answer, answer)
            if answer in (*LEVELS, "1", "2", "3"):
                print_text("  you have borne off a checker, so you can lose a single game only")
            elif word in ("quit", "help", "board", "pips"):
                self._command(word)
            elif answer:
                print_text(f"  {answer!r} is none of: {offers}, no")
            answer = self._ask(prompt).strip().lower()
        return meant.get(answer)

    def _do_save(self, rest: str) -> None:
        before = self.log_file
        if rest:
            self.keep_log(Path(rest).expanduser())
        elif before is None:
            raise PlayError("save where? For example: save game.txt")
        else:
            self._write_log()
        left = f"; {before} stays as it is now" if before not in (None, self.log_file) else ""
        print_text(f"saved {self.log_file}; it is kept up to date from now on{left}")

    def _do_help(self, _: str) -> None:
        print_text(_HELP_CUBE * self.session.with_cube + _HELP_TYPED * (self.session.seed is None) + _HELP)

    def _do_quit(self, _: str) -> NoReturn:
        raise Left("quit")

    def _do_roll(self, _: str) -> bool:
        session = self.session
        if session.seed is None:
            raise PlayError("you type the dice here, such as 31")
        if session.need is not Need.CUBE:
            rolled = session.state.dice is not None
            raise PlayError(
                f"you have rolled: {written(session.state.dice)}" if rolled else "first answer: take or pass"
            )
        session.roll()
        return True

    def _do_double(self, _: str) -> bool:
        session = self.session
        if session.state.on_roll != X:
            raise PlayError("one doubles when it is one's turn")
        session.act(Action.DOUBLE)
        print_text(f"you double to {2 * session.state.cube}")
        return True

    def _do_take(self, _: str) -> bool:
        return self._answered(Action.TAKE)

    def _do_pass(self, _: str) -> bool | None:
        if self.session.need is not Need.ANSWER:
            return None  # a play: nothing can be moved
        return self._answered(Action.DROP)

    def _do_beaver(self, _: str) -> bool:
        return self._answered(Action.BEAVER)

    def _answered(self, action: Action) -> bool:
        self.session.act(action)
        return True

    def _do_dice(self, rest: str) -> bool:
        if self.session.state.dice is None:
            raise PlayError("just type the roll, such as 31")
        opening = self.session.correct_dice(rest)
        if opening is not None:
            self._announce(opening, True)
        return True

    # ---- showing ----------------------------------------------------------------------------------------------

    def _drawing(self) -> str:
        session, state = self.session, self.session.state
        who = "X" if state.on_roll == X else "O"
        cube = ""
        if session.with_cube:
            owner = "centred" if state.owner is None else f"owned by {'OX'[state.owner]}"
            cube = f"cube {state.cube} {owner}"
        if session.result is not None:
            action = "game over"
        elif session.is_opening:
            action = "opening roll"
        elif state.doubled:
            action = f"{who} doubles to {2 * state.cube}"
        else:
            action = f"{who} to play {written(state.dice)}" if state.dice else f"{who} to roll"
        return diagram.text(session.seen_by_x, self.unicode, middle=cube, last=action, checkers=state.checkers)

    def _score(self) -> str:
        return f"you (X) {self.session.score[X]}, {self.bot} (O) {self.session.score[O]}"

    def _count(self) -> str:
        session = self.session
        if session.state.match_length:
            return f"game {session.game} of a {session.state.match_length}-point match"
        return f"game {session.game} of {self.games}" if self.games > 1 else "game"

    def _crawford(self) -> str:
        state = self.session.state
        if state.crawford and state.match_length > 1:
            return ", Crawford game: nobody may double"
        return ", post-Crawford" if state.away and min(state.away) == 1 < max(state.away) else ""

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
            "match_length": session.state.match_length,
            "cube": session.with_cube,
            "jacoby": session.state.jacoby,
            "beavers": session.state.beavers,
            "games": [
                {
                    "game": game.number,
                    "winner": "you" if game.result.winner == X else "bot",
                    "ending": game.result.kind.value,
                    "points": game.result.points,
                    "cube": game.end.cube,
                    "turns": game.turns,
                    "resigned": game.result.resigned,
                }
                for game in session.finished
                if game.result is not None
            ],
            "games_asked": self.games,
            "match_winner": ("bot", "you")[session.score[X] > session.score[O]] if session.state.match_over else None,
            "score": {"you": session.score[X], "bot": session.score[O]},
            "left": left,
            "log": None if self.log_file is None else str(self.log_file),
        }

    # ---- records ----------------------------------------------------------------------------------------------

    def keep_log(self, path: Path, *, again: bool = False) -> None:
        """Write all games there from now on, as .mat or as text; PlayError for a file that exists or cannot be
        written, or a .mat file of games that it cannot hold. again: it may exist, with the games so far; so may the
        earlier files of this session.
        """
        if path not in self._own_files and path.exists() and not again:
            raise PlayError(f"{path} exists already: name a new file for the log")
        before, self.log_file = self.log_file, path
        try:
            self._write_log()
        except SessionError as error:
            self.log_file = before
            raise PlayError(f"{error}: name a text file such as {path.with_suffix('.txt').name}") from error
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            self.log_file = before
            raise PlayError(f"the log cannot be written to {path}: {error}") from error
        self._own_files.add(path)

    def _offer_to_save(self) -> None:
        """At a terminal, when the games have not been saved: nothing is lost by Enter but the record."""
        if self.log_file is not None or self.session.from_position or not on_terminal():
            return
        while True:
            try:
                name = self._ask("save these games? a file name such as game.mat, or Enter for no > ").strip()
                if name:
                    self.keep_log(Path(name).expanduser())
            except Left:
                return
            except PlayError as error:
                print_text(f"  {error}")
            else:
                return

    def _update_log(self) -> None:
        """The file as the game now stands; a full disk must not end the game."""
        if self.log_file is not None:
            try:
                self._write_log()
            except (OSError, ValueError) as error:
                print(f"warning: {self.log_file} cannot be written: {error}", file=sys.stderr, flush=True)

    def _write_log(self) -> None:
        """A kill leaves the old or the new file, whole."""
        assert self.log_file is not None
        if self.log_file.suffix.lower() == ".mat":
            write_mat(self.session.record(self.bot.replace(":", " ")), self.log_file)
            return
        with atomic_write(self.log_file) as temporary:
            temporary.write_text(self.session.log(self.bot), encoding="utf-8")


_DONE = {Action.TAKE: "takes", Action.DROP: "passes", Action.BEAVER: "beavers"}


def _notation(play: object) -> str:
    return str(play)


def _did_you_mean(text: str) -> str:
    """For a line that looks like no play: the command that was meant, or where they are listed."""
    if any(character.isdigit() for character in text) or text.split()[0].lower() in (*_COMMANDS, *_SYNONYMS):
        return ""
    close = difflib.get_close_matches(text.lower(), _COMMANDS, n=1)
    return f"\n  did you mean {close[0]}?" if close else "\n  help lists the commands"
