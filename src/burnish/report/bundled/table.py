"""The table of a study that ships: published, measured here, verdict or reason; a pure function of the record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from burnish.model.recipe import Marks
from burnish.record.by_type import ByType
from burnish.record.events import Event
from burnish.record.events.builds import MachineCodeChanged, VariantSettled
from burnish.record.events.bundled import (
    ComparisonLeft,
    ComparisonTried,
    ConfirmationBegun,
    ExtrasDone,
    FigureMeasured,
    PlannedComparison,
    ProfileInspected,
    SearchRound,
    SearchStopped,
    TablePlanned,
    TimelineRead,
)
from burnish.record.events.trials import StartDone, TrialsPlanned
from burnish.record.events.verdicts import FamilyJudged, FamilyMember, VerdictReached
from burnish.report import evidence, plainly
from burnish.report.bundled.advice import Advice, advice
from burnish.report.bundled.controls import Controls, controls
from burnish.report.verdict import IDENTICAL, NO_EFFECT, delta, within, words
from burnish.report.words import per_cent

OPEN = "not measured yet"


@dataclass(frozen=True)
class Line:
    """One comparison: a cell of the study's table.

    Attributes:
        key: names it.
        row: the row's name.
        series: the series' name, '' where there is one only.
        reading: the reading's name, likewise.
        load: role of its load.
        threads: client threads; None: the load's own.
        published: the published figure in words.
        measured: what was measured here, in words; '' where nothing was.
        verdict: the verdict, ``measured`` for what has no interval, or ''.
        reason: the verdict's sentence, or why there is none.
        interval: ratio of the quantity that answers to the published figure, with its interval; None without.
        quantity: that quantity.
        together: the verdict as one of many, where it is another one.
        starts: valid starts.
        control: whether both sides are the same build.
        settled: whether it has its verdict, or a reason that no other sitting would mend.
        test: which of a suite's tests it is; '' where the load is one.
        shows: what the host's architecture can show of the row's patch; '' of rows about something else.
        published_unit: unit of the published figure; '' without one.
        hosts: in a record put together from several hosts, what each of them says by itself.
        hosts_differ: whether two of those have nothing in common.
        cell: the cell whose starts it tells of, which other lines may tell of too; '' without any.
        within: of a difference that is proved to be within ±delta too, that delta; None of any other.
        base: what the candidate is compared with: a build, a build under a condition, or a program.
        candidate: likewise.
        marks: what the candidate's build costs beyond time.
    """

    key: str
    row: str
    series: str
    reading: str
    load: str
    threads: int | None
    published: str
    measured: str
    verdict: str
    reason: str
    interval: Mapping[str, float] | None
    quantity: str
    together: str
    starts: int
    control: bool
    settled: bool
    test: str = ""
    shows: str = ""
    published_unit: str = ""
    hosts: tuple[Mapping[str, Any], ...] = ()
    hosts_differ: bool = False
    cell: str = ""
    within: float | None = None
    base: str = ""
    candidate: str = ""
    marks: Marks = field(default_factory=Marks)

    @property
    def identical(self) -> bool:
        """Whether both sides are the same program, so that nothing was measured."""
        return not self.verdict and self.reason.startswith(NO_EFFECT)

    @property
    def last(self) -> str:
        """What stands in the table's last column: the verdict, or that there is a reason."""
        if self.identical:
            return IDENTICAL
        return words(self.verdict, self.within) or ("not measured" if self.settled else "open")


@dataclass(frozen=True)
class StudyTable:
    """A study's result.

    Attributes:
        study: its name.
        title: its title.
        reason: what it replicates.
        sources: the published tables.
        lines: all comparisons in order.
        rows: titles and reasons by row.
        readings: likewise by reading.
        series: reasons by series.
        advice: what it recommends, in sentences.
        canaries: ratios of the A/A starts that were mixed in.
        extra: what analyses recorded beyond the table, by kind.
        patches: by row about a patch, what there is to say of that (see `burnish.study.bundled.patches.facts`).
        architecture: the host's, as the kernel names it; '' in records that do not say.
        controls: what its negative controls say together; None without any.
        changed: by variant with patches, which functions these change, in words.
        advised: what it recommends to build with, by series, as values.
    """

    study: str
    title: str
    reason: str
    sources: tuple[str, ...]
    lines: tuple[Line, ...]
    rows: Mapping[str, Mapping[str, str]]
    readings: Mapping[str, Mapping[str, str]]
    series: Mapping[str, str]
    advice: tuple[str, ...]
    canaries: tuple[float, ...]
    extra: Mapping[str, Sequence[Mapping[str, Any]]]
    patches: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    architecture: str = ""
    controls: Controls | None = None
    changed: Mapping[str, str] = field(default_factory=dict)
    advised: tuple[Advice, ...] = ()


ANALYSES: Mapping[str, type[Event]] = {
    "timeline": TimelineRead,
    "profile_facts": ProfileInspected,
    "robust": SearchRound,
    "robust_left": SearchStopped,
    "extras": ExtrasDone,
}
"""Events that studies record beyond their table, by what ``--json`` calls them."""


def study_table(by: ByType) -> StudyTable | None:
    """The table of a record's events; None where the record is of no bundled study."""
    table = by.last(TablePlanned)
    if table is None:
        return None
    verdicts = {each.cell: each for each in by.of(VerdictReached)}
    family = by.last(FamilyJudged)
    together = {each.cell: each for each in family.cells} if family else {}
    tried = {each.comparison: each.cell for each in by.of(ComparisonTried)}
    left = {each.comparison: each for each in by.of(ComparisonLeft)}
    figures = {each.comparison: each for each in by.of(FigureMeasured)}
    cut = {each.comparison: each.why for each in table.cut}
    planned = by.last(TrialsPlanned)
    marked = {each.variant: _marks(each) for each in by.of(VariantSettled)}
    lines = []
    for each in table.comparisons:
        cell = tried.get(each.id, each.cell)
        verdict, member = (verdicts.get(cell), together.get(cell)) if cell else (None, None)
        said = (figures.get(each.id), left.get(each.id), cut.get(each.id))
        small = within(verdict, planned) if verdict else None
        lines.append(_line(each, verdict, member, *said, small, marked.get(each.candidate, Marks())))
    again = {each.comparison.key: verdicts.get(each.cell) for each in by.of(ConfirmationBegun)}
    negative = controls(lines, delta(planned))
    advised = advice(lines, again, table) if table.recommends else []
    return StudyTable(
        study=table.study,
        title=table.title,
        reason=table.reason,
        sources=table.sources,
        lines=tuple(lines),
        rows={name: asdict(each) for name, each in table.rows.items()},
        readings={name: asdict(each) for name, each in table.readings.items()},
        series=table.series,
        advice=(*(each.words for each in advised), *([negative.sentence] if negative else [])),
        advised=tuple(advised),
        canaries=tuple(_canaries(by)),
        extra={name: [plainly.analysis(each) for each in by.of(kind)] for name, kind in ANALYSES.items() if kind in by},
        patches={name: asdict(each) for name, each in table.patches.items()},
        architecture=table.architecture,
        controls=negative,
        changed={each.build.name: evidence.changed(asdict(each)) for each in by.of(MachineCodeChanged)},
    )


def _marks(settled: VariantSettled) -> Marks:
    return Marks(*(getattr(settled, each.name) for each in fields(Marks)))


def _line(
    planned: PlannedComparison,
    verdict: VerdictReached | None,
    member: FamilyMember | None,
    figure: FigureMeasured | None,
    left: ComparisonLeft | None,
    cut: str | None,
    small: float | None,
    marks: Marks,
) -> Line:
    measured, word, interval, starts = "", "", None, 0
    settled = planned.final
    if verdict is not None:
        interval = plainly.interval(verdict.ratios.get(planned.quantity))
        measured = per_cent(interval) if interval else ""
        word, reason, starts, settled = verdict.verdict, verdict.reason, verdict.starts, True
    elif figure is not None:
        measured, word, reason, settled = figure.words, "measured", figure.note, True
    elif planned.reason is not None:
        reason = planned.reason
    elif left is not None:
        reason, settled = left.why, left.final
    elif cut is not None:
        reason = cut
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
        within=small,
        base=planned.base,
        candidate=planned.candidate,
        marks=marks,
    )


def _hosts_of(found: VerdictReached | FigureMeasured | None) -> tuple[Mapping[str, Any], ...]:
    """What each host says by itself; the one that saw a figure alone has its name only."""
    if found is None:
        return ()
    if not found.hosts and isinstance(found, FigureMeasured) and found.origin and found.origin.label:
        return ({"host": found.origin.label},)
    return tuple(asdict(each) for each in found.hosts)


def _canaries(by: ByType) -> list[float]:
    """Capacity ratios of all A/A starts."""
    done = [each for each in by.of(StartDone) if each.cell.is_canary and each.invalid is None]
    return [math.exp(each.readings["capacity"]) for each in done]
