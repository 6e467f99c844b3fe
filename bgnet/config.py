"""Run files: what a training run does, as validated TOML. Unknown keys and values out of range stop it."""

from __future__ import annotations

import difflib
import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from bgnet.encoding import ENCODINGS
from engine.rules import PRESETS

__all__ = ["ConfigError", "RunConfig", "differences", "load_config", "make_config", "to_toml"]


class ConfigError(ValueError):
    """A run file that cannot be used; the message names the key."""


class _Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True, allow_inf_nan=False
    )


class NetConfig(_Section):
    encoding: str = "classic"
    """How a board becomes inputs: classic, one-hot or tactical; see bgnet.encoding. A network of classic inputs can be
    the parent of one of tactical inputs."""
    hidden: list[Annotated[int, Field(ge=1, le=16384)]] = Field(default=[512, 32], min_length=1, max_length=8)
    """Widths of the hidden layers. The first is folded, so width there is cheap at play time."""

    @field_validator("encoding")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in ENCODINGS:
            raise ValueError(f"unknown encoding {value!r}, there are: {', '.join(ENCODINGS)}")
        return value


class GameConfig(_Section):
    variant: Literal["backgammon", "nackgammon", "hypergammon"] = "backgammon"
    """The start board (and, for hypergammon, three checkers a side)."""
    rules: Literal["money", "dmp"] = "money"
    """What the acting network plays for: money counts gammons and backgammons, dmp only wins."""


class SelfPlayConfig(_Section):
    games_per_round: int = Field(default=250, ge=1, le=1_000_000)
    """Games between two updates of the acting network, which lags one round behind."""
    threads: int = Field(default=0, ge=0, le=1024)
    """Threads that play; 0 = all cores but one, at least one. The games do not depend on it."""
    end_at_tables: bool = False
    """End a game where the exact endgame tables know the position, and learn from what they say of it (from exact
    backups only as far as learning.lambda_end is above 0)."""
    wandering: float = Field(default=0.0, ge=0, le=1)
    """Share of the games with random plays in them, which lead to positions that good play avoids."""
    random_plays: float = Field(default=0.1, ge=0, le=1)
    """The chance of every play of such a game to be a random one. Targets stay those of greedy play."""


class LearningConfig(_Section):
    targets: Literal["td", "exact"] = "td"
    """td: TD(lambda) on the games as they went. exact: exact one-roll backups, see the section `exact`."""
    batch_size: int = Field(default=512, ge=1, le=1_000_000)
    """Positions in a minibatch."""
    learning_rate: float = Field(default=1e-3, gt=0, le=1)
    """Adam's step size at the start."""
    final_learning_rate: float = Field(default=1e-5, gt=0, le=1)
    """Its value at the end; it falls linearly with the games played."""
    warmup_games: int = Field(default=0, ge=0)
    """Games over which the learning rate rises from zero first."""
    lambda_start: float = Field(default=0.7, ge=0, le=1)
    """TD(lambda) at the start; with exact backups the weight of a residual one play further on."""
    lambda_end: float = Field(default=0.0, ge=0, le=1)
    """TD(lambda) from `lambda_until` on; it moves linearly until then."""
    lambda_until: float = Field(default=0.5, gt=0, le=1)
    """Share of the run after which lambda stays at its end."""
    plain_width: int = Field(default=128, ge=1, le=1_000_000)
    """A layer with more inputs than this from the layer before learns at a rate smaller in proportion. It keeps the
    units of narrow second layers behind wide first ones alive (see bgnet.learner); networks that are wide further back
    learn faster with 16384, all layers at the full rate (configs/README.md)."""
    equity_weight: float = Field(default=0.0, ge=0, le=1000)
    """Weight of the squared error of the equity (points squared, by game.rules) beside the cross-entropy. Plays are
    chosen by equity: a little cross-entropy can be much equity where an ending is almost certain."""
    average: float = Field(default=0.999, ge=0, lt=1)
    """Decay per step of the weight average that plays and is saved; 0 = no averaging."""
    precision: Literal["single", "bfloat16", "auto"] = "single"
    """Of the matrix products while learning; weights and the optimizer are always single. Measured: bfloat16 took half
    the time of a minibatch on a processor with AVX-512 BF16, and 24 times as long on one with AVX2 alone, which must
    emulate it. auto: bfloat16 where torch says that a GPU or an x86 processor has it."""
    threads: int = Field(default=1, ge=1, le=1024)
    """Torch's threads. More than one spins beside busy self-play; results depend on the number."""


class ExactConfig(_Section):
    """Exact one-roll backups (learning.targets = "exact"): worth it once the network, or its teacher, has a Bellman
    residual below about 0.05. With sampled targets the keys of this section mean nothing."""

    prune_to: int = Field(default=5, ge=1, le=20_475)
    """How many results of a roll the network judges; a small network picks them."""
    pruner: str = ""
    """That small network; empty = it is distilled from the teacher, else the parent, at the start of the run."""
    pruner_hidden: list[Annotated[int, Field(ge=1, le=16384)]] = Field(default=[128, 16], min_length=1, max_length=8)
    """Hidden layers of the distilled one, which has classic inputs."""
    pruner_games: int = Field(default=8000, ge=1, le=1_000_000)
    """Games whose positions it is distilled on."""
    teacher: str = ""
    """A network that plays and judges at first in the place of the one that learns, which so can have any shape and
    start from zero."""
    teacher_games: int = Field(default=0, ge=0)
    """For how many games, rounded up to whole rounds."""
    pool: int = Field(default=500_000, ge=1, le=50_000_000)
    """How many of the last positions are kept to learn from."""
    reuse: float = Field(default=4.0, gt=0, le=1000)
    """Draws from the pool for each new position."""
    seeded: float = Field(default=0.0, ge=0, le=1)
    """Share of the games that begin in a position of the pool where a side plays a back game, both hold each other
    behind primes, or one bears in against an anchor, and end where that is over (see bgnet.seeds)."""
    renewals: int = Field(default=0, ge=0, le=1000)
    """How often, evenly over the first four fifths of the run, units that are active in none of some 50,000 positions
    of the pool start anew. High learning rates kill many (see bgnet.learner). Left out are those that fall due while
    `--minutes` has not fixed the number of games yet."""


class EvaluationConfig(_Section):
    opponents: list[str] = ["random", "pubeval", "gnubg:0"]
    """Bots to play against; those whose package is missing are left out with a note. `best.safetensors` is the network
    with the highest score against the last of them so far, which is a noisy choice."""
    times: int = Field(default=10, ge=0, le=10_000)
    """Evaluations during the run, evenly spaced, the last one at its end not counted."""
    games: int = Field(default=400, ge=2, le=1_000_000)
    """Duplicate games against each opponent in each of them."""
    final_games: int = Field(default=4000, ge=0, le=10_000_000)
    """Duplicate games against each opponent at the end; 0 = none."""

    @field_validator("games", "final_games")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError(f"must be even (every dice sequence is played from both sides), not {value}")
        return value


class CheckpointConfig(_Section):
    every_seconds: float = Field(default=20.0, gt=0)
    """Least time between two checkpoints; they never change the result."""
    keep: int = Field(default=3, ge=1, le=1000)
    """How many to keep."""


class RunConfig(_Section):
    """Everything that decides what a run learns."""

    games: int = Field(default=600_000, ge=1, le=2**31)
    """Games of self-play in all; `--minutes` finds the number that fits a time instead."""
    seed: int = Field(default=1, ge=0, le=2**32 - 1)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where torch trains. Play never moves."""
    parent: str = ""
    """A network to start from instead of from zero."""
    net: NetConfig = NetConfig()
    game: GameConfig = GameConfig()
    selfplay: SelfPlayConfig = SelfPlayConfig()
    learning: LearningConfig = LearningConfig()
    exact: ExactConfig = ExactConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    checkpoints: CheckpointConfig = CheckpointConfig()

    @model_validator(mode="after")
    def _keys_agree(self) -> RunConfig:
        learning = self.learning
        if bool(self.exact.teacher) != bool(self.exact.teacher_games):
            raise ValueError("exact.teacher and exact.teacher_games (at least 1) go together: name both or none")
        if self.exact.teacher and learning.targets != "exact":
            raise ValueError('exact.teacher needs learning.targets = "exact"')
        if learning.targets == "exact" and not self.parent and not self.exact.teacher:
            raise ValueError(
                'learning.targets = "exact" goes on from a network: name one with parent (on the command line --from), '
                "or one to learn from with exact.teacher and exact.teacher_games"
            )
        if learning.targets == "exact" and self.selfplay.end_at_tables and not learning.lambda_end:
            raise ValueError(
                "selfplay.end_at_tables needs learning.lambda_end above 0 (0.7, say) beside exact backups: the network "
                "judges them, and only lambda carries back what the tables say"
            )
        if learning.final_learning_rate > learning.learning_rate:
            raise ValueError(
                f"learning.final_learning_rate {learning.final_learning_rate} is above "
                f"learning.learning_rate {learning.learning_rate}"
            )
        return self

    @property
    def payoff(self) -> NDArray[np.float32]:
        """float32[6], what the acting network plays for."""
        return PRESETS[self.game.rules].payoff


def load_config(path: str | Path, settings: list[str] | None = None) -> RunConfig:
    """Read a run file and apply `key=value` settings (values in TOML, e.g. learning.average=0.99).

    Raises ConfigError naming the file and the key.
    """
    path = Path(path)
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: there is no such run file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from error
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    for setting in settings or []:
        _apply(raw, setting)
    return make_config(raw, str(path))


def make_config(raw: dict[str, Any], where: str) -> RunConfig:
    """A configuration from nested keys and values; ConfigError that begins with `where` and names the key."""
    try:
        return RunConfig.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(f"{where}: " + "; ".join(_explain(e) for e in error.errors())) from error


def _apply(raw: dict[str, Any], setting: str) -> None:
    key, equals, text = setting.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts) or "\n" in text:
        raise ConfigError(f"--set {setting!r}: expected key=value, as in learning.average=0.99")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        value = text.strip()  # a word needs no quotes
    section = raw
    for part in parts[:-1]:
        section = section.setdefault(part, {})
        if not isinstance(section, dict):
            raise ConfigError(f"--set {setting!r}: {part} is not a section")
    section[parts[-1]] = value


def _keys(model: type[BaseModel], prefix: str = "") -> list[str]:
    keys: list[str] = []
    for name, info in model.model_fields.items():
        kind = info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            keys += _keys(kind, f"{prefix}{name}.")
        else:
            keys.append(prefix + name)
    return keys


def _explain(error: Any) -> str:
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        close = difflib.get_close_matches(key, _keys(RunConfig), n=1, cutoff=0.7)
        return f"unknown key {key}" + (f"; did you mean {close[0]}?" if close else "")
    message = error["msg"].removeprefix("Value error, ")
    return f"{key}: {message}, got {error['input']!r}" if key else message


def to_toml(config: RunConfig) -> str:
    """The whole configuration, defaults included, as TOML that `load_config` reads back."""
    top, sections = [], []
    for key, value in config.model_dump().items():
        if isinstance(value, dict):
            sections.append("\n".join([f"\n[{key}]", *(f"{k} = {_toml(v)}" for k, v in value.items())]))
        else:
            top.append(f"{key} = {_toml(value)}")
    return "\n".join([*top, *sections]) + "\n"


def _toml(value: Any) -> str:
    """JSON and TOML write values alike, but for DEL and for escapes of characters beyond 16 bits."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def differences(one: RunConfig, other: RunConfig) -> list[str]:
    """The keys whose values differ, with both values."""

    def flat(config: RunConfig) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in config.model_dump().items():
            out |= {f"{key}.{k}": v for k, v in value.items()} if isinstance(value, dict) else {key: value}
        return out

    a, b = flat(one), flat(other)
    return [f"{key} ({a[key]!r} / {b[key]!r})" for key in a if a[key] != b[key]]
