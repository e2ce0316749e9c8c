"""What a search would do first, and what budget it needs; nothing is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from burnish.base.paths import Home
from burnish.record.events.searches import SearchBegun, SearchTold
from burnish.search.ahead import Ahead, PriorAhead, ahead, rungs_ahead
from burnish.search.asks import Told
from burnish.study.extras.searched import begun_of, settings_of, told_of
from burnish.study.kept.runs import open_record
from burnish.study.planning.study_plan import StudyPlan, plan_of
from burnish.study.request.options import Options
from burnish.study.study import Study


def foreseen(home: Home, study: Study, plan: StudyPlan, options: Options) -> Ahead | None:
    """What a search is expected to do from here on; None for a study that does not search.

    Args:
        home: where runs are: one that was interrupted goes on.
        study: the study.
        plan: the plan of its known-good builds.
        options: how it is measured.

    Raises:
        UserError: the budget is too small; the space is not the one that the interrupted run began with.
    """
    request = study.search
    if request is None:
        return None
    begun, told, earlier = _begun(home, study, plan, options)
    found = ahead(request.space, settings_of(request, begun), told)
    return replace(found, prior=PriorAhead(options.prior, request.prior, request.taken, earlier))


def in_time(home: Home, study: Study, plan: StudyPlan, options: Options) -> StudyPlan:
    """The plan of those known-good builds that a search begins with; it names the others.

    Arguments and errors are those of `foreseen`; the plan of a study that does not search is as it was.
    """
    request = study.search
    if request is None:
        return plan
    begun, told, _ = _begun(home, study, plan, options)
    rungs = rungs_ahead(request.space, settings_of(request, begun), told)
    if not rungs.late and not rungs.later:
        return plan
    chosen = tuple(one for one in plan.selection.chosen if one.candidate in rungs.fitting)
    fitting = plan_of(home, study, replace(plan.selection, chosen=chosen), replace(options, budget=None))
    why = f"the budget has time for {len(rungs.fitting)} of {len(request.space.rungs)} known-good builds"
    end = "a known-good build has all of it: for the end of the search, if time is left"
    left_out = (
        *fitting.builds.left_out,
        *((name, why) for name in rungs.late),
        *((name, end) for name in rungs.later),
    )
    return replace(fitting, forecast=replace(fitting.forecast, plan=replace(fitting.builds, left_out=left_out)))


def _begun(home: Home, study: Study, plan: StudyPlan, options: Options) -> tuple[SearchBegun, Mapping[int, Told], bool]:
    """A search as it begins or began, what an interrupted run of it was told, and whether there is one."""
    told: dict[int, Told] = {}
    with open_record(home, study.definition) as record:
        earlier = record.last(SearchBegun) if record is not None and not options.fresh else None
        if record is None or earlier is None:
            return begun_of(study, plan, options, options.seed or 1), told, False
        told = {one.event.number: told_of(one.event) for one in record.events(SearchTold)}
        return earlier.event, told, True
