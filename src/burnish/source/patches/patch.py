"""Applies and reverts patches with GNU patch; a failure names the patch, the file and the hunk."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.base import process, temporary
from burnish.base.errors import UserError

_PATCHING = re.compile(r"^(?:patching|checking) file (.+?)(?: \((?:renamed|copied|read|already) .*\))?$")
_FAILED = re.compile(r"^Hunk #(\d+) FAILED at (\d+)")
_OUTSIDE = re.compile(r"Ignoring potentially dangerous file name (.+)")
_ABSENT = re.compile(r"^\|\+\+\+ [^/\s]+/([^\t]+)")
_ELSEWHERE = re.compile(r"^Hunk #(\d+) succeeded at \d+ (.*)\.$")


class PatchError(UserError):
    """A patch that does not apply.

    Args:
        message: the complete message.
        why: what does not match (file and hunk), in a few words.
    """

    def __init__(self, message: str, why: str) -> None:
        super().__init__(message)
        self.why = why


@dataclass(frozen=True)
class Patch:
    """A patch with its content.

    Attributes:
        path: its file, for messages.
        content: its bytes.
        reverted: whether it is reverted instead of applied.
    """

    path: Path
    content: bytes = field(repr=False)
    reverted: bool = False

    @property
    def word(self) -> str:
        """Its spelling in a recipe: the path, after ``-R`` if it is reverted."""
        return f"-R {self.path}" if self.reverted else str(self.path)

    @property
    def turned(self) -> Patch:
        """The same patch in the other direction."""
        return Patch(self.path, self.content, not self.reverted)

    @property
    def sha256(self) -> str:
        """Hex digest of its content."""
        return hashlib.sha256(self.content).hexdigest()


def require_patch() -> None:
    """Raises a `UserError` if GNU patch is not installed."""
    if shutil.which("patch") is None:
        raise UserError("`patch` is not installed and this source needs it; install it with `apt install patch`")


def apply(patches: Sequence[Path | Patch], tree: Path, *, what: str, exact: bool) -> tuple[str, ...]:
    """Applies `patches` in order with ``patch -p1``; those to be reverted with ``-R``.

    All changed files get the same modification time, as with dpkg-source: otherwise, depending on the order of patches,
    make could consider a generated file older than its source.

    Args:
        patches: unified diffs.
        tree: the folder to change; it must be a copy, because it is left partly changed if a patch fails.
        what: the source's name and version, for the message.
        exact: whether the context must match exactly (a package's own patches), or may be fuzzy.

    Returns:
        A line for each hunk that was applied at another line than stated, or with other context.

    Raises:
        PatchError: a patch does not apply; the message names file and hunk.
        UserError: GNU patch is not installed.
    """
    if patches:
        require_patch()
    touched: set[str] = set()
    moved: list[str] = []
    for patch in patches:
        output = _apply_one(patch, tree, what, exact)
        file = "?"
        for line in output.splitlines():
            if match := _PATCHING.match(line):
                file = match[1].strip("'")
                touched.add(file)
            elif match := _ELSEWHERE.match(line):
                name = (patch.path if isinstance(patch, Patch) else patch).name
                moved.append(f"{name}: hunk #{match[1]} of {file} applies {match[2]}")
    now = time.time()
    for name in touched:
        if (tree / name).is_file():
            os.utime(tree / name, (now, now))
    return tuple(moved)


def _apply_one(patch: Path | Patch, tree: Path, what: str, exact: bool) -> str:
    """Applies one patch; returns the output of GNU patch."""
    argv = ["patch", "-p1", "-u", "--batch", "--forward", "-V", "never", "--no-backup-if-mismatch", "-r", "-"]
    argv += ["-F", "0"] if exact else []
    if isinstance(patch, Path):
        done = process.run(argv, cwd=tree, stdin_file=patch)
        if not done.ok:
            why = _why(done.output)
            raise PatchError(f"{patch}: does not apply to {what}: {why}; fix it or leave it out", why)
        return done.output
    with tempfile.NamedTemporaryFile(suffix=".patch", dir=temporary.folder()) as file:
        file.write(patch.content)
        file.flush()
        done = process.run([*argv, *(["-R"] if patch.reverted else [])], cwd=tree, stdin_file=Path(file.name))
    if not done.ok:
        does = "cannot be reverted in" if patch.reverted else "does not apply to"
        why = _why(done.output)
        raise PatchError(f"{patch.path}: {does} {what}: {why}; fix it or leave it out", why)
    return done.output


def _why(output: str) -> str:
    """What went wrong, in a few words, from the output of GNU patch."""
    if match := _OUTSIDE.search(output):
        return f"it would change {match[1]}, outside the source"
    file = "?"
    reasons: list[str] = []
    for line in output.splitlines():
        if match := _PATCHING.match(line):
            file = match[1]
        elif match := _FAILED.match(line):
            reasons.append(f"hunk #{match[1]} of {file} (line {match[2]}) does not match")
        elif line.startswith("Reversed (or previously applied)"):
            reasons.append(f"{file} seems to have it already")
        elif line.startswith("Unreversed patch detected"):
            reasons.append(f"{file} does not seem to have it")
        elif match := _ABSENT.match(line):
            reasons.append(f"there is no file {match[1]}")
        elif line.startswith("patch: ****"):
            reasons.append(line.removeprefix("patch: ****").strip())
    shown = reasons[:3] + ([f"and {len(reasons) - 3} more"] if len(reasons) > 3 else [])
    return ", ".join(shown) or output.strip().replace("\n", " ")[:200]
