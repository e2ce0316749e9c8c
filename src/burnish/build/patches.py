"""Applies patches with GNU patch; a failure names the patch, the file and the hunk."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from burnish import process
from burnish.errors import UserError

_PATCHING = re.compile(r"^(?:patching|checking) file (.+?)(?: \((?:renamed|copied|read|already) .*\))?$")
_FAILED = re.compile(r"^Hunk #(\d+) FAILED at (\d+)")
_OUTSIDE = re.compile(r"Ignoring potentially dangerous file name (.+)")
_ABSENT = re.compile(r"^\|\+\+\+ [^/\s]+/([^\t]+)")


def require_patch() -> None:
    """A `UserError` when GNU patch is not installed."""
    if shutil.which("patch") is None:
        raise UserError("`patch` is not installed and this source needs it; install it with `apt install patch`")


def apply(patches: Sequence[Path], tree: Path, *, what: str, exact: bool) -> None:
    """Applies `patches` in order with ``patch -p1``.

    All files that were touched get one time of change, as dpkg-source does: otherwise make could take a
    generated file for older than what it is made from, depending on the order of patches.

    Args:
        patches: unified diffs.
        tree: the folder to change; left half-changed when one fails, so it must be a copy.
        what: the source's name and version, for the message.
        exact: whether the context must match to the line (a package's own patches), or may be fuzzy.

    Raises:
        UserError: a patch does not apply; names file and hunk.
    """
    if patches:
        require_patch()
    touched: set[str] = set()
    for patch in patches:
        argv = [
            "patch",
            "-p1",
            "-u",
            "--batch",
            "--forward",
            "-V",
            "never",
            "--no-backup-if-mismatch",
            "-r",
            "-",
        ]
        argv += ["-F", "0"] if exact else []
        done = process.run(argv, cwd=tree, stdin_file=patch)
        if not done.ok:
            raise UserError(f"{patch}: does not apply to {what}: {_why(done.output)}; mend it or leave it out")
        for line in done.output.splitlines():
            if found := _PATCHING.match(line):
                touched.add(found[1].strip("'"))
    now = time.time()
    for name in touched:
        if (tree / name).is_file():
            os.utime(tree / name, (now, now))


def _why(output: str) -> str:
    """What went wrong, in a few words, from the output of GNU patch."""
    if found := _OUTSIDE.search(output):
        return f"it would change {found[1]}, outside the source"
    file = "?"
    reasons: list[str] = []
    for line in output.splitlines():
        if found := _PATCHING.match(line):
            file = found[1]
        elif found := _FAILED.match(line):
            reasons.append(f"hunk #{found[1]} of {file} (line {found[2]}) does not match")
        elif line.startswith("Reversed (or previously applied)"):
            reasons.append(f"{file} seems to have it already")
        elif found := _ABSENT.match(line):
            reasons.append(f"there is no file {found[1]}")
        elif line.startswith("patch: ****"):
            reasons.append(line.removeprefix("patch: ****").strip())
    shown = reasons[:3] + ([f"and {len(reasons) - 3} more"] if len(reasons) > 3 else [])
    return ", ".join(shown) or output.strip().replace("\n", " ")[:200]
