"""Files of judged decisions: three kinds, and everything that can be wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from bgnet.benchmark_files import SetFileError, find_set, shipped_sets
from bgnet.benchmark_gnubg import board_of_key
from bgnet.decisions import DecisionSet, read_decisions
from engine import START, Position
from engine.errors import NotationError

DATA = Path(__file__).parent.parent / "data"
PLAYS = engine.legal_plays(START, (3, 1))
HEADER = {"format": "bgnet.decisions/1", "judge": "somebody", "settings": {}}


def key_of(position: Position) -> str:
    """A key of gnubg-nn from the checkers, not from the Position ID: 80 bits, four a letter, high half first."""
    points = position.board.tolist()
    opponent = [max(0, -points[25 - place]) for place in range(1, 26)]
    own = [max(0, points[place]) for place in range(1, 26)]
    bits = "".join("1" * n + "0" for n in opponent + own).ljust(80, "0")
    octets = [int(bits[i : i + 8][::-1], 2) for i in range(0, 80, 8)]
    return "".join(chr(65 + n // 16) + chr(65 + n % 16) for n in octets)


def headless(equities: list[Any], **changes: Any) -> str:
    plays = PLAYS[: len(equities)]
    candidates = [
        [(-play.position.board[::-1]).tolist(), *(e if isinstance(e, list) else [e])]
        for play, e in zip(plays, equities, strict=True)
    ]
    row = {"board": START.board.tolist(), "dice": [3, 1], "kind": "contact", "candidates": candidates}
    return json.dumps(row | changes)


def own(equities: list[Any], **changes: Any) -> str:
    candidates = [[play.position.position_id, e, 0.004] for play, e in zip(PLAYS, equities, strict=False)]
    return json.dumps({"position": START.position_id, "dice": [3, 1], "candidates": candidates} | changes)


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def results(*numbers: int) -> np.ndarray:
    return np.array([PLAYS[n].position.board for n in numbers])


def test_several_judges_without_a_header(tmp_path: Path) -> None:
    found = read_decisions(written(tmp_path, headless([[0.1, 0.5], [0.3, 0.2], [-0.2, 0.4]]), "", headless([[0, 1]])))
    assert found.judges == ("judge 1", "judge 2") and len(found) == 2 and found.loss_error is None
    assert found.losses_of(results(0, 0)) == pytest.approx(np.array([[0.2, 0.0], [0.0, 0.0]]))
    assert found.losses_of(results(2, 0))[0] == pytest.approx([0.5, 0.1])
    last = len(PLAYS) - 1  # no candidate: charged as the worst one, by each judge
    assert found.losses_of(results(last, last)) == pytest.approx(np.array([[0.5, 0.3], [0.0, 0.0]]))
    assert [d.row(PLAYS[1].position.board) for d in found] == [1, None]


def test_our_own_format(tmp_path: Path) -> None:
    found = read_decisions(written(tmp_path, json.dumps(HEADER), own([0.5, 0.25, 0.1]), own([0.1, 0.3])))
    assert found.judges == ("somebody",) and found.name == "set.jsonl" and found.header["format"] == HEADER["format"]
    assert found.losses_of(results(1, 0)) == pytest.approx(np.array([[0.25], [0.2]]))
    assert found.loss_error == pytest.approx(0.004)
    assert found.classes.tolist() == [0, 0] and found.boards.shape == (2, 26) and found.dice.tolist() == [[3, 1]] * 2
    first = found[:1]
    assert isinstance(first, DecisionSet) and len(first) == 1 and first.judges == found.judges


def test_gnubg_files(tmp_path: Path) -> None:
    keys = [key_of(play.position) for play in PLAYS]
    key = key_of(START)
    path = written(
        tmp_path,
        "# a comment",
        "s 1 2 version 3 4",
        "r 1 2 3",
        f"#R {key} 0.5 0.1 0.01 0.1 0.01",
        f"m {key} 3 1 {keys[4]} {keys[2]} 0.0125 {keys[7]} 0.08",
        f"o {key} 0.5 0.1 0.01 0.1 0.01",
    )
    found = read_decisions(path)
    assert len(found) == 1 and found.judges == ("rollout",) and len(found.header["comments"]) == 3
    assert (found.boards[0] == START.board).all() and found.dice.tolist() == [[3, 1]]
    for row, loss in ((4, 0.0), (2, 0.0125), (7, 0.08), (0, 0.08)):  # 0 is not listed: it costs the last loss
        assert found.losses_of(results(row)) == pytest.approx(np.array([[loss]]))


@pytest.mark.parametrize(
    ("key", "position_id"),
    [  # shared test vectors of Position ID and key, checked with GNU Backgammon 1.07.001
        ("OAHDPAABDAOAHDPAABDA", "4HPwATDgc/ABMA"),
        ("CMAAAANAAOAAAAAAAAAA", "LAAA0A4AAAAAAA"),
        ("IDMPMBADEAIDMPMBAHAA", "g8/BA0CDz8EHAA"),
        ("MCLLGNAAEANLHCBNAAAI", "wrttAEDbch0ACA"),
    ],
)
def test_keys(key: str, position_id: str) -> None:
    assert Position(board_of_key(key).tolist()).position_id == position_id
    assert key_of(Position.from_position_id(position_id)) == key


def test_the_key_reader_of_the_engine_gnubg_nn_agrees() -> None:
    from bgnet.peers import _boards_of_keys
    from tests.bgnet.nets import some_positions

    positions = [Position(row) for row in some_positions()[0][:300].tolist()]
    keys = [key_of(position) for position in positions]
    assert (np.array([board_of_key(key) for key in keys]) == _boards_of_keys(keys)).all()


@pytest.mark.parametrize("key", ["", "OAHDPAABDAOAHDPAABD", "OAHDPAABDAOAHDPAABDQ", "oahdpaabdaoahdpaabda", "P" * 20])
def test_bad_keys(key: str) -> None:
    with pytest.raises(NotationError):
        board_of_key(key)


KEY = key_of(START)
RESULT = key_of(PLAYS[0].position)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no decisions"),
        ("# nothing but a comment", "holds no decisions"),
        ("{}", "line 1: .*'board' is missing"),
        ("{", "line 1"),
        ("[]", "line 1: .*begins with m"),
        ("not json", "line 1: a line begins with m"),
        ('{"board": [1], "dice": [3, 1], "candidates": [[[1], 2]]}', "line 1"),
        (headless([0.1, 0.2], dice=[3, 7]), "die"),
        (headless([0.1, 0.2], dice=[3]), "dice are two"),
        (headless([0.1, 0.2], board=[0] * 26), "line 1"),
        (headless([0.1, 0.2], board=[300] * 26), "line 1"),
        (headless([0.1, 0.2], candidates=[]), "candidates"),
        (headless([0.1, 0.2], candidates=[[[0] * 26]]), "line 1"),
        (headless([float("nan"), 0.2]), "no finite number"),
        (headless([0.1, 0.2], dice=[5, 5]), "line 1.*no legal result"),
        (headless([0.1]) + "\n" + headless([[0.1, 0.2]]), "line 2.*number of judges"),
        (json.dumps(HEADER) + "\n" + own([0.1, 0.2], position="4HPwATDgc/ABM"), "line 2.*13 characters"),
        (json.dumps(HEADER) + "\n" + own([0.1, 0.2], candidates=[["4HPwATDgc/ABMA", 0.1, 0]]), "no legal result"),
        (json.dumps(HEADER) + "\n" + own([0.1, 0.2], candidates=[["4HPwATDgc/ABMA", 0.1]]), "line 2"),
        (json.dumps(HEADER | {"format": "bgnet.decisions/9"}), "this version reads 'bgnet.decisions/1'"),
        (json.dumps({"format": "bgnet.decisions/1"}), "name the judge"),
        (json.dumps(HEADER) + "\n" + own([0.1, 0.2]) + "\n" + json.dumps(HEADER), "line 3.*header after"),
        (json.dumps(HEADER), "holds no decisions"),
        (f"m {KEY} 3 1", "line 1: a decision is"),
        (f"m {KEY} 3 1 {RESULT} {RESULT}", "line 1: a decision is"),
        (f"m {KEY} 3 0 {RESULT}", "line 1: a die"),
        (f"m {KEY} 3 1 {RESULT} {RESULT} -0.1", "below 0"),
        (f"m {KEY} 3 1 {RESULT} {RESULT} nan", "finite"),
        (f"m {KEY} 3 1 {RESULT} {RESULT} x", "line 1"),
        (f"# one\nm {KEY} 3 1 {KEY}", "line 2.*no legal result"),
        (f"m {'A' * 20} 3 1 {RESULT}", "line 1: the game is over"),
        (f"o {KEY} 0.5 0.1", "five chances"),
        (f"o {KEY} 1.5 0.1 0 0.1 0", "between 0 and 1"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "set.bm"
    path.write_text(text)
    with pytest.raises(SetFileError, match=message) as caught:
        read_decisions(path)
    assert str(path) in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(SetFileError, match="a folder"):
        read_decisions(tmp_path)
    with pytest.raises(SetFileError, match=r"neither a file nor one of the shipped ones \(small\)"):
        read_decisions("smal")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SetFileError, match="cannot be read"):
        read_decisions(tmp_path / "binary")


def test_the_shipped_set() -> None:
    assert shipped_sets("decisions") == ["small"]
    found = read_decisions("small")
    assert found.name == "small" and len(found) == 250
    assert np.bincount(found.classes).tolist() == [50] * 5
    assert found.header["settings"]["trials"] == 216 and "net:flagship" in found.judges[0]
    assert found.loss_error is not None and 0.001 < found.loss_error < 0.01
    assert len({(d.board.tobytes(), d.dice.tobytes()) for d in found}) == 250
    assert all(2 <= len(d.results) <= 8 and d.losses.min() == 0 for d in found)
    assert find_set("small", "decisions").stat().st_size < 300_000
