"""Response times in buckets: percentiles of what several spans have together."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.model.histogram import Histogram, together

WIDTH = math.log(2) / 32


def counted(seconds: list[float]) -> Histogram:
    """As the load programs count: buckets of one width on the logarithmic scale, each known by its middle."""
    counts: dict[float, int] = {}
    for value in seconds:
        middle = round(math.exp((math.floor(math.log(value) / WIDTH) + 0.5) * WIDTH), 9)
        counts[middle] = counts.get(middle, 0) + 1
    return Histogram(WIDTH, counts)


@given(st.lists(st.floats(1e-4, 10.0), min_size=1, max_size=300), st.floats(0.001, 1.0))
def test_a_percentile_is_within_a_bucket_of_the_sorted_one(seconds: list[float], share: float) -> None:
    exact = sorted(seconds)[math.ceil(share * len(seconds)) - 1]
    assert abs(math.log(counted(seconds).percentile(share) / exact)) < WIDTH * 1.01


@given(st.lists(st.lists(st.floats(1e-4, 10.0), max_size=30), min_size=1, max_size=8))
def test_spans_together_are_one_span(spans: list[list[float]]) -> None:
    assert together(map(counted, spans)).counts == counted([value for span in spans for value in span]).counts


def test_within_a_bucket_the_rank_says_where() -> None:
    """Otherwise ratios of two builds would come in steps of a bucket."""
    many = Histogram(WIDTH, {0.001: 100})
    assert many.percentile(0.5) == pytest.approx(0.001)
    assert many.percentile(1.0) == pytest.approx(0.001 * math.exp(WIDTH / 2))
    assert math.log(many.percentile(0.75) / many.percentile(0.25)) == pytest.approx(WIDTH / 2)


def test_without_requests_there_is_no_percentile() -> None:
    assert Histogram().percentiles() == {} == together([]).percentiles()
    with pytest.raises(ValueError, match="no request"):
        Histogram().percentile(0.5)
