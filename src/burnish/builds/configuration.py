"""What a tree's configuration found out, by the macros of the headers that it wrote: the same in every build?

Build systems compile small programs to see what the system has. A recipe's flags can make such a check fail (a warning
is enough), and then other code is compiled, without a word: MariaDB without ``vfork`` because of a flag for the link.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

KEPT = "configuration.json"
"""File of a build's folder with its macros."""

_HEADER = "*config*.h"
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?!\()\b[ \t]*(.*?)[ \t]*(?:/\*.*)?$", re.MULTILINE)
_NAMED = 4
"""Macros that a note names, of those that differ."""


def macros(text: str) -> dict[str, str]:
    """The macros that a header defines, with their values; pure.

    Texts are left out (they name folders and compilers), and so are macros with parameters.
    """
    return {name: value for name, value in _DEFINED.findall(text) if '"' not in value}


def read(build: Path) -> dict[str, dict[str, str]]:
    """Macros of the configuration headers in a build folder, by the header's path in it; copies of sources are there.

    Args:
        build: the folder, after its program was made.
    """
    headers = (path for path in sorted(build.rglob(_HEADER)) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(build)): macros(path.read_text(errors="replace")) for path in headers}


def keep(build: Path, folder: Path) -> None:
    """Leaves the macros of a build folder with the finished build, if its tree has any."""
    if found := read(build):
        (folder / KEPT).write_text(json.dumps(found, sort_keys=True, indent=0))


def kept(folder: Path) -> dict[str, dict[str, str]]:
    """The macros of a finished build; empty for builds of before, and of trees that write no such header."""
    path = folder / KEPT
    return json.loads(path.read_text()) if path.is_file() else {}


def differing(
    its: Mapping[str, Mapping[str, str]], usual: Mapping[str, Mapping[str, str]]
) -> dict[str, tuple[str | None, str | None]]:
    """Macros with other values in two builds: by name, (in this one, in the other), None where it is not defined; pure.

    Headers that only one of them has are not compared: what else is built beside the server is no matter of it.
    """
    found: dict[str, tuple[str | None, str | None]] = {}
    for header in sorted(its.keys() & usual.keys()):
        here, there = its[header], usual[header]
        for name in sorted(here.keys() | there.keys()):
            if here.get(name) != there.get(name):
                found[name] = here.get(name), there.get(name)
    return found


def note(folder: Path, other: Path, name: str) -> str | None:
    """A sentence for the report if a build was configured otherwise than another one; None if not, or if unknown.

    Args:
        folder: the build's.
        other: the other's.
        name: the other's, for people.
    """
    its, usual = kept(folder), kept(other)
    found = differing(its, usual)
    if not found:
        return None
    differences = [f"{macro} {_value(here)} instead of {_value(there)}" for macro, (here, there) in found.items()]
    more = f" and {len(differences) - _NAMED} more" if len(differences) > _NAMED else ""
    return f"configured otherwise than {name}: {', '.join(differences[:_NAMED])}{more}"


def _value(value: str | None) -> str:
    return "undefined" if value is None else value or "defined"
