"""The README's Python code runs, in order, as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_python_code(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out.strip()


def test_there_is_code_and_nothing_left_to_fill_in() -> None:
    assert len(BLOCKS) >= 2
    assert not re.findall(r"@[A-Z]+@|TODO|<!--", README)


def test_files_named_exist() -> None:
    root = Path(__file__).parent.parent
    named = set(re.findall(r"(?:scripts|configs|bgnet|notebooks|engine)/[\w./-]+\w", README))
    missing = [name for name in named if not (root / name).exists()]
    assert not missing
