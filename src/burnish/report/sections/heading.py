"""What was measured, where and how: the lines at the head of a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from burnish.model.condition import DISK, MEMORY
from burnish.model.workload import Placement
from burnish.report.analysis.placed import lines as lines_of
from burnish.report.compose import points
from burnish.report.document import Section
from burnish.report.words import plural

if TYPE_CHECKING:
    from burnish.report.result import Result
    from burnish.study.trials.repeated import Sitting


def section(result: Result) -> Section:
    """Run, source, host and method, one line each."""
    return Section("heading", (points(lines(result)),))


def lines(result: Result) -> list[str]:
    """The lines of the heading."""
    state = f"finished {result.ended}" if result.ended else "not finished"
    texts = [f"{result.name} ({state})", *(f"not complete: {one.words}" for one in result.pending)]
    texts.append(f"{result.engine}: {result.source}")
    if result.verb in ("tune", "patch"):
        texts.append(f"feature set {result.features} in every build, unless its row says otherwise")
    texts += [f"host: {result.host}", *(f"note: {note}" for note in result.notes)]
    if result.contest:
        texts += _method(result)
    return texts + [f"they differ: {line}" for line in result.differences]


def _method(result: Result) -> list[str]:
    """Design, cores, stopping rule and measured quantities, with a warning where the calibration failed."""
    rule = result.contest["rule"]
    aim = f", until ±{100 * rule['precision']:g} %" if rule["precision"] else ""
    placed = _placements(result)
    mixed = not placed or any(Placement(placement).mixed for placement in placed)
    sets = result.contest["core_sets"]
    whole = set(placed) == {Placement.WHOLE}
    cores = str(sorted({core for half in sets for core in half})) if whole else " | ".join(map(str, sets))
    starts = f"starts of {_times(result)}, at most {rule['cap']}{aim}"
    return [
        f"{_designs(result)} on cores {cores}: {starts}; 95 % intervals",
        *_sittings(result),
        *lines_of(placed),
        *_stored(result),
        "capacity: transactions per second of server CPU time; throughput: transactions per second"
        + (" (cores shared)" if mixed else ""),
        *(
            f"FORCED: this host's calibration failed for {name}; its verdicts cannot be relied on"
            for name in result.forced
        ),
    ]


_SAFE = {
    "commit": "flushed at each commit",
    "system": "in the operating system at each commit, flushed once a second",
    "second": "flushed once a second",
}
"""What a word of durability means."""


def _stored(result: Result) -> list[str]:
    """Where data that are changed are, and when a commit is safe, with the loads of each; empty for older records."""
    storages: Mapping[str, str] = result.contest.get("storages") or {}
    durability: Mapping[str, str] = result.contest.get("durability") or {}
    alike: dict[tuple[str, str], list[str]] = {}
    for load, place in storages.items():
        alike.setdefault((durability.get(load, ""), place), []).append(load)
    return [_of_storage(word, place, loads) for (word, place), loads in alike.items()]


def _of_storage(word: str, place: str, loads: list[str]) -> str:
    where = {
        MEMORY: "data in memory: no disk in the figures",
        DISK: "data on the disk of Burnish's home",
    }.get(place, f"data in {place}")
    safe = f"durability: {_SAFE.get(word, word)}; " if word else ""
    return f"{safe}{where} ({', '.join(loads)})"


def _sittings(result: Result) -> list[str]:
    """Which sittings there were, and what is assumed of others; empty while there is no verdict."""
    sittings = _of(result)
    if not sittings:
        return []
    counted = [sitting for sitting in sittings if sitting.assumed is None and sitting.heterogeneity is None]
    assumed = [sitting for sitting in sittings if sitting.assumed]
    texts = ["intervals are for another sitting on this kind of host; 'sitting' is the half-width within one sitting"]
    if assumed:
        count = max(sitting.sittings for sitting in assumed)
        texts.append(
            f"{plural(count, 'sitting')}: that sittings differ by {_assumed(assumed)}; --sittings 3 measures it"
        )
    if any(sitting.contrary for sitting in sittings):
        texts.append("of cells whose two sittings contradict one another, the interval has both")
    if several := [sitting.sittings for sitting in counted if not sitting.contrary]:
        texts.append(f"{plural(max(several), 'sitting')}, each of which counts once")
    return texts


def _assumed(sittings: Sequence[Sitting]) -> str:
    """How far sittings are assumed to differ and where that is from, for each kind of comparison, the largest first."""
    by_source = {sitting.source: sitting.assumed or 0.0 for sitting in sittings}
    (source, largest), *others = sorted(by_source.items(), key=lambda item: -item[1])
    texts = [f"±{_percent(largest)} (one standard deviation) is taken from {source}"]
    return ", ".join(texts + [f"±{_percent(spread)} from {source}" for source, spread in others])


def _percent(spread: float) -> str:
    return f"{100 * math.expm1(spread):.2g} %"


def _of(result: Result) -> list[Sitting]:
    """What is known of the sittings of every cell."""
    cells = [row.sitting for row in (*result.rows, *result.confirmations)]
    cells += [line.sitting for line in result.shipped.lines] if result.shipped else []
    return [sitting for sitting in cells if sitting is not None]


def _placements(result: Result) -> dict[str, list[str]]:
    """By placement, the loads (of a bundled study the rows) that were measured in it; empty for older records."""
    by_load: Mapping[str, str] = result.contest.get("placements") or {}
    placed = [(line.row, line.placement) for line in result.shipped.lines] if result.shipped else by_load.items()
    by_placement: dict[str, list[str]] = {}
    for name, placement in placed if by_load else ():
        if placement:
            by_placement.setdefault(placement, []).append(name)
    return by_placement


def _times(result: Result) -> str:
    """Pairs and turns of a start, for each design if they differ."""
    times: Mapping[str, Mapping[str, Any]] = result.contest["timings"]
    words = {
        design: f"{plural(timing['pairs'], 'pair')} of {timing['turns']} x {timing['window']:g} s"
        for design, timing in times.items()
    }
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return ", ".join(f"{text} ({design})" for design, text in sorted(words.items()))


def _designs(result: Result) -> str:
    """The design; if there are several, which workload has which."""
    designs: Mapping[str, str] = result.contest["designs"]
    kinds = sorted(set(designs.values()))
    if len(kinds) <= 1:
        return kinds[0] if kinds else str(result.definition.get("design") or "duet")
    return "; ".join(
        f"{kind} ({', '.join(name for name, design in designs.items() if design == kind)})" for kind in kinds
    )
