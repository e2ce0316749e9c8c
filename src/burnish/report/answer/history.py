"""Speeds over versions and dates: a table for each variant on each load, in each placement."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.model.workload import Placement
from burnish.report.answer.points import Point, step
from burnish.report.compose import dropping, points, row, section
from burnish.report.document import Column, Document, Section, Table

_FIGURES = ("capacity", "change %", "per second", "p95 ms", "ratio")

_NOTE = (
    "capacity: transactions per second of server CPU; change: from the host's line before. "
    "Speeds drift from hour to hour (docs/BIAS.md); the ratio to the run's baseline was measured side by "
    "side"
)


def document(found: Sequence[Point]) -> Document:
    """The points, each series below its name, then what the columns mean."""
    if not found:
        return Document(
            "history", (Section("history", (points(["no run with speeds; `burnish runs` lists the runs"]),)),)
        )
    series: dict[str, list[Point]] = {}
    for point in found:
        series.setdefault(_title(point), []).append(point)
    tables = [section("history", title, _table(own)) for title, own in series.items()]
    return Document("history", (*tables, Section("notes", (points([_NOTE]),))))


def _title(point: Point) -> str:
    """What a table is of: variant and load, with placement and condition where they are not the usual ones."""
    placed = point.placement if point.placement != Placement.SHARED else ""
    return ", ".join(filter(None, (f"{point.engine}: {point.variant} on {point.load}", placed, point.condition)))


def _table(own: Sequence[Point]) -> Table:
    names = ("day", "version", *_FIGURES, "host")
    columns = (Column(name, right=name in _FIGURES, whole=name not in ("version", "host")) for name in names)
    rows = []
    before: dict[tuple[str, str, str], Point] = {}
    for point in own:
        change = step(before.get(point.like), point)
        rows.append(
            row(
                point.at[:10],
                point.version,
                _speed(point.capacity),
                "" if change is None else f"{100 * change:+.1f}",
                _speed(point.throughput),
                "-" if point.p95 is None else f"{point.p95:.3g}",
                f"{point.ratio:.3f}",
                point.host,
            )
        )
        before[point.like] = point
    return Table("history", dropping(columns, "host", "p95 ms", "per second"), tuple(rows))


def _speed(rate: float) -> str:
    """A rate in whole numbers; with three digits where these would hide what changed."""
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"
