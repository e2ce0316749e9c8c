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
    """A function called by those above it; times are CPU seconds per transaction, all below it included.

    Attributes:
        name: the function.
        part: whose code it is.
        before: in the first build (the only one, in a graph of one build).
        after: in the second.
        variance: of the difference: samples are alike, so the variance of a sum of them is the sum times what one of
            them stands for.
        children: by name and part.
    """

    name: str
    part: Part
    before: float = 0.0
    after: float = 0.0
    variance: float = 0.0
    children: dict[tuple[Part, str], Node] = field(default_factory=dict)

    @property
    def difference(self) -> float:
        """After less before."""
        return self.after - self.before

    @property
    def certain(self) -> bool:
        """Whether the difference is more than a chance of sampling."""
        return abs(self.difference) > CERTAIN * math.sqrt(self.variance)

    @property
    def width(self) -> float:
        """Time that its box stands for: the larger of before and after, and never less than its children's."""
        below = sum(child.width for child in self.children.values())
        return max(self.before, self.after, below)

    def add(self, before: float, after: float, variance: float) -> None:
        """Counts a stack that goes through here."""
        self.before += before
        self.after += after
        self.variance += variance


Stacks = Mapping[tuple[Frame, ...], int]
"""Events of each call stack, outermost function first."""


@dataclass(frozen=True)
class Side:
    """One build's stacks.

    Attributes:
        stacks: events of each.
        program: the server's path.
        cpu: CPU seconds per transaction.
        samples: number of samples; None: every event is one.
    """

    stacks: Stacks
    program: str
    cpu: float
    samples: int | None = None

    @property
    def scale(self) -> float:
        """CPU seconds per transaction that an event stands for."""
        return self.cpu / (sum(self.stacks.values()) or 1)

    @property
    def sample(self) -> float:
        """The same of a sample, on the average."""
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
    """The stacks as flame graph programs read them: ``outer;inner events``, a line each."""
    sums: Counter[str] = Counter()
    for stack, weight in stacks.items():
        sums[";".join(frame.function.replace(";", ":") for frame in stack)] += weight
    return "".join(f"{stack} {weight}\n" for stack, weight in sorted(sums.items()))
