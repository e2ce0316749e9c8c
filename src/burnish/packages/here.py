"""Whether a packaged program runs on this machine: its processor, its libraries and their versions."""

from __future__ import annotations

from pathlib import Path

from burnish.base import process
from burnish.base.errors import UserError
from burnish.packages.control import one_line
from burnish.program import program as programs

_MISSING = "not found"
"""What the loader says of a library, or of a version of one, that is not here."""


def check(file: Path, program: Path) -> None:
    """Raises a `UserError` where a program is of another architecture, or of a release with other libraries.

    Args:
        file: what the user named, a package or the program itself.
        program: the program in it.
    """
    here, kind = programs.read(Path("/proc/self/exe")), programs.read(program)
    if (kind.machine, kind.bits) != (here.machine, here.bits):
        raise UserError(
            f"{file}: a program for {kind.machine}, {kind.bits} bits; this host runs {here.machine}, {here.bits} "
            "bits, so it can't run here"
        )
    missing = [line for line in process.run(["ldd", program], timeout=60).output.splitlines() if _MISSING in line]
    if missing:
        raise UserError(
            f"{file}: its program does not run here ({one_line(missing[0].strip(), 200)}): install what it lacks, "
            "or do this on the release that it was built for"
        )
