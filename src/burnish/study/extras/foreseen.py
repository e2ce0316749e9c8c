"""What a search would do first, and what budget it needs; nothing is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from burnish.base.paths import Home
from burnish.record.events.searches import SearchBegun, SearchTold
from burnish.search.ahead import Ahead, PriorAhead, ahead, rungs_ahead
from burnish.search.asks import Settings, Told
from burnish.study.extras.searched import begun_of, settings_of, told_of
from burnish.study.kept.runs import open_record
from burnish.study.planning.study_plan import StudyPlan, plan_of
from burnish.study.request.options import Options
from burnish.study.study import SearchRequest, Study


@dataclass(frozen=True)
class Head:
    """How a search begins, or how its interrupted run began.

    Attributes:
        request: what is asked.
        settings: how it is done.
        told: what an interrupted run was told, by step.
        earlier: whether there is such a run.
    """

    request: SearchRequest
    settings: Settings
    told: Mapping[int, Told]
    earlier: bool


def head_of(home: Home, study: Study, plan: StudyPlan, options: Options) -> Head | None:
    """How a study's search begins or began; None for a study that does not search.

    Args:
        home: where runs are: one that was interrupted goes on.
        study: the study.
        plan: the plan of its known-good builds.
        options: how it is measured.

    Raises:
        UserError: the space is not the one that the interrupted run began with.
    """
    request = study.search
    if request is None:
        return None
    begun: SearchBegun | None = None
    told: dict[int, Told] = {}
    with open_record(home, study.definition) as record:
        if record is not None and not options.fresh and (earlier := record.last(SearchBegun)) is not None:
            begun = earlier.event
            told = {one.event.number: told_of(one.event) for one in record.events(SearchTold)}
    settings = settings_of(request, begun or begun_of(study, plan, options, options.seed or 1))
    return Head(request, settings, told, begun is not None)


def foreseen(head: Head, options: Options) -> Ahead:
    """What a search is expected to do from here on.

    Args:
        head: how it begins.
        options: how it is measured.

    Raises:
        UserError: the budget is too small.
    """
    request = head.request
    found = ahead(request.space, head.settings, head.told, begun=head.earlier)
    return replace(found, prior=PriorAhead(options.prior, request.prior, request.taken, head.earlier))


def in_time(home: Home, study: Study, plan: StudyPlan, options: Options, head: Head | None) -> StudyPlan:
    """The plan of those known-good builds that a search begins with; it names the others.

    Args:
        home: where runs are.
        study: the study.
        plan: the plan of all of them; that of a study that does not search stays as it is.
        options: how it is measured.
        head: how its search begins.

    Raises:
        UserError: the budget is too small.
    """
    if head is None:
        return plan
    rungs = rungs_ahead(head.request.space, head.settings, head.told, begun=head.earlier)
    if not rungs.late and not rungs.deferred:
        return plan
    chosen = tuple(one for one in plan.selection.chosen if one.candidate in rungs.fitting)
    fitting = plan_of(home, study, replace(plan.selection, chosen=chosen), replace(options, budget=None))
    why = f"the budget has time for {len(rungs.fitting)} of {len(head.request.space.rungs)} known-good builds"
    end = "a known-good build has all of it: for the end of the search, if time is left"
    left_out = (
        *fitting.builds.left_out,
        *((name, why) for name in rungs.late),
        *((name, end) for name in rungs.deferred),
    )
    return replace(fitting, forecast=replace(fitting.forecast, plan=replace(fitting.builds, left_out=left_out)))
