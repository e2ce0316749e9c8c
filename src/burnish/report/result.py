"""What a run's record says, as values: rows for tables, builds, facts of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.record.events.verdicts import FamilyMember, HostVerdict, Interval, OtherMethod, SideSummary
from burnish.report.analysis import outcome
from burnish.report.bundled.table import StudyTable
from burnish.report.patches import Patched
from burnish.report.quantities import Measured
from burnish.why.explanation import Explanation


@dataclass(frozen=True)
class Row:
    """One cell of the run: a candidate on a workload.

    Attributes:
        candidate: the variant, or the program's name.
        workload: the load.
        verdict: faster, slower, equivalent, undecided or invalid; "no effect" when the code is the baseline's;
            "running" while it has none yet.
        quantities: by name, what the starts say of every quantity that was read; empty without starts.
        starts: valid starts.
        invalid_starts: starts that were repeated.
        reason: the verdict's sentence.
        sides: medians of each side; None where no pair was read.
        unit: what is counted.
        design: how the sides shared the host.
        headline: name of the quantity that the verdict is about.
        per_minute: whether transactions per minute and the mean response time are told.
        role: ``claim``, ``confirmation`` (the winner once more, on fresh starts) or ``canary``.
        together: where several cells are claimed together, p-values and interval that hold beside each other.
        sensitivity: what other ways of taking the middle say, each with its interval.
        invalid_pairs: pairs of valid starts that count for nothing.
        unsettled: starts whose rate never was steady.
        hosts: in a merged record, what each host says by itself (host, starts, interval); empty where there is one.
        hosts_differ: whether two of those intervals have nothing in common.
        alone: the verdict by itself, where correction for all comparisons has made another of it; else ''.
        within: of a difference that is proved, but proved to be within ±delta too, that delta; None of any other.
    """

    candidate: str
    workload: str
    verdict: str
    quantities: Mapping[str, Measured]
    starts: int
    invalid_starts: int
    reason: str
    sides: Mapping[str, SideSummary | None]
    unit: str
    design: str = "duet"
    headline: str = "capacity"
    role: str = "claim"
    per_minute: bool = False
    together: FamilyMember | None = None
    sensitivity: tuple[OtherMethod, ...] = ()
    invalid_pairs: int = 0
    unsettled: int = 0
    hosts: tuple[HostVerdict, ...] = ()
    hosts_differ: bool = False
    alone: str = ""
    within: float | None = None

    @property
    def ratio(self) -> Interval | None:
        """The headline's ratio with its interval."""
        return self.of(self.headline)

    def of(self, quantity: str) -> Interval | None:
        """The ratio of a quantity with its interval, by the quantity's name."""
        measured = self.quantities.get(quantity)
        return measured.interval if measured else None


@dataclass(frozen=True)
class Canary:
    """The baseline against itself on one workload, within the study.

    Attributes:
        workload: the load.
        ratios: of the starts' headline, one each; 1 but for noise.
        invalid: starts that counted for nothing.
    """

    workload: str
    ratios: tuple[float, ...]
    invalid: int


@dataclass(frozen=True)
class BuildRow:
    """What became of a variant.

    Attributes:
        variant: its name.
        reason: why it is in the catalogue.
        toolchain: compiler that made it.
        seconds: wall time of its last stage when it was built, or None.
        server_bytes: size of the measured program.
        gate: "passed 158 tests" or why not.
        failure: why it was not measured, or None.
        notes: cancelled flags, profile audit, differing features.
        identity: version and build id, or "".
        weakens_security: whether it trades safety for speed.
        changes_results: whether a query may give another result.
        narrows_portability: whether it runs on fewer machines.
        needs: what it needs to run, and on which processors it starts (the portability gate); or "-".
        same: whether it was not measured because its program is the baseline's.
        evidence: facts of its program (``program``, ``needs``, ``tried``), or None.
        built: whether it was built here; else it is a program, or a build under another condition.
        costs: facts of its making (``costs``, ``cpu_seconds``, ``effective``, ``record`` …).
    """

    variant: str
    reason: str
    toolchain: str
    seconds: float | None
    server_bytes: int | None
    gate: str
    failure: str | None
    notes: tuple[str, ...]
    identity: str
    weakens_security: bool
    changes_results: bool = False
    narrows_portability: bool = False
    needs: str = "-"
    same: bool = False
    evidence: Mapping[str, Any] | None = None
    built: bool = False
    costs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A run in values.

    Attributes:
        name: the run.
        verb: tune, compare, calibrate, why or patch.
        engine: engine's name.
        source: what was built, in words.
        digest: digest of the source.
        features: feature set.
        baseline: name of the side that ratios are against.
        host: one line.
        begun: when, ISO 8601 UTC.
        ended: when it finished, or None.
        definition: as asked.
        rows: cells in order.
        builds: variants in order.
        differences: what sets two compared programs apart.
        contest: rule, timing, design as recorded, or {}.
        runs: how often it was begun or resumed.
        canaries: A/A starts mixed in, by workload.
        confirmations: the winner's cells on fresh starts, where it was picked from many.
        calibrations: what the host's A/A starts said (`calibrate`: what this run found).
        notes: on the source.
        replicates: builds of each variant, one for each start in turn; 0: each was built once.
        explanation: what a `why` says; None of other verbs, and of one that was not finished.
        patched: the series that a `patch` is about; None of other verbs.
        shipped: the table of a bundled study; None of other verbs.
        merged: of a record merged from several, its hosts and runs; None of any other.
        forced: calibrations of the host that had failed when verdicts were given all the same, by name.
    """

    name: str
    verb: str
    engine: str
    source: str
    digest: str
    features: str
    baseline: str
    host: str
    begun: str
    ended: str | None
    definition: Mapping[str, Any]
    rows: tuple[Row, ...]
    builds: tuple[BuildRow, ...]
    differences: tuple[str, ...]
    contest: Mapping[str, Any]
    runs: int
    canaries: tuple[Canary, ...] = ()
    confirmations: tuple[Row, ...] = ()
    calibrations: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = field(default=())
    replicates: int = 0
    explanation: Explanation | None = None
    patched: Patched | None = None
    shipped: StudyTable | None = None
    merged: Mapping[str, Any] | None = None
    forced: tuple[str, ...] = ()

    @property
    def nothing_measured(self) -> bool:
        """Whether it has finished without a valid verdict or a figure; the command then ends with 1."""
        return outcome.nothing_measured(self)
