"""A bundled study's table in its record."""

from __future__ import annotations

from burnish.record.record import Record
from burnish.study.bundled import patches
from burnish.study.selection import Selection
from burnish.study.study import Study


def record_table(record: Record, study: Study, selection: Selection) -> None:
    """Records the study's table: what a report is made from, whatever becomes of it."""
    own = study.bundled
    assert own is not None  # noqa: S101 - a bundled study's own
    record.append(
        "shipped",
        study=own.name,
        title=own.title,
        reason=own.reason,
        sources=own.sources,
        recommends=own.recommends,
        rows={row.name: {"title": row.title, "reason": row.reason} for row in own.rows_for(study.engine.name)},
        readings={name: {"title": each.title, "reason": each.reason} for name, each in own.readings.items()},
        series={name: each.reason for name, each in own.series.items()},
        builds=list(study.variants),
        architecture=study.architecture,
        patches={
            row.name: told
            for row in own.rows_for(study.engine.name)
            if patches.engine_of(row) == study.engine.name
            and (told := patches.facts(row, study.architecture)) is not None
        },
        comparisons=[
            {
                "key": each.key,
                "row": each.row,
                "series": each.series,
                "reading": each.reading,
                "load": each.load,
                "threads": each.threads,
                "test": each.test,
                "workload": each.workload.name if each.workload else "",
                "cell": each.cell.name if each.cell else None,
                "base": each.base,
                "candidate": each.label,
                "quantity": each.quantity,
                "control": each.control,
                "measure": each.measure,
                "published": each.published.as_dict() if each.published else None,
                "published_words": each.published.words if each.published else "-",
                "reason": each.reason,
                "final": each.final,
                "shows": each.shows,
            }
            for each in study.comparisons
        ],
        cut=dict(selection.cut),
    )
