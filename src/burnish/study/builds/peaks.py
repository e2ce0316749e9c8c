"""What a compile's heaviest objects took, read off what is known of a build: a figure without an interval; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

UNIT = "MB"


def heaviest(costs: Mapping[str, Any], objects: Sequence[str]) -> tuple[str, float, float] | str:
    """(object, bytes at its peak, seconds) of the heaviest of these objects; in words why there is none.

    Args:
        costs: what a build's compiles took (`burnish.toolchain.compile_costs.summary`).
        objects: parts of names.
    """
    rows = costs.get("heaviest", ())
    matching = [row for row in rows if any(word in row[0] for word in objects)]
    if not matching:
        seen = f" (the heaviest was {rows[0][0]}, {rows[0][1] / 1e6:.0f} {UNIT})" if rows else ""
        return f"no figure for {' or '.join(objects)}: it is not among the heaviest objects{seen}"
    path, peak, seconds = max(matching, key=lambda row: row[1])
    return str(path), float(peak), float(seconds)


def words(value: float, base: float) -> str:
    """A figure beside that of what it is held against, both in `UNIT`."""
    return f"{value:,.0f} {UNIT} (as usual {base:,.0f})"
