"""How often verdicts and intervals are right, counted over simulated studies with a known true ratio.

The rows are decided by `sequential.decide`, the code that judges real studies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from burnish.statistics.boundaries import Floats
from burnish.statistics.sequential import CANARY_LIMIT, Outcome, Rule, decide


@dataclass(frozen=True)
class Rates:
    """Outcomes of many studies with the same true ratio, as shares of all studies.

    Attributes:
        faster: called faster.
        slower: called slower.
        equivalent: called equivalent.
        undecided: undecided at the cap.
        covered: printed interval (see `Judgement.interval`) contains the true ratio.
        within_three: decided after at most three starts.
        mean_starts: mean number of starts.
    """

    faster: float
    slower: float
    equivalent: float
    undecided: float
    covered: float
    within_three: float
    mean_starts: float

    @property
    def different(self) -> float:
        """Called faster or slower: false positives if the sides are equal."""
        return self.faster + self.slower


@dataclass(frozen=True)
class Calibration:
    """A simulated host's calibration, and the canaries that watch it.

    Attributes:
        starts: number of A/A starts in the calibration.
        sd: true standard deviation of a reading during the calibration (a log-ratio).
        canaries: number of A/A starts in the study; may be 0.
        sd_today: true standard deviation during the study.
    """

    starts: int
    sd: float
    canaries: int
    sd_today: float

    def draw(self, rng: np.random.Generator, studies: int) -> Floats:
        """Calibrated standard deviations, shape (studies,), NaN where the canaries switch the fast lane off."""
        measured = self.sd * np.sqrt(rng.chisquare(self.starts - 1, studies) / (self.starts - 1))
        if self.canaries < 2:
            return measured
        # About 0, which is the true mean of A/A starts: as many degrees of freedom as canaries.
        seen = self.sd_today * np.sqrt(rng.chisquare(self.canaries, studies) / self.canaries)
        return np.where(seen > CANARY_LIMIT * measured, np.nan, measured)


def rates(
    readings: Floats,
    truth: float,
    rule: Rule,
    prior_sd: Floats | None = None,
    prior_starts: int = 0,
) -> Rates:
    """Judge every row of `readings` by `rule`.

    Args:
        readings: shape (studies, rule.cap).
        truth: the true log-ratio.
        rule: declared in advance.
        prior_sd: calibrated standard deviation of each study's host, NaN where the fast lane is off; None: none.
        prior_starts: number of A/A starts in the calibration.
    """
    decisions = decide(readings, rule, prior_sd, prior_starts)
    outcome = decisions.outcome
    half = np.where(outcome == Outcome.EQUIVALENT, decisions.equivalence_half, decisions.half)
    decided = outcome != Outcome.OPEN
    return Rates(
        faster=_share(outcome == Outcome.FASTER),
        slower=_share(outcome == Outcome.SLOWER),
        equivalent=_share(outcome == Outcome.EQUIVALENT),
        undecided=_share(~decided),
        covered=_share(np.abs(decisions.mean - truth) <= half),
        within_three=_share(decided & (decisions.starts <= 3)),
        mean_starts=float(decisions.starts.mean()),
    )


def naive_rates(readings: Floats, looks: tuple[int, ...], alpha: float = 0.05) -> float:
    """Share of studies that a plain t test, repeated at every look, calls different at one of them."""
    different = np.zeros(readings.shape[0], dtype=bool)
    for look in looks:
        used = readings[:, :look]
        error = used.std(axis=1, ddof=1) / math.sqrt(look)
        different |= np.abs(used.mean(axis=1)) > -float(scipy.special.stdtrit(look - 1, alpha / 2.0)) * error
    return _share(different)


def uncorrected_width_coverage(
    readings: Floats, truth: float, precision: float, minimum: int, alpha: float = 0.05
) -> tuple[float, float]:
    """Coverage, and mean starts, of plain t intervals that stop as soon as they are narrow enough.

    Args:
        readings: shape (studies, cap).
        truth: the true log-ratio.
        precision: half-width to stop at (log-ratio).
        minimum: starts before which no study stops.
        alpha: one minus the intervals' nominal level.
    """
    studies, cap = readings.shape
    covered = np.zeros(studies, dtype=bool)
    starts = np.zeros(studies, dtype=int)
    for look in range(minimum, cap + 1):
        used = readings[:, :look]
        half = -float(scipy.special.stdtrit(look - 1, alpha / 2.0)) * used.std(axis=1, ddof=1) / math.sqrt(look)
        stops = (starts == 0) & ((half <= precision) | (look == cap))
        covered[stops] = np.abs(used.mean(axis=1) - truth)[stops] <= half[stops]
        starts[stops] = look
    return _share(covered), float(starts.mean())


def _share(rows: npt.NDArray[np.bool_]) -> float:
    return float(rows.mean())


def fast_lane_share(prior_sd: Floats) -> float:
    """Share of studies whose canaries left the fast lane on."""
    return _share(~np.isnan(prior_sd))
