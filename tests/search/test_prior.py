"""Earlier results as a prior: they order what is tried and add known-good builds, and rule nothing out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from burnish.search.effects import Effect
from burnish.search.prior import LEAST, MOST, Finding, Result, applied, expected, taken
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


def informed(space: Space, findings: Sequence[Finding]) -> Space:
    return applied(space, taken(space, findings))


def effect(choice: str, level: str, size: float, error: float = 0.002) -> Effect:
    return Effect(choice, level, size, error, 2.0 * error, 12)


def size_of(choice: str, *effects: Effect, results: tuple[Result, ...] = (), near: bool = False) -> float:
    return informed(SPACE, [Finding("run", effects, None, results, "host", near)]).choice(choice).expected


def gained(size: float, base: str = "", **build: str) -> Result:
    return Result(build, {"profile": "yes"} if base else {}, size, 0.002)


def test_what_nobody_measured_is_expected_as_before() -> None:
    assert informed(SPACE, []) == SPACE
    for choice in SPACE.choices:
        assert expected(choice, {}) == pytest.approx(choice.expected)


def test_what_gained_is_expected_to_gain_more_and_what_lost_is_still_tried() -> None:
    calls = SPACE.choice("calls")
    good, bad = (size_of("calls", effect("calls", "direct", size)) for size in (0.03, -0.03))
    assert good > 2.0 * calls.expected
    assert bad == LEAST * calls.expected > 0.0
    unsure = size_of("calls", effect("calls", "direct", 0.03, error=0.5))
    assert unsure == pytest.approx(calls.expected, rel=0.05), "a wide interval says hardly anything"


def test_a_level_that_lost_leaves_its_choice_to_the_others() -> None:
    assert size_of("lto", effect("lto", "full", -0.05)) == pytest.approx(SPACE.choice("lto").expected)


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


def test_what_builds_gained_is_told_apart_by_their_choices() -> None:
    ladder = (gained(0.2, profile="yes"), gained(0.23, profile="yes", calls="direct"))
    assert size_of("calls", results=ladder) > 2.0 * SPACE.choice("calls").expected
    assert size_of("lto", results=ladder) == SPACE.choice("lto").expected, "nothing is known of it"
    same = gained(0.03, "pgo", profile="yes", calls="direct")
    assert size_of("calls", results=(same,)) == pytest.approx(size_of("calls", results=(gained(0.03, calls="direct"),)))
    alone = size_of("calls", results=ladder[1:])
    assert alone < size_of("calls", results=ladder), "together with a profile most of it is probably the profile's"
    back = Result({}, {"calls": "direct"}, 0.03, 0.002)
    assert size_of("calls", results=(back,)) < SPACE.choice("calls").expected


def test_another_host_weighs_less() -> None:
    own = SPACE.choice("calls").expected
    gain, loss = gained(0.03, calls="direct"), gained(-0.003, calls="direct")
    assert size_of("calls", results=(gain,), near=True) > size_of("calls", results=(gain,)) > own
    assert size_of("calls", results=(loss,), near=True) < size_of("calls", results=(loss,)) < own


def test_what_one_host_says_again_and_again_is_not_surer_than_what_several_say() -> None:
    def of(*hosts: str) -> float:
        runs = [Finding(str(at), (), None, (gained(0.03, calls="direct"),), host) for at, host in enumerate(hosts)]
        return informed(SPACE, runs).choice("calls").expected

    assert of("a") == pytest.approx(of("a", "a", "a", "a"), rel=0.03)
    assert of("a", "b", "c", "d") > 1.05 * of("a")


def test_results_are_counted_by_where_they_are_from_and_the_near_best_comes_first() -> None:
    findings = [
        Finding("far", (), {"calls": "direct"}, (gained(0.01, calls="direct"), gained(0.01, bolt="yes"))),
        Finding("here", (), {"profile": "yes"}, (gained(0.2, profile="yes"),), near=True),
        Finding("winner", (), {"lto": "thin"}),
        Finding("again", (), {"lto": "thin"}),
        Finding("more", (), {"lto": "full"}),
    ]
    prior = taken(SPACE, findings)
    assert (prior.near, prior.elsewhere) == (1, 4), "one of a choice that the space lacks, three of a best build each"
    assert prior.first == ("pgo", "earlier-1", "earlier-2")
    assert len(prior.first) == MOST
    assert prior.rungs == {"earlier-1": {"calls": "direct"}, "earlier-2": {"lto": "thin"}}
    known = informed(SPACE, findings)
    assert [point.words for point in known.known_good] == ["profile=yes", "calls=direct", "lto=thin"]
    assert repr(replace(known, first=())) == repr(known), "digests of older spaces stay"
