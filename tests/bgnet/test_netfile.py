"""Network files: what is written comes back; everything else is refused by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import bgnet
from bgnet.evaluators import find_net, shipped_nets
from bgnet.netfile import NetFileError, NetInfo, Weights, load_net, save_net
from tests.bgnet.nets import random_weights

SIZES = [196, 8, 6]


def written(path: Path, **changes: object) -> Path:
    """A valid file whose metadata are then changed."""
    save_net(path, random_weights(SIZES), NetInfo(sizes=SIZES))
    if changes:
        from safetensors import safe_open

        with safe_open(path, framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
            metadata = file.metadata() | {k: v if isinstance(v, str) else json.dumps(v) for k, v in changes.items()}
        save_file(tensors, path, metadata={k: v for k, v in metadata.items() if v != "DROP"})
    return path


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 0.0), ("float16", 2e-3)])
def test_round_trip(tmp_path: Path, dtype: str, tolerance: float) -> None:
    weights = random_weights(SIZES)
    info = NetInfo(sizes=SIZES, games=12, seconds=3.5, seed=4, commit="abc", parent="p", config="seed = 4\n", note="é")
    save_net(tmp_path / "a.safetensors", weights, info, dtype)
    back, back_info = load_net(tmp_path / "a.safetensors")
    assert back_info == info
    for one, other in zip(weights.arrays(), back.arrays(), strict=True):
        assert other.dtype == np.float32
        assert np.abs(one - other).max() <= tolerance
    assert list(tmp_path.iterdir()) == [tmp_path / "a.safetensors"], "no temporary file stays"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "other"}, "not bgnet-net"),
        ({"format_version": "2"}, "format version 2"),
        ({"encoding": '"pips"'}, "the unknown encoding"),
        ({"encoding_version": 7}, "version 7 of the encoding"),
        ({"outcomes": ["win", "lose"]}, "outcomes in the order"),
        ({"checkers": 16}, "16 checkers"),
        ({"sizes": [196, 9, 6]}, r"layer0.weight is float32\[8, 196\]"),
        ({"sizes": [195, 8, 6]}, "expected \\[196"),
        ({"sizes": [196, 8, 8, 6]}, "layer1.weight is"),
        ({"games": "not json"}, "cannot be read"),
        ({"games": "[" * 100_000}, "cannot be read"),
        ({"games": None}, "games cannot be None"),
        ({"encoding": []}, "encoding cannot be"),
        ({"outcomes": 5}, "outcomes cannot be 5"),
        ({"sizes": [196, 8.0, 6]}, "layers"),
        ({"sizes": [196, 0, 6]}, "layers"),
        ({"seed": "DROP"}, "lacks 'seed'"),
    ],
)
def test_mismatches_are_named(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    path = written(tmp_path / "a.safetensors", **changes)
    with pytest.raises(NetFileError, match=words) as caught:
        load_net(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("keep", [0, 4, 100, 2000, -1])
def test_cut_files(tmp_path: Path, keep: int) -> None:
    path = written(tmp_path / "a.safetensors")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(NetFileError, match="a.safetensors"):
        load_net(path)


@pytest.mark.parametrize("content", [b"PK\x03\x04 a zip", b"\x80\x04pickle", b"hello", b"\xff" * 64])
def test_foreign_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.safetensors").write_bytes(content)
    with pytest.raises(NetFileError, match="not a whole safetensors file"):
        load_net(tmp_path / "a.safetensors")


def test_not_finite_numbers(tmp_path: Path) -> None:
    weights = random_weights(SIZES)
    weights.matrices[0][3, 3] = np.nan
    save_net(tmp_path / "a.safetensors", weights, NetInfo(sizes=SIZES))
    with pytest.raises(NetFileError, match="layer0.weight holds numbers that are not finite"):
        load_net(tmp_path / "a.safetensors")
    weights.matrices[0][3, 3] = 1e30
    save_net(tmp_path / "a.safetensors", weights, NetInfo(sizes=SIZES))
    with pytest.raises(NetFileError, match="absurdly great"):
        load_net(tmp_path / "a.safetensors")


def test_sizes_must_agree(tmp_path: Path) -> None:
    with pytest.raises(NetFileError, match="the metadata says"):
        save_net(tmp_path / "a.safetensors", random_weights(SIZES), NetInfo(sizes=[196, 9, 6]))


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    """A full disk, played by a limit on the size of files."""
    path = written(tmp_path / "a.safetensors")
    before = path.read_bytes()
    code = f"""
import resource
from bgnet.netfile import NetInfo, save_net
from tests.bgnet.nets import random_weights
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
sizes = [196, 64, 6]
try:
    save_net({str(path)!r}, random_weights(sizes), NetInfo(sizes=sizes))
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"cannot write {path}" in done.stdout
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_unwritable_folder_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(OSError, match="cannot write .*file/a.safetensors"):
        save_net(blocked / "a.safetensors", random_weights(SIZES), NetInfo(sizes=SIZES))


def test_find_net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "last.safetensors")
    assert find_net(path) == find_net(tmp_path) == find_net(f"net:{tmp_path}") == find_net(tmp_path / "last") == path
    with pytest.raises(NetFileError, match="no network 'nosuch'"):
        bgnet.load("nosuch")
    with pytest.raises(NetFileError, match="no network ''"):
        bgnet.load("")
    with pytest.raises(NetFileError, match="no network"):
        bgnet.load("x" * 5000)
    # A shipped name means the shipped network, whatever lies in the working directory.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "standard").mkdir()
    written(tmp_path / "standard/last.safetensors")
    assert bgnet.load("standard").info.sizes == [196, 512, 32, 6]
    assert bgnet.load("./standard").info.sizes == SIZES


def test_shipped_nets_load() -> None:
    assert "standard" in shipped_nets()
    for name in shipped_nets():
        weights, info = load_net(find_net(name))
        assert isinstance(weights, Weights)
        assert info.games > 0
        assert (find_net(name).with_suffix(".md")).is_file(), "every shipped network has a card"
