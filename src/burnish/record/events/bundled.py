"""Bundled studies: the table with its comparisons, the outcome of each, and analyses beyond the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.model.cell import CellId, ComparisonId
from burnish.record.events.base import Event
from burnish.record.events.study import Origin
from burnish.record.events.verdicts import Interval


@dataclass(frozen=True)
class Titled:
    """A row or a reading of a table.

    Attributes:
        title: for people.
        reason: why it is there.
    """

    title: str
    reason: str


@dataclass(frozen=True)
class PatchFacts:
    """The patch that a row is about.

    Attributes:
        patch: the catalogue's name for it.
        bugs: numbers of bug reports.
        direction: ``applied``, ``reverted`` or ``none``.
        does: what the patched tree does differently.
        published: what was published about it.
        today: how much of it the current tree contains.
        micro: microbenchmarks of the patched functions.
        shows: what can be measured of it on this architecture.
    """

    patch: str
    bugs: tuple[int, ...]
    direction: str
    does: str
    published: str
    today: str
    micro: tuple[str, ...]
    shows: str


@dataclass(frozen=True)
class PublishedFigure:
    """A published change, from `low` to `high`.

    Attributes:
        low: lower end; None if the table gives no figure.
        high: upper end.
        unit: ``%``, ``MB`` or ``% of samples``.
        note: the published table's own remark.
    """

    low: float | None = None
    high: float | None = None
    unit: str = "%"
    note: str = ""


@dataclass(frozen=True)
class PlannedComparison:
    """A comparison of the table.

    Attributes:
        id: its identity.
        workload: name of the load; '' if it has none.
        cell: the planned cell of its trials; None if it has no trials.
        base: the build that the candidate is compared with.
        candidate: the candidate's label: build and condition.
        quantity: name of the quantity that corresponds to the published figure.
        control: whether both sides are the same build.
        measure: what is read from the builds instead of measured in trials; None for trials.
        published: the published figure; None if there is none.
        published_words: the same for people.
        reason: why nothing is measured, if that is known beforehand; None otherwise.
        final: whether that reason holds whatever is installed or requested.
        shows: what can be measured of the row's patch on this architecture; '' for rows without a patch.
        likeness: ``as published``, ``stand-in`` or ``different``; '' where nothing was published, and in older records.
        unlike: what is not as published, in prose.
    """

    id: ComparisonId
    workload: str
    cell: CellId | None
    base: str
    candidate: str
    quantity: str
    control: bool = False
    measure: str | None = None
    published: PublishedFigure | None = None
    published_words: str = "-"
    reason: str | None = None
    final: bool = False
    shows: str = ""
    likeness: str = ""
    unlike: tuple[str, ...] = ()


@dataclass(frozen=True)
class Omission:
    """A comparison that was not requested in a session, or for which there was no time.

    Attributes:
        comparison: which comparison.
        why: the reason, in words.
    """

    comparison: ComparisonId
    why: str


@dataclass(frozen=True)
class StatedMean:
    """A mean that a publication states over its whole table, beside what the table's cells give.

    Attributes:
        title: which mean.
        reason: how it came about, and why it differs from others.
        stated: change in per cent, as printed.
        arithmetic: mean of the cells' changes, in per cent.
        geometric: geometric mean of their ratios, as a change in per cent.
        cells: number of cells.
        lowest: smallest change of a cell, in per cent.
        highest: largest.
        rows: rows of the study that are compared with these cells; empty if none is.
    """

    title: str
    reason: str
    stated: float
    arithmetic: float
    geometric: float
    cells: int
    lowest: float
    highest: float
    rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class TablePlanned(Event):
    """The table of a bundled study; a later one replaces it.

    Attributes:
        study: the study's name in the catalogue.
        title: for people.
        reason: what it replicates.
        sources: names of the published tables.
        recommends: whether the best row is recommended and confirmed.
        rows: rows by name.
        readings: readings by name.
        series: reasons of the series, by name.
        builds: names of the builds that it needs, the baseline first.
        comparisons: all comparisons, in the order in which they are made.
        cut: comparisons that this session leaves out.
        architecture: the host's architecture, as the kernel names it; '' in older records.
        patches: patches by row.
        not_replicated: what the published tables have without any counterpart here; empty in older records.
        means: means that the publication states; empty without any, and in older records.
    """

    study: str
    title: str
    reason: str
    sources: tuple[str, ...]
    recommends: bool
    rows: Mapping[str, Titled]
    readings: Mapping[str, Titled]
    series: Mapping[str, str]
    builds: tuple[str, ...]
    comparisons: tuple[PlannedComparison, ...]
    cut: tuple[Omission, ...] = ()
    architecture: str = ""
    patches: Mapping[str, PatchFacts] = field(default_factory=dict)
    not_replicated: tuple[Titled, ...] = ()
    means: tuple[StatedMean, ...] = ()


@dataclass(frozen=True)
class ComparisonTried(Event):
    """A comparison is measured as a cell of trials; several comparisons may share a cell.

    Attributes:
        comparison: which comparison.
        cell: its cell.
    """

    comparison: ComparisonId
    cell: CellId


@dataclass(frozen=True)
class ComparisonLeft(Event):
    """A comparison is not made.

    Attributes:
        comparison: which comparison.
        why: the reason, in words.
        final: whether another session would come to the same result.
    """

    comparison: ComparisonId
    why: str
    final: bool = False


@dataclass(frozen=True)
class ConfirmationBegun(Event):
    """A comparison of the best row is measured again on new starts.

    Attributes:
        comparison: which comparison.
        cell: the cell of the new starts.
        starts: number of new starts; None in older records.
    """

    comparison: ComparisonId
    cell: CellId
    starts: int | None = None


@dataclass(frozen=True)
class LayoutsBegun(Event):
    """A comparison is measured again with other link orders of both sides, as its difference is a small one.

    Attributes:
        comparison: which comparison.
        cell: the cell of the new starts.
        layouts: number of link orders; each start takes a fresh one of both sides.
    """

    comparison: ComparisonId
    cell: CellId
    layouts: int


@dataclass(frozen=True)
class HostFigure:
    """A figure as measured on one host of a merged record.

    Attributes:
        host: letter of the host.
        value: the candidate's value.
        base: the base's value.
    """

    host: str
    value: float
    base: float


@dataclass(frozen=True)
class FigureMeasured(Event):
    """A comparison was read from the builds: a figure without an interval.

    Attributes:
        comparison: which comparison.
        value: the candidate's value, in `unit`.
        base: the base's value.
        unit: ``MB``.
        words: both values, for people.
        note: how it was measured.
        hosts: in a record merged from several hosts, the figure of each; empty in any other.
        origin: in a merged record, where it was measured; None in any other, and for a mean.
    """

    comparison: ComparisonId
    value: float
    base: float
    unit: str
    words: str
    note: str
    hosts: tuple[HostFigure, ...] = ()
    origin: Origin | None = None


@dataclass(frozen=True)
class LeftExtra:
    """An analysis beyond the table that was left out.

    Attributes:
        name: name of the analysis.
        title: for people.
        why: the reason, in words.
    """

    name: str
    title: str
    why: str


@dataclass(frozen=True)
class ExtrasDone(Event):
    """A session has finished the analyses beyond the table.

    Attributes:
        left: the analyses that were left out.
    """

    left: tuple[LeftExtra, ...]


@dataclass(frozen=True)
class Second:
    """One second of a load.

    Attributes:
        second: its number, from 1.
        rate: transactions per second.
        p95: 95th percentile of the response time, in seconds; 0 if the load does not report it.
    """

    second: int
    rate: float
    p95: float


@dataclass(frozen=True)
class TimelineRead(Event):
    """Throughput of a build by the second.

    Attributes:
        build: the build's name.
        row: the row that it belongs to.
        workload: the load.
        seconds: in order; seconds without a reading are missing.
        origin: in a merged record, where it was measured; None in any other.
    """

    build: str
    row: str
    workload: str
    seconds: tuple[Second, ...]
    origin: Origin | None = None


@dataclass(frozen=True)
class ProfileInspected(Event):
    """The content of a build's profile (`burnish.profiles.inspecting.Inspection`).

    Attributes:
        variant: the build's name.
        name: the profile's names; '' if it has none.
        key: its name in the store.
        engine: name of the engine that it is for.
        profile_kind: its format: ``gcc``, ``clang``, ``bolt``, ``gcc-samples``, ``clang-samples``.
        made: how it was made, in words.
        source: digest of the source that was trained; None if unknown.
        build: key of the build that was trained; None if unknown.
        toolchain: toolchain of that build; None if unknown.
        training: (workload, seconds).
        seed: replicate of the training.
        functions: functions with a record.
        counted: how many of them ran.
        hot: how many of those account for 99 % of all counts.
        second_round: functions with context-sensitive counters.
        hottest: (function, share of all counts), hottest first.
        size: bytes on disk.
        origin: in a merged record, where it was made; None in any other.
    """

    variant: str
    name: str
    key: str
    engine: str
    profile_kind: str
    made: str
    source: str | None
    build: str | None
    toolchain: str | None
    training: tuple[tuple[str, float], ...]
    seed: int
    functions: int
    counted: int
    hot: int
    second_round: int
    hottest: tuple[tuple[str, float], ...]
    size: int
    origin: Origin | None = None


@dataclass(frozen=True)
class SearchRound(Event):
    """A round of a search for the weights of a training.

    Attributes:
        round: its number, from 1.
        weights: weights by role of a load.
        intervals: by role of a load, the build's ratio to the baseline.
        cells: by role of a load, the cell that measured it; None if unknown.
        robust: whether the build is on no load slower by more than `delta`.
        delta: the allowed slowdown (0.01 = 1 %).
        rounds: maximum number of rounds.
        alone: by role of a load, name of the build that is trained on it alone.
        on: in a merged record, letters of the hosts that measured it; empty in any other.
    """

    round: int
    weights: Mapping[str, float]
    intervals: Mapping[str, Interval]
    cells: Mapping[str, CellId | None]
    robust: bool
    delta: float
    rounds: int
    alone: Mapping[str, str] = field(default_factory=dict)
    on: tuple[str, ...] = ()


@dataclass(frozen=True)
class SearchStopped(Event):
    """A search for weights cannot continue.

    Attributes:
        why: the reason, in words.
    """

    why: str
