"""The result of a run as values: rows for tables, builds, facts about the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.record.events.searches import SearchBegun, SearchEnded
from burnish.record.events.verdicts import FamilyMember, HostVerdict, Interval, OtherMethod, SideSummary
from burnish.report.analysis import outcome
from burnish.report.analysis.checks import Checks
from burnish.report.analysis.deployed import Deployed
from burnish.report.analysis.pending import Pending
from burnish.report.bundled.table import StudyTable
from burnish.report.patches import Patched
from burnish.report.quantities import Measured
from burnish.study.trials.repeated import Sitting
from burnish.why.explanation import Explanation


@dataclass(frozen=True)
class Row:
    """One cell of the run: a candidate on a workload.

    Attributes:
        candidate: the variant, or the program's name.
        workload: the load.
        verdict: faster, slower, equivalent, undecided or invalid; "no effect" when the code is the baseline's;
            "running" while there is no verdict yet.
        quantities: by name, the result for every quantity that was measured; empty without starts.
        starts: valid starts.
        invalid_starts: starts that were repeated.
        reason: the reason for the verdict, a sentence.
        sides: medians of each side; None if no pair was measured.
        unit: unit of work that is counted.
        design: how the sides shared the host.
        headline: name of the quantity that the verdict is about.
        per_minute: whether transactions per minute and the mean response time are reported.
        role: ``claim``, ``confirmation`` (the winner once more, on fresh starts), ``layouts`` (in other link orders) or
            ``canary``.
        together: where several cells are judged together, p-values and interval corrected for all comparisons.
        sensitivity: the ratio by other estimators of the centre, each with its interval.
        invalid_pairs: pairs of valid starts that are not counted.
        unsettled: starts whose rate never became steady.
        hosts: in a merged record, the result of each host (host, starts, interval); empty with one host.
        hosts_differ: whether two of those intervals do not overlap.
        alone: the uncorrected verdict, if correction for all comparisons changed it; else ''.
        within: delta, if the difference is proved but also proved to be within ±delta; else None.
        checks: what its starts show beside the ratio: faults by side, totals, drift.
        sitting: the verdict and intervals of its own sittings, beside those to be repeated; None if nothing more is
            known than these.
        placement: which cores servers and clients had; '' while there is no verdict.
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
    checks: Checks = field(default_factory=Checks)
    sitting: Sitting | None = None
    placement: str = ""

    @property
    def ratio(self) -> Interval | None:
        """The ratio of the headline quantity with its interval."""
        return self.of(self.headline)

    def of(self, quantity: str) -> Interval | None:
        """The ratio of a quantity with its interval, by the quantity's name."""
        measured = self.quantities.get(quantity)
        return measured.interval if measured else None


@dataclass(frozen=True)
class Canary:
    """The baseline against itself on one workload, during the run.

    Attributes:
        workload: the load.
        ratios: ratio of the headline quantity in each valid start; would be 1 without noise.
        invalid: number of invalid starts.
    """

    workload: str
    ratios: tuple[float, ...]
    invalid: int


@dataclass(frozen=True)
class BuildRow:
    """The outcome of building a variant.

    Attributes:
        variant: its name.
        reason: why it is in the catalogue.
        toolchain: compiler and other tools that built it.
        seconds: wall time of the last stage of its build, or None.
        server_bytes: size of the measured program.
        gate: result of the server's own tests: "passed 158 tests" or why not.
        failure: why it was not measured, or None.
        notes: cancelled flags, profile audit, differing features.
        identity: version and build ID, or "".
        weakens_security: whether it trades safety for speed.
        changes_results: whether a query may return a different result.
        narrows_portability: whether it runs on fewer machines.
        needs: what it needs to run, and on which processors it starts (the portability gate); or "-".
        same: whether it was not measured because its program is identical to the baseline's.
        evidence: facts about its program (``program``, ``needs``, ``tried``), or None.
        built: whether it was built here; else it is an existing program, or a build under another condition.
        named: whether it was requested by name.
        trained: loads that its profile was trained on; empty without a profile, or where the record does not say.
        costs: facts about how it was built (``costs``, ``cpu_seconds``, ``effective``, ``record`` …).
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
    named: bool = True
    trained: tuple[str, ...] = ()
    costs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A run as values.

    Attributes:
        name: the run.
        verb: tune, compare, calibrate, why or patch.
        engine: engine's name.
        source: what was built, in words.
        digest: digest of the source.
        features: feature set.
        baseline: name of the side that the others are compared with.
        host: description of the host in one line.
        begun: when it began, ISO 8601 UTC.
        ended: when it finished, ISO 8601 UTC, or None.
        definition: the request, as recorded.
        rows: cells in order.
        builds: variants in order.
        differences: how two compared programs differ.
        contest: rule, timing, design as recorded, or {}.
        runs: number of sessions that began or resumed it.
        canaries: A/A starts mixed in, by workload.
        confirmations: the winner's cells on fresh starts, if it was the best of several.
        relinked: small differences again, each start with other link orders of both sides.
        calibrations: noise of the host from its A/A starts (`calibrate`: from this run).
        notes: remarks about the source.
        replicates: builds of each variant, one for each start in turn; 0: each was built once.
        explanation: the result of `why`; None for other verbs, and for an unfinished run.
        patched: the series of a `patch`; None for other verbs.
        shipped: the table of a bundled study; None for other runs.
        merged: hosts and runs of a merged record; None for any other record.
        deployment: how the recommended build is best deployed; None unless that was asked for.
        forced: names of failed calibrations of the host in spite of which verdicts were given.
        quotients: by candidate, by other candidate, by load: how many times the first is the second, where both are
            faster than the baseline and were measured in the same sittings.
        searched: how a search was asked, and what it came to if it is at its end; None where none was.
        pending: what is measured again and is not finished; empty for a finished run.
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
    relinked: tuple[Row, ...] = ()
    calibrations: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = field(default=())
    replicates: int = 0
    explanation: Explanation | None = None
    patched: Patched | None = None
    shipped: StudyTable | None = None
    merged: Mapping[str, Any] | None = None
    deployment: Deployed | None = None
    forced: tuple[str, ...] = ()
    quotients: Mapping[str, Mapping[str, Mapping[str, Interval]]] = field(default_factory=dict)
    searched: tuple[SearchBegun, SearchEnded | None] | None = None
    pending: tuple[Pending, ...] = ()

    @property
    def nothing_measured(self) -> bool:
        """Whether it finished without a valid verdict or a figure; the command then exits with 1."""
        return outcome.nothing_measured(self)
