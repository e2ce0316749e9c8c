"""Another sitting of a search: its finalist alone is measured anew, and judged by the starts of all sittings.

The search keeps time of its budget for them. What was picked in the first stays picked: in a later one the starts of
its claim and of its confirmation are taken again, on every load, and say together whether it is faster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from burnish.model.sittings import Spread
from burnish.record.events.searches import FinalistOn, SearchBegun, SearchEnded
from burnish.record.events.study import SpreadAssumed
from burnish.statistics.intervals import Interval
from burnish.statistics.sequential import Rule
from burnish.statistics.sittings import SittingCell, spread_half
from burnish.statistics.verdicts import Judgement, Kind
from burnish.study.comparison import Comparison
from burnish.study.extras.searched import TELL_APART
from burnish.study.judging import in_another_sitting, measure_again
from burnish.study.kept.sittings import sitting_due
from burnish.study.planning.confirming import again
from burnish.study.request.selection import needed
from burnish.study.trials.schedule import sitting_readings
from burnish.study.workshop.group import begin_trials, trial_of
from burnish.study.workshop.workshop import NotMeasured, Workshop

Sittings = Mapping[str, Sequence[Sequence[float]]]
"""By load, the readings of the finalist's fresh starts in each sitting."""


def sit_again(workshop: Workshop, ended: SearchEnded) -> None:
    """Takes another sitting of a search's finalist, if one is due, and records what all of them say."""
    session, study, record = workshop.session, workshop.study, workshop.record
    if ended.finalist is None:
        return
    comparisons = [one for one in study.comparisons if one.candidate == ended.finalist]
    if not sitting_due(record, session.options.schedule, session.host.boot):
        _judge_all(workshop, ended, comparisons, new=False)  # a session may have ended after the starts of a sitting
        return
    session.bench.say(f"{ended.finalist}: measured in another sitting")
    try:
        workshop.make_baseline()
        workshop.make(needed(study, comparisons))
        trials = [trial_of(workshop, comparison) for comparison in comparisons]
    except NotMeasured as left:
        session.bench.say(f"{ended.finalist}: no further sitting: {left}")
        return
    begin_trials(workshop, trials).sit_again([trial.cell for trial in trials])
    measure_again(workshop, comparisons)
    _judge_all(workshop, ended, comparisons, new=True)


def _judge_all(workshop: Workshop, ended: SearchEnded, comparisons: Sequence[Comparison], *, new: bool) -> None:
    """Records what all sittings of the finalist say.

    Args:
        workshop: the study.
        ended: what the search came to by its last record.
        comparisons: the finalist's.
        new: whether starts were taken since; else it is left as it is where it was judged by as many sittings.
    """
    record = workshop.record
    cells = {one.load: again(workshop.cell(one), workshop.study.confirmation, "") for one in comparisons}
    begun, assumed = record.last(SearchBegun), record.last(SpreadAssumed)
    if not cells or begun is None or assumed is None:
        return
    headline = next(iter(cells.values())).headline
    taken = sitting_readings(record, [cell.id for cell in cells.values()], headline)
    judged = len(taken) < 2 or any(_in(ended, len(taken)) in line for line in ended.path)
    if not taken or (judged and not new):
        return
    sittings = {load: [one[cell.id] for one in taken] for load, cell in cells.items()}
    readings = in_another_sitting(record).readings
    spreads = {
        load: readings.spread(cell.id) if readings is not None else assumed.event.spread for load, cell in cells.items()
    }
    record.append(over_sittings(ended, begun.event, sittings, spreads))


def _in(ended: SearchEnded, count: int) -> str:
    """Begins the line of a search's path that says how its finalist was judged by this many sittings."""
    return f"{ended.finalist} measured in {count} sittings: "


def over_sittings(
    ended: SearchEnded, begun: SearchBegun, sittings: Sittings, spreads: Mapping[str, Spread]
) -> SearchEnded:
    """What a search came to by the fresh starts of several sittings; pure.

    Args:
        ended: what it came to before.
        begun: how it was asked for.
        sittings: readings by load, as many sittings of each.
        spreads: by load, how far its ratio is taken to differ between sittings; of the mean over loads the largest.
    """

    def judged(readings: Sequence[Sequence[float]], spread: Spread) -> Judgement:
        cell = SittingCell(ended.finalist or "", tuple(map(tuple, readings)), spread)
        return cell.judge(Rule.fixed(max(2, cell.starts), delta=TELL_APART))

    weights, total = begun.weights, sum(begun.weights.values())
    count = min(map(len, sittings.values()))
    scores = [
        [
            sum(weights[load] * reading for load, reading in zip(weights, start, strict=True)) / total
            for start in zip(*(sittings[load][number] for load in weights), strict=False)
        ]
        for number in range(count)
    ]
    most = max(spreads.values(), key=lambda spread: spread_half(spread, 0.025, count))
    on = {load: judged(readings, spreads[load]).difference for load, readings in sittings.items()}
    loads = tuple(_on(one, on.get(one.load)) for one in ended.loads)
    slower = tuple(load for load in begun.guards if (found := on.get(load)) is None or found.low < 1.0 - TELL_APART)
    faster = judged(scores, most).kind is Kind.FASTER and not slower
    words = f"{_in(ended, count)}{'' if faster else 'not '}shown to be faster in another one"
    path = (*(line for line in ended.path if not line.startswith(f"{ended.finalist} measured in ")), words)
    return replace(ended, winner=ended.finalist if faster else None, slower_on=slower, path=path, loads=loads)


def _on(load: FinalistOn, found: Interval | None) -> FinalistOn:
    return load if found is None else replace(load, ratio=found.ratio, low=found.low, high=found.high)
