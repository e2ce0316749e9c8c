"""Attributes the server's CPU time per transaction to functions by their samples, before and after; pure.

A function's cost is the server's CPU time per transaction, as the load program measured it, times the function's share
of the samples. So the costs of all functions add up to the measured time, and two builds are compared in microseconds
per transaction, not in shares of different totals.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Any, NamedTuple

from burnish.record.events.why import SampleProfile
from burnish.why.samples import KERNEL, UNKNOWN

EXPLAINED = 0.8
"""Share of all significant changes that the table of functions should explain."""

ROWS = 20
"""Maximum number of functions in that table."""

CERTAIN = 2.0
"""Number of standard errors beyond which a difference is significant."""


class Part(StrEnum):
    """Which code a function belongs to."""

    OWN = "own"
    LIBC = "libc"
    LIBRARY = "library"
    KERNEL = "kernel"


_LIBC = ("libc.", "libc-", "libm.", "libm-", "libpthread", "ld-linux", "ld-musl", "librt.", "libdl.")


def part_of(obj: str, program: str) -> Part:
    """The part that an object belongs to.

    Args:
        obj: path of the object, or one of perf's names in brackets.
        program: path of the server.
    """
    if obj == KERNEL:
        return Part.KERNEL
    if obj == program:
        return Part.OWN
    name = PurePath(obj).name
    return Part.LIBC if name.startswith(_LIBC) or obj in ("[vdso]", "[vsyscall]") else Part.LIBRARY


class Function(NamedTuple):
    """A function as it is compared between builds.

    Attributes:
        part: part of the code.
        object: file name of the library; '' for the server itself and the kernel.
        name: without the suffixes of copies and parts.
    """

    part: Part
    object: str
    name: str


@dataclass(frozen=True)
class Profile:
    """Where one build's CPU time goes.

    Attributes:
        label: the build.
        cpu: server CPU seconds per transaction.
        samples: number of samples.
        shares: share of each function, 0 to 1; their sum is 1.
    """

    label: str
    cpu: float
    samples: int
    shares: Mapping[Function, float]

    def cost(self, function: Function) -> float:
        """CPU seconds per transaction in a function."""
        return self.cpu * self.shares.get(function, 0.0)

    def error(self, function: Function) -> float:
        """Standard error of that cost from the number of samples (binomial), at least that of one sample."""
        share = max(self.shares.get(function, 0.0), 1.0 / max(1, self.samples))
        return self.cpu * math.sqrt(share * (1 - share) / max(1, self.samples))

    def parts(self) -> dict[Part, float]:
        """CPU seconds per transaction in each part."""
        result = dict.fromkeys(Part, 0.0)
        for function, share in self.shares.items():
            result[function.part] += self.cpu * share
        return result

    def heaviest(self, number: int = 10) -> list[Function]:
        """The functions outside the kernel with the highest costs."""
        functions = [function for function in self.shares if function.part is not Part.KERNEL]
        return sorted(functions, key=lambda function: (-self.shares[function], function))[:number]

    def as_dict(self, least: float = 0.00005) -> dict[str, Any]:
        """Plain values, for the record; functions with a share below `least` are summed by object."""
        kept: dict[Function, float] = defaultdict(float)
        for function, share in self.shares.items():
            kept[function if share >= least else function._replace(name=REST)] += share
        rows = sorted(kept.items(), key=lambda item: (-item[1], item[0]))
        return {
            "label": self.label,
            "cpu": self.cpu,
            "samples": self.samples,
            "functions": [[str(f.part), f.object, f.name, share] for f, share in rows],
        }


REST = "[all others]"


def profile_from(recorded: SampleProfile) -> Profile:
    """The profile from its recorded values (`Profile.as_dict`)."""
    shares = {Function(Part(part), obj, name): share for part, obj, name, share in recorded.functions}
    return Profile(recorded.label, recorded.cpu, recorded.samples, shares)


def profile(
    label: str,
    cpu: float,
    samples: int,
    weights: Iterable[tuple[str, str, int]],
    program: str,
    user_share: float | None = None,
) -> Profile:
    """A build's profile.

    Args:
        label: the build.
        cpu: server CPU seconds per transaction.
        samples: number of samples.
        weights: (object, function, events), clones merged.
        program: the server's path.
        user_share: share of the CPU time outside the kernel, if only that was sampled; the rest then becomes one
            function of the kernel.
    """
    sums: dict[Function, float] = defaultdict(float)
    for obj, name, weight in weights:
        part = part_of(obj, program)
        shown = "" if part in (Part.OWN, Part.KERNEL) else PurePath(obj).name
        sums[Function(part, shown, name)] += weight
    total = sum(sums.values()) or 1.0
    scale = 1.0 if user_share is None else user_share
    shares = {function: weight / total * scale for function, weight in sums.items()}
    if user_share is not None:
        lump = Function(Part.KERNEL, "", UNKNOWN)
        shares[lump] = shares.get(lump, 0.0) + 1 - user_share
    return Profile(label, cpu, samples, shares)


@dataclass(frozen=True)
class Row:
    """A function, or an object, before and after; CPU seconds per transaction.

    Attributes:
        part: part of the code.
        name: function, with its library; or object.
        before: in the first build.
        after: in the second build.
        error: standard error of the difference, from the number of samples.
        note: ``gone`` or ``new`` if only one build's symbol table has the function; otherwise ''.
    """

    part: Part
    name: str
    before: float
    after: float
    error: float
    note: str = ""

    @property
    def difference(self) -> float:
        """After minus before: below 0 is time saved."""
        return self.after - self.before

    @property
    def certain(self) -> bool:
        """Whether the difference is significant."""
        return abs(self.difference) > CERTAIN * self.error

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for --json."""
        return {
            "part": str(self.part),
            "name": self.name,
            "before": self.before,
            "after": self.after,
            "difference": self.difference,
            "error": self.error,
            "certain": self.certain,
            "note": self.note,
        }


def rows(
    before: Profile, after: Profile, only_before: frozenset[str] = frozenset(), only_after: frozenset[str] = frozenset()
) -> list[Row]:
    """Every function, the largest difference first.

    Args:
        before: the first build.
        after: the second build.
        only_before: functions that only the first build's symbol table has.
        only_after: functions that only the second build's symbol table has.
    """
    result = []
    for function in {*before.shares, *after.shares}:
        note = ""
        if function.part is Part.OWN:
            note = "gone" if function.name in only_before else "new" if function.name in only_after else ""
        result.append(
            Row(
                part=function.part,
                name=f"{function.name} ({function.object})" if function.object else function.name,
                before=before.cost(function),
                after=after.cost(function),
                error=math.hypot(before.error(function), after.error(function)),
                note=note,
            )
        )
    return sorted(result, key=lambda row: (-abs(row.difference), row.name))


def explaining(all_rows: Iterable[Row], part: Part | None = None) -> list[Row]:
    """The fewest functions that explain most of the significant changes.

    Args:
        all_rows: from `rows`.
        part: the kernel, or None for everything outside the kernel.
    """
    candidates = [row for row in all_rows if ((row.part is Part.KERNEL) == (part is Part.KERNEL)) and row.certain]
    enough = EXPLAINED * sum(abs(row.difference) for row in candidates)
    chosen: list[Row] = []
    for row in candidates:
        if len(chosen) == ROWS or sum(abs(row.difference) for row in chosen) >= enough:
            break
        chosen.append(row)
    return chosen


def objects(before: Profile, after: Profile) -> list[Row]:
    """Every object before and after, the highest cost first; the server itself and the kernel included."""
    sums: dict[tuple[Part, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for side, profile in enumerate((before, after)):
        for function in profile.shares:
            sums[function.part, function.object][side] += profile.cost(function)
    result = []
    for (part, name), (before_cost, after_cost) in sums.items():
        title = {Part.OWN: "the server's own code", Part.KERNEL: "kernel"}.get(part, name)
        errors = [
            profile.cpu * math.sqrt(max(0.0, share * (1 - share)) / max(1, profile.samples))
            for profile, share in ((before, before_cost / before.cpu), (after, after_cost / after.cpu))
        ]
        result.append(Row(part, title, before_cost, after_cost, math.hypot(*errors)))
    return sorted(result, key=lambda row: (-max(row.before, row.after), row.name))
