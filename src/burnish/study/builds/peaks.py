"""Peak memory of a build's heaviest compiles, from its description: a figure without an interval; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

UNIT = "MB"


def heaviest(costs: Mapping[str, Any], objects: Sequence[str]) -> tuple[str, float, float] | str:
    """(object, peak bytes, seconds) of the heaviest of these objects, or a string that says why there is none.

    Args:
        costs: costs of a build's compiles (`burnish.toolchain.compile_costs.summary`).
        objects: parts of objects' names.
    """
    rows = costs.get("heaviest", ())
    matching = [row for row in rows if any(word in row[0] for word in objects)]
    if not matching:
        seen = f" (the heaviest was {rows[0][0]}, {rows[0][1] / 1e6:.0f} {UNIT})" if rows else ""
        return f"no figure for {' or '.join(objects)}: it is not among the heaviest objects{seen}"
    path, peak, seconds = max(matching, key=lambda row: row[1])
    return str(path), float(peak), float(seconds)


def words(value: float, base: float) -> str:
    """A figure and that of the base in words, both in `UNIT`."""
    return f"{value:,.0f} {UNIT} (as usual {base:,.0f})"
