"""Turns a record's events into the table of a bundled study. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields, replace

from burnish.model.cell import CellId
from burnish.model.recipe import Marks
from burnish.record.by_type import ByType
from burnish.record.events import Event
from burnish.record.events.builds import BuildMade, MachineCodeChanged, VariantSettled
from burnish.record.events.bundled import (
    ComparisonLeft,
    ComparisonTried,
    ConfirmationBegun,
    ExtrasDone,
    FigureMeasured,
    HostFigure,
    LayoutsBegun,
    PlannedComparison,
    ProfileInspected,
    SearchRound,
    SearchStopped,
    TablePlanned,
    TimelineRead,
)
from burnish.record.events.study import StudyBegun
from burnish.record.events.trials import StartDone, TrialsPlanned
from burnish.record.events.verdicts import FamilyJudged, FamilyMember, HostVerdict, Interval, VerdictReached
from burnish.report import evidence, plainly
from burnish.report.analysis.checks import Checks
from burnish.report.analysis.verdict import delta
from burnish.report.bundled import answers, likeness
from burnish.report.bundled.advice import advice, steps_of
from burnish.report.bundled.controls import controls
from burnish.report.bundled.table import OPEN, Line, Relinked, StudyTable
from burnish.report.quantities import of_verdict
from burnish.report.words import level_mark, per_cent
from burnish.study.trials.repeated import Repeated

ANALYSES: Mapping[str, type[Event]] = {
    "timeline": TimelineRead,
    "profile_facts": ProfileInspected,
    "robust": SearchRound,
    "robust_left": SearchStopped,
    "extras": ExtrasDone,
}
"""Events that studies record besides their table, by their name in ``--json``."""


def study_table(repeated: Repeated, checked: Mapping[CellId, Checks]) -> StudyTable | None:
    """The table from a record's events; None if the record is not of a bundled study.

    Args:
        repeated: the events, with verdicts to be repeated.
        checked: by cell, what its starts show beside the ratio.
    """
    by = repeated.by
    table = by.last(TablePlanned)
    if table is None:
        return None
    verdicts = {verdict.cell: verdict for verdict in by.of(VerdictReached)}
    family = by.last(FamilyJudged)
    together = {member.cell: member for member in family.cells} if family else {}
    tried = {attempt.comparison: attempt.cell for attempt in by.of(ComparisonTried)}
    left = {failure.comparison: failure for failure in by.of(ComparisonLeft)}
    figures = {figure.comparison: figure for figure in by.of(FigureMeasured)}
    cut = {omission.comparison: omission.why for omission in table.cut}
    planned = by.last(TrialsPlanned)
    marked = {variant.variant: _marks(variant) for variant in by.of(VariantSettled)}
    relinked = {event.comparison: verdicts[event.cell] for event in by.of(LayoutsBegun) if event.cell in verdicts}
    begun = by.of(StudyBegun)
    now = likeness.today(table, str(begun[0].definition.get("engine", "")) if begun else "")
    lines, cells = [], dict[str, CellId]()
    for recorded in table.comparisons:
        comparison = likeness.completed(recorded, now)
        cell = tried.get(comparison.id, comparison.cell)
        verdict, member = (verdicts.get(cell), together.get(cell)) if cell else (None, None)
        outcome = (figures.get(comparison.id), left.get(comparison.id), cut.get(comparison.id))
        line = _line(comparison, verdict, member, *outcome, marked.get(comparison.candidate, Marks()))
        if cell:
            cells[line.key] = cell
            line = replace(line, sitting=repeated.sittings.get(cell), checks=checked.get(cell, Checks()))
        if again := relinked.get(comparison.id):
            line = replace(line, relinked=_relinked(again, comparison.quantity))
        lines.append(line)
    confirmed = {event.comparison.key: verdicts.get(event.cell) for event in by.of(ConfirmationBegun)}
    lines = [answers.answered(line, delta(planned)) for line in lines]
    negative = controls(lines, delta(planned))

    def quotient(one: Line, other: Line) -> Interval | None:
        """How many times a line's candidate is the other's, by what both are read by."""
        if one.key not in cells or other.key not in cells or one.quantity != other.quantity:
            return None
        return repeated.quotient(cells[one.key], cells[other.key], one.quantity)

    steps = steps_of(by.of(BuildMade))
    advised = advice(lines, confirmed, table, steps, quotient) if table.recommends else []
    return StudyTable(
        study=table.study,
        title=table.title,
        reason=table.reason,
        sources=table.sources,
        lines=tuple(lines),
        rows={name: asdict(row) for name, row in table.rows.items()},
        readings={name: asdict(reading) for name, reading in table.readings.items()},
        series=table.series,
        advice=(*(part.words for part in advised), *([negative.sentence] if negative else [])),
        advised=tuple(advised),
        answers=tuple(answers.sentences(lines, delta(planned))),
        not_replicated=tuple(asdict(part) for part in likeness.not_replicated(table, now)),
        means=table.means,
        canaries=tuple(_canaries(by)),
        extra={
            name: [plainly.analysis(event) for event in by.of(kind)] for name, kind in ANALYSES.items() if kind in by
        },
        patches={name: asdict(patch) for name, patch in table.patches.items()},
        architecture=table.architecture,
        controls=negative,
        changed={change.build.name: evidence.changed(asdict(change)) for change in by.of(MachineCodeChanged)},
    )


def _marks(settled: VariantSettled) -> Marks:
    return Marks(*(getattr(settled, mark.name) for mark in fields(Marks)))


def _line(
    planned: PlannedComparison,
    verdict: VerdictReached | None,
    member: FamilyMember | None,
    figure: FigureMeasured | None,
    left: ComparisonLeft | None,
    cut: str | None,
    marks: Marks,
) -> Line:
    measured, word, interval, starts = "", "", None, 0
    settled, out = planned.final, False
    if verdict is not None:
        interval = verdict.ratios.get(planned.quantity)
        measured = f"{per_cent(interval)}{level_mark(interval)}" if interval else ""
        word, reason, starts, settled = verdict.verdict, verdict.reason, verdict.starts, True
    elif figure is not None:
        measured, word, reason, settled = figure.words, "measured", figure.note, True
    elif planned.reason is not None:
        reason = planned.reason
    elif left is not None:
        reason, settled = left.why, left.final
    elif cut is not None:
        reason, out = cut, True
    else:
        reason = OPEN
    return Line(
        key=planned.id.key,
        row=planned.id.row,
        series=planned.id.series,
        reading=planned.id.reading,
        load=planned.id.load,
        threads=planned.id.threads,
        published=planned.published_words,
        measured=measured,
        verdict=word,
        reason=reason,
        interval=interval,
        quantity=planned.quantity,
        together=member.verdict if member and word and member.verdict != word else "",
        starts=starts,
        control=planned.control,
        settled=settled,
        test=planned.id.test,
        shows=planned.shows,
        published_unit=planned.published.unit if planned.published else "",
        hosts=_hosts_of(verdict or figure),
        hosts_differ=verdict.hosts_differ if verdict else False,
        cell=verdict.cell.name if verdict else "",
        workload=verdict.cell.workload if verdict else "",
        within=verdict.within if verdict else None,
        base=planned.base,
        candidate=planned.candidate,
        marks=marks,
        quantities=of_verdict(verdict) if verdict else {},
        placement=str(verdict.placed) if verdict else "",
        figure=planned.published,
        likeness=planned.likeness,
        unlike=planned.unlike,
        cut=out,
    )


def _relinked(verdict: VerdictReached, quantity: str) -> Relinked:
    return Relinked(verdict.verdict, verdict.ratios.get(quantity), verdict.starts)


def _hosts_of(result: VerdictReached | FigureMeasured | None) -> tuple[HostVerdict | HostFigure, ...]:
    """The result of each host separately."""
    if result is None:
        return ()
    if not result.hosts and isinstance(result, FigureMeasured) and result.origin and result.origin.label:
        return (HostFigure(result.origin.label, result.value, result.base),)
    return result.hosts


def _canaries(by: ByType) -> list[float]:
    """Capacity ratios of all A/A starts."""
    valid = [start for start in by.of(StartDone) if start.cell.is_canary and start.invalid is None]
    return [math.exp(start.readings["capacity"]) for start in valid]
