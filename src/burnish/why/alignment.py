"""Makes the call stacks of two builds comparable although they inline differently; pure.

If one build has inlined a function into its caller, the other build's stacks have one more frame, and the time is under
another name. A function is kept below a caller if the other build's stacks have it below that caller too. Otherwise its
time is added to its caller's, whichever build it is in. Then both builds have the same names, and the differences are
time that a build saved or added.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from burnish.why.attribution import Part, part_of
from burnish.why.samples import Frame
from burnish.why.stacks import Side

KEPT = 0.1
"""A function is kept below a caller if the other build has at least this share of its time there; with less, the call
was inlined almost everywhere."""

_TOP = ""

_Below = Counter[tuple[str, str]]
"""CPU seconds per transaction in a function and its callees, by (direct or indirect caller, function)."""


@dataclass(frozen=True)
class Aligned:
    """Two builds' stacks with the same functions.

    Attributes:
        before: stacks of the first build.
        after: stacks of the second build.
        folded: by function, the functions whose time was added to it, with that time in either build (CPU seconds per
            transaction).
    """

    before: Side
    after: Side
    folded: Mapping[str, Mapping[str, float]]


def align(before: Side, after: Side) -> Aligned:
    """Folds functions that only one of the builds has as separate functions into their callers."""
    before_below, after_below = _below(before), _below(after)
    folded: dict[str, Counter[str]] = defaultdict(Counter)
    return Aligned(
        before=_fold(before, before_below, after_below, folded),
        after=_fold(after, after_below, before_below, folded),
        folded={name: dict(names) for name, names in folded.items()},
    )


def _below(side: Side) -> _Below:
    below: _Below = Counter()
    for stack, events in side.stacks.items():
        own = [frame.function for frame in stack if part_of(frame.object, side.program) is Part.OWN]
        pairs = {(caller, own[n]) for n in range(len(own)) for caller in (_TOP, *own[:n])}
        for pair in pairs:
            below[pair] += events * side.scale  # type: ignore[assignment]
    return below


def _fold(side: Side, own_below: _Below, other_below: _Below, folded: dict[str, Counter[str]]) -> Side:
    stacks: Counter[tuple[Frame, ...]] = Counter()
    for stack, events in side.stacks.items():
        kept: list[Frame] = []
        caller = _TOP
        for number, frame in enumerate(stack):
            own = part_of(frame.object, side.program) is Part.OWN
            # Below a library's function there is no caller in the server's own code to add the time to.
            below_own = bool(kept) and part_of(kept[-1].object, side.program) is Part.OWN
            if own and below_own and other_below[caller, frame.function] < KEPT * own_below[caller, frame.function]:
                if number == len(stack) - 1:
                    folded[caller][frame.function] += events * side.scale  # type: ignore[assignment]
                continue
            kept.append(frame)
            caller = frame.function if own else caller
        stacks[tuple(kept)] += events
    return replace(side, stacks=stacks)
