"""What a search would do first, and what budget it needs; nothing is made."""

from __future__ import annotations

from dataclasses import replace

from burnish.base.paths import Home
from burnish.record.events.searches import SearchBegun, SearchTold
from burnish.search.ahead import Ahead, PriorAhead, ahead
from burnish.search.asks import Told
from burnish.study.extras.searched import begun_of, settings_of, told_of
from burnish.study.kept.runs import open_record
from burnish.study.planning.study_plan import StudyPlan
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
    told: dict[int, Told] = {}
    with open_record(home, study.definition) as record:
        earlier = record.last(SearchBegun) if record is not None and not options.fresh else None
        begun = earlier.event if earlier is not None else begun_of(study, plan, options, options.seed or 1)
        if record is not None and earlier is not None:
            told = {one.event.number: told_of(one.event) for one in record.events(SearchTold)}
    found = ahead(request.space, settings_of(request, begun), told)
    return replace(found, prior=PriorAhead(options.prior, request.prior, request.taken, earlier is not None))
