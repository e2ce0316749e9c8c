"""What the host's own option files set, in the order in which a server reads them: the last setting counts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from burnish.engines.packaged import HostSetting

_READ_FIRST = ("etc/my.cnf", "etc/mysql/my.cnf")
"""The files with which the service begins; all others are included by them."""

_GROUP = re.compile(r"(mysqld|mariadbd?)(-[\d.]+)?|server|client-server|galera")
"""Groups of options that the server reads."""

_PACKAGED = "-burnish-paths.cnf"
"""How names of files end that are part of a package of Burnish's, of an earlier one too, and go with it."""

_DEEPEST = 10
"""How many files may include each other, as the server has it."""


def overridden(root: Path, packaged: Path, values: Mapping[str, str]) -> list[HostSetting]:
    """The settings of the host that count until a packaged file is read after them, and otherwise from then on.

    Args:
        root: root of the host's files.
        packaged: the packaged file, whether or not it is there.
        values: paths that it sets, by the settings' names with dashes.
    """
    counts: dict[str, HostSetting] = {}
    found: dict[str, HostSetting] = {}
    for first in _READ_FIRST:
        for one in _read(root / first, root, packaged):
            if one is None:
                found = dict(counts)
            elif one.name in values:
                counts[one.name] = one
                found.pop(one.name, None)  # it is read after the packaged file, so it goes on to count
    return [one for one in found.values() if not _same(one.value, values[one.name])]


def _read(file: Path, root: Path, packaged: Path, depth: int = 0) -> Iterator[HostSetting | None]:
    """The settings in a file and in those that it includes; None where the packaged file is read."""
    if file == packaged:
        yield None
        return
    if depth > _DEEPEST or file.name.endswith(_PACKAGED):
        return
    try:
        text = file.read_text(errors="replace")
    except OSError:  # the server passes over it as well
        return
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("!"):
            for included in _included(line, root, packaged):
                yield from _read(included, root, packaged, depth + 1)
        elif line.startswith("["):
            group = line[1:].partition("]")[0].strip()
        elif line[:1] not in ("", "#", ";") and _GROUP.fullmatch(group):
            name, _, value = line.partition("=")
            plain = name.strip().replace("_", "-").removeprefix("loose-")
            yield HostSetting(plain, _value(value), file)


def _included(line: str, root: Path, packaged: Path) -> list[Path]:
    """The files that a line includes, in the server's order."""
    word, _, rest = line.replace("\t", " ").partition(" ")
    path = root / rest.strip().lstrip("/")
    if word == "!include":
        return [path]
    if word != "!includedir":
        return []
    files = {*path.glob("*.cnf"), *([packaged] if packaged.parent == path else [])}
    return sorted(files, key=lambda file: file.name)


def _value(text: str) -> str:
    """A value without quotes and without the comment behind it."""
    quoted = re.match(r"""\s*(["'])(.*?)\1""", text)
    return quoted[2] if quoted else text.partition("#")[0].strip()


def _same(one: str, other: str) -> bool:
    """Whether two paths lead to the same place: a folder may have a slash at its end, /var/run is a link."""
    paths = (os.path.realpath(path) if path.startswith("/") else path for path in (one, other))
    return len(set(paths)) == 1
