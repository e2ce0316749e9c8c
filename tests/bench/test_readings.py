"""From ticks to readings: windows, ratios, totals, steadiness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.bench.quantities import ratios
from burnish.bench.readings import Reading, on_grid, pair_ratio, rate, reading, ready, steady, total
from burnish.engines.contract import Tick
from burnish.model.histogram import Histogram


def ticks_at(*times: float, rate: float = 100.0) -> list[Tick]:
    return [Tick(at, at * rate, int(at), at * 0.5, at * 0.25) for at in times]


def side(done: float, cpu: float = 1.0, seconds: float = 1.0) -> Reading:
    return Reading(seconds=seconds, done=done, errors=0, server_cpu=cpu, client_cpu=0.1)


@pytest.mark.parametrize(
    ("times", "begin", "window", "bounds"),
    [
        ((1, 2, 3, 4), 1, 1, (0, 1)),
        ((1, 2, 3, 4), 1.5, 1, (1, 2)),
        ((1, 2, 3, 4), 1.5, 2, (1, 3)),
        ((1, 2, 3, 4), 1, 1.5, (0, 2)),
        ((1, 2, 3, 4), 2.5, 2, None),
        ((1, 2, 3, 4), 4, 1, None),
        ((1, 2, 3, 4), 5, 1, None),
        ((), 0, 1, None),
        ((1.0, 1.9995, 3.0), 1, 1, (0, 1)),
        ((1.0, 1.99, 3.0), 1, 1, (0, 2)),
    ],
)
def test_a_window_lies_between_two_ticks(
    times: tuple[float, ...], begin: float, window: float, bounds: tuple[int, int] | None
) -> None:
    """The first tick at or after the settling's end, and the first a window later; jitter costs no interval."""
    assert ready(ticks_at(*times), begin, window) == bounds


def test_a_window_without_a_transaction_lasts_until_there_is_one() -> None:
    """A commit that waits for the disk through a short window makes a long reading, not an invalid start."""
    stalled = [Tick(0.0, 7.0, 0, 1.0, 0.5), Tick(0.1, 7.0, 0, 1.0, 0.5), Tick(0.2, 7.0, 0, 1.1, 0.5)]
    assert ready(stalled, 0.0, 0.1) is None
    assert ready([*stalled, Tick(0.3, 9.0, 0, 1.2, 0.6)], 0.0, 0.1) == (0, 3)


@given(st.floats(0, 1e6))
def test_a_turn_begins_just_before_a_tick_of_the_shared_clock(at: float) -> None:
    begin = on_grid(at, 0.05)
    assert at - 0.0006 <= begin < at + 0.05
    nearest = round(begin / 0.05) * 0.05
    assert 0.0004 < nearest - begin < 0.0006, "what ticks on the multiple itself is in"


TIMES = st.lists(st.floats(0, 100), min_size=1, max_size=30, unique=True).map(sorted)


@given(TIMES, st.floats(0, 100), st.floats(0.01, 20))
def test_a_window_is_as_early_and_as_short_as_the_ticks_allow(times: list[float], begin: float, window: float) -> None:
    result = ready(ticks_at(*times), begin, window)
    if result is None:
        after = [at for at in times if at >= begin]
        assert not after or after[-1] < after[0] + window
        return
    first, last = result
    assert times[first] >= begin
    assert first == 0 or times[first - 1] < begin
    assert times[last] - times[first] >= 0.998 * window
    assert times[last - 1] - times[first] < window


def test_a_reading_is_the_difference_of_its_ticks() -> None:
    ticks = [
        Tick(1.0, 100.0, 1, 0.5, 0.1, {"p95": 9.0, "max": 99.0}),
        Tick(2.0, 250.0, 1, 1.0, 0.2, {"p95": 0.1, "max": 0.5}),
        Tick(3.5, 400.0, 3, 2.0, 0.4, {"p95": 0.3, "max": 0.4, "p99": 0.6}),
        Tick(4.5, 900.0, 9, 9.0, 0.9, {"p95": 9.0, "max": 99.0}),
    ]
    result = reading(ticks, (0, 2), [3, 1])
    assert (result.seconds, result.done, result.errors) == (2.5, 300.0, 2)
    assert result.server_cpu == 1.5
    assert result.client_cpu == pytest.approx(0.3)
    assert result.latency == pytest.approx({"max": 0.5, "p95": 0.2, "p99": 0.6}), "the largest, and means"
    assert result.cores == (1, 3)
    assert result.throughput == 120.0
    assert result.capacity == 200.0


def test_capacity_without_cpu_time_is_no_number() -> None:
    assert math.isnan(side(1, cpu=0).capacity)


def test_a_reading_is_plain_values_for_the_record() -> None:
    values = side(5).as_dict()
    assert Reading(**values) == side(5)


def test_a_total_is_sums_and_latencies_weighted_by_transactions() -> None:
    one = Reading(1.0, 100, 1, 0.5, 0.1, {"p95": 0.1, "max": 0.4}, (0,))
    two = Reading(3.0, 300, 0, 2.5, 0.3, {"p95": 0.3, "max": 0.2, "p99": 0.7}, (1,))
    result = total([one, two])
    assert (result.seconds, result.done, result.errors) == (4.0, 400, 1)
    assert [result.server_cpu, result.client_cpu] == pytest.approx([3.0, 0.4])
    assert result.latency == pytest.approx({"max": 0.4, "p95": 0.25, "p99": 0.7})
    assert result.cores == (0, 1)
    assert total([one]) == one


READINGS = st.builds(side, st.floats(1, 1e6), st.floats(0.01, 10), st.floats(0.1, 10))


@given(st.lists(READINGS, min_size=1, max_size=5))
def test_a_totals_rate_lies_between_its_parts(parts: list[Reading]) -> None:
    rates = [part.throughput for part in parts]
    assert min(rates) * (1 - 1e-9) <= total(parts).throughput <= max(rates) * (1 + 1e-9)


def test_the_ratio_of_a_pair() -> None:
    result = pair_ratio([side(100, 1.0), side(100, 1.0)], [side(200, 1.0), side(50, 0.25)])
    assert result.throughput == pytest.approx(0), "twice in one half, half in the other"
    assert result.capacity == pytest.approx(math.log(2))
    uneven = pair_ratio([side(100, seconds=1)], [side(100, seconds=2)], places=1)
    assert uneven.throughput == pytest.approx(-math.log(2)), "windows need not be of equal length"


def test_the_middle_of_many_turns_does_not_feel_a_disturbed_one() -> None:
    quiet = [side(110, 1.0)] * 8
    disturbed = [*quiet[:3], side(11, 1.0), *quiet[4:]]
    assert pair_ratio([side(100, 1.0)] * 8, disturbed).capacity == pytest.approx(math.log(1.1))
    assert pair_ratio([side(100, 1.0)] * 8, disturbed, places=1).capacity == pytest.approx(math.log(1.1))


def test_statements_tell_more_than_transactions_that_finish_in_waves() -> None:
    """256 threads take a second for a transaction of 20 statements: a turn of 0.1 s sees none of them end, or all."""
    waves = [replace(side(done, 1.0), steps=steps) for done, steps in ((0, 500), (160, 520), (1, 480), (90, 500))]
    even = [replace(side(done, 1.0), steps=steps) for done, steps in ((120, 550), (0, 572), (2, 528), (130, 550))]
    result = pair_ratio(waves, even)
    assert result.capacity == pytest.approx(math.log(1.1))
    assert result.throughput == pytest.approx(math.log(1.1))
    uncounted = [replace(item, steps=0.0, done=110) for item in even]
    assert pair_ratio([side(100, 1.0)] * 4, uncounted).capacity == pytest.approx(math.log(1.1)), "transactions, else"


def test_a_window_without_a_statement_is_no_reading() -> None:
    ticks = [Tick(at / 10, 0.0, 0, 0.0, 0.0, steps=steps) for at, steps in enumerate((5.0, 5.0, 5.0, 9.0))]
    assert ready(ticks[:3], 0.0, 0.1) is None
    assert ready(ticks, 0.0, 0.1) == (0, 3), "no transaction is finished, but work is done"


@pytest.mark.parametrize(("turns", "places"), [(0, 2), (3, 2), (5, 2), (0, 1)])
def test_a_pair_is_whole_rounds(turns: int, places: int) -> None:
    with pytest.raises(ValueError, match=f"whole rounds of {places} turns, not {turns} turns"):
        pair_ratio([side(1)] * turns, [side(1)] * turns, places)


HALVES = st.lists(READINGS, min_size=2, max_size=2)


@given(HALVES, HALVES)
def test_a_ratio_turned_round_changes_its_sign(one: list[Reading], other: list[Reading]) -> None:
    there, back = pair_ratio(one, other), pair_ratio(other, one)
    assert there.capacity == pytest.approx(-back.capacity)
    assert there.throughput == pytest.approx(-back.throughput)


@given(HALVES, HALVES, st.floats(0.2, 5), st.floats(0.2, 5))
def test_what_a_core_set_or_a_half_is_worth_cancels(
    baseline: list[Reading], candidate: list[Reading], core: float, hour: float
) -> None:
    """Core set 0 is `core` times as fast as core set 1, the second half's neighbours make everything `hour` times."""

    def scaled(item: Reading, factor: float) -> Reading:
        return replace(item, done=item.done * factor)

    fair = pair_ratio(baseline, candidate)
    unfair = pair_ratio(
        [scaled(baseline[0], core), scaled(baseline[1], hour)],
        [scaled(candidate[0], 1.0), scaled(candidate[1], hour * core)],
    )
    assert unfair.capacity == pytest.approx(fair.capacity, abs=1e-9)
    assert unfair.throughput == pytest.approx(fair.throughput, abs=1e-9)


def test_sides_with_different_halves_are_no_pair() -> None:
    with pytest.raises(ValueError, match="shorter"):
        pair_ratio([side(1), side(1)], [side(1)])


def running(rates: Sequence[float], interval: float = 0.1) -> list[Tick]:
    done, made = 0.0, [Tick(0.0, 0.0, 0, 0.0, 0.0)]
    for number, pace in enumerate(rates, 1):
        done += pace * interval
        made.append(Tick(number * interval, done, 0, 0.0, 0.0))
    return made


@pytest.mark.parametrize(
    ("rates", "calm"),
    [
        ([100] * 30, True),
        ([100] * 12 + [104] * 11, True),
        ([100] * 12 + [110] * 11, False),
        ([100] * 12 + [90] * 11, False),
        ([10] * 10 + [100] * 21, True),
        ([100] * 15, False),
        ([100] * 10, False),
        ([], False),
        ([0] * 30, False),
        ([100] * 11 + [0] * 11, False),
    ],
)
def test_steady(rates: list[float], calm: bool) -> None:
    assert steady(running(rates), span=1.0) is calm


def test_steady_is_asked_of_the_end_only_and_within_its_bounds() -> None:
    ticks = running([100] * 12 + [110] * 11)
    assert steady(ticks, span=1.0, tolerance=0.2)
    assert not steady([], span=1.0)
    assert not steady(ticks[:1], span=0.1)
    slow = running([100] * 4, interval=2.0)
    assert not steady([slow[0], slow[-1]], span=1.0), "two ticks are no two spans"


def test_the_rate_is_of_the_last_second() -> None:
    assert rate(running([100] * 8 + [300] * 12)) == pytest.approx(300)
    assert rate(ticks_at(0, 0.25, 0.5)) == pytest.approx(100), "of less than a second: of all there is"
    assert rate(ticks_at(1)) == 0, "one tick says nothing"


def test_a_percentile_is_of_all_requests_of_a_window_and_not_the_mean_of_its_spans() -> None:
    """Ten requests a tick, one in fifty of them slow: most ticks have none, and their mean would be far too low."""
    requests = [0.010 if number % 50 == 0 else 0.001 for number in range(1000)]
    ticks = [Tick(0.0, 0.0, 0, 0.0, 0.0)]
    for number in range(100):
        span = requests[10 * number : 10 * number + 10]
        times = Histogram(0.018, {seconds: span.count(seconds) for seconds in set(span)})
        ticks.append(Tick(number + 1.0, 0.0, 0, 0.0, 0.0, {"p99": max(span), "max": max(span)}, times=times))
    halves = [reading(ticks, bounds, (0,)) for bounds in ((0, 50), (50, 100))]
    for of in (*halves, total(halves)):
        assert of.latency["p99"] == pytest.approx(0.010, rel=0.02)
        assert of.latency["p50"] == pytest.approx(0.001, rel=0.02)
    assert total(halves).times.requests == 1000
    assert "times" not in total(halves).as_dict(), "a record has the percentiles"


def test_a_pair_s_response_times_are_compared_over_all_of_its_turns() -> None:
    """A turn of twenty requests has no 99th percentile of its own."""

    def turns(slow: float) -> list[Reading]:
        counts = [{0.001: 20}] * 40 + [{0.001: 15, slow: 5}] * 10
        return [replace(side(20.0), latency={"p99": max(c)}, times=Histogram(0.018, c)) for c in counts]

    assert ratios(turns(0.010), turns(0.005), 1)["p99"] == pytest.approx(math.log(2), rel=1e-6)
