"""Samples of builds beside their baseline, after the trials: which functions make the difference (``--why``).

Each pair of builds is a run of its own (`burnish.study.why`), which has everything; what is most telling goes into the
study's record. Nothing that goes wrong here takes a verdict back.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnish.base.errors import InfrastructureError, UserError
from burnish.record.by_type import ByType
from burnish.record.record import Record
from burnish.study.comparison import Comparison
from burnish.study.why import sampling
from burnish.why.attribution import explaining as explaining_rows
from burnish.why.explanation import Explanation, explanation

if TYPE_CHECKING:
    from burnish.study.workshop.workshop import Workshop

FUNCTIONS = 6
"""Most functions of a build that are kept in the study's own record; the run of its samples has all."""


def record_samples(workshop: Workshop, comparisons: Sequence[Comparison]) -> None:
    """Samples the builds of these comparisons beside their baselines; those that are on record already are left."""
    session, record = workshop.session, workshop.record
    done = {
        (event.body["variant"], event.body["workload"])
        for event in record.events("symbols")
        if "failure" not in event.body
    }
    for comparison in comparisons:
        workload, base, item = comparison.workload, workshop.made[comparison.base], workshop.made[comparison.candidate]
        where = {"variant": comparison.candidate, "workload": workload.name if workload else ""}
        if workload is None or item.built is None or item.same or base.built is None:
            continue
        if (comparison.candidate, workload.name) in done or record.last("twin", variant=comparison.candidate):
            continue
        request = sampling.Request(session.spec.name, (comparison.base, comparison.candidate), (base.built, item.built))
        try:
            folder = sampling.explain(
                session.home,
                request,
                workshop.load(workload),
                workshop.study.sample_seconds,
                session.options,
                session.bench.console,
                session.ask,
            )
        except (UserError, InfrastructureError) as error:
            record.append("symbols", **where, failure=str(error).splitlines()[0])
            session.bench.say(f"{comparison.candidate}: not explained: {error}")
            continue
        record.append("symbols", **where, study=folder.name, **_symbols(folder))


def _symbols(folder: Path) -> dict[str, Any]:
    """The functions that make up most of the difference, from the study of the samples."""
    with closing(Record(folder)) as record:
        told: Explanation | None = explanation(ByType(record.every()))
    assert told is not None  # noqa: S101 - it was finished
    return {
        "unit": told.unit,
        "cpu": [told.before.cpu, told.after.cpu],
        "functions": [row.as_dict() for row in explaining_rows(told.rows)[:FUNCTIONS]],
    }
