"""A search as it is recorded: how it begins, and what its record says of the steps that it took."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from burnish.base.errors import UserError
from burnish.model.engine import EngineSpec
from burnish.record.events.searches import SearchBegun, SearchTold
from burnish.record.record import Record
from burnish.search.asks import Costs, Objective, Settings, Told
from burnish.search.space import Step
from burnish.statistics.sequential import Rule
from burnish.study.planning.confirming import again
from burnish.study.planning.plan import BOLT_SHARE, RELINK_SHARE, TRAINING_SHARE, Plan
from burnish.study.planning.study_plan import StudyPlan
from burnish.study.planning.trials_ahead import one_start
from burnish.study.request.options import Options
from burnish.study.study import SearchRequest, Study
from burnish.study.trials.timing import as_asked, start_seconds

TRAINING_S = 60.0
"""Guess at the load of a training, seconds, where the plan has none."""

MADE = ("compile", "partial", "relink", "read", "training", "merge", "bolt", "after the link")
"""Kinds of steps that make a build."""

TELL_APART = 0.005
"""Two builds that are shown to be this close are alike for a search, and the simpler one is taken."""


def begun_of(study: Study, plan: StudyPlan, options: Options, seed: int) -> SearchBegun:
    """The search as it is recorded when it begins, with what its plan and the engine's figures say of costs."""
    request = study.search
    assert request is not None  # noqa: S101
    steps, spec = plan.builds.steps, study.engine
    first = [step for step in steps if study.base in step.variants or not step.variants]
    cell = study.comparisons[0].cell if study.comparisons else None
    times = {design: as_asked(own, options) for design, own in spec.times.items()}
    start = one_start(study, options, study.comparisons[0]) if cell else start_seconds(next(iter(times.values())))
    fresh = start_seconds(times[again(cell, study.confirmation, "").design]) if cell else start
    return SearchBegun(
        strategy=request.strategy,
        budget=request.budget,
        seed=seed,
        space=request.digest,
        choices=len(request.space.choices),
        size=request.space.size,
        steps=step_seconds(plan.builds, spec, trains=any(one.recipe.pgo for one in study.variants.values())),
        start=start,
        before=sum(step.seconds.value for step in first if step.kind not in ("trials", "again")),
        again=fresh,
        weights=dict(request.objective.weights),
        guards=request.objective.guards,
        confirmation=study.fresh_starts,
        cap=study.rule.cap,
        allowed=request.allowed,
        objective=request.asked,
        prior=request.prior,
        taken=request.taken,
        kept=_kept(study, plan),
        gate=_usual(plan.builds, "gate", 0.0),
        after=plan.deployment.seconds.value if plan.deployment is not None else 0.0,
        # A later sitting has as many starts of the claim and of its confirmation as the first.
        later=(options.sittings - 1)
        * len(request.objective.loads)
        * (study.rule.cap * start + study.fresh_starts * fresh),
    )


def step_seconds(builds: Plan, spec: EngineSpec, *, trains: bool) -> dict[str, float]:
    """By what must be made again, the expected seconds of a build with its tests.

    Args:
        builds: the plan of the known-good builds: what its steps took here, where they are in the store too.
        spec: the engine, with its rough figures.
        trains: whether builds have a profile.
    """

    compile_ = _usual(builds, "compile", spec.costs.compile_s)
    gate, training = _usual(builds, "gate", 0.0), _usual(builds, "training", TRAINING_SHARE * TRAINING_S)
    relink = builds.relink.value if builds.relink is not None else RELINK_SHARE * compile_
    # What differs in its profile or in making code alone: of clang's builds the sources are read already.
    remade = builds.reread.value if builds.reread is not None else _usual(builds, "read", compile_)
    rewrite = _usual(builds, "bolt", BOLT_SHARE * compile_, "BOLT")
    # What is linked anew is instrumented, trained and rewritten anew, if known-good builds are: the best may be one.
    bolted = {(step.kind, step.title) for step in builds.steps if step.title.startswith("BOLT")}
    after = gate + sum(_usual(builds, kind, 0.0, title) for kind, title in sorted(bolted))
    return {
        Step.REWRITE.word: rewrite + gate,
        Step.RELINK.word: relink + after,
        Step.OPTIMISE.word: remade + after,
        Step.TRAIN.word: remade + (training if trains else 0.0) + after,
        # The one that counts reads the sources for both, where the compiler's reading is kept.
        Step.COMPILE.word: compile_ + (remade + training if trains else 0.0) + after,
    }


def _usual(builds: Plan, kind: str, guess: float, title: str = "") -> float:
    """Median seconds of the plan's steps of a kind, of those that this host knows if there are any; else the guess.

    One step may have been made beside other work: MariaDB's baseline once took 62 min on a host that compiles it in 18.
    """
    made = [step.made for step in builds.steps if step.kind == kind and title in ("", step.title)]
    made = [figure for figure in made if figure.value > 0.0]
    known = [figure for figure in made if figure.known] or made
    return statistics.median(figure.value for figure in known) if known else guess


def _kept(study: Study, plan: StudyPlan) -> dict[str, float]:
    """By known-good build of which the store has a stage of its own, seconds of what is still to be made of it."""
    found = {}
    for name in study.search.space.rungs if study.search is not None else ():
        own = [step for step in plan.builds.steps if name in step.variants and study.base not in step.variants]
        if any(step.cached and step.kind in MADE for step in own):
            found[name] = sum(step.seconds.value for step in own if step.kind in (*MADE, "gate"))
    return found


def settings_of(request: SearchRequest, begun: SearchBegun) -> Settings:
    """How a search is done, as it began; a `UserError` if its space is another one now."""
    if begun.space != request.digest:
        raise UserError("the space has changed since this search began; --fresh begins a new run")
    kept = {request.space.rungs[name]: seconds for name, seconds in begun.kept.items()}
    return Settings(
        strategy=begun.strategy,
        budget=begun.budget,
        seed=begun.seed,
        costs=Costs(
            steps={step: begun.steps[step.word] for step in Step},
            start=begun.start,
            gate=begun.gate,
            baseline=begun.before,
            confirmation=begun.again,
            after=begun.after,
            later=begun.later,
            kept=kept,
        ),
        objective=Objective(begun.weights, tuple(begun.guards)),
        rule=Rule(cap=begun.cap, delta=TELL_APART),
        confirmation=begun.confirmation,
    )


def later_seconds(record: Record) -> float:
    """Seconds of a search's budget that are kept for later sittings of its finalist."""
    begun = record.last(SearchBegun)
    return begun.event.later if begun is not None else 0.0


def told_of(event: SearchTold) -> Told:
    """What a step told, as recorded."""
    costs = event.costs or {}
    failed = (event.failed, event.disturbed)
    return Told(event.readings, event.making, event.seconds, event.digest, *failed, event.settings, costs)


def lost_seconds(begun: SearchBegun, steps: Sequence[SearchTold], used: float) -> float:
    """Seconds that sessions used on no step that they finished: what a kill cost.

    Args:
        begun: the search, as it began.
        steps: those that are finished.
        used: seconds that the run has used in all its sessions.
    """
    return max(0.0, used - begun.before - sum(step.seconds for step in steps))
