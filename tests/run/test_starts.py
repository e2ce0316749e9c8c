"""A cell's starts as the record has them."""

from __future__ import annotations

import math

import pytest

from burnish.run.starts import spread_about_zero


def test_the_spread_of_canaries_is_about_what_they_should_be() -> None:
    assert spread_about_zero([0.3]) is None
    assert spread_about_zero([0.03, 0.04]) == pytest.approx(math.sqrt(0.00125)), "their mean is known: 0"
