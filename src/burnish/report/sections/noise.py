"""What the A/A starts within a run say of its noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.report.words import percent
from burnish.statistics.calibration import from_dict

if TYPE_CHECKING:
    from burnish.report.result import Result

CANARY_SUSPECT = 3.0
"""A canary that deviates from 1 by more than this many calibrated standard deviations is reported as noisy."""


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
