"""The noise that verdicts are validated with is what it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from burnish.statistics import noise
from burnish.statistics.noise import Recorded, Slots

SHAPE = (4000, 12)


@pytest.mark.parametrize("kind", [*noise.NOISES, noise.ONE_SIDED], ids=lambda kind: kind.name)
def test_generators_are_of_unit_spread_and_repeatable(kind: noise.Noise) -> None:
    for generate in (kind.start, kind.pair):
        drawn = generate(np.random.default_rng(1), SHAPE)
        assert drawn.shape == SHAPE
        assert np.sqrt((drawn**2).mean()) == pytest.approx(1.0, rel=0.12)
        assert np.array_equal(drawn, generate(np.random.default_rng(1), SHAPE))


def test_generators_have_the_shape_that_they_are_named_for() -> None:
    rng = np.random.default_rng(2)
    assert stats.kurtosis(noise.heavy_tailed(rng, SHAPE).ravel()) > 3
    assert stats.kurtosis(noise.outliers(rng, SHAPE).ravel()) > 10
    assert stats.skew(noise.one_sided_skew(rng, SHAPE).ravel()) < -1
    assert abs(stats.skew(noise.skewed_sides(rng, SHAPE).ravel())) < 0.4
    series = noise.autocorrelated(rng, SHAPE)
    assert np.corrcoef(series[:, 5], series[:, 6])[0, 1] == pytest.approx(0.5, abs=0.05)
    drift = noise.drifting(rng, SHAPE)
    assert np.corrcoef(drift[:, 10], drift[:, 11])[0, 1] > 0.4
    assert noise.offset(rng, SHAPE).mean() == pytest.approx(1 / np.sqrt(2), abs=0.02)


def test_balanced_slots_change_within_every_two_starts() -> None:
    signs = noise.slot_signs(np.random.default_rng(3), 500, 7, Slots.BALANCED)
    assert signs.shape == (500, 7)
    assert (signs[:, :6].reshape(500, 3, 2).sum(axis=2) == 0).all()
    assert abs(signs[:, 0].mean()) < 0.15
    assert set(np.unique(noise.slot_signs(np.random.default_rng(3), 50, 7, Slots.RANDOM))) == {-1.0, 1.0}
    assert (noise.slot_signs(np.random.default_rng(3), 50, 7, Slots.FIXED) == 1.0).all()


def test_readings_have_the_spread_and_the_effect_asked_for() -> None:
    made = noise.readings(
        np.random.default_rng(5),
        noise.NOISES[0],
        studies=5000,
        starts=6,
        pairs=1,
        effect=0.05,
        sd_start=0.006,
        sd_pair=0.008,
    )
    assert made.mean() == pytest.approx(0.05, abs=0.001)
    assert made.std() == pytest.approx(0.010, rel=0.03)


def test_recorded_starts_are_drawn_less_their_mean() -> None:
    table = np.random.default_rng(6).normal(0.02, 0.01, (14, 3)).tolist()
    recorded = Recorded.from_starts([*table, [0.0, 0.0, 0.0, 9.0]])
    assert recorded.pairs.shape == (15, 3)
    drawn = recorded.readings(np.random.default_rng(7), studies=4000, starts=6, effect=0.1)
    assert drawn.mean() == pytest.approx(0.1, abs=0.001)
    assert set(np.round(np.abs(drawn.ravel() - 0.1), 9)) <= set(np.round(np.abs(np.median(recorded.pairs, axis=1)), 9))
    with pytest.raises(ValueError, match="at least 12 starts"):
        Recorded.from_starts(table[:11])
