"""Tests that a machine may lack something for. What is missing is optional for users too, and CI has the packages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bgnet import peers
from bgnet.gnubg_cli_process import is_installed

__all__ = ["needs_full_device", "needs_gnubg", "needs_peers", "needs_scripts", "posix"]

needs_peers = pytest.mark.skipif(
    not {"pubeval", "gnubg:0", "sage:0"} <= set(peers.available()),
    reason='needs the optional packages gnubg-nn and bgsage: pip install "bgnet[peers]"',
)
needs_gnubg = pytest.mark.skipif(
    not is_installed(), reason="needs the program GNU Backgammon, which is optional: apt install gnubg"
)
needs_scripts = pytest.mark.skipif(
    os.name == "nt", reason="the stand-in is a script with a #! line, which Windows has not"
)
posix = pytest.mark.skipif(os.name != "posix", reason="signals, pipes and pseudo-terminals as POSIX has them")
needs_full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
