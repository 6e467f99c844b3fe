"""Bots by name, random play, evaluators as players; shipping a network; the speed benchmark; `bgnet nets`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import bgnet
from bgnet.arena import play
from bgnet.evaluators import NetEvaluator
from bgnet.netfile import NetFileError, load_net
from bgnet.peers import BotSpecError
from bgnet.players import EvaluatorPlayer, RandomPlayer, bot_name, evaluator, player
from bgnet.runlog import RunFolder
from bgnet.search import Search
from bgnet.shipping import ship
from engine import ArrayError, BoardError, DiceError, legal_afterstates
from tests.bgnet.nets import random_net, some_positions


def test_names() -> None:
    assert isinstance(player("random"), RandomPlayer)
    net = random_net([16])
    assert player(net).evaluator is net  # type: ignore[attr-defined]
    assert player(ready := EvaluatorPlayer(net)) is ready
    assert isinstance(bgnet.player("net:standard"), EvaluatorPlayer)
    deep = bgnet.player("net:standard@2ply")
    assert isinstance(deep, Search) and deep.ply == 2


def test_the_evaluator_inside_a_bot() -> None:
    net = random_net([16])
    assert evaluator(net) is net and evaluator(EvaluatorPlayer(net)) is net
    assert isinstance(evaluator("net:standard"), NetEvaluator)
    search = Search(net, 1)
    assert evaluator(search) is search, "an object may look ahead"
    for bot, words in (("random", "bot 'random' chooses plays"), (RandomPlayer(5), r"bot 'RandomPlayer\(seed=5\)' ch")):
        with pytest.raises(BotSpecError, match=words):
            evaluator(bot)


def test_what_bots_are_called() -> None:
    names = ["net:x", "random", "RandomPlayer(seed=5)", "random weights", "random weights"]
    net = random_net([16])
    assert [bot_name(bot) for bot in ("net:x", RandomPlayer(), RandomPlayer(5), net, EvaluatorPlayer(net))] == names


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("randm", r"unknown bot 'randm'; did you mean random\?"),
        ("standard", r"did you mean net:standard\?"),
        ("", "unknown bot ''"),
        ("gnubg:7", "gnubg:7"),
        ("net:standard@2", r"write for example net:standard@2ply"),
        ("net:", "no network ''"),
        ("net:nosuch", "no network 'nosuch'"),
        (7, "not 7"),
    ],
)
def test_unknown_names(spec: object, words: str) -> None:
    with pytest.raises((BotSpecError, NetFileError), match=words):
        player(spec)  # type: ignore[arg-type]


def test_random_play_is_uniform_and_independent_of_the_batch() -> None:
    boards, dice = some_positions()
    bot = RandomPlayer(seed=1)
    together = bot.choose(boards, dice)
    assert (bot.choose(boards[50:60], dice[50:60]) == together[50:60]).all()
    assert (RandomPlayer(seed=2).choose(boards, dice) != together).any()
    # Over many seeds every result of one position comes up about equally often (chi-square, 5 sigma).
    many = next(
        i for i in range(len(boards)) if 6 <= len(legal_afterstates(boards[i][None], dice[i][None]).boards) < 20
    )
    board, roll = boards[many][None], dice[many][None]
    results = legal_afterstates(board, roll).boards
    seen = [bot.choose(board, roll)[0].tobytes() for bot in map(RandomPlayer, range(3000))]
    counts = np.array([seen.count(result.tobytes()) for result in results])
    expected = 3000 / len(results)
    assert ((counts - expected) ** 2 / expected).sum() < len(results) - 1 + 5 * np.sqrt(2 * len(results))


@pytest.mark.parametrize("bot", [RandomPlayer(), EvaluatorPlayer(random_net([16]))], ids=["random", "net"])
def test_bad_input_is_refused(bot: bgnet.Player) -> None:
    boards, dice = some_positions()
    with pytest.raises(ArrayError):
        bot.choose(boards.astype(np.int64), dice)
    with pytest.raises(ArrayError, match="3000 boards need 3000 rolls"):
        bot.choose(boards, dice[:3])
    with pytest.raises(DiceError):
        bot.choose(boards, np.zeros_like(dice))
    with pytest.raises(BoardError, match="game is over"):
        bot.choose(np.eye(1, 26, 6, dtype=np.int8), dice[:1])
    assert bot.choose(boards[:0], dice[:0]).shape == (0, 26)


def test_a_net_against_itself_scores_nothing() -> None:
    net = random_net([16])
    assert play(net, net, 20).points_per_game == 0


def test_load_is_ready_without_torch_and_quick_names_the_net() -> None:
    net = bgnet.load("standard")
    assert isinstance(net, NetEvaluator)
    assert net.info.sizes == [196, 512, 32, 6]
    assert repr(net) == "NetEvaluator('standard', 512-32)"


def test_the_standard_net_plays_well_known_openings() -> None:
    import engine

    bot = bgnet.player("net:standard")
    for roll, best in {(3, 1): "8/5 6/5", (4, 2): "8/4 6/4", (6, 1): "13/7 8/7", (5, 3): "8/3 6/3"}.items():
        chosen = bot.choose(engine.START.board[None], np.array([roll], np.int8))[0]
        plays = engine.legal_plays(engine.START, roll)
        assert next(p.notation for p in plays if (p.position.board == chosen).all()) == best


def test_shipping_needs_a_finished_run(tmp_path: Path) -> None:
    with pytest.raises(NetFileError, match="only finished runs"):
        ship(RunFolder(tmp_path), "x", "a note", tmp_path)


def test_shipping_writes_a_net_and_its_card(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("games = 20\n[net]\nhidden = [16]\n[evaluation]\nopponents = ['random']\n")
    words = ["train", tmp_path / "run.toml", "--out", tmp_path / "run", "--set", "evaluation.final_games=20", "--json"]
    done = subprocess.run([sys.executable, "-m", "bgnet", *map(str, words)], check=True, capture_output=True, text=True)
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["games"] == 20
    net, card = ship(RunFolder(tmp_path / "run"), "small", "A test", tmp_path)
    weights, info = load_net(net)
    original, _ = load_net(tmp_path / "run/last.safetensors")
    assert info.note == "A test"
    assert all(np.allclose(a, b, atol=1e-3) for a, b in zip(weights.arrays(), original.arrays(), strict=True))
    assert (
        "| 20 games, 0.0 M positions; from zero, all games its own |" in card.read_text()
        and "`random` | 20 |" in card.read_text()
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"name": ""}, "a network's name"),
        ({"name": "../x"}, "a network's name"),
        ({"parent": ""}, "a name on one line"),
        ({"parent": "a\nb"}, "a name on one line"),
        ({"parent": "a|b"}, "a name on one line"),
        ({"teacher": "T"}, "teacher: the run had none"),
        ({"pruner": "P"}, "pruner: the run had none"),
    ],
)
def test_shipping_under_names_that_cannot_be_writes_nothing(
    shipped_run: RunFolder, tmp_path: Path, words: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ship(shipped_run, **{"name": "x", "note": "A test", "folder": tmp_path, **words})  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["some net", '\\1 "quoted"', "\U0001f600"])
def test_shipping_names_the_parent(shipped_run: RunFolder, tmp_path: Path, name: str) -> None:
    net, card = ship(shipped_run, "x", "A test", tmp_path, parent=name)
    info = load_net(net)[1]
    assert info.parent == name and tomllib.loads(info.config)["parent"] == name
    assert f"started from {name}, all games its own" in card.read_text()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"games": 4}'])
def test_a_damaged_summary_is_named_and_nothing_is_written(shipped_run: RunFolder, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "run"
    shutil.copytree(shipped_run.path, folder)
    (folder / "summary.json").write_text(text)
    with pytest.raises(NetFileError, match=r"summary\.json is damaged"):
        ship(RunFolder(folder), "x", "A test", tmp_path)
    results = json.loads((shipped_run.path / "summary.json").read_text())
    (folder / "summary.json").write_text(json.dumps({**results, "results": [{}]}))
    with pytest.raises(NetFileError, match=r"summary\.json is damaged"):
        ship(RunFolder(folder), "x", "A test", tmp_path)
    assert not list(tmp_path.glob("x.*"))


def test_a_single_pair_has_no_interval(shipped_run: RunFolder, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(shipped_run.path, folder)
    summary = json.loads((folder / "summary.json").read_text())
    summary["results"][0] |= {"interval": None, "points_per_game": 1.5, "games": 2, "wins": 2}
    (folder / "summary.json").write_text(json.dumps(summary))
    _, card = ship(RunFolder(folder), "x", "A test", tmp_path)
    assert "| `random` | 2 | +1.500 | 100.0% |" in card.read_text()


@pytest.fixture(scope="module")
def shipped_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Four games on from the network `beginner`."""
    folder = tmp_path_factory.mktemp("shipped")
    text = (
        "games = 4\nparent = 'beginner'\n[net]\nhidden = [128, 16]\n[evaluation]\ntimes = 0\nopponents = ['random']\n"
    )
    (folder / "run.toml").write_text(text)
    words = ["train", folder / "run.toml", "--out", folder / "run", "--quiet", "--set", "evaluation.final_games=4"]
    subprocess.run([sys.executable, "-m", "bgnet", *map(str, words)], check=True)
    return RunFolder(folder / "run")


def test_shipping_needs_games_against_others(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("games = 20\n[net]\nhidden = [16]\n[evaluation]\ntimes = 0\nfinal_games = 0\n")
    words = ["train", tmp_path / "run.toml", "--out", tmp_path / "run", "--quiet"]
    subprocess.run([sys.executable, "-m", "bgnet", *map(str, words)], check=True, capture_output=True)
    with pytest.raises(NetFileError, match=r"evaluation\.final_games"):
        ship(RunFolder(tmp_path / "run"), "x", "a note", tmp_path)
    assert not list(tmp_path.glob("x.*"))


@pytest.mark.parametrize("words", [[], ["standard"], ["--paths"]])
def test_nets_command(words: list[str]) -> None:
    command = [sys.executable, "-m", "bgnet", "nets", *words]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout
    done = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["schema"] == "bgnet.nets/1"


def test_nets_command_names_an_unknown_net() -> None:
    done = subprocess.run([sys.executable, "-m", "bgnet", "nets", "nosuch"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no network 'nosuch'" in done.stderr


@pytest.mark.parametrize("bad", [np.full((9999, 6), np.nan), np.zeros((3, 6)), np.zeros((9999, 5)), np.zeros(0)])
def test_evaluators_that_give_nonsense_are_named(bad: np.ndarray) -> None:
    class Nonsense:
        def outcomes(self, boards: np.ndarray) -> np.ndarray:
            return bad[: len(boards)]

        def __repr__(self) -> str:
            return "Nonsense()"

    boards, dice = some_positions()
    with pytest.raises(ValueError, match=r"Nonsense\(\) must give finite chances"):
        EvaluatorPlayer(Nonsense()).choose(boards[:10], dice[:10])
