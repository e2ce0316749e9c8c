"""From "an engine's source" to an unpacked tree at one constant path.

`resolve` finds the version, fetches what is not cached and verifies it; `unpack` makes the tree appear, whole
or not at all. The tree says in a marker file which source it holds, so unpacking it again costs nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from burnish.base.errors import UserError
from burnish.base.files import locked, make_folder, read_json, remove_tree, sha256_of, write_json
from burnish.source import archives
from burnish.source.debian import package as debian
from burnish.source.debian.package import DebianSource
from burnish.source.patches import overlay
from burnish.source.patches import patch as patches
from burnish.source.patches.overlay import MARKER

__all__ = [
    "MARKER",
    "DebianSource",
    "Source",
    "SourceRequest",
    "folder_of",
    "is_unpacked",
    "known",
    "resolve",
    "unpack",
]

_OURS = frozenset({MARKER})
_VERSION = re.compile(r"[-_ ]v?(\d+(?:[.\d]*\d)?(?:[a-z~+-][\w.~+-]*)?)$")


@dataclass(frozen=True)
class SourceRequest:
    """What is asked for.

    Attributes:
        engine: the engine's name.
        debian: the source package that the engine comes from by default; None where it has none.
        local: a folder or an archive that takes its place.
        sha256: hex digest that the archive `local` must have.
        patches: unified diffs (``-p1``), applied in order on top.
    """

    engine: str
    debian: DebianSource | None
    local: Path | None = None
    sha256: str | None = None
    patches: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Source:
    """A source that is here and verified, not yet unpacked.

    Attributes:
        name: the package's or the engine's name.
        version: its version; of a folder without one in its name, the first 12 digits of its digest.
        digest: hex SHA-256 that names the source: over its archives' digests, or the folder's names, kinds,
            executable bits and contents; and over the patches, in order.
        origin: where it is from, for people.
        archives: (file name, hex SHA-256) of what is unpacked, in order; empty for a folder.
        note: what the user should know about the choice of this version, else None.
        kind: a Debian source package, another archive, or a folder.
    """

    name: str
    version: str
    digest: str
    origin: str
    archives: tuple[tuple[str, str], ...]
    note: str | None
    kind: Literal["debian", "archive", "folder"] = "folder"


def resolve(request: SourceRequest, *, cache: Path, say: Callable[[str], None], host: Path = Path("/")) -> Source:
    """Finds the source, fetches what is not cached, and verifies it.

    Args:
        request: what is asked for.
        cache: folder for archives, apt's private state and what was resolved before.
        say: called with lines of progress.
        host: root of the host's configuration (``etc/apt``, ``etc/os-release``).

    Raises:
        UserError: a file is not there or not what it should be, or the mirror does not have the version.
        InfrastructureError: the mirror cannot be reached and the cache does not have it.
    """
    extra = [sha256_of(patch) for patch in request.patches]
    suffix = f" + {len(extra)} patch{'es' if len(extra) > 1 else ''}" if extra else ""
    if request.local is not None:
        return _resolve_local(request, request.local, extra, suffix)
    if request.sha256 is not None:
        raise UserError("a SHA-256 was given without a tarball; it belongs to --source")
    if request.debian is None:
        raise UserError(f"{request.engine} has no source package; give a folder or a tarball with --source")
    package, note = debian.obtain(request.debian, cache=make_folder(cache), say=say, host=host)
    if note:
        say(note)
    return _of_package(package, extra, suffix, note)


def known(request: SourceRequest, *, cache: Path) -> Source | None:
    """What `resolve` would find without the network, for a plan; None where something must be fetched first.

    The archives' digests are those that were signed; that the files still have them is checked when they are unpacked.
    """
    if request.local is not None or request.debian is None or request.sha256 is not None:
        return resolve(request, cache=cache, say=lambda _: None)
    package = debian.cached(request.debian, cache=cache)
    if package is None:
        return None
    extra = [sha256_of(patch) for patch in request.patches]
    suffix = f" + {len(extra)} patch{'es' if len(extra) > 1 else ''}" if extra else ""
    return _of_package(package, extra, suffix, None)


def is_unpacked(digest: str, place: Path) -> bool:
    """Whether the tree at `place` is this source's."""
    return read_json(place / MARKER).get("digest") == digest


def folder_of(request: SourceRequest) -> Path | None:
    """The folder that the source is copied from as it is; None of an archive, and where patches go on top."""
    local = request.local
    return local if local is not None and local.is_dir() and not request.patches else None


def _of_package(package: debian.Package, extra: list[str], suffix: str, note: str | None) -> Source:
    files = tuple((file.name, file.sha256) for file in package.archives)
    digest = _digest([f"{name} {sha256}" for name, sha256 in files], extra)
    return Source(package.package, package.version, digest, package.title + suffix, files, note, "debian")


def _resolve_local(request: SourceRequest, local: Path, extra: list[str], suffix: str) -> Source:
    if local.is_dir():
        if request.sha256 is not None:
            raise UserError(f"{local}: a SHA-256 can be checked for an archive, not for a folder; leave it out")
        content = archives.tree_digest(local, without=_OURS)
        version = _version_in(local.resolve().name) or content[:12]
        return Source(request.engine, version, _digest([content], extra), f"folder {local}{suffix}", (), None)
    if not local.exists():
        raise UserError(f"{local}: there is no such file or folder; --source takes a folder or an archive")
    if not archives.is_archive(local):
        known = ", ".join((*archives.TAR_SUFFIXES, archives.ZIP_SUFFIX))
        raise UserError(f"{local}: not an archive we know; --source takes a folder or one of {known}")
    sha256 = sha256_of(local)
    if request.sha256 is not None and request.sha256.lower() != sha256:
        raise UserError(
            f"{local}: its SHA-256 is {sha256}, asked for was {request.sha256}; nothing was unpacked, "
            "check where the file is from"
        )
    stem = next(local.name.removesuffix(end) for end in (*archives.TAR_SUFFIXES, ".zip") if local.name.endswith(end))
    version = _version_in(stem) or sha256[:12]
    files = ((local.name, sha256),)
    return Source(request.engine, version, _digest([sha256], extra), f"archive {local}{suffix}", files, None, "archive")


def _version_in(name: str) -> str | None:
    """The version at the end of a file's name (sqlite-src-3450100, mariadb-10.11.18), or None."""
    found = _VERSION.search(name)
    return found[1] if found else None


def _digest(content: Iterable[str], extra: Iterable[str]) -> str:
    lines = [f"content {line}" for line in content] + [f"patch {line}" for line in extra]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def unpack(
    source: Source,
    request: SourceRequest,
    *,
    cache: Path,
    place: Path,
    say: Callable[[str], None] = lambda _: None,
) -> Path:
    """Makes the tree of `source`, patched, appear at `place`; does nothing when it is there already.

    The tree is made beside `place` and moved there when whole: killed at any moment, `place` holds what it
    held before, or nothing, or all of it.

    Args:
        source: what `resolve` returned for `request`.
        request: where its folder or archive and its patches are.
        cache: as for `resolve`.
        place: the constant path; what an earlier unpacking left there is replaced.
        say: called with lines of progress.

    Returns:
        `place`.

    Raises:
        UserError: an input changed since `resolve`, an archive would write outside its folder, a patch does
            not apply, or `place` holds something that is not ours.
        InfrastructureError: the disk is full or the like.
    """
    work = place.with_name(f".{place.name}.unpacking")
    with locked(make_folder(place.parent) / f".{place.name}.lock", say):
        overlay.recover(place)
        if is_unpacked(source.digest, place):
            return place
        if place.exists() and not (place / MARKER).is_file() and not (place.is_dir() and not any(place.iterdir())):
            raise UserError(f"{place}: it holds something that was not unpacked by Burnish; move it away")
        remove_tree(work)  # of a run that was killed
        try:
            work.mkdir()
            tree = work / "tree"
            _make(source, request, cache, place, tree, say)
            patches.apply(request.patches, tree, what=f"{source.name} {source.version}", exact=False)
            marker = {"digest": source.digest, "name": source.name, "version": source.version}
            write_json(tree / MARKER, marker)
            if place.exists():
                place.replace(work / "old")
            tree.replace(place)
        finally:
            remove_tree(work)
    return place


def _make(
    source: Source, request: SourceRequest, cache: Path, place: Path, tree: Path, say: Callable[[str], None]
) -> None:
    """The unpatched tree at `tree`, from inputs that are still what `resolve` saw."""
    extra = [sha256_of(patch) for patch in request.patches]

    def unchanged(what: object, content: list[str]) -> None:
        if _digest(content, extra) != source.digest:
            raise UserError(f"{what}: it or a patch changed since it was first read; nothing was unpacked, run again")

    local = request.local
    if local is None:
        package = debian.load(cache, source.name, source.version)
        if package is None:
            raise UserError(f"{cache}: {source.name} {source.version} is no longer there; run again to fetch it")
        unchanged(package.folder, [f"{file.name} {file.sha256}" for file in package.archives])
        debian.unpack(package, tree, say)
    elif local.is_dir():
        if local.resolve() in place.resolve().parents:
            raise UserError(f"{local}: Burnish's own folder {place} is inside it; name the source's own folder")
        say(f"copying {local}")
        archives.copy_tree(local, tree, without=_OURS)
        unchanged(local, [archives.tree_digest(tree)])
    else:
        unchanged(local, [sha256_of(local)])
        say(f"unpacking {local.name} ({local.stat().st_size / 1e6:.0f} MB)")
        archives.extract(local, tree)
