"""How much less a recorded search's starts scatter once they are corrected for what the baseline cost at that moment.

    python benchmarks/host_cost.py docs/results/mysql-search.jsonl.xz

The steps of the record are entered in a search's book again, without the costs of the baseline's transactions and with
them (`burnish.search.host_cost`), also those of records from before the correction. Printed are the standard deviation
of a start's score about its build's mean both ways, and each build's mean. What the search would have asked for with
the correction is another question: these are the steps that it took.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from pathlib import Path

from burnish.model.cell import CellId, Role
from burnish.record.by_type import ByType
from burnish.record.events import Event
from burnish.record.events.searches import SearchBegun, SearchTold
from burnish.record.events.trials import PairRead, StartDone
from burnish.record.exchange import read_events
from burnish.search.asks import Ask, Objective, Told
from burnish.search.book import Arm, Book
from burnish.search.space import Point
from burnish.statistics.sequential import Rule
from burnish.study.trials.starts import starts_of


def entered_again(path: Path, *, costs: bool) -> Book:
    """The book of a record's search, with or without what the baseline cost."""
    by = ByType(read_events(path, turns=False))
    events: dict[CellId, list[Event]] = defaultdict(list)
    for done in by.of(StartDone):
        events[done.cell].append(done)
    for read in by.of(PairRead):
        events[read.cell].append(read)
    starts = {
        (cell.candidate, cell.workload): starts_of(some) for cell, some in events.items() if cell.role is Role.CLAIM
    }
    book = Book(Objective(by.of(SearchBegun)[0].weights), Rule())
    had: dict[tuple[str, str], int] = defaultdict(int)
    for step in by.of(SearchTold):
        if step.fresh:
            continue
        known = {}
        for load, readings in step.readings.items():
            cell = step.variant, load
            first, had[cell] = had[cell], had[cell] + len(readings)
            if cell in starts and (found := starts[cell].costs("baseline")):
                known[load] = found[first : had[cell]]
        told = Told(step.readings, step.making, step.seconds, step.digest, step.failed, costs=known if costs else {})
        point = Point(tuple(sorted(step.settings.items())))
        book.enter(Ask(step.number, point, step.starts, step.stage, step.why), told)
    return book


def scatter(book: Book) -> float:
    """Standard deviation of a start's score about its build's mean."""
    arms = [arm for arm in book.measured if len(arm.scores) > 1]
    squares = sum((score - arm.mean) ** 2 for arm in arms for score in arm.scores)
    return math.sqrt(squares / sum(len(arm.scores) - 1 for arm in arms))


def main() -> None:
    """Prints both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    path = parser.parse_args().record
    raw, corrected = (entered_again(path, costs=costs) for costs in (False, True))
    print(corrected.host.words or "no certain slope: nothing is corrected")
    print(f"a start scatters by {scatter(raw):.2%} as read, {scatter(corrected):.2%} corrected\n")
    print("| as read | corrected | starts | build |\n| --- | --- | --- | --- |")
    means: dict[Point, Arm] = {arm.point: arm for arm in raw.measured}
    for arm in corrected.measured:
        read, now = (math.expm1(mean) for mean in (means[arm.point].mean, arm.mean))
        print(f"| {read:+.1%} | {now:+.1%} | {len(arm.scores)} | {arm.point.words} |")


if __name__ == "__main__":
    main()
