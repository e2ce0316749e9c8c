"""The table of means over loads: a line for each candidate, and one for the winner's fresh starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.model.quantity import BY_NAME
from burnish.report.analysis.loads import over_loads
from burnish.report.analysis.placed import WITH
from burnish.report.compose import grid, section
from burnish.report.document import Section
from burnish.report.words import interval

if TYPE_CHECKING:
    from burnish.report.result import Result


def sections(result: Result) -> list[Section]:
    """The table; empty where there are too few loads for a mean."""
    found = over_loads(result)
    if not found:
        return []
    names = list(dict.fromkeys(name for mean in found for name in mean.means))
    body = [
        [
            f"{mean.candidate}, {WITH.get(mean.placement, 'measured again')}" if mean.again else mean.candidate,
            *(interval(mean.means.get(name)) for name in names),
        ]
        for mean in found
    ]
    title = f"geometric mean of {found[0].loads} loads, ratios to {result.baseline}"
    return [section("means", title, grid("means", ["variant", *(BY_NAME[name].title for name in names)], body))]
