"""Revisions of git repositories as sources: ``FOLDER:REVISION``, without a checkout of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.base import process
from burnish.base.errors import UserError
from burnish.source import archives

_TOP = "source"


@dataclass(frozen=True)
class Revision:
    """A revision of a repository.

    Attributes:
        folder: a folder of the repository; what is in it is the source.
        name: the revision as it was named.
        commit: its commit.
        tree: git's digest of the folder's content in it.
    """

    folder: Path
    name: str
    commit: str
    tree: str


def is_revision(source: Path) -> bool:
    """Whether a source is named as ``FOLDER:REVISION``: there is no such file, but there is such a folder."""
    folder, found, name = str(source).rpartition(":")
    return bool(found and name and not source.exists() and Path(folder).is_dir())


def revision_of(source: Path) -> Revision:
    """The revision that `source` names (see `is_revision`).

    Raises:
        UserError: the folder is in no repository, or the repository lacks the revision.
    """
    folder, _, name = str(source).rpartition(":")
    found = _git(Path(folder), "rev-parse", "--git-dir")
    if not found.ok:
        # A repository of another user's is one too, and git says how to allow it.
        said = " ".join(found.output.split())
        why = "is in no git repository" if not said or "not a git repository" in said else f"can't be read ({said})"
        raise UserError(f"{source}: {folder} {why}; name a folder, or an archive")
    commit = _git(Path(folder), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not commit.ok:
        raise UserError(
            f"{source}: {folder} has no revision {name!r}; `git -C {folder} tag` shows tags, and `git fetch --tags` "
            "brings them"
        )
    sha = commit.output.strip()
    tree = _git(Path(folder), "rev-parse", "--verify", "--quiet", f"{sha}:./")
    if not tree.ok:
        raise UserError(f"{source}: revision {name} does not have this folder; name one that it has")
    return Revision(Path(folder), name, sha, tree.output.strip())


def submodules(revision: Revision) -> list[str]:
    """Paths of the submodules, of which git keeps no content in this repository."""
    listed = _git(revision.folder, "ls-tree", "-r", "-z", "--full-tree", revision.tree)
    entries = listed.check("asking git for the files of a revision").output.split("\0")
    return [entry.partition("\t")[2] for entry in entries if entry.startswith("160000 ")]


def export(revision: Revision, place: Path, only: Collection[str] | None = None) -> None:
    """Makes the revision's files as the new folder `place`, from what git has stored; its parent must exist.

    Args:
        revision: the revision.
        place: where they appear.
        only: the files that are made, as far as the revision has them; None: all.
    """
    names: list[str] = []
    if only is not None:
        listed = _git(revision.folder, "ls-tree", "-z", "--name-only", revision.commit, "--", *only)
        names = listed.check("asking git for the files of a revision").output.strip("\0").split("\0")
        if names == [""]:
            place.mkdir()
            return
    packed = place.with_name(f"{place.name}.git.tar")
    pack(revision, packed, f"{_TOP}/", names)
    archives.extract(packed, place)
    packed.unlink()


def pack(revision: Revision, file: Path, prefix: str = "", names: Sequence[str] = ()) -> None:
    """Writes the revision's files, or those with these names, as a tar that is the same for the same commit."""
    words = ["archive", "--format=tar", f"--prefix={prefix}", f"--output={file.resolve()}", revision.commit, *names]
    _git(revision.folder, *words).check("asking git for the files of a revision")


def _git(folder: Path, *words: str) -> process.Completed:
    return process.run(["git", "-C", folder, *words], timeout=600)
