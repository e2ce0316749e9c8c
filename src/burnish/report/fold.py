"""Turns the events of a record into its result, for every verb and for merged records too. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from burnish.base.errors import UserError
from burnish.model.cell import BuildId, CellId, Role
from burnish.model.workload import Design
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import (
    BuildMade,
    GateRun,
    Identity,
    MachineCodeChanged,
    ProfileMade,
    ProgramExamined,
    ProgramFound,
    ProgramsDiffer,
    SourceObtained,
    VariantMissing,
    VariantSettled,
)
from burnish.record.events.searches import SearchBegun, SearchEnded, SearchTold
from burnish.record.events.study import RecordsMerged, SessionBegun, StudyBegun, StudyFinished
from burnish.record.events.trials import StartDone, TrialsPlanned
from burnish.record.events.verdicts import FamilyJudged, FamilyMember, HostCalibrated, SideSummary, VerdictReached
from burnish.report import evidence, patches, plainly
from burnish.report.analysis.checks import Checks, checks_of
from burnish.report.analysis.deployed import deployed
from burnish.report.analysis.pending import pending_of
from burnish.report.analysis.quotients import quotients
from burnish.report.analysis.remade import remade
from burnish.report.analysis.verdict import NO_EFFECT, RUNNING
from burnish.report.bundled.fold import study_table
from burnish.report.hosts import host_line, hosts_line
from burnish.report.quantities import of_verdict
from burnish.report.result import BuildRow, Canary, Result, Row
from burnish.study.trials.repeated import Sitting, repeated
from burnish.study.trials.superseded import counted, superseded
from burnish.why.explanation import explanation

_KEPT = ("effective", "record", "unrecorded", "costs", "cpu_seconds", "objects")
"""Fields of a build's description that are about how it was made."""


def fold(events: Iterable[Recorded[Event]]) -> Result:
    """The result of a record's events, which may be of an unfinished run.

    Raises:
        UserError: the events do not begin a study.
    """
    every = list(events)
    others = superseded(one.event for one in every if isinstance(one.event, StartDone))
    by = ByType(counted(every, others))
    if StudyBegun not in by:
        raise UserError("this record holds no study: it was ended before it began; run the same command again")
    told = repeated(by)
    by, sittings = told.by, told.sittings
    begun = by.recorded(StudyBegun)[0]
    definition = begun.event.definition
    if sought := {made.variant: made.recipe for made in by.of(SearchTold)}:  # made as the search went on
        definition = {**definition, "recipes": {**definition["recipes"], **sought}}
    source, session, planned = by.last(SourceObtained), by.last(SessionBegun), by.last(TrialsPlanned)
    programs = [program.build.name for program in by.of(ProgramFound)]
    checked = checks_of(by)
    shipped = study_table(told, checked)
    variant_names = (
        *(build.build.name for build in by.of(BuildMade)),
        *(variant.variant for variant in by.of(VariantSettled)),
    )
    begins = by.last(SearchBegun)
    variants = list(dict.fromkeys(variant_names)) if shipped or begins else []
    order = [*variants, *programs] or list(definition["variants"])
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
        rows=tuple(_rows(by, planned, sittings, checked)),
        builds=tuple(_builds(by, order, remade(ByType(every), order[0], others))),
        differences=different.found if different else (),
        contest=contest,
        runs=len(by.of(SessionBegun)),
        canaries=tuple(_canaries(by, planned)),
        confirmations=_again(verdicts, Role.CONFIRMATION, sittings, checked),
        relinked=_again(verdicts, Role.LAYOUTS, sittings, checked),
        calibrations=_calibrations(by) or tuple(contest.get("calibrations", ())),
        notes=(source.note,) if source and source.note else (),
        explanation=explanation(by),
        patched=patches.patched(by),
        shipped=shipped,
        merged=merged,
        deployment=deployed(by, lambda cell: _row_of(cell, verdicts, sittings, checked)),
        quotients=quotients(told),
        forced=tuple(dict.fromkeys(name for trials in by.of(TrialsPlanned) for name in trials.forced)),
        searched=(begins, by.last(SearchEnded)) if begins else None,
        replicates=len(planned.replicates.get(order[0], ())) if planned else 0,
        pending=pending_of(by, sittings),
    )


def _rows(
    by: ByType,
    planned: TrialsPlanned | None,
    sittings: Mapping[CellId, Sitting],
    checked: Mapping[CellId, Checks],
) -> list[Row]:
    verdicts = {verdict.cell: verdict for verdict in by.of(VerdictReached)}
    family = by.last(FamilyJudged)
    together = {member.cell: member for member in family.cells} if family else {}
    rows = []
    screened = _screened(by)
    for cell in planned.cells if planned else ():
        reached = verdicts.get(cell)
        if reached is None and cell.candidate in screened:
            continue
        if reached is None:
            valid = [start for start in by.of(StartDone) if start.cell == cell and start.invalid is None]
            label = f"{cell.tag}: {cell.label}" if cell.tag else cell.label
            rows.append(Row(label, cell.workload, RUNNING, {}, len(valid), 0, "not decided yet", {}, ""))
        elif not cell.is_again:
            rows.append(_row(reached, together.get(cell), sittings.get(cell), checked.get(cell)))
    loads = by.of(StudyBegun)[0].definition.get("workloads", ())
    equal = [variant.variant for variant in by.of(VariantSettled) if variant.same]
    rows += [
        Row(name, load, NO_EFFECT, {}, 0, 0, "no effect: identical code", {}, "")
        for load in loads
        for name in dict.fromkeys(equal)
    ]
    return rows


def _screened(by: ByType) -> set[str]:
    """The builds that a search measured for the effects of choices alone; none of them ever passed its tests."""
    told = by.of(SearchTold)
    passed = {step.variant for step in told if step.tested and not step.failed}
    return {step.variant for step in told if not step.tested} - passed


def _again(
    verdicts: Iterable[VerdictReached],
    role: Role,
    sittings: Mapping[CellId, Sitting],
    checked: Mapping[CellId, Checks],
) -> tuple[Row, ...]:
    """The claims that were measured again for one purpose, each once in however many sittings; their verdicts are in no
    family."""
    chosen = {verdict.cell: verdict for verdict in verdicts if verdict.cell.role is role}
    return tuple(_row(verdict, None, sittings.get(cell), checked.get(cell)) for cell, verdict in chosen.items())


def _row_of(
    cell: CellId,
    verdicts: Iterable[VerdictReached],
    sittings: Mapping[CellId, Sitting],
    checked: Mapping[CellId, Checks],
) -> Row | None:
    """A cell that is in no family; None while it has no verdict."""
    reached = {verdict.cell: verdict for verdict in verdicts}.get(cell)
    return _row(reached, None, sittings.get(cell), checked.get(cell)) if reached is not None else None


def _row(reached: VerdictReached, together: FamilyMember | None, sitting: Sitting | None, checks: Checks | None) -> Row:
    return Row(
        candidate=reached.cell.label,
        workload=reached.cell.workload,
        verdict=together.verdict if together else reached.verdict,
        quantities=of_verdict(reached),
        starts=reached.starts,
        invalid_starts=reached.invalid_starts,
        reason=reached.reason,
        sides={label: _summary(side, reached.design) for label, side in reached.sides.items()},
        unit=reached.unit,
        design=reached.design,
        headline=reached.headline,
        role=str(reached.cell.role),
        per_minute=reached.per_minute,
        together=together,
        sensitivity=reached.sensitivity,
        invalid_pairs=reached.invalid_pairs,
        unsettled=reached.unsettled,
        hosts=reached.hosts,
        hosts_differ=reached.hosts_differ,
        alone=reached.verdict if together and together.verdict != reached.verdict else "",
        within=reached.within,
        sitting=sitting,
        placement=str(reached.placed),
        checks=checks or Checks(),
    )


def _summary(side: SideSummary | None, design: str) -> SideSummary | None:
    """A side without response times that have the waits for the other side's turn in them, as older records' have."""
    if side is None or design != Design.INTERLEAVED or "left_out" in side.latency:
        return side
    return replace(side, latency={})


def _calibrations(by: ByType) -> tuple[Mapping[str, Any], ...]:
    """The last one of each workload, design and placement: a resumed run records them again."""
    calibrations = [event.calibration for event in by.of(HostCalibrated)]
    last = {noise.manner: noise for noise in calibrations}
    return tuple(plainly.noise(noise) for noise in last.values())


def _canaries(by: ByType, planned: TrialsPlanned | None) -> list[Canary]:
    canaries = []
    for workload, headline in planned.headlines.items() if planned else ():
        starts = [start for start in by.of(StartDone) if start.cell.is_canary and start.cell.workload == workload]
        valid = [start for start in starts if start.invalid is None]
        if starts:
            ratios = tuple(math.exp(start.readings[headline]) for start in valid)
            canaries.append(Canary(workload, ratios, len(starts) - len(valid)))
    return canaries


def _builds(by: ByType, order: Sequence[str], again: Mapping[str, str]) -> list[BuildRow]:
    builds = {build.build.name: build for build in by.of(BuildMade)}
    gates = {gate.build.name: gate.report for gate in by.of(GateRun)}
    variants = {variant.variant: variant for variant in by.of(VariantSettled)}
    missing = _missing(by)
    programs = {program.build.name: program for program in by.of(ProgramFound)}
    examined = {program.build.name: program for program in by.of(ProgramExamined)}
    changed = {change.build.name: change for change in by.of(MachineCodeChanged)}
    profiles = by.of(ProfileMade)
    trained = {profile.build.name: _training(profile) for profile in profiles}
    shared = {profile.key: _training(profile) for profile in profiles}  # a build may have several, merged in the end
    rows = []
    for name in order:
        first = BuildId(name, 1).name  # the first of a variant's replicates
        build = builds.get(name) or builds.get(first)
        about: Mapping[str, Any] = build.about if build else {}
        facts = variants.get(name) or VariantSettled(name)
        seen = examined.get(name) or examined.get(first)
        named = programs.get(name) or build
        identity = named.identity if named else Identity()
        notes = list(facts.notes)
        if name in changed:
            notes.append(f"machine code: {evidence.changed(asdict(changed[name]))}")
        if name in again and name not in programs:
            notes.append(again[name])
        if about.get("audit"):
            notes.append(f"profile: {about['audit']}")
        rows.append(
            BuildRow(
                variant=name,
                reason=facts.reason,
                toolchain=" + ".join(filter(None, _made_with(about))),
                seconds=about.get("seconds"),
                server_bytes=about.get("server_bytes"),
                gate=evidence.gate(gates.get(name) or gates.get(first), same=facts.same)
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
                named=facts.named,
                trained=trained.get(name) or trained.get(first) or _shared(build, shared),
                costs={key: about[key] for key in _KEPT if key in about},
            )
        )
    return rows


def _training(profile: ProfileMade) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(load) for load, _ in profile.about.get("training") or ()))


def _shared(build: BuildMade | None, trained: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The training of a build whose record has its profile only with the build that it was made for."""
    keys = [stage.key for stage in build.stages] if build else []
    return next((trained[key] for key in reversed(keys) if key in trained), ())


def _missing(by: ByType) -> dict[str, str]:
    """Why variants could not be built; a variant is not missing if any session or host of the record built it."""
    built = {made.build for made in by.of(BuildMade)}
    return {missing.build.name: missing.why for missing in by.of(VariantMissing) if missing.build not in built}


def _made_with(about: Mapping[str, Any]) -> tuple[str, ...]:
    """Compiler, post-link tool, and how many patches the source has."""
    patches = len(about.get("patches", ()))
    counted = f"{patches} patch{'es' if patches > 1 else ''}" if patches else ""
    return about.get("toolchain", ""), "BOLT" if about.get("bolt") else "", counted


def _needs_words(examined: ProgramExamined | None) -> str:
    if examined is None:
        return evidence.needs(None)
    return "; ".join(filter(None, [evidence.needs(plainly.examined(examined)), evidence.tried(examined.tried)]))
