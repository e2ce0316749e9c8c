"""How far a compiler could go: the ratio, the way, the sentence and the bar."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.why.ceiling import BAR_WIDTH, KERNEL, LEFT, LIBRARIES, SAVED, Ceiling, cpu_words

MADE = Ceiling("w", "transaction", "baseline", "winner", total=100e-6, kernel=25e-6, libraries=15e-6, after=70e-6)


def test_the_ceiling_is_amdahls() -> None:
    assert MADE.reachable == pytest.approx(60e-6)
    assert MADE.ratio == pytest.approx(100 / 40)
    assert MADE.reached == pytest.approx(100 / 70)
    assert MADE.way == pytest.approx(0.5), "half of what could go is gone"
    assert replace(MADE, libraries=None).ratio == pytest.approx(4.0), "libraries count as reachable where not known"


def test_the_sentence() -> None:
    assert MADE.sentence() == (
        "w: 25% of baseline's 100 us a transaction is the kernel's and 15% libraries', which no compile option "
        "reaches: the ceiling is 2.5x; winner is at 1.43x, 50% of the way in time saved."
    )
    assert "libraries'" not in replace(MADE, libraries=None).sentence()
    assert "`burnish why`" in replace(MADE, libraries=None).sentence()
    assert replace(MADE, after=110e-6).sentence().endswith("winner is at 0.91x, away from it.")
    assert "none to speak of" in replace(MADE, kernel=0.0, libraries=0.0).sentence()


def test_without_anything_out_of_reach() -> None:
    assert math.isinf(replace(MADE, kernel=0.0, libraries=None).ratio)
    assert replace(MADE, kernel=100e-6, libraries=None).way == 0.0


def test_the_bar() -> None:
    assert MADE.bar(20) == SAVED * 6 + LEFT * 6 + LIBRARIES * 3 + KERNEL * 5
    slower = replace(MADE, after=200e-6).bar(20)
    assert slower == LEFT * 12 + LIBRARIES * 3 + KERNEL * 5
    nothing_left = replace(MADE, after=10e-6).bar(20)
    assert nothing_left == SAVED * 12 + LIBRARIES * 3 + KERNEL * 5


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 2.0))
def test_the_bar_is_always_as_wide(kernel: float, libraries: float, after: float) -> None:
    share = max(1.0, kernel + libraries)
    made = replace(MADE, total=1.0, kernel=kernel / share, libraries=libraries / share, after=after)
    assert len(made.bar()) == BAR_WIDTH


def test_times_in_words() -> None:
    assert [cpu_words(value) for value in (325.4e-6, 9.87e-6, 1.234e-3, 2.0, 5e-9, -3e-6)] == [
        "325 us",
        "9.87 us",
        "1.23 ms",
        "2 s",
        "5 ns",
        "-3 us",
    ]
