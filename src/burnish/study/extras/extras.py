"""A study's extras (what it reports beyond its comparisons): which there are, their cost, what fits a budget.

Rows come first: extras get the time that rows leave. What is left out is reported before a run and after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from burnish.base.durations import duration
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.catalogue.bundled.model import Robust
from burnish.model.cell import ComparisonId
from burnish.model.workload import Design
from burnish.record.events.builds import VariantSettled
from burnish.record.events.bundled import ProfileInspected, SearchRound, SearchStopped, TimelineRead
from burnish.record.events.patches import BuildExplained
from burnish.record.record import Record
from burnish.record.store import Store
from burnish.study.comparison import Comparison
from burnish.study.extras.weights import comparisons_of, variant_of, weights_after
from burnish.study.planning import costs
from burnish.study.planning.costs import Forecast, UnitCost, minutes
from burnish.study.planning.plan import Plan
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, Selection, needed
from burnish.study.study import Study

TIMELINE = "timeline"
SEARCH = "search"
PROFILES = "profiles"
SAMPLES = "samples"

CONTENTS = "profile contents"
"""Name of the step that reads a profile, among what steps cost on this host."""

CONTENTS_SHARE = 0.01
"""Guess at that step, in shares of a full compile."""

BOOT_SECONDS = 4.5
"""Rough time to boot and stop a server and copy its data, as in `burnish.study.trials.timing.start_seconds`."""

SAMPLE_SECONDS = 100.0
"""Time under load for enough samples on a host without a PMU; with a PMU half of it suffices."""

SLACK = 1.05
"""Factor by which a budget may be exceeded, because expected costs are rough."""


@dataclass(frozen=True)
class Reported:
    """What a run's record has of the study's extras so far.

    Attributes:
        seconds: builds whose timeline is recorded.
        profiles: builds whose profiles are recorded.
        builds: builds that were made, in order.
        rounds: the rounds of its search.
        stopped: whether the search met an error that it cannot continue from until it is fixed.
        samples: (build, load) of the recorded samples.
    """

    seconds: frozenset[str] = frozenset()
    profiles: frozenset[str] = frozenset()
    builds: tuple[str, ...] = ()
    rounds: tuple[SearchRound, ...] = ()
    stopped: bool = False
    samples: frozenset[tuple[str, str]] = frozenset()

    @property
    def over(self) -> bool:
        """Whether the search has ended."""
        return bool(self.rounds) and (self.rounds[-1].robust or len(self.rounds) >= self.rounds[-1].rounds)


@dataclass(frozen=True)
class Extra:
    """One thing beyond the table that is still to be done.

    Attributes:
        name: `TIMELINE`, `SEARCH`, `PROFILES` or `SAMPLES`.
        title: for people.
        making: seconds of builds that nothing else needs; of a search, for one round.
        running: seconds of runs and trials; of a search, for one round.
        most: maximum number of repetitions; every sum counts it once.
        needs: keys of comparisons whose builds it is about; if they are cut, so is this.
        impossible: why it cannot be done, whatever the budget; '' if it can.
    """

    name: str
    title: str
    making: float
    running: float
    most: int = 1
    needs: frozenset[str] = frozenset()
    impossible: str = ""

    @property
    def seconds(self) -> float:
        """Seconds of everything, done once."""
        return self.making + self.running

    def without(self, cut: Collection[str]) -> str | None:
        """Why it is left out if these comparisons are cut; None if it is not."""
        if self.impossible:
            return self.impossible
        return "cut by --budget with its rows" if self.needs & set(cut) else None

    @property
    def words(self) -> str:
        """Title and expected time."""
        often = f" a round, {self.most} at most" if self.most > 1 else ""
        return f"{self.title}: about {minutes(self.seconds)}{often}"


@dataclass(frozen=True)
class Allowance:
    """The time that a budget still allows.

    Attributes:
        budget: seconds; None: as long as it takes.
        spent: returns the seconds that are used of it so far.
        again: whether the same command has the whole budget again.
    """

    budget: float | None
    spent: Callable[[], float]
    again: bool = True

    def why_not(self, seconds: float, kept: float = 0.0) -> str | None:
        """Why there is no time for something; None if there is time.

        Args:
            seconds: that it takes.
            kept: seconds that are kept for what comes after it.
        """
        spent = self.spent()
        if self.budget is None or spent + seconds + kept <= SLACK * self.budget:
            return None
        then = f", what comes after it {minutes(kept)}" if kept else ""
        return (
            f"cut by --budget: {duration(spent)} of {duration(self.budget)} were used up before it, and it needs about "
            f"{minutes(seconds)}{then}{'; the same command resumes' * self.again}"
        )

    def starts(self, each: float, kept: float = 0.0) -> int | None:
        """How many starts there is time for; None: as many as it takes.

        Args:
            each: seconds of one start of everything that is measured, more than 0.
            kept: seconds that are kept for what comes after it.
        """
        return None if self.budget is None else int((SLACK * self.budget - self.spent() - kept) / each)


def reported(record: Record) -> Reported:
    """What a record has of the study's extras."""
    made = (recorded.event.variant for recorded in record.events(VariantSettled) if recorded.event.failure is None)
    explained = (recorded.event for recorded in record.events(BuildExplained))
    return Reported(
        seconds=frozenset(recorded.event.build for recorded in record.events(TimelineRead)),
        profiles=frozenset(recorded.event.variant for recorded in record.events(ProfileInspected)),
        builds=tuple(dict.fromkeys(made)),
        rounds=tuple(recorded.event for recorded in record.events(SearchRound)),
        stopped=record.last(SearchStopped) is not None,
        samples=frozenset((event.variant, event.workload) for event in explained if event.failure is None),
    )


def predict(
    home: Home, study: Study, selection: Selection, options: Options, decided: Collection[ComparisonId], done: Reported
) -> tuple[Forecast, tuple[Extra, ...]]:
    """What rows and extras will cost; nothing is fetched or made.

    Args:
        home: where the store is.
        study: the study.
        selection: what was requested.
        options: how it is measured.
        decided: the comparisons that have a verdict.
        done: the extras that are already recorded.

    Returns:
        the rows' forecast, whose plan has all builds; and the extras, in order.
    """
    robust = robust_of(study)
    searching = robust is not None and not selection.asked.rows and not done.over
    search: list[Comparison] = []
    impossible = ""
    if robust is not None:
        study = with_rounds(study, robust, done.rounds)
    if robust is not None and searching and study.bundled is not None:
        try:
            variant = variant_of(study.bundled, study.engine, robust, weights_after(robust, done.rounds))
            study = study.with_variants(variant)
            search = comparisons_of(study, robust, variant.name)
        except UserError as error:
            impossible = str(error)
    forecast = costs.predict(home, study, [*selection.chosen, *search], options, decided)
    units = {comparison.unit for comparison in search}
    extras = [_timeline(study, selection, done)]
    if robust is not None and searching:
        round_costs = [cost for cost in forecast.costs if cost.unit in units]
        making, running = sum(cost.making for cost in round_costs), sum(cost.trials for cost in round_costs)
        title = f"search for weights of {len(robust.loads)} loads"
        left = robust.rounds - len(done.rounds)
        extras.append(Extra(SEARCH, title, making, running, left, impossible=impossible))
    extras.append(_profiles(home, study, selection, forecast.plan, done))
    extras.append(_samples(study, selection, done))
    rows = replace(forecast, costs=tuple(cost for cost in forecast.costs if cost.unit not in units))
    found = tuple(extra for extra in extras if extra is not None)
    if impossible and not rows.costs and all(extra.impossible for extra in found):
        rows = replace(rows, plan=replace(rows.plan, steps=()))  # not even the baseline is needed
    return rows, found


def robust_of(study: Study) -> Robust | None:
    """The search for weights that a bundled study asks for on its engine; None if it asks for none."""
    return study.bundled.robust_for(study.engine.name) if study.bundled is not None else None


def with_rounds(study: Study, robust: Robust, rounds: Sequence[SearchRound]) -> Study:
    """The study with the builds of the search's earlier rounds."""
    if study.bundled is None:
        return study
    return study.with_variants(
        *(variant_of(study.bundled, study.engine, robust, earlier.weights) for earlier in rounds)
    )


def wants_timeline(study: Study, asked: Asked) -> bool:
    """Whether the rows of the study's timeline are requested."""
    timeline = study.bundled.timeline if study.bundled is not None else None
    return timeline is not None and (not asked.rows or set(timeline.rows) <= set(asked.rows))


def _timeline(study: Study, selection: Selection, done: Reported) -> Extra | None:
    """The timeline of builds that have none on record."""
    own, engine = study.bundled.timeline if study.bundled is not None else None, study.engine
    if own is None or not wants_timeline(study, selection.asked):
        return None
    chosen = [
        comparison
        for comparison in selection.chosen
        if comparison.row in own.rows and comparison.load == own.load and not comparison.reason
    ]
    builds = {name for comparison in chosen for name in (comparison.base, comparison.candidate)} - done.seconds
    if not builds:
        return None
    once = BOOT_SECONDS + engine.times[Design.SOLO].warmup + own.seconds_on.get(engine.name, own.seconds)
    title = f"throughput by the second of {len(builds)} builds"
    return Extra(TIMELINE, title, 0.0, len(builds) * once, needs=frozenset(comparison.key for comparison in chosen))


def _profiles(home: Home, study: Study, selection: Selection, plan: Plan, done: Reported) -> Extra | None:
    """Reading the profiles of this session's builds, and of earlier sessions' that were left out."""
    if study.bundled is None or not study.bundled.profiles:
        return None
    missing = {name for name, _ in plan.left_out}
    names = {*needed(study, selection.chosen), *done.builds} - done.profiles - missing
    trained = [name for name in names if name in study.variants and study.variants[name].recipe.pgo]
    if not trained:
        return None
    known = Store(home.store).costs.history(study.engine.name).figure(CONTENTS, trained[0], "seconds")
    once = known.value if known else CONTENTS_SHARE * study.engine.costs.compile_s
    return Extra(PROFILES, "what is in the profiles", 0.0, len(trained) * once)


def _samples(study: Study, selection: Selection, done: Reported) -> Extra | None:
    """Sampling of each candidate beside its baseline."""
    pairs = {
        (comparison.candidate, comparison.workload.name)
        for comparison in sampled(study, selection.chosen)
        if comparison.workload
    }
    left = pairs - done.samples
    if not left:
        return None
    title = f"samples of {len(left)} build{'s' if len(left) > 1 else ''} beside {study.base}"
    return Extra(SAMPLES, title, 0.0, len(left) * (study.sample_seconds or SAMPLE_SECONDS))


def sampled(study: Study, chosen: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons whose builds are sampled beside each other; none without ``--why``."""
    if not study.sample:
        return []
    skipped = study.unsampled
    return [
        comparison
        for comparison in chosen
        if comparison.workload is not None
        and comparison.measure is None
        and comparison.reason is None
        and not (
            comparison.control or comparison.against_itself or comparison.versus or comparison.candidate in skipped
        )
    ]


def within(
    extras: Sequence[Extra], rows: Forecast, selection: Selection, budget: float | None
) -> tuple[tuple[Extra, ...], dict[str, str]]:
    """The extras that fit the time that rows leave of a budget, and why the others do not; pure.

    Args:
        extras: all extras, in order.
        rows: the rows' forecast.
        selection: the selected rows.
        budget: seconds; None: as long as it takes.
    """
    chosen = {comparison.unit for comparison in selection.chosen}
    left = math.inf if budget is None else budget - sum(cost.seconds for cost in rows.costs if cost.unit in chosen)
    kept, out = [], {}
    for extra in extras:
        why = extra.without(selection.cut)
        if why is None and extra.seconds > left:
            why = f"cut by --budget: the rows leave {duration(max(0.0, left))}, it needs about {minutes(extra.seconds)}"
        if why is None:
            left -= extra.seconds
            kept.append(extra)
        else:
            out[extra.title] = why
    return tuple(kept), out


def sums(costs: Sequence[UnitCost], extras: Sequence[Extra], left: Mapping[str, str]) -> list[str]:
    """Lines with the rows' total time, each extra with its time, and the extras that are left out; pure."""
    cells, rows = sum(cost.cells for cost in costs), sum(cost.seconds for cost in costs)
    making, trials = sum(cost.making for cost in costs), sum(cost.trials for cost in costs)
    summary = (
        f"{cells} cell{'s' if cells > 1 else ''} to measure, about {duration(rows)} at the least number of starts: "
        f"{duration(making)} of builds and tests, {duration(trials)} of trials"
    )
    lines = [summary if cells else "no cell left to measure"]
    lines += [f"beyond the table: {extra.words}" for extra in extras]
    if extras:
        once = " (of a search one round)" if any(extra.most > 1 for extra in extras) else ""
        lines.append(f"all together about {duration(rows + sum(extra.seconds for extra in extras))}{once}")
    return [*lines, *(f"left out: {title}: {why}" for title, why in left.items())]


def as_dict(extras: Sequence[Extra], left_out: Mapping[str, str]) -> dict[str, Any]:
    """Plain values, for machines."""
    values = [
        {
            "name": extra.name,
            "title": extra.title,
            "making_seconds": extra.making,
            "running_seconds": extra.running,
            "most": extra.most,
        }
        for extra in extras
    ]
    return {"extras": values, "extras_left_out": dict(left_out)}
