"""One finding about this machine, and the packages and programs that findings are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from burnish.base.system import install_command
from burnish.toolchain.toolchains import Lack

State = Literal["ok", "lack", "note"]

PACKAGES = {
    "cmake": "cmake",
    "ninja": "ninja-build",
    "make": "make",
    "dpkg-buildflags": "dpkg-dev",
    "ccache": "ccache",
    "sysbench": "sysbench",
    "perf": "linux-perf",
    "ld.bfd": "binutils",
}
"""The Debian package of each program that has a finding of its own."""

LINKERS = ("ld.bfd", "ld.gold", "mold")

PROGRAMS = tuple(dict.fromkeys([*PACKAGES, *LINKERS]))
"""The programs whose places `examine` wants to know (`burnish.base.system.find_programs`)."""


@dataclass(frozen=True)
class Finding:
    """One line of the examination.

    Attributes:
        name: what was looked at.
        state: ``ok``; ``lack``: something can't be done or will be worse; ``note``: good to know.
        found: what is there.
        consequence: what follows from it; empty when nothing does.
        fix: the command, or the words, that change it; empty when there is nothing to do.
    """

    name: str
    state: State
    found: str
    consequence: str = ""
    fix: str = ""


def lacking(name: str, found: str, missing: Sequence[Lack]) -> Finding:
    """A finding from parts that are missing: their consequences, and every command once."""
    return Finding(
        name,
        "lack",
        found,
        "; ".join(dict.fromkeys(each.consequence for each in missing)),
        " && ".join(dict.fromkeys(each.fix for each in missing)),
    )


def program(name: str, needed: Sequence[str], programs: Mapping[str, Path | None], consequence: str) -> Finding:
    """Programs that are there or not, under the name that people know them by."""
    missing = [each for each in needed if not programs.get(each)]
    if not missing:
        return Finding(name, "ok", ", ".join(str(programs[each]) for each in needed))
    fix = install_command(PACKAGES[each] for each in missing)
    return Finding(name, "lack", f"no {', '.join(missing)}", consequence, fix)
