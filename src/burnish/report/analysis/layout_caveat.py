"""The caveat about code layout: two binaries that were each linked once differ in their layout too; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from burnish.statistics.replicates import layout_caveat

if TYPE_CHECKING:
    from burnish.report.bundled.table import Line
    from burnish.report.result import Result, Row
    from burnish.statistics.means import Ratio


def of_row(result: Result, row: Row) -> str | None:
    """The caveat beside a row's verdict; None if it is about more than two binaries, or the effect is large."""
    return _caveat(result, row.verdict, row.ratio, (result.baseline, row.candidate))


def of_line(result: Result, line: Line) -> str | None:
    """The caveat beside a line of a bundled study; None as in `of_row`."""
    if line.control or line.base == line.candidate:
        return None
    return _caveat(result, line.together or line.verdict, line.interval, (line.base, line.candidate))


def _caveat(result: Result, verdict: str, ratio: Ratio | None, sides: Iterable[str]) -> str | None:
    """The caveat for a proved difference between two recipes, each of which was linked once.

    There is none if a side was not built here, or is the same build under another condition: then the verdict is about
    these binaries, not about recipes.
    """
    built = {build.variant for build in result.builds if build.built}
    if verdict not in ("faster", "slower") or ratio is None or result.replicates or not built.issuperset(sides):
        return None
    return layout_caveat(ratio.ratio)
