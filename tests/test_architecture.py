"""The house's rules: which room may know which, what may be imported when, what every kernel states."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("engine/**/*.py"), *ROOT.glob("bgnet/**/*.py")])
ONLY_TRAINING_IMPORTS_TORCH = {"learner.py", "network.py", "training.py", "runlog.py"}


def imported(path: Path) -> set[str]:
    """Top names of everything that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


def modules_after(code: str) -> set[str]:
    command = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def test_engine_imports_little() -> None:
    allowed = {"engine", "numpy", "numba", "platformdirs"} | set(sys.stdlib_module_names)
    for path in ROOT.glob("engine/*.py"):
        assert imported(path) <= allowed, path


def test_torch_stays_where_training_is() -> None:
    for path in SOURCES:
        if "torch" in imported(path):
            assert path.name in ONLY_TRAINING_IMPORTS_TORCH, path


@pytest.mark.parametrize(
    "code",
    [
        "import engine; engine.legal_plays(engine.START, (3, 1))",
        "import bgnet; bgnet.load('standard')",
        "import bgnet; bgnet.player('random')",
        "import bgnet.arena, bgnet.baselines, bgnet.cli, bgnet.benchmark",
    ],
)
def test_playing_needs_no_torch(code: str) -> None:
    loaded = modules_after(code)
    assert not loaded & {"torch", "tensorboard", "pydantic.main", "scipy"}
    if code.startswith("import engine"):
        assert "bgnet" not in loaded


def test_bgnet_imports_nothing_before_it_is_asked() -> None:
    assert not modules_after("import bgnet; dir(bgnet)") & {"numpy", "numba", "torch", "typer"}


def kernels() -> list[tuple[Path, ast.FunctionDef]]:
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "kernel" for d in node.decorator_list):
                found.append((path, node))
    return found


def test_kernels_state_their_contract() -> None:
    assert len(kernels()) > 20
    for path, node in kernels():
        doc = ast.get_docstring(node) or ""
        assert "->" in doc, f"{path}:{node.lineno} {node.name}"


def test_numba_is_used_through_one_door() -> None:
    for path in SOURCES:
        if path.name not in ("jit.py", "linear.py"):  # linear.py makes intrinsics
            assert "numba" not in imported(path), path


def test_public_names_exist_and_have_docstrings() -> None:
    import bgnet
    import engine

    for package in (engine, bgnet):
        for name in package.__all__:
            value = getattr(package, name)
            if callable(value):
                assert value.__doc__, name
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path


def test_files_stay_readable() -> None:
    for path in [*SOURCES, *ROOT.glob("tests/**/*.py"), *ROOT.glob("scripts/*.py")]:
        assert len(path.read_text(encoding="utf-8").splitlines()) < 520, path


def test_kernels_that_are_looked_for_exist() -> None:
    """Else a command says at every start that kernels must be compiled."""
    defined = {
        name for path in SOURCES for name in re.findall(r"@kernel\ndef (\w+)\(", path.read_text(encoding="utf-8"))
    }
    named = {
        name
        for path in SOURCES
        for call in re.findall(r"(?:note_compiling|kernels_are_cached)\((.*)\)", path.read_text(encoding="utf-8"))
        for name in re.findall(r'"(\w+)"', call)
        if name not in ("none", "reference")
    }
    assert len(named) > 5 and named <= defined, named - defined
