"""Bundled studies: the table with its comparisons, what became of each, and what stands beside the table."""

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
        does: what the patched tree does otherwise.
        published: what was published about it.
        today: what the tree has of it.
        micro: microbenchmarks that show it.
        shows: what this architecture can show of it.
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
    """What was published: a change from `low` to `high`.

    Attributes:
        low: smaller end; None where a line gives no figure.
        high: larger end.
        unit: ``%``, ``MB`` or ``% of samples``.
        note: the published table's own remark.
    """

    low: float | None = None
    high: float | None = None
    unit: str = "%"
    note: str = ""


@dataclass(frozen=True)
class PlannedComparison:
    """A cell of the table.

    Attributes:
        id: which.
        workload: name of the load; '' where nothing is loaded.
        cell: the cell of its trials as planned; None where nothing is tried.
        base: the build that it is compared with.
        candidate: the candidate's label: build and condition.
        quantity: name of the quantity that answers to the published figure.
        control: whether both sides are the same build.
        measure: what is read off the builds instead of tried; None where it is tried.
        published: the published figure; None without one.
        published_words: the same for people.
        reason: why nothing is measured, where that is known beforehand; None otherwise.
        final: whether that reason holds whatever is installed or asked.
        shows: what this architecture can show of the row's patch; '' of rows about something else.
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


@dataclass(frozen=True)
class Omission:
    """A comparison that a session was not asked for, or had no time for.

    Attributes:
        comparison: which.
        why: in words.
    """

    comparison: ComparisonId
    why: str


@dataclass(frozen=True)
class TablePlanned(Event):
    """The table of a bundled study; a later one replaces it.

    Attributes:
        study: the study's name in the catalogue.
        title: for people.
        reason: what it replicates.
        sources: names of the published tables.
        recommends: whether the best row is recommended and confirmed.
        rows: by name.
        readings: by name.
        series: reasons by name.
        builds: names of the builds that it needs, the baseline first.
        comparisons: all of them, in the order in which they are made.
        cut: those that this session leaves out.
        architecture: the host's, as the kernel names it; '' in older records.
        patches: by row that is about one.
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


@dataclass(frozen=True)
class ComparisonTried(Event):
    """A comparison is measured as a cell of trials; several may be measured as the same one.

    Attributes:
        comparison: which.
        cell: as which.
    """

    comparison: ComparisonId
    cell: CellId


@dataclass(frozen=True)
class ComparisonLeft(Event):
    """A comparison is not made.

    Attributes:
        comparison: which.
        why: in words.
        final: whether another session would find the same.
    """

    comparison: ComparisonId
    why: str
    final: bool = False


@dataclass(frozen=True)
class ConfirmationBegun(Event):
    """A comparison of the best row is measured again on fresh starts.

    Attributes:
        comparison: which.
        cell: as which cell.
    """

    comparison: ComparisonId
    cell: CellId


@dataclass(frozen=True)
class HostFigure:
    """What one host of a merged record has of a figure.

    Attributes:
        host: its letter.
        value: the candidate's.
        base: the base's.
    """

    host: str
    value: float
    base: float


@dataclass(frozen=True)
class FigureMeasured(Event):
    """A comparison was read off the builds: a figure without an interval.

    Attributes:
        comparison: which.
        value: the candidate's, in `unit`.
        base: the base's.
        unit: ``MB``.
        words: both, for people.
        note: how it was read.
        hosts: in a record merged from several hosts that have it, what each found; empty in any other.
        origin: in a merged record, where it was read; None in any other, and where it is a mean.
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
        name: which.
        title: for people.
        why: in words.
    """

    name: str
    title: str
    why: str


@dataclass(frozen=True)
class ExtrasDone(Event):
    """A session is through with the analyses beyond the table.

    Attributes:
        left: those that were left out.
    """

    left: tuple[LeftExtra, ...]


@dataclass(frozen=True)
class Second:
    """One second of a load.

    Attributes:
        second: its number, from 1.
        rate: transactions per second.
        p95: 95th percentile of the response time, in seconds; 0 where the load does not say.
    """

    second: int
    rate: float
    p95: float


@dataclass(frozen=True)
class TimelineRead(Event):
    """Throughput of a build by the second.

    Attributes:
        build: the build's name.
        row: the row that it is shown for.
        workload: the load.
        seconds: in order; a second without a reading is left out.
        origin: in a merged record, where it was read; None in any other.
    """

    build: str
    row: str
    workload: str
    seconds: tuple[Second, ...]
    origin: Origin | None = None


@dataclass(frozen=True)
class ProfileInspected(Event):
    """What is in the profile of a build (`burnish.profiles.inspecting.Inspection`).

    Attributes:
        variant: the build's name.
        name: the profile's names; '' when it has none.
        key: its name in the store.
        engine: which engine it is for.
        profile_kind: whose profile it is: ``gcc``, ``clang``, ``bolt``, ``gcc-samples``, ``clang-samples``.
        made: how it came to be, in words.
        source: digest of the source that was trained; None where that is not known.
        build: key of the build that was trained; None where that is not known.
        toolchain: what that build was made with; None where that is not known.
        training: (workload, seconds).
        seed: replicate of the training.
        functions: functions with a record.
        counted: how many of them ran.
        hot: how many of those make 99 % of all counts.
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
        weights: by role of a load.
        intervals: by role of a load, the build's ratio to the baseline.
        cells: by role of a load, the cell that it was measured as; None where that is not known.
        robust: whether the build is nowhere slower than `delta` allows.
        delta: what is allowed (0.01 = 1 %).
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
    """A search for weights can't go on.

    Attributes:
        why: in words.
    """

    why: str
