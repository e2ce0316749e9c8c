"""How far a compiler could go: the ratio, the way, the sentence and the shares."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.why.ceiling import Ceiling, cpu_words

MADE = Ceiling("w", "transaction", "baseline", "winner", total=100e-6, kernel=25e-6, libraries=15e-6, after=70e-6)


def test_the_ceiling_is_amdahls() -> None:
    assert MADE.reachable == pytest.approx(60e-6)
    assert MADE.ratio == pytest.approx(100 / 40)
    assert MADE.reached == pytest.approx(100 / 70)
    assert MADE.way == pytest.approx(0.5), "half of what could go is gone"
    assert replace(MADE, libraries=None).ratio == pytest.approx(4.0), "libraries count as reachable where not known"


def test_the_sentence() -> None:
    assert MADE.sentence() == (
        "w: 25 % of baseline's 100 µs per transaction is kernel time and 15 % library time, which no compile option "
        "reaches: 2.5x at most; winner is at 1.43x and has saved 50 % of the time that a compiler could save."
    )
    assert "library time" not in replace(MADE, libraries=None).sentence()
    assert "`burnish why`" in replace(MADE, libraries=None).sentence()
    assert replace(MADE, after=110e-6).sentence().endswith("2.5x at most; winner is at 0.91x.")


def test_a_ceiling_that_is_far_off_is_not_named() -> None:
    assert replace(MADE, kernel=0.0, libraries=0.0).sentence() == (
        "w: 100 % of baseline's 100 µs per transaction is in the server's own code, so the kernel is no limit here; "
        "winner is at 1.43x."
    )
    assert (
        replace(MADE, kernel=2e-6, libraries=None)
        .sentence()
        .startswith(
            "w: 98 % of baseline's 100 µs per transaction is outside of the kernel, so the kernel is no limit here"
        )
    )
    assert "4.8x at most" in replace(MADE, kernel=21e-6, libraries=None).sentence()


def test_without_anything_out_of_reach() -> None:
    assert math.isinf(replace(MADE, kernel=0.0, libraries=None).ratio)
    assert replace(MADE, kernel=100e-6, libraries=None).way == 0.0


def test_the_shares() -> None:
    assert MADE.shares == pytest.approx((0.3, 0.3, 0.15, 0.25))
    assert replace(MADE, after=200e-6).shares == pytest.approx((0, 0.6, 0.15, 0.25)), "slower: nothing is saved"
    assert replace(MADE, after=10e-6).shares == pytest.approx((0.6, 0, 0.15, 0.25)), "no more than was reachable"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 2.0))
def test_the_shares_add_up(kernel: float, libraries: float, after: float) -> None:
    share = max(1.0, kernel + libraries)
    made = replace(MADE, total=1.0, kernel=kernel / share, libraries=libraries / share, after=after)
    assert sum(made.shares) == pytest.approx(1.0)


def test_times_in_words() -> None:
    assert [cpu_words(value) for value in (325.4e-6, 9.87e-6, 1.234e-3, 2.0, 5e-9, -3e-6)] == [
        "325 µs",
        "9.87 µs",
        "1.23 ms",
        "2 s",
        "5 ns",
        "-3 µs",
    ]
