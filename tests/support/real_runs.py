"""Runs of the command line on real servers, in a process of its own from the beginning, as a user starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest


def burnish(*words: str | Path, limit: float = 900, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    """One call, of so many seconds at most; in the test's own home unless another one is named."""
    variables = {"COLUMNS": "80"} | ({} if home is None else {"BURNISH_HOME": str(home)})
    return subprocess.run(
        [sys.executable, "-m", "burnish", *map(str, words)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=limit,
        check=False,
        env=os.environ | variables,
    )


def calm(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows; the test is skipped where the hypervisor takes so much that Burnish refuses the figures."""
    for row in found["rows"]:
        if row["verdict"] == "invalid" and "the hypervisor took" in row["reason"]:
            pytest.skip(row["reason"])
    return cast("list[dict[str, Any]]", found["rows"])
