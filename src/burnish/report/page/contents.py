"""Which sections a page has; the rest of the report is that of `burnish.report.contents`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from burnish.report.contents import document
from burnish.report.document import Bars, Document, Heading, Points, Section
from burnish.report.page import answer, cells, facts, forest, glossary, matrices, servers, together

if TYPE_CHECKING:
    from burnish.report.page.details import Details
    from burnish.report.result import Result


def page(runs: Sequence[tuple[Result, Details]]) -> Document:
    """The report on one run or several as a page.

    The answer comes first, then figures, then all that the report has, then what it rests on. Several runs are shown
    side by side first, then each by itself.
    """
    if len(runs) == 1:
        result, details = runs[0]
        return Document(answer.title(result, details), (*_whole(result, details), glossary.section()))
    all_runs = together.lettered(runs)
    each = [part for run in all_runs for part in together.own(run, _whole(run.result, run.details))]
    title = "; ".join(dict.fromkeys(answer.title(result, details) for result, details in runs))
    return Document(title, (*together.sections(all_runs), *each, glossary.section()))


def _whole(result: Result, details: Details) -> Sequence[Section]:
    return [*_seen(result, details), *map(_titled, document(result).sections), *_rests_on(details, result)]


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
    shown = cells.shown(result, details)
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
        *servers.sections(result, details),
        *facts.gate(details),
        *facts.flags(result, details),
        *facts.pictures(details),
        *facts.hosts(details),
        *facts.commands(result, details),
    ]
