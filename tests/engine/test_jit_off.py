"""Kernels mean the same interpreted as compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_generator_with_the_jit_off():
    run = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.jit_off_sample"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "positions agree with the JIT off" in run.stdout
