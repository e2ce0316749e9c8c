"""The libraries that a linked program loads, as its file and the loader say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError
from burnish.program.built import Built

LIST_ONLY = {"LD_TRACE_LOADED_OBJECTS": "1"}
"""Makes the loader list what a program loads, and not start it."""


def needed(program: Path) -> list[str]:
    """The libraries that a program's file asks for (NEEDED), in its order; empty for a static one."""
    text = process.capture(["readelf", "-dW", program])
    return re.findall(r"\(NEEDED\).*\[(\S+)\]", text)


def load_order(program: Path, environment: Mapping[str, str]) -> list[str]:
    """The libraries that the loader maps for a program, in the order in which symbols are looked up in them."""
    done = process.run([program], env={**environment, **LIST_ONLY}, timeout=20)
    return [Path(line.split()[0]).name for line in done.output.splitlines() if line.strip()]


def check_malloc(built: Built, library: str, name: str) -> None:
    """Checks that a program's malloc is that of a library.

    Raises:
        InfrastructureError: another one comes first in the order in which symbols are looked up.
    """
    order = load_order(built.server, dict(built.environment))
    libc = next((index for index, item in enumerate(order) if item.startswith("libc.so")), len(order))
    if library not in order[:libc]:
        raise InfrastructureError(
            f"{name}: malloc would not be that of {library}: the loader maps {', '.join(order) or 'nothing'}"
        )
