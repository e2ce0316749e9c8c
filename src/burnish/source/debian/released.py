"""A distribution's released server program: its binary package, downloaded and unpacked, not installed.

The host's own apt-get downloads it and verifies it with the signed index; nothing in the system is changed.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from burnish.base import process
from burnish.base.errors import UserError
from burnish.base.files import make_folder, remove_tree
from burnish.source.debian import apt

_INDEX_SECONDS = 60.0
_DOWNLOAD_SECONDS = 1800.0
_UNPACK_SECONDS = 300.0
_WAY_OUT = "--release PATH names one"


def versions(package: str) -> list[str]:
    """The versions of a binary package that the host's apt lists, newest first."""
    if shutil.which("apt-cache") is None:
        return []
    done = process.run(["apt-cache", "madison", package], timeout=_INDEX_SECONDS)
    return list(dict.fromkeys(version for version, _ in apt.offers(done.output, "Packages")))


def obtain(package: str, program: str, like: str, *, cache: Path, say: Callable[[str], None]) -> Path:
    """The package's `program`, unpacked in `cache`: of the preferred version, otherwise of the newest available.

    An outdated index lists versions that the mirror no longer has; then the next version is taken.

    Args:
        package: the binary package's name.
        program: the file's name, without a folder.
        like: the preferred version, as the distribution spells it.
        cache: folder of the packages, each in a folder named by name and version.
        say: called with lines of progress.

    Raises:
        UserError: apt does not have the package, or the package does not contain the program.
    """
    listed = sorted(versions(package), key=lambda version: version != like)
    if not listed:
        raise UserError(f"no release binary: apt lists no package {package} here (`apt-get update`?); {_WAY_OUT}")
    trouble = []
    for version in listed:
        place = cache / f"{package}_{re.sub(r'[^A-Za-z0-9.+~-]', '_', version)}"
        if not place.exists() and (why := _fetch(package, version, place, say)) is not None:
            trouble.append(f"{version}: {why}")
            continue
        programs = sorted(path for path in place.rglob(program) if path.is_file() and not path.is_symlink())
        if not programs:
            raise UserError(f"no release binary: {package} {version} has no {program}; {_WAY_OUT}")
        return programs[0]
    raise UserError(
        f"no release binary: {package} can't be had ({'; '.join(trouble)}); `apt-get update` renews what apt knows of "
        f"the mirror, {_WAY_OUT}"
    )


def _size(package: str, version: str) -> str:
    """' (14 MB)' if apt knows the size of the package, otherwise ''."""
    done = process.run(["apt-cache", "show", f"{package}={version}"], timeout=_INDEX_SECONDS)
    match = re.search(r"^Size: (\d+)$", done.output, re.MULTILINE)
    return f" ({int(match[1]) / 1e6:.1f} MB)" if match else ""


def _fetch(package: str, version: str, place: Path, say: Callable[[str], None]) -> str | None:
    """Downloads and unpacks one version to `place` atomically; the reason if it failed, or None."""
    say(f"downloading {package} {version}{_size(package, version)}, to be unpacked and not installed")
    draft = place.with_name(f".{place.name}.partial")
    remove_tree(draft)  # of a run that was killed
    make_folder(draft)
    try:
        # As root, apt would download as its own user, who has no access to the private folder.
        words = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", f"{package}={version}"]
        done = process.run(words, cwd=draft, timeout=_DOWNLOAD_SECONDS)
        packages = sorted(draft.glob("*.deb"))
        if done.ok and packages:
            done = process.run(["dpkg-deb", "-x", packages[0], draft / "root"], timeout=_UNPACK_SECONDS)
        if not done.ok or not packages:
            return apt.first_error(done)
        (draft / "root").rename(place)
    finally:
        remove_tree(draft)
    return None
