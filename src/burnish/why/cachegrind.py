"""Events of one unit of a load counted by `valgrind --tool=cachegrind`: instructions, cache misses, branches; pure.

They are simulated, hence the same in every run, for a simple machine: two levels of cache of this processor's sizes
and a simple branch predictor. Ratios of two builds are more meaningful than the counts themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.why.samples import merged

EVENTS = {
    "Ir": "instructions",
    "I1mr": "first-level instruction cache misses",
    "ILmr": "last-level instruction cache misses",
    "D1mr": "first-level data cache read misses",
    "Bc": "conditional branches",
    "Bcm": "mispredicted of them",
    "Bi": "indirect branches",
    "Bim": "mispredicted of them (indirect)",
}
"""The events that are shown, by cachegrind's short names."""


@dataclass(frozen=True)
class Counted:
    """One program's events.

    Attributes:
        totals: counts by short name.
        functions: counts by function (copies and parts merged), then by short name.
    """

    totals: Mapping[str, int]
    functions: Mapping[str, Mapping[str, int]]

    def as_dict(self, most: int = 40) -> dict[str, Any]:
        """Plain values, for the record; only the functions with the most instruction-cache misses."""
        heaviest = sorted(self.functions.items(), key=lambda item: (-item[1].get("I1mr", 0), item[0]))[:most]
        return {"totals": dict(self.totals), "functions": {name: dict(events) for name, events in heaviest}}


def parse(text: str) -> Counted:
    """From a ``cachegrind.out`` file: ``events:`` names the columns, ``fn=`` begins a function's lines."""
    names: list[str] = []
    functions: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    totals: dict[str, int] = {}
    function = ""
    for line in text.splitlines():
        if line.startswith("events:"):
            names = line.split()[1:]
        elif line.startswith("summary:"):
            totals = dict(zip(names, map(int, line.split()[1:]), strict=False))
        elif line.startswith("fn="):
            function = merged(line[3:])
        elif line[:1].isdigit():
            # Trailing zeros may be left out.
            for name, count in zip(names, map(int, line.split()[1:]), strict=False):
                functions[function][name] += count
    return Counted(totals, {name: dict(events) for name, events in functions.items()})
