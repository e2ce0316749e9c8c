"""The runner of all verbs: a study from plan to verdicts. Resuming is the same call."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from rich.console import Console, RenderableType

from burnish.base.durations import budget_text, duration
from burnish.base.paths import Home
from burnish.bench.host import boot_now, memory_with_swap
from burnish.model.cell import CellId, ComparisonId, Role
from burnish.model.sittings import GAP_S
from burnish.model.workload import Workload
from burnish.record.events.bundled import ComparisonLeft
from burnish.record.events.study import SessionBegun, SpreadAssumed
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import DamagedError, Record
from burnish.study import needs
from burnish.study import session as sessions
from burnish.study.bundled.record import record_table
from burnish.study.calibration import keep_calibrations_left
from burnish.study.comparison import Comparison
from burnish.study.extras.analyses import analyse, analysis_open
from burnish.study.extras.deployment import deploy, deployment_open
from burnish.study.extras.extras import SLACK
from burnish.study.extras.fastest import check_request, search
from burnish.study.extras.foreseen import head_of, in_time
from burnish.study.judging import judge
from burnish.study.kept import runs as studies
from burnish.study.kept.history import spreads_of
from burnish.study.kept.machine import machine
from burnish.study.kept.sittings import Next, disturbed_cells, next_sitting, settled
from burnish.study.kept.stopping import reporting_what_is_kept
from burnish.study.planning.study_plan import StudyPlan, check_inputs, plan_of
from burnish.study.request import conditions
from burnish.study.request.options import Ask, Options
from burnish.study.request.selection import Asked, by_name, is_decided, unit_words
from burnish.study.study import Study
from burnish.study.trials.board import BoardRow, board
from burnish.study.trials.schedule import is_open
from burnish.study.workshop.group import run_group
from burnish.study.workshop.prepare import open_comparisons, prepare, start
from burnish.study.workshop.workshop import Workshop

Draw = Callable[[Sequence[BoardRow]], RenderableType]
"""Draws the cells of a running study for a terminal."""


def run(
    home: Home,
    study: Study,
    options: Options,
    console: Console,
    ask: Ask | None,
    asked: Asked | None = None,
    draw: Draw | None = None,
) -> Path:
    """Runs a study, or resumes it where its record ends; returns the run's folder.

    Args:
        home: the home folder.
        study: what is measured.
        options: how it is measured.
        console: for progress.
        ask: asks the user a question; None if no user is present.
        asked: which part of a bundled study; None: its default part.
        draw: draws the cells below the current step on a terminal; None: they are not shown.

    Raises:
        UserError: the request is impossible, or the budget is too small for even one row.
        InfrastructureError: the baseline can't be built, tested or measured.
        HostError: the host has no more room, or its disk can't be written; says what is kept.
    """
    with reporting_what_is_kept(home, study.definition):
        return _run(home, study, study.options(options), console, ask, asked, draw)


def _run(
    home: Home,
    study: Study,
    options: Options,
    console: Console,
    ask: Ask | None,
    asked: Asked | None,
    draw: Draw | None,
) -> Path:
    selection = by_name(study, asked or Asked())
    if study.once and not options.fresh and (done := studies.finished(home, study.definition)) is not None:
        console.print(f"{done.name}: already finished; --fresh measures it again", markup=False, highlight=False)
        return done
    if (waiting := _not_due(home, study, options)) is not None:
        folder, following = waiting
        console.print(f"{folder.name}: {_goes_on(following)}", markup=False, highlight=False, soft_wrap=True)
        return folder
    say = partial(console.print, markup=False, highlight=False, soft_wrap=True)
    with studies.lock(home), machine(home, say):
        if not options.fresh:
            studies.repair(home, study.definition, say)
            _note_another_budget(home, study, say)
        if not study.tolerant:  # before packages are installed for a condition that is refused
            conditions.check(study.engine, options)
        needs.install_for(study, selection, options, ask)
        check_inputs(home, study, options)
        plan = plan_of(home, study, selection, options if study.search is None else replace(options, budget=None))
        head = head_of(home, study, plan, options)
        check_request(head)
        shown = in_time(home, study, plan, options, head)
        needs.check_disk(home, study.engine, plan.builds)
        needs.check_memory(plan.builds, memory_with_swap())
        loads = loads_of(study, plan)
        sharing = study.search is not None
        session = sessions.begin(
            home, study.engine, study.definition, options, console, loads, ask, study.rule, sharing=sharing
        )
        spreads = spreads_of(home, study.engine.name, session.host)
        session.record.append(SpreadAssumed(spreads.profiled, spreads.alike, spreads.committing))
        session.bench.expect(plan.seconds)
        if draw is not None:
            session.bench.board = partial(_board, session.record, draw)
        with sessions.removed_if_refused(session.record):
            workshop = prepare(session, study, plan, shown.lines)
            start(workshop)
        if study.search is None:
            measure(workshop, plan)
            keep_calibrations_left(workshop)
        else:
            search(workshop, plan)
        analyse(workshop, plan)
        judge(workshop)
        deploy(workshop)
        return close(workshop)


def _board(record: Record, draw: Draw) -> RenderableType | None:
    """The cells so far, drawn; None before the trials."""
    rows = board(record)
    return draw(rows) if rows else None


def _not_due(home: Home, study: Study, options: Options) -> tuple[Path, Next] | None:
    """The run of which nothing is to be done before its next sitting, and that sitting; None if there is none."""
    if options.sittings < 2 or options.fresh:
        return None
    with studies.open_record(home, study.definition) as record:
        if record is None:
            return None
        boot = boot_now()
        try:
            have = settled(record, options.schedule, boot, study.comparisons)
            following = next_sitting(record, options.schedule, boot)
            if following is None or following.due <= time.time() or _open(record, study, have):
                return None
        except DamagedError:  # it is repaired first
            return None
        return record.folder, following


def _goes_on(following: Next) -> str:
    return f"{following.words}; then the same command goes on, or `burnish resume --due`"


def _note_another_budget(home: Home, study: Study, say: Callable[[str], None]) -> None:
    """Says which unfinished search is not resumed as this call has another budget: its steps were planned for that."""
    if (other := studies.of_another_budget(home, study.definition)) is not None:
        name, budget = other
        had = "without --budget" if budget is None else f"with --budget {budget_text(budget)}"
        say(f"{name}: an unfinished search like this one, which the same command {had} resumes; this is a new run")


def _open(record: Record, study: Study, have: Collection[ComparisonId]) -> list[Comparison]:
    """The comparisons that have neither a verdict nor a reason that holds for every session."""
    left = {recorded.event.comparison: recorded.event.final for recorded in record.events(ComparisonLeft)}
    return [
        comparison
        for comparison in study.comparisons
        if not (comparison.final or is_decided(comparison, have) or left.get(comparison.id))
    ]


def loads_of(study: Study, plan: StudyPlan) -> tuple[Workload, ...]:
    """The loads of a session's comparisons, then the study's other loads."""
    chosen = [
        comparison.workload
        for comparison in plan.selection.chosen
        if comparison.reason is None and comparison.workload is not None
    ]
    return tuple({workload.name: workload for workload in (*chosen, *study.workloads)}.values())


def measure(workshop: Workshop, plan: StudyPlan) -> None:
    """Measures every group of comparisons in the plan's order, until the budget is used up."""
    session, study = workshop.session, workshop.study
    expected = {cost.unit: cost.seconds for cost in plan.forecast.costs}
    place = {unit: number for number, unit in enumerate(expected)}
    groups = sorted(study.groups(open_comparisons(workshop)), key=lambda group: place.get(group[0].unit, len(place)))
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


def _disturbed(workshop: Workshop) -> list[CellId]:
    """The cells that the host disturbed and that another session measures again.

    A confirmation that this session might have measured again, and has not, was none of what is picked now.
    """
    session, record = workshop.session, workshop.record
    begun = record.last(SessionBegun)  # the session's own clock stands still while the machine sleeps
    began = None if begun is None else datetime.fromisoformat(begun.at).timestamp()
    return [
        cell
        for cell in disturbed_cells(record)
        if cell.role is Role.CLAIM or not is_open(record, cell, session.host.boot, began)
    ]


def close(workshop: Workshop) -> Path:
    """Closes the record: as finished if nothing is open, otherwise so that the same command resumes."""
    session, record = workshop.session, workshop.record
    schedule, boot = session.options.schedule, session.host.boot
    have = settled(record, schedule, boot, workshop.study.comparisons)
    still = _open(record, workshop.study, have)
    if not workshop.study.tolerant:  # what failed has its reason, and would fail again
        still = [comparison for comparison in still if comparison.key in workshop.selection.cut]
    following = next_sitting(record, schedule, boot)
    disturbed = _disturbed(workshop)
    if disturbed and not still:
        cells = {*disturbed, *(recorded.event.cell for recorded in record.events(VerdictReached))}
        session.bench.say(
            f"the host was disturbed while {len(disturbed)} of {len(cells)} cells were measured; "
            f"the same command measures them again, {duration(GAP_S)} from now or later"
        )
        if following is None:
            return sessions.leave(session)
    if not still and not analysis_open(workshop) and not deployment_open(workshop):
        if following is None:
            return sessions.finish(session)
        session.bench.say(_goes_on(following))
        return sessions.leave(session)
    session.bench.say(f"{len(still)} of {len(workshop.study.comparisons)} cells open; the same command resumes")
    return sessions.leave(session)
