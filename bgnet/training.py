"""The training loop: self-play on worker threads, learning in the main thread, one round apart.

While the network learns from the games of round r, the games of round r + 1 are played by the weight average as it
was before that (or by a teacher, see bgnet.run_nets). So the acting network lags by exactly one round, whatever the
machine, and once the number of games is fixed a run depends on its configuration and the networks that this names alone
(and on torch's number of threads and how it multiplies matrices on the processor).
"""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bgnet.arena import ArenaResult
from bgnet.checkpoints import Counters, latest_checkpoint, newest_checkpoint, prune_checkpoints, save_checkpoint
from bgnet.config import RunConfig, differences, to_toml
from bgnet.cores import cores, stand_back
from bgnet.encoding import encode, encoding
from bgnet.evaluators import NetEvaluator, find_net
from bgnet.growth import GrowthError, check_growth, extended, grow
from bgnet.inference import fold
from bgnet.learner import Learner
from bgnet.measures import bellman_residuals, game_statistics
from bgnet.netfile import NetInfo, Weights, load_net, save_net
from bgnet.replay import Pool
from bgnet.run_changes import Change, apply_change, plan_change
from bgnet.run_nets import RunNets
from bgnet.runlog import RunError, RunFolder, RunLog, commit_id, machine, write_json
from bgnet.seeds import NO_SEEDS, pick_seeds
from bgnet.selfplay import Actor, PendingGames, SelfPlay, make_game, play_games, start_games
from bgnet.targets import residual_lambda, td_lambda, training_positions
from bgnet.trial import Trial
from engine.jit import kernels_are_cached
from engine.rules import VARIANTS

__all__ = ["Observer", "Stopped", "Training"]

_LOG_EVERY_ROUNDS = 10
# Shares of `--minutes` between which the speed is measured; before that games are long and kernels may compile.
_MEASURE_FROM, _MEASURE_TO = 0.03, 0.10
_LITTLE = 0.5  # a smaller share of the time left for learning deserves a warning
_SEEDS = 0x27D4EB2F  # turns a run's seed into that of the choice of seeded starts
_RESIDUAL_GAME = 2**31  # the dice stream where games for the residual begin; no run gets so far
_GROWTH_GAME = 2**31 + 2**29  # the dice stream that shows which units of a parent are active
_GROWTH_GAMES = 1000  # so many of its games; in fifty of them a fifth of the flagship's units seem idle, an eighth are
_RENEW_UNTIL = 0.8  # of the run: what starts later has no time to learn
_RENEWAL_POSITIONS = 50_000
_LONG_GAME = 58.0  # plies; games of beginners are longer, so their games/s would underrate the rest of the run


class Stopped(Exception):
    """The run was asked to stop, and has saved a checkpoint."""


class Observer(Protocol):
    """Who shows what happens, and may ask the run to stop."""

    def note(self, text: str) -> None: ...
    def progress(self, counters: Counters, values: dict[str, float]) -> None: ...
    def stop_requested(self) -> bool: ...


class _Watch:
    """Looks during the last games against other bots, which take long, whether the run is asked to stop."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def update(self, n: int, **_: object) -> None:
        if self._observer.stop_requested():
            raise Stopped("stopped while playing the baselines; the network and a checkpoint are saved")


@dataclass(frozen=True)
class _Rates:
    learning_rate: float
    lam: float


class Training:
    """One run, new or resumed."""

    def __init__(
        self,
        run: RunFolder,
        config: RunConfig,
        observer: Observer,
        minutes: float | None = None,
        *,
        resumed: bool = False,
    ) -> None:
        if minutes and config.exact.teacher:
            raise RunError("--minutes measures the speed at a run's start, where a teacher plays: give `games` instead")
        self.run = run
        self.config = config
        self.commit = commit_id()  # now: the working tree may move on while the run goes
        self.observer = observer
        self._noted = False
        self._change = Change(0, [])
        self._from: Path | None = None  # the checkpoint it goes on from
        self.counters = Counters(total_games=0 if minutes else config.games, minutes=minutes or 0.0)
        start_board, checkers = VARIANTS[config.game.variant]
        play = config.selfplay
        self.game = make_game(
            config.payoff, start_board, play.end_at_tables,
            wandering=play.wandering, random_plays=play.random_plays, seeded=config.exact.seeded,
        )  # fmt: skip
        self.encoding = encoding(config.net.encoding, checkers)
        if 0 < config.games <= config.exact.teacher_games:
            observer.note("note: the teacher plays the whole run, exact.teacher_games is not below games")
        self.nets = RunNets(run, config, self.encoding, resumed=resumed)
        self.learner = Learner(config, self.encoding, None if resumed else self._parent())
        self.acting: Weights = self.learner.weights()
        self.seeds = NO_SEEDS
        self.trial = Trial(config)
        self.exact = config.learning.targets == "exact"
        self.pool = Pool(config.exact.pool) if self.exact else None
        self._begun = time.monotonic()
        self._saved_at = 0.0
        self._losses: list[float] = []  # of the rounds since the last line of the log
        self._logged_at = (0.0, 0)
        self.results: list[ArenaResult] = []
        self._measuring: tuple[float, int, int] | None = None

    # ---- beginnings -------------------------------------------------------------------------------------------

    def _parent(self) -> Weights | None:
        """The weights to start from: the parent's, grown where the configuration has wider or more layers."""
        if not self.config.parent:
            return None
        path = find_net(self.config.parent)
        weights, info = load_net(path)
        if not self.encoding.extends(encoding(info.encoding, info.checkers)):
            raise RunError(
                f"{path}: made for {info.encoding} inputs with {info.checkers} checkers, which does not fit the "
                f"configuration's {self.encoding.name} with {self.encoding.checkers}"
            )
        try:
            check_growth(weights, self.config.net.hidden)
        except GrowthError as error:
            raise RunError(f"{path}: {error}") from error
        if info.encoding != self.encoding.name:
            weights = extended(weights, self.encoding)
            self.observer.note(f"grown  from {info.encoding} to {self.encoding.name} inputs, judging as before")
        self._note_compiling()
        # With what good play avoids and what the tables know: units for that are not idle.
        game = self.game._replace(wandering=1.0, random_plays=0.1, use_tables=False)
        boards = play_games(fold(weights, self.encoding), game, self.config.seed, _GROWTH_GAME, _GROWTH_GAMES).boards
        grown, idle = grow(weights, self.config.net.hidden, boards, self.encoding, self.config.seed)
        if grown.sizes != weights.sizes:
            self.observer.note(f"grown  from {'-'.join(map(str, weights.sizes[1:-1]))}, judging as before")
        if idle:
            self.observer.note(f"renew  {idle} units that were active in none of {len(boards):,} positions")
        return grown

    @classmethod
    def resume(
        cls,
        run: RunFolder,
        config: RunConfig | None,
        observer: Observer,
        minutes: float | None = None,
        settings: list[str] | None = None,
    ) -> Training:
        """Go on with a run from its newest checkpoint. Raises RunError when `config` is not the run's own.

        minutes counts only as long as the number of games is not fixed. settings: `key=value` changes of the
        configuration from here on (see bgnet.run_changes); raises ConfigError or RunError for those that cannot be.
        """
        stored = run.stored_config()
        changed = differences(stored, config) if config is not None else []
        if changed:
            raise RunError(
                f"{run.path} has another configuration: {', '.join(changed)}; to change it: --resume {run.path} --set"
            )
        if not run.has_checkpoint and not any(run.checkpoints.glob("*.damaged")):
            observer.note(f"{run.path} has no checkpoint yet: it starts from the beginning")
            config, _, change = plan_change(run, settings or [], Counters(total_games=stored.games))
            training = cls(run, config, observer, minutes)
            training._change = change
            return training
        path, counters, tensors = newest_checkpoint(run.checkpoints)
        config, counters, change = plan_change(run, settings or [], counters)
        training = cls(run, config, observer, resumed=True)
        training.counters, training._change, training._from = counters, change, path
        for key in change.keys:
            observer.note(f"change {key} from {counters.games:,} games on")
        if minutes is not None and counters.total_games:
            observer.note(
                f"the run ends at {counters.total_games:,} games, as was fixed before; --minutes changes nothing"
            )
        elif minutes is not None:
            counters.minutes = minutes
        training.learner.restore(tensors, counters.steps)
        acting = [np.asarray(tensors[f"acting.{i}"], np.float32) for i in range(len(training.learner.parameters))]
        training.acting = Weights(acting[0::2], acting[1::2])
        training.seeds = np.array(tensors.get("seeds", NO_SEEDS), np.int8)
        if training.pool is not None:
            training.pool.restore(tensors)
        training._logged_at = (counters.seconds, counters.games)
        fixed = f" of {counters.total_games:,}" if counters.total_games else ""
        observer.note(f"resume {path} at {counters.games:,} games{fixed}")
        return training

    # ---- the loop ---------------------------------------------------------------------------------------------

    def go(self) -> dict[str, Any]:
        """Train to the end -> the summary. Raises Stopped, NonFiniteLoss, RunError, OSError."""
        with self.run.locked():
            if self._from is not None and self._from != latest_checkpoint(self.run.checkpoints):
                raise RunError(f"{self.run.path}: another process has gone on with this run meanwhile; resume it again")
            self._from = None
            summary = self._old_summary() if self._finished() else None
            if summary is not None:
                self.observer.note("the run is finished already")
            return summary or self._go()

    def _old_summary(self) -> dict[str, Any] | None:
        """What was written at the end; None when that is missing, damaged, or from before the run was made longer."""
        try:
            summary: dict[str, Any] = json.loads(self.run.summary.read_text(encoding="utf-8"))
            return summary if summary["games"] == self.counters.games else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _go(self) -> dict[str, Any]:
        self._begun = time.monotonic() - self.counters.seconds
        apply_change(self.run, self.config, self._change)
        if not self._finished():
            self.run.summary.unlink(missing_ok=True)  # of a run that is made longer: it would tell of the old end
        self.save()  # an unwritable folder or a full disk shows now, and a resume finds something
        log = RunLog(self.run, self.counters.games)
        threads = self.config.selfplay.threads or max(1, cores() - 1)
        # Only the main thread learns: were it to share its core evenly, the others would be done early and stand idle.
        executor = ThreadPoolExecutor(threads, thread_name_prefix="selfplay", initializer=stand_back)
        try:
            if not self.counters.games:
                log.text("config", to_toml(self.config))
                log.text("run", f"commit {self.commit}\n{machine()}")
            self.nets.prepare(self._evaluator(), self.game, self.observer.note, begun=self.counters.games > 0)
            self.counters.seconds = time.monotonic() - self._begun
            self._compile()
            self._begun = time.monotonic() - self.counters.seconds
            pending = self._start_round(executor, self.counters.games)
            while not self._finished():
                games = pending.result()
                self.acting = self.learner.weights()
                self.seeds = self._pick_seeds()
                upcoming = self.counters.games + len(games.finals)
                pending = self._start_round(executor, upcoming)
                self._learn(games, log)
                self._renew_if_due(len(games.finals))
                self._fix_total(log)
                self._evaluate_if_due(log)
                self._after_round()
            self.save()
            return self._finish(log)
        finally:
            executor.shutdown(wait=True, cancel_futures=True)
            log.close()

    def _compile(self) -> None:
        """Call every kernel once, so that compiling is not counted as training time."""
        self._note_compiling()
        net = self._evaluator()
        games = play_games(self._actor(self.counters.games), self.game, self.config.seed, 0, 1)
        encode(games.boards, self.encoding)
        self._targets(games, 0.5)
        bellman_residuals(net, self.game, games.boards)
        self.trial.play(net, 2)

    def _note_compiling(self) -> None:
        if not self._noted and not kernels_are_cached(Path(__file__).parent, "_play", "_encode", "choose_kernel"):
            self.observer.note("compiling kernels, once per version, up to a minute")
        self._noted = True

    def _finished(self) -> bool:
        return 0 < self.counters.total_games <= self.counters.games

    def _start_round(self, executor: ThreadPoolExecutor, first_game: int) -> PendingGames:
        count = self.config.selfplay.games_per_round
        if self.counters.total_games:
            count = max(0, min(count, self.counters.total_games - first_game))
        game = self.game._replace(seeds=self.seeds)
        return start_games(executor, self._actor(first_game), game, self.config.seed, first_game, count)

    def _pick_seeds(self) -> NDArray[np.int8]:
        """Positions of the pool where games of the next round may begin; int8[0, 26] if that is not wanted."""
        if self.pool is None or not self.config.exact.seeded:
            return NO_SEEDS
        rng = np.random.Generator(np.random.Philox(key=[self.config.seed ^ _SEEDS, self.counters.rounds]))
        return pick_seeds(self.pool.boards[: self.pool.size], self.config.selfplay.games_per_round, rng)

    def _actor(self, first_game: int) -> Actor:
        """Who plays the round that begins with this game."""
        return self.nets.actor(fold(self.acting, self.encoding), first_game)

    def _rates(self) -> _Rates:
        """The schedules at the games played so far; until the total is fixed, their start."""
        c, learning = self.counters, self.config.learning
        share = min(c.games / c.total_games, 1.0) if c.total_games else 0.0
        rate = learning.learning_rate + share * (learning.final_learning_rate - learning.learning_rate)
        if c.games < learning.warmup_games:
            rate *= (c.games + self.config.selfplay.games_per_round) / (
                learning.warmup_games + self.config.selfplay.games_per_round
            )
        way = min(share / learning.lambda_until, 1.0)
        return _Rates(rate, learning.lambda_start + way * (learning.lambda_end - learning.lambda_start))

    def _learn(self, games: SelfPlay, log: RunLog) -> None:
        c, rates = self.counters, self._rates()
        picked = training_positions(games, exact=self.exact)
        boards, targets, order = self._lesson(games, picked, rates.lam)
        loss = float("nan")
        if len(order):  # every play of a round may have been a random one
            loss = self.learner.learn(boards, targets, rates.learning_rate, order, self.run.failed_batch)
            self._losses.append(loss)
        c.rounds += 1
        c.games += len(games.finals)
        c.positions += len(picked)  # not the draws from a pool: the speed of play is measured by them
        c.steps = self.learner.steps
        c.seconds = time.monotonic() - self._begun
        if c.rounds % _LOG_EVERY_ROUNDS == 0 or self._finished():
            since_seconds, since_games = self._logged_at
            values = {
                "train/lr": rates.learning_rate,
                "train/lambda": rates.lam,
                "selfplay/games_per_s": (c.games - since_games) / max(c.seconds - since_seconds, 1e-9),
                "time/seconds": c.seconds,
                **game_statistics(games),
            }
            if self._losses:
                values |= {"train/loss": float(np.mean(self._losses)), "train/grad_norm": self.learner.gradient_norm()}
            log.numbers(c.games, values)
            self._losses, self._logged_at = [], (c.seconds, c.games)
        self.observer.progress(c, {"loss": loss, "lr": rates.learning_rate})

    def _lesson(
        self, games: SelfPlay, picked: NDArray[np.int64], lam: float
    ) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.int64]]:
        """What to learn from after a round: positions, targets, and the order in which they are taken."""
        rng = np.random.Generator(np.random.Philox(key=[self.config.seed, self.counters.rounds]))
        targets = self._targets(games, lam)
        if self.pool is None:
            return games.boards, targets, picked[rng.permutation(len(picked))]
        self.pool.add(games.boards[picked], targets[picked])
        # Scaled while the pool fills, so that the first positions are not learned by heart.
        draws = max(1, round(self.config.exact.reuse * len(picked) * self.pool.size / len(self.pool.boards)))
        return self.pool.boards, self.pool.targets, rng.integers(0, self.pool.size, size=draws)

    def _renew_if_due(self, games: int) -> None:
        """After the last `games` games: start idle units anew if a renewal falls into them."""
        c, renewals = self.counters, self.config.exact.renewals
        if not renewals or self.pool is None or not c.total_games:
            return

        def due(played: int) -> int:
            return min(int(played * renewals / (_RENEW_UNTIL * c.total_games)), renewals)

        if due(c.games) > due(c.games - games):
            sample = self.pool.boards[: self.pool.size][:: max(1, self.pool.size // _RENEWAL_POSITIONS)]
            count = self.learner.renew(sample, self.config.seed + c.rounds)
            self.observer.note(f"renew  {count} units that were active in none of {len(sample):,} positions")

    def _targets(self, games: SelfPlay, lam: float) -> NDArray[np.float32]:
        return residual_lambda(games, lam) if self.exact else td_lambda(games, lam)

    def _after_round(self) -> None:
        now = time.monotonic()
        if self.observer.stop_requested():
            path = self.save()
            raise Stopped(f"stopped at {self.counters.games:,} games; saved {path}")
        if now - self._saved_at >= self.config.checkpoints.every_seconds:
            self.save()

    # ---- a total that fits a time -----------------------------------------------------------------------------

    def _fix_total(self, log: RunLog) -> None:
        """With `--minutes`: measure the speed for a while, then fix the number of games for good."""
        c = self.counters
        if c.total_games:
            return
        budget = 60 * c.minutes
        if self._measuring is None:
            if c.seconds >= _MEASURE_FROM * budget:
                self._measuring = (c.seconds, c.games, c.positions)
            return
        if c.seconds < _MEASURE_TO * budget:
            return
        since, games_then, positions_then = self._measuring
        positions = c.positions - positions_then
        length = min(max(positions, 1) / (c.games - games_then), _LONG_GAME)  # all plays may be random: no positions
        speed = max(positions, 1) / (c.seconds - since) / length
        before = time.monotonic()
        self._evaluate(log)
        one = time.monotonic() - before
        evaluation = self.config.evaluation
        later = one * (evaluation.times + evaluation.final_games / evaluation.games)
        c.seconds = time.monotonic() - self._begun
        left = max(budget - c.seconds - later, 0.0)
        per_round = self.config.selfplay.games_per_round
        c.total_games = c.games + max(1, round(speed * left / per_round)) * per_round
        c.evaluations = c.evaluations_due(self.config.evaluation.times)
        if left < _LITTLE * budget:
            self.observer.note(
                f"note: playing the baselines takes most of {c.minutes:g} minutes; --set evaluation.final_games=400 or "
                "evaluation.times=2 leaves more for learning"
            )
        self.save()  # from here on the run depends on nothing but what is saved
        self.observer.note(f"{speed:,.0f} games/s so far: {c.total_games:,} games fit {c.minutes:g} minutes")

    # ---- measuring and saving ---------------------------------------------------------------------------------

    def _evaluate_if_due(self, log: RunLog) -> None:
        c = self.counters
        if not c.total_games or self._finished():
            return
        due = c.evaluations_due(self.config.evaluation.times)
        if due > c.evaluations:
            c.evaluations = due
            self._evaluate(log)

    def _evaluate(self, log: RunLog) -> None:
        c = self.counters
        net = self._evaluator()
        results = self.trial.play(net, self.config.evaluation.games)
        values = self.trial.curves(results)
        values |= self._residuals(net)
        log.numbers(c.games, values)
        line = " | ".join(self.trial.short(result) for result in results)
        self.observer.note(f"{c.games:,} games: {line}  residual {values['learn/bellman_rms']:.3f}")
        self._keep_best(results)

    def _keep_best(self, results: list[ArenaResult]) -> None:
        c = self.counters
        if not results:
            return
        against, score = results[-1].b, results[-1].points_per_game
        if c.best_score is None or c.best_against not in (None, against) or score > c.best_score:
            c.best_score, c.best_against = score, against
            self._save_net(self.run.best)

    def _evaluator(self) -> NetEvaluator:
        return NetEvaluator(self.learner.weights(), self._info(), name=str(self.run.path))

    def _info(self) -> NetInfo:
        c = self.counters
        return NetInfo(
            sizes=self.learner.weights().sizes,
            encoding=self.encoding.name,
            encoding_version=self.encoding.version,
            rules=self.config.game.rules,
            checkers=self.encoding.checkers,
            games=c.games,
            seconds=round(c.seconds, 1),
            seed=self.config.seed,
            commit=self.commit,
            parent=self.config.parent,
            config=to_toml(self.config),
        )

    def _save_net(self, path: Path) -> None:
        save_net(path, self.learner.weights(), self._info())

    def save(self) -> Path:
        """Write a checkpoint, then drop the oldest."""
        self.counters.seconds = time.monotonic() - self._begun
        tensors = self.learner.state()
        tensors |= {f"acting.{i}": array for i, array in enumerate(self.acting.arrays())} | {"seeds": self.seeds}
        tensors |= self.pool.state() if self.pool is not None else {}
        path = save_checkpoint(self.run.checkpoints, replace(self.counters), tensors)
        prune_checkpoints(self.run.checkpoints, self.config.checkpoints.keep)
        self._saved_at = time.monotonic()
        return path

    def _finish(self, log: RunLog) -> dict[str, Any]:
        c = self.counters
        self._save_net(self.run.last)
        net = self._evaluator()
        results: list[ArenaResult] = []
        if self.config.evaluation.final_games:
            self.observer.note(f"playing {self.config.evaluation.final_games:,} games against each baseline")
            results = self.trial.play(net, self.config.evaluation.final_games, _Watch(self.observer))
            log.numbers(c.games, self.trial.curves(results) | self._residuals(net))
            self._keep_best(results)
            self.save()  # with the score of the best, for a run that is lengthened later
        c.seconds = time.monotonic() - self._begun
        summary = {
            "schema": "bgnet.train/1",
            "games": c.games,
            "positions": c.positions,
            "seconds": c.seconds,
            "games_per_s": c.games / c.seconds,
            "net": str(self.run.last.resolve()),
            "best": str(self.run.best.resolve()) if self.run.best.is_file() else None,
            "run": str(self.run.path.resolve()),
            "layers": self.learner.weights().sizes,
            "weights": self.learner.weights().count,
            "seed": self.config.seed,
            "commit": self.commit,
            "machine": machine(),
            "precision": self.learner.precision,
            "results": [result.as_dict() for result in results],
        }
        write_json(self.run.summary, summary)
        self.results = results
        return summary

    def _residuals(self, net: NetEvaluator) -> dict[str, float]:
        """Bellman residuals on positions from fresh games of the network."""
        games = play_games(net.folded, self.game, self.config.seed, _RESIDUAL_GAME, 10)
        return bellman_residuals(net, self.game, games.boards)
