"""The patches that a study is about: from files, quilt series and git ranges to patches with names of their own."""

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
"""Stands for all patches where a patch is named; and the name of the build that has all of them."""

TAKEN = ("unpatched", EVERY)
"""Names of builds that no patch may have."""

_RANGE = re.compile(r"(?:(?P<tree>.+):)?(?P<first>[^\s:]*[^\s:./])\.\.(?P<last>(?:[^\s:./][^\s:]*)?)")
_OPTIONS = {"-R", "-p1", "-pab"}
_NO_FILE = "; name a patch file, a quilt series, or a git range as in A..B"
_DIFF = ("diff-tree", "-p", "--root", "--no-commit-id", "--no-renames", "--no-ext-diff", "--no-textconv", "--relative")


@dataclass(frozen=True)
class Named:
    """A patch under the name that the report has for it.

    Attributes:
        name: unique in the study; of a patch that is taken out it begins with ``without-``.
        patch: its content and direction.
        origin: where it is from, for people.
    """

    name: str
    patch: Patch
    origin: str


@dataclass(frozen=True)
class _Found:
    """A patch file that was asked for, before it is read."""

    path: Path
    origin: str
    reverted: bool = False


def read(words: Sequence[str], *, tree: Path | None, store: Store, reverse: Sequence[str] = ()) -> tuple[Named, ...]:
    """The patches that were asked for, in order.

    Args:
        words: patch files, or names of shipped ones (``patches/SET/NAME``); a quilt series (the file, named
            ``series``, or its folder); a git range ``A..B`` of
            `tree`, or ``FOLDER:A..B`` of another.
        tree: the source's folder, if it is one; what ranges without a folder are of.
        store: keeps the patches of a range, so that the study can be resumed.
        reverse: names of patches that are taken out instead of put in; ``all`` for every one.

    Raises:
        UserError: every file that is no patch, every series that names one that is not there, every range that is
            empty or unknown, a line each.
    """
    problems: list[UserError] = []
    found: list[_Found] = []
    for word in words:
        try:
            found += _of_word(word, tree, store)
        except UserError as error:
            problems.append(error)
    read_now: list[tuple[_Found, Patch]] = []
    for each in found:
        try:
            read_now.append((each, patch_set.read_one(each.path, each.origin, hint=_NO_FILE, reverted=each.reverted)))
        except UserError as error:
            problems.append(error)
    if problems:
        raise together(problems)
    _none_twice(read_now)
    return _directed(_named(read_now), reverse)


def _of_word(word: str, tree: Path | None, store: Store) -> list[_Found]:
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
    asked = None if path.exists() else _RANGE.fullmatch(word)
    if asked is None:
        return [_Found(path.absolute(), str(path))]
    folder = Path(asked["tree"]).expanduser() if asked["tree"] else tree
    if folder is None:
        raise UserError(f"{word}: a git range needs a folder; write FOLDER:{word}")
    return _range(word, folder, asked["first"], asked["last"] or "HEAD", store)


def _quilt(series: Path) -> list[_Found]:
    """The patches of a quilt series file: a name and options (``-p1``, ``-R``) on each line."""
    try:
        lines = series.read_text(errors="replace").splitlines()
    except OSError as error:
        raise UserError(f"{series}: cannot be read ({error.strerror})") from None
    found, problems = [], []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"{series}: line {number}"
        name, *options = words
        wrong = [option for option in options if option not in _OPTIONS]
        if wrong:
            problems.append(UserError(f"{where}: option {wrong[0]}: patches are applied with -p1; make it a -p1 patch"))
        elif not (series.parent / name).is_file():
            problems.append(UserError(f"{where}: names {name}, which is not there; mend the series or add the patch"))
        else:
            path = (series.parent / name).absolute()
            found.append(_Found(path, str(series.parent / name), reverted="-R" in options))
    if problems:
        raise together(problems)
    if not found:
        raise UserError(f"{series}: names no patch; a series has one on each line")
    return found


def _range(word: str, folder: Path, first: str, last: str, store: Store) -> list[_Found]:
    """A patch for each commit of a git range, kept in the store under a name that follows from the commits alone."""
    if not folder.is_dir():
        raise UserError(f"{word}: there is no folder {folder}")
    prefix = _git(folder, "rev-parse", "--show-prefix")
    if not prefix.ok:
        raise UserError(f"{word}: {folder} is no git tree ({_said(prefix.output)}); name patch files instead")
    ends = []
    for revision in (first, last):
        known = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if not known.ok:
            raise UserError(f"{word}: {folder} has no commit {revision!r}; `git log` shows those that it has")
        ends.append(known.output.strip())
    listed = _git(folder, "rev-list", "--reverse", "--topo-order", "--parents", "..".join(ends))
    commits = [line.split() for line in listed.check("asking git for the commits").output.splitlines()]
    if not commits:
        raise UserError(
            f"{word}: the range is empty: {last} has no commit that {first} lacks; is it the wrong way round?"
        )
    if merges := [commit for commit, *parents in commits if len(parents) > 1]:
        raise UserError(
            f"{word}: holds {len(merges)} merges ({merges[0][:12]}), which are no patches; name a range without "
            "(`git rebase` makes one), or patch files"
        )
    shas = [commit for commit, *_ in commits]
    entry = _kept(store, folder, shas, prefix.output.strip())
    found = []
    for sha, (name, subject) in zip(shas, entry.about["patches"], strict=True):
        path = entry.folder / name
        if not path.stat().st_size:
            raise UserError(f"{word}: commit {sha[:12]} ({subject}) changes no file here; leave it out of the range")
        found.append(_Found(path, f"commit {sha[:12]} ({subject})"))
    return found


def _kept(store: Store, folder: Path, shas: Sequence[str], prefix: str) -> Entry:
    """The commits as patches: files in the order of the range, named by number and subject."""
    key = digest_of(["range", prefix, shas])
    kept = store.find("patches", key)
    if kept is not None:
        return kept
    place = store.begin("patches", key)
    patches = []
    for number, sha in enumerate(shas, 1):
        told = _git(folder, "show", "--no-patch", "--format=%f%n%s", sha).check("asking git for a commit")
        plain, _, subject = told.output.partition("\n")
        name = f"{number:02}-{plain[:40].rstrip('-.')}.patch"
        # To a file, past our own reading of lines: sources need not be UTF-8.
        _git(folder, *_DIFF, f"--output={place / name}", sha).check("asking git for a patch")
        patches.append((name, subject.strip()))
    return store.admit("patches", key, {"patches": patches, "commits": shas})


def _git(folder: Path, *words: str | Path) -> process.Completed:
    return process.run(["git", "-C", folder, *words], timeout=120)


def _said(output: str) -> str:
    """What git complained of, in a few words."""
    lines = output.strip().splitlines() or ["it said nothing"]
    return lines[0].removeprefix("fatal: ")[:150]


def _none_twice(found: Sequence[tuple[_Found, Patch]]) -> None:
    seen: dict[str, _Found] = {}
    for each, patch in found:
        if patch.sha256 in seen:
            first = seen[patch.sha256].origin
            same = "is named twice" if first == each.origin else f"is the same patch as {first}"
            raise UserError(f"{each.origin}: {same}; name each once")
        seen[patch.sha256] = each


def _named(found: Sequence[tuple[_Found, Patch]]) -> list[Named]:
    """Each patch under its file's name, as far as that may stand in names of builds and logs; none twice."""
    names: list[Named] = []
    taken = set(TAKEN)
    for each, patch in found:
        plain = re.sub(r"\.(patch|diff)$", "", each.path.name)
        plain = re.sub(r"[^A-Za-z0-9._+-]+", "-", plain).strip("-.") or "patch"
        name, number = plain, 1
        while name in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name)
        names.append(Named(name, patch, each.origin))
    return names


def _directed(every: Sequence[Named], reverse: Sequence[str]) -> tuple[Named, ...]:
    """The patches with those that are to be taken out turned round."""
    names = [each.name for each in every]
    wanted: Collection[str] = names if EVERY in reverse else [_match(word, every) for word in reverse]
    directed = [replace(each.patch, reverted=each.patch.reverted or each.name in wanted) for each in every]
    return tuple(
        Named(f"without-{each.name}" if patch.reverted else each.name, patch, each.origin)
        for each, patch in zip(every, directed, strict=True)
    )


def _match(word: str, every: Sequence[Named]) -> str:
    """The patch that a user means: by its name, or by its file."""
    for each in every:
        if word in (each.name, each.patch.path.name, each.origin):
            return each.name
    raise unknown("patch in --reverse", word, [each.name for each in every] + [EVERY])
