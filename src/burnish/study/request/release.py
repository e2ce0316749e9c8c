"""The release binary that rows of bundled studies are about: the distribution's server, installed or to be had."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from burnish.model.engine import EngineSpec


def installed(spec: EngineSpec) -> Path | None:
    """The path of the distribution's installed server program, or None."""
    folders = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/libexec"])
    path = shutil.which(Path(spec.server).name, path=folders)
    return Path(path) if path else None


def lacking(spec: EngineSpec, named: Path | None) -> str | None:
    """Why there is no release binary here; None if there is one, or a package from which it is taken.

    Args:
        spec: the engine.
        named: the program that the user named, if any.
    """
    if named is not None or spec.release_package is not None or installed(spec) is not None:
        return None
    program = Path(spec.server).name
    return f"no release binary: `{program}` is not installed, and no package has it; --release PATH names one"
