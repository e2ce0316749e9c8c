"""Which rows of a bundled study a recommendation can be made of; pure."""

from __future__ import annotations

from burnish.record.events.bundled import PlannedComparison, TablePlanned


def over_baseline(table: TablePlanned) -> dict[str, dict[str, list[str]]]:
    """By series and row, the keys of what is compared with the series' baseline: what a recommendation is made of.

    A row that is compared with another row's build says nothing of the baseline, a control is the baseline itself, and
    a program that was not built here is none to build with.
    """
    found: dict[str, dict[str, list[str]]] = {}
    controls = {each.id.row for each in table.comparisons if each.control and _is_baseline(each)}
    for each in table.comparisons:
        built = each.candidate in table.builds
        if built and each.cell is not None and each.id.row not in controls and _is_baseline(each):
            found.setdefault(each.id.series, {}).setdefault(each.id.row, []).append(each.id.key)
    return found


def _is_baseline(each: PlannedComparison) -> bool:
    return each.base in ("baseline", f"{each.id.series}.baseline")
