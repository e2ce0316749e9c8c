"""The source function of a sample, from debug information about inlined functions; pure.

Two builds inline differently, so the same source function appears under its own name in one and under its caller's in
the other. For an address, ``addr2line -a -f -i`` prints every function that is inlined there, the innermost first: that
is the function whose code it is.
"""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"^0x([0-9a-f]+)$")
_UNKNOWN = "??"


def parse_addr2line(text: str) -> dict[int, str]:
    """Innermost function by address; addresses without one are left out. Names are the linker's."""
    functions: dict[int, str] = {}
    address: int | None = None
    for line in text.splitlines():
        match = _ADDRESS.match(line)
        if match:
            address = int(match[1], 16)
        elif address is not None:
            if line != _UNKNOWN:
                functions[address] = line
            address = None  # its callers and source lines are not needed
    return functions
