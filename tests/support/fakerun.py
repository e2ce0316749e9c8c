"""A finished run of the fake engine on a home of its own, made once for the tests of what is done with a result."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from forking import Call
from studying import FAR, OWN

RISKY = """
[unsafe]
reason = "Faster, and without a protection: not packaged by itself. Behind speed400, so chance makes it no winner."
recipe = { c = ["-DFAKE_SPEED=110"], hardening = false }
"""


def tuned(root: Path, *variants: str) -> Path:
    """Runs `tune fake` on these variants; returns the home."""
    home = root / "home"
    own = root / "own.toml"
    own.write_text(OWN + FAR + RISKY)
    done = called(
        home, "tune", "fake", "--yes", "--recipes", own, "--variant", ",".join(("baseline", *variants)),
        "--starts", "3", "--pairs", "1", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return home


def called(home: Path, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """One call of the command line in that home."""
    environment = os.environ | {"BURNISH_HOME": str(home), "COLUMNS": "100"} | variables
    return Call(*words, env=environment).finished(timeout=550)
