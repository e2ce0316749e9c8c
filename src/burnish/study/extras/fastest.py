"""The search for the fastest build within a budget: what `burnish.search` asks for is built, measured and recorded.

Every step is an event. A search that was killed is made anew from its record and goes on with the step that was open:
starts that this step had taken already count, and so does the time that it had used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from burnish.record.events.searches import FinalistOn, MainEffect, SearchBegun, SearchEnded, SearchTold
from burnish.search.effects import Effect
from burnish.search.report import Outcome, outcome
from burnish.search.search import Search, replayed
from burnish.study.extras.foreseen import Head
from burnish.study.extras.search_steps import batches, candidate, conclude, measured
from burnish.study.extras.searched import begun_of, lost_seconds, settings_of, told_of
from burnish.study.extras.sitting import sit_again
from burnish.study.planning.study_plan import StudyPlan
from burnish.study.trials.timing import timings
from burnish.study.workshop.contest import check_contest
from burnish.study.workshop.workshop import Workshop


def check_request(head: Head | None) -> None:
    """Refuses a search whose budget is too small for the baseline and one candidate, before anything is made.

    One that has begun is not refused for what its baseline took: it would never end.
    """
    if head is not None:
        Search(head.request.space, head.settings, begun=head.earlier)


def search(workshop: Workshop, plan: StudyPlan) -> None:
    """Searches until the strategy is at its end or the budget is; resumes where the record ends.

    A search that is at its end takes another sitting of its finalist, if one is due.

    Raises:
        UserError: the space, a load or the times of a start are not those that the search began with.
    """
    session, record, request = workshop.session, workshop.record, workshop.study.search
    assert request is not None  # noqa: S101 - called for such studies only
    steps = [recorded.event for recorded in record.events(SearchTold)]
    for event in steps:
        candidate(workshop, request.space.point(event.settings), event.variant)
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
        # Before an hour of compiling, after which the first start would be refused.
        check_contest(record, [workshop.cell(one) for one in request.pattern], timings(session))
    told = {event.number: told_of(event) for event in steps}
    under_way = replayed(request.space, settings_of(request, begun), told, begun=True)
    lost = lost_seconds(begun, steps, session.used)
    while asks := under_way.ask():
        for batch in batches(workshop, asks):
            for event in measured(workshop, under_way, batch, lost):
                under_way.tell(event.number, told_of(event))
            lost = 0.0
    _end(workshop, outcome(under_way))


def _end(workshop: Workshop, found: Outcome) -> None:
    """Records verdicts and what the search came to."""
    conclude(workshop)
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
            hour=found.hour,
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
