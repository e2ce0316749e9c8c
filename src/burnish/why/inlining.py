"""Which source function a sample is in, where debug information tells of inlined ones; pure.

Two builds inline differently, so one and the same source function shows once under its own name and once under its
caller's. ``addr2line -a -f -i`` names for an address every function that is inlined there, the innermost first: that is
the one whose code it is, whoever swallowed it.
"""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"^0x([0-9a-f]+)$")
_UNKNOWN = "??"


def parse_addr2line(text: str) -> dict[int, str]:
    """Innermost function by address; addresses without one are left out. Names are as the linker has them."""
    found: dict[int, str] = {}
    address: int | None = None
    for line in text.splitlines():
        match = _ADDRESS.match(line)
        if match:
            address = int(match[1], 16)
        elif address is not None:
            if line != _UNKNOWN:
                found[address] = line
            address = None  # of its callers and places nothing is wanted
    return found
