"""Scripts that Burnish writes, run as on a machine that never saw it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def run_script(
    script: Path, *words: str | Path, cwd: Path, limit: float = 120, **variables: str | Path
) -> subprocess.CompletedProcess[str]:
    """Runs a script far from Burnish: nothing of our environment but the path of programs; both outputs in one."""
    cwd.mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), **{name: str(value) for name, value in variables.items()}}
    return subprocess.run(
        ["sh", script, *words],
        cwd=cwd,
        env=env,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=limit,
    )
