"""The speed of an engine over versions and dates, from the results of many runs; pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burnish.model.workload import Placement
from burnish.report.analysis.placed import to_quote
from burnish.report.answer import headed

if TYPE_CHECKING:
    from burnish.record.events.verdicts import SideSummary
    from burnish.report.result import Result


@dataclass(frozen=True)
class Point:
    """One variant on one load in one run.

    Attributes:
        at: when the run ended, or began if it is not finished; ISO 8601 UTC.
        run: its name.
        engine: the engine's name.
        version: of the source, or of an existing program, as it says itself.
        variant: the build or program.
        load: the load.
        host: the host, short.
        placement: which cores servers and clients had; speeds of two placements cannot be compared.
        capacity: transactions per second of server CPU time.
        throughput: transactions per second.
        p95: 95th percentile of the response time in milliseconds; None if it is not known.
        ratio: of the headline quantity to the run's baseline; 1 for the baseline itself.
        condition: the run's settings (`--set` and others that differ from the usual ones) in words; '' for the usual
            ones. Speeds under two conditions cannot be compared.
    """

    at: str
    run: str
    engine: str
    version: str
    variant: str
    load: str
    host: str
    placement: str
    capacity: float
    throughput: float
    p95: float | None
    ratio: float
    condition: str = ""

    @property
    def series(self) -> str:
        """What it is a point of: the variant on the load, in its placement and condition where not the usual ones."""
        placed = f"@{self.placement}" if self.placement != Placement.SHARED else ""
        return f"{self.variant}@{self.load}{placed}{f'@{self.condition}' if self.condition else ''}"

    @property
    def like(self) -> tuple[str, str, str]:
        """What is the same where two speeds can be compared: host, placement, condition."""
        return self.host, self.placement, self.condition


def points(results: Iterable[Result], which: str | None = None) -> list[Point]:
    """The points of these runs, the oldest first.

    Args:
        results: runs that compare builds or programs; others have no points.
        which: an engine's name, or the beginning of a package's; None: all.
    """
    found = [point for result in results if _is_of(result, which) for point in _of(result)]
    return sorted(found, key=lambda point: (point.at, point.run))


def _is_of(result: Result, which: str | None) -> bool:
    return which is None or result.engine == which or headed.source(result).startswith(which)


def _of(result: Result) -> list[Point]:
    if result.patched is not None or result.shipped is not None:
        return []  # their rows are about one change each, and their baselines differ
    found: list[Point] = []
    bases: dict[tuple[str, str], list[SideSummary]] = {}
    for row in to_quote(result):
        base, own = row.sides.get(result.baseline), row.sides.get(row.candidate)
        if base is None or own is None or row.ratio is None:
            continue
        bases.setdefault((row.workload, row.placement), []).append(base)
        found.append(_point(result, row.candidate, row.workload, row.placement, [own], row.ratio.ratio))
    return [
        *(_point(result, result.baseline, load, where, sides, 1.0) for (load, where), sides in bases.items()),
        *found,
    ]


def _point(
    result: Result, variant: str, load: str, placement: str, sides: Sequence[SideSummary], ratio: float
) -> Point:
    """A point from the side's summaries, of which the baseline has one for each candidate."""
    latencies = [side.latency["p95"] for side in sides if "p95" in side.latency]
    cpu = statistics.median(side.server_cpu_per_transaction for side in sides)
    return Point(
        at=result.ended or result.begun,
        run=result.name,
        engine=result.engine,
        version=_version(result, variant),
        variant=variant,
        load=load,
        host=headed.host(result.host),
        placement=placement,
        capacity=1.0 / cpu if cpu > 0 else 0.0,
        throughput=statistics.median(side.throughput for side in sides),
        p95=1e3 * statistics.median(latencies) if latencies else None,
        ratio=ratio,
        condition=", ".join(sorted(result.definition.get("conditions") or ())),
    )


def _version(result: Result, variant: str) -> str:
    """The version of what was built, or of an existing program, without its build ID."""
    build = next((build for build in result.builds if build.variant == variant), None)
    if build is not None and not build.built and build.identity:
        return build.identity.split()[0]
    words = headed.source(result).split()
    package = len(words) > 1 and words[1][0].isdigit()  # after the package's name
    return words[1] if package else headed.source(result)


def step(before: Point | None, now: Point) -> float | None:
    """The change of capacity from the point before, as a share; None if the two cannot be compared."""
    if before is None or not before.capacity or before.like != now.like:
        return None
    return now.capacity / before.capacity - 1.0
