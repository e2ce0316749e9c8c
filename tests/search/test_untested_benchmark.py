"""The benchmark of untested screens, on one engine: more builds fit into a budget when screens are untested."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "untested.py"


def test_more_builds_are_tried_in_the_same_time() -> None:
    argv = [sys.executable, SCRIPT, "--repetitions", "1", "--hours", "1.5"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    head, _, every, deferred = [
        [cell.strip() for cell in line.strip("| ").split("|")] for line in done.stdout.splitlines()
    ]
    assert (every[1], deferred[1]) == ("every build", "when it goes on")
    builds, used = head.index("builds"), head.index("most used")
    assert int(deferred[builds]) > int(every[builds])
    assert all(int(line[used].removesuffix(" %")) <= 105 for line in (every, deferred))
