"""Simulated noise to validate verdicts with: studies with a known true ratio and the disturbances of a shared host.

A pair's log-ratio is the effect, plus the *start noise* (common to all pairs of the start), plus the pair's own noise;
a start's reading is the median of its pairs. Start noise belongs to the slots (which cores, which data copy, which
side started first), so it changes sign when the builds swap slots. Every generator has a standard deviation of about
1 and is centred at the true value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from burnish.statistics.boundaries import Floats

Generator = Callable[[np.random.Generator, tuple[int, ...]], Floats]
"""Takes a random generator and a shape whose last axis is time; gives noise of unit spread."""


class Slots(StrEnum):
    """Which build takes which slot at each start."""

    FIXED = "fixed"
    RANDOM = "random"
    BALANCED = "balanced"


@dataclass(frozen=True)
class Noise:
    """A kind of noise.

    Attributes:
        name: as in the tables.
        start: noise of a start, per unit of `sd_start`.
        pair: noise of a pair, per unit of `sd_pair`.
        sticks_to_build: whether start noise belongs to the build instead of the slot, so that swapping slots does not
            change its sign.
    """

    name: str
    start: Generator
    pair: Generator
    sticks_to_build: bool = False


def slot_signs(rng: np.random.Generator, studies: int, starts: int, slots: Slots) -> Floats:
    """+1 where the candidate has the first slot and -1 where it has the second; shape (studies, starts)."""
    if slots is Slots.FIXED:
        return np.ones((studies, starts))
    if slots is Slots.RANDOM:
        return rng.choice((-1.0, 1.0), size=(studies, starts))
    first = rng.choice((-1.0, 1.0), size=(studies, (starts + 1) // 2, 1))
    blocks = np.concatenate((first, -first), axis=2)
    return blocks.reshape(studies, -1)[:, :starts]


def readings(
    rng: np.random.Generator,
    noise: Noise,
    *,
    studies: int,
    starts: int,
    pairs: int,
    effect: float,
    sd_start: float,
    sd_pair: float,
    slots: Slots = Slots.RANDOM,
) -> Floats:
    """Start readings of simulated studies, shape (studies, starts); all spreads and the effect in log-ratios."""
    start = sd_start * noise.start(rng, (studies, starts))
    if not noise.sticks_to_build:
        start = start * slot_signs(rng, studies, starts, slots)
    within = sd_pair * noise.pair(rng, (studies, starts, pairs))
    medians: Floats = np.median(within, axis=2)
    return effect + start + medians


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Normal noise: what the boundaries are calibrated for."""
    return rng.standard_normal(shape)


def heavy_tailed(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Student's t with 3 degrees of freedom: about one reading in 70 lies 3 or more spreads out."""
    series: Floats = rng.standard_t(3.0, shape) / np.sqrt(3.0)
    return series


def outliers(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Normal noise with one reading in 20 disturbed ten times as strongly."""
    scale = np.where(rng.random(shape) < 0.05, 10.0, 1.0)
    series: Floats = rng.standard_normal(shape) * scale / np.sqrt(0.95 + 0.05 * 100.0)
    return series


def skewed_sides(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Each side is slowed down by a skewed (log-normal) amount of its own; the ratio has the difference."""
    series: Floats = (_lognormal(rng, shape) - _lognormal(rng, shape)) / np.sqrt(2.0)
    return series


def one_sided_skew(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Only one of the two builds is slowed down by a skewed amount: nothing makes the ratio symmetric."""
    return -_lognormal(rng, shape)


def _lognormal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    sigma = 0.75
    mean = np.exp(sigma**2 / 2.0)
    spread = mean * np.sqrt(np.expm1(sigma**2))
    series: Floats = (rng.lognormal(0.0, sigma, shape) - mean) / spread
    return series


def autocorrelated(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """First-order autoregression with a correlation of 0.5 between neighbours: disturbances of the host last."""
    keep = 0.5
    fresh = rng.standard_normal(shape)
    series = np.empty(shape)
    series[..., 0] = fresh[..., 0]
    for time in range(1, shape[-1]):
        series[..., time] = keep * series[..., time - 1] + np.sqrt(1.0 - keep * keep) * fresh[..., time]
    return series


def drifting(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """A linear drift of random direction and size plus normal noise, over the length of the study."""
    slope = rng.standard_normal((*shape[:-1], 1))
    time = np.linspace(-0.5, 1.5, shape[-1])
    series: Floats = (rng.standard_normal(shape) + slope * time) / np.sqrt(1.0 + (time * time).mean())
    return series


def offset(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """One slot is always better than the other, by one standard deviation of the starts."""
    series: Floats = (rng.standard_normal(shape) + 1.0) / np.sqrt(2.0)
    return series


def strong_offset(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """One slot is always better than the other, by ten standard deviations of the starts."""
    series: Floats = (rng.standard_normal(shape) + 10.0) / np.sqrt(101.0)
    return series


NOISES = (
    Noise("normal", normal, normal),
    Noise("heavy tails (t, 3 degrees of freedom)", heavy_tailed, heavy_tailed),
    Noise("outliers (1 in 20, tenfold)", outliers, outliers),
    Noise("skewed, on each side", skewed_sides, skewed_sides),
    Noise("autocorrelated (0.5)", autocorrelated, autocorrelated),
    Noise("drifting", drifting, normal),
    Noise("one slot better than the other", offset, normal),
)
"""The kinds of noise that a verdict must withstand."""

STRONG_OFFSET = Noise("one slot far better (tenfold)", strong_offset, normal)
"""Noise that balanced slots cancel, but independent coin flips do not after three starts."""

ONE_SIDED = Noise("skewed, on one build only", one_sided_skew, normal, sticks_to_build=True)
"""Noise that no number of swaps makes symmetric; docs/BIAS.md describes its effect."""


@dataclass(frozen=True)
class Recorded:
    """Recorded A/A starts to resample, so that simulated noise is the host's own.

    Attributes:
        pairs: log-ratios, shape (starts, pairs).
    """

    pairs: npt.NDArray[np.float64]

    @classmethod
    def from_starts(cls, pairs_by_start: Sequence[Sequence[float]]) -> Recorded:
        """Starts truncated to the length of the shortest, minus their overall mean.

        Raises:
            ValueError: fewer than 12 starts, or a start without a pair.
        """
        shortest = min((len(pairs) for pairs in pairs_by_start), default=0)
        if len(pairs_by_start) < 12 or shortest < 1:
            raise ValueError(
                f"resampling needs at least 12 starts with a pair each; there are {len(pairs_by_start)}, "
                f"the shortest with {shortest} pairs"
            )
        table = np.asarray([list(pairs)[:shortest] for pairs in pairs_by_start], dtype=float)
        return cls(table - table.mean())

    def readings(
        self, rng: np.random.Generator, *, studies: int, starts: int, effect: float, slots: Slots = Slots.RANDOM
    ) -> Floats:
        """Start readings drawn with replacement, slots swapped as in a real study; shape (studies, starts)."""
        recorded = np.median(self.pairs, axis=1)
        drawn = rng.choice(recorded, size=(studies, starts))
        return effect + drawn * slot_signs(rng, studies, starts, slots)
