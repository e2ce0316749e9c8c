"""Debian source packages: choice of the version, cache of verified archives, format 3.0 (quilt)."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from burnish.base.errors import InfrastructureError, UserError
from burnish.base.files import locked, make_folder, read_json, remove_tree, sha256_of, write_json
from burnish.source import archives
from burnish.source.debian import apt
from burnish.source.debian.deb822 import RemoteFile, files_of, paragraphs
from burnish.source.patches import patch

INDEX_KEPT_S = 24 * 3600.0
"""Seconds for which an index, and a version chosen from it, is used without contacting the mirror again."""

_FORMAT = "3.0 (quilt)"
_MANIFEST = "burnish.json"
_ORIG = re.compile(r"\.orig(?:-([A-Za-z0-9-]+))?\.tar\.(?:gz|xz|bz2|lzma)$")
_DEBIAN = re.compile(r"\.debian\.tar\.(?:gz|xz|bz2|lzma)$")


@dataclass(frozen=True)
class DebianSource:
    """The source package of an engine.

    Attributes:
        package: name of the source package.
        version: a full version (``1:10.11.18-0+deb12u1``) or its upstream part (``10.11.18``); None takes the newest.
        suites: suites searched besides the host's own (``sid``).
    """

    package: str
    version: str | None = None
    suites: tuple[str, ...] = ()


@dataclass(frozen=True)
class Package:
    """A complete, verified source package in the cache.

    Attributes:
        folder: folder of its files.
        package: its name.
        version: its full version.
        suite: its suite.
        archives: its tarballs: upstream's, then components, then Debian's own; no signatures.
    """

    folder: Path
    package: str
    version: str
    suite: str
    archives: tuple[RemoteFile, ...]

    @property
    def title(self) -> str:
        """Its name for a sentence."""
        return f"Debian source package {self.package} {self.version} ({self.suite})"


def obtain(wanted: DebianSource, *, cache: Path, say: Callable[[str], None], host: Path) -> tuple[Package, str | None]:
    """The package in the cache, downloaded first if needed, and a note for the user about the choice of the version.

    Without a requested version: the newest signed one that the mirror still has. The choice is stored: for
    `INDEX_KEPT_S` it is reused without the network, later only if the network fails.

    Raises:
        UserError: the mirror does not have it, or a cached file no longer matches the signed index.
        InfrastructureError: the mirror cannot be reached and the cache does not have it.
    """
    with locked(cache / "debian" / ".lock", say):
        package, note = load(cache, wanted.package, wanted.version) if wanted.version is not None else None, None
        if package is None:
            package, note = _Search(wanted, cache, say, host).run()
        os.utime(package.folder)  # `clean` goes by when it was last used
        return package, note


def cached(wanted: DebianSource, *, cache: Path) -> Package | None:
    """The package that `obtain` would take without the network; only the existence of its archives is checked."""
    version = wanted.version or read_json(_memory(wanted, cache)).get("version")
    return None if version is None else load(cache, wanted.package, str(version), thorough=False)


def _memory(wanted: DebianSource, cache: Path) -> Path:
    """The file that stores which version was the newest."""
    key = hashlib.sha256(repr(wanted).encode()).hexdigest()[:16]
    return cache / "debian" / f".resolved-{wanted.package}-{key}.json"


class _Search:
    """A search for an available version, and the problems on the way."""

    def __init__(self, wanted: DebianSource, cache: Path, say: Callable[[str], None], host: Path) -> None:
        self.wanted, self.cache, self.say, self.host = wanted, cache, say, host
        self.memory = _memory(wanted, cache)
        self.trouble: list[str] = []  # network problems, which may be temporary
        self.gone: list[tuple[str, str]] = []  # (version, the mirror's response)

    def run(self) -> tuple[Package, str | None]:
        remembered = self._remembered()
        if remembered and time.time() - self.memory.stat().st_mtime < INDEX_KEPT_S:
            return remembered
        mirror = apt.open_apt(self.cache, self.wanted.suites, self.host)
        stale = mirror.age() > INDEX_KEPT_S
        if stale:
            self._refresh(mirror)
            if self.trouble and remembered:
                self.memory.touch()  # do not try again until `INDEX_KEPT_S` is over
                return remembered[0], f"{self._what_happened()}; used {remembered[0].version} from the cache"
        package = self._newest(mirror, stop_at_gone=not stale)
        if package is None and not stale and not self.trouble:
            self._refresh(mirror)  # an index some hours old may list versions that were replaced since
            package = self._newest(mirror, stop_at_gone=False)
        if package is not None:
            note = f"{self._what_happened()}; used {package.version}" if self.gone or self.trouble else None
            if not self.trouble:
                write_json(self.memory, {"version": package.version, "note": note})
            return package, note
        if remembered:
            return remembered[0], f"{self._what_happened()}; used {remembered[0].version} from the cache"
        raise self._error(mirror)

    def _remembered(self) -> tuple[Package, str | None] | None:
        memory = read_json(self.memory)
        package = load(self.cache, self.wanted.package, str(memory["version"])) if "version" in memory else None
        note = memory.get("note")
        return (package, str(note) if note else None) if package else None

    def _refresh(self, mirror: apt.PrivateApt) -> None:
        self.say(f"fetching the signed source index of {mirror.suites}")
        try:
            mirror.refresh()
        except apt.UnreachableError as error:
            self.trouble.append(f"the source index could not be refreshed ({error})")

    def _newest(self, mirror: apt.PrivateApt, *, stop_at_gone: bool) -> Package | None:
        """The newest matching version that is cached or can be fetched."""
        self.gone = []
        reachable = True
        for entry in mirror.listed(self.wanted.package):
            if not self._matches(entry.version):
                continue
            if package := load(self.cache, entry.package, entry.version):
                return package
            if not reachable:
                continue
            try:
                return _fetch(mirror, entry, self.cache, self.say)
            except apt.GoneError as error:
                self.gone.append((entry.version, str(error)))
                if stop_at_gone:
                    return None
            except apt.UnreachableError as error:
                reachable = False
                self.trouble.append(f"{entry.version} cannot be downloaded ({error})")
        return None

    def _matches(self, version: str) -> bool:
        upstream = version.rpartition(":")[2]
        return self.wanted.version in {None, version, upstream, upstream.rpartition("-")[0]}

    def _what_happened(self) -> str:
        gone = [f"{version} is signed but the mirror no longer has it ({answer})" for version, answer in self.gone]
        return ", ".join(gone + self.trouble)

    def _error(self, mirror: apt.PrivateApt) -> UserError | InfrastructureError:
        package = self.wanted.package
        name = f"{package} {self.wanted.version}" if self.wanted.version else package
        way_out = "give a folder or a tarball with --source"
        if self.trouble:
            return InfrastructureError(f"{name}: {self._what_happened()}; try again later, or {way_out}")
        gone = dict(self.gone)
        others = [entry.version for entry in mirror.listed(package) if entry.version not in gone]
        choice = f"{mirror.suites} has {', '.join(others)}: pin one of these, or {way_out}" if others else way_out
        if gone:
            return UserError(f"{name}: {self._what_happened()}; {choice}")
        if others:
            return UserError(f"{name}: no such version in the signed index; {choice}")
        return UserError(f"{name}: there is no such source package in {mirror.suites}; {choice}")


def _place(cache: Path, package: str, version: str) -> Path:
    return cache / "debian" / f"{package}_{version.replace(':', '%3a')}"


def _fetch(mirror: apt.PrivateApt, entry: apt.Listed, cache: Path, say: Callable[[str], None]) -> Package:
    """Downloads to a temporary folder, verifies against the signed index, then moves the folder into the cache."""
    place = _place(cache, entry.package, entry.version)
    partial = make_folder(cache / "debian" / ".partial" / place.name)
    try:
        mirror.download(entry, partial, say)
    except apt.GoneError:
        remove_tree(partial)
        raise
    wanted = {file.name: file for file in entry.files}
    for file in wanted.values():
        path = partial / file.name
        if path.is_symlink():  # apt links files of a mirror on this machine
            target = path.resolve()
            path.unlink()
            shutil.copyfile(target, path)
        if not path.is_file() or sha256_of(path) != file.sha256:
            remove_tree(partial)
            raise apt.UnreachableError(f"{file.name} is not what was signed")
    for path in partial.iterdir():
        if path.name not in wanted:
            path.unlink()
    dsc = next((file for file in entry.files if file.name.endswith(".dsc")), None)
    if dsc is None:
        raise InfrastructureError(f"{entry.package} {entry.version}: the signed index lists no .dsc file")
    write_json(
        partial / _MANIFEST,
        {
            "package": entry.package,
            "version": entry.version,
            "suite": entry.suite,
            "dsc": dsc.name,
            "dsc_sha256": dsc.sha256,
        },
    )
    partial.replace(place)
    package = load(cache, entry.package, entry.version)
    assert package is not None  # noqa: S101 - it was just put there
    return package


def load(cache: Path, package: str, version: str, *, thorough: bool = True) -> Package | None:
    """The package in the cache, every file verified again with its .dsc; None if it is not in the cache.

    Args:
        cache: folder of the archives.
        package: name of the source package.
        version: its full version.
        thorough: whether the archives are read; otherwise only the .dsc is, and the archives' existence is checked.

    Raises:
        UserError: a file is missing or has changed, or the source format is not supported.
    """
    folder = _place(cache, package, version)
    manifest = {key: str(value) for key, value in read_json(folder / _MANIFEST).items()}
    if not folder.is_dir():
        return None
    dsc = folder / manifest.get("dsc", "burnish.dsc")
    _verify(dsc, manifest.get("dsc_sha256", ""))
    fields = next(paragraphs(dsc.read_text(encoding="utf-8", errors="replace")), {})
    if fields.get("format") != _FORMAT:
        raise UserError(
            f"{dsc}: source format {fields.get('format')!r} is not known, only {_FORMAT!r}; "
            "unpack it with dpkg-source and give the folder with --source"
        )
    files = files_of(fields, str(dsc))
    kept = sorted((file for file in files if _layer(file.name) is not None), key=lambda file: _layer(file.name) or ())
    for file in kept:
        if thorough or not (folder / file.name).is_file():
            _verify(folder / file.name, file.sha256)
    return Package(folder, package, version, manifest.get("suite", ""), tuple(kept))


def _verify(path: Path, sha256: str) -> None:
    actual = sha256_of(path) if path.is_file() else None
    if actual != sha256:
        state = f"its SHA-256 is {actual}, signed is {sha256 or 'none'}" if actual else "it is missing"
        raise UserError(
            f"{path}: {state}; nothing was unpacked, remove the folder {path.parent} to have it fetched anew"
        )


def _layer(name: str) -> tuple[int, str] | None:
    """Sort key of a tarball in the order of unpacking (upstream, components by name, Debian); None for other files."""
    if match := _ORIG.search(name):
        return (1, match[1]) if match[1] else (0, "")
    return (2, "") if _DEBIAN.search(name) else None


def unpack(package: Package, tree: Path, say: Callable[[str], None]) -> None:
    """Unpacks the package to `tree` like ``dpkg-source -x``: upstream, components, debian/, patches.

    Raises:
        UserError: an archive would write outside its folder, or a patch does not apply.
        InfrastructureError: the package lacks its upstream or Debian tarball.
    """
    layers = [(_layer(file.name) or (0, ""), package.folder / file.name) for file in package.archives]
    if sorted({number for (number, _), _ in layers} - {1}) != [0, 2]:
        raise InfrastructureError(f"{package.title}: it lacks its upstream or its Debian tarball")
    for (number, component), archive in layers:
        say(f"unpacking {archive.name} ({archive.stat().st_size / 1e6:.0f} MB)")
        if number == 0:
            archives.extract(archive, tree)
            continue
        target = tree / (component or "debian")
        remove_tree(target)
        archives.extract(archive, target)
    listed = list(_series(tree / "debian/patches"))
    patch.apply(listed, tree, what=f"{package.package} {package.version}", exact=True)


def _series(folder: Path) -> Iterator[Path]:
    """The patches of a quilt series, in order; none if there is no series."""
    series = folder / "series"
    for line in series.read_text().splitlines() if series.is_file() else ():
        name = re.sub(r"(?:^|\s)#.*", "", line).split()
        if name:
            yield folder / name[0]
