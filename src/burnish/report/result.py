"""What a study's record says, as values: rows for tables, sentences for people; a pure function of the events."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from burnish.base.errors import UserError
from burnish.model.cell import BuildId, Role
from burnish.record.by_type import ByType
from burnish.record.codec import plain
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import (
    BuildMade,
    GateFindings,
    GateRun,
    Identity,
    MachineCodeChanged,
    ProgramExamined,
    ProgramFound,
    ProgramsDiffer,
    SourceObtained,
    VariantMissing,
    VariantSettled,
)
from burnish.record.events.study import RecordsMerged, SessionBegun, StudyBegun, StudyFinished
from burnish.record.events.trials import StartDone, TrialsPlanned
from burnish.record.events.verdicts import FamilyJudged, FamilyMember, HostCalibrated, VerdictReached
from burnish.report import evidence, outcome, patches, plainly, verdict
from burnish.report.bundled.table import StudyTable, study_table
from burnish.report.patches import Patched
from burnish.report.verdict import NO_EFFECT, RUNNING
from burnish.why.explanation import Explanation, explanation

_KEPT = ("effective", "record", "unrecorded", "costs", "cpu_seconds", "objects")
"""Of a build's description, what tells of its making."""


@dataclass(frozen=True)
class Row:
    """One cell of the study: a candidate on a workload.

    Attributes:
        candidate: the variant, or the program's name.
        workload: the load.
        verdict: faster, slower, equivalent, undecided or invalid; "no effect" when the code is the baseline's;
            "running" while it has none yet.
        capacity: ratio with interval (keys ratio, low, high, level), candidate over baseline, or None.
        throughput: likewise.
        starts: valid starts.
        invalid_starts: starts that were repeated.
        reason: the verdict's sentence.
        sides: medians of each side (throughput per second, server CPU seconds per transaction, latency …).
        unit: what is counted.
        design: how the sides shared the host.
        headline: what the verdict is about, ``capacity`` or ``throughput``.
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
    capacity: Mapping[str, float] | None
    throughput: Mapping[str, float] | None
    starts: int
    invalid_starts: int
    reason: str
    sides: Mapping[str, Any]
    unit: str
    design: str = "duet"
    headline: str = "capacity"
    role: str = "claim"
    per_minute: bool = False
    together: Mapping[str, Any] | None = None
    sensitivity: tuple[Mapping[str, Any], ...] = ()
    invalid_pairs: int = 0
    unsettled: int = 0
    hosts: tuple[Mapping[str, Any], ...] = ()
    hosts_differ: bool = False
    alone: str = ""
    within: float | None = None

    @property
    def ratio(self) -> Mapping[str, float] | None:
        """The headline's ratio with its interval."""
        return self.capacity if self.headline == "capacity" else self.throughput


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
        needs: what it needs to run, and on which processors it was seen to: the portability gate; or "-".
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
    """A study in values.

    Attributes:
        name: the study.
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
        runs: how often it was begun or gone on with.
        canaries: A/A starts mixed in, by workload.
        confirmations: the winner's cells on fresh starts, where it was picked from many.
        calibrations: what the host's A/A starts said (`calibrate`: what this study found).
        notes: on the source.
        replicates: builds of each variant, one for each start in turn; 0: each was built once.
        explanation: what a `why` says; None of other verbs, and of one that was not finished.
        patched: the series that a `patch` is about; None of other verbs.
        shipped: the table of a study that ships; None of other verbs.
        merged: of a record put together from several, its hosts and studies; None of any other.
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


def fold(events: Iterable[Recorded[Event]]) -> Result:
    """Reads a record; works on an unfinished one too."""
    by = ByType(events)
    if StudyBegun not in by:
        raise UserError("this record holds no study: it was ended before it began; run the same command again")
    begun = by.recorded(StudyBegun)[0]
    definition = begun.event.definition
    source, session, planned = by.last(SourceObtained), by.last(SessionBegun), by.last(TrialsPlanned)
    programs = [each.build.name for each in by.of(ProgramFound)]
    shipped = study_table(by)
    named = (*(each.build.name for each in by.of(BuildMade)), *(each.variant for each in by.of(VariantSettled)))
    mine = list(dict.fromkeys(named)) if shipped else []
    order = [*mine, *programs] or list(definition["variants"])
    finished, different = by.recorded(StudyFinished), by.last(ProgramsDiffer)
    together = by.last(RecordsMerged)
    merged = asdict(together) if together else None
    contest = plainly.trials(planned) if planned else {}
    verdicts = by.of(VerdictReached)
    return Result(
        name=begun.event.name,
        verb=definition["verb"],
        engine=definition["engine"],
        source=source.origin if source else "existing server programs",
        digest=source.digest if source else "",
        features=definition["features"],
        baseline=order[0],
        host=hosts_line(merged) if merged else host_line(session.host if session else {}),
        begun=begun.at,
        ended=finished[-1].at if finished else None,
        definition=definition,
        rows=tuple(_rows(by, planned)),
        builds=tuple(_builds(by, order)),
        differences=different.found if different else (),
        contest=contest,
        runs=len(by.of(SessionBegun)),
        canaries=tuple(_canaries(by, planned)),
        confirmations=tuple(_row(each, None, planned) for each in verdicts if each.cell.role is Role.CONFIRMATION),
        calibrations=_calibrations(by) or tuple(contest.get("calibrations", ())),
        notes=(source.note,) if source and source.note else (),
        explanation=explanation(by),
        patched=patches.patched(by),
        shipped=shipped,
        merged=merged,
        forced=tuple(dict.fromkeys(name for each in by.of(TrialsPlanned) for name in each.forced)),
        replicates=len(planned.replicates.get(order[0], ())) if planned else 0,
    )


def host_line(host: Mapping[str, Any]) -> str:
    """The host in one line: processor, cores, memory, kernel, hypervisor."""
    if not host:
        return "unknown host"
    memory = f"{host['memory_bytes'] / 2**30:.0f} GiB" if host.get("memory_bytes") else "unknown memory"
    signature = f" (family/model/stepping {host['cpu_signature']})" if "cpu_signature" in host else ""
    parts = [
        f"{host['cpu_model']}{signature}",
        f"{len(host['cores_allowed'])} cores",
        memory,
        f"Linux {host['kernel']}",
        str(host["distribution"]),
        f"hypervisor {host['hypervisor']}",
        f"THP {host['thp']}",
    ]
    return ", ".join(parts)


def hosts_line(merged: Mapping[str, Any]) -> str:
    """The hosts of a merged record, each with the letter that it has in the report."""
    return "; ".join(f"{each['label']}: {host_line(each['facts'])}" for each in merged["hosts"])


def _rows(by: ByType, planned: TrialsPlanned | None) -> list[Row]:
    verdicts = {each.cell: each for each in by.of(VerdictReached)}
    family = by.last(FamilyJudged)
    together = {each.cell: each for each in family.cells} if family else {}
    rows = []
    for cell in planned.cells if planned else ():
        found = verdicts.get(cell)
        if found is None:
            done = [each for each in by.of(StartDone) if each.cell == cell and each.invalid is None]
            label = f"{cell.tag}: {cell.label}" if cell.tag else cell.label
            rows.append(Row(label, cell.workload, RUNNING, None, None, len(done), 0, "not decided yet", {}, ""))
        elif cell.role is not Role.CONFIRMATION:
            rows.append(_row(found, together.get(cell), planned))
    loads = by.of(StudyBegun)[0].definition.get("workloads", ())
    equal = [each.variant for each in by.of(VariantSettled) if each.same]
    rows += [
        Row(name, load, NO_EFFECT, None, None, 0, 0, "no effect: identical code", {}, "")
        for load in loads
        for name in dict.fromkeys(equal)
    ]
    return rows


def _row(found: VerdictReached, together: FamilyMember | None, planned: TrialsPlanned | None) -> Row:
    return Row(
        candidate=found.cell.label,
        workload=found.cell.workload,
        verdict=together.verdict if together else found.verdict,
        capacity=plainly.interval(found.ratios.get("capacity")),
        throughput=plainly.interval(found.ratios.get("throughput")),
        starts=found.starts,
        invalid_starts=found.invalid_starts,
        reason=found.reason,
        sides={label: plain(side) for label, side in found.sides.items()},
        unit=found.unit,
        design=found.design,
        headline=found.headline,
        role=str(found.cell.role),
        per_minute=found.per_minute,
        together=plainly.member(together) if together else None,
        sensitivity=tuple({"name": each.name, **(plain(each.interval) or {})} for each in found.sensitivity),
        invalid_pairs=found.invalid_pairs,
        unsettled=found.unsettled,
        hosts=tuple(asdict(each) for each in found.hosts),
        hosts_differ=found.hosts_differ,
        alone=found.verdict if together and together.verdict != found.verdict else "",
        within=verdict.within(found, planned),
    )


def _calibrations(by: ByType) -> tuple[Mapping[str, Any], ...]:
    """The last one of each workload and design: a study that was resumed says them again."""
    every = [each.calibration for each in by.of(HostCalibrated)]
    last = {(each.workload, each.design): each for each in every}
    return tuple(plainly.noise(each) for each in last.values())


def _canaries(by: ByType, planned: TrialsPlanned | None) -> list[Canary]:
    found = []
    for workload, headline in planned.headlines.items() if planned else ():
        done = [each for each in by.of(StartDone) if each.cell.is_canary and each.cell.workload == workload]
        good = [each for each in done if each.invalid is None]
        if done:
            ratios = tuple(math.exp(each.readings[headline]) for each in good)
            found.append(Canary(workload, ratios, len(done) - len(good)))
    return found


def _builds(by: ByType, order: Sequence[str]) -> list[BuildRow]:
    builds = {each.build.name: each for each in by.of(BuildMade)}
    gates = {each.build.name: each.report for each in by.of(GateRun)}
    variants = {each.variant: each for each in by.of(VariantSettled)}
    missing = _missing(by)
    programs = {each.build.name: each for each in by.of(ProgramFound)}
    examined = {each.build.name: each for each in by.of(ProgramExamined)}
    changed = {each.build.name: each for each in by.of(MachineCodeChanged)}
    rows = []
    for name in order:
        first = BuildId(name, 1).name  # of a variant's replicates
        build = builds.get(name) or builds.get(first)
        about: Mapping[str, Any] = build.about if build else {}
        facts = variants.get(name) or VariantSettled(name)
        seen = examined.get(name) or examined.get(first)
        named = programs.get(name) or build
        identity = named.identity if named else Identity()
        notes = list(facts.notes)
        if name in changed:
            notes.append(f"machine code: {evidence.changed(asdict(changed[name]))}")
        if about.get("audit"):
            notes.append(f"profile: {about['audit']}")
        rows.append(
            BuildRow(
                variant=name,
                reason=facts.reason,
                toolchain=" + ".join(filter(None, _made_with(about))),
                seconds=about.get("seconds"),
                server_bytes=about.get("server_bytes"),
                gate=_gate_words(gates.get(name) or gates.get(first), same=facts.same)
                if name not in programs
                else "not built here",
                failure=facts.failure or missing.get(name) or missing.get(first),
                notes=tuple(notes),
                identity=f"{identity.version} {identity.build_id[:12]}".strip(),
                weakens_security=facts.weakens_security,
                changes_results=facts.changes_results,
                narrows_portability=facts.narrows_portability,
                needs=_needs_words(seen),
                same=facts.same,
                evidence=plainly.examined(seen) if seen else None,
                built=build is not None and name not in programs,
                costs={key: about[key] for key in _KEPT if key in about},
            )
        )
    return rows


def _missing(by: ByType) -> dict[str, str]:
    """Why variants could not be built; what any session or machine of the record has built is not missing."""
    built = {each.build for each in by.of(BuildMade)}
    return {each.build.name: each.why for each in by.of(VariantMissing) if each.build not in built}


def _made_with(about: Mapping[str, Any]) -> tuple[str, ...]:
    """Compiler, post-link tool, and how many patches the source has."""
    patches = len(about.get("patches", ()))
    counted = f"{patches} patch{'es' if patches > 1 else ''}" if patches else ""
    return about.get("toolchain", ""), "BOLT" if about.get("bolt") else "", counted


def _needs_words(examined: ProgramExamined | None) -> str:
    if examined is None:
        return evidence.needs(None)
    return "; ".join(filter(None, [evidence.needs(plainly.examined(examined)), evidence.tried(examined.tried)]))


def _gate_words(report: GateFindings | None, *, same: bool = False) -> str:
    if same:
        return "no effect: identical code"
    if report is None:
        return "not tested"
    if report.passed:
        skipped = f", {report.skipped} skipped" if report.skipped else ""
        away = f", {len(report.left_out)} left out" if report.left_out else ""
        return f"passed {report.tests}{skipped}{away}"
    return "failed: " + ", ".join(test for test, _ in report.failures[:3])
