"""The end of a sitting: what a study tells beyond its table, its verdicts as one family, the best row once more."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from burnish.record.record import Record
from burnish.statistics import multiplicity
from burnish.statistics.verdicts import Kind, Rule
from burnish.study import holding, session
from burnish.study.bundled.cells import Comparison
from burnish.study.bundled.contests import is_usual, under
from burnish.study.bundled.extras import PROFILES, SEARCH, TIMELINE, Allowance, Extra, told, with_rounds
from burnish.study.bundled.recommended import over_baseline
from burnish.study.bundled.robust import search
from burnish.study.bundled.session import settled
from burnish.study.bundled.timeline import record_profiles, record_timeline
from burnish.study.bundled.work import AtWork, Left
from burnish.study.cells import Cell, Role
from burnish.study.planning import bundled_plan
from burnish.study.planning.bundled_plan import Asked
from burnish.study.trials.contest import CONFIRMING_STARTS
from burnish.study.trials.findings import claim_together
from burnish.study.trials.starts import canary_sd, cell_starts
from burnish.study.trials.timing import priors_of, start_seconds, timings


def analyse(at_work: AtWork, asked: Asked, extras: Sequence[Extra]) -> None:
    """What the study tells beyond its table, of what was asked for and as far as the budget allows.

    Args:
        at_work: the sitting, whose rows are done.
        asked: which part of the study.
        extras: what was expected of it before the rows.
    """
    if not extras:
        return
    own, allowance = at_work.table.study, Allowance(asked.budget, at_work.began)
    robust = own.robust_for(at_work.setting.spec.name)
    if "baseline" not in at_work.made:
        at_work.made["baseline"] = at_work.maker.make([at_work.chains["baseline"]])[0]
    if robust is not None:
        at_work.table = with_rounds(at_work.table, robust, told(at_work.record).rounds)
    left = []
    for each in extras:
        if each.name == SEARCH and robust is not None:
            why = search(at_work, robust, allowance.why_not, each.seconds)
        else:
            why = each.without(at_work.selection.cut) or allowance.why_not(each.seconds)
            if why is None and each.name == TIMELINE and own.timeline is not None:
                record_timeline(at_work, own.timeline)
            elif why is None and each.name == PROFILES:
                record_profiles(at_work)
        if why is not None:
            left.append({"name": each.name, "title": each.title, "why": why})
            at_work.setting.bench.say(f"left out: {each.title}: {why}")
    at_work.record.append("extras", left=left)


def end(at_work: AtWork, budget: float | None) -> Path:
    """The verdicts as one family, the best row once more; closes the record, for good when nothing is open."""
    verdicts = {event.body["cell"]: event.body for event in at_work.record.events("verdict")}
    tried = {str(event.body["key"]): str(event.body["cell"]) for event in at_work.record.events("tried")}
    cells = {
        name: at_work.cell(each, name.removeprefix(f"{each.group}: ").rpartition(" / ")[0])
        for each in at_work.table.comparisons
        if each.cell is not None and (name := tried.get(each.key, "")) in verdicts
    }
    if cells and ("baseline" in at_work.made or at_work.record.last("family") is None):
        kinds = _claim(at_work, cells)
        if at_work.table.study.recommends:
            _confirm(at_work, {key: cell for key, cell in tried.items() if cell in cells}, kinds, budget)
    have = settled(at_work.record)
    left = {str(event.body["key"]): bool(event.body["final"]) for event in at_work.record.events("left")}
    still = [
        each
        for each in at_work.table.comparisons
        if not (each.final or bundled_plan.is_decided(each, have) or left.get(each.key))
    ]
    if not still and not _analysis_open(at_work):
        return session.finish(at_work.setting)
    at_work.setting.bench.say(f"{len(still)} of {len(at_work.table.comparisons)} cells open; the same command goes on")
    return session.leave(at_work.setting)


def _analysis_open(at_work: AtWork) -> bool:
    """Whether something beyond the table is still to be done."""
    own, done = at_work.table.study, told(at_work.record)
    last = at_work.record.last("extras")
    left = {each["name"] for each in last.body["left"]} if last else set()
    searching = own.robust_for(at_work.setting.spec.name) is not None and not (done.over or done.stopped)
    return searching or PROFILES in left or (own.timeline is not None and not done.seconds)


def _claim(at_work: AtWork, cells: Mapping[str, Cell]) -> Mapping[str, Kind]:
    """All cells with a verdict, looked through together."""
    known = at_work.known(list(cells.values()))
    priors = priors_of(known, timings(at_work.setting, known))
    family = [
        multiplicity.Cell(
            name,
            tuple(cell_starts(at_work.record, name).of(cell.headline)),
            priors.get((cell.workload.name, cell.design)) if is_usual(cell) else None,
            canary_sd(at_work.record, cell),
        )
        for name, cell in cells.items()
    ]
    return claim_together(at_work.record, family, at_work.setting.rule, explore=True)


def _confirm(at_work: AtWork, tried: Mapping[str, str], kinds: Mapping[str, Kind], budget: float | None) -> None:
    """The best row of each series on fresh starts: picked from several, it looks better than it is."""
    of = {each.key: each for each in at_work.table.comparisons}
    table = at_work.record.last("shipped")
    for rows in over_baseline(table.body).values() if table else ():
        mine = {row: [(of[key], tried[key]) for key in keys if key in tried] for row, keys in rows.items()}
        mine = {row: cells for row, cells in mine.items() if cells}
        best = _best(at_work.record, mine, kinds) if len(mine) > 1 else None
        if best is not None:
            _again(at_work, [each for each, _ in mine[best]], budget)


def _again(at_work: AtWork, comparisons: Sequence[Comparison], budget: float | None) -> None:
    """The cells of one row on fresh starts of a number fixed in advance."""
    times = timings(at_work.setting)
    try:
        at_work.make(bundled_plan.needed(comparisons))
        held = [at_work.sides(each) for each in comparisons]
    except Left as left:
        at_work.setting.bench.say(f"not measured again: {left}")
        return
    for each, base, candidate in held:
        cell = under(at_work.cell(each, candidate.label), base, candidate)
        cell = replace(cell, role=Role.CONFIRMATION, tag=f"again, {each.series} {each.group}")
        needs = CONFIRMING_STARTS * start_seconds(times[cell.design])
        late = budget is not None and time.monotonic() - at_work.began + needs > 1.05 * budget
        if at_work.record.last("verdict", cell=cell.name) is not None or late:
            continue
        at_work.record.append("again", key=each.key, cell=cell.name)
        fixed = Rule.fixed(CONFIRMING_STARTS, delta=at_work.setting.rule.delta)
        held_again = holding.contest(
            at_work.setting, base, {candidate.label: candidate}, [cell], times, at_work.maker.data, rule=fixed
        )
        held_again.decide([cell], fixed)


def _best(
    record: Record, rows: Mapping[str, Sequence[tuple[Comparison, str]]], kinds: Mapping[str, Kind]
) -> str | None:
    """The row with the largest mean of its headline, of those that are faster wherever they were measured."""
    values = {
        row: statistics.fmean(statistics.fmean(cell_starts(record, cell).of(each.quantity)) for each, cell in cells)
        for row, cells in rows.items()
        if all(kinds.get(cell) is Kind.FASTER for _, cell in cells)
    }
    return max(values, key=lambda row: values[row]) if values else None
