"""Records of arena runs: what is in them, going on after any end to the very same result, and refusing all else."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import engine
from bgnet import arena_record
from bgnet.arena import ArenaResult, ArenaSettingsError, RecordError, Sprt, Until, play
from bgnet.arena_games import SCHEMA
from bgnet.arena_record import RecordWarning, free_path, open_record, read_record
from bgnet.netfile import NetInfo, save_net
from bgnet.players import RandomPlayer
from tests.bgnet.nets import random_net, random_weights
from tests.boards import array, board
from tests.marks import posix

Boards = NDArray[np.int8]


class FirstPlayer:
    """Plays the generator's first result; breaks off in its n-th call, if told so."""

    name = "first"

    def __init__(self, breaks_at: int = -1, error: type[BaseException] = KeyboardInterrupt) -> None:
        self.calls, self.breaks_at, self.error = 0, breaks_at, error

    def choose(self, boards: Boards, dice: Boards) -> Boards:
        self.calls += 1
        if self.calls == self.breaks_at:
            raise self.error
        legal = engine.legal_afterstates(boards, dice)
        return legal.boards[legal.offsets[:-1]]


SMALL: Any = {"variant": "hypergammon", "reference": random_net([8], checkers=3), "pairs_per_chunk": 20}
"""Short games, with luck."""


def same(found: ArenaResult, expected: ArenaResult) -> None:
    """Equal in all that does not tell of time and place."""
    assert np.array_equal(found.pair_points, expected.pair_points)
    if expected.pair_luck is not None:
        assert np.array_equal(found.pair_luck, expected.pair_luck)  # type: ignore[arg-type]
    one, other = found.as_dict(), expected.as_dict()
    for name in ("seconds", "games_per_s", "record", "workers"):
        one.pop(name), other.pop(name)
    assert one == other


def test_what_a_record_holds(tmp_path: Path) -> None:
    file = tmp_path / "a" / "record.json"
    result = play("random", FirstPlayer(), 60, seed=4, record=file, **SMALL)
    assert result.record == str(file)
    record = json.loads(file.read_text())
    assert record["schema"] == "bgnet.arena-record/1"
    assert (record["pairs"], record["finished"]) == (30, True)
    assert record["result"] == result.as_dict()
    asked = record["asked"]
    assert (asked["bots"], asked["reference"], asked["seed"]) == (["random", "first"], "random weights", 4)
    assert (asked["rules"], asked["variant"], asked["checkers"]) == ("money", "hypergammon", 3)
    (contest,) = record["contests"]
    assert (contest["name"], contest["pairs"]) == ("random against first", 30)
    columns = contest["columns"]
    assert columns["points"] == result.pair_points.tolist()
    assert columns["luck"] == result.pair_luck.tolist()  # type: ignore[union-attr]
    assert sum(columns["plies"]) == result.plies
    assert tuple(np.bincount(np.ravel(columns["endings"]), minlength=6)) == result.endings
    (session,) = record["sessions"]
    assert session["seconds"] == pytest.approx(result.seconds, abs=1)
    assert {"started", "commit", "bgnet", "machine", "workers"} <= set(session)
    assert "cores" in session["machine"]
    assert list(file.parent.iterdir()) == [file], "no lock and nothing half-written stays behind"


def test_bots_are_named_with_their_files_digests(tmp_path: Path) -> None:
    net, file = tmp_path / "x.safetensors", tmp_path / "record.json"
    save_net(net, random_weights([196, 8, 6]), NetInfo(sizes=[196, 8, 6]))
    play(f"net:{net}", "random", 4, record=file)
    made_of = read_record(file)["asked"]["made of"]
    digest = subprocess.run(["sha256sum", net], capture_output=True, text=True, check=True).stdout.split()[0]
    assert made_of[f"net:{net}"]["sha256"] == digest
    assert made_of["random"]["sha256"] is None
    save_net(net, random_weights([196, 8, 6], seed=1), NetInfo(sizes=[196, 8, 6]))
    with pytest.raises(RecordError, match=r"the file of net:.*x\.safetensors has changed since$"):
        play(f"net:{net}", "random", 4, record=file, resume=True)


@pytest.mark.parametrize(("breaks_at", "error"), [(1, KeyboardInterrupt), (30, RuntimeError), (110, KeyboardInterrupt)])
def test_going_on_after_a_break(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, breaks_at: int, error: type[BaseException]
) -> None:
    """A run that is interrupted, continued in other chunks, and interrupted again, is one run."""
    file = tmp_path / "record.json"
    expected = play("random", FirstPlayer(), 200, **SMALL)
    with pytest.raises(error):
        play("random", FirstPlayer(breaks_at, error), 200, record=file, **SMALL)
    record = read_record(file)
    assert not record["finished"]
    assert record["contests"][0]["pairs"] < 100
    with pytest.raises(error):
        play("random", FirstPlayer(40, error), 200, record=file, resume=True, **{**SMALL, "pairs_per_chunk": 7})
    assert record["contests"][0]["pairs"] <= read_record(file)["contests"][0]["pairs"] < 100
    result = play("random", FirstPlayer(), 200, record=file, resume=True, **SMALL)
    same(result, expected)
    record = read_record(file)
    assert record["finished"]
    assert len(record["sessions"]) == 3
    assert result.seconds == pytest.approx(sum(session["seconds"] for session in record["sessions"]), abs=0.5)


RUN = """
import sys
from bgnet import arena_record
from bgnet.arena import play
if __name__ == "__main__":
    arena_record._SAVE_EVERY_S = arena_record._SHARE = 0
    play("random", "random", 4000, seed=6, workers=int(sys.argv[2]), record=sys.argv[1], pairs_per_chunk=10)
"""


@posix
@pytest.mark.parametrize("workers", [1, 2])
def test_going_on_after_a_kill(tmp_path: Path, workers: int) -> None:
    script, file = tmp_path / "run.py", tmp_path / "record.json"
    script.write_text(RUN)
    process = subprocess.Popen([sys.executable, script, file, str(workers)], start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (file.exists() and read_record(file)["contests"][0]["pairs"] >= 30):
        time.sleep(0.02)
    assert process.poll() is None, "it was to be killed in the middle"
    with pytest.raises(RecordError, match="another process is writing"):
        play("random", "random", 4000, seed=6, record=file, resume=True)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = read_record(file)["contests"][0]["pairs"]
    assert 30 <= done < 2000
    games = 2 * done + 100
    result = play("random", "random", games, seed=6, record=file, resume=True)
    same(result, play("random", "random", games, seed=6))
    assert read_record(file)["pairs"] == done + 50


def test_more_games_than_before(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    play("random", FirstPlayer(), 60, record=file, **SMALL)
    longer = play("random", FirstPlayer(), 130, record=file, resume=True, **SMALL)
    same(longer, play("random", FirstPlayer(), 130, **SMALL))
    with pytest.raises(ArenaSettingsError, match="holds 130 games already, more than the 60 asked"):
        play("random", FirstPlayer(), 60, record=file, resume=True, **SMALL)
    bot = FirstPlayer()
    same(play("random", bot, 130, record=file, resume=True, **SMALL), longer)
    assert bot.calls < 60, "nothing is played again but the first pair"


@pytest.mark.parametrize("stop", [Sprt(-0.4, 0.3, least=50), Until(0.2, 50)], ids=lambda rule: type(rule).__name__)
def test_rules_stop_a_continued_run_at_the_same_place(tmp_path: Path, stop: Any) -> None:
    file = tmp_path / "record.json"
    small = {**SMALL, "pairs_per_chunk": 35}
    expected = play("random", FirstPlayer(), 3000, stop=stop, **small)
    assert 200 < expected.games < 1000
    assert expected.games % 100 == 0
    with pytest.raises(KeyboardInterrupt):
        play("random", FirstPlayer(100), 3000, stop=stop, record=file, **small)
    assert 0 < read_record(file)["contests"][0]["pairs"] < expected.games // 2
    result = play("random", FirstPlayer(), 3000, stop=stop, record=file, resume=True, **small)
    same(result, expected)
    same(play("random", FirstPlayer(), 3000, stop=stop, record=file, resume=True, **small), expected)


OTHERS: list[tuple[dict[str, Any], str]] = [
    ({"seed": 2}, "seed is 1, not 2"),
    ({"b": RandomPlayer(5)}, "bots is .*first.*RandomPlayer"),
    ({"rules": "dmp"}, 'rules is "money", not "dmp"'),
    ({"reference": None}, 'reference is "random weights", not null'),
    ({"start": array(board({3: 3}, {24: 3}))[0]}, "start is"),
    ({"stop": Until(0.1, 50)}, "stop is null"),
]


@pytest.fixture(scope="module")
def a_record(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("recorded") / "record.json"
    play("random", FirstPlayer(), 100, record=file, **SMALL)
    return file.read_bytes()


@pytest.fixture
def recorded(tmp_path: Path, a_record: bytes) -> Path:
    """The record of a run of 100 games."""
    file = tmp_path / "record.json"
    file.write_bytes(a_record)
    return file


def go_on(file: Path, **changed: Any) -> ArenaResult:
    return play(**{"a": "random", "b": FirstPlayer(), "games": 100, **SMALL, **changed}, record=file, resume=True)


def test_records_of_other_runs_are_refused(recorded: Path) -> None:
    before = recorded.read_bytes()
    for changed, message in OTHERS:
        with pytest.raises(RecordError, match=f"is the record of another run: .*{message}"):
            go_on(recorded, **changed)
    with pytest.raises(RecordError, match="stop h1 is 0.1, not 0.2"):
        file = recorded.with_name("sprt.json")
        options: Any = {"variant": "hypergammon", "record": file}
        play("random", "random", 100, stop=Sprt(0, 0.1, least=50), **options)
        play("random", "random", 100, stop=Sprt(0, 0.2, least=50), resume=True, **options)
    assert recorded.read_bytes() == before


def test_a_bot_that_plays_otherwise_now_is_found_out(recorded: Path) -> None:
    """Nothing else can tell of objects made in Python, or of engines that were updated."""

    class Other(FirstPlayer):
        def choose(self, boards: Boards, dice: Boards) -> Boards:
            legal = engine.legal_afterstates(boards, dice)
            return legal.boards[legal.offsets[1:] - 1]

    with pytest.raises(RecordError, match="first pair of .* comes out differently now"):
        go_on(recorded, b=Other())
    text = recorded.read_text()
    luck = read_record(recorded)["contests"][0]["columns"]["luck"][0]
    recorded.write_text(text.replace(repr(luck), repr(luck + 0.01), 1))
    with pytest.raises(RecordError, match="differently now .luck"):
        go_on(recorded)


Change = Callable[[dict[str, Any]], object]
DAMAGE: list[Change] = [
    lambda record: record.update(contests=[]),
    lambda record: record["contests"][0].update(pairs=7),
    lambda record: record["contests"][0].update(pairs="many"),
    lambda record: record["contests"][0]["columns"].pop("luck"),
    lambda record: record["contests"][0]["columns"]["endings"].__setitem__(3, [0, 400]),
    lambda record: record["contests"][0]["columns"]["points"].__setitem__(3, float("nan")),
    lambda record: record["contests"][0]["columns"]["plies"].__setitem__(3, "x"),
    lambda record: record.update(sessions=[{}]),
    lambda record: record.update(asked=3),
    lambda record: record.pop("pairs"),
]


@pytest.mark.parametrize("number", range(len(DAMAGE)))
def test_damaged_records_are_refused(recorded: Path, number: int) -> None:
    record = read_record(recorded)
    DAMAGE[number](record)
    recorded.write_text(json.dumps(record))
    with pytest.raises(RecordError, match=r"record\.json is .*damaged"):
        go_on(recorded)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"schema": 1}', "\xff", '{"schema": "bgnet.arena-record/9"}'])
def test_other_files_are_refused(recorded: Path, text: str) -> None:
    recorded.write_text(text, encoding="latin-1")
    with pytest.raises(RecordError, match=r"record\.json"):
        go_on(recorded)


def test_files_in_the_way(recorded: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="exists already"):
        play("random", "random", 2, record=recorded)
    with pytest.raises(RecordError, match="there is no record"):
        go_on(tmp_path / "none.json")
    with pytest.raises(RecordError, match="is a folder"):
        play("random", "random", 2, record=tmp_path)
    with pytest.raises(OSError, match="record.json"):
        play("random", "random", 2, record=recorded / "below" / "x.json")
    with pytest.raises(ArenaSettingsError, match="name its file"):
        play("random", "random", 2, resume=True)
    left = set(tmp_path.iterdir())
    assert left == {recorded}, "no locks stay behind"


def test_only_one_process_writes_a_record(recorded: Path) -> None:
    asked = read_record(recorded)["asked"]
    held = open_record(recorded, asked, ["random against first"], SCHEMA, resume=True)
    with held, pytest.raises(RecordError, match="another process is writing this record"):
        go_on(recorded)
    go_on(recorded)
    recorded.with_name(".record.json.lock").touch()  # as a killed process leaves it
    go_on(recorded)


def test_a_record_is_kept_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Now and then, and not so often that writing takes more than a twentieth of the time."""
    saved: list[int] = []
    save = arena_record.Record.save

    def counting(self: arena_record.Record, columns: Any, pairs: int, result: Any = None) -> None:
        saved.append(len(columns[0].get("points", ())))
        save(self, columns, pairs, result)

    monkeypatch.setattr(arena_record.Record, "save", counting)
    play("random", FirstPlayer(), 120, record=tmp_path / "1.json", **SMALL)
    assert saved == [0, 60], "at the beginning and at the end"
    saved.clear()
    monkeypatch.setattr(arena_record, "_SAVE_EVERY_S", 0.0)
    monkeypatch.setattr(arena_record, "_SHARE", 0)
    play("random", FirstPlayer(), 120, record=tmp_path / "2.json", **SMALL)
    assert saved == [0, 20, 40, 60, 60]


def test_names_of_new_records(tmp_path: Path) -> None:
    def name(bots: list[str], seed: int = 7) -> str:
        return free_path(bots, seed, tmp_path).name

    assert name(["net:flagship", "gnubg:0"]) == "flagship-gnubg-0-s7.json"
    assert name(["net:runs/x/last@2ply", "net:/a b/c.safetensors"], 1) == "runs-x-last@2ply-a-b-c.safetensors-s1.json"
    assert name(["random"] * 6) == "random-random-random-random-2-more-s7.json"
    assert len(name(["net:" + 300 * "x"] * 4)) < 200
    assert name(["net:../..", "net:"]) == "bot-bot-s7.json"
    (tmp_path / "random-random-s7.json").touch()
    assert name(["random", "random"]) == "random-random-s7-2.json"
    (tmp_path / ".random-random-s7-2.json.lock").touch()
    assert name(["random", "random"]) == "random-random-s7-3.json"


def full_disk(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """From now on only so many records can be written."""
    written = 0
    replace = os.replace

    def refusing(*arguments: Any) -> None:
        nonlocal written
        written += 1
        if written > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(*arguments)

    monkeypatch.setattr("bgnet.netfile.os.replace", refusing)
    monkeypatch.setattr(arena_record, "_SHARE", 0)


def test_games_go_on_when_their_record_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "record.json"
    full_disk(monkeypatch, 2)
    monkeypatch.setattr(arena_record, "_SAVE_EVERY_S", 0.0)
    said = r"cannot write .*record.json: No space left on device; the file holds 40 of the 80 games played so far"
    with pytest.warns(RecordWarning, match=said) as warned:
        result = play("random", FirstPlayer(), 120, record=file, **SMALL)
    assert len(warned) == 1
    same(result, play("random", FirstPlayer(), 120, **SMALL))
    assert read_record(file)["contests"][0]["pairs"] == 20
    monkeypatch.undo()
    same(play("random", FirstPlayer(), 120, record=file, resume=True, **SMALL), result)


def test_a_record_that_can_never_be_written_is_an_error_before_any_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_disk(monkeypatch, 0)
    bot = FirstPlayer()
    with pytest.raises(OSError, match=r"^cannot write .*record.json: No space left on device$"):
        play("random", bot, 20, record=tmp_path / "record.json", **SMALL)
    assert bot.calls == 0


def test_a_break_is_a_break_when_the_record_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full_disk(monkeypatch, 1)
    with pytest.warns(RecordWarning, match="holds 0 of"), pytest.raises(KeyboardInterrupt):
        play("random", FirstPlayer(30), 200, record=tmp_path / "record.json", **SMALL)


IMPOSSIBLE = [("points", 1e9), ("points", 0.25), ("endings", [0, 6]), ("plies", 1), ("plies", -40), ("luck", 1e6)]


@pytest.mark.parametrize(("column", "value"), IMPOSSIBLE)
def test_results_that_cannot_be_are_refused(recorded: Path, column: str, value: object) -> None:
    record = read_record(recorded)
    record["contests"][0]["columns"][column][6] = value
    recorded.write_text(json.dumps(record))
    with pytest.raises(RecordError, match=r"record\.json is damaged: row 7 of random against first cannot have been"):
        go_on(recorded)


SAID: list[tuple[Change, str]] = [
    (lambda record: record["asked"].update(bots="xy"), 'asked bots is "xy", not a list of two or more names'),
    (lambda record: record["asked"].update(bots=[1, None]), "asked bots is .1, null., not a list"),
    (lambda record: record.update(pairs=True), "pairs is true, not a whole number"),
    (lambda record: record.update(contests=[3]), "contests is .3., not a list of objects"),
    (lambda record: record["asked"].pop("seed"), "asked seed is missing"),
    (lambda record: record["contests"][0].update(pairs=7), "column points of random against first has 50 rows, not 7"),
    (lambda record: record["contests"][0]["columns"].update(endings=[1] * 50), "must have 2 values in a row"),
    (lambda record: record["contests"][0]["columns"]["plies"].__setitem__(3, [1]), "does not hold numbers alone"),
    (lambda record: record["contests"][0]["columns"]["plies"].__setitem__(3, 40.5), "has 40.5 in row 4"),
]


@pytest.mark.parametrize("number", range(len(SAID)))
def test_what_is_wrong_with_a_record_is_said(recorded: Path, number: int) -> None:
    damage, words = SAID[number]
    record = read_record(recorded)
    damage(record)
    recorded.write_text(json.dumps(record))
    with pytest.raises(RecordError, match=rf"record\.json is damaged: .*{words}") as caught:
        go_on(recorded)
    assert "Error" not in str(caught.value)


def test_no_record_at_all(recorded: Path) -> None:
    for text, words in (
        ("{\n", r"it is not JSON \(line 2\)"),
        ("3", "its schema is not"),
        ("[" * 99999, "is not JSON"),
    ):
        recorded.write_text(text)
        with pytest.raises(RecordError, match=rf"record\.json is no record of the arena.* {words}"):
            read_record(recorded)
