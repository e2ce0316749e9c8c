"""A real tuning of SQLite in a home that the parts of the tests share: its builds take minutes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from real_runs import burnish

VARIANT = "clang-pgo-thinlto"


def tune(home: Path, trials: Sequence[str] = ("--precision", "none", "--max-starts", "3")) -> dict[str, Any]:
    """What `tune --json` prints of the variant against the baseline; only the first call builds."""
    words = ["tune", "sqlite", "--variant", VARIANT, "--workload", "speedtest1", "--pairs", "1", *trials]
    done = burnish(*words, "--yes", "--json", limit=900, home=home)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def folder_of(variant: str, home: Path) -> Path:
    """The folder of a variant's build in that home; tuned first, with the fewest starts, if there is no run."""
    shown = burnish("show", "--json", home=home)
    found = json.loads(shown.stdout) if shown.returncode == 0 else tune(home, ("--starts", "2", "--design", "duet"))
    (key,) = [row["evidence"]["key"] for row in found["builds"] if row["variant"] == variant]
    return home / "store/builds" / key
