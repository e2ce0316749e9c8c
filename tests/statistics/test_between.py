"""The spread between sittings: found again where it is known, and its interval covers it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2

from burnish.statistics.between import Known, between


def groups(rng: np.random.Generator, spread: float, comparisons: int = 20, sittings: int = 2) -> list[list[Known]]:
    """Comparisons of unlike size, each with sittings of 8 starts that scatter by 0.6 %."""
    made = []
    for effect in rng.uniform(-0.1, 0.3, comparisons):
        starts = effect + rng.normal(0, spread, (sittings, 1)) + rng.normal(0, 0.006, (sittings, 8))
        made.append([Known(float(row.mean()), float(row.var(ddof=1)) / 8) for row in starts])
    return made


@pytest.mark.parametrize("spread", [0.0, 0.005, 0.009, 0.015])
def test_a_known_spread_is_found_and_covered(spread: float) -> None:
    rng = np.random.default_rng(29)
    found = [between(groups(rng, spread)) for _ in range(150)]
    assert all(one is not None for one in found)
    covered = sum(one.low <= spread <= one.high for one in found if one is not None)
    assert covered >= 150 * 0.95 - 3.5 * math.sqrt(150 * 0.95 * 0.05)
    middle = float(np.median([one.sd for one in found if one is not None]))
    assert middle == pytest.approx(spread, abs=0.0015)


def test_degrees_of_freedom_are_fewer_where_starts_are_noisy() -> None:
    rng = np.random.default_rng(31)
    large, small = between(groups(rng, 0.03)), between(groups(rng, 0.003))
    assert large is not None
    assert small is not None
    assert (large.comparisons, large.sittings) == (20, 40)
    assert 18 < large.df <= 20
    assert small.df < 15


def test_degrees_of_freedom_reach_as_far_up_as_the_interval() -> None:
    found = between(groups(np.random.default_rng(37), 0.005))
    assert found is not None
    assert found.sd * math.sqrt(found.df / chi2.ppf(0.025, found.df)) == pytest.approx(found.high)
    exact = between([[Known(0.01, 1e-12), Known(0.02, 1e-12)]] * 6)
    assert exact is not None
    assert exact.df == pytest.approx(6.0, rel=1e-3)
    none = between([[Known(0.01, 1e-4), Known(0.01, 1e-4)]] * 6)
    assert none is not None
    assert (none.sd, none.df) == (0.0, 0.0)


def test_single_sittings_tell_nothing() -> None:
    assert between([]) is None
    assert between([[Known(0.1, 1e-6)], [Known(0.2, 1e-6)]]) is None
