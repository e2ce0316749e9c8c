"""`--deploy`: choices of the deployment measured on the recommended build, one at a time, then together.

Each is a condition against the build's usual one, as `compare --versus` measures it. What gains on a load and loses on
none is taken together, and that is measured on fresh starts: against the build as usual, and against the baseline as
usual, so that the figure for build and deployment is measured too, not multiplied.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from burnish.base.errors import UserError
from burnish.catalogue.deployment import Choice, Need
from burnish.model.cell import CellId, Role
from burnish.model.workload import Design, Timing
from burnish.record.events.deployment import DeploymentTaken, DeploymentTried, StartsLimited
from burnish.record.events.searches import SearchEnded
from burnish.record.events.trials import StartBegun, StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.statistics.sequential import Rule
from burnish.statistics.verdicts import Kind
from burnish.study.comparison import Comparison
from burnish.study.extras.extras import Allowance
from burnish.study.extras.searched import later_seconds
from burnish.study.judging import in_another_sitting, recommended
from burnish.study.planning.trials_ahead import together as together_ahead
from burnish.study.request.placing import Placing
from burnish.study.trials.progress import least_starts
from burnish.study.trials.timing import start_seconds, timings
from burnish.study.workshop.contest import note_times
from burnish.study.workshop.group import Trial, measure, trial_of
from burnish.study.workshop.workshop import NotMeasured, Workshop
from burnish.toolchain.link_parts import huge_pages
from burnish.workload.conditions import difference
from burnish.workload.deployment import together

MEMORY = Path("/proc/meminfo")

ENCRYPTED = ("tls", "remote")
"""Transports that a choice must not change: what they carry is encrypted, or comes from another host."""


def deploy(workshop: Workshop) -> None:
    """Measures the study's choices as far as the budget allows, and records each."""
    study = workshop.study
    if not study.deploy or not (loads := _loads(workshop)):
        return
    build = _build(workshop)
    workshop.make_baseline()
    workshop.make([build])
    if workshop.made[build].built is None:
        return
    for choice in study.deploy:
        if (event := _tried(workshop.record, choice.name, build)) is None:
            event = _try(workshop, choice, build, loads)
            if event is None:
                return
            workshop.record.append(event)
    if not _taken(workshop.record, build):
        _together(workshop, build, loads)


def deployment_open(workshop: Workshop) -> bool:
    """Whether choices are still to be measured."""
    if not workshop.study.deploy or not _loads(workshop):
        return False
    build = _build(workshop)
    left = [choice for choice in workshop.study.deploy if _tried(workshop.record, choice.name, build) is None]
    return bool(left) or not _taken(workshop.record, build)


def _build(workshop: Workshop) -> str:
    """The build that is deployed: a search's winner, else what is recommended, else the baseline."""
    if workshop.study.search is None:
        return recommended(workshop) or workshop.study.base
    ended = next(workshop.record.events(SearchEnded), None)  # as it was then: later ones are of other sittings
    return (ended.event.winner if ended is not None else None) or workshop.study.base


def _loads(workshop: Workshop) -> dict[str, Comparison]:
    """By load, a comparison of the study that has a verdict."""
    decided = {recorded.event.cell.workload for recorded in workshop.record.events(VerdictReached)}
    return {
        comparison.workload.name: comparison
        for comparison in workshop.study.comparisons
        if comparison.workload is not None and comparison.workload.name in decided
    }


def _tried(record: Record, choice: str, build: str) -> DeploymentTried | None:
    events = (recorded.event for recorded in record.events(DeploymentTried))
    return next((event for event in events if (event.choice, event.build) == (choice, build)), None)


def _taken(record: Record, build: str) -> bool:
    return any(recorded.event.build == build for recorded in record.events(DeploymentTaken))


def _try(workshop: Workshop, choice: Choice, build: str, loads: Mapping[str, Comparison]) -> DeploymentTried | None:
    """Measures a choice on every load; None if the budget has no time for it."""
    event = DeploymentTried(choice.name, build, choice.words, choice.does, choice.costs)
    try:
        _fits(workshop, choice)
        then = together_ahead(workshop.study)
        cells = _measure(workshop, _on(workshop, loads, build, build, choice.words), then)
    except (UserError, NotMeasured) as refused:
        workshop.session.bench.say(f"deployment {choice.name}: {refused}")
        return replace(event, failure=str(refused))
    return replace(event, cells=cells) if cells is not None else None


def _fits(workshop: Workshop, choice: Choice) -> None:
    """Raises `NotMeasured` if a choice changes nothing here, or the host lacks what it needs."""
    given = workshop.session.options.settings
    usual = workshop.condition(given)
    if choice.only_with and difference(usual, workshop.condition(given, (choice.only_with,))):
        raise NotMeasured(f"only where the usual deployment has {choice.only_with} (--set {choice.only_with})")
    other = workshop.condition(given, choice.words)
    if not difference(usual, other):
        raise NotMeasured("already so: it is the usual deployment")
    if usual.transport in ENCRYPTED and other.transport != usual.transport:
        raise NotMeasured(f"clients come by {usual.transport}, which no choice may change")
    for need in choice.needs:
        if (why := _lacks(need)) is not None:
            raise NotMeasured(why)


def _lacks(need: Need) -> str | None:
    """What this host lacks of a choice's needs, with the remedy; None if nothing."""
    if need == "reserved huge pages":
        reserved = re.search(r"^HugePages_Total:\s+(\d+)", MEMORY.read_text(), re.MULTILINE)
        if reserved is None or reserved[1] == "0":
            return "this host has no huge pages reserved; sudo sysctl vm.nr_hugepages=N, each of 2 MB"
        return None
    if huge_pages() in ("always", "madvise"):
        return None
    return (
        "this kernel gives no transparent huge pages; "
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
    )


def _on(
    workshop: Workshop, loads: Mapping[str, Comparison], base: str, candidate: str, words: tuple[str, ...]
) -> list[Comparison]:
    """The comparison on every load."""
    placing = workshop.study.definition.placing
    return [_comparison(placing, like, base, candidate, words) for like in loads.values()]


def _comparison(placing: Placing, like: Comparison, base: str, candidate: str, words: tuple[str, ...]) -> Comparison:
    """The candidate under these words, against a base as usual, on the load of a comparison of the study."""
    return Comparison(
        row=", ".join((candidate, *words)),
        series="",
        reading="",
        load=like.load,
        threads=None,
        base=base,
        candidate=candidate,
        given=like.given,
        versus=words,
        workload=like.workload,
        quantity=like.quantity,
        own_base=True,
        role=Role.DEPLOYMENT,
    ).as_asked(placing)


def _measure(workshop: Workshop, comparisons: Sequence[Comparison], then: int = 0) -> dict[str, CellId] | None:
    """Measures these comparisons by the study's rule; returns their cells by load, or None if another session has time.

    Args:
        workshop: the study.
        comparisons: one for each load.
        then: how often as much is measured after them, for which a search's budget keeps time.

    Raises:
        NotMeasured: one of them can't be measured, or a search's budget, which no session has again, lacks the time.
        UserError: the server refuses the setting.
    """
    trials = [_examined(workshop, comparison) for comparison in comparisons]
    times = timings(workshop.session)
    left = [trial for trial in trials if workshop.record.last(VerdictReached, cell=trial.cell.id) is None]
    minimum, again = least_starts(workshop.study.rule), workshop.study.search is None
    start = {
        design: _start_seconds(workshop.record, design, times) for design in {trial.cell.design for trial in trials}
    }
    each = sum(start[trial.cell.design] for trial in left)
    after = then * minimum * sum(start[trial.cell.design] for trial in trials)
    kept = 0.0 if again else after + later_seconds(workshop.record)
    allowance = Allowance(workshop.session.options.budget, lambda: workshop.spent, again)
    why = allowance.why_not(minimum * each, kept) if left else None
    if why is not None and not again:
        raise NotMeasured(why)
    if why is not None:
        workshop.session.bench.say(f"deployment, {trials[0].candidate.label}: {why}")
        return None
    note_times(workshop.record, {trial.cell.design: times[trial.cell.design] for trial in trials})
    rule = None if again or not left else _limited(workshop, trials, allowance.starts(each, kept))
    measure(workshop, trials, rule, again=True)
    return {trial.cell.workload.name: trial.cell.id for trial in trials}


def _start_seconds(record: Record, design: Design, times: Mapping[Design, Timing]) -> float:
    """Seconds of a start: what the run's own starts of this design took in the mean, else what is usual."""
    begun = (recorded.event for recorded in record.events(StartBegun))
    of_design = {(event.cell, event.start) for event in begun if event.design == design}
    done = (recorded.event for recorded in record.events(StartDone))
    took = [event.seconds for event in done if (event.cell, event.start) in of_design]
    return sum(took) / len(took) if took else start_seconds(times[design])


def _limited(workshop: Workshop, trials: Sequence[Trial], room: int | None) -> Rule:
    """The study's rule with no more starts than there is time for; the first session that measures them decides.

    Args:
        workshop: the study.
        trials: one for each load.
        room: starts of each for which there is time, at least the rule's fewest; None: as many as it takes.
    """
    rule, cells = workshop.study.rule, tuple(trial.cell.id for trial in trials)
    recorded = workshop.record.last(StartsLimited, cells=cells)
    limited = recorded.event if recorded is not None else None
    if limited is None and room is not None:
        limited = StartsLimited(cells, min(room, rule.cap))
        workshop.record.append(limited)
        if room < rule.cap:
            workshop.session.bench.say(
                f"deployment, {trials[0].candidate.label}: at most {room} starts a load, so that the budget has time "
                "for what comes after it"
            )
    return rule.at_most(limited.cap) if limited is not None else rule


def _examined(workshop: Workshop, comparison: Comparison) -> Trial:
    """A comparison's trial, after the server was asked whether it knows the settings."""
    trial = trial_of(workshop, comparison)
    words = ",".join((*comparison.given, *comparison.versus))
    workshop.examine_strictly(trial.candidate.built, trial.cell.workload, trial.candidate.condition, words)
    return trial


def _together(workshop: Workshop, build: str, loads: Mapping[str, Comparison]) -> None:
    """Measures what gained together: against the build as usual, and against the baseline as usual."""
    study, record = workshop.study, workshop.record
    verdicts = {verdict.cell: verdict for verdict in in_another_sitting(record).by.of(VerdictReached)}
    gains: dict[str, float] = {}
    for choice in study.deploy:
        event = _tried(record, choice.name, build)
        reached = [verdicts[cell] for cell in event.cells.values() if cell in verdicts] if event is not None else []
        kinds = {verdict.verdict for verdict in reached}
        if Kind.FASTER in kinds and not kinds & {Kind.SLOWER, Kind.INVALID}:
            ratios = [ratio.ratio for verdict in reached if (ratio := verdict.ratios[verdict.headline]) is not None]
            gains[choice.name] = sum(ratios) / len(ratios)
    best = sorted((choice for choice in study.deploy if choice.name in gains), key=lambda one: -gains[one.name])
    taken = together(best)
    words = tuple(word for choice in taken for word in choice.words)
    cells: dict[str, CellId] | None = {}
    both: dict[str, CellId] | None = {}
    failure = None
    try:
        if taken:
            cells = _measure(workshop, _on(workshop, loads, build, build, words), int(build != study.base))
        if taken and build != study.base and cells is not None:
            both = _measure(workshop, _on(workshop, loads, study.base, build, words))
    except NotMeasured as left:
        failure = str(left)
        workshop.session.bench.say(f"deployment, together: {left}")
    if cells is not None and both is not None:
        names = tuple(choice.name for choice in taken)
        record.append(DeploymentTaken(build, names, words, cells, both, failure))
