"""What `calibrate` found: the noise of each load under each design, and what to do; then a run's own A/A starts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from burnish.report.analysis import outcome
from burnish.report.compose import grid, points
from burnish.report.document import Section
from burnish.report.words import interval_words, percent, plural
from burnish.statistics.calibration import FAILING_LEVEL, Calibration, from_dict, minutes_for, recommended

if TYPE_CHECKING:
    from burnish.report.result import Result, Row

TABLE = ("load, design", "A/A", "sd start", "sd pair", "1 min", "5 min", "20 min", "pairs", "±")
"""Column titles of a calibration; a column of minutes holds the smallest difference detected in that time."""

_DROPPED = ("sd pair", "sd start", "20 min", "1 min", "pairs", "±")

_DESIGN_WORDS = (("duet", "in the duet"), ("solo", "solo"))
"""Designs under which a known difference is measured, each with its words in a sentence."""

WIDTHS = (0.01, 0.005, 0.0025)

CANARY_SUSPECT = 3.0
"""A canary that deviates from 1 by more than this many calibrated standard deviations is reported as noisy."""


def sections(result: Result) -> list[Section]:
    """The table, followed by what it means; one line where nothing is calibrated."""
    if not result.calibrations:
        return [Section("advice", (points(_without(result)),))]
    rows = (_row(from_dict(dict(recorded))) for recorded in result.calibrations)
    return [
        Section("calibration", (grid("calibration", TABLE, rows, drop=_DROPPED),)),
        Section("advice", (points(advice(result)),), joined=True),
    ]


def _without(result: Result) -> list[str]:
    """Why there is no table."""
    if result.nothing_measured:
        return [outcome.sentence(result)]
    return ["Not finished: no load is calibrated yet; the same command resumes."]


def _row(calibration: Calibration) -> tuple[str, ...]:
    q = calibration.quantity
    return (
        f"{calibration.workload}, {calibration.way}",
        f"{q.ratio:.3f}{'' if calibration.passes else ' FAILS'}",
        percent(q.sd_start, 2),
        percent(q.sd_pair, 2),
        *(percent(ratio - 1, 1) for _, ratio in calibration.differences),
        str(calibration.best_pairs),
        percent(calibration.delta, 2),
    )


def advice(result: Result) -> list[str]:
    """What to do with the table: design, minutes to a precision, whether verdicts can be given, dilution."""
    calibrations = [from_dict(dict(recorded)) for recorded in result.calibrations]
    legend = (
        "A/A: the baseline against itself; 1, 5, 20 min: the smallest difference that is detected in that much bench "
        "time with a probability of 80 %; pairs: the best number per start; ±: the δ that equivalence can be shown for"
    )
    lines = [legend]
    for workload in dict.fromkeys(calibration.workload for calibration in calibrations):
        designs = [calibration for calibration in calibrations if calibration.workload == workload]
        lines.append(_use(designs))
        lines += [line for calibration in designs for line in _of_design(calibration)]
    return lines + dilution([row for row in result.confirmations if row.candidate == "known-different"])


def uses(result: Result) -> list[str]:
    """Which design to use on each load, and how long a precision takes with it."""
    calibrations = [from_dict(dict(recorded)) for recorded in result.calibrations]
    loads = dict.fromkeys(calibration.workload for calibration in calibrations)
    return [_use([calibration for calibration in calibrations if calibration.workload == load]) for load in loads]


def _use(designs: Sequence[Calibration]) -> str:
    best = recommended(designs)
    minutes = ", ".join(_time_for(best, width) for width in WIDTHS)
    pairs = plural(best.best_pairs, "pair")
    return f"{best.workload}: use {best.way} with {pairs}; {best.headline} to {minutes}"


def _of_design(calibration: Calibration) -> list[str]:
    """What verdicts under one design are about, and whether any can be given."""
    other = "throughput" if calibration.headline == "capacity" else "capacity"
    q = calibration.throughput if calibration.headline == "capacity" else calibration.capacity
    about = (
        f"{calibration.workload}, {calibration.way}: verdicts are about {calibration.headline}; {other} has sd "
        f"{percent(q.sd_start, 2)} between starts, {percent(q.sd_pair, 2)} between pairs"
    )
    if calibration.passes:
        return [about]
    fails = (
        f"{calibration.workload}, {calibration.way}: FAILS ({calibration.words}, level "
        f"{percent(FAILING_LEVEL)}): no verdicts on this host without --force; `burnish doctor` names "
        "what may disturb it"
    )
    return [about, fails]


def _time_for(best: Calibration, width: float) -> str:
    minutes = minutes_for(best, width)
    return f"±{100 * width:g} % " + (f"in {minutes:.1f} min" if math.isfinite(minutes) else "never")


def dilution(rows: Sequence[Row]) -> list[str]:
    """The known difference as measured under each design: a duet dilutes what solo shows."""
    by_design = {row.design: row for row in rows}
    shown = [(by_design[design], words) for design, words in _DESIGN_WORDS if design in by_design]
    parts = []
    for name in ("throughput", "capacity"):
        intervals = [(row.of(name), words) for row, words in shown]
        figures = [f"{interval_words(interval)} {words}" for interval, words in intervals if interval is not None]
        if figures and len(figures) == len(intervals):
            parts.append(f"{name} {', '.join(figures)}")
    return [f"known difference on {shown[0][0].workload}: {'; '.join(parts)}"] if parts else []


def canary_lines(result: Result) -> list[str]:
    """A line for each load: the baseline against itself, beside the host's calibration."""
    lines = []
    known = {recorded["workload"]: from_dict(dict(recorded)) for recorded in result.contest.get("calibrations", ())}
    for canary in result.canaries:
        ratios = ", ".join(f"{ratio:.3f}" for ratio in canary.ratios) or "none valid"
        text = f"noise ({result.baseline} against itself) on {canary.workload}: {ratios}"
        calibration = known.get(canary.workload)
        if calibration is not None and canary.ratios:
            sd = calibration.quantity.sd_reading
            worst = max(abs(ratio - 1) for ratio in canary.ratios)
            text += f"; calibrated spread {percent(sd, 2)}"
            if worst > CANARY_SUSPECT * sd:
                text += ": NOISIER THAN CALIBRATED, calibrate again"
        lines.append(text)
    return lines
