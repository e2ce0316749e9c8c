"""The caveat about code layout: two binaries that were each linked once differ in their layout too; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from burnish.report.words import interval_words
from burnish.statistics.replicates import layout_caveat

if TYPE_CHECKING:
    from burnish.report.bundled.table import Line
    from burnish.report.result import Result, Row
    from burnish.statistics.means import Ratio


def of_row(result: Result, row: Row) -> str | None:
    """The caveat beside a row's verdict; None if it is about more than two binaries, or the effect is large."""
    if _again(result, row) is not None:
        return None
    return _caveat(result, row.verdict, row.ratio, (result.baseline, row.candidate))


def of_line(result: Result, line: Line) -> str | None:
    """The caveat beside a line of a bundled study; None as in `of_row`."""
    if line.control or line.base == line.candidate or line.relinked is not None:
        return None
    return _caveat(result, line.corrected, line.interval, (line.base, line.candidate))


def _again(result: Result, row: Row) -> Row | None:
    same = (one for one in result.relinked if (one.candidate, one.workload) == (row.candidate, row.workload))
    return next(same, None)


def row_again(result: Result, row: Row) -> str | None:
    """What other link orders of both sides have shown of a small difference; None if they were not measured."""
    again = _again(result, row)
    return None if again is None else _tested(again.verdict, again.ratio, again.starts)


def line_again(line: Line) -> str | None:
    """The same of a line of a bundled study."""
    again = line.relinked
    return None if again is None else _tested(again.verdict, again.interval, again.starts)


def _caveat(result: Result, verdict: str, ratio: Ratio | None, sides: Iterable[str]) -> str | None:
    """The caveat for a proved difference between two recipes, each of which was linked once.

    There is none if a side was not built here, or is the same build under another condition: then the verdict is about
    these binaries, not about recipes.
    """
    built = {build.variant for build in result.builds if build.built}
    if verdict not in ("faster", "slower") or ratio is None or result.replicates or not built.issuperset(sides):
        return None
    return layout_caveat(ratio.ratio)


def _tested(verdict: str, ratio: Ratio | None, layouts: int) -> str:
    about = f"{verdict}, {interval_words(ratio)}," if ratio is not None else f"{verdict}"
    again = f"measured again because so small a difference may be the code layout's: {about} with {layouts} link orders"
    if verdict in ("faster", "slower"):
        return f"{again} of both sides, so it is the recipe's"
    return f"{again} of both sides, so it may be about these two binaries only"
