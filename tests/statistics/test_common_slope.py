"""The slope within groups: what is between them does not count."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from burnish.statistics.common_slope import CommonSlope


def test_one_group_is_an_ordinary_regression() -> None:
    random = np.random.default_rng(1)
    x = random.normal(0, 1, 12)
    y = 0.3 * x + random.normal(0, 0.5, 12)
    found = CommonSlope.of([list(zip(x.tolist(), y.tolist(), strict=True))])
    fitted = scipy.stats.linregress(x, y)
    assert found is not None
    assert (found.slope, found.error, found.r) == pytest.approx((fitted.slope, fitted.stderr, fitted.rvalue))
    assert (found.count, found.df) == (12, 10)
    assert found.removed == pytest.approx(1 - math.sqrt(1 - fitted.rvalue**2))


def test_what_is_between_groups_does_not_count() -> None:
    """Both groups rise by 2; the second lies lower, so that all points together would fall."""
    found = CommonSlope.of([[(0.0, 10.0), (1.0, 12.0)], [(5.0, 0.0), (6.0, 2.0)], [(9.0, 9.0)]])
    assert found is not None
    assert (found.slope, found.r, found.removed) == pytest.approx((2.0, 1.0, 1.0))
    assert (found.count, found.df) == (4, 1), "a group of one tells nothing"


@pytest.mark.parametrize("groups", [[], [[(1.0, 2.0)]], [[(1.0, 2.0), (1.0, 3.0)]], [[(1.0, 2.0), (3.0, 2.0)]]])
def test_what_never_differs_has_no_slope(groups: list[list[tuple[float, float]]]) -> None:
    assert CommonSlope.of(groups) is None
