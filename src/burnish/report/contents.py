"""Which sections the report on a run has, by kind of run; the only module that assembles a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from burnish.report.compose import points
from burnish.report.document import Bars, Document, Heading, Points, Section
from burnish.report.page import answer, facts, forest, glossary, matrices, together
from burnish.report.page import cells as page_cells
from burnish.report.sections import again, builds, calibration, conclusion, heading, patches, remarks, verdicts, why
from burnish.report.sections.bundled import cells, extras, hosts, reasons
from burnish.report.sections.bundled import patches as bundled_patches

if TYPE_CHECKING:
    from burnish.report.bundled.table import StudyTable
    from burnish.report.page.details import Details
    from burnish.report.result import Result


def document(result: Result) -> Document:
    """The whole report on a run."""
    return Document(f"{result.engine}: {result.verb}", tuple(_sections(result)))


def _sections(result: Result) -> Sequence[Section]:
    if result.verb == "calibrate":
        return [heading.section(result), *calibration.sections(result)]
    if result.verb == "why":
        return [heading.section(result), *why.sections(result.explanation)]
    if result.shipped is not None:
        return _bundled(result, result.shipped)
    if result.patched is not None:
        return _patches(result)
    return _comparison(result)


def _comparison(result: Result) -> Sequence[Section]:
    """Builds, programs or conditions against a baseline."""
    return [
        heading.section(result),
        *verdicts.sections(result),
        *again.sections(result),
        builds.section(result),
        builds.sizes(result),
        remarks.section(result),
        conclusion.section(conclusion.sentences(result)),
        conclusion.ceiling(result),
    ]


def _patches(result: Result) -> Sequence[Section]:
    """A series of patches."""
    return [
        heading.section(result),
        *patches.verdicts(result),
        *again.sections(result),
        patches.remarks(result),
        *patches.functions(result),
        builds.section(result),
        builds.sizes(result),
        remarks.section(result),
        conclusion.section(conclusion.sentences(result)),
    ]


def _bundled(result: Result, table: StudyTable) -> Sequence[Section]:
    """A bundled study."""
    nothing = conclusion.sentences(result) if result.nothing_measured else []
    return [
        heading.section(result),
        Section("nothing", (points(nothing),)),
        *cells.sections(table),
        *reasons.missing(table),
        *reasons.doubtful(table),
        *reasons.small(result, table),
        *reasons.beside(table),
        reasons.conclusion(table),
        *bundled_patches.sections(table),
        *extras.sections(table),
        *hosts.sections(table, result),
        builds.section(result, detail=True),
    ]


def verdict_sections(result: Result) -> Sequence[Section]:
    """The tables of verdicts alone."""
    return verdicts.sections(result) if result.patched is None else patches.verdicts(result)


def page(runs: Sequence[tuple[Result, Details]]) -> Document:
    """The report on one run or several as a page.

    The answer comes first, then figures, then all that the report has, then what it rests on. Several runs are shown
    side by side first, then each by itself.
    """
    if len(runs) == 1:
        result, details = runs[0]
        return Document(answer.title(result, details), (*_whole(result, details), glossary.section()))
    told = together.told(runs)
    each = [part for run in told for part in together.own(run, _whole(run.result, run.details))]
    title = "; ".join(dict.fromkeys(answer.title(result, details) for result, details in runs))
    return Document(title, (*together.sections(told), *each, glossary.section()))


def _whole(result: Result, details: Details) -> Sequence[Section]:
    return [*_seen(result, details), *map(_titled, _sections(result)), *_rests_on(details, result)]


TITLES = {
    "heading": "What was measured, and how",
    "sizes": "Sizes, memory and time of the builds",
    "ceiling": "The ceiling: what no compiler can save",
    "remarks": "Remarks",
}
"""Headings of sections that have none of their own, as they do without one in a terminal."""


def _titled(part: Section) -> Section:
    """A section with a heading, if it has something to show."""
    title = TITLES.get(part.key)
    if title is None or any(isinstance(block, Heading) for block in part.blocks):
        return part
    if all(block in (Points(()), Bars(getattr(block, "legend", ()), ())) for block in part.blocks):
        return part
    return replace(part, blocks=(Heading(title), *part.blocks))


def _seen(result: Result, details: Details) -> Sequence[Section]:
    """The answer and the figures."""
    shown = page_cells.shown(result, details)
    return [
        answer.section(result, details),
        *forest.sections(result, details, shown),
        *matrices.steps(result, shown),
        *matrices.loads(result, shown),
        *matrices.training(result, shown),
        *matrices.threads(result, details, shown),
        *matrices.published(result, details, shown),
    ]


def _rests_on(details: Details, result: Result) -> Sequence[Section]:
    """What the verdicts rest on beside the figures."""
    return [
        *facts.sides(result, details),
        *facts.gate(details),
        *facts.flags(result, details),
        *facts.pictures(details),
        *facts.hosts(details),
        *facts.commands(result, details),
    ]
