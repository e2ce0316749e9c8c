"""A series of patches: its members, which of its builds are identical, and their sampled costs."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.record.events.base import Event


@dataclass(frozen=True)
class PatchMember:
    """A patch of the series.

    Attributes:
        name: its name.
        origin: where it comes from.
        reverted: whether it is reverted instead of applied.
        sha256: digest of its content.
        needs: names of patches that it needs.
    """

    name: str
    origin: str
    reverted: bool
    sha256: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class PatchBuild:
    """A build of the tree with some patches of the series.

    Attributes:
        variant: its name.
        kind: ``alone``, ``with needs``, ``all``, ``all but it`` or ``its needs``.
        patch: the patch that it measures; '' for all.
        patches: its patches, in the order in which they are applied.
        also: other builds that it stands for, in words.
    """

    variant: str
    kind: str
    patch: str
    patches: tuple[str, ...]
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeftBuild:
    """A build of the series that cannot be made.

    Attributes:
        patch: the patch that it would measure.
        kind: see `PatchBuild`.
        why: the reason, in words.
    """

    patch: str
    kind: str
    why: str


@dataclass(frozen=True)
class SeriesRead(Event):
    """The series of patches that a `patch` measures.

    Attributes:
        recipe: name of the variant whose recipe builds every row.
        members: the patches, in the order in which they are applied.
        builds: what is built besides the unpatched tree.
        left_out: builds that cannot be made.
    """

    recipe: str
    members: tuple[PatchMember, ...]
    builds: tuple[PatchBuild, ...]
    left_out: tuple[LeftBuild, ...] = ()


@dataclass(frozen=True)
class TwinFound(Event):
    """Two builds of a series are the same program; one of them is measured.

    Attributes:
        variant: the one that is not measured.
        of: the one that is.
    """

    variant: str
    of: str


@dataclass(frozen=True)
class FunctionCost:
    """What a function costs in two builds, in CPU seconds per transaction.

    Attributes:
        part: ``own``, ``libc``, ``library`` or ``kernel``.
        name: the function.
        before: in the first build.
        after: in the second one.
        difference: after minus before.
        error: standard error of the difference.
        certain: whether the difference is statistically significant.
        note: remark, or ''.
    """

    part: str
    name: str
    before: float
    after: float
    difference: float
    error: float
    certain: bool
    note: str = ""


@dataclass(frozen=True)
class BuildExplained(Event):
    """A build of a series and the unpatched one were sampled, in a study of their own.

    Attributes:
        variant: the build.
        workload: the load.
        failure: why nothing was sampled; None if it was, and the fields below are set.
        study: the study of the samples.
        unit: what is counted.
        cpu: CPU seconds per `unit`, unpatched and patched.
        functions: the functions that make up most of the difference.
    """

    variant: str
    workload: str
    failure: str | None = None
    study: str | None = None
    unit: str | None = None
    cpu: tuple[float, float] | None = None
    functions: tuple[FunctionCost, ...] = ()
