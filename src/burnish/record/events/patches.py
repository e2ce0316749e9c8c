"""A series of patches: what it is, which of its builds are the same, what samples say of them."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.record.events.base import Event


@dataclass(frozen=True)
class PatchMember:
    """A patch of the series.

    Attributes:
        name: its name.
        origin: where it is from.
        reverted: whether it is taken out instead of put in.
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
    """The tree with some patches of the series.

    Attributes:
        variant: its name.
        kind: ``alone``, ``with needs``, ``all``, ``all but it`` or ``its needs``.
        patch: which patch it is about; '' for all.
        patches: its patches, in the order in which they are applied.
        also: what else it is, in words.
    """

    variant: str
    kind: str
    patch: str
    patches: tuple[str, ...]
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeftBuild:
    """What can't be built of the series.

    Attributes:
        patch: about which patch.
        kind: as of `PatchBuild`.
        why: in words.
    """

    patch: str
    kind: str
    why: str


@dataclass(frozen=True)
class SeriesRead(Event):
    """The series that a `patch` is about.

    Attributes:
        recipe: name of the variant that every row is built by.
        members: the patches, in the order in which they are applied.
        builds: what is built beside the unpatched tree.
        left_out: what can't be built.
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
        part: ``server``, ``libc``, ``library`` or ``kernel``.
        name: the function.
        before: in the first build.
        after: in the second one.
        difference: after less before.
        error: standard error of the difference.
        certain: whether it is more than a chance of sampling.
        note: what is special about it, or ''.
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
    """A build of a series was sampled beside the unpatched one, in a study of its own.

    Attributes:
        variant: the build.
        workload: the load.
        failure: why nothing was sampled; None where it was, and what follows is there.
        study: the study of the samples.
        unit: what is counted.
        cpu: CPU seconds per `unit`, unpatched and patched.
        functions: those that make up most of the difference.
    """

    variant: str
    workload: str
    failure: str | None = None
    study: str | None = None
    unit: str | None = None
    cpu: tuple[float, float] | None = None
    functions: tuple[FunctionCost, ...] = ()
