"""`bgnet analyze-match` as a user meets it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bgnet.cli import app
from bgnet.cli.analyze_match import EPILOG
from bgnet.match_analysis import analyze_match
from engine.records import read_mat

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "tests" / "data" / "sample.mat"
MONEY = """ 0 point match

 Game 1
 Alice : 0                      Bob : 0
  1) 31: 8/5 6/5                 64: 24/14
  2)  Doubles => 2                Drops
      Wins 1 point

 Game 2
 Alice : 1                      Bob : 0
  1)                             52: 13/8 13/11
"""


def invoke(*arguments: str, typed: str | bytes | None = None) -> Any:
    return CliRunner().invoke(app, ["analyze-match", *arguments], input=typed)


def test_the_screen_tells_what_the_analysis_says() -> None:
    result = invoke(str(SAMPLE), "--quiet")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    found = analyze_match(read_mat(SAMPLE))
    assert lines[0] == "Alice (O) against Bob (X)"
    assert lines[1] == "5-point match, judged by net:standard, 0-ply, match equity table Kazaross-XG2"
    assert lines[3] == "Game 1: Alice 0, Bob 0; Bob wins 2 points (drop)"
    shown = [d for d in found.games[0].decisions if d.loss >= 0.02]
    rows = lines[5 : 5 + len(shown)]
    for decision, row in zip(shown, rows, strict=True):
        assert row.split()[:2] == [str(decision.turn), found.record.players[decision.seat]]
        assert f"{-decision.loss:+.3f}" in row
        assert f"{100 * decision.stake_loss:.2f} %" in row
        assert decision.chosen in row and decision.best in row
        assert row.endswith(decision.mark)
    assert lines[5 + len(shown)].startswith(f"  {len(found.games[0].decisions) - len(shown)} other decisions lose less")
    totals = [found.totals(seat) for seat in (0, 1)]
    for words, values in (
        ("ER (mEMG)", [f"{t.error_rate:.1f} ({t.counted} decisions)" for t in totals]),
        ("PR", [f"{t.performance_rating:.1f} ({t.counted_for_pr} decisions)" for t in totals]),
        ("Snowie ER", [f"{t.snowie_error_rate:.1f} ({t.plays_of_both} plays)" for t in totals]),
        ("plays, unforced", [f"{t.plays}, {t.unforced_plays}" for t in totals]),
    ):
        row = next(line for line in lines if line.startswith(words))
        assert re.split(r"\s{2,}", row.strip()) == [words, *values]
    assert result.stdout.isascii()


def test_all_shows_every_decision_with_its_luck() -> None:
    result = invoke(str(SAMPLE), "--all", "-q")
    found = analyze_match(read_mat(SAMPLE)).games[0]
    rows = re.findall(r"^ +\d+ (?:Alice|Bob) .*$", result.stdout, re.MULTILINE)
    assert len(rows) == len(found.decisions)
    plays = [row for row, decision in zip(rows, found.decisions, strict=True) if decision.kind == "play"]
    assert len(plays) == len(found.rolls)
    for row, roll in zip(plays, found.rolls, strict=True):
        assert row.endswith(f"{round(roll.luck, 3) + 0.0:+.3f} {roll.mark}".rstrip())
    assert "other decisions" not in result.stdout
    few = invoke(str(SAMPLE), "--threshold", "0.4", "-q").stdout
    assert len(re.findall(r"^ +\d+ (?:Alice|Bob) .*$", few, re.MULTILINE)) == sum(
        d.loss >= 0.4 for d in found.decisions
    )


def test_json() -> None:
    result = invoke(str(SAMPLE), "--json")
    told = json.loads(result.stdout.splitlines()[-1])
    assert told == {"file": str(SAMPLE), **json.loads(json.dumps(analyze_match(read_mat(SAMPLE)).as_dict()))}
    assert told["schema"] == "bgnet.analyze_match/1"


def test_money_from_standard_input_with_rules_and_one_game() -> None:
    told = json.loads(invoke("-", "--json", "--jacoby", "--beavers", typed=MONEY).stdout.splitlines()[-1])
    assert (told["jacoby"], told["beavers"], told["match_equity_table"]) == (True, True, None)
    assert [game["winner"] for game in told["games"]] == [0, None]
    assert told["games"][1]["totals"][1]["points_result"] is None
    assert told["totals"][0]["points_result"] == 1.0
    screen = invoke("-", "--game", "2", "--all", "-q", "--ply", "0", typed=MONEY).stdout
    assert "Game 2: Alice 1, Bob 0; not finished" in screen
    assert "Game 1" not in screen
    assert "money, judged by net:standard, 0-ply\n" in screen
    utf16 = invoke("-", "--json", typed=MONEY.replace("Alice", "Zoë").encode("utf-16"))
    assert json.loads(utf16.stdout.splitlines()[-1])["players"][0] == "Zoë"


def test_the_picture_is_drawn_from_the_analysis(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason='needs the optional package matplotlib: pip install "bgnet[plot]"')
    file = tmp_path / "curve.svg"
    assert invoke(str(SAMPLE), "-q", "--plot", str(file)).exit_code == 0
    assert "<svg" in file.read_text()
    for wrong, words in (
        (tmp_path / "curve.gif", "ends in .png, .svg, .pdf"),
        (tmp_path / "no/a.png", "folder is missing"),
    ):
        refused = invoke(str(SAMPLE), "--plot", str(wrong))
        assert refused.exit_code == 2 and words in refused.stderr


def test_irregular_plays_are_named() -> None:
    text = MONEY.replace("52: 13/8 13/11", "52: 13/8")
    result = invoke("-", typed=text)
    assert result.exit_code == 0, result.output
    assert "note: not judged, since it uses less of its roll than it must: game 2, Bob: 52: 13/8" in result.stderr


BROKEN = MONEY.replace("8/5 6/5", "8/5 6/4")


def test_a_broken_game_is_named_and_left_out() -> None:
    result = invoke("-", typed=BROKEN)
    assert result.exit_code == 1
    assert "note: game 1 is not judged: line 5: Alice, '31: 8/5 6/4': " in result.stderr
    lines = result.stdout.splitlines()
    assert next(line for line in lines if line.startswith("Game")).startswith("Game 1: not judged, line 5: ")
    assert "Game 2: Alice 1, Bob 0; not finished" in lines
    told = json.loads(invoke("-", "--json", typed=BROKEN).stdout.splitlines()[-1])
    assert [game["game"] for game in told["games"]] == [2]
    assert [(game["game"], game["line"]) for game in told["broken_games"]] == [(1, 5)]


def test_a_game_that_is_named_does_not_suffer_from_others() -> None:
    assert invoke("-", "--game", "2", typed=BROKEN).exit_code == 0
    refused = invoke("-", "--game", "1", typed=BROKEN)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "error: game 1 cannot be read: line 5: " in refused.stderr


def test_an_opening_roll_of_doubles_has_no_luck() -> None:
    result = invoke("-", "--json", typed=MONEY.replace("31: 8/5 6/5", "33: 8/5(2) 6/3(2)"))
    assert result.exit_code == 0
    assert "note: no luck is told of it, since no game opens with doubles: game 1, Alice: 33" in result.stderr
    game = json.loads(result.stdout.splitlines()[-1])["games"][0]
    assert [(roll["turn"], roll["dice"]) for roll in game["rolls"]] == [(2, [6, 4])]
    assert game["decisions"][0]["dice"] == [3, 3]


BAD = [
    (["nowhere.mat"], "record", "cannot read 'nowhere.mat': No such file or directory", None),
    (["-"], "record", "line 5: ", BROKEN.replace("13/8 13/11", "13/8 13/10")),
    (["-"], "record", "this is not a .mat file", ""),
    (["-", "--game", "3"], "match_analysis", "there is no game 3: the record has 2", MONEY),
    ([str(SAMPLE), "--jacoby"], "match_analysis", "belong to money play", None),
    ([str(SAMPLE), "--bot", "random"], "bot_spec", "no chances to give", None),
    ([str(SAMPLE), "--progress", "loud"], "value", "progress mode 'loud'", None),
]


@pytest.mark.parametrize(("arguments", "kind", "words", "typed"), BAD, ids=lambda value: str(value)[:30])
def test_what_is_wrong_is_said(arguments: list[str], kind: str, words: str, typed: str | None) -> None:
    plain = invoke(*arguments, typed=typed)
    assert (plain.exit_code, plain.stdout) == (2, "")
    assert plain.stderr.startswith("error: ") and words in plain.stderr
    error = json.loads(invoke(*arguments, "--json", typed=typed).stdout)["error"]
    assert error["kind"] == kind
    assert words in error["message"]


def test_the_help_has_the_formulas_and_its_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    shown = " ".join(re.sub("[│╭╮╰╯─]", " ", invoke("--help").stdout).split())
    for words in ("1000 S /", "500 S /", "all plays of both players", "less the mean over all rolls"):
        assert words in shown
    examples = [line for line in EPILOG.splitlines() if line.startswith("bgnet ")]
    assert len(examples) == 2
    for example in examples:
        assert invoke(*shlex.split(example)[2:], "-q").exit_code == 0
