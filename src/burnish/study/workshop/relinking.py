"""Small differences of a flag or a patch, tested by other link orders of both sides.

A binary is one sample of code layout, so a difference within some 3 % may be these two binaries' alone
(docs/METHODOLOGY.md, "A binary or a flag?"). What the verdicts call faster or slower by so little is measured again,
each start with a fresh pair of links.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.base.durations import duration
from burnish.base.errors import InfrastructureError
from burnish.model.cell import AA, CellId, Role
from burnish.record.events.bundled import LayoutsBegun
from burnish.record.events.verdicts import VerdictReached
from burnish.statistics.replicates import small
from burnish.statistics.verdicts import Kind, Rule
from burnish.study.cells import Cell
from burnish.study.comparison import Comparison
from burnish.study.extras.extras import SLACK
from burnish.study.kept.sittings import next_sitting
from burnish.study.planning import forecast
from burnish.study.request.selection import needed
from burnish.study.study import Study
from burnish.study.trials.repeated import Repeated
from burnish.study.trials.replicates import Factors
from burnish.study.trials.schedule import is_open
from burnish.study.trials.timing import start_seconds, timings
from burnish.study.workshop.group import Trial, trial_of, trials_of
from burnish.study.workshop.workshop import NotMeasured, Workshop


@dataclass(frozen=True)
class Judged:
    """A comparison and the cell of its trial."""

    comparison: Comparison
    cell: Cell


def relink(workshop: Workshop, judged: Sequence[Judged], told: Repeated) -> None:
    """Measures the small differences again in other link orders, as far as the budget allows.

    Args:
        workshop: the study, with all claims judged.
        judged: the claims that have a verdict.
        told: the verdicts as the report will give them.
    """
    study, record = workshop.study, workshop.record
    session = workshop.session
    if not study.layouts or next_sitting(record, session.options.schedule, session.host.boot) is not None:
        return
    ratios = {
        verdict.cell: math.log(ratio.ratio)
        for verdict in told.by.of(VerdictReached)
        if (ratio := verdict.ratios.get(verdict.headline)) is not None
    }
    due = [claim for claim in judged if is_due(study, claim, told.kinds.get(claim.cell.id), ratios)]
    due = [claim for claim in due if is_open(record, relinked(claim.cell).id, session.host.boot)]
    groups: dict[tuple[str, ...], list[Judged]] = {}
    for claim in due:
        groups.setdefault(claim.comparison.group, []).append(claim)
    for claims in groups.values():
        _measure(workshop, claims)


def is_due(study: Study, claim: Judged, kind: Kind | None, ratios: Mapping[CellId, float]) -> bool:
    """Whether a claim is about two recipes that were linked once each, and is proved but small.

    Args:
        study: the study.
        claim: the claim.
        kind: its verdict among all.
        ratios: by cell, the log-ratio of its headline.
    """
    comparison = claim.comparison
    built = {comparison.base, comparison.candidate} <= study.variants.keys() and comparison.base != comparison.candidate
    other = comparison.control or comparison.release or comparison.versus or comparison.candidate == AA
    proved = kind in (Kind.FASTER, Kind.SLOWER) and claim.cell.id in ratios
    return bool(built and not other and proved and small(ratios[claim.cell.id]))


def relinked(cell: Cell) -> Cell:
    """The cell of the starts in other link orders."""
    return replace(cell, id=replace(cell.id, role=Role.LAYOUTS))


def _measure(workshop: Workshop, claims: Sequence[Judged]) -> None:
    """Links both sides of these claims, which share a baseline, several times, and takes a start of each pair."""
    session, study = workshop.session, workshop.study
    layouts = study.layouts
    several = Workshop(
        session,
        replace(study, replicates=Factors(layouts=layouts), layouts=0, instrumented=frozenset()),
        workshop.selection,
        maker=workshop.maker,
        program_data=workshop.program_data,
        notes=False,
    )
    comparisons = [claim.comparison for claim in claims]
    names = needed(study, comparisons)
    titles = ", ".join(dict.fromkeys(claim.comparison.row for claim in claims))
    times = timings(session)
    takes = sum(layouts * start_seconds(times[claim.cell.design]) for claim in claims)
    several.find_chains(names)
    takes += _build_seconds(several)
    budget = session.options.budget
    if budget is not None and time.monotonic() - session.began + takes > SLACK * budget:
        session.bench.say(f"{titles}: {layouts} other link orders would take {duration(takes)}, which --budget lacks")
        return
    session.bench.say(
        f"{titles}: so small a difference may come from the code layout alone; measured again with {layouts} link "
        f"orders of both sides, about {duration(takes)} (--layouts 0 leaves this out)"
    )
    known = {recorded.event.cell for recorded in workshop.record.events(LayoutsBegun)}
    for claim in claims:
        if (cell := relinked(claim.cell).id) not in known:
            workshop.record.append(LayoutsBegun(claim.comparison.id, cell, layouts))
    try:
        several.make_baseline()
        several.make(names)
        trials = [replace(trial_of(several, claim.comparison), cell=relinked(claim.cell)) for claim in claims]
    except (NotMeasured, InfrastructureError) as left:  # the study has its verdicts already
        session.bench.say(f"not measured with other link orders: {left}")
        return
    _decide(several, trials, Rule.fixed(layouts, delta=study.rule.delta))


def _decide(workshop: Workshop, trials: Sequence[Trial], rule: Rule) -> None:
    times = timings(workshop.session)
    trials_of(workshop, trials, times, {}).decide([trial.cell for trial in trials], rule)


def _build_seconds(workshop: Workshop) -> float:
    """Rough seconds of the builds that are missing."""
    maker, spec = workshop.maker, workshop.session.spec
    if maker is None:
        return 0.0
    return forecast.plan_of(
        list(workshop.chains.values()),
        spec=spec,
        store=workshop.session.store,
        source=maker.builder.origin,
        workloads=maker.loads,
    ).seconds.value
