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
"""The Debian package of each program that findings are about."""

LINKERS = ("ld.bfd", "ld.gold", "mold")

PROGRAMS = tuple(dict.fromkeys([*PACKAGES, *LINKERS]))
"""The programs whose paths `examine` needs (`burnish.base.system.find_programs`)."""


@dataclass(frozen=True)
class Finding:
    """One line of the examination.

    Attributes:
        name: what was examined.
        state: ``ok``; ``lack``: something can't be done or will be worse; ``note``: good to know.
        found: what is there.
        consequence: what follows from it; may be empty.
        fix: the command that changes it, or what to do in words; empty if there is nothing to do.
    """

    name: str
    state: State
    found: str
    consequence: str = ""
    fix: str = ""


def lacking(name: str, shown: str, missing: Sequence[Lack]) -> Finding:
    """A finding about missing parts: their consequences, and the commands that install them, each once."""
    return Finding(
        name,
        "lack",
        shown,
        "; ".join(dict.fromkeys(lack.consequence for lack in missing)),
        " && ".join(dict.fromkeys(lack.fix for lack in missing)),
    )


def program(name: str, needed: Sequence[str], programs: Mapping[str, Path | None], consequence: str) -> Finding:
    """A finding about programs that must all be installed, under one name."""
    missing = [command for command in needed if not programs.get(command)]
    if not missing:
        return Finding(name, "ok", ", ".join(str(programs[command]) for command in needed))
    fix = install_command(PACKAGES[command] for command in missing)
    return Finding(name, "lack", f"no {', '.join(missing)}", consequence, fix)
