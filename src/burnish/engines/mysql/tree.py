"""Which server a source tree holds, in which version, and what its build is told because of that."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from burnish.base.errors import UserError
from burnish.engines.mysql_family.build import CONFIGURED, check_clean

VERSION_FILES = ("MYSQL_VERSION", "VERSION")
FILES = ("storage/maria/ma_open.c", "sql/mysqld.cc", CONFIGURED, *VERSION_FILES, "build-ps/build-binary.sh")
"""What `check` and `read` look at; the last is in all of Percona's trees, and for its folder."""

_FIELD = re.compile(r'^\s*MYSQL_VERSION_(MAJOR|MINOR|PATCH|EXTRA)="?([^"\s]*)"?\s*$', re.MULTILINE)
_PERCONA = "build-ps"
_SERIES = Path(__file__).with_name("versions.toml")


@dataclass(frozen=True)
class Tree:
    """A source tree.

    Attributes:
        title: server and version, for people.
        version: (major, minor, patch).
        series: the entry of versions.toml by which it is built.
        options: configure options that this version takes, in place of the feature set's too.
        note: what a user should know about the choice of `series`; None where the version is known.
    """

    title: str
    version: tuple[int, int, int]
    series: str
    options: tuple[tuple[str, str], ...]
    note: str | None = None


def check(source: Path) -> None:
    """A `UserError` for a tree that is not MySQL's or Percona's, or that was built in."""
    if (source / "storage/maria/ma_open.c").is_file():
        raise UserError(f"{source}: the source of MariaDB, not of MySQL or Percona Server; take `burnish tune mariadb`")
    if not (source / "sql/mysqld.cc").is_file() or _fields(source) is None:
        raise UserError(
            f"{source}: no source of MySQL or Percona Server (no sql/mysqld.cc, or no {VERSION_FILES[0]}); name the "
            "top of an unpacked tree"
        )
    check_clean(source)


def read(source: Path) -> Tree:
    """What a tree is, by its own version file and versions.toml."""
    found = _fields(source) or {}
    numbers = tuple(int(found.get(part) or 0) for part in ("MAJOR", "MINOR", "PATCH"))
    version = (numbers[0], numbers[1], numbers[2])
    entries = tomllib.loads(_SERIES.read_text())
    name = "Percona Server" if (source / _PERCONA).is_dir() else "MySQL"
    title = f"{name} {'.'.join(map(str, version))}{found.get('EXTRA', '')}"
    series = f"{version[0]}.{version[1]}"
    note = None
    if series not in entries["series"]:
        series = nearest(version, entries["series"])
        note = f"{title}: no data for this version; it is built with those of {series}, the nearest"
    chosen = dict(entries["series"][series]["options"])
    if name != "MySQL":
        chosen |= entries["percona"]["options"]
    options = tuple((key, value.replace("{source}", str(source))) for key, value in chosen.items())
    return Tree(title, version, series, options, note)


def nearest(version: tuple[int, int, int], known: dict[str, object]) -> str:
    """The known series next to a version: major numbers count more than minor ones; of two, the newer."""

    def distance(series: str) -> tuple[int, int, int]:
        major, minor = map(int, series.split("."))
        return abs(major - version[0]), abs(minor - version[1]), -minor

    return min(known, key=distance)


def _fields(source: Path) -> dict[str, str] | None:
    """The fields of a tree's version file; None without one."""
    for name in VERSION_FILES:
        path = source / name
        if path.is_file():
            found = dict(_FIELD.findall(path.read_text(errors="replace")))
            if "MAJOR" in found:
                return found
    return None
