"""`bgnet arena` with luck, tests that stop early, round robins and records: what is shown, and what is kept."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bgnet.arena import DEFAULT_REFERENCE, Sprt, Until, play
from bgnet.arena_record import Record, read_record
from bgnet.cli import app
from bgnet.cli.arena_screens import cross_table, rule_text, table
from bgnet.netfile import NetInfo, save_net
from bgnet.round_robin import round_robin
from tests.bgnet.nets import random_weights


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Records go to runs/arena/ of the working directory. It has a net for short games of three checkers a side."""
    monkeypatch.chdir(tmp_path)
    save_net("tiny.safetensors", random_weights([196, 8, 6]), NetInfo(sizes=[196, 8, 6], checkers=3))
    return tmp_path


NET = "net:tiny"
SMALL = ["--variant", "hypergammon", "--reference", NET]
SAME: Any = {"variant": "hypergammon", "reference": NET}


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["arena", *arguments])


def numbers(fields: dict[str, Any]) -> dict[str, Any]:
    """What does not tell of time and place."""
    return {key: value for key, value in fields.items() if key not in ("seconds", "games_per_s", "record", "workers")}


def test_plain_and_luck_adjusted_stand_one_above_the_other() -> None:
    result = invoke("random", NET, "--games", "200", *SMALL)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    expected = play("random", NET, 200, **SAME)
    assert lines[0] == "random against net:tiny, cubeless money, hypergammon, 100 dice pairs, seed 1"
    assert lines[2].split()[:2] == ["plain", f"{expected.points_per_game:+.4f}"]
    assert expected.luck_adjusted is not None
    assert lines[3].split()[:2] == ["luck-adjusted", f"{expected.luck_adjusted.mean:+.4f}"]
    assert lines[3].endswith("reference net:tiny, 0-ply")
    assert [lines[2].index("["), lines[2].index("]")] == [lines[3].index("["), lines[3].index("]")]
    assert "luck_adjusted=" in result.stderr
    assert result.stdout.isascii()


def test_luck_is_looked_at_unless_no_shipped_net_knows_the_game() -> None:
    result = invoke("random", "random", "--games", "2", "--json")
    assert json.loads(result.stdout)["luck_adjusted"]["reference"] == DEFAULT_REFERENCE
    result = invoke("random", "random", "--games", "2", "--variant", "hypergammon")
    assert "luck-adjusted" not in result.stdout
    assert "plain results only: no network that comes with bgnet knows hypergammon" in result.stderr
    assert json.loads(invoke("random", "random", "--games", "2", "--no-luck", "--json").stdout)["luck_adjusted"] is None


def test_a_test_that_is_decided() -> None:
    result = invoke("random", NET, "--games", "2000", "--sprt", "-2.5", "1.5", *SMALL)
    lines = result.stdout.splitlines()
    test, note = lines[-3:-1]
    said = r"test  H0 -2\.50, H1 \+1\.50 points/game, 5 % / 5 %: LLR [+-][\d.]+ past [+-]2\.94, H[01] accepted$"
    assert re.match(said, test)
    assert note.startswith("note  estimates taken at an early stop lean to the winner")
    assert lines[-1].startswith("record  ")
    assert "250 dice pairs" in lines[0]
    assert "first look after 500 games, then every 100, at most 2,000" in result.stderr
    assert re.search(r"LLR=[+-][\d.]+_\(-2\.94,_\+2\.94\)", result.stderr)


def test_a_test_that_is_not_decided() -> None:
    asked = ["random", "random", "--sprt", "-0.001", "0.001", "--alpha", "0.01", "--beta", "0.1"]
    asked += ["--min-games", "100", "--games", "100", "--no-luck"]
    fields = json.loads(invoke(*asked, "--json").stdout)
    assert fields["stopped"] == "games"
    assert fields["sprt"] == {
        "h0": -0.001, "h1": 0.001, "alpha": 0.01, "beta": 0.1, "lower": Sprt(0, 1, 0.01, 0.1).lower,
        "upper": Sprt(0, 1, 0.01, 0.1).upper, "first_look": 100, "look_every": 100, "llr": 0.0, "decision": "undecided",
    }  # fmt: skip
    assert fields["until"] is None
    assert fields["interval_valid"] is False, "a test decided how long it went on, or tried to"
    text = invoke(*asked).stdout
    said = (
        "test  H0 -0.001, H1 +0.001 points/game, 1 % / 10 %: LLR +0.00 between -2.29 and +4.50 when the games ran out"
    )
    assert said in text
    assert "lean to the winner" not in text


def test_until_the_interval_is_narrow() -> None:
    fields = json.loads(invoke("random", NET, "--until", "0.3", "--min-games", "100", *SMALL, "--json").stdout)
    expected = play("random", NET, 100_000, stop=Until(0.3, 50), **SAME)
    assert numbers(fields) == numbers(json.loads(json.dumps(expected.as_dict())))
    assert fields["stopped"] == "until"
    assert fields["until"]["decision"] == "narrow"
    assert fields["interval_valid"] is True
    low, high = fields["luck_adjusted"]["interval"]
    assert high - low <= 0.6
    assert "until  +-0.3 points: reached" in table(expected)


def test_what_stops_a_run_is_said_before() -> None:
    assert rule_text(Until(0.01), 5000) == (
        "until  the 95 % interval is +-0.01 points; first look after 500 games, then every 100, at most 5,000"
    )
    assert rule_text(Sprt(0, 0.0125, 0.01), 100) == (
        "test  H0 +0.0000, H1 +0.0125 points/game, 1 % / 5 %: H0 at LLR -2.99, H1 at +4.55; "
        "first look after 500 games, then every 100, at most 100"
    )


def test_the_unit_of_matches_is_said() -> None:
    assert rule_text(Until(0.01), 5000, matches=True) == (
        "until  the 95 % interval is +-1 % of the matches; first look after 500 matches, then every 100, at most 5,000"
    )
    said = rule_text(Sprt(0, 0.02), 5000, matches=True)
    assert "H0 +0.00, H1 +0.02 of the matches above one half, 5 % / 5 %" in said
    shown = " ".join(re.sub("[^ -~]", " ", invoke("--help").stdout).split())
    assert "of matches the share won above one half (0 0.02: 50 % against 52 %)" in shown
    assert "of matches +-X of those won" in shown


def test_the_cross_table() -> None:
    save_net("other.safetensors", random_weights([196, 8, 6], seed=4), NetInfo(sizes=[196, 8, 6], checkers=3))
    bots = [NET, "random", "net:other"]
    result = invoke(*bots, "--games", "60", *SMALL, "--anchor", "random")
    assert result.exit_code == 0
    expected = round_robin(bots, 60, anchor="random", **SAME)
    lines = result.stdout.splitlines()
    assert lines[:4] == cross_table(expected).splitlines()[:4]
    assert lines[0].split() == [
        "mEq/game",
        *(bots[i] for i in expected.ranking),
        *["|", "rating", "[95", "%]", "plain", "[95", "%]"],
    ]
    for line, i in zip(lines[1:4], expected.ranking, strict=True):
        cells = line.split()
        assert cells[0] == bots[i]
        mine = ["." if j == i else f"{round(1000 * expected.against(i, j).mean):+d}" for j in expected.ranking]
        assert cells[1:4] == mine
        if bots[i] == "random":
            assert cells[4:] == ["|", "0", "(anchor)"]
        else:
            rating, plain = expected.ratings[i], expected.plain_ratings[i]
            assert cells[5:7] == [f"{round(1000 * rating.mean):+d}", f"+-{1000 * rating.half_width:.0f}"]
            assert cells[7:9] == [f"{round(1000 * plain.mean):+d}", f"+-{1000 * plain.half_width:.0f}"]
    assert lines[4].startswith("60 luck-adjusted (reference net:tiny, 0-ply) games a pairing (+-")
    assert "record  runs/arena/tiny-random-other-s1.json" in lines
    as_json = json.loads(invoke(*bots, "--games", "60", *SMALL, "--anchor", "random", "--json").stdout)
    assert numbers(as_json) == numbers(json.loads(json.dumps(expected.as_dict())))


def test_a_plain_cross_table_has_no_second_ladder() -> None:
    result = invoke("random", "net:tiny", "net:./tiny", "--games", "4", "--variant", "hypergammon", "--no-luck")
    assert "plain  [95 %]" not in result.stdout
    assert "4 plain games a pairing" in result.stdout


def test_going_on_takes_everything_from_the_record() -> None:
    asked = ["random", NET, *SMALL, "--seed", "5", "--rules", "dmp"]
    first = invoke(*asked, "--games", "40", "--record", "x.json", "-q")
    assert first.stdout.splitlines()[-1] == "record  x.json"
    again = json.loads(invoke("--resume", "x.json", "--json").stdout)
    assert numbers(again) == numbers(read_record("x.json")["result"])
    longer = json.loads(invoke("--resume", "x.json", "--games", "100", "--json").stdout)
    assert numbers(longer) == numbers(json.loads(invoke(*asked, "--games", "100", "--no-record", "--json").stdout))
    assert longer["record"] == "x.json"
    assert longer["games"] == 100
    named = invoke(*asked, "--resume", "x.json")
    assert named.exit_code == 0


def test_going_on_with_a_round_robin_and_a_rule() -> None:
    asked = ["random", NET, "net:./tiny", *SMALL, "--until", "0.3", "--min-games", "100", "--anchor", NET]
    invoke(*asked, "--games", "100", "--record", "x.json")
    longer = json.loads(invoke("--resume", "x.json", "--games", "5000", "--json").stdout)
    assert longer["stopped"] == "until"
    assert longer["anchor"] == NET
    assert 100 < longer["games_per_pairing"] < 5000
    assert numbers(longer) == numbers(json.loads(invoke(*asked, "--games", "5000", "--no-record", "--json").stdout))


def test_going_on_with_games_for_stakes() -> None:
    asked = ["random", "random", "--cube", "--rules", "match:2"]
    invoke(*asked, "--games", "2", "--record", "x.json", "-q")
    longer = json.loads(invoke("--resume", "x.json", "--games", "4", "--json").stdout)
    assert numbers(longer) == numbers(json.loads(invoke(*asked, "--games", "4", "--no-record", "--json").stdout))
    assert "kind is" in invoke("random", "random", "--cube", "--resume", _cubeless()).stderr


def _cubeless() -> str:
    invoke("random", "random", "--games", "2", "--no-luck", "--record", "cubeless.json")
    return "cubeless.json"


WRONG = [
    (["--seed", "2"], "seed is 1, not 2"),
    (["random", "net:./tiny"], "bots is"),
    (["--no-luck"], 'reference is "net:tiny", not null'),
    (["--until", "0.5"], "stop is null"),
    (["--games", "10"], "holds 40 games already"),
]


@pytest.mark.parametrize(("changed", "message"), WRONG)
def test_another_run_is_not_gone_on_with(changed: list[str], message: str) -> None:
    invoke("random", NET, *SMALL, "--games", "40", "--record", "x.json")
    more = [] if "--games" in changed else ["--games", "1000"]
    result = invoke(*changed, *more, "--resume", "x.json")
    assert result.exit_code == 2
    assert message in result.stderr
    broken = invoke("random", NET, *SMALL, "--games", "40", "--record", "x.json", "--json")
    assert broken.exit_code == 2
    assert json.loads(broken.stdout)["error"]["kind"] == "record"
    assert "exists already" in broken.stdout


def test_records_do_not_overwrite_each_other() -> None:
    for _ in range(2):
        invoke("random", "random", "--games", "2", "--no-luck")
    invoke("random", "random", "--games", "2", "--no-luck", "--no-record")
    assert sorted(path.name for path in Path("runs/arena").iterdir()) == [
        "random-random-s1-2.json", "random-random-s1.json",
    ]  # fmt: skip


def test_damaged_records_have_a_clear_message() -> None:
    invoke("random", NET, *SMALL, "--games", "40", "--record", "x.json")
    record = read_record("x.json")
    for damage in ({"asked": {}}, {"asked": {**record["asked"], "stop": {"rule": "elo", "first_look": 100}}}):
        Path("x.json").write_text(json.dumps({**record, **damage}))
        result = invoke("--resume", "x.json")
        assert result.exit_code == 2
        assert "error: x.json is damaged" in result.stderr


def test_without_a_place_for_a_record_there_is_none() -> None:
    Path("runs").write_text("a file of that name")
    result = invoke("random", "random", "--games", "2", "--no-luck")
    assert result.exit_code == 0
    assert "record" not in result.stdout
    assert "no record is kept: cannot write in runs/arena" in result.stderr
    assert invoke("random", "random", "--games", "2", "--no-luck", "--record", "runs/x.json").exit_code == 1


def test_a_record_that_cannot_be_written_costs_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code tells of it, unless nobody has asked for the record."""
    save = Record.save

    def full(self: Record, columns: Any, pairs: int, result: Any = None) -> None:
        if result is not None:
            raise OSError(f"cannot write {self.path}: No space left on device")
        save(self, columns, pairs, result)

    monkeypatch.setattr(Record, "save", full)
    asked = invoke("random", "random", "--games", "20", "--no-luck", "--record", "x.json", "-q", "--json")
    assert asked.exit_code == 1
    assert json.loads(asked.stdout)["games"] == 20
    assert asked.stderr == (
        "warning: cannot write x.json: No space left on device; the file holds 0 of the 20 games played so far\n"
    )
    unasked = invoke("random", "random", "--games", "20", "--no-luck")
    assert unasked.exit_code == 0
    assert "warning: cannot write runs/arena/random-random-s1.json" in unasked.stderr


@pytest.mark.parametrize(("held", "words"), [(None, "no games are kept"), (0, "x.json holds no games yet")])
def test_an_early_ctrl_c_promises_nothing(monkeypatch: pytest.MonkeyPatch, held: int | None, words: str) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bgnet.arena_runs.run_jobs" if held == 0 else "bgnet.arena_runs.open_record", stop)
    result = invoke("random", "random", "--games", "20", "--no-luck", "--record", "x.json", "-q")
    assert result.exit_code == 130
    assert result.stderr == f"stopped: {words}\n"


def test_sigterm_is_like_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGTERM)
    keep = Record.keep_if_due

    def struck(self: Record, columns: Any, pairs: int) -> None:
        keep(self, columns, pairs)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Record, "keep_if_due", struck)
    result = invoke("random", "random", "--games", "1000", "--no-luck", "--record", "x.json", "-q")
    assert result.exit_code == 130
    assert result.stderr == "stopped: 100 games are kept, go on with: bgnet arena --resume x.json\n"
    assert signal.getsignal(signal.SIGTERM) == before


def test_luck_adjustment_that_widens_the_interval_is_named() -> None:
    result = play("random", NET, 200, **SAME)
    assert result.pair_luck is not None
    noise = 5 * np.random.default_rng(1).normal(size=len(result.pair_luck))
    shown = table(dataclasses.replace(result, pair_luck=noise))
    assert "variance cut" not in shown
    assert "luck adjustment widens the interval here: the plain result is better, use --no-luck" in shown
    half = table(dataclasses.replace(result, pair_luck=result.pair_points / 2))
    assert "reference net:tiny, 0-ply, variance cut 4x\n" in half
    assert "widens" not in half


def test_files_that_are_none() -> None:
    dash = invoke("random", "random", "--games", "2", "--no-luck", "--record", "-")
    assert (dash.exit_code, Path("-").exists()) == (2, False)
    assert "--record names a file" in dash.stderr
    Path("file").touch()
    below = invoke("random", "random", "--games", "2", "--no-luck", "--record", "file/x.json", "-q")
    assert below.exit_code == 1
    assert below.stderr.startswith("error: cannot write file/x.json: ")


def test_ctrl_c_while_modules_load_shows_no_traceback() -> None:
    code = (
        "import builtins; load = builtins.__import__\n"
        "def struck(name, *more):\n"
        "    if name == 'typer': raise KeyboardInterrupt\n"
        "    return load(name, *more)\n"
        "builtins.__import__ = struck\n"
        "import bgnet.cli\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stderr) == (130, "")
