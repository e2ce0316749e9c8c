"""What a cell's starts and pairs show beside its ratio: faults by side, totals beside trimmed figures, drift; pure.

Each of these is something that a ratio with its interval can hide (docs/BIAS.md): a build that hangs is measured by the
starts in which it did not, a build that stalls now and then by the turns in which it did not.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from burnish.bench.pairs import HANGS
from burnish.model.cell import CellId
from burnish.record.by_type import ByType
from burnish.record.events.trials import PairRead, SideReading, StartDone, TrialsPlanned
from burnish.record.events.verdicts import Interval, VerdictReached
from burnish.report.quantities import is_latency
from burnish.report.words import interval_words
from burnish.statistics.drift import Drift, drift
from burnish.statistics.hosts import HostCell
from burnish.statistics.replicates import by_replicate, replicate_readings
from burnish.statistics.sequential import Rule
from burnish.study.trials.findings import interval_of

FEWEST = 3
"""Faults of a record below which nothing is said about the side that most of them are of."""

WAITS = 0.03
"""Share of a side's time in which it waits for a device from which on a report says so."""

NARROWER = 0.75
"""Width of the interval over the faster half of turns, in that of the ratio's, up to which a report has it."""

CONCENTRATED = 0.75
"""Share of the faults from which on they concentrate on one side."""


@dataclass(frozen=True)
class Totals:
    """A ratio of totals: everything that a side did in a start's pairs by all the time that it took.

    Attributes:
        interval: geometric mean ratio over starts with its interval, by the verdict's rule at all starts together.
        trimmed: the ratio of the same starts as verdicts take it: medians of pairs, a pair by its middle rounds.
        differs: whether the two differ by more than the half-width of the trimmed ratio's interval.
    """

    interval: Interval
    trimmed: float
    differs: bool


@dataclass(frozen=True)
class Checks:
    """What a cell's starts show beside its ratio.

    Attributes:
        candidate: label of the candidate's side.
        at_fault: by side, number of its invalid starts whose reason is about that side.
        hung: by side, how many of these are because it hung.
        excluded: by side, number of excluded pairs in valid starts whose reason is about that side.
        totals: the headline's ratio of totals; None without pairs, or with one start.
        drift: change of the headline's ratio within starts; None with too few of several pairs.
        device: by side, the share of its time in which its server's cores waited for a device, 0 to 1; empty in older
            records.
        without_device: ratio of throughputs over the rest of the time, which the device can't move; None if less than
            `WAITS` of either side's time was waiting.
        faster: the headline's ratio over the faster half of each side's turns, which bursts of a server's own work
            can't move; None if its interval is not much narrower (`NARROWER`), or starts have none.
    """

    candidate: str = ""
    at_fault: Mapping[str, int] = field(default_factory=dict)
    hung: Mapping[str, int] = field(default_factory=dict)
    excluded: Mapping[str, int] = field(default_factory=dict)
    totals: Totals | None = None
    drift: Drift | None = None
    device: Mapping[str, float] = field(default_factory=dict)
    without_device: Interval | None = None
    faster: Interval | None = None


def checks_of(by: ByType) -> dict[CellId, Checks]:
    """The checks of every cell with starts; a cell without a verdict has faults only."""
    planned = by.last(TrialsPlanned)
    if planned is None:
        return {}
    verdicts = {verdict.cell: verdict for verdict in by.of(VerdictReached)}
    replicates = max((len(keys) for keys in planned.replicates.values()), default=0)
    done: dict[CellId, list[StartDone]] = {}
    for start in by.of(StartDone):
        done.setdefault(start.cell, []).append(start)
    pairs: dict[CellId, dict[int, list[PairRead]]] = {}
    for pair in by.of(PairRead):
        pairs.setdefault(pair.cell, {}).setdefault(pair.start, []).append(pair)
    rule = Rule(**asdict(planned.rule))
    found = {}
    for cell, starts in done.items():
        read = pairs.get(cell, {})
        checks = _faults(cell, starts, read)
        if (verdict := verdicts.get(cell)) is not None:
            valid = [start for start in starts if start.invalid is None and verdict.headline in start.readings]
            judged_by = Rule.fixed(max(2, len(valid)), delta=rule.delta) if cell.is_again else rule
            checks = replace(
                checks,
                totals=_totals(cell, verdict, valid, read, judged_by, replicates),
                drift=drift([_numbered(start, verdict.headline, read) for start in valid]),
                device=(waits := _waits(valid, read)),
                faster=_faster(cell, verdict.headline, valid, judged_by, replicates),
            )
            if max(waits.values(), default=0.0) >= WAITS:
                found_without = _totals(cell, verdict, valid, read, judged_by, replicates, cost=_working)
                checks = replace(checks, without_device=found_without.interval if found_without else None)
        found[cell] = checks
    return found


def named(reason: str, labels: Iterable[str]) -> tuple[str, ...]:
    """The sides that a recorded reason is about, by the labels in front of it; for records without the field.

    Args:
        reason: why a start or a pair is invalid.
        labels: the sides' labels.
    """
    if errors := re.match(r"errors under load \((.+?)\);", reason):
        return tuple(label for label in labels if re.search(rf"(?:^|, ){re.escape(label)}: \d", errors[1]))
    sides, rest = [], reason
    by_length = sorted(labels, key=len, reverse=True)  # the longer of two with the same beginning is meant
    while label := next((one for one in by_length if re.match(rf"{re.escape(one)}(?:, |: |'s | )", rest)), None):
        sides.append(label)
        rest = rest[len(label) :]
        if not rest.startswith(", "):
            break
        rest = rest.removeprefix(", ")
    return tuple(sides)


def sentences(checks: Checks) -> Iterator[str]:
    """What a reader should know of them; nothing where all is as it should be."""
    if checks.at_fault:
        hangs = f" (it hung: {_counted(checks.hung)})" if checks.hung else ""
        yield f"invalid starts by the side at fault: {_counted(checks.at_fault)}{hangs}"
    if sum(checks.excluded.values()) >= FEWEST:
        yield f"excluded pairs by the side at fault: {_counted(checks.excluded)}"
    if checks.totals is not None and checks.totals.differs:
        yield (
            f"by totals {interval_words(checks.totals.interval)}, where the same starts have "
            f"{checks.totals.trimmed:.3f} without their extreme turns and pairs: stalls or bursts of one side are "
            "not in the verdict (docs/BIAS.md)"
        )
    if checks.without_device is not None:
        shares = ", ".join(f"{label} {100 * share:.0f} %" for label, share in checks.device.items())
        yield (
            f"waited for the disk ({shares} of the time); throughput without that time "
            f"{interval_words(checks.without_device)}, which the disk can't move"
        )
    if checks.faster is not None:
        yield (
            f"over the faster half of each side's turns {interval_words(checks.faster)}, which bursts of a server's "
            "own work can't move; the slower half is in the verdict (docs/BIAS.md)"
        )
    if checks.drift is not None and checks.drift.matters:
        yield (
            f"within a start the ratio drifts by {100.0 * math.expm1(checks.drift.change):+.2g} % (p = "
            f"{checks.drift.p:.1g}): it depends on the number of pairs and the warm-up (docs/BIAS.md)"
        )


def concentration(cells: Iterable[Checks]) -> list[str]:
    """Sentences if the faults of a record concentrate on candidates or on what they are compared with.

    Args:
        cells: the checks of every claim, without those of a build against itself.
    """
    every = list(cells)
    told = []
    for what, sides in (
        ("hangs", [checks.hung for checks in every]),
        ("faults that made starts invalid", [checks.at_fault for checks in every]),
        ("faults that had pairs excluded", [checks.excluded for checks in every]),
    ):
        total = sum(sum(counts.values()) for counts in sides)
        candidates = sum(counts.get(checks.candidate, 0) for counts, checks in zip(sides, every, strict=True))
        most = max(candidates, total - candidates)
        if total >= FEWEST and most >= CONCENTRATED * total:
            whose = "candidates'" if most == candidates else "baselines'"
            told.append(f"{most} of {total} {what} are the {whose}, and not in the ratios (docs/BIAS.md)")
    return told


def _counted(sides: Mapping[str, int]) -> str:
    return ", ".join(f"{label} {count}" for label, count in sides.items())


def _faults(cell: CellId, starts: Sequence[StartDone], pairs: Mapping[int, Sequence[PairRead]]) -> Checks:
    seen = [label for of_start in pairs.values() for pair in of_start for label in pair.sides]
    labels = tuple(dict.fromkeys([*seen, cell.base or "baseline", cell.label]))
    at_fault: Counter[str] = Counter()
    hung: Counter[str] = Counter()
    excluded: Counter[str] = Counter()
    for start in starts:
        if start.invalid is not None:
            at_fault.update(sides := _sides(start, labels))
            hung.update(sides if start.invalid.endswith(HANGS) else ())
            continue
        for pair in pairs.get(start.start, ()):
            if pair.invalid is not None:
                excluded.update(_sides(pair, labels))
    return Checks(cell.label, dict(at_fault), dict(hung), dict(excluded))


def _sides(event: StartDone | PairRead, labels: Iterable[str]) -> Sequence[str]:
    """The sides that are at fault for an invalid start or pair."""
    return named(event.invalid or "", labels) if event.at_fault is None else event.at_fault


def _numbered(start: StartDone, headline: str, pairs: Mapping[int, Sequence[PairRead]]) -> list[tuple[int, float]]:
    """Number and log-ratio of a start's valid pairs."""
    ratios = (start.pair_ratios or {}).get(headline, ())
    numbers = [pair.pair for pair in pairs.get(start.start, ()) if pair.invalid is None]
    return list(zip(numbers if len(numbers) == len(ratios) else range(1, len(ratios) + 1), ratios, strict=True))


def _totals(
    cell: CellId,
    verdict: VerdictReached,
    starts: Sequence[StartDone],
    pairs: Mapping[int, Sequence[PairRead]],
    rule: Rule,
    replicates: int,
    cost: Callable[[SideReading], float] | None = None,
) -> Totals | None:
    if is_latency(verdict.headline):
        return None  # a percentile has no total
    found = []
    for start in starts:
        valid = [pair for pair in pairs.get(start.start, ()) if pair.invalid is None]
        if (total := _total(cell, cost or _cost(verdict.headline), valid)) is not None:
            found.append((start, total))
    cells = _beside(cell, verdict.headline, found, replicates)
    if cells is None:
        return None
    whole, trimmed = cells
    interval, known = interval_of(whole.judge(rule).difference), trimmed.judge(rule).difference
    if interval is None or known is None:
        return None
    return Totals(interval, known.ratio, abs(whole.mean - trimmed.mean) > known.half_width)


def _faster(cell: CellId, headline: str, starts: Sequence[StartDone], rule: Rule, replicates: int) -> Interval | None:
    """The ratio over the faster half of each side's turns, if its interval is much narrower than the headline's."""
    found = [(start, start.faster[headline]) for start in starts if start.faster and headline in start.faster]
    cells = _beside(cell, headline, found, replicates)
    if cells is None:
        return None
    faster, known = (one.judge(rule).difference for one in cells)
    if faster is None or known is None or faster.half_width > NARROWER * known.half_width:
        return None
    return interval_of(faster)


def _beside(
    cell: CellId, headline: str, found: Sequence[tuple[StartDone, float]], replicates: int
) -> tuple[HostCell, HostCell] | None:
    """Starts by another reading (a log-ratio) and by the headline's, by host; None without any."""
    by_host: dict[str, list[tuple[float, float]]] = {}
    for start, value in found:
        by_host.setdefault(start.origin.host if start.origin else "", []).append((value, start.readings[headline]))
    if not by_host:
        return None
    other, own = (
        HostCell(cell.name, {host: _readings([one[n] for one in read], replicates) for host, read in by_host.items()})
        for n in (0, 1)
    )
    return other, own


def _readings(readings: Sequence[float], replicates: int) -> Sequence[float]:
    """The readings, or one for each replicate."""
    return replicate_readings(by_replicate(readings, replicates)) if replicates > 1 else readings


def _waits(starts: Sequence[StartDone], pairs: Mapping[int, Sequence[PairRead]]) -> dict[str, float]:
    """By side, the share of the time of its valid pairs in which it waited for a device; empty if not recorded."""
    device: dict[str, float] = {}
    seconds: dict[str, float] = {}
    for start in starts:
        for pair in pairs.get(start.start, ()):
            for label, side in pair.sides.items():
                if pair.invalid is None and side.device is not None:
                    device[label] = device.get(label, 0.0) + side.device
                    seconds[label] = seconds.get(label, 0.0) + side.seconds
    return {label: device[label] / seconds[label] for label in seconds if seconds[label]}


def _cost(headline: str) -> Callable[[SideReading], float]:
    return (lambda side: side.server_cpu) if headline == "capacity" else (lambda side: side.seconds)


def _working(side: SideReading) -> float:
    """Seconds of a side's turns in which its server did not wait for a device."""
    return side.seconds - (side.device or 0.0)


def _total(cell: CellId, cost: Callable[[SideReading], float], pairs: Sequence[PairRead]) -> float | None:
    """Log-ratio of a start's totals of work by cost; None if a side has none."""
    labels = list(pairs[0].sides) if pairs else []
    if len(labels) != 2 or cell.label not in labels:
        return None
    base = next(label for label in labels if label != cell.label)
    own, other = ([pair.sides[label] for pair in pairs] for label in (cell.label, base))
    counted = all(side.steps > 0 for side in (*own, *other))
    rates = [_rate(sides, cost, counted=counted) for sides in (own, other)]
    return math.log(rates[0] / rates[1]) if min(rates) > 0 else None


def _rate(sides: Sequence[SideReading], cost: Callable[[SideReading], float], *, counted: bool) -> float:
    """Work of some pairs by its cost: in steps, if all have them."""
    spent = sum([cost(side) for side in sides])
    return sum([side.steps if counted else side.done for side in sides]) / spent if spent > 0 else 0.0
