"""How far the same builds differ between sittings, in recorded runs, and whether intervals "to be repeated" hold.

    python benchmarks/sittings.py docs/results/*.jsonl.xz

A comparison is one pair of builds (by the keys of what they were made from) on one load, under one condition and
design, on one kind of processor. Its sittings are those of all records together; a start that is in two records counts
once. A/A starts and comparisons of a build with itself are left out, and so are records that do not name the processor.

* How many sittings a comparison has, over how many hours, on how many kinds of processor. `--fewest 6 --hours 12` takes
  only comparisons of six sittings and more over twelve hours and more.
* The spread τ between sittings (`burnish.statistics.between`), by kind of comparison.
* Whether the size of an effect goes with the baseline's cost of a transaction in that sitting, and what is left of τ.
* How a start's ratio goes with what its transactions cost, within sittings, and what is left of τ when each start is
  corrected to its comparison's mean cost by that slope, taken from the starts of all other builds of its kind: nothing
  of what is between sittings is in the correction. The cost is the mean logarithm of both sides' CPU seconds per
  transaction, since what one side's cost scatters by itself is part of the ratio. `--of RECORD` says it of the
  comparisons of one record alone, with the slope of all other records' builds.
* How far the quotient of two candidates moves between sittings in which both were measured beside the same baseline,
  and how far their ratios to the baseline do: what a sitting does to both cancels out.
* How far what sittings do to two builds is common to loads: the spread of the difference of their log-ratios on two
  loads is √2 times that of one if it is not, and nothing if all of it is.
* Of intervals of single sittings, made with the τ of all comparisons of *other* builds of the same kind: how many
  contain the mean of the other sittings; of pairs of sittings, how many differ at p < 5 %. The same with the shipped
  figures, which were estimated from these records, so that they fit them better than records to come.

The kinds are those of `burnish.model.sittings.SpreadKind`: in duets a side's build has a profile (PGO, BOLT) that the
other's has not, as the records say, or none has; with `--design interleaved` none has, and the load commits.
Comparisons of programs of which the records say nothing are left out. `--without LOAD` leaves out a load, to see how
much hangs on it.

`--one-spread PERCENT` asks whether that spread could be that of each kind: the p of sittings that agree as well as
these, and of such that differ as much (Q of `burnish.statistics.between` is a χ²), and how many intervals it holds,
with the degrees of freedom of the figure that is shipped for comparisons with a profile. With `--sets N`, sittings with
that spread and the recorded noise of their starts are drawn N times in the place of those with a profile: how often do
other builds' spreads hold as few of them as here?
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import numpy as np
import scipy

from burnish.catalogue.between import shipped
from burnish.model.cell import AA, CellId, Role
from burnish.model.sittings import Moment, Spread, SpreadKind, sittings_of
from burnish.model.workload import Design
from burnish.record.by_type import ByType
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.events.study import RecordsMerged, SessionBegun, StudyBegun
from burnish.record.events.trials import PairRead, StartBegun, StartDone, TrialsPlanned
from burnish.record.exchange import read_events
from burnish.report.words import plural
from burnish.statistics.between import Between, Known, between
from burnish.statistics.common_slope import CommonSlope
from burnish.statistics.sittings import spread_for, spread_half
from burnish.study.trials.profiled import Profiles

Key = tuple[str, ...]
SMALL = math.log(1.03)
LARGE = math.log(1.5)
ENOUGH = 3
"""Degrees of freedom below which a spread of other builds tells nothing."""


@dataclass
class Start:
    """A valid start: when it was, its reading, the baseline's CPU seconds of a transaction, whether a side has a
    profile that the other has not, its kind, and the mean logarithm of both sides' CPU seconds of a transaction."""

    moment: Moment
    reading: float
    cost: float
    profiled: bool
    kind: SpreadKind | None
    both: float = math.nan


Starts = Mapping[Key, tuple[str, list["Start"]]]
"""All starts by comparison, each comparison with a name for people."""


@dataclass
class Sitting:
    """The starts of one sitting."""

    starts: list[Start] = field(default_factory=list)

    @property
    def known(self) -> Known:
        """Their mean with its variance."""
        readings = [start.reading for start in self.starts]
        return Known(statistics.fmean(readings), statistics.variance(readings) / len(readings))

    @property
    def cost(self) -> float:
        """The baseline's cost of a transaction, median over starts, in seconds."""
        return statistics.median(start.cost for start in self.starts)


@dataclass
class Comparison:
    """One pair of builds on one load and kind of processor, with its sittings of two starts and more."""

    name: str
    key: Key
    profiled: bool
    kind: SpreadKind | None
    sittings: list[Sitting]

    @property
    def effect(self) -> float:
        """Mean log-ratio over sittings."""
        return statistics.fmean(sitting.known.mean for sitting in self.sittings)

    @property
    def hours(self) -> float:
        """From the end of its first start to that of its last one."""
        ends = [start.moment.ended for sitting in self.sittings for start in sitting.starts]
        return (max(ends) - min(ends)) / 3600

    @property
    def processor(self) -> str:
        """Family, model and stepping."""
        return self.key[4]


def starts_of(paths: Iterable[Path], quantity: str) -> dict[Key, tuple[str, list[Start]]]:
    """All starts of the records by comparison; each comparison with a name for people."""
    seen: set[Key] = set()
    found: dict[Key, tuple[str, list[Start]]] = {}
    for path in paths:
        for identity, key, name, start in _starts(ByType(read_events(path)), quantity):
            if identity not in seen:
                seen.add(identity)
                found.setdefault(key, (name, []))[1].append(start)
    return found


def _starts(by: ByType, quantity: str) -> Iterable[tuple[Key, Key, str, Start]]:
    study = by.of(StudyBegun)[0].name
    merged = by.last(RecordsMerged)
    facts = {host.key: host.facts for host in merged.hosts} if merged else {}
    sessions = by.recorded(SessionBegun)
    profiles = Profiles(by.of(BuildMade), by.of(ProgramFound), by.of(TrialsPlanned))
    builds = {made.build.name: made.key for made in by.of(BuildMade)}
    builds |= {program.build.name: program.key for program in by.of(ProgramFound)}
    begun = {(event.cell, event.start): event for event in by.of(StartBegun)}
    costs: dict[tuple[CellId, int], list[float]] = {}
    both: dict[tuple[CellId, int], list[float]] = {}
    for pair in by.of(PairRead):
        base = next(iter(pair.sides.values()))
        if pair.invalid is None and base.done:
            costs.setdefault((pair.cell, pair.start), []).append(base.server_cpu / base.done)
            if all(side.server_cpu and side.done for side in pair.sides.values()):
                each = [math.log(side.server_cpu / side.done) for side in pair.sides.values()]
                both.setdefault((pair.cell, pair.start), []).append(statistics.fmean(each))
    for recorded in by.recorded(StartDone):
        done = recorded.event
        cell = done.cell
        if done.invalid is not None or quantity not in done.readings or cell.role is Role.CANARY:
            continue
        origin = done.origin
        host = facts.get(origin.host, {}) if origin else _host(sessions, recorded.number)
        start = begun.get((cell, done.start))
        base = cell.base or next(iter(builds), "")
        pair_of = (
            tuple(start.builds.values()) if start and start.builds else (builds.get(base), builds.get(cell.candidate))
        )
        signature = host.get("cpu_signature")
        same = cell.control or cell.candidate == AA or len(set(pair_of)) < 2
        if not signature or same or not all(pair_of) or start is None:
            continue
        profiled = profiles.differ(cell, start.builds)
        if profiled is None:
            continue
        ended = datetime.fromisoformat(recorded.at).timestamp()
        moment = Moment(ended - done.seconds, ended, str(host.get("boot", "")))
        kind = profiles.kind(cell, Design(start.design or Design.DUET), start.builds)
        given = (*cell.given, *cell.versus)
        key = (*map(str, pair_of), cell.workload, str(start.design), signature, *given)
        number = origin.start if origin and origin.start is not None else done.start
        identity = (origin.study if origin else study, str(number), cell.name)
        cost = statistics.median(costs.get((cell, done.start), [math.nan]))
        yield (
            identity,
            key,
            f"{cell.label} on {cell.workload}, {signature}",
            Start(
                moment,
                done.readings[quantity],
                cost,
                profiled,
                kind,
                statistics.fmean(both.get((cell, done.start), [math.nan])),
            ),
        )


def _host(sessions: Sequence[object], number: int) -> dict[str, str]:
    before = [session for session in sessions if session.number < number]  # type: ignore[attr-defined]
    return dict(before[-1].event.host) if before else {}  # type: ignore[attr-defined]


def comparisons(every: Starts, design: str) -> list[Comparison]:
    """The comparisons of a design with two sittings and more, of effects below 50 %."""
    result = []
    for key, (name, starts) in every.items():
        ordered = sorted(starts, key=lambda start: start.moment.ended)
        sittings: dict[int, Sitting] = {}
        for number, start in zip(sittings_of([start.moment for start in ordered]), ordered, strict=True):
            sittings.setdefault(number, Sitting()).starts.append(start)
        enough = [sitting for sitting in sittings.values() if len(sitting.starts) > 1]
        one = Comparison(name, key, starts[0].profiled, starts[0].kind, enough)
        if design in key and len(enough) > 1 and abs(one.effect) < LARGE:
            result.append(one)
    return result


def spread(some: Sequence[Comparison]) -> Between | None:
    """The common spread between their sittings."""
    return between([[sitting.known for sitting in one.sittings] for one in some])


def print_extent(every: Sequence[Comparison]) -> None:
    """How many sittings, over how long, on how many kinds of processor: what all that follows rests on."""
    longest, most = max(one.hours for one in every), max(len(one.sittings) for one in every)
    processors = len({one.processor for one in every})
    kinds = f"{processors} kind{'s' if processors > 1 else ''} of processor"
    print(
        f"{len(every)} comparisons in {sum(len(one.sittings) for one in every)} sittings on {kinds}; "
        f"of one comparison {most} sittings at most, {longest:.1f} h from its first start to its last at most\n"
    )


def print_spreads(every: Sequence[Comparison]) -> None:
    """The spread by kind of comparison."""
    kinds: dict[str, Callable[[Comparison], bool]] = {
        "all": lambda _: True,
        "with a profile": lambda one: one.profiled,
        "without": lambda one: not one.profiled,
        "without, in turn on loads that commit": lambda one: one.kind is SpreadKind.COMMITTING,
        "effects below 3 %": lambda one: abs(one.effect) < SMALL,
        "effects of 3 % and more": lambda one: abs(one.effect) >= SMALL,
    }
    print("| comparisons | number | sittings | spread, % | 95 % interval | degrees of freedom |\n" + "| --- " * 6 + "|")
    for title, belongs in kinds.items():
        found = spread([one for one in every if belongs(one)])
        if found is not None:
            values = f"{100 * found.sd:.2f} | {100 * found.low:.2f} to {100 * found.high:.2f} | {found.df:.1f}"
            print(f"| {title} | {found.comparisons} | {found.sittings} | {values} |")


def print_covariate(every: Sequence[Comparison]) -> None:
    """Whether the size of an effect goes with the baseline's cost in that sitting, and what that leaves of the spread.

    Both are taken about each comparison's own mean, which uses a degree of freedom of each: two sittings have the same
    deviation twice, and are one observation. What is left is computed with the slope of all *other* builds, as a study
    that corrected by it would have to.
    """
    usable = [
        replace(one, sittings=known)
        for one in every
        if len(known := [sitting for sitting in one.sittings if math.isfinite(sitting.cost)]) > 1 and one.effect
    ]
    deviations = [_deviations(one) for one in usable]
    costs, sizes = zip(*itertools.chain.from_iterable(deviations), strict=True)
    df = len(costs) - len(usable) - 1
    r = _slope(deviations) * math.sqrt(sum(x * x for x in costs) / sum(y * y for y in sizes))
    p = 2 * float(scipy.stats.t.sf(abs(r) * math.sqrt(df / (1 - r * r)), df))
    before = spread(usable)
    left = between(
        [
            [
                Known(
                    sitting.known.mean - math.copysign(slope, one.effect) * math.log(sitting.cost),
                    sitting.known.variance,
                )
                for sitting in one.sittings
            ]
            for one in usable
            for slope in [
                _slope([d for other, d in zip(usable, deviations, strict=True) if other.key[:2] != one.key[:2]])
            ]
        ]
    )
    if before is None or left is None:
        return
    print(
        f"\nsize of the effect by the baseline's cost of a transaction: r = {r:.2f} (p = {p:.2g}, {df} degrees of "
        f"freedom), {_slope(deviations):+.3f} of log-ratio for each unit of log cost; spread {100 * before.sd:.2f} %, "
        f"{_in_per_cent(left)} left by the slope of other builds"
    )


def within(some: Sequence[Comparison]) -> CommonSlope | None:
    """How ratios of all starts of these comparisons go with the cost of their transactions, within sittings.

    None if either never differs, or there are too few starts.
    """
    found = CommonSlope.of(
        [(start.both, start.reading) for start in sitting.starts if math.isfinite(start.both)]
        for one in some
        for sitting in one.sittings
    )
    return found if found is not None and found.df >= ENOUGH else None


def at_mean_cost(every: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with each start corrected to its comparison's mean cost, by the slope of other builds' starts."""
    corrected = []
    for one in every:
        found = within([other for other in every if other.key[:2] != one.key[:2]])
        starts = [start for sitting in one.sittings for start in sitting.starts]
        if found is None or not all(math.isfinite(start.both) for start in starts):
            corrected.append(one)
            continue
        mean, slope = statistics.fmean(start.both for start in starts), found.slope
        sittings = [
            Sitting([replace(start, reading=start.reading - slope * (start.both - mean)) for start in sitting.starts])
            for sitting in one.sittings
        ]
        corrected.append(replace(one, sittings=sittings))
    return corrected


def print_within(every: Sequence[Comparison]) -> None:
    """How ratios go with the cost of a transaction within sittings, and what is left of the spread between them."""
    kinds = (("with a profile", True), ("without", False))
    for title, profiled in kinds:
        some = [one for one in every if one.profiled is profiled]
        found, before, left = within(some), spread(some), spread(at_mean_cost(some))
        if found is None or before is None or left is None:
            continue
        print(
            f"\n{title}, within sittings: ratio by the mean cost of a transaction on both sides, {found.count} "
            f"starts: r = {found.r:+.2f}, {found.slope:+.3f} ± {found.error:.3f} of log-ratio for each unit of log "
            f"cost; a start scatters less by {100 * found.removed:.0f} %; at its mean cost the spread is "
            f"{_in_per_cent(left)} instead of {_in_per_cent(before)}"
        )


def print_record(every: Sequence[Comparison], record: Path, quantity: str) -> None:
    """The spread of one record's comparisons with a profile, as read and at their mean cost by all others' slope."""
    keys = starts_of([record], quantity).keys()
    profiled = [one for one in every if one.profiled]
    own = [one for one in profiled if one.key in keys]
    others = within([one for one in profiled if one.key not in keys])
    before, left = spread(own), spread([one for one in at_mean_cost(profiled) if one.key in keys])
    if others is None or before is None or left is None:
        print(f"\n{record.name}: none of its comparisons with a profile has two sittings, or no other record has")
        return
    print(
        f"\n{record.name}: {plural(len(own), 'comparison')} with a profile in "
        f"{sum(len(one.sittings) for one in own)} sittings differ by {_in_per_cent(before)}; at their mean "
        f"cost by {_in_per_cent(left)}, by the slope of the others' starts, {others.slope:+.3f} ± {others.error:.3f}"
    )


def _in_per_cent(found: Between) -> str:
    """A spread with its interval, for people."""
    return f"{100 * found.sd:.2f} % [{100 * found.low:.2f}, {100 * found.high:.2f}]"


def print_rivals(every: Starts, design: str) -> None:
    """The spread between sittings of the quotient of two candidates that were measured in the same ones."""
    grouped: dict[Key, list[list[Start]]] = {}
    for (base, _, *rest), (_, starts) in every.items():
        if design in rest and abs(statistics.fmean(start.reading for start in starts)) < LARGE:
            grouped.setdefault((base, *rest), []).append(starts)
    kinds: dict[str, list[tuple[Sitting, Sitting, int]]] = {}
    count = 0
    for candidates in grouped.values():
        for pair in itertools.combinations(candidates, 2):
            count += 1
            profiled = {starts[0].profiled for starts in pair}
            kind = "one with" if len(profiled) > 1 else "both with" if True in profiled else "none with"
            kinds.setdefault(kind, []).extend((*both, count) for both in _shared(*pair))
    for kind, both in kinds.items():
        by_pair = [list(some) for _, some in itertools.groupby(both, key=lambda one: one[2])]
        found = between([[_quotient(one, other) for one, other, _ in some] for some in by_pair])
        each = between([[sittings[side].known for sittings in some] for some in by_pair for side in (0, 1)])
        if found is not None and each is not None:
            print(
                f"\nquotients of two candidates, {kind} a profile: {found.comparisons} in {found.sittings} sittings, "
                f"spread {_in_per_cent(found)}, {100 * each.sd:.2f} % of their ratios to the baseline"
            )


def print_loads(every: Starts, design: str) -> None:
    """How much of the spread between sittings two loads share."""
    found = of_loads(every, design)
    if found is not None:
        apart, each = found
        print(
            f"\ntwo loads of the same builds, with a profile: {apart.comparisons} pairs in {apart.sittings} sittings, "
            f"their difference {_in_per_cent(apart)}, each by itself {100 * each.sd:.2f} %: "
            f"{100 * (1 - apart.sd**2 / (2 * each.sd**2)):.0f} % of the variance is common"
        )


def of_loads(starts: Starts, design: str) -> tuple[Between, Between] | None:
    """The spread between sittings of the difference of two loads, and of each: of builds with a profile; None if
    unknown."""
    grouped: dict[Key, list[list[Start]]] = {}
    for (base, candidate, _, *rest), (_, some) in starts.items():
        if design in rest and some[0].profiled and abs(statistics.fmean(one.reading for one in some)) < LARGE:
            grouped.setdefault((base, candidate, *rest), []).append(some)
    every = [list(_shared(*both)) for loads in grouped.values() for both in itertools.combinations(loads, 2)]
    pairs = [some for some in every if len(some) > 1]
    apart = between([[_quotient(*both) for both in some] for some in pairs])
    each = between([[both[side].known for both in some] for some in pairs for side in (0, 1)])
    return (apart, each) if apart is not None and each is not None and each.sd > 0.0 else None


def _shared(one: Sequence[Start], other: Sequence[Start]) -> Iterable[tuple[Sitting, Sitting]]:
    """The sittings in which both have two starts and more, by the starts of both together."""
    ordered = sorted(((start, side) for side, some in enumerate((one, other)) for start in some), key=_ended)
    found: dict[int, tuple[Sitting, Sitting]] = {}
    for number, (start, side) in zip(sittings_of([start.moment for start, _ in ordered]), ordered, strict=True):
        found.setdefault(number, (Sitting(), Sitting()))[side].starts.append(start)
    return [both for both in found.values() if all(len(sitting.starts) > 1 for sitting in both)]


def _ended(start: tuple[Start, int]) -> float:
    return start[0].moment.ended


def _quotient(one: Sitting, other: Sitting) -> Known:
    return Known(one.known.mean - other.known.mean, one.known.variance + other.known.variance)


def _deviations(one: Comparison) -> list[tuple[float, float]]:
    """(log of the baseline's cost, size of the effect) of each sitting, less their means."""
    costs = [math.log(sitting.cost) for sitting in one.sittings]
    sizes = [math.copysign(1.0, one.effect) * sitting.known.mean for sitting in one.sittings]
    means = statistics.fmean(costs), statistics.fmean(sizes)
    return [(cost - means[0], size - means[1]) for cost, size in zip(costs, sizes, strict=True)]


def _slope(deviations: Sequence[Sequence[tuple[float, float]]]) -> float:
    pairs = list(itertools.chain.from_iterable(deviations))
    squares = sum(x * x for x, _ in pairs)
    return sum(x * y for x, y in pairs) / squares if squares else 0.0


Assumes = Callable[[Comparison], Spread]


def of_others(every: Sequence[Comparison]) -> Assumes:
    """For a comparison, the spread of all others of its kind; with too few, that which reports assume."""

    def assumed(one: Comparison) -> Spread:
        others = spread([other for other in every if other.key[:2] != one.key[:2] and other.kind == one.kind])
        return Spread(others.sd, others.df, "") if others is not None and others.df >= ENOUGH else of_reports(one)

    return assumed


def of_reports(one: Comparison) -> Spread:
    """The spread that reports assume of a comparison."""
    return spread_for(shipped("mariadb"), one.kind)


def print_validity(every: Sequence[Comparison]) -> None:
    """Whether intervals of single sittings contain the others' mean, and how many pairs of sittings differ."""
    kinds = [
        ("all", every),
        ("with a profile", [one for one in every if one.profiled]),
        ("without", [one for one in every if not one.profiled]),
    ]
    for title, assumes in (("other builds of its kind", of_others(every)), ("its kind as shipped", of_reports)):
        spreads = {one.key: assumes(one) for one in every}
        for kind, some in kinds:
            if some:
                _print_validity(f"{kind}, spread of {title}", some, spreads)
    plain = sum(_differ(one, 0.0, None) for one in every)
    pairs = sum(math.comb(len(one.sittings), 2) for one in every)
    print(f"\npairs of sittings that differ at p < 5 % by their starts alone: {plain} of {pairs}")


def print_one_spread(every: Sequence[Comparison], sd: float, sets: int, seed: int) -> None:
    """Whether one spread could be that of each kind."""
    spread = Spread(sd, shipped("mariadb").profiled.df, "")
    profiled = [one for one in every if one.profiled]
    for title, some in (("with a profile", profiled), ("without", [one for one in every if not one.profiled])):
        if some:
            q, df = squares(some, sd)
            as_well, as_much = float(scipy.stats.chi2.cdf(q, df)), float(scipy.stats.chi2.sf(q, df))
            print(
                f"\n{title}, if the spread is {100 * sd:.2f} %: sittings that agree as well p = {as_well:.2g}, that "
                f"differ as much p = {as_much:.2g} (Q = {q:.1f}, {df} degrees of freedom)"
            )
            _print_validity(f"{title}, spread of {100 * sd:.2f} %", some, {one.key: spread for one in some})
    if sets and profiled:
        random, here = np.random.default_rng(seed), holding(profiled)
        fewer = sum(holding(drawn(profiled, sd, random)) <= here for _ in range(sets))
        print(
            f"\nwith a profile, spread of other builds of its kind: {here} or fewer intervals hold in {fewer} of "
            f"{sets} drawn sets ({100 * fewer / sets:.0f} %)"
        )


def squares(some: Sequence[Comparison], sd: float) -> tuple[float, int]:
    """Q of these comparisons' sittings for a spread between them, and its degrees of freedom."""
    total, df = 0.0, 0
    for one in some:
        means = np.array([sitting.known.mean for sitting in one.sittings])
        weights = 1.0 / np.array([sitting.known.variance + sd**2 for sitting in one.sittings])
        total += float((weights * (means - np.average(means, weights=weights)) ** 2).sum())
        df += len(one.sittings) - 1
    return total, df


def drawn(some: Sequence[Comparison], sd: float, random: np.random.Generator) -> list[Comparison]:
    """The same comparisons with sittings that are drawn: this spread between them, the recorded one of their starts."""

    def sitting(recorded: Sitting) -> Sitting:
        spread_of_starts = math.sqrt(recorded.known.variance * len(recorded.starts))
        readings = random.normal(random.normal(0.0, sd), spread_of_starts, len(recorded.starts))
        pairs = zip(recorded.starts, readings, strict=True)
        return Sitting([replace(start, reading=float(reading)) for start, reading in pairs])

    return [replace(one, sittings=[sitting(recorded) for recorded in one.sittings]) for one in some]


def holding(some: Sequence[Comparison]) -> int:
    """How many intervals of single sittings, with the spread of other builds, contain the mean of the others."""
    assumes = of_others(some)
    return sum(len(_held(one, assumes(one))) for one in some)


def _held(one: Comparison, assumed: Spread) -> list[int]:
    """The sittings of which the interval contains the mean of the others."""
    held, known = [], [sitting.known for sitting in one.sittings]
    for index, (single, sitting) in enumerate(zip(known, one.sittings, strict=True)):
        rest = [value.mean for place, value in enumerate(known) if place != index]
        if abs(single.mean - statistics.fmean(rest)) <= _half(sitting, assumed):
            held.append(index)
    return held


def _half(sitting: Sitting, assumed: Spread) -> float:
    """Half-width of a single sitting's 95 % interval."""
    own = float(scipy.stats.t.ppf(0.975, len(sitting.starts) - 1)) * math.sqrt(sitting.known.variance)
    return math.hypot(own, spread_half(assumed, 0.025, 1))


def _print_validity(title: str, some: Sequence[Comparison], spreads: Mapping[Key, Spread]) -> None:
    held, trials, differ, pairs, expected = 0, 0, 0, 0, 0.0
    for one in some:
        assumed = spreads[one.key]
        known = [sitting.known for sitting in one.sittings]
        held += len(_held(one, assumed))
        trials += len(known)
        for index, (single, sitting) in enumerate(zip(known, one.sittings, strict=True)):
            rest = [value.mean for place, value in enumerate(known) if place != index]
            # The others' mean has errors of its own, so that it is missed more often than the mean of all sittings.
            noise = single.variance + sum(other.variance for other in known if other is not single) / len(rest) ** 2
            error = math.sqrt(noise + assumed.sd**2 * (1 + 1 / len(rest)))
            expected += 1 - 2 * float(scipy.stats.norm.sf(_half(sitting, assumed) / error))
        differ += _differ(one, assumed.sd, assumed.df)
        pairs += math.comb(len(known), 2)
    low, high = scipy.stats.binomtest(held, trials).proportion_ci()
    share = f"{100 * held / trials:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"
    print(
        f"\n{title}: {held} of {trials} intervals of single sittings ({share}) contain the mean of the others, where "
        f"{expected:.1f} ({100 * expected / trials:.0f} %) are expected to if the spread is right (one or few others "
        f"have errors of their own); {differ} of {pairs} pairs of sittings differ at p < 5 %"
    )


def _differ(one: Comparison, sd: float, df: float | None) -> int:
    """How many pairs of its sittings differ at p < 5 %; without degrees of freedom, by those of their starts."""
    count = 0
    for first, second in itertools.combinations(one.sittings, 2):
        noise = first.known.variance + second.known.variance
        t = abs(first.known.mean - second.known.mean) / math.sqrt(noise + 2 * sd**2)
        count += 2 * scipy.stats.t.sf(t, df or len(first.starts) + len(second.starts) - 2) < 0.05
    return count


def main(words: list[str]) -> int:
    """Prints the tables; ends with 1 if no comparison has the sittings asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path)
    parser.add_argument("--design", default="duet")
    parser.add_argument("--quantity", default="capacity")
    parser.add_argument("--fewest", type=int, default=2, metavar="N", help="only comparisons of so many sittings")
    parser.add_argument("--hours", type=float, default=0.0, help="only comparisons over so many hours")
    parser.add_argument("--without", default="", metavar="LOAD", help="leave out a load")
    parser.add_argument("--of", type=Path, metavar="RECORD", help="one of the records, by itself")
    parser.add_argument("--one-spread", type=float, metavar="PERCENT", help="could it be that of each kind?")
    parser.add_argument("--sets", type=int, default=0, help="with --one-spread: number of sets of sittings to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print every comparison too")
    arguments = parser.parse_args(words)
    starts = starts_of(arguments.records, arguments.quantity)
    found = comparisons(starts, arguments.design)
    # Keys begin with the two builds, then the load.
    every = [one for one in found if one.key[2].partition(":")[0] != arguments.without]
    if every:
        print_extent(every)
    every = [one for one in every if len(one.sittings) >= arguments.fewest and one.hours >= arguments.hours]
    if not every:
        print(f"no comparison has {arguments.fewest} sittings over {arguments.hours:g} h")
        return 1
    if arguments.list:
        for one in sorted(every, key=lambda one: one.name):
            means = ", ".join(f"{100 * s.known.mean:+.2f} ({len(s.starts)})" for s in one.sittings)
            print(f"{one.name}: {means}")
        print()
    print_spreads(every)
    print_covariate(every)
    print_within(every)
    if arguments.of is not None:
        print_record(every, arguments.of, arguments.quantity)
    print_rivals(starts, arguments.design)
    print_loads(starts, arguments.design)
    print_validity(every)
    if arguments.one_spread is not None:
        print_one_spread(every, arguments.one_spread / 100, arguments.sets, arguments.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
