"""Table files: written whole or not at all, checked when read, built again when unusable, shared by processes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from engine.bearoff import one_sided
from engine.tablefile import (
    Arrays,
    Report,
    TableFileError,
    TableWarning,
    load_or_build,
    read_table,
    table_path,
    write_table,
)
from tests.boards import DATA


class Builder:
    """Makes a small table and counts how often."""

    def __init__(self) -> None:
        self.built = 0

    def __call__(self, progress: Report) -> Arrays:
        self.built += 1
        progress(1, 2)
        progress(2, 2)
        return {"numbers": np.arange(50, dtype=np.int32), "pairs": np.full((7, 2), 0.1), "none": np.zeros(0, np.int8)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "folder" / "some.table"


def assert_right(arrays: Arrays) -> None:
    want = Builder()(lambda done, total: None)
    assert arrays.keys() == want.keys()
    for name, array in arrays.items():
        assert array.dtype == want[name].dtype and np.array_equal(array, want[name])
        assert not array.flags.writeable and array.flags.c_contiguous and array.flags.aligned


def test_built_once_then_read(path: Path) -> None:
    build, seen = Builder(), []
    assert_right(load_or_build(path, "1", build, lambda done, total: seen.append((done, total))))
    assert_right(load_or_build(path, "1", build))
    assert build.built == 1 and seen == [(1, 2), (2, 2)]
    assert os.listdir(path.parent) == ["some.table"], "no temporary file is left"


def test_where_tables_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BGNET_CACHE_DIR", str(tmp_path))
    assert table_path("x") == tmp_path / "tables" / "x.table"
    assert table_path("x", tmp_path / "y") == tmp_path / "y" / "x.table"


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: b"", "cut"),
        (lambda data: data[:40], "cut"),
        (lambda data: data[:-1], "damaged"),
        (lambda data: data + b"\0", "damaged"),
        (lambda data: flipped(data, 3), "not a table file"),
        (lambda data: flipped(data, 20), "damaged"),
        (lambda data: flipped(data, 50), "damaged"),
        (lambda data: flipped(data, 70), "damaged"),
        (lambda data: flipped(data, len(data) - 70), "damaged"),
    ],
)
def test_damaged_files_are_built_again(path: Path, damage: object, words: str) -> None:
    build = Builder()
    load_or_build(path, "1", build)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(TableFileError, match=f"some.table: .*{words}"):
        read_table(path, "1")
    assert_right(load_or_build(path, "1", build))
    assert_right(read_table(path, "1"))
    assert build.built == 2


def test_other_versions_and_tables_are_built_again(path: Path) -> None:
    build = Builder()
    load_or_build(path, "1", build)
    with pytest.raises(TableFileError, match="version 1, not 'some' 2"):
        read_table(path, "2")
    assert_right(load_or_build(path, "2", build))
    assert_right(read_table(path, "2"))
    other = path.with_name("other.table")
    path.rename(other)
    with pytest.raises(TableFileError, match="holds the table 'some'"):
        read_table(other, "2")
    assert_right(load_or_build(other, "2", build))
    assert build.built == 3


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "some.table"
    build = Builder()
    with pytest.warns(TableWarning, match="cannot keep the table .*file/some.table.*BGNET_CACHE_DIR") as caught:
        assert_right(load_or_build(path, "1", build))
    assert len(caught) == 1
    with pytest.warns(TableWarning):
        load_or_build(path, "1", build)
    assert build.built == 2


def test_the_warning_points_to_who_asked(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(TableWarning) as caught:
        table = one_sided(tmp_path / "file")
    assert caught[0].filename == __file__
    assert table.mean_rolls([0, 0, 0, 0, 0, 1]) == 1.25
    assert table.distribution([1] * 6).tolist() == one_sided().distribution([1] * 6).tolist()


def test_a_folder_in_the_files_place(tmp_path: Path) -> None:
    path = tmp_path / "some.table"
    path.mkdir()
    with pytest.warns(TableWarning):
        assert_right(load_or_build(path, "1", Builder()))
    assert os.listdir(tmp_path) == ["some.table"]


def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_or_build(path, "1", Builder())
    before = path.read_bytes()

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("engine.tablefile.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_table(path, "2", {"numbers": np.zeros(3)})
    with pytest.warns(TableWarning, match="No space left"):
        assert_right(load_or_build(path, "2", Builder()))
    assert path.read_bytes() == before and os.listdir(path.parent) == ["some.table"]


def test_ctrl_c_while_building(path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_or_build(path, "1", Builder(), stop)
    assert not path.parent.exists()
    assert_right(load_or_build(path, "1", Builder()))


def test_readers_keep_what_they_mapped(path: Path) -> None:
    old = load_or_build(path, "1", Builder())
    write_table(path, "2", {"numbers": np.zeros(50, np.int32)})
    assert_right(old)
    assert not read_table(path, "2")["numbers"].any()


def test_leftovers_of_killed_processes_go(path: Path) -> None:
    path.parent.mkdir(parents=True)
    old, new, foreign = (path.with_name(n) for n in (".some.table.1.ab.tmp", ".some.table.2.cd.tmp", ".x.table.1.tmp"))
    for leftover in (old, new, foreign):
        leftover.write_text("half a table")
    for leftover in (old, foreign):
        os.utime(leftover, (0, 0))
    load_or_build(path, "1", Builder())
    assert sorted(os.listdir(path.parent)) == sorted([new.name, foreign.name, path.name])


_ONE_OF_THREE = """
import os, sys, time
from pathlib import Path
from engine.bearoff_build import build_one_sided
from engine.tablefile import load_or_build
folder = Path(sys.argv[1])
def build(progress):
    arrays = build_one_sided(progress, most=4)
    (folder / f"building-{os.getpid()}").touch()
    deadline = time.monotonic() + 60
    while len(list(folder.glob("building-*"))) < 3:  # so that all three write at once
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return arrays
arrays = load_or_build(folder / "tables" / "some.table", "1", build)
print(arrays["means"].sum(), arrays["chances"].base is not None)
"""


def test_three_processes_build_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", _ONE_OF_THREE, str(tmp_path)]
    running = [
        subprocess.Popen(command, cwd=DATA.parent.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], answers
    assert len({out for out, _ in answers}) == 1 and not any(err for _, err in answers), answers
    assert os.listdir(tmp_path / "tables") == ["some.table"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(tmp_path / "tables" / "some.table", "1")["means"].shape == (210,)


def test_the_script(tmp_path: Path) -> None:
    def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "scripts/build_tables.py", "--folder", str(folder), *options]
        env = {**os.environ, "PYTHONPATH": "."}
        return subprocess.run(command, cwd=DATA.parent.parent, env=env, capture_output=True, text=True, timeout=240)

    for options, verb in (((), "built in"), ((), "checked in"), (("--force",), "built in")):
        done = run(tmp_path, *options)
        assert done.returncode == 0, done.stderr
        for name, line in zip(("one-sided", "two-sided"), done.stdout.splitlines(), strict=True):
            assert line.startswith(str(tmp_path / f"{name}.table")) and verb in line
    (tmp_path / "file").write_text("in the way")
    done = run(tmp_path / "file")
    assert done.returncode == 1 and "error: cannot keep the table" in done.stderr
