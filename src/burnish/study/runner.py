"""The runner of all verbs: a study from plan to verdicts. Resuming is the same call."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from burnish.base.durations import duration
from burnish.base.paths import Home
from burnish.model.workload import Workload
from burnish.record.events.bundled import ComparisonLeft
from burnish.study import needs
from burnish.study import session as sessions
from burnish.study.bundled.record import record_table
from burnish.study.extras.analyses import analyse, analysis_open
from burnish.study.extras.extras import SLACK
from burnish.study.judging import judge
from burnish.study.kept import runs as studies
from burnish.study.kept.runs import settled
from burnish.study.planning.study_plan import StudyPlan, plan_of
from burnish.study.request.options import Ask, Options
from burnish.study.request.selection import Asked, by_name, is_decided, unit_words
from burnish.study.study import Study
from burnish.study.workshop.group import run_group
from burnish.study.workshop.prepare import open_comparisons, prepare, start
from burnish.study.workshop.workshop import Workshop


def run(
    home: Home, study: Study, options: Options, console: Console, ask: Ask | None, asked: Asked | None = None
) -> Path:
    """Runs a study, or resumes it where its record ends; returns the run's folder.

    Args:
        home: the home folder.
        study: what is measured.
        options: how it is measured.
        console: for progress.
        ask: asks the user a question; None if no user is present.
        asked: which part of a bundled study; None: its default part.

    Raises:
        UserError: the request is impossible, or the budget is too small for even one row.
        InfrastructureError: the baseline can't be built, tested or measured.
    """
    options = study.options(options)
    selection = by_name(study, asked or Asked())
    if study.once and not options.fresh and (done := studies.finished(home, study.definition)) is not None:
        console.print(f"{done.name}: already finished; --fresh measures it again", markup=False, highlight=False)
        return done
    with studies.lock(home):
        needs.install_for(study, selection, options, ask)
        plan = plan_of(home, study, selection, options)
        needs.check_disk(home, study.engine, plan.builds.compiles)
        loads = loads_of(study, plan)
        session = sessions.begin(home, study.engine, study.definition, options, console, loads, ask, study.rule)
        with sessions.removed_if_refused(session.record):
            workshop = prepare(session, study, plan)
            start(workshop)
        measure(workshop, plan)
        analyse(workshop, plan)
        judge(workshop)
        return close(workshop)


def loads_of(study: Study, plan: StudyPlan) -> tuple[Workload, ...]:
    """The loads of a session's comparisons, then the study's other loads."""
    chosen = [
        comparison.workload
        for comparison in plan.selection.chosen
        if comparison.reason is None and comparison.workload is not None
    ]
    return tuple({workload.name: workload for workload in (*chosen, *study.workloads)}.values())


def measure(workshop: Workshop, plan: StudyPlan) -> None:
    """Measures every group of comparisons in order, until the budget is used up."""
    session, study = workshop.session, workshop.study
    groups = study.groups(open_comparisons(workshop))
    expected = {cost.unit: cost.seconds for cost in plan.forecast.costs}
    budget, cut = session.options.budget, dict(workshop.selection.cut)
    for number, group in enumerate(groups):
        spent = time.monotonic() - session.began
        ahead = sum(expected.get(unit, 0.0) for unit in dict.fromkeys(comparison.unit for comparison in group))
        if budget is not None and number and spent + ahead > SLACK * budget:
            words = f"cut by --budget: {duration(spent)} of {duration(budget)} were used up by the rows before it"
            cut |= {comparison.key: words for comparison in group}
            continue
        if not study.in_turn:
            session.bench.say(f"row {number + 1} of {len(groups)}: {unit_words(group[0].unit)}")
        run_group(workshop, group)
    workshop.selection = replace(workshop.selection, cut=cut)
    if groups and study.bundled is not None:
        record_table(workshop.record, study, workshop.selection)


def close(workshop: Workshop) -> Path:
    """Closes the record: as finished if nothing is open, otherwise so that the same command resumes."""
    have = settled(workshop.record)
    left = {recorded.event.comparison: recorded.event.final for recorded in workshop.record.events(ComparisonLeft)}
    comparisons = workshop.study.comparisons
    still = [
        comparison
        for comparison in comparisons
        if not (comparison.final or is_decided(comparison, have) or left.get(comparison.id))
    ]
    if not workshop.study.tolerant:  # what failed has its reason, and would fail again
        still = [comparison for comparison in still if comparison.key in workshop.selection.cut]
    if not still and not analysis_open(workshop):
        return sessions.finish(workshop.session)
    workshop.session.bench.say(f"{len(still)} of {len(comparisons)} cells open; the same command resumes")
    return sessions.leave(workshop.session)
