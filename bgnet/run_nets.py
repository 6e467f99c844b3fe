"""The networks that a run uses besides the one that learns, kept in its folder so that they cannot change under it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bgnet.config import RunConfig
from bgnet.distill import distill
from bgnet.encoding import Encoding
from bgnet.encoding import encoding as make_encoding
from bgnet.evaluators import NetEvaluator, find_net, load
from bgnet.inference import FoldedNet
from bgnet.netfile import NetInfo, Weights, load_net, save_net
from bgnet.runlog import RunError, RunFolder
from bgnet.selfplay import Actor, Game

__all__ = ["RunNets"]


class RunNets:
    """Who plays and who prunes in a run: `actor` says it for every round.

    In a run on sampled targets that is the learning network alone. Raises NetFileError for a network that the
    configuration names and that there is not, RunError for one that does not fit.
    """

    def __init__(self, run: RunFolder, config: RunConfig, encoding: Encoding, *, resumed: bool) -> None:
        self._run = run
        self._exact = config.exact
        self._is_exact = config.learning.targets == "exact"
        self._seed = config.seed
        self._encoding = encoding
        self._pruner: FoldedNet | None = None
        self._teacher: NetEvaluator | None = None
        for name in (config.exact.pruner, config.exact.teacher):
            if name and self._is_exact and not resumed:
                self._fitting(name)  # what cannot start is refused before there is a folder

    def prepare(self, net: NetEvaluator, game: Game, note: Callable[[str], None], *, begun: bool) -> None:
        """Put the networks into the run's folder, or find them there when the run has begun.

        net: the one that learns. Where no pruning network is named one is distilled, which takes a while. Raises
        RunError when a run that has begun has lost one.
        """
        if not self._is_exact:
            return
        exact, run = self._exact, self._run
        if exact.teacher:
            if self._is_missing(run.teacher, begun):
                save_net(run.teacher, *self._fitting(exact.teacher))
            self._teacher = load(run.teacher)
        if self._is_missing(run.pruner, begun):
            if exact.pruner:
                weights, info = self._fitting(exact.pruner)
            else:
                note(f"distilling the pruning network from {exact.pruner_games:,} games")
                plain = make_encoding("classic", self._encoding.checkers)  # it judges every result, so it must be quick
                weights = distill(
                    self._teacher or net, plain, game, exact.pruner_hidden,
                    run.failed_batch, games=exact.pruner_games, seed=self._seed,
                )  # fmt: skip
                info = replace(
                    net.info, sizes=weights.sizes, encoding=plain.name, encoding_version=plain.version,
                    note="picks results for exact backups",
                )  # fmt: skip
            save_net(run.pruner, weights, info)
        self._pruner = load(run.pruner).folded

    def actor(self, acting: FoldedNet, first_game: int) -> Actor:
        """Who plays the round that begins with this game: the teacher at first if there is one, later `acting`."""
        if not self._is_exact:
            return Actor(acting, acting, 0)
        if self._pruner is None:
            raise RuntimeError("the run's networks are not there yet: prepare() comes first")
        if self._teacher is not None and first_game < self._exact.teacher_games:
            acting = self._teacher.folded
        return Actor(acting, self._pruner, self._exact.prune_to)

    def _is_missing(self, file: Path, begun: bool) -> bool:
        """Whether the file has yet to be made; RunError when it should be there."""
        if begun and not file.is_file():
            raise RunError(
                f"{file} is gone: without the same network the run cannot go on. Put it back, or begin a new run"
            )
        return not file.is_file()

    def _fitting(self, name: str) -> tuple[Weights, NetInfo]:
        path = find_net(name)
        weights, info = load_net(path)
        if info.checkers != self._encoding.checkers:
            raise RunError(f"{path}: made for {info.checkers} checkers a side, the run has {self._encoding.checkers}")
        return weights, info
