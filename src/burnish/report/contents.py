"""Which sections the report on a run has, by kind of run; the only module that assembles a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from burnish.report.answer import bundled as short_bundled
from burnish.report.answer import deployment, facts, headed, matrix, onward, search, take
from burnish.report.answer import patches as short_patches
from burnish.report.compose import points
from burnish.report.document import Document, Section
from burnish.report.sections import (
    again,
    builds,
    calibration,
    conclusion,
    heading,
    loads,
    patches,
    remarks,
    verdicts,
    why,
)
from burnish.report.sections.bundled import cells, claims, extras, hosts, means, reasons
from burnish.report.sections.bundled import patches as bundled_patches

if TYPE_CHECKING:
    from burnish.report.answer.around import Around
    from burnish.report.bundled.table import StudyTable
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
        *loads.sections(result),
        *deployment.sections(result),
        search.section(*(result.searched or (None, None))),
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
        *claims.top(table),
        heading.section(result),
        Section("nothing", (points(nothing),)),
        *cells.sections(table),
        *means.sections(table),
        *reasons.missing(table),
        *claims.missing(table),
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


def answer(result: Result, around: Around) -> Document:
    """The short report for a terminal: what to take, a line for each variant, how sure, where the file is.

    `document` has everything.
    """
    return Document(f"{result.engine}: {result.verb}", tuple(_answered(result, around)))


def _answered(result: Result, around: Around) -> Sequence[Section]:
    onwards = onward.section(result, around)
    if result.verb == "calibrate":
        title = f"{headed.source(result)}: noise of this host"
        return [headed.section(result, title), *calibration.sections(result), onwards]
    if result.verb == "why":
        return _sections(result)
    if result.shipped is not None:
        return [*short_bundled.sections(result, result.shipped), onwards]
    if result.patched is not None:
        return [*short_patches.sections(result), facts.section(result), onwards]
    if result.nothing_measured:
        return [headed.section(result), take.section(result), onwards]
    searched = search.section(*(result.searched or (None, None)), full=False)
    return [
        headed.section(result),
        take.section(result),
        matrix.section(result),
        *deployment.sections(result, full=False),
        searched,
        facts.section(result),
        onwards,
    ]
