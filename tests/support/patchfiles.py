"""Patches to the fake engine's source, and git trees of it, for the tests of patch studies."""

from __future__ import annotations

import difflib
import shutil
import subprocess
from pathlib import Path

from conftest import FAKE_SOURCE

ROUNDS = "#define ROUNDS 4000UL"
OVERHEAD = "#define OVERHEAD 15UL"
IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def diff(old: str, new: str, *, name: str = "fake_work.c", after: tuple[str, str] | None = None) -> str:
    """A patch that replaces `old` by `new` in a file of the fake source, after another replacement, if any."""
    before = (FAKE_SOURCE / name).read_text()
    if after is not None:
        assert after[0] in before
        before = before.replace(*after, 1)
    assert old in before
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        before.replace(old, new, 1).splitlines(keepends=True),
        f"a/{name}",
        f"b/{name}",
    )
    return "".join(lines)


FASTER = diff(ROUNDS, "#define ROUNDS 1000UL")
"""Four times the capacity; one object of three is compiled anew."""

COMMENT = diff("uint64_t fake_work(", "/* Nothing that a compiler sees. */\nuint64_t fake_work(")
"""No machine code."""

_SERVE = "void fake_serve(int connection)"
OTHER_COMMENT = diff(_SERVE, f"/* Nor here. */\n{_SERVE}", name="fake_serve.c")
"""Likewise, in another object."""


def write(folder: Path, **patches: str) -> list[str]:
    """Patch files in `folder`; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in patches.items():
        (folder / f"{name}.patch").write_text(text)
    return [str(folder / f"{name}.patch") for name in patches]


def git(tree: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", "-C", tree, *words],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tree), "GIT_CONFIG_NOSYSTEM": "1", **IDENTITY},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def git_tree(place: Path, *patches: str) -> Path:
    """The fake source as a git tree: tag ``unpatched``, then a commit for each patch on branch ``work``."""
    shutil.copytree(FAKE_SOURCE, place)
    git(place, "init", "-q")
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "The source")
    git(place, "tag", "unpatched")
    git(place, "checkout", "-q", "-b", "work")
    for number, text in enumerate(patches, 1):
        subprocess.run(["patch", "-p1", "-s"], input=text, cwd=place, text=True, check=True)
        git(place, "commit", "-q", "-a", "-m", f"Change {number}: what it's for")
    return place
