"""Points of a history as CSV for Apache Otava (formerly Hunter), which finds the dates at which a speed changed.

Its importer takes the columns that its configuration names: a time, attributes that are copied, metrics that must be
figures in every line. Lines of several series are told apart by the column ``branch`` (``--branch``), and a line
without a figure for a configured metric is refused: so each line has one variant on one load, and what is not known is
empty. A text that a spreadsheet would take for a formula gets an apostrophe before it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from burnish.report.answer.points import Point
from burnish.report.words import inert

COLUMNS = (
    "time", "branch", "run", "version", "engine", "variant", "load", "host", "placement", "condition",
    "capacity", "throughput", "p95_ms", "ratio",
)  # fmt: skip


def otava(points: Iterable[Point]) -> str:
    """The points with a head, the oldest first."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for point in points:
        about = (point.run, point.version, point.engine, point.variant, point.load, *point.like)
        texts = map(inert, (point.at, point.series, *about))
        p95 = "" if point.p95 is None else f"{point.p95:.6g}"
        figures = (f"{point.capacity:.6g}", f"{point.throughput:.6g}", p95, f"{point.ratio:.6g}")
        writer.writerow((*texts, *figures))
    return file.getvalue()
