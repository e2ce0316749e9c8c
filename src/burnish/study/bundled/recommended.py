"""Which rows of a bundled study a recommendation can be made from; pure."""

from __future__ import annotations

from burnish.record.events.bundled import PlannedComparison, TablePlanned


def over_baseline(table: TablePlanned) -> dict[str, dict[str, list[str]]]:
    """By series and row, the keys of the comparisons that a recommendation is made from.

    These compare with the series' baseline. Left out: a row that is compared with another row's build; a control, which
    is the baseline itself; and a release binary, which was not built here.
    """
    keys: dict[str, dict[str, list[str]]] = {}
    controls = {
        comparison.id.row for comparison in table.comparisons if comparison.control and _is_baseline(comparison)
    }
    for comparison in table.comparisons:
        built = comparison.candidate in table.builds
        if built and comparison.cell is not None and comparison.id.row not in controls and _is_baseline(comparison):
            keys.setdefault(comparison.id.series, {}).setdefault(comparison.id.row, []).append(comparison.id.key)
    return keys


def _is_baseline(comparison: PlannedComparison) -> bool:
    return comparison.base in ("baseline", f"{comparison.id.series}.baseline")
