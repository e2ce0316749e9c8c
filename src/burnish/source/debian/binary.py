"""Debian's binary packages of an exact version: fetched by the host's apt-get, checked, unpacked; never installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.files import make_folder, remove_tree, sha256_of
from burnish.source.debian import apt
from burnish.source.debian.deb822 import paragraphs

_INDEX_SECONDS = 300.0
_DOWNLOAD_SECONDS = 1800.0
_UNPACK_SECONDS = 300.0

NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
"""Names of packages (Debian policy 5.6.1)."""

VERSION = re.compile(r"(?:\d+:)?\d[A-Za-z0-9.+~-]*")
"""Versions of packages (Debian policy 5.6.12)."""


@dataclass(frozen=True)
class BinaryPackage:
    """A package's file.

    Attributes:
        file: the .deb.
        name: the package's name.
        version: its version.
        architecture: its architecture, as dpkg spells it.
        source: name and version of its source package.
        sha256: hex digest of the file.
        checked: where the digest was compared with: apt's signed index; '' for a user's own file.
    """

    file: Path
    name: str
    version: str
    architecture: str
    source: tuple[str, str]
    sha256: str
    checked: str = ""


def read(file: Path) -> BinaryPackage:
    """A package from its file alone.

    Raises:
        UserError: it is no Debian package, or its fields are malformed.
    """
    if not file.is_file():
        raise UserError(f"{file}: there is no such file; name a .deb")
    done = process.run(["dpkg-deb", "-f", file], timeout=_UNPACK_SECONDS)
    fields = next(paragraphs(done.output), {}) if done.ok else {}
    name, version = fields.get("package", ""), fields.get("version", "")
    if not done.ok or not NAME.fullmatch(name) or not VERSION.fullmatch(version):
        raise UserError(f"{file}: not a Debian package; name a .deb")
    source = re.fullmatch(r"(\S+)(?: \((\S+)\))?", fields.get("source", name))
    return BinaryPackage(
        file=file,
        name=name,
        version=version,
        architecture=fields.get("architecture", ""),
        source=(source[1], source[2] or version) if source else (name, version),
        sha256=sha256_of(file),
    )


def versions(name: str) -> list[str]:
    """The versions of a package that the host's apt lists, newest first.

    Raises:
        InfrastructureError: apt-cache failed or did not end, which says nothing about the package.
    """
    done = process.run(["apt-cache", "madison", name], timeout=_INDEX_SECONDS)
    done.check(f"{name}: apt could not be asked for its versions; try again")
    return list(dict.fromkeys(version for version, _ in apt.offers(done.output, "Packages")))


def obtain(name: str, version: str, *, cache: Path, say: Callable[[str], None]) -> BinaryPackage:
    """The package of exactly this version, downloaded into `cache` unless it is there, with the digest of the index.

    Raises:
        UserError: apt does not list it, or the mirror no longer has it.
        InfrastructureError: apt-cache failed or did not end, or the file has another digest than the index.
    """
    if not NAME.fullmatch(name) or not VERSION.fullmatch(version):
        raise UserError(f"{name} {version}: not a Debian package's name and version")
    wanted = _listed(name, version)
    if not wanted:
        known = versions(name)
        if version in known:  # an `apt-get update` was at work a moment ago
            wanted = _listed(name, version)
        if not wanted:
            raise UserError(
                f"{name} {version}: apt does not list this version (it lists {', '.join(known) or 'none'}); `apt-get "
                "update`, or give the package's file with --base"
            )
    folder = make_folder(cache) / wanted[:16]
    kept = sorted(folder.glob("*.deb"))
    if not kept or sha256_of(kept[0]) != wanted:
        remove_tree(folder)
        make_folder(folder)
        say(f"downloading {name} {version}")
        # As root, apt would download as its own user, who has no access to the private folder.
        words = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", f"{name}={version}"]
        done = process.run(words, cwd=folder, timeout=_DOWNLOAD_SECONDS)
        kept = sorted(folder.glob("*.deb"))
        if not done.ok or not kept:
            raise UserError(
                f"{name} {version}: the mirror does not deliver it ({apt.first_error(done)}); give the package's file "
                "with --base"
            )
    package = read(kept[0])
    if package.sha256 != wanted:
        raise InfrastructureError(f"{package.file}: SHA-256 {package.sha256}, apt's signed index says {wanted}")
    return BinaryPackage(**{**vars(package), "checked": "apt's signed index"})


def _listed(name: str, version: str) -> str:
    """The hex SHA-256 of a package's file in apt's signed index; '' where it is not listed."""
    shown = process.run(["apt-cache", "show", f"{name}={version}"], timeout=_INDEX_SECONDS)
    if shown.timed_out:  # its exit code 100 may mean no more than that there is no such version
        shown.check(f"{name} {version}: apt could not be asked about it; try again")
    found = paragraphs(shown.output) if shown.ok else iter(())
    return next((f["sha256"] for f in found if f.get("version") == version and "sha256" in f), "")


def pinned(source: str, version: str) -> str:
    """Text of a file of apt's preferences: all packages of a source package stay at this version, or go back to it."""
    return f"Package: src:{source}\nPin: version {version}\nPin-Priority: 1001\n"


def libraries_for(words: Sequence[str], source: str, version: str, scratch: Path) -> list[tuple[str, str]]:
    """(name, version) of the libraries that installing packages would add to this host; nothing is installed.

    Args:
        words: the packages as apt-get takes them: ``NAME=VERSION``, or a file's absolute path.
        source: their source package.
        version: version of all that come from it.
        scratch: folder for a file of apt's settings.

    Raises:
        InfrastructureError: apt-get did not end.
    """
    # Without it, apt would take newer versions of those that nobody named, which break the older ones.
    pins = scratch / "preferences"
    pins.write_text(pinned(source, version))
    options = ["-o", "Debug::NoLocking=1", "-o", f"Dir::Etc::Preferences={pins}"]
    argv = ["apt-get", "--simulate", "--no-install-recommends", *options, "install", *words]
    done = process.run(argv, timeout=_INDEX_SECONDS)
    if done.timed_out:
        done.check("apt could not be asked which libraries the plugins need; try again")
    added: list[tuple[str, str]] = re.findall(r"^Inst (lib\S+) \((\S+)", done.output, re.MULTILINE)
    return [(name, found) for name, found in added if not name.endswith("-perl")]


def unpack(package: BinaryPackage, folder: Path, *, control: bool = False) -> Path:
    """Unpacks a package's files into `folder`; with `control` its control files too, into DEBIAN.

    Raises:
        UserError: a user's own file is cut short or damaged.
    """
    make_folder(folder)
    done = process.run(
        ["dpkg-deb", "-R" if control else "-x", package.file, folder], env={"TZ": "UTC"}, timeout=_UNPACK_SECONDS
    )
    if not done.ok and not package.checked:
        said = next((line for line in done.output.splitlines() if line.strip()), "")[:200]
        raise UserError(f"{package.file}: cut short or damaged, so it can't be unpacked ({said}); get it again")
    done.check(f"unpacking {package.file}")
    return folder


def installed_of(source: str) -> dict[str, str]:
    """The packages of a source package that are installed on this host, by name, with their versions."""
    words = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${source:Package} ${Package} ${Version}\n"]
    rows = [line.split() for line in process.run(words).output.splitlines()]
    return {row[2]: row[3] for row in rows if row[:2] == ["installed", source] and len(row) == 4}


def older(first: str, second: str) -> bool:
    """Whether version `first` sorts below `second` (dpkg --compare-versions)."""
    return process.run(["dpkg", "--compare-versions", first, "lt", second]).exit_code == 0


def architecture() -> str:
    """The host's architecture, as dpkg spells it."""
    return process.capture(["dpkg", "--print-architecture"]).strip()
