"""A bundled study's table in its record."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.catalogue.bundled.means import PublishedMean
from burnish.catalogue.bundled.model import StudyRow
from burnish.model.cell import ComparisonId
from burnish.record.codec import value_of
from burnish.record.events.bundled import (
    Omission,
    PatchFacts,
    PlannedComparison,
    PublishedFigure,
    StatedMean,
    TablePlanned,
    Titled,
)
from burnish.record.record import Record
from burnish.study.bundled import patches
from burnish.study.comparison import Comparison
from burnish.study.request.selection import Selection
from burnish.study.study import Study


def record_table(record: Record, study: Study, selection: Selection) -> None:
    """Records the study's table, from which a report is made even if not all of it is measured."""
    own = study.bundled
    assert own is not None  # noqa: S101 - a bundled study's own
    rows = own.rows_for(study.engine.name)
    ids: dict[str, ComparisonId] = {comparison.key: comparison.id for comparison in study.comparisons}
    record.append(
        TablePlanned(
            study=own.name,
            title=own.title,
            reason=own.reason,
            sources=tuple(own.sources),
            recommends=own.recommends,
            rows={row.name: Titled(row.title, row.reason) for row in rows},
            readings={name: Titled(reading.title, reading.reason) for name, reading in own.readings.items()},
            series={name: series.reason for name, series in own.series.items()},
            builds=tuple(study.variants),
            architecture=study.architecture,
            patches={
                row.name: value_of(PatchFacts, facts)
                for row in rows
                if patches.engine_of(row) == study.engine.name
                and (facts := patches.facts(row, study.architecture)) is not None
            },
            comparisons=tuple(_planned(comparison) for comparison in study.comparisons),
            not_replicated=tuple(Titled(part.title, part.reason) for part in own.not_replicated),
            means=tuple(_mean(mean, rows) for mean in own.means),
            cut=tuple(Omission(ids[key], why) for key, why in selection.cut.items()),
        )
    )


def _mean(mean: PublishedMean, rows: Sequence[StudyRow]) -> StatedMean:
    """A mean for the record, with the rows that are compared with its cells."""
    of_its_lines = [
        row.name
        for row in rows
        if row.published is not None
        and (row.published.table, row.published.line, row.published.against) == (mean.table, mean.line, mean.against)
    ]
    return StatedMean(
        title=mean.title,
        reason=mean.reason,
        stated=mean.stated,
        arithmetic=mean.arithmetic,
        geometric=mean.geometric,
        cells=mean.cells,
        lowest=mean.lowest,
        highest=mean.highest,
        rows=tuple(of_its_lines),
    )


def _planned(comparison: Comparison) -> PlannedComparison:
    published = comparison.published
    return PlannedComparison(
        id=comparison.id,
        workload=comparison.workload.name if comparison.workload else "",
        cell=comparison.cell_id if comparison.cell is not None else None,
        base=comparison.base,
        candidate=comparison.label,
        quantity=comparison.quantity or "capacity",
        control=comparison.control,
        measure=comparison.measure,
        published=value_of(PublishedFigure, published.as_dict()) if published else None,
        published_words=published.words if published else "-",
        reason=comparison.reason,
        final=comparison.final,
        shows=comparison.shows,
        likeness=comparison.likeness.kind if comparison.likeness else "",
        unlike=comparison.likeness.unlike if comparison.likeness else (),
    )
