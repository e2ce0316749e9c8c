"""The plan of a session: what it will do of a study, the cost, what a budget leaves out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from typing import Any

from burnish.base import system
from burnish.base.durations import duration
from burnish.base.paths import Home
from burnish.bench.host import boot_now
from burnish.model.cell import ComparisonId
from burnish.model.sittings import Schedule
from burnish.source import sources
from burnish.source.patches import patch_set
from burnish.study import needs
from burnish.study.builds.resolving import UNKNOWN_SOURCE
from burnish.study.builds.source import check_source, source_request
from burnish.study.extras import extras as extra_work
from burnish.study.extras.extras import Extra
from burnish.study.kept.runs import open_record
from burnish.study.kept.sittings import settled
from burnish.study.planning import costs, trials_ahead
from burnish.study.planning.confirming import Expected
from burnish.study.planning.costs import Forecast
from burnish.study.planning.order import Order, changes_of, order_of, telling_first
from burnish.study.planning.plan import Plan, Step, summary
from burnish.study.request import conditions
from burnish.study.request.options import Options
from burnish.study.request.selection import Selection
from burnish.study.study import Study
from burnish.toolchain import ccache


@dataclass(frozen=True)
class StudyPlan:
    """The plan of a session.

    Attributes:
        selection: the comparisons that are run, within the budget.
        forecast: what they cost.
        extras: what is done beyond them, in the time that rows leave.
        budget: seconds; None: as long as it takes.
        again: what measuring the winners again will cost at most; None if that is not planned.
        placements: what is measured in another placement than a duet's, in words.
        layouts: by how many link orders of both sides small differences are tested afterwards; 0: by none.
        deployment: the step that measures ways to deploy the best build; None if none is asked for.
        order: in which order a bundled study's rows are run, where it is not that of its file.
        sittings: in how many sittings all cells are measured, in words; '' in one, and of a search, whose winner alone
            has others.
    """

    selection: Selection
    forecast: Forecast
    extras: tuple[Extra, ...] = ()
    budget: float | None = None
    again: Expected | None = None
    placements: tuple[str, ...] = ()
    layouts: int = 0
    deployment: Step | None = None
    order: Order | None = None
    sittings: str = ""

    @property
    def builds(self) -> Plan:
        """The builds' plan: steps, cached or not, minutes, disk, memory."""
        return self.forecast.plan

    @property
    def beyond(self) -> tuple[tuple[Extra, ...], dict[str, str]]:
        """The extras that are expected to fit the budget, and by title why the others do not."""
        return extra_work.within(self.extras, self.forecast, self.selection, self.budget)

    @property
    def seconds(self) -> float:
        """Rough seconds of the whole session: what is missing is made, every cell has its minimum number of starts."""
        return self.forecast.seconds + (self.again.seconds if self.again is not None else 0.0)

    @property
    def lines(self) -> list[str]:
        """The plan in lines: builds, then totals of cells and extras."""
        chosen = {comparison.unit for comparison in self.selection.chosen if comparison.reason is None}
        chosen_costs = [cost for cost in self.forecast.costs if cost.unit in chosen]
        ahead = summary(self.builds, seconds=False) if self.builds.steps else []
        return [*ahead, *extra_work.sums(chosen_costs, *self.beyond), *self.trials]

    @property
    def trials(self) -> list[str]:
        """Cores of servers and clients where they are not a duet's, and the winner measured again."""
        then = self.again
        return [
            *(f"placement {words}" for words in self.placements),
            *([f"then {then.title}: about {costs.minutes(then.seconds)} at most"] if then is not None else []),
            *([_layouts(self.layouts)] if self.layouts else []),
            *([_deployed(self.deployment)] if self.deployment is not None else []),
            *([self.sittings] if self.sittings else []),
        ]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for machines."""
        return {
            **costs.as_dict(self.forecast, self.selection),
            **extra_work.as_dict(*self.beyond),
            "again": asdict(self.again) if self.again is not None else None,
            "placements": list(self.placements),
            "layouts": self.layouts,
        }


def check_inputs(home: Home, study: Study, options: Options) -> str | None:
    """What a user should know of the source, in one line; refuses inputs with which a study cannot be run.

    Once before its plan: a large archive is read through for it.

    Args:
        home: where the store and the runs are.
        study: the study; one of existing programs has no source, and a tolerant one says of each row why not.
        options: how it is measured.

    Raises:
        UserError: a condition that the engine has on no host; another engine's source; a wrong limit of the compiler's
            cache.
    """
    if not study.tolerant:
        conditions.check(study.engine, options)
    if study.variants:
        ccache.size_gb()
        return check_source(home, study.engine, study.options(options))
    return None


def plan_of(home: Home, study: Study, selection: Selection, options: Options) -> StudyPlan:
    """The plan of a session; nothing is fetched or made.

    Args:
        home: where the store and the runs are.
        study: the study.
        selection: what was requested.
        options: how it is measured, and the budget.

    Raises:
        UserError: not even one row fits the budget; the baseline cannot be built here.
    """
    options = study.options(options)
    have, done = frozenset[ComparisonId](), extra_work.Reported()
    with open_record(home, study.definition) as record:
        if record is not None and not options.fresh:
            have = settled(record, options.schedule, boot_now(), study.comparisons)
            done = extra_work.reported(record)
    forecast, extras = _predicted(home, study, selection, options, have, done)
    chosen = costs.within(selection, forecast, options.budget)
    if chosen is not selection:
        forecast, extras = _predicted(home, study, chosen, options, have, done)
    forecast = forecast.of([comparison.unit for comparison in chosen.chosen])
    ahead = [one for one in chosen.chosen if one.reason is None and one.cell is not None and one.id not in have]
    winner = trials_ahead.again(study, options, ahead) if ahead else None
    words = trials_ahead.placements(ahead) if ahead else []
    deployed = trials_ahead.deployment(study, options, ahead)
    layouts = study.layouts if ahead else 0
    order = order_of(forecast, ahead) if study.bundled is not None else None
    sittings = _sittings(options.schedule) if ahead and study.search is None else ""
    return StudyPlan(chosen, forecast, extras, options.budget, winner, tuple(words), layouts, deployed, order, sittings)


def _predicted(
    home: Home,
    study: Study,
    selection: Selection,
    options: Options,
    have: Collection[ComparisonId],
    done: extra_work.Reported,
) -> tuple[Forecast, tuple[Extra, ...]]:
    """What rows and extras will cost; a bundled study's rows in the order in which they are run."""
    forecast, extras = extra_work.predict(home, study, selection, options, have, done)
    if study.bundled is not None:
        open_ones = [comparison for comparison in selection.chosen if comparison.id not in have]
        forecast = telling_first(forecast, changes_of(open_ones))
    return forecast, extras


def _deployed(step: Step) -> str:
    return f"then {step.title}: about {costs.minutes(step.seconds.value if step.seconds else 0.0)} at least"


def _sittings(schedule: Schedule) -> str:
    if schedule.count < 2:
        return ""
    apart = f"at least {duration(schedule.apart)} apart, each with about these trials"
    return f"in {schedule.count} sittings {apart}: a call takes what is due, the same command later goes on"


def _layouts(count: int) -> str:
    return f"then again, in {count} link orders of both sides, what proves faster or slower by less than 3 %"


def steps_of(home: Home, study: Study, plan: StudyPlan, options: Options) -> Plan:
    """The plan's steps with what will be installed first, and whether patches must still be tried on the source."""
    options, variants = study.options(options), list(study.variants.values())
    packages = needs.packages_of(needs.groups_of(study, plan.selection, options))
    builds = replace(plan.builds, to_install=tuple(system.missing_packages(packages)))
    patched = [variant.name for variant in variants if variant.recipe.patches]
    if not patched:
        return builds
    request, place = source_request(study.engine, options), home.work(study.engine.name) / "source"
    source = sources.known(request, cache=home.downloads)
    digest = source.digest if source else UNKNOWN_SOURCE
    if patch_set.open_tree(digest, place, sources.folder_of(request)) is not None:
        return builds
    return replace(builds, source=f"{builds.source}; then the patches of {', '.join(patched)} are tried on it")
