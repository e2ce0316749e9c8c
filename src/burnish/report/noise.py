"""What A/A starts say, for a reader: canaries of a study, and the report of `calibrate`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.report.summary import Row, Summary, interval_words
from burnish.statistics.calibration import FAILING_LEVEL, Calibration, from_dict, minutes_for, recommended

TABLE = ("load, design", "A/A", "sd start", "sd pair", "1 min", "5 min", "20 min", "pairs", "±")
"""Head of the table of a calibration; the minutes' columns hold the smallest difference that is found in them."""

WIDTHS = (0.01, 0.005, 0.0025)

CANARY_SUSPECT = 3.0
"""Canaries whose spread about 1 exceeds the calibrated one so many times are pointed at."""


def canary_lines(summary: Summary) -> list[str]:
    """What the A/A starts within a study say."""
    lines = []
    known = {each["workload"]: from_dict(dict(each)) for each in summary.contest.get("calibrations", ())}
    for canary in summary.canaries:
        ratios = ", ".join(f"{ratio:.3f}" for ratio in canary.ratios) or "none valid"
        text = f"canaries ({summary.baseline} against itself) on {canary.workload}: {ratios}"
        calibration = known.get(canary.workload)
        if calibration is not None and canary.ratios:
            sd = calibration.quantity.sd_reading
            worst = max(abs(ratio - 1) for ratio in canary.ratios)
            text += f"; calibrated spread {sd:.2%}"
            if worst > CANARY_SUSPECT * sd:
                text += ": NOISIER THAN CALIBRATED, calibrate again"
        lines.append(text)
    return lines


def table(calibrations: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Rows of `TABLE`."""
    return [_row(from_dict(dict(each))) for each in calibrations]


def _row(each: Calibration) -> tuple[str, ...]:
    q = each.quantity
    return (
        f"{each.workload}, {each.design}",
        f"{q.ratio:.3f}{'' if each.passes else ' FAILS'}",
        f"{q.sd_start:.2%}",
        f"{q.sd_pair:.2%}",
        *(f"{ratio - 1:.1%}" for _, ratio in each.differences),
        str(each.best_pairs),
        f"{each.delta:.2%}",
    )


def advice(summary: Summary) -> list[str]:
    """What to do with the table: design, minutes to a precision, whether verdicts can be given, dilution."""
    every = [from_dict(dict(each)) for each in summary.calibrations]
    legend = (
        "A/A: the baseline against itself; the minutes' columns: the smallest difference that is found in so much "
        "bench time, four times in five; pairs: best number in a start; ±: the δ that equivalence can be shown for"
    )
    lines = [legend]
    for workload in dict.fromkeys(each.workload for each in every):
        mine = [each for each in every if each.workload == workload]
        best = recommended(mine)
        minutes = ", ".join(_time_for(best, width) for width in WIDTHS)
        lines.append(f"{workload}: take {best.design} with {best.best_pairs} pairs; {best.headline} to {minutes}")
        for each in mine:
            other = "throughput" if each.headline == "capacity" else "capacity"
            q = each.throughput if each.headline == "capacity" else each.capacity
            lines.append(
                f"{workload}, {each.design}: verdicts are about {each.headline}; {other} has sd {q.sd_start:.2%} "
                f"between starts, {q.sd_pair:.2%} between pairs"
            )
            if not each.passes:
                lines.append(
                    f"{workload}, {each.design}: FAILS ({each.words}, level {FAILING_LEVEL:.0%}): no verdicts on this "
                    "host but by --force; `burnish doctor` names what may disturb it"
                )
    return lines + dilution([row for row in summary.confirmations if row.candidate == "known-different"])


def _time_for(best: Calibration, width: float) -> str:
    minutes = minutes_for(best, width)
    return f"±{width:.2%} in {minutes:.1f} min" if math.isfinite(minutes) else f"±{width:.2%} never"


def dilution(rows: Sequence[Row]) -> list[str]:
    """What the duet makes of a known difference that solo shows."""
    by = {row.design: row for row in rows}
    if "duet" not in by or "solo" not in by:
        return []
    duet, solo = by["duet"], by["solo"]
    parts = []
    for name in ("throughput", "capacity"):
        one, two = getattr(duet, name), getattr(solo, name)
        if one and two:
            parts.append(f"{name} {interval_words(one)} in the duet, {interval_words(two)} solo")
    return [f"known difference on {duet.workload}: {'; '.join(parts)}"] if parts else []
