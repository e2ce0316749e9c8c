"""One run of the fake engine for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakerun import tuned


@pytest.fixture(scope="session")
def tuned_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a run of baseline, a faster build, one that weakens security and one that fails its gate."""
    return tuned(tmp_path_factory.mktemp("packages"), "speed130", "unsafe", "wrong")
