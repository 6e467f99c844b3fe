"""Run files: defaults, round trip, and every kind of mistake named."""

from __future__ import annotations

from pathlib import Path

import pytest

from bgnet.config import ConfigError, RunConfig, differences, load_config, to_toml

ROOT = Path(__file__).parent.parent.parent


def test_every_shipped_run_file_is_explained() -> None:
    text = (ROOT / "configs/README.md").read_text(encoding="utf-8")
    assert [path.name for path in ROOT.glob("configs/*.toml") if f"| `{path.name}` |" not in text] == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("configs/*.toml")), ids=lambda path: path.stem)
def test_shipped_run_files(path: Path, tmp_path: Path) -> None:
    config = load_config(path)
    (tmp_path / "again.toml").write_text(to_toml(config))
    assert load_config(tmp_path / "again.toml") == config
    for name in filter(None, (config.parent, config.exact.teacher)):
        assert name.startswith("runs/"), "a network that is shipped under a name may be another tomorrow"


def test_the_standard_network() -> None:
    assert load_config(ROOT / "configs/standard.toml").net.hidden == [512, 32]


@pytest.mark.parametrize("name", ["a\x7fb", "\U0001f600", "a\\b", 'a"b', "a\tb", "a\u2028b"])
def test_any_name_can_be_written_and_read(tmp_path: Path, name: str) -> None:
    config = RunConfig(parent=name)
    (tmp_path / "run.toml").write_text(to_toml(config), encoding="utf-8")
    assert load_config(tmp_path / "run.toml") == config


def load(tmp_path: Path, text: str, *settings: str) -> RunConfig:
    (tmp_path / "run.toml").write_text(text)
    return load_config(tmp_path / "run.toml", list(settings))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "[learning]\nlearning_rat = 0.1",
            r"unknown key learning\.learning_rat; did you mean learning\.learning_rate\?",
        ),
        ("gamse = 3", r"unknown key gamse; did you mean games\?"),
        ("[xyz]\na = 1", "unknown key xyz"),
        ("games = 0", r"games: .*greater than or equal to 1, got 0"),
        ("games = '7'", "games: .*integer"),
        ("games = true", "games: .*integer"),
        ("seed = -1", "seed"),
        ("device = 'tpu'", "device: .*'auto', 'cpu' or 'cuda'"),
        ("[net]\nhidden = []", r"net\.hidden"),
        ("[net]\nhidden = [0]", r"net\.hidden\.0"),
        ("[net]\nencoding = 'pips'", r"net\.encoding: unknown encoding 'pips', there are: classic"),
        ("[learning]\nlambda_start = 1.5", r"learning\.lambda_start"),
        ("[learning]\naverage = 1.0", r"learning\.average"),
        ("[learning]\nlearning_rate = nan", r"learning\.learning_rate"),
        ("[learning]\nfinal_learning_rate = 0.5", "final_learning_rate 0.5 is above"),
        (
            "parent = 'x'\n[selfplay]\nend_at_tables = true\n[learning]\ntargets = 'exact'",
            "end_at_tables needs learning.lambda_end above 0",
        ),
        ("[evaluation]\ngames = 3", r"evaluation\.games: must be even"),
        ("[game]\nrules = 'match'", r"game\.rules"),
        ("games = ", "not TOML"),
        ("games = [" + "[" * 100_000, "not TOML"),
        ("games = " + "9" * 5000, "not TOML|games"),
        ("games = 1" + "0" * 400, "games"),
        ("[checkpoints]\nevery_seconds = inf", r"checkpoints\.every_seconds"),
        ("net = 3", "net"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        load(tmp_path, text)
    assert "run.toml" in str(caught.value)


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, "games = 0\nseed = -1")
    assert "games" in str(caught.value) and "seed" in str(caught.value)


def test_settings(tmp_path: Path) -> None:
    config = load(tmp_path, "games = 5", "games=7", "net.hidden=[8, 4]", "device=cpu", "learning.average = 0.5")
    assert (config.games, config.net.hidden, config.device, config.learning.average) == (7, [8, 4], "cpu", 0.5)


@pytest.mark.parametrize("setting", ["games", "=3", "net..hidden=3", "games.x=1", "games=5\nseed=9"])
def test_bad_settings(tmp_path: Path, setting: str) -> None:
    with pytest.raises(ConfigError, match="--set|unknown key"):
        load(tmp_path, "games = 5", setting)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such run file"):
        load_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "binary.toml")


def test_differences_are_listed() -> None:
    one = RunConfig()
    other = one.model_copy(update={"games": 3, "net": one.net.model_copy(update={"hidden": [4]})})
    assert differences(one, other) == [f"games ({one.games} / 3)", "net.hidden ([512, 32] / [4])"]
    assert differences(one, one) == []


def test_any_text_survives_the_round_trip(tmp_path: Path) -> None:
    """Characters beyond 16 bits, quotes, backslashes, controls; and a byte order mark in front."""
    config = RunConfig(parent='\U0001f600 "quoted" \\ back \t tab')
    (tmp_path / "run.toml").write_text("\ufeff" + to_toml(config), encoding="utf-8")
    assert load_config(tmp_path / "run.toml") == config
