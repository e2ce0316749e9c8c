"""What a verdict on a recipe is not: two binaries that were linked once differ by their code layout too; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from burnish.statistics.replicates import layout_caveat

if TYPE_CHECKING:
    from burnish.report.bundled.table import Line
    from burnish.report.result import Result, Row
    from burnish.statistics.means import Ratio


def of_row(result: Result, row: Row) -> str | None:
    """The sentence that must stand beside a row's verdict; None where it is about more than two binaries, or large."""
    return _caveat(result, row.verdict, row.ratio, (result.baseline, row.candidate))


def of_line(result: Result, line: Line) -> str | None:
    """The same of a bundled study's line."""
    if line.control or line.base == line.candidate:
        return None
    return _caveat(result, line.together or line.verdict, line.interval, (line.base, line.candidate))


def _caveat(result: Result, verdict: str, ratio: Ratio | None, sides: Iterable[str]) -> str | None:
    """Of a proved difference between two recipes, each of which was linked once.

    Where a side was not built here, or is the other build under another condition, the verdict is about the binaries
    that were named.
    """
    built = {build.variant for build in result.builds if build.built}
    if verdict not in ("faster", "slower") or ratio is None or result.replicates or not built.issuperset(sides):
        return None
    return layout_caveat(ratio.ratio)
