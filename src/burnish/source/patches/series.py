"""The patches of a study: from files, quilt series and git ranges to named patches."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.base import process
from burnish.base.digest import digest_of
from burnish.base.errors import UserError, together, unknown
from burnish.catalogue.patches import located
from burnish.record.store import Entry, Store
from burnish.source.patches import patch_set
from burnish.source.patches.patch import Patch

SERIES = "series"
"""Name of a quilt series file."""

EVERY = "all"
"""Means all patches where a patch is named; also the name of the build with all of them."""

TAKEN = ("unpatched", EVERY)
"""Reserved names of builds, which no patch may have."""

_RANGE = re.compile(r"(?:(?P<tree>.+):)?(?P<first>[^\s:]*[^\s:./])\.\.(?P<last>(?:[^\s:./][^\s:]*)?)")
_OPTIONS = {"-R", "-p1", "-pab"}
_NO_FILE = "; name a patch file, a quilt series, or a git range as in A..B"
_DIFF = ("diff-tree", "-p", "--root", "--no-commit-id", "--no-renames", "--no-ext-diff", "--no-textconv", "--relative")


@dataclass(frozen=True)
class Named:
    """A patch with its name in the report.

    Attributes:
        name: unique in the study; begins with ``without-`` if the patch is reverted.
        patch: its content and direction.
        origin: where it comes from, for people.
    """

    name: str
    patch: Patch
    origin: str


@dataclass(frozen=True)
class _PatchFile:
    """A requested patch file, before it is read."""

    path: Path
    origin: str
    reverted: bool = False


def read(words: Sequence[str], *, tree: Path | None, store: Store, reverse: Sequence[str] = ()) -> tuple[Named, ...]:
    """The requested patches, in order.

    Args:
        words: patch files, or names of bundled ones (``patches/SET/NAME``); a quilt series (the file, named
            ``series``, or its folder); a git range ``A..B`` of `tree`, or ``FOLDER:A..B`` of another folder.
        tree: the source's folder, if it is one; git ranges without a folder refer to it.
        store: keeps the patches of a range, so that the study can be resumed.
        reverse: names of patches that are reverted instead of applied; ``all`` for all of them.

    Raises:
        UserError: files that are not patches, series that name missing files, ranges that are empty or unknown; the
            message has a line for each.
    """
    problems: list[UserError] = []
    requested: list[_PatchFile] = []
    for word in words:
        try:
            requested += _of_word(word, tree, store)
        except UserError as error:
            problems.append(error)
    patches_read: list[tuple[_PatchFile, Patch]] = []
    for file in requested:
        try:
            patches_read.append(
                (file, patch_set.read_one(file.path, file.origin, hint=_NO_FILE, reverted=file.reverted))
            )
        except UserError as error:
            problems.append(error)
    if problems:
        raise together(problems)
    _check_unique(patches_read)
    return _directed(_named(patches_read), reverse)


def _of_word(word: str, tree: Path | None, store: Store) -> list[_PatchFile]:
    path = located(word)
    if path.is_dir():
        if not (path / SERIES).is_file():
            raise UserError(
                f"{word}: a folder without a file `{SERIES}`; name the patches themselves, in the order in which they "
                "are applied, or a git range"
            )
        return _quilt(path / SERIES)
    if path.name == SERIES and path.is_file():
        return _quilt(path)
    match = None if path.exists() else _RANGE.fullmatch(word)
    if match is None:
        return [_PatchFile(path.absolute(), str(path))]
    folder = Path(match["tree"]).expanduser() if match["tree"] else tree
    if folder is None:
        raise UserError(f"{word}: a git range needs a folder; write FOLDER:{word}")
    return _range(word, folder, match["first"], match["last"] or "HEAD", store)


def _quilt(series: Path) -> list[_PatchFile]:
    """The patches of a quilt series file: a name and options (``-p1``, ``-R``) on each line."""
    try:
        lines = series.read_text(errors="replace").splitlines()
    except OSError as error:
        raise UserError(f"{series}: cannot be read ({error.strerror})") from None
    files, problems = [], []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"{series}: line {number}"
        name, *options = words
        unsupported = [option for option in options if option not in _OPTIONS]
        if unsupported:
            problems.append(
                UserError(f"{where}: option {unsupported[0]}: patches are applied with -p1; make it a -p1 patch")
            )
        elif not (series.parent / name).is_file():
            problems.append(UserError(f"{where}: names {name}, which does not exist; fix the series or add the patch"))
        else:
            path = (series.parent / name).absolute()
            files.append(_PatchFile(path, str(series.parent / name), reverted="-R" in options))
    if problems:
        raise together(problems)
    if not files:
        raise UserError(f"{series}: has no patches; a series has one on each line")
    return files


def _range(word: str, folder: Path, first: str, last: str, store: Store) -> list[_PatchFile]:
    """A patch for each commit of a git range, kept in the store under a key that depends on the commits only."""
    if not folder.is_dir():
        raise UserError(f"{word}: there is no folder {folder}")
    prefix = _git(folder, "rev-parse", "--show-prefix")
    if not prefix.ok:
        raise UserError(f"{word}: {folder} is not a git tree ({_git_error(prefix.output)}); name patch files instead")
    ends = []
    for revision in (first, last):
        commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if not commit.ok:
            raise UserError(f"{word}: {folder} has no commit {revision!r}; `git log` shows those that it has")
        ends.append(commit.output.strip())
    listed = _git(folder, "rev-list", "--reverse", "--topo-order", "--parents", "..".join(ends))
    commits = [line.split() for line in listed.check("asking git for the commits").output.splitlines()]
    if not commits:
        raise UserError(
            f"{word}: the range is empty: {last} has no commit that {first} lacks; is it the wrong way round?"
        )
    if merges := [commit for commit, *parents in commits if len(parents) > 1]:
        raise UserError(
            f"{word}: holds {len(merges)} merges ({merges[0][:12]}), which are not patches; name a range without "
            "(`git rebase` makes one), or patch files"
        )
    shas = [commit for commit, *_ in commits]
    entry = _kept(store, folder, shas, prefix.output.strip())
    files = []
    for sha, (name, subject) in zip(shas, entry.about["patches"], strict=True):
        path = entry.folder / name
        if not path.stat().st_size:
            raise UserError(f"{word}: commit {sha[:12]} ({subject}) changes no file here; leave it out of the range")
        files.append(_PatchFile(path, f"commit {sha[:12]} ({subject})"))
    return files


def _kept(store: Store, folder: Path, shas: Sequence[str], prefix: str) -> Entry:
    """The commits as patches: files in the order of the range, named by number and subject."""
    key = digest_of(["range", prefix, shas])
    kept = store.find("patches", key)
    if kept is not None:
        return kept
    place = store.begin("patches", key)
    patches = []
    for number, sha in enumerate(shas, 1):
        shown = _git(folder, "show", "--no-patch", "--format=%f%n%s", sha).check("asking git for a commit")
        plain, _, subject = shown.output.partition("\n")
        name = f"{number:02}-{plain[:40].rstrip('-.')}.patch"
        # Written to a file by git itself, not decoded here: sources need not be UTF-8.
        _git(folder, *_DIFF, f"--output={place / name}", sha).check("asking git for a patch")
        patches.append((name, subject.strip()))
    return store.admit("patches", key, {"patches": patches, "commits": shas})


def _git(folder: Path, *words: str | Path) -> process.Completed:
    return process.run(["git", "-C", folder, *words], timeout=120)


def _git_error(output: str) -> str:
    """git's error message, shortened."""
    lines = output.strip().splitlines() or ["no message"]
    return lines[0].removeprefix("fatal: ")[:150]


def _check_unique(files: Sequence[tuple[_PatchFile, Patch]]) -> None:
    seen: dict[str, _PatchFile] = {}
    for file, patch in files:
        if patch.sha256 in seen:
            first = seen[patch.sha256].origin
            same = "is named twice" if first == file.origin else f"is the same patch as {first}"
            raise UserError(f"{file.origin}: {same}; name each once")
        seen[patch.sha256] = file


def _named(files: Sequence[tuple[_PatchFile, Patch]]) -> list[Named]:
    """The patches named by their files, with characters allowed in names of builds and logs, and without duplicates."""
    names: list[Named] = []
    taken = set(TAKEN)
    for file, patch in files:
        plain = re.sub(r"\.(patch|diff)$", "", file.path.name)
        plain = re.sub(r"[^A-Za-z0-9._+-]+", "-", plain).strip("-.") or "patch"
        name, number = plain, 1
        while name in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name)
        names.append(Named(name, patch, file.origin))
    return names


def _directed(named_patches: Sequence[Named], reverse: Sequence[str]) -> tuple[Named, ...]:
    """The patches with their directions: those named in `reverse` are reverted."""
    names = [named.name for named in named_patches]
    wanted: Collection[str] = names if EVERY in reverse else [_match(word, named_patches) for word in reverse]
    directed = [replace(named.patch, reverted=named.patch.reverted or named.name in wanted) for named in named_patches]
    return tuple(
        Named(f"without-{named.name}" if patch.reverted else named.name, patch, named.origin)
        for named, patch in zip(named_patches, directed, strict=True)
    )


def _match(word: str, named_patches: Sequence[Named]) -> str:
    """The name of the patch that a user refers to by name, file or origin."""
    for named in named_patches:
        if word in (named.name, named.patch.path.name, named.origin):
            return named.name
    raise unknown("patch in --reverse", word, [named.name for named in named_patches] + [EVERY])
