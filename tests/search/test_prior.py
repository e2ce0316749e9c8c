"""Earlier findings as a prior: they order what is tried and add known-good builds, and rule nothing out."""

from __future__ import annotations

import pytest

from burnish.search.effects import Effect
from burnish.search.prior import LEAST, Finding, expected, informed
from burnish.search.space import Choice, Forbidden, Point, Space

SPACE = Space(
    (
        Choice("profile", ("no", "yes"), expected=0.15),
        Choice("lto", ("none", "thin", "full"), expected=0.04),
        Choice("calls", ("plt", "direct"), expected=0.01),
    ),
    (Forbidden({"lto": ("full",), "profile": ("yes",)}),),
    {"pgo": Point((("profile", "yes"),))},
)


def effect(choice: str, level: str, size: float, error: float = 0.002) -> Effect:
    return Effect(choice, level, size, error, 2.0 * error, 12)


def test_what_nobody_measured_is_expected_as_before() -> None:
    assert informed(SPACE, []) == SPACE
    for choice in SPACE.choices:
        assert expected(choice, {}) == pytest.approx(choice.expected)


def test_what_gained_is_expected_to_gain_more_and_what_lost_is_still_tried() -> None:
    calls = SPACE.choice("calls")
    good, bad = (expected(calls, {("calls", "direct"): effect("calls", "direct", size)}) for size in (0.03, -0.03))
    assert good > 2.0 * calls.expected
    assert bad == LEAST * calls.expected > 0.0
    unsure = expected(calls, {("calls", "direct"): effect("calls", "direct", 0.03, error=0.5)})
    assert unsure == pytest.approx(calls.expected, rel=0.05), "a wide interval says hardly anything"


def test_a_level_that_lost_leaves_its_choice_to_the_others() -> None:
    lto = SPACE.choice("lto")
    assert expected(lto, {("lto", "full"): effect("lto", "full", -0.05)}) == pytest.approx(lto.expected)


def test_earlier_winners_are_tried_first_where_they_are_allowed() -> None:
    findings = [
        Finding("host-a", best={"profile": "yes", "calls": "direct"}),
        Finding("host-b", best={"profile": "yes"}),
        Finding("host-c", best={"profile": "yes", "lto": "full"}),
        Finding("host-d", best={"bolt": "yes"}),
        Finding("host-e"),
    ]
    found = informed(SPACE, findings)
    assert list(found.rungs) == ["pgo", "earlier-1"], (
        "one is known, one not allowed, one of another space, one has none"
    )
    assert found.rungs["earlier-1"] == SPACE.point({"profile": "yes", "calls": "direct"})
    assert found.size == SPACE.size


def test_two_searches_make_one_estimate() -> None:
    once = informed(SPACE, [Finding("a", (effect("calls", "direct", 0.03, 0.01),))]).choice("calls").expected
    twice = informed(
        SPACE,
        [
            Finding("a", (effect("calls", "direct", 0.03, 0.01),)),
            Finding("b", (effect("calls", "direct", 0.03, 0.01),)),
        ],
    )
    assert twice.choice("calls").expected > once
