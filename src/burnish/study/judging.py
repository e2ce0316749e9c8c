"""The verdicts of a study as one family, and its best candidate measured again: one rule for every verb."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.model.cell import CellId, Role
from burnish.record.by_type import ByType
from burnish.record.events.builds import BuildMade
from burnish.record.events.bundled import ComparisonTried, ConfirmationBegun
from burnish.record.events.verdicts import FamilyJudged, Interval, VerdictReached
from burnish.record.record import Record
from burnish.statistics import multiplicity
from burnish.statistics.rivals import effort, rival
from burnish.statistics.verdicts import Kind, Rule
from burnish.study.cells import Cell
from burnish.study.comparison import Comparison
from burnish.study.extras.extras import SLACK
from burnish.study.planning.confirming import again, contenders, is_due
from burnish.study.request.selection import needed
from burnish.study.study import Study
from burnish.study.trials.findings import claim_together
from burnish.study.trials.repeated import READ, Repeated, repeated
from burnish.study.trials.schedule import is_open
from burnish.study.trials.starts import canary_sd, cell_starts
from burnish.study.trials.superseded import counted
from burnish.study.trials.timing import priors_of, start_seconds, timings
from burnish.study.workshop.contest import note_times
from burnish.study.workshop.group import Trial, measure, trial_of
from burnish.study.workshop.relinking import Judged, relink
from burnish.study.workshop.workshop import NotMeasured, Workshop


def judge(workshop: Workshop) -> None:
    """Records the verdicts as one family; measures again the best candidate, where it was picked from many, and what
    differs by so little that the code layout may be the reason."""
    record, judged = workshop.record, judged_of(workshop)
    if not judged:
        return
    if workshop.made or _is_stale(record, judged):
        _claim(workshop, judged)
    told = in_another_sitting(record)
    if workshop.study.confirmation.more_than is not None and workshop.study.search is None:  # it has done so
        _confirm(workshop, judged, told)
    relink(workshop, judged, told)


def _is_stale(record: Record, judged: Sequence[Judged]) -> bool:
    """Whether a claim has a verdict that is not in the family yet: a session may have ended in between."""
    family = record.last(FamilyJudged)
    verdicts = (record.last(VerdictReached, cell=claim.cell.id) for claim in judged)
    return family is None or any(verdict is not None and verdict.number > family.number for verdict in verdicts)


def judged_of(workshop: Workshop) -> list[Judged]:
    """The claims that have a verdict, in the study's order."""
    decided = {recorded.event.cell for recorded in workshop.record.events(VerdictReached)}
    tried = {recorded.event.comparison: recorded.event.cell for recorded in workshop.record.events(ComparisonTried)}
    claims = []
    for comparison in workshop.study.comparisons:
        cell = tried.get(comparison.id)
        if comparison.cell is not None and comparison.role is Role.CLAIM and cell in decided:
            claims.append(Judged(comparison, replace(workshop.cell(comparison), id=cell)))
    return claims


def _claim(workshop: Workshop, judged: Sequence[Judged]) -> None:
    """Records the family of all claims that have a verdict."""
    known = workshop.calibrations([claim.comparison for claim in judged])
    priors = priors_of(known, timings(workshop.session, known))
    replicated = workshop.study.replicates.count > 1
    cells = {claim.cell.id: claim for claim in judged}
    family = []
    for cell, claim in cells.items():
        known_here = claim.comparison.usual and not replicated and workshop.study.rule.sequential
        prior = priors.get(claim.cell.manner) if known_here else None
        readings = tuple(cell_starts(workshop.record, cell).of(claim.cell.headline))
        spread = canary_sd(workshop.record, claim.cell)
        family.append((cell, multiplicity.Cell(claim.cell.name, readings, prior, spread)))
    claim_together(workshop.record, family, workshop.study.rule, explore=workshop.study.explore)


def in_another_sitting(record: Record) -> Repeated:
    """The verdicts as the report will give them, which the recommendation goes by."""
    return repeated(ByType(counted(record.events(*READ))))


def _confirm(workshop: Workshop, judged: Sequence[Judged], told: Repeated) -> None:
    """Measures the best candidate of each series on fresh starts (see `burnish.study.planning.confirming`)."""
    confirmation = workshop.study.confirmation
    for pick in _picks(workshop, judged, told):
        cells = [claim.cell for claim in pick.claims]
        if is_due(confirmation, pick.rows, cells) and (workshop.made or _is_unconfirmed(workshop, pick)):
            apart = any(again(cell, confirmation, "").id.placement for cell in cells)
            where = ", server and clients apart" if apart else ""
            starts = f"{workshop.study.fresh_starts} fresh starts"
            workshop.session.bench.say(f"{pick.row} {pick.words}: measured again on {starts}{where}")
            measure_again(workshop, [claim.comparison for claim in pick.claims])


def _is_unconfirmed(workshop: Workshop, pick: _Pick) -> bool:
    """Whether a load of a pick has no verdict by fresh starts, or the host was disturbed during them in an earlier
    sitting; so that a session that made nothing need not make it."""
    cells = (_again(workshop.study, claim.comparison, claim.cell) for claim in pick.claims)
    return any(is_open(workshop.record, cell.id, workshop.session.host.boot) for cell in cells)


@dataclass(frozen=True)
class _Pick:
    """The row that a series' recommendation is made from.

    Attributes:
        row: its name.
        claims: its claims, one for each load.
        rows: number of rows that it was picked from.
        words: why it, in words.
    """

    row: str
    claims: Sequence[Judged]
    rows: int
    words: str


def _picks(workshop: Workshop, judged: Sequence[Judged], told: Repeated) -> list[_Pick]:
    """The best row of each series, or the simplest of those tied with it; none of a series without a faster one."""
    by_id = {claim.comparison.id: claim for claim in judged}
    picks = []
    for rows in contenders(workshop.study).values():
        candidates = {
            row: [by_id[comparison.id] for comparison in comparisons if comparison.id in by_id]
            for row, comparisons in rows.items()
        }
        candidates = {row: claims for row, claims in candidates.items() if claims}
        free = _free(workshop.study, candidates)
        faster = _faster(workshop.record, {row: candidates[row] for row in free}, told.kinds)
        best = max(faster, key=lambda row: faster[row], default=None)
        if best is None:
            continue
        is_what = f"is the best of {len(candidates)}" if len(candidates) > 1 else "is faster"
        if workshop.study.confirmation.simplest:
            in_order = sorted(faster, key=lambda row: -faster[row])
            take = _recommended(workshop, told, best, {row: candidates[row] for row in in_order})
            is_what = is_what if take == best else f"is tied with {best}, the best of {len(candidates)}, and simpler"
            best = take
        picks.append(_Pick(best, candidates[best], len(candidates), is_what))
    return picks


def recommended(workshop: Workshop) -> str | None:
    """The build that the verdicts recommend; None if none is faster than the baseline."""
    judged = judged_of(workshop)
    picks = _picks(workshop, judged, in_another_sitting(workshop.record)) if judged else []
    return picks[0].claims[0].comparison.candidate if picks else None


def _free(study: Study, rows: Mapping[str, Sequence[Judged]]) -> list[str]:
    """The rows that a report may recommend: those without marks, and those that the user requested by name."""
    marks = {name: variant.marks for name, variant in study.variants.items()}
    return [
        row
        for row, claims in rows.items()
        if all(study.is_named(name) or not marks.get(name) for name in (claim.comparison.candidate for claim in claims))
    ]


def _faster(record: Record, rows: Mapping[str, Sequence[Judged]], kinds: Mapping[CellId, Kind]) -> dict[str, float]:
    """The rows that are faster wherever they were measured, with the mean of their headline's log-ratios."""
    return {
        row: statistics.fmean(
            statistics.fmean(cell_starts(record, claim.cell.id).of(claim.cell.headline)) for claim in claims
        )
        for row, claims in rows.items()
        if all(kinds.get(claim.cell.id) is Kind.FASTER for claim in claims)
    }


def _recommended(workshop: Workshop, told: Repeated, best: str, rows: Mapping[str, Sequence[Judged]]) -> str:
    """The simplest of the best and those tied with it, as the report recommends it (`burnish.statistics.rivals`).

    Args:
        workshop: the study.
        told: the verdicts as the report will give them.
        best: the best row.
        rows: the rows that are faster, the fastest first.
    """
    study, record = workshop.study, workshop.record
    once = study.replicates.count == 1
    verdicts = {verdict.cell: verdict for verdict in told.by.of(VerdictReached)}
    ratios = {
        row: {
            claim.cell.workload.name: ratio
            for claim in claims
            if (ratio := verdicts[claim.cell.id].ratios[claim.cell.headline]) is not None
        }
        for row, claims in rows.items()
    }
    alike = [row for row in rows if ratios[row].keys() & ratios[best].keys()]  # a budget may end between two loads
    tied = [
        row
        for row in alike
        if row == best or rival(row, ratios[best], ratios[row], once, _beside(told, rows[best], rows[row])).tied
    ]
    seconds = {made.event.build.variant: made.event.about.get("seconds") for made in record.events(BuildMade)}
    recipes = {row: study.variants[rows[row][0].comparison.candidate].recipe.as_dict() for row in tied}
    usual = study.variants[study.base].recipe.as_dict()
    return min(tied, key=lambda row: effort(recipes[row], usual, seconds.get(rows[row][0].comparison.candidate)))


def _beside(told: Repeated, best: Sequence[Judged], other: Sequence[Judged]) -> dict[str, Interval]:
    """By load, how many times the best row is another, where both were measured in the same sittings."""
    cells = {claim.cell.workload.name: claim.cell.id for claim in other}
    return {
        claim.cell.workload.name: ratio
        for claim in best
        if (its := cells.get(claim.cell.workload.name)) is not None
        and (ratio := told.quotient(claim.cell.id, its)) is not None
    }


def measure_again(workshop: Workshop, comparisons: Sequence[Comparison]) -> None:
    """Measures the cells of one row on a fixed number of fresh starts, as far as the budget allows."""
    session, study = workshop.session, workshop.study
    starts = study.fresh_starts
    times, budget = timings(session), session.options.budget
    try:
        workshop.make_baseline()
        workshop.make(needed(study, comparisons))
        trials = [_fresh(trial_of(workshop, comparison), study) for comparison in comparisons]
    except NotMeasured as left:
        session.bench.say(f"not measured again: {left}")
        return
    open_ = [trial for trial in trials if is_open(workshop.record, trial.cell.id, session.host.boot)]
    needs = [starts * start_seconds(times[trial.cell.design]) for trial in open_]
    # All or none: figures of some loads alone are not quoted. A search has kept the time for them.
    ahead = sum(needs) if study.search is None else max(needs, default=0.0)
    fits = budget is None or workshop.spent + ahead <= SLACK * budget
    for trial in open_:
        if fits:
            workshop.record.append(ConfirmationBegun(trial.comparison.id, trial.cell.id, starts))
        elif workshop.record.last(ConfirmationBegun, cell=trial.cell.id) is None:  # what is begun is ended
            session.bench.say(f"{trial.cell.name}: not measured again: the budget lacks the time")
    fresh = {recorded.event.cell for recorded in workshop.record.events(ConfirmationBegun)}
    wanted = [trial for trial in trials if trial.cell.id in fresh]
    note_times(workshop.record, {trial.cell.design: times[trial.cell.design] for trial in wanted})
    for group in ([trial] for trial in wanted) if not study.in_turn else ([wanted] if wanted else []):
        measure(workshop, group, Rule.fixed(starts, delta=study.rule.delta), again=True)


def _fresh(trial: Trial, study: Study) -> Trial:
    """The same trial as a confirmation: a cell of its own."""
    return replace(trial, cell=_again(study, trial.comparison, trial.cell))


def _again(study: Study, comparison: Comparison, cell: Cell) -> Cell:
    """The cell of a comparison's fresh starts."""
    return again(cell, study.confirmation, comparison.series if study.bundled else "")
