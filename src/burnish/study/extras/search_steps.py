"""A search's steps: what is asked for together is made, then measured together, and what came of it is recorded."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from burnish.base.errors import UserError
from burnish.model.cell import Role
from burnish.record.events.builds import ProgramExamined, StageDone
from burnish.record.events.bundled import ComparisonTried
from burnish.record.events.searches import SearchTold
from burnish.record.events.verdicts import VerdictReached
from burnish.search.asks import Ask
from burnish.search.search import Search
from burnish.search.space import Point
from burnish.statistics.verdicts import Kind
from burnish.study.comparison import Comparison
from burnish.study.judging import measure_again
from burnish.study.planning.confirming import again
from burnish.study.request.selection import needed
from burnish.study.trials.starts import BegunOtherwiseError, cell_starts
from burnish.study.workshop.group import Trial, begin_trials, sharing_of, trial_of
from burnish.study.workshop.workshop import NotMeasured, Workshop


@dataclass
class _Step:
    """A step under way: a build that is made, and measured unless its starts are known.

    Attributes:
        ask: what is asked.
        name: the build's name.
        comparisons: with the baseline, on every load.
        digest: names its code.
        making: seconds that making and testing it took, 0 if it was there.
        seconds: all seconds so far.
        readings: by load.
        costs: by load, the logarithm of what the baseline's transactions cost in each of these starts.
        failed: why it could not be had; '' if it could.
        disturbed: whether only because the host was disturbed from outside.
        wanted: number of starts that it is to have of every load, earlier ones included; 0: none is taken.
    """

    ask: Ask
    name: str
    comparisons: Sequence[Comparison]
    digest: str = ""
    making: float = 0.0
    seconds: float = 0.0
    readings: dict[str, tuple[float, ...]] = field(default_factory=dict)
    costs: dict[str, tuple[float, ...]] = field(default_factory=dict)
    failed: str = ""
    disturbed: bool = False
    wanted: int = 0

    def fail(self, why: object, *, disturbed: bool = False) -> None:
        """Notes why it can't be had, and whether only because the host was disturbed from outside."""
        self.disturbed = disturbed and (self.disturbed or not self.failed)
        self.failed = str(why).removeprefix(f"{self.name} / ").removeprefix(f"{self.name}: ")


def batches(workshop: Workshop, asks: Sequence[Ask]) -> Iterator[Sequence[Ask]]:
    """What is measured together: as many builds as may share a baseline on a load; one, if none may."""
    request, sharing = workshop.study.search, sharing_of(workshop)
    assert request is not None  # noqa: S101 - called for searches only
    assert sharing is not None  # noqa: S101
    most = max(sharing.most(workshop.cell(comparison)) for comparison in request.pattern)
    batch: list[Ask] = []
    for ask in asks:
        if batch and (ask.fresh or batch[0].fresh or len(batch) == most):
            yield batch
            batch = []
        batch.append(ask)
    yield batch


def measured(workshop: Workshop, under_way: Search, asks: Sequence[Ask], lost: float) -> list[SearchTold]:
    """Makes and measures what is asked, and records what came of it."""
    steps: list[_Step] = []
    for ask in asks:
        workshop.session.bench.say(f"search, step {ask.number} ({ask.stage}): {ask.point.words}")
        steps.append(_begun(workshop, under_way, ask, {step.digest for step in steps if step.digest}))
    began = time.monotonic()
    taken = [step for step in steps if step.wanted]
    _take(workshop, taken)
    for step in taken:  # they shared the time as they shared the baseline
        step.seconds += (time.monotonic() - began) / len(taken)
    steps[0].seconds += lost
    events = [_told(workshop, step) for step in steps]
    for event in events:
        workshop.record.append(event)
    return events


def _begun(workshop: Workshop, under_way: Search, ask: Ask, beside: Set[str]) -> _Step:
    """A step whose build is made; a confirmation's is measured too.

    Args:
        workshop: the study.
        under_way: the search.
        ask: what is asked.
        beside: digests of builds that are measured together with it.
    """
    began = time.monotonic()
    told = [recorded.event for recorded in workshop.record.events(SearchTold)]
    settings = dict(ask.point.settings)
    name = next((event.variant for event in told if dict(event.settings) == settings), None)
    name = name or name_of(workshop, ask.point)
    step = _Step(ask, name, candidate(workshop, ask.point, name))
    try:
        step.digest, step.making = _made(workshop, name, began, tested=ask.tested)
        if workshop.made[name].same:
            step.readings = {one.load: (0.0,) * ask.starts for one in step.comparisons}
        elif ask.fresh:
            step.readings = _fresh(workshop, step.comparisons)
        elif ask.starts and not (step.digest in beside or under_way.knows(step.digest, ask.point)):
            step.wanted = under_way.desk.book.starts(ask.point) + ask.starts
    except BegunOtherwiseError:  # no build is to blame, and the next one would fail by it too
        raise
    except (NotMeasured, UserError) as error:
        step.fail(error)
    step.seconds = time.monotonic() - began
    return step


def _told(workshop: Workshop, step: _Step) -> SearchTold:
    return SearchTold(
        number=step.ask.number,
        variant=step.name,
        settings=dict(step.ask.point.settings),
        stage=step.ask.stage,
        why=step.ask.why,
        starts=step.ask.starts,
        fresh=step.ask.fresh,
        readings=step.readings,
        making=step.making,
        seconds=step.seconds,
        digest=step.digest,
        failed=step.failed,
        recipe=workshop.study.variants[step.name].recipe.as_dict(),
        costs=step.costs,
        tested=workshop.is_tested(step.name),
        disturbed=step.disturbed,
    )


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


def candidate(workshop: Workshop, point: Point, name: str) -> list[Comparison]:
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


def _made(workshop: Workshop, name: str, began: float, *, tested: bool) -> tuple[str, float]:
    """Makes a build, and tests it if that is wanted; returns the digest of its code, and how long it took if it is new.

    Raises:
        NotMeasured: it cannot be made, or its gate failed.
    """
    if name not in workshop.made:
        workshop.make_baseline()
        before = _stages(workshop)
        own = [one for one in workshop.study.comparisons if one.candidate == name]
        workshop.make(needed(workshop.study, own), tested=tested)
        # What comes from the store says nothing of what the next build will take.
        making = time.monotonic() - began if _stages(workshop) > before else 0.0
    else:
        making = 0.0
    if tested:
        workshop.test(name)
    workshop.build(name)
    if workshop.made[name].same:
        return "baseline", making
    examined = [one.event for one in workshop.record.events(ProgramExamined) if one.event.build.name == name]
    return (f"{examined[-1].program.code}/{examined[-1].program.data}" if examined else ""), making


def _stages(workshop: Workshop) -> int:
    """Number of stages of builds that this run has made, not taken from the store."""
    done = workshop.record.events(StageDone)
    return sum(recorded.event.stage not in ("gate", "dataset") for recorded in done)


def _take(workshop: Workshop, steps: Sequence[_Step]) -> None:
    """Takes the starts of builds on every load, and notes their readings; of one that can't be measured, the reason."""
    trials: list[tuple[_Step, Trial]] = []
    for step in steps:
        try:
            trials += [(step, trial_of(workshop, comparison)) for comparison in step.comparisons]
        except NotMeasured as error:
            step.fail(error)
    trials = [(step, trial) for step, trial in trials if not step.failed]
    if not trials:
        return
    try:
        runner = begin_trials(workshop, [trial for _, trial in trials])
        runner.take([(trial.cell, step.wanted) for step, trial in trials])
    except BegunOtherwiseError:
        raise
    except UserError as error:
        for step, _ in trials:
            step.fail(error)
        return
    for step, trial in trials:
        starts = cell_starts(workshop.record, trial.cell.id, pairs=True)
        if starts.valid < step.wanted:
            step.fail(f"{trial.cell.name}: {starts.invalid[-1]}", disturbed=starts.disturbed == len(starts.invalid))
            step.readings, step.costs = {}, {}
        elif not step.failed:
            had = step.wanted - step.ask.starts
            step.readings[trial.comparison.load] = tuple(starts.of(trial.cell.headline)[had : step.wanted])
            if costs := starts.costs(trial.comparison.base):
                step.costs[trial.comparison.load] = costs[had : step.wanted]


def _fresh(workshop: Workshop, comparisons: Sequence[Comparison]) -> dict[str, tuple[float, ...]]:
    """Measures a build again on fresh starts; returns their readings by load, none of one that has no verdict by
    them."""
    conclude(workshop)
    measure_again(workshop, comparisons)
    readings = {}
    for comparison in comparisons:
        cell = again(workshop.cell(comparison), workshop.study.confirmation, "")
        verdict = workshop.record.last(VerdictReached, cell=cell.id)
        invalid = verdict is not None and verdict.event.verdict == Kind.INVALID
        readings[comparison.load] = () if invalid else tuple(cell_starts(workshop.record, cell.id).of(cell.headline))
    return readings


def conclude(workshop: Workshop) -> None:
    """Records the verdicts of all builds that were tested, by the starts that they have."""
    tried = {recorded.event.comparison for recorded in workshop.record.events(ComparisonTried)}
    told = [recorded.event for recorded in workshop.record.events(SearchTold)]
    tested = {event.variant for event in told if event.tested}
    claims = [
        one
        for one in workshop.study.comparisons
        if one.id in tried and one.role is Role.CLAIM and (one.candidate in tested or workshop.is_tested(one.candidate))
    ]
    workshop.make(needed(workshop.study, claims))  # those of an earlier session come from the store
    for comparison in claims:
        if workshop.made[comparison.candidate].built is not None:
            trial = trial_of(workshop, comparison)
            begin_trials(workshop, [trial]).conclude([trial.cell], workshop.study.rule)
