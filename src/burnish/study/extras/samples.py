"""Samples of builds beside their baseline, after the trials: which functions make the difference (``--why``).

Each pair of builds gets a run of its own (`burnish.study.why`) with all details; the functions that matter most are
copied to the study's record. An error here does not change a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.base.errors import InfrastructureError, UserError
from burnish.record.by_type import ByType
from burnish.record.codec import plain, value_of
from burnish.record.events.patches import BuildExplained, FunctionCost, TwinFound
from burnish.record.record import Record
from burnish.study.comparison import Comparison
from burnish.study.request.selection import needed
from burnish.study.why import sampling
from burnish.why.attribution import explaining as explaining_rows
from burnish.why.explanation import explanation

if TYPE_CHECKING:
    from burnish.study.workshop.workshop import Workshop

FUNCTIONS = 6
"""Maximum number of functions per build in the study's own record; the run of its samples has all."""


def record_samples(workshop: Workshop, comparisons: Sequence[Comparison]) -> None:
    """Samples the builds of these comparisons beside their baselines, except those that are already recorded."""
    session, record = workshop.session, workshop.record
    done = {
        (recorded.event.variant, recorded.event.workload)
        for recorded in record.events(BuildExplained)
        if not recorded.event.failure
    }
    wanted = [
        comparison
        for comparison in comparisons
        if comparison.key not in workshop.selection.cut
        and comparison.workload is not None
        and (comparison.candidate, comparison.workload.name) not in done
        and not record.last(TwinFound, variant=comparison.candidate)
    ]
    if wanted:  # by a session that resumes after the trials, nothing but the baseline was made
        workshop.make(needed(workshop.study, wanted))
    for comparison in wanted:
        workload, base, item = comparison.workload, workshop.made[comparison.base], workshop.made[comparison.candidate]
        if workload is None or item.built is None or item.same or base.built is None:
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
            record.append(BuildExplained(comparison.candidate, workload.name, failure=str(error).splitlines()[0]))
            session.bench.say(f"{comparison.candidate}: not explained: {error}")
            continue
        record.append(_explained(comparison.candidate, workload.name, folder))


def _explained(variant: str, workload: str, folder: Path) -> BuildExplained:
    """The functions that make up most of the difference, from the run of the samples."""
    with closing(Record(folder)) as record:
        explained = explanation(ByType(record.every()))
    assert explained is not None  # noqa: S101 - the run is finished
    functions = [row.as_dict() for row in explaining_rows(explained.rows)[:FUNCTIONS]]
    return BuildExplained(
        variant=variant,
        workload=workload,
        study=folder.name,
        unit=explained.unit,
        cpu=(explained.before.cpu, explained.after.cpu),
        functions=tuple(value_of(FunctionCost, plain(function)) for function in functions),
    )
