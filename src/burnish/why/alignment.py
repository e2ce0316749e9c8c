"""Call stacks of two builds made comparable, though each build inlines differently; pure.

Where one build has inlined a function into its caller, the other one's stacks have a frame more, and its time stands
under another name. A caller that both builds have in common tells the two apart: a function is kept below a caller if
the other build's stacks have it below that caller too, and otherwise its time is counted as its caller's, in whichever
build it is. What is left has the same names in both, and the difference is what the build saved or added.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from burnish.why.attribution import Part, part_of
from burnish.why.samples import Frame
from burnish.why.stacks import Side

KEPT = 0.1
"""So much of a function's time below a caller must be there in the other build too for both to be set side by side;
less is a call that was inlined nearly everywhere."""

_TOP = ""

_Below = Counter[tuple[str, str]]
"""CPU seconds per transaction in a function, and in all that it calls, below a caller near or far."""


@dataclass(frozen=True)
class Aligned:
    """Two builds' stacks with the same functions.

    Attributes:
        before: the first build's.
        after: the second's.
        folded: by function, those whose time was counted as its own, by how much in either build (CPU seconds per
            transaction).
    """

    before: Side
    after: Side
    folded: Mapping[str, Mapping[str, float]]


def align(before: Side, after: Side) -> Aligned:
    """Folds what only one of the builds has as a function of its own into its callers."""
    one, other = _below(before), _below(after)
    folded: dict[str, Counter[str]] = defaultdict(Counter)
    return Aligned(
        before=_fold(before, one, other, folded),
        after=_fold(after, other, one, folded),
        folded={name: dict(each) for name, each in folded.items()},
    )


def _below(side: Side) -> _Below:
    found: _Below = Counter()
    for stack, events in side.stacks.items():
        own = [frame.function for frame in stack if part_of(frame.object, side.program) is Part.OWN]
        pairs = {(caller, own[n]) for n in range(len(own)) for caller in (_TOP, *own[:n])}
        for pair in pairs:
            found[pair] += events * side.scale  # type: ignore[assignment]
    return found


def _fold(side: Side, mine: _Below, theirs: _Below, folded: dict[str, Counter[str]]) -> Side:
    stacks: Counter[tuple[Frame, ...]] = Counter()
    for stack, events in side.stacks.items():
        kept: list[Frame] = []
        caller = _TOP
        for number, frame in enumerate(stack):
            own = part_of(frame.object, side.program) is Part.OWN
            # Below a library's function there is nobody of our own to give the time to.
            into = bool(kept) and part_of(kept[-1].object, side.program) is Part.OWN
            if own and into and theirs[caller, frame.function] < KEPT * mine[caller, frame.function]:
                if number == len(stack) - 1:
                    folded[caller][frame.function] += events * side.scale  # type: ignore[assignment]
                continue
            kept.append(frame)
            caller = frame.function if own else caller
        stacks[tuple(kept)] += events
    return replace(side, stacks=stacks)
