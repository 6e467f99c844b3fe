"""A run's folder: where it is, what is written there, and how its logs stay whole over interruptions."""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

from bgnet.config import ConfigError, RunConfig, load_config, to_toml
from bgnet.netfile import atomic_write

__all__ = ["RunError", "RunFolder", "RunLog", "commit_id", "machine", "write_json"]


class RunError(ValueError):
    """A run's folder that cannot be used as asked."""


class RunFolder:
    """Paths inside a run's folder, and the rules for making and finding one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.toml"
        self.changes = path / "changes.jsonl"
        self.checkpoints = path / "checkpoints"
        self.log = path / "log.jsonl"
        self.last = path / "last.safetensors"
        self.best = path / "best.safetensors"
        self.summary = path / "summary.json"
        self.pruner = path / "pruner.safetensors"
        self.teacher = path / "teacher.safetensors"
        self.lock = path / ".lock"
        self.failed_batch = path / "failed-batch.safetensors"

    @property
    def is_run(self) -> bool:
        """Whether there is anything that a new run would overwrite or take for its own."""
        files = (
            self.config, self.changes, self.log, self.last, self.best, self.summary, self.pruner, self.teacher,
            self.failed_batch,
        )  # fmt: skip
        return any(path.exists() for path in files) or self.has_checkpoint

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is something to go on from."""
        return any(self.checkpoints.glob("*.safetensors"))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder while a process trains in it; RunError when another one does.

        The system lets go of the lock when the process ends, however it ends.
        """
        if fcntl is None:
            yield
            return
        with _naming(self.lock):
            file = open(self.lock, "w", encoding="utf-8")  # noqa: SIM115 (closed below, and with it the lock)
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise RunError(f"{self.path}: another process is training in this folder") from error
            yield

    @classmethod
    def planned(cls, path: Path | None, name: str, config: RunConfig) -> RunFolder:
        """A new run's folder, not made yet; path None = runs/<name>-<date>-<time>-s<seed>.

        Raises RunError when the folder already holds a run.
        """
        if path is None:
            first = Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}-s{config.seed}"
            others = (first.with_name(f"{first.name}-{n}") for n in range(2, 1000))
            path = next(path for path in (first, *others) if not path.exists())
        run = cls(path)
        if run.is_run:
            raise RunError(f"{path} already holds a run; give another --out, or --resume to go on with it")
        return run

    def create(self, config: RunConfig) -> None:
        """Make the folder and write its config; OSError naming the path when it cannot be written."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.checkpoints.mkdir()  # of two runs that start at once only one passes here
        except FileExistsError as error:
            if not self.path.is_dir():
                raise OSError(error.errno, f"cannot make the folder {self.path}: a file of that name exists") from error
            raise RunError(
                f"{self.path}: another run has just started in this folder, or one was cut short as it began: then "
                f"remove {self.checkpoints.name} in it"
            ) from error
        except OSError as error:
            raise OSError(error.errno, f"cannot make the folder {self.path}: {error.strerror}") from error
        try:
            with atomic_write(self.config) as temporary:
                temporary.write_text(to_toml(config), encoding="utf-8")
        except BaseException:
            self.checkpoints.rmdir()  # or the folder would look taken
            raise

    @classmethod
    def newest(cls, name: str) -> RunFolder:
        """The newest run of a configuration under runs/; another one's name may begin with the same words."""
        named = re.compile(re.escape(name) + r"-\d{8}-\d{6}-s\d+(-\d+)?")  # as `planned` has it
        paths = [path.parent for path in Path("runs").glob("*/config.toml") if named.fullmatch(path.parent.name)]
        found = [path for path in paths if cls(path).has_checkpoint]
        if not found:
            raise RunError(f"runs/ holds no run of {name} to go on with; give its folder with --out")
        return cls(max(found, key=lambda path: (path / "config.toml").stat().st_mtime))

    def stored_config(self) -> RunConfig:
        """What the run goes by: what it was started with, and what was changed since."""
        if not self.config.is_file():
            raise RunError(f"{self.path} holds no run to go on with (no config.toml)")
        try:
            return load_config(self.config)
        except ConfigError as error:
            raise RunError(f"the run's own configuration is damaged: {error}") from error


class RunLog:
    """TensorBoard curves and the JSON-lines log. Steps are games, so runs with other batches compare."""

    def __init__(self, run: RunFolder, games: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._path = run.log
        self._cut_after(games)
        again = any(run.path.glob("events.out.tfevents.*"))
        with _naming(self._path):
            self._file = open(self._path, "a", encoding="utf-8")  # noqa: SIM115 (open as long as the run)
        with _naming(run.path):
            self._board = SummaryWriter(str(run.path), purge_step=games + 1 if again else None)

    def _cut_after(self, games: int) -> None:
        """Drop lines that a resumed run will write again, and a line that was cut short."""
        if not self._path.exists():
            return
        kept = []
        for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                if json.loads(line)["games"] <= games:
                    kept.append(line)
            except (ValueError, KeyError, TypeError):
                continue
        with atomic_write(self._path) as temporary:
            temporary.write_text("".join(line + "\n" for line in kept), encoding="utf-8")

    def text(self, title: str, text: str) -> None:
        """A text in TensorBoard."""
        self._board.add_text(title, f"```\n{text}\n```", 0)

    def numbers(self, games: int, values: Mapping[str, float]) -> None:
        """Curves at a number of games, and the same as one line of the log."""
        with _naming(self._path):
            finite = {name: value if math.isfinite(value) else None for name, value in values.items()}
            self._file.write(json.dumps({"games": games, **finite}) + "\n")
            self._file.flush()
        with _naming(self._path.parent):
            for name, value in values.items():
                self._board.add_scalar(name, value, games)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # what could not be written was reported when it was
            self._board.close()
        with contextlib.suppress(OSError):
            self._file.close()


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """An OSError inside is raised again with the path in its message."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"cannot write {path}: {error.strerror or error}") from error


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file atomically."""
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def commit_id() -> str:
    """The commit of the working tree that this package runs from, with + when it has changes.

    Empty when it is installed elsewhere, be it inside another project's tree.
    """

    def git(*words: str) -> str:
        command = ["git", "-C", str(Path(__file__).parent), *words]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            return ""

    if not git("ls-files", "--error-unmatch", Path(__file__).name):
        return ""
    commit = git("rev-parse", "--short=12", "HEAD")
    return commit + ("+" if commit and git("status", "--porcelain", "--untracked-files=no") else "")


def machine() -> str:
    """Processor and system in a few words."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{name}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
