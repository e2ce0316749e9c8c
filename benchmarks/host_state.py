"""Whether what a host was seen to do explains how a start's ratio differs from others of the same comparison.

    python benchmarks/host_state.py docs/results/*.jsonl.xz

Each start of some seconds records a probe of its cores, where its servers' memory was and how much of their programs
was in the page cache (`HostState`, `PagesUsed`, `StartBegun.cached`). For each quantity, by placement:

* *within sittings*: r of the start's log-ratio of capacity and the quantity (its logarithm; of steal, pages and cache,
  which can be 0, the value: of sides, the candidate's less the base's), both less their means within a comparison and
  sitting. The sitting is a block: p is the share of random orders of the quantity within each comparison and sitting
  that give an |r| as large, so that nothing between sittings or comparisons counts, and they may scatter unlike one
  another; Holm's is corrected for the quantities of the table. Beside it, in how many sittings r has the whole's sign.
* *removed*: how much smaller the standard deviation of a start is by that covariate: with the slope of all sittings,
  and, as a study would have it, with the slope of all other sittings.
* *between sittings*: r of sittings' means, less those of their comparisons. A sitting is one observation, however many
  starts and comparisons it has.

Invalid starts and A/A starts are left out. Starts within a sitting are taken as exchangeable: a drift that both the
quantity and the ratio have would count.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from within_sittings import Groups, examine, holm, spread

from burnish.model.cell import AA
from burnish.model.sittings import Moment, sittings_of
from burnish.record.by_type import ByType
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.events.study import SessionBegun
from burnish.record.events.trials import HostState, PagesUsed, PairRead, StartBegun, StartDone, TrialsPlanned
from burnish.record.exchange import read_events
from burnish.study.trials.profiled import Profiles

BESIDE_S = 120.0
"""Starts that end within so many seconds are beside one another."""


@dataclass(frozen=True)
class Start:
    """A valid start of two different builds.

    Attributes:
        comparison: which builds on which load and kind of processor.
        placement: which cores servers and clients had.
        sitting: the record, host and sitting.
        reading: log-ratio of capacity, the candidate's over the base's.
        state: its cores' state before it.
        steal: share of CPU time that the hypervisor took from the core that lost most, mean of its pairs.
        pages: where the base's and the candidate's memory was; None in older records.
        cached: shares of the base's and the candidate's programs that were in the page cache; None if not recorded.
        profiled: whether a side has a profile that the other has not.
        cost: mean logarithm of both sides' CPU seconds per transaction. The mean, because what one side's cost scatters
            by itself is part of the ratio.
        beside: how much more than its mean a transaction of the base cost in the starts before and after this one, of
            whatever builds, a logarithm. No noise of this start is in it.
    """

    comparison: tuple[str, ...]
    placement: str
    sitting: Hashable
    reading: float
    state: tuple[HostState, ...] = ()
    steal: float | None = None
    pages: tuple[PagesUsed, PagesUsed] | None = None
    cached: tuple[float | None, float | None] | None = None
    profiled: bool = False
    cost: float | None = None
    beside: float | None = None


@dataclass(frozen=True)
class Quantity:
    """What may explain a start's reading.

    Attributes:
        name: for people.
        of: its value for a start; None if the start has none.
        step: slopes are for so much more of the value.
        words: the same for people.
    """

    name: str
    of: Callable[[Start], float | None]
    step: float = math.log(1.1)
    words: str = "10 %"


def _probed(name: str, value: Callable[[HostState], float | None]) -> Quantity:
    def of(start: Start) -> float | None:
        """The logarithm of the cores' mean."""
        found = [value(state) for state in start.state]
        return math.log(statistics.fmean(filter(None, found))) if found and all(found) else None

    return Quantity(name, of)


def _of_sides(name: str, value: Callable[[PagesUsed], float | None], step: float, words: str) -> Quantity:
    def of(start: Start) -> float | None:
        """The candidate's value less the base's."""
        base, candidate = (value(pages) for pages in start.pages) if start.pages else (None, None)
        return None if base is None or candidate is None else candidate - base

    return Quantity(name, of, step, words)


def cache_kib(state: HostState) -> float | None:
    """Cache capacity as seen: KiB at which a load takes the geometric mean of the smallest and the largest size's."""
    sizes = sorted(state.latency_ns)
    if len(sizes) < 2:
        return None
    latencies = [math.log(state.latency_ns[size]) for size in sizes]
    middle = (latencies[0] + latencies[-1]) / 2
    for place in range(1, len(sizes)):
        before, after = latencies[place - 1], latencies[place]
        if before <= middle < after:
            share = (middle - before) / (after - before)
            return math.exp((1 - share) * math.log(sizes[place - 1]) + share * math.log(sizes[place]))
    return None


def _cached(start: Start) -> float | None:
    base, candidate = start.cached or (None, None)
    return None if base is None or candidate is None else candidate - base


def _steal_of_probe(start: Start) -> float | None:
    return statistics.fmean(state.steal for state in start.state) if start.state else None


QUANTITIES = (
    _probed("nanoseconds of a multiplication and addition", lambda state: state.spin_ns),
    _probed("nanoseconds of a system call", lambda state: state.call_ns),
    _probed("nanoseconds of a switch of processes", lambda state: state.switch_ns),
    _probed("nanoseconds of a page walk", lambda state: state.page_ns),
    _probed("nanoseconds of a load, 256 KiB", lambda state: state.latency_ns.get(256)),
    _probed("nanoseconds of a load, 2 MiB", lambda state: state.latency_ns.get(2048)),
    _probed("nanoseconds of a load, 128 MiB", lambda state: state.latency_ns.get(131072)),
    _probed("cache capacity as seen", cache_kib),
    _probed("bytes a second read in order", lambda state: state.read_bytes_s),
    _probed("bytes a second copied", lambda state: state.copy_bytes_s),
    Quantity("steal while probed", _steal_of_probe, 0.01, "0.01"),
    Quantity("steal during pairs", lambda start: start.steal, 0.01, "0.01"),
    Quantity("CPU per transaction, both sides' mean", lambda start: start.cost),
    Quantity("CPU per transaction of the base, starts beside", lambda start: start.beside),
    Quantity("share of the program cached, sides' difference", _cached, 0.1, "0.1"),
    _of_sides("huge pages of code, sides' difference", lambda pages: pages.huge_text, 10 << 20, "10 MiB"),
    _of_sides("huge pages of own memory, sides' difference", lambda pages: pages.huge_heap, 10 << 20, "10 MiB"),
    _of_sides("huge pages of files, sides' difference", lambda pages: pages.huge_files, 10 << 20, "10 MiB"),
    _of_sides("scatter of code, sides' difference", lambda pages: pages.scatter_text, 0.1, "0.1"),
    _of_sides("scatter of own memory, sides' difference", lambda pages: pages.scatter_heap, 0.1, "0.1"),
    _of_sides("scatter of files, sides' difference", lambda pages: pages.scatter_files, 0.1, "0.1"),
)


def starts_of(path: Path) -> Iterable[Start]:
    """A record's valid starts that have a state and two different builds."""
    by = ByType(read_events(path, turns=False))
    begun = {(event.cell, event.start): event for event in by.of(StartBegun)}
    profiles = Profiles(by.of(BuildMade), by.of(ProgramFound), by.of(TrialsPlanned))
    steal: dict[Hashable, list[float]] = defaultdict(list)
    costs: dict[Hashable, list[tuple[float, ...]]] = defaultdict(list)
    for pair in by.of(PairRead):
        if pair.invalid is None:
            steal[pair.cell, pair.start].append(pair.steal)
            if all(side.server_cpu and side.done for side in pair.sides.values()):
                # The base is the first of a start's builds; sides of a pair are in another order.
                first = begun.get((pair.cell, pair.start))
                labels = [label for label in (first.builds if first else ()) if label in pair.sides] or [*pair.sides]
                sides = [pair.sides[label] for label in labels]
                costs[pair.cell, pair.start].append(tuple(math.log(side.server_cpu / side.done) for side in sides))
    sessions = by.recorded(SessionBegun)
    moments: dict[str, list[tuple[Moment, StartDone]]] = defaultdict(list)
    for recorded in by.recorded(StartDone):
        done = recorded.event
        ended = datetime.fromisoformat(recorded.at).timestamp()
        facts = [each.event.host for each in sessions if each.number < recorded.number and not done.origin] or [{}]
        moment = Moment(ended - done.seconds, ended, str(facts[-1].get("boot", "")))
        host = done.origin.host if done.origin else str(facts[-1].get("cpu_signature", ""))
        moments[host].append((moment, done))
    for host, timed in moments.items():
        timed.sort(key=lambda each: each[0].ended)
        numbers = sittings_of([moment for moment, _ in timed])
        of_base = [
            statistics.fmean(c[0] for c in costs[key]) if costs[key := (d.cell, d.start)] else None for _, d in timed
        ]
        kinds = [
            _kind(number, done, begun.get((done.cell, done.start)))
            for number, (_, done) in zip(numbers, timed, strict=True)
        ]
        beside = costs_beside([moment for moment, _ in timed], kinds, of_base)
        for number, (_, done), around in zip(numbers, timed, beside, strict=True):
            first = begun.get((done.cell, done.start))
            if first is None or not first.state or done.cell.candidate == AA or len(set(first.builds.values())) != 2:
                continue
            if done.invalid is not None or "capacity" not in done.readings:
                continue
            base, other = first.builds
            pages, cached = done.pages or {}, first.cached or {}
            yield Start(
                comparison=(
                    *first.builds.values(),
                    done.cell.workload,
                    str(first.design),
                    host,
                    *done.cell.given,
                    *done.cell.versus,
                ),
                placement=str(first.placed),
                sitting=(path.name, host, number),
                reading=done.readings["capacity"],
                state=first.state,
                steal=statistics.fmean(steal[done.cell, done.start]) if steal[done.cell, done.start] else None,
                pages=(pages[base], pages[other]) if {base, other} <= pages.keys() else None,
                cached=(cached[base], cached[other]) if {base, other} <= cached.keys() else None,
                cost=statistics.fmean(map(statistics.fmean, own)) if (own := costs[done.cell, done.start]) else None,
                beside=around,
                profiled=profiles.differ(done.cell, first.builds) is True,
            )


def _kind(sitting: int, done: StartDone, first: StartBegun | None) -> Hashable:
    """What the base's cost goes by: sitting, load, placement, condition."""
    return sitting, done.cell.workload, first and str(first.placed), done.cell.given, done.cell.versus


def costs_beside(
    moments: Sequence[Moment], kinds: Sequence[Hashable], costs: Sequence[float | None]
) -> list[float | None]:
    """For each start, how much dearer the base was in the starts before and after it than starts of their kind are.

    Args:
        moments: when starts were, in order.
        kinds: starts of one kind have the base do the same in the same sitting.
        costs: logarithm of the base's CPU seconds per transaction.
    """
    of_kind: dict[Hashable, list[float]] = defaultdict(list)
    for kind, cost in zip(kinds, costs, strict=True):
        if cost is not None:
            of_kind[kind].append(cost)
    more = [
        None if cost is None else cost - statistics.fmean(of_kind[kind])
        for kind, cost in zip(kinds, costs, strict=True)
    ]
    found: list[float | None] = []
    for place, moment in enumerate(moments):
        near = [
            value
            for other in (place - 1, place + 1)
            if 0 <= other < len(moments)
            and 1.0 < abs(moments[other].ended - moment.ended) < BESIDE_S  # not a start that shares its base's
            and (value := more[other]) is not None
        ]
        found.append(statistics.fmean(near) if near else None)
    return found


def table(starts: Sequence[Start]) -> list[str]:
    """The table of a placement as lines of Markdown, then what no start has or never differs."""
    found = [(quantity, examine(groups_of(starts, quantity))) for quantity in QUANTITIES]
    told = [(quantity, each) for quantity, each in found if each is not None]
    titles = ("quantity", "starts", "r", "p", "Holm", "sittings of that sign", "slope", "removed", "by other sittings")
    lines = [f"| {' | '.join((*titles, 'between: r (p)'))} |", "|" + " --- |" * (len(titles) + 1)]
    for (quantity, each), corrected in zip(told, holm([each.p for _, each in told]), strict=True):
        cells = (
            quantity.name,
            str(each.starts),
            f"{each.r:+.2f}",
            f"{each.p:.2g}",
            f"{corrected:.2g}",
            f"{each.signs[0]} of {each.signs[1]}",
            f"{100 * each.slope * quantity.step:+.2f} % for {quantity.words}",
            f"{100 * each.removed:.1f} %",
            "-" if each.foretold is None else f"{100 * each.foretold:+.1f} %",
            "-" if each.between is None else f"{each.between:+.2f} ({each.p_between:.2g})",
        )
        lines.append(f"| {' | '.join(cells)} |")
    lacking = [quantity.name for quantity, each in found if each is None]
    return [
        *lines,
        *([f"\nnot recorded, or the same in all starts of a comparison: {'; '.join(lacking)}"] if lacking else []),
    ]


def groups_of(starts: Sequence[Start], quantity: Quantity) -> Groups:
    """By sitting and comparison, (value, log-ratio) of each start that has the quantity."""
    groups: dict[tuple[Hashable, Hashable], list[tuple[float, float]]] = defaultdict(list)
    for start in starts:
        if (value := quantity.of(start)) is not None:
            groups[start.sitting, start.comparison].append((value, start.reading))
    return groups


def main() -> None:
    """Prints a table for each placement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path)
    parser.add_argument(
        "--profiled", action="store_true", help="only where a side has a profile that the other has not"
    )
    arguments = parser.parse_args()
    starts = [
        start for path in arguments.records for start in starts_of(path) if start.profiled or not arguments.profiled
    ]
    for placement in sorted({start.placement for start in starts}):
        placed = [start for start in starts if start.placement == placement]
        sittings = len({start.sitting for start in placed})
        scatter = spread(groups_of(placed, Quantity("", lambda _: 0.0)))
        print(
            f"\nplacement {placement}: {len(placed)} starts, {sittings} sittings; a start scatters by {scatter:.2%}\n"
        )
        print("\n".join(table(placed)))


if __name__ == "__main__":
    main()
