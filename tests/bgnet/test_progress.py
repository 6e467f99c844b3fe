"""Progress in log files (by a clock that the test turns), on a terminal, and not at all."""

from __future__ import annotations

import io

import pytest

from bgnet.progress import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    encoding = "ascii"

    def isatty(self) -> bool:
        return True


def test_a_line_every_30_seconds_and_one_at_the_end() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(100, "games", stream=stream, clock=clock) as progress:
        for _ in range(10):
            clock.now += 7
            progress.update(10, points_per_game="+0.123")
    lines = stream.getvalue().splitlines()
    assert lines == [
        "games=50 total=100 seconds=35 games_per_s=1.4 eta_s=35 points_per_game=+0.123",
        "games=100 total=100 seconds=70 games_per_s=1.4 eta_s=0 points_per_game=+0.123",
    ]


def test_lines_can_be_read_back_as_key_and_value() -> None:
    stream = io.StringIO()
    with Progress(10, "games", "lines", stream, label="gnubg:0") as progress:
        progress.update(10, loss=0.123456, note="two words")
    fields = dict(pair.split("=") for pair in stream.getvalue().split())
    assert fields["phase"] == "gnubg:0"
    assert fields["games"] == "10"
    assert fields["loss"] == "0.1235"
    assert fields["note"] == "two_words"


def test_auto_is_a_bar_on_a_terminal_and_keeps_to_its_encoding() -> None:
    stream = Terminal()
    with Progress(100, "games", stream=stream) as progress:
        assert progress.mode == "bar"
        progress.update(60, points_per_game="+0.1")
        progress.write("half way")
        progress.update(40)
    assert stream.getvalue().isascii()
    assert "100/100" in stream.getvalue()
    assert "half way" in stream.getvalue()


def test_the_total_may_become_known_later() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(0, "games", stream=stream, clock=clock) as progress:
        clock.now = 40
        progress.update(10)
        progress.set_total(50)
        clock.now = 80
        progress.update(10)
    first, second = stream.getvalue().splitlines()
    assert "total=?" in first
    assert "eta_s" not in first
    assert second == "games=20 total=50 seconds=80 games_per_s=0.2 eta_s=120"


def test_none_is_silent() -> None:
    stream = Terminal()
    with Progress(10, "games", "none", stream) as progress:
        progress.update(10, loss=1.0)
        progress.write("hidden")
    assert stream.getvalue() == ""
    assert progress.count == 10


def test_closing_twice_prints_once() -> None:
    stream = io.StringIO()
    progress = Progress(10, "games", "lines", stream)
    progress.update(10)
    progress.close()
    progress.close()
    assert len(stream.getvalue().splitlines()) == 1


def test_nothing_done_prints_nothing() -> None:
    stream = io.StringIO()
    Progress(10, "games", "lines", stream).close()
    assert stream.getvalue() == ""


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="'fancy'.*auto, bar, lines, none"):
        Progress(10, "games", "fancy")
