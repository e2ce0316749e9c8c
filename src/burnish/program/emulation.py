"""Another processor, emulated: which one a study demands, and how a program is started on it."""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass

from burnish.base import process
from burnish.base.errors import UserError
from burnish.catalogue.instructions import Processor, instructions

MEMORY_BYTES = 6_000_000_000
"""Addresses that an emulated program may have: qemu notes each of its pages, and a program that sets terabytes of
addresses aside would take all of the host's memory with it."""

_PROGRAMS = {"x86-64": "qemu-x86_64", "aarch64": "qemu-aarch64"}


@dataclass(frozen=True)
class Emulator:
    """qemu's user-mode emulation, as found.

    Attributes:
        program: its path.
        version: as it says.
        models: processors that it knows.
    """

    program: str
    version: str
    models: frozenset[str]

    def launcher(self, processor: Processor, environment: Iterable[tuple[str, str]] = ()) -> tuple[str, ...]:
        """Words before a program that is to run on `processor`, with variables that are its alone (preloads)."""
        variables = (word for name, value in environment for word in ("-E", f"{name}={value}"))
        return (*self.bounded(processor.model), *variables)

    def bounded(self, model: str) -> tuple[str, ...]:
        """Words before a program that is to run on qemu's `model`, within the memory that it may take."""
        return ("prlimit", f"--as={MEMORY_BYTES}", "--core=0", self.program, "-cpu", model)


def find(architecture: str = "x86-64") -> Emulator | None:
    """The emulator for programs of this architecture; None when it is not installed."""
    program = shutil.which(_PROGRAMS.get(architecture, "")) or shutil.which(f"{_PROGRAMS.get(architecture)}-static")
    if program is None or shutil.which("prlimit") is None:
        return None
    version = process.capture([program, "--version"]).partition("\n")[0]
    said = process.run([program, "-cpu", "help"], timeout=20).output  # ends with 1 although it has said it
    models = re.findall(r"^(?:x86)?\s+([\w.-]+)", said, re.MULTILINE)
    return Emulator(program, version, frozenset(models))


def host_architecture() -> str:
    """What programs of this host are built for."""
    machine = platform.machine()
    return {"x86_64": "x86-64", "amd64": "x86-64"}.get(machine, machine)


def refused(level: str, beyond: tuple[str, ...], demanded: str, allowed: str) -> str | None:
    """Why a program that needs `level` does not meet a demand, or None.

    Args:
        level: what it needs, '' where that is not known.
        beyond: extensions that it needs and that no level holds.
        demanded: level or processor that the study demands, as the user named it.
        allowed: the demanded level.
    """
    if not level:
        return f"what it needs could not be read, the study demands {demanded}"
    if level not in instructions().levels:
        raise UserError(f"--portable {demanded}: compares levels of x86-64, found a program of {level}")
    if not instructions().holds(allowed, level):
        return f"needs {level}, the study demands {demanded}"
    if beyond and demanded == allowed:
        return f"needs {', '.join(beyond)}, which {demanded} does not hold"
    return None
