"""What all tests share: hypothesis without randomness from run to run."""

from __future__ import annotations

import os

from hypothesis import settings

# Every run tries the same examples, so a red run can be repeated;
# HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
