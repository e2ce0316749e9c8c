"""From a request for an engine's source to an unpacked tree at a constant path.

`resolve` chooses the version, downloads what is not cached and verifies it; `unpack` makes the tree, atomically. A
marker file in the tree identifies its source, so that it is not unpacked again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from burnish.base.errors import UserError
from burnish.base.files import locked, make_folder, read_json, remove_tree, sha256_of, write_json
from burnish.source import archives, revisions
from burnish.source.debian import package as debian
from burnish.source.debian.package import DebianSource
from burnish.source.patches import overlay
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
    "some_of",
    "unpack",
]

_OURS = frozenset({MARKER})
_VERSION = re.compile(r"[-_ ]v?(\d+(?:[.\d]*\d)?(?:[a-z~+-][\w.~+-]*)?)$")
_UNDERLINED = re.compile(r"REL_?(\d+(?:_\d+)*)(?:_(?:STABLE|((?:ALPHA|BETA|RC)\d+)))?$")
"""PostgreSQL's tags and branches: ``REL_16_2``, ``REL9_6_24``, ``REL_18_BETA1``, ``REL_17_STABLE``."""


@dataclass(frozen=True)
class SourceRequest:
    """A request for a source.

    Attributes:
        engine: the engine's name.
        debian: the engine's default source package; None if it has none.
        local: a folder, an archive or a revision (``FOLDER:REVISION``) to use instead.
        sha256: hex digest that the archive `local` must have.
    """

    engine: str
    debian: DebianSource | None
    local: Path | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Source:
    """A verified local source, not yet unpacked.

    Attributes:
        name: name of the package or engine.
        version: its version; for a folder without a version in its name, the first 12 digits of its digest.
        digest: hex SHA-256 of the source: over its archives' digests, or the folder's names, kinds, executable bits
            and contents.
        origin: where it comes from, for people.
        archives: (file name, hex SHA-256) of the archives to unpack, in order; empty for a folder.
        note: remark about the choice of this version, or None.
        kind: a Debian source package, another archive, or a folder, perhaps as a revision has it.
        by_content: whether the version is of the content's digest, as no name tells it.
    """

    name: str
    version: str
    digest: str
    origin: str
    archives: tuple[tuple[str, str], ...]
    note: str | None
    kind: Literal["debian", "archive", "folder"] = "folder"
    by_content: bool = False

    @property
    def is_named_alone(self) -> bool:
        """Whether nothing but the name of a folder or a branch says its version: another one may be checked out."""
        return self.kind == "folder" and not self.by_content

    def data_version(self, program: str) -> str:
        """The version by which the store names data of a server that is built from this source.

        That of a package, an archive or a digest is the source's own. A folder's or a branch's name is not what is
        checked out in it: of these, what the built program says of its version (`program`; '' before there is one) is
        part of it, beside the name.
        """
        return f"{self.version} {program}" if self.is_named_alone else self.version


def resolve(request: SourceRequest, *, cache: Path, say: Callable[[str], None], host: Path = Path("/")) -> Source:
    """Finds the source, downloads what is not cached, and verifies it.

    Args:
        request: the request.
        cache: folder for archives, apt's private state and earlier choices of versions.
        say: called with lines of progress.
        host: root of the host's configuration (``etc/apt``, ``etc/os-release``).

    Raises:
        UserError: a file is missing or has another digest, or the mirror does not have the version.
        InfrastructureError: the mirror cannot be reached and the cache does not have it.
    """
    if request.local is not None:
        source = _resolve_local(request, request.local)
        if source.note:
            say(source.note)
        return source
    if request.sha256 is not None:
        raise UserError("a SHA-256 was given without a tarball; it belongs to --source")
    if request.debian is None:
        raise UserError(f"{request.engine} has no source package; give a folder or a tarball with --source")
    package, note = debian.obtain(request.debian, cache=make_folder(cache), say=say, host=host)
    if note:
        say(note)
    return _of_package(package, note)


def known(request: SourceRequest, *, cache: Path) -> Source | None:
    """The result of `resolve` without the network, for a plan; None if something must be downloaded first.

    The archives' digests are the signed ones; whether the files still have them is checked when they are unpacked.
    """
    if request.local is not None or request.debian is None or request.sha256 is not None:
        return resolve(request, cache=cache, say=lambda _: None)
    package = debian.cached(request.debian, cache=cache)
    return None if package is None else _of_package(package, None)


def is_unpacked(digest: str, place: Path) -> bool:
    """Whether the tree at `place` is this source's."""
    return read_json(place / MARKER).get("digest") == digest


def folder_of(request: SourceRequest) -> Path | None:
    """The folder that the source is copied from; None for an archive."""
    local = request.local
    return local if local is not None and local.is_dir() else None


def some_of(local: Path, names: Collection[str], place: Path) -> Path:
    """These files of an archive or a revision, as far as it has them, as the new folder `place`, which is returned."""
    if revisions.is_revision(local):
        revisions.export(revisions.revision_of(local), place, names)
    else:
        archives.extract(local, place, names)
    return place


def _of_package(package: debian.Package, note: str | None) -> Source:
    files = tuple((file.name, file.sha256) for file in package.archives)
    digest = _digest(f"{name} {sha256}" for name, sha256 in files)
    return Source(package.package, package.version, digest, package.title, files, note, "debian")


def _resolve_local(request: SourceRequest, local: Path) -> Source:
    if local.is_dir():
        if request.sha256 is not None:
            raise UserError(f"{local}: a SHA-256 can be checked for an archive, not for a folder; leave it out")
        content = archives.tree_digest(local, without=_OURS)
        named = _version_in(local.resolve().name)
        version, by_content = named or content[:12], named is None
        return Source(request.engine, version, _digest([content]), f"folder {local}", (), None, by_content=by_content)
    if revisions.is_revision(local):
        return _of_revision(request, local)
    if not local.exists():
        raise UserError(
            f"{local}: there is no such file or folder; --source takes a folder, an archive, or FOLDER:REVISION of git"
        )
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
    return Source(request.engine, version, _digest([sha256]), f"archive {local}", files, None, "archive")


def _of_revision(request: SourceRequest, local: Path) -> Source:
    if request.sha256 is not None:
        raise UserError(f"{local}: a SHA-256 can be checked for an archive, not for a revision; leave it out")
    revision = revisions.revision_of(local)
    note = None
    if lacking := revisions.submodules(revision):
        named = ", ".join([*lacking[:3], *["..."] * (len(lacking) > 3)])
        note = (
            f"{local}: without its submodules ({named}), which git keeps elsewhere; if the build needs them, name a "
            "folder in which they are checked out"
        )
    origin = f"revision {revision.commit[:12]} of {revision.folder}"
    by_name = _version_in(f"-{revision.name}")
    version, digest = by_name or revision.commit[:12], _digest([f"git {revision.tree}"])
    return Source(request.engine, version, digest, origin, (), note, by_content=by_name is None)


def _version_in(name: str) -> str | None:
    """The version at the end of a name (sqlite-src-3450100, mariadb-10.11.18, postgres-REL_16_2), or None."""
    if underlined := _UNDERLINED.search(name):
        return underlined[1].replace("_", ".") + (underlined[2] or "").lower()
    match = _VERSION.search(name)
    return match[1] if match else None


def _digest(content: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(f"content {line}" for line in content).encode()).hexdigest()


def unpack(
    source: Source,
    request: SourceRequest,
    *,
    cache: Path,
    place: Path,
    say: Callable[[str], None] = lambda _: None,
) -> Path:
    """Unpacks the tree of `source` at `place`, unless it is there already.

    The tree is made beside `place` and moved there when it is complete: if the run is killed, `place` is unchanged,
    missing or complete.

    Args:
        source: from `resolve` for `request`.
        request: the request, with its folder or archive.
        cache: as for `resolve`.
        place: the constant path; an earlier tree there is replaced.
        say: called with lines of progress.

    Returns:
        `place`.

    Raises:
        UserError: an input changed since `resolve`, an archive would write outside its folder, or `place` contains
            something that Burnish did not unpack.
        InfrastructureError: the disk is full or the like.
    """
    work = place.with_name(f".{place.name}.unpacking")
    with locked(make_folder(place.parent) / f".{place.name}.lock", say):
        overlay.recover(place)
        remove_tree(work)  # of a run that was killed, perhaps after its tree was in place
        if is_unpacked(source.digest, place):
            return place
        if place.exists() and not (place / MARKER).is_file() and not (place.is_dir() and not any(place.iterdir())):
            raise UserError(f"{place}: it holds something that was not unpacked by Burnish; move it away")
        try:
            work.mkdir()
            tree = work / "tree"
            _make(source, request, cache, place, tree, say)
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
    """Makes the tree at `tree`; a `UserError` if an input changed since `resolve`."""

    def unchanged(what: object, content: list[str]) -> None:
        if _digest(content) != source.digest:
            raise UserError(f"{what}: it changed since it was first read; nothing was unpacked, run again")

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
    elif revisions.is_revision(local):
        revision = revisions.revision_of(local)
        unchanged(local, [f"git {revision.tree}"])
        say(f"taking {revision.name} from {revision.folder}")
        revisions.export(revision, tree)
    else:
        unchanged(local, [sha256_of(local)])
        say(f"unpacking {local.name} ({local.stat().st_size / 1e6:.0f} MB)")
        archives.extract(local, tree)
