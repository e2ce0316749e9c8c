"""The search for the fastest build within a budget: what `burnish.search` asks for is built, measured and recorded.

Every step is an event. A search that was killed is made anew from its record and goes on with the step that was open:
starts that this step had taken already count, and so does the time that it had used.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from burnish.base.errors import UserError
from burnish.model.cell import Role
from burnish.record.events.builds import ProgramExamined, StageDone
from burnish.record.events.bundled import ComparisonTried
from burnish.record.events.searches import FinalistOn, MainEffect, SearchBegun, SearchEnded, SearchTold
from burnish.search.asks import Ask, Told
from burnish.search.effects import Effect
from burnish.search.report import Outcome, outcome
from burnish.search.search import Search, replayed
from burnish.search.space import Point
from burnish.study.comparison import Comparison
from burnish.study.extras.searched import begun_of, lost_seconds, settings_of, told_of
from burnish.study.extras.sitting import sit_again
from burnish.study.judging import measure_again
from burnish.study.planning.confirming import again
from burnish.study.planning.study_plan import StudyPlan
from burnish.study.request.options import Options
from burnish.study.request.selection import needed
from burnish.study.study import Study
from burnish.study.trials.starts import cell_starts
from burnish.study.workshop.group import begin_trials, trial_of
from burnish.study.workshop.workshop import NotMeasured, Workshop


def check_request(study: Study, plan: StudyPlan, options: Options) -> None:
    """Refuses a search whose budget is too small for the baseline and one candidate, before anything is made."""
    if study.search is not None:
        Search(study.search.space, settings_of(study.search, begun_of(study, plan, options, seed=0)))


def search(workshop: Workshop, plan: StudyPlan) -> None:
    """Searches until the strategy is at its end or the budget is; resumes where the record ends.

    A search that is at its end takes another sitting of its finalist, if one is due.

    Raises:
        UserError: the space is not the one that the search began with.
    """
    session, record, request = workshop.session, workshop.record, workshop.study.search
    assert request is not None  # noqa: S101 - called for such studies only
    steps = [recorded.event for recorded in record.events(SearchTold)]
    for event in steps:
        _candidate(workshop, request.space.point(event.settings), event.variant)
    if (ended := record.last(SearchEnded)) is not None:
        sit_again(workshop, ended.event)
        return
    earlier = record.last(SearchBegun)
    if earlier is None:
        begun = begun_of(workshop.study, plan, session.options, session.seed)
        begun = replace(begun, before=session.used)  # a session that was killed while the baseline was built counts
        record.append(begun)
    else:
        begun = earlier.event
    told = {event.number: told_of(event) for event in steps}
    under_way = replayed(request.space, settings_of(request, begun), told)
    lost = lost_seconds(begun, steps, session.used)
    while asks := under_way.ask():
        for ask in asks:
            session.bench.say(f"search, step {ask.number} ({ask.stage}): {ask.point.words}")
            came = _measured(workshop, under_way, ask, lost)
            under_way.tell(ask.number, came)
            lost = 0.0
    _end(workshop, outcome(under_way))


def name_of(workshop: Workshop, point: Point) -> str:
    """The name of a new build: that of the known-good one, else a number of the search's own."""
    request = workshop.study.search
    assert request is not None  # noqa: S101
    space = request.space
    known = {at: name for name, at in space.rungs.items()}
    if point in known:
        return known[point]
    number = sum(1 for name in workshop.study.variants if name.startswith("search-")) + 1
    return f"search-{number:02}"


def _candidate(workshop: Workshop, point: Point, name: str) -> list[Comparison]:
    """The comparisons of a build with the baseline, which the study has from now on."""
    request = workshop.study.search
    assert request is not None  # noqa: S101
    if name not in workshop.study.variants:
        workshop.add(request.file.variant(point, name))
    study = workshop.study
    known = [one for one in study.comparisons if one.candidate == name]
    if not known:
        known = [replace(one, row=name, candidate=name) for one in request.pattern]
        workshop.study = replace(study, comparisons=(*study.comparisons, *known))
    return known


def _measured(workshop: Workshop, under_way: Search, ask: Ask, lost: float) -> Told:
    """Makes and measures what is asked, and records what came of it."""
    began = time.monotonic()
    names = {recorded.event.variant: recorded.event for recorded in workshop.record.events(SearchTold)}
    settings = dict(ask.point.settings)
    name = next((one for one, event in names.items() if dict(event.settings) == settings), None)
    name = name or name_of(workshop, ask.point)
    comparisons = _candidate(workshop, ask.point, name)
    readings: dict[str, tuple[float, ...]] = {}
    making, digest, failed = 0.0, "", ""
    try:
        digest, making = _made(workshop, name, began)
        twin = next((arm for arm in under_way.desk.book.arms.values() if arm.digest == digest and digest), None)
        known = under_way.desk.book.arms.get(ask.point)
        if workshop.made[name].same:
            readings = {one.load: (0.0,) * ask.starts for one in comparisons}
        elif ask.fresh:
            readings = _fresh(workshop, comparisons)
        elif twin is None or twin is known:
            readings = _starts(workshop, comparisons, ask, len(known.scores) if known is not None else 0)
    except (NotMeasured, UserError) as error:
        failed = str(error).removeprefix(f"{name} / ").removeprefix(f"{name}: ")
    event = SearchTold(
        number=ask.number,
        variant=name,
        settings=settings,
        stage=ask.stage,
        why=ask.why,
        starts=ask.starts,
        fresh=ask.fresh,
        readings=readings,
        making=making,
        seconds=time.monotonic() - began + lost,
        digest=digest,
        failed=failed,
        recipe=workshop.study.variants[name].recipe.as_dict(),
    )
    workshop.record.append(event)
    return told_of(event)


def _made(workshop: Workshop, name: str, began: float) -> tuple[str, float]:
    """Makes and tests a build; returns the digest of its code, and how long that took.

    Raises:
        NotMeasured: it cannot be made, or its gate failed.
    """
    if name not in workshop.made:
        workshop.make_baseline()
        before = _stages(workshop)
        workshop.make(needed(workshop.study, [one for one in workshop.study.comparisons if one.candidate == name]))
        # What comes from the store says nothing of what the next build will take.
        making = time.monotonic() - began if _stages(workshop) > before else 0.0
    else:
        making = 0.0
    workshop.build(name)
    if workshop.made[name].same:
        return "baseline", making
    examined = [one.event for one in workshop.record.events(ProgramExamined) if one.event.build.name == name]
    return (f"{examined[-1].program.code}/{examined[-1].program.data}" if examined else ""), making


def _stages(workshop: Workshop) -> int:
    """Number of stages of builds that this run has made, not taken from the store."""
    done = workshop.record.events(StageDone)
    return sum(recorded.event.stage not in ("gate", "dataset") for recorded in done)


def _starts(workshop: Workshop, comparisons: Sequence[Comparison], ask: Ask, had: int) -> dict[str, tuple[float, ...]]:
    """Takes more starts of a build on every load; returns their readings by load.

    Raises:
        NotMeasured: too many starts of a load are invalid.
    """
    trials = [trial_of(workshop, comparison) for comparison in comparisons]
    runner = begin_trials(workshop, trials)
    runner.take([trial.cell for trial in trials], had + ask.starts)
    readings = {}
    for trial in trials:
        starts = cell_starts(workshop.record, trial.cell.id)
        if starts.valid < had + ask.starts:
            raise NotMeasured(f"{trial.cell.name}: {starts.invalid[-1]}")
        readings[trial.comparison.load] = tuple(starts.of(trial.cell.headline)[had : had + ask.starts])
    return readings


def _fresh(workshop: Workshop, comparisons: Sequence[Comparison]) -> dict[str, tuple[float, ...]]:
    """Measures a build again on fresh starts; returns their readings by load."""
    _conclude(workshop)
    measure_again(workshop, comparisons)
    readings = {}
    for comparison in comparisons:
        cell = again(workshop.cell(comparison), workshop.study.confirmation, "")
        readings[comparison.load] = tuple(cell_starts(workshop.record, cell.id).of(cell.headline))
    return readings


def _conclude(workshop: Workshop) -> None:
    """Records the verdicts of all builds by the starts that they have."""
    tried = {recorded.event.comparison for recorded in workshop.record.events(ComparisonTried)}
    claims = [one for one in workshop.study.comparisons if one.id in tried and one.role is Role.CLAIM]
    workshop.make(needed(workshop.study, claims))  # those of an earlier session come from the store
    for comparison in claims:
        if workshop.made[comparison.candidate].built is not None:
            trial = trial_of(workshop, comparison)
            begin_trials(workshop, [trial]).conclude([trial.cell], workshop.study.rule)


def _end(workshop: Workshop, found: Outcome) -> None:
    """Records verdicts and what the search came to."""
    _conclude(workshop)
    names = {
        tuple(dict(recorded.event.settings).items()): recorded.event.variant
        for recorded in workshop.record.events(SearchTold)
    }
    arms = [arm for arm in found.arms if not arm.failed]
    begun = workshop.record.last(SearchBegun)
    trained = _trained(workshop, names[found.finalist.settings]) if found.finalist is not None else ()
    workshop.record.append(
        SearchEnded(
            winner=names[found.winner.settings] if found.winner is not None else None,
            finalist=names[found.finalist.settings] if found.finalist is not None else None,
            slower_on=found.slower_on,
            tried=len(found.arms),
            failed=len(found.arms) - len(arms),
            common_failure=found.common_failure,
            path=found.path,
            effects=tuple(_effect(one) for one in found.effects),
            untried={f"{name}={level}": why for (name, level), why in found.untried.items()},
            another_hour=found.another_hour,
            seconds=found.spent + (begun.event.before if begun is not None else 0.0),
            settings=dict(found.finalist.settings) if found.finalist is not None else {},
            trained=trained,
            loads=tuple(_loads(workshop, found, trained)),
        )
    )


def _trained(workshop: Workshop, name: str) -> tuple[str, ...]:
    """What a build's profile was trained on, loads by their identity; empty if it has none."""
    recipe = workshop.study.variants[name].recipe
    if not (recipe.pgo or recipe.bolt):
        return ()
    return tuple(load for load, _ in recipe.training or workshop.study.engine.training)


def _loads(workshop: Workshop, found: Outcome, trained: Sequence[str]) -> Iterator[FinalistOn]:
    """What the finalist's fresh starts say of each load."""
    request = workshop.study.search
    assert request is not None  # noqa: S101
    identities = {workload.name: workload.identity for workload in workshop.study.workloads}
    for load, ratio in found.loads.items():
        weight = request.objective.weights.get(load, 0.0)
        # At another rate, or with other numbers of threads or rows, it is the same load.
        known = _plain(identities.get(load, load)) in map(_plain, trained)
        yield FinalistOn(load, known, weight, ratio.ratio, ratio.low, ratio.high)


def _plain(identity: str) -> str:
    """A load's identity without its parameters."""
    return re.sub(r":[^#]*", "", identity)


def _effect(found: Effect) -> MainEffect:
    low, high = (math.exp(found.effect + side * found.half) for side in (-1.0, 1.0))
    return MainEffect(found.choice, found.level, math.exp(found.effect), low, high, found.builds)
