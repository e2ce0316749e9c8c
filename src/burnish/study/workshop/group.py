"""A group of comparisons: makes its builds, prepares its sides, takes starts of its cells in turn."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.base.durations import duration
from burnish.bench.pairs import Contestant
from burnish.bench.probe import worth_probing
from burnish.model.workload import Design, Placement, Timing
from burnish.record.events.bundled import ComparisonLeft, ComparisonTried
from burnish.record.events.patches import TwinFound
from burnish.statistics.verdicts import HostPrior, Rule
from burnish.study.builds.programs import same_before, same_programs, several_versions
from burnish.study.calibration import keep_calibrations
from burnish.study.cells import Cell
from burnish.study.comparison import Comparison
from burnish.study.request import conditions
from burnish.study.request.selection import needed
from burnish.study.trials.dropping import Dropping
from burnish.study.trials.progress import least_starts
from burnish.study.trials.timing import priors_of, start_seconds, timings
from burnish.study.trials.together import Sharing
from burnish.study.trials.trials import Trials
from burnish.study.workshop.contest import check_contest, note_contest
from burnish.study.workshop.launching import all_launched
from burnish.study.workshop.objects import measure_objects
from burnish.study.workshop.sides import sides_of
from burnish.study.workshop.workshop import NotMeasured, Workshop

Priors = Mapping[tuple[str, Design, Placement], HostPrior]
"""Priors from the host's calibrations, by (workload's name, design, placement)."""


@dataclass(frozen=True)
class Trial:
    """A comparison that is measured, its cell and both sides."""

    comparison: Comparison
    cell: Cell
    base: Contestant
    candidate: Contestant


def run_group(workshop: Workshop, comparisons: Sequence[Comparison]) -> None:
    """Makes the builds of these comparisons, then measures them, those of one baseline together."""
    workshop.make(needed(workshop.study, comparisons))
    twins = _twins(workshop, comparisons)
    groups: dict[tuple[str, ...], list[Trial]] = {}
    for comparison in comparisons:
        try:
            if comparison.candidate in twins:
                continue
            if comparison.measure is not None:
                measure_objects(workshop, comparison)
            else:
                trial = trial_of(workshop, comparison)
                groups.setdefault(comparison.group, []).append(trial)
        except NotMeasured as left:
            workshop.record.append(ComparisonLeft(comparison.id, str(left), left.final))
            workshop.session.bench.say(f"{comparison.title}: {left}")
    for trials in groups.values():
        measure(workshop, trials)


def trial_of(workshop: Workshop, comparison: Comparison) -> Trial:
    """A comparison's trial.

    If the sides' conditions make a load wait for the network or for clients, its server need not be busy.

    Raises:
        NotMeasured: the comparison cannot be made.
    """
    base, candidate = sides_of(workshop, comparison)
    cell = workshop.cell(comparison)
    if comparison.release:  # its name alone does not identify the program
        cell = replace(cell, id=replace(cell.id, program=candidate.built.key[:8]))
        candidate = replace(candidate, label=cell.label)
    (workload,) = conditions.loads_under([cell.workload], [base.condition, candidate.condition])
    return Trial(comparison, replace(cell, workload=workload), base, candidate)


def measure(workshop: Workshop, trials: Sequence[Trial], rule: Rule | None = None, *, again: bool = False) -> None:
    """Takes starts of these cells, which share a baseline, until each is decided.

    Args:
        workshop: the study.
        trials: the comparisons to measure.
        rule: when a cell is decided; None: the comparison's own number of starts, or the study's rule.
        again: whether these are confirmations of cells that are recorded already.
    """
    session, study = workshop.session, workshop.study
    cells = [trial.cell for trial in trials]
    known = workshop.calibrations([trial.comparison for trial in trials])
    times = timings(session, known)
    if not again:
        for trial in trials:
            workshop.record.append(ComparisonTried(trial.comparison.id, trial.cell.id))
        note_contest(workshop, trials[0].base, trials[0].candidate, cells, times, known)
    by_start = {trial.cell.id: trial.comparison.starts for trial in trials}
    least = least_starts(rule or study.rule)
    expected = sum((by_start[cell.id] or least) * start_seconds(times[cell.design]) for cell in cells)
    session.bench.say(
        f"trials: {len(cells)} cell{'s' if len(cells) > 1 else ''}, about {duration(expected)} at the least number of "
        "starts"
    )
    runner = trials_of(workshop, trials, times, priors_of(known, times))
    began = time.monotonic()
    for starts in dict.fromkeys(by_start.values()):
        alike = [cell for cell in cells if by_start[cell.id] == starts]
        runner.decide(alike, rule or (study.rule if starts is None else Rule.fixed(starts)))
        keep_calibrations(workshop, alike, times)
    session.store.note_cost(session.spec.name, "trials", f"{len(cells)} cells", time.monotonic() - began)


def begin_trials(workshop: Workshop, trials: Sequence[Trial]) -> Trials:
    """The `Trials` of cells whose starts a search asks for; records that they are tried, once.

    Raises:
        BegunOtherwiseError: they would be measured otherwise than this search's earlier cells.
    """
    known = workshop.calibrations([trial.comparison for trial in trials])
    times = timings(workshop.session, known)
    check_contest(workshop.record, [trial.cell for trial in trials], times)  # those that are known as well
    tried = {recorded.event.cell for recorded in workshop.record.events(ComparisonTried)}
    new = [trial for trial in trials if trial.cell.id not in tried]
    for trial in new:
        workshop.record.append(ComparisonTried(trial.comparison.id, trial.cell.id))
    if new:
        note_contest(workshop, new[0].base, new[0].candidate, [trial.cell for trial in new], times, known)
    return trials_of(workshop, trials, times, priors_of(known, times))


def trials_of(workshop: Workshop, trials: Sequence[Trial], times: Mapping[Design, Timing], priors: Priors) -> Trials:
    """The `Trials` of these cells."""
    session = workshop.session
    return Trials(
        engine=session.engine,
        record=session.record,
        bench=session.bench,
        baseline=trials[0].base,
        candidates={trial.candidate.label: trial.candidate for trial in trials},
        times=times,
        core_sets=session.core_sets,
        data=workshop.data,
        scratch=session.scratch,
        seed=session.seed,
        priors=priors,
        count_events=bool(session.host.pmu),
        replicates=all_launched(
            workshop.replicates,
            {side.label: side.condition for trial in trials for side in (trial.base, trial.candidate)},
        ),
        schedule=session.options.schedule,
        boot=session.host.boot,
        storing=workshop.storing,
        dropping=Dropping(session.record, session.bench, keep=session.options.keep_cached),
        sharing=sharing_of(workshop),
        upgraded=several_versions(workshop.made.values()),
        probe=workshop.probe() if any(worth_probing(times[trial.cell.design]) for trial in trials) else None,
    )


def sharing_of(workshop: Workshop) -> Sharing | None:
    """How the candidates of a study share a baseline; None: each has its own, as all but a search's do."""
    return None if workshop.study.search is None else Sharing(workshop.session.sets_of(Design.DUET))


def _twins(workshop: Workshop, comparisons: Sequence[Comparison]) -> frozenset[str]:
    """Names of builds whose program is byte for byte that of another; of replicates, every one must be."""
    if not workshop.study.twins:
        return frozenset()
    names = list(dict.fromkeys(comparison.candidate for comparison in comparisons))
    measured = [workshop.made[name] for name in names if workshop.made[name].built and not workshop.made[name].same]
    twins = same_programs(workshop.record, measured, workshop.replicates)
    twins |= same_before(workshop.record, names)
    for name, other in twins.items():
        if workshop.record.last(TwinFound, variant=name, of=other) is None:  # not by an earlier session either
            workshop.record.append(TwinFound(name, other))
        workshop.session.bench.say(f"{name}: the same program as {other}; measured once")
    return frozenset(twins)
