"""Call stacks of one build as a tree, and those of two builds as one; pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.why.attribution import CERTAIN, Part, part_of
from burnish.why.samples import Frame

ROOT = "all"


@dataclass
class Node:
    """A function in a call tree; times are CPU seconds per transaction, callees included.

    Attributes:
        name: the function.
        part: part of the code.
        before: time in the first build (the only one, in a graph of one build).
        after: time in the second build.
        variance: variance of the difference: all samples have the same weight, so the variance of their sum is the
            sum times that weight.
        children: callees by part and name.
    """

    name: str
    part: Part
    before: float = 0.0
    after: float = 0.0
    variance: float = 0.0
    children: dict[tuple[Part, str], Node] = field(default_factory=dict)

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before

    @property
    def certain(self) -> bool:
        """Whether the difference is significant."""
        return abs(self.difference) > CERTAIN * math.sqrt(self.variance)

    @property
    def width(self) -> float:
        """Width of its box: the larger of before and after, and at least the sum of its children's."""
        below = sum(child.width for child in self.children.values())
        return max(self.before, self.after, below)

    def add(self, before: float, after: float, variance: float) -> None:
        """Adds a stack that passes through this node."""
        self.before += before
        self.after += after
        self.variance += variance


Stacks = Mapping[tuple[Frame, ...], int]
"""Events of each call stack, outermost function first."""


@dataclass(frozen=True)
class Side:
    """One build's stacks.

    Attributes:
        stacks: events of each stack.
        program: the server's path.
        cpu: CPU seconds per transaction.
        samples: number of samples; None: each event is a sample.
    """

    stacks: Stacks
    program: str
    cpu: float
    samples: int | None = None

    @property
    def scale(self) -> float:
        """CPU seconds per transaction of an event."""
        return self.cpu / (sum(self.stacks.values()) or 1)

    @property
    def sample(self) -> float:
        """Average CPU seconds per transaction of a sample."""
        return self.cpu / self.samples if self.samples else self.scale


def tree(one: Side, other: Side | None = None) -> Node:
    """The stacks of one build, or of two on top of each other (see `burnish.why.alignment`)."""
    root = Node(ROOT, Part.OWN)
    for side in filter(None, (one, other)):
        for stack, events in side.stacks.items():
            value = side.scale * events
            before, after = (value, 0.0) if side is one else (0.0, value)
            node = root
            node.add(before, after, value * side.sample)
            for frame in stack:
                part, name = part_of(frame.object, side.program), frame.function
                node = node.children.setdefault((part, name), Node(name, part))
                node.add(before, after, value * side.sample)
    return root


def lines(stacks: Stacks) -> str:
    """The stacks in the input format of flame graph programs: lines ``outer;inner events``."""
    sums: Counter[str] = Counter()
    for stack, weight in stacks.items():
        sums[";".join(frame.function.replace(";", ":") for frame in stack)] += weight
    return "".join(f"{stack} {weight}\n" for stack, weight in sorted(sums.items()))
