"""Forest plots: every ratio with both intervals, every start as a dot, the baseline against itself below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.model.quantity import BY_NAME
from burnish.report.analysis.verdict import delta_of
from burnish.report.compose import section
from burnish.report.document import Block, Figure, Paragraph, Section, Span
from burnish.report.page.cells import Shown, canary
from burnish.report.page.details import Details
from burnish.report.page.figures.shapes import Forest

if TYPE_CHECKING:
    from burnish.report.result import Result

MOST = 70
"""Rows of one plot; a group with more has several."""


def sections(result: Result, details: Details, cells: list[Shown]) -> list[Section]:
    """A plot for each load, or for each series and reading of a bundled study."""
    figures: list[Block] = []
    for (group, quantity), chosen in grouped(cells).items():
        for begin in range(0, len(chosen), MOST):
            part = chosen[begin : begin + MOST]
            loads = dict.fromkeys(cell.workload for cell in part)
            canaries = [row for load in loads if (row := canary(details, load, quantity, several=len(loads) > 1))]
            title = BY_NAME[quantity].title if quantity in BY_NAME else quantity
            rows = (*(cell.row for cell in part), *canaries[:MOST])
            name = f"{group}: {title} against {result.baseline}" if not result.shipped else f"{group}: {title}"
            figures.append(Figure(name, Forest(title, rows, delta_of(result.contest))))
    if not figures:
        return []
    what = (
        "Every dot is one start. The thin line is where the ratio lies in 95 % of other sittings on this kind of host "
        "(in 90 % where it is called equivalent), the thick one where it lies in this sitting. Right is better."
    )
    return [section("forest", "Every start", Paragraph(Span(what)), *figures)]


def grouped(cells: list[Shown]) -> dict[tuple[str, str], list[Shown]]:
    """The cells by group and quantity."""
    groups: dict[tuple[str, str], list[Shown]] = {}
    for cell in cells:
        groups.setdefault((cell.group, cell.quantity), []).append(cell)
    return groups
