"""Server CPU per transaction, dealt out to functions by their samples, before and after; pure.

A function's cost is the server's CPU time per transaction, as the load program read it, times the function's share of
the samples. So the costs of all functions add up to what was measured, and two builds are compared in microseconds a
transaction, not in per cent of something that is itself of another size.
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
"""Share of all that changed beyond chance which the table of functions is to explain."""

ROWS = 20
"""Most functions in that table."""

CERTAIN = 2.0
"""Standard errors beyond which a difference is more than a chance of sampling."""


class Part(StrEnum):
    """Whose code it is."""

    OWN = "own"
    LIBC = "libc"
    LIBRARY = "library"
    KERNEL = "kernel"


_LIBC = ("libc.", "libc-", "libm.", "libm-", "libpthread", "ld-linux", "ld-musl", "librt.", "libdl.")


def part_of(obj: str, program: str) -> Part:
    """Whose code an object's is.

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
        part: whose code.
        object: file name of the library; '' for the server itself and the kernel.
        name: without what compilers add for copies and parts.
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
        samples: number of samples behind the shares.
        shares: of each function, 0 to 1; together 1.
    """

    label: str
    cpu: float
    samples: int
    shares: Mapping[Function, float]

    def cost(self, function: Function) -> float:
        """CPU seconds per transaction in a function."""
        return self.cpu * self.shares.get(function, 0.0)

    def error(self, function: Function) -> float:
        """Standard error of that by the number of samples (binomial), never below that of one sample."""
        share = max(self.shares.get(function, 0.0), 1.0 / max(1, self.samples))
        return self.cpu * math.sqrt(share * (1 - share) / max(1, self.samples))

    def parts(self) -> dict[Part, float]:
        """CPU seconds per transaction in each part."""
        found = dict.fromkeys(Part, 0.0)
        for function, share in self.shares.items():
            found[function.part] += self.cpu * share
        return found

    def heaviest(self, number: int = 10) -> list[Function]:
        """The functions outside of the kernel that take most."""
        mine = [function for function in self.shares if function.part is not Part.KERNEL]
        return sorted(mine, key=lambda function: (-self.shares[function], function))[:number]

    def as_dict(self, least: float = 0.00005) -> dict[str, Any]:
        """Plain values, for the record; functions with less than `least` of the samples go together by object."""
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
    """As it was recorded (`Profile.as_dict`)."""
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
        user_share: share of the CPU time outside of the kernel, where only that was sampled; the rest is then one
            lump.
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
        part: whose code.
        name: function, with its library; or object.
        before: in the first build.
        after: in the second.
        error: standard error of the difference by the number of samples.
        note: ``gone`` or ``new``, where only one build's symbol table has the function; or "".
    """

    part: Part
    name: str
    before: float
    after: float
    error: float
    note: str = ""

    @property
    def difference(self) -> float:
        """After less before: below 0 is time saved."""
        return self.after - self.before

    @property
    def certain(self) -> bool:
        """Whether it is more than a chance of sampling."""
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
        after: the second.
        only_before: functions that only the first build's symbol table has.
        only_after: likewise, the second's.
    """
    found = []
    for function in {*before.shares, *after.shares}:
        note = ""
        if function.part is Part.OWN:
            note = "gone" if function.name in only_before else "new" if function.name in only_after else ""
        found.append(
            Row(
                part=function.part,
                name=f"{function.name} ({function.object})" if function.object else function.name,
                before=before.cost(function),
                after=after.cost(function),
                error=math.hypot(before.error(function), after.error(function)),
                note=note,
            )
        )
    return sorted(found, key=lambda row: (-abs(row.difference), row.name))


def explaining(every: Iterable[Row], part: Part | None = None) -> list[Row]:
    """The fewest functions that explain most of what changed beyond chance.

    Args:
        every: from `rows`.
        part: the kernel, or None for all that is not the kernel.
    """
    mine = [row for row in every if ((row.part is Part.KERNEL) == (part is Part.KERNEL)) and row.certain]
    enough = EXPLAINED * sum(abs(row.difference) for row in mine)
    found: list[Row] = []
    for row in mine:
        if len(found) == ROWS or sum(abs(each.difference) for each in found) >= enough:
            break
        found.append(row)
    return found


def objects(before: Profile, after: Profile) -> list[Row]:
    """Every shared object before and after, the heaviest first; the server itself and the kernel among them."""
    sums: dict[tuple[Part, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for side, each in enumerate((before, after)):
        for function in each.shares:
            sums[function.part, function.object][side] += each.cost(function)
    found = []
    for (part, name), (one, other) in sums.items():
        title = {Part.OWN: "the server's own code", Part.KERNEL: "kernel"}.get(part, name)
        errors = [
            each.cpu * math.sqrt(max(0.0, share * (1 - share)) / max(1, each.samples))
            for each, share in ((before, one / before.cpu), (after, other / after.cpu))
        ]
        found.append(Row(part, title, one, other, math.hypot(*errors)))
    return sorted(found, key=lambda row: (-max(row.before, row.after), row.name))
