"""Events of a load on a simulated processor, counted by valgrind: instructions, cache misses, branches; pure.

One unit of an embedded engine's load is counted by its cachegrind, a server's transactions by its callgrind. They are
of a simple machine: two levels of cache and a simple branch predictor. Ratios of two builds are more meaningful than
the counts themselves. What a program does by itself is counted, not what the kernel does for it.
"""

from __future__ import annotations

import re
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
"""The events that are shown, by valgrind's short names."""

SECOND_LEVEL = {
    name: does.replace("last-level", "second-level")
    for name, does in (EVENTS | {"DLmr": "last-level data cache read misses"}).items()
}
"""The events that are shown where the last cache is a core's second level."""


RECORDED = 40
"""Functions of a build in the record: those with the most instruction cache misses."""


@dataclass(frozen=True)
class Counted:
    """One program's events, or the sum of several processes'.

    Attributes:
        totals: counts by short name.
        functions: counts by function (copies and parts merged), then by short name; without what it calls.
    """

    totals: Mapping[str, int]
    functions: Mapping[str, Mapping[str, int]]

    def __add__(self, other: Counted) -> Counted:
        """The events of both."""
        names = self.functions.keys() | other.functions.keys()
        return Counted(
            _sum(self.totals, other.totals),
            {name: _sum(self.functions.get(name, {}), other.functions.get(name, {})) for name in names},
        )

    def as_dict(self, most: int = RECORDED) -> dict[str, Any]:
        """Plain values, for the record; only the functions with the most instruction-cache misses."""
        heaviest = sorted(self.functions.items(), key=lambda item: (-item[1].get("I1mr", 0), item[0]))[:most]
        return {"totals": dict(self.totals), "functions": {name: dict(events) for name, events in heaviest}}


def parse(text: str) -> Counted:
    """From a file of cachegrind or callgrind: ``events:`` names the columns, ``fn=`` begins a function's lines.

    callgrind numbers names when they come first, and the costs after ``calls=`` are the callee's.
    """
    names: list[str] = []
    functions: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    totals: dict[str, int] = {}
    numbered: dict[str, str] = {}
    function, of_callee = "", False
    for line in text.splitlines():
        title, _, words = line.partition(":")
        if title == "events":
            names = words.split()
        elif title in ("summary", "totals"):
            totals = dict(zip(names, map(int, words.split()), strict=False))
        elif found := _NAME.match(line):
            which, number, name = found.groups()
            if number:
                name = numbered.setdefault(number, name)
            if which == "fn":
                function = merged(name)
        elif line.startswith("calls="):
            of_callee = True
        elif line[:1] in _POSITION:
            if not of_callee:
                # Trailing zeros may be left out.
                for event, count in zip(names, map(int, line.split()[1:]), strict=False):
                    functions[function][event] += count
            of_callee = False
    return Counted(totals, {name: dict(events) for name, events in functions.items()})


_NAME = re.compile(r"(c?fn)=(\(\d+\))? ?(.*)$")
_POSITION = frozenset("0123456789+-*")
"""How a line of costs begins: with a position in the source, perhaps relative to the last one."""


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in dict.fromkeys([*one, *other])}
