"""Emulation of another processor: the processor that a study requires, and how a program is started on it."""

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
"""Limit on an emulated program's address space: qemu keeps a record of each page, and a program that reserves terabytes
would use up all of the host's memory."""

_PROGRAMS = {"x86-64": "qemu-x86_64", "aarch64": "qemu-aarch64"}


@dataclass(frozen=True)
class Emulator:
    """The installed qemu user-mode emulator.

    Attributes:
        program: its path.
        version: its version line.
        models: names of the processors that it supports.
    """

    program: str
    version: str
    models: frozenset[str]

    def launcher(self, processor: Processor, environment: Iterable[tuple[str, str]] = ()) -> tuple[str, ...]:
        """Command prefix to run a program on `processor`, with environment variables for it alone (preloads)."""
        variables = (word for name, value in environment for word in ("-E", f"{name}={value}"))
        return (*self.bounded(processor.model), *variables)

    def bounded(self, model: str) -> tuple[str, ...]:
        """Command prefix to run a program on qemu's `model` with limited memory."""
        return ("prlimit", f"--as={MEMORY_BYTES}", "--core=0", self.program, "-cpu", model)


def find(architecture: str = "x86-64") -> Emulator | None:
    """The emulator for programs of this architecture; None if it is not installed."""
    program = shutil.which(_PROGRAMS.get(architecture, "")) or shutil.which(f"{_PROGRAMS.get(architecture)}-static")
    if program is None or shutil.which("prlimit") is None:
        return None
    version = process.capture([program, "--version"]).partition("\n")[0]
    output = process.run([program, "-cpu", "help"], timeout=20).output  # prints the list, but exits with 1
    models = re.findall(r"^(?:x86)?\s+([\w.-]+)", output, re.MULTILINE)
    return Emulator(program, version, frozenset(models))


def host_architecture() -> str:
    """The architecture of this host's programs."""
    machine = platform.machine()
    return {"x86_64": "x86-64", "amd64": "x86-64"}.get(machine, machine)


def refused(level: str, beyond: tuple[str, ...], demanded: str, allowed: str) -> str | None:
    """Why a program does not meet the required level, or None.

    Args:
        level: level that it needs, '' if unknown.
        beyond: extensions that it needs and that are in no level.
        demanded: level or processor that the study requires, as the user named it.
        allowed: the required level.
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
