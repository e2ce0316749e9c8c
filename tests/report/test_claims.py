"""Whether a published figure still holds: each case of the rules."""

from __future__ import annotations

import pytest

from burnish.record.events.bundled import PublishedFigure
from burnish.record.events.verdicts import Interval
from burnish.report.bundled.claims import Answered, Holds, Measured, holds, is_claim, sentences

DELTA = 0.01


def measured(low: float, high: float, verdict: str = "") -> Measured:
    """An interval in per cent, with the verdict that follows from it."""
    told = verdict or ("faster" if low > 0 else "slower" if high < 0 else "undecided")
    return Measured(told, Interval(1 + (low + high) / 200, 1 + low / 100, 1 + high / 100, 0.95))


@pytest.mark.parametrize(
    ("low", "high", "here", "answer"),
    [
        (10, 30, measured(12, 18), "yes"),
        (10, 30, measured(28, 39), "yes"),
        (10, 30, measured(33, 39), "larger"),
        (10, 30, measured(2, 8), "smaller"),
        (10, 30, measured(-8, -2), "reversed"),
        (10, 30, measured(-3, 4), "smaller"),
        (10, 30, measured(-3, 12), "undecided"),
        (10, 30, measured(-0.4, 0.4, "equivalent"), "smaller"),
        # Slower, from one figure.
        (-55, -55, measured(-60, -50), "yes"),
        (-55, -55, measured(-20, -15), "smaller"),
        (-7.5, -7.5, measured(-13.7, -9.5), "larger"),
        (-13, -13, measured(-3.4, 1.2), "smaller"),
        (-12, -8, measured(13, 19), "reversed"),
        (-11, -8, measured(-30, 5), "undecided"),
        # A figure is known to half a unit of its last digit.
        (-1, -1, measured(-5.7, -1.2), "yes"),
        (-1, -1, measured(-5.7, -1.6), "larger"),
        (7.5, 7.5, measured(7.52, 8), "yes"),
        (7.5, 7.5, measured(7.6, 8), "larger"),
        (50, 50, measured(82.9, 93.9), "larger"),
        (3.2437, 3.2437, measured(3.3, 4), "larger"),
        # Up to 4 %: proved to be faster, not just not excluded.
        (0, 4, measured(0.5, 2), "yes"),
        (0, 4, measured(-1, 2), "undecided"),
        (0, 4, measured(-3, -1), "reversed"),
        (0, 4, Measured("identical code"), "smaller"),
        # No difference to speak of, then and now.
        (0.3, 0.3, measured(-0.5, 0.5, "equivalent"), "yes"),
        (0.3, 0.3, measured(-1.5, 1.5), "undecided"),
        (-0.6, -0.6, Measured("identical code"), "yes"),
        # Nothing to answer with.
        (4, 4, Measured("invalid"), "undecided"),
        (4, 4, Measured("invalid", Interval(1.04, 1.03, 1.05, 0.95)), "undecided"),
        # Undecided when corrected for all comparisons: its sign is not proved.
        (4, 4, measured(3, 5, "undecided"), "undecided"),
        (4, 4, measured(-5, -3, "undecided"), "smaller"),
    ],
)
def test_each_case(low: float, high: float, here: Measured, answer: str) -> None:
    assert holds(PublishedFigure(low, high), here, "as published", DELTA) == answer
    assert holds(PublishedFigure(low, high), here, "stand-in", DELTA) == answer


def test_a_figure_of_a_row_run_in_reverse_is_inverted_already() -> None:
    assert holds(PublishedFigure(-3.9, -3.9), measured(-4.5, -3.1), "stand-in", DELTA) == "yes"
    assert holds(PublishedFigure(-3.9, -3.9), measured(3.1, 4.5), "stand-in", DELTA) == "reversed"


def test_what_is_different_is_no_answer() -> None:
    assert holds(PublishedFigure(-55, -55), measured(-60, -50), "different", DELTA) == "undecided"


@pytest.mark.parametrize(
    "figure",
    [None, PublishedFigure(None, None), PublishedFigure(200, 200, "MB"), PublishedFigure(3.2, 0.4, "% of samples")],
)
def test_what_is_no_change_in_per_cent_is_no_claim(figure: PublishedFigure | None) -> None:
    assert not is_claim(figure)


def test_a_build_against_itself_is_no_claim() -> None:
    assert is_claim(PublishedFigure(0, 0))
    assert not is_claim(PublishedFigure(0, 0), control=True)


def test_claims_are_counted_in_a_sentence() -> None:
    claims = [
        Answered(Holds.YES, "as published"),
        Answered(Holds.SMALLER, "as published"),
        Answered(Holds.LARGER, "stand-in"),
        Answered(Holds.REVERSED, "stand-in"),
        Answered(Holds.UNKNOWN, "stand-in"),
        Answered(Holds.UNKNOWN, "different"),
        Answered(None, "as published"),
    ]
    assert sentences(claims) == [
        (
            "1 of 6 published claims still holds here: 1 is smaller, 1 is larger, 1 is reversed, 2 are undecided "
            "(1 of them as something different is measured)."
        ),
        "Of the 2 measured as published, 1 still holds: 1 is smaller.",
        "Of the 3 measured by a stand-in, 0 still hold: 1 is larger, 1 is reversed, 1 is undecided.",
        "1 more claim has not been measured.",
    ]
    assert sentences([Answered(None, "")]) == ["None of the published claims has been measured yet (1)."]
    assert sentences([]) == []
    (gone,) = sentences([Answered(Holds.LARGER, "as published")])
    assert gone == "0 of 1 published claim still holds here: 1 is larger."
    assert sentences([Answered(Holds.YES, "as published")]) == ["1 of 1 published claim still holds here."]
