"""Negative controls of a study together: identical code, pooled, and what was found of single ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.record.events.verdicts import Interval
from burnish.report.bundled.controls import controls
from burnish.report.bundled.table import Line
from burnish.statistics.means import geometric_mean

LINE = Line(
    key="k", row="r", series="", reading="", load="l", threads=None, published="-", measured="", verdict="",
    reason="not measured yet", interval=None, quantity="capacity", together="", starts=8, control=False, settled=False,
    shows="control",
)  # fmt: skip
SAME = replace(LINE, reason="no effect: identical code, not measured", settled=True)
FOREIGN = replace(LINE, reason="its patches are for mariadb, not for fake", settled=True)


def measured(ratio: float, half: float, verdict: str = "equivalent") -> Line:
    interval = Interval(ratio, ratio - half, ratio + half, 0.95)
    return replace(LINE, verdict=verdict, interval=interval, settled=True)


def test_without_controls_there_is_nothing_to_say() -> None:
    assert controls([replace(measured(1.0, 0.01), shows="shows"), FOREIGN], 0.01) is None


def test_what_is_identical_code_needs_no_ratio() -> None:
    found = controls([SAME, SAME], 0.01)
    assert found is not None
    assert (found.verdict, found.identical, found.pooled) == ("identical code", 2, None)
    assert found.sentence == "Negative controls: 2 of 2 cells are identical code; 0 were measured."
    half_way = controls([SAME, LINE, FOREIGN], 0.01)
    assert half_way is not None
    assert (half_way.verdict, half_way.cells) == ("open", 2)


@pytest.mark.parametrize(
    ("ratios", "half", "verdict", "level"),
    [
        ((1.004, 0.997, 1.001), 0.008, "equivalent", 0.90),
        ((1.02, 1.03, 1.025), 0.008, "different", 0.95),
        ((1.02, 0.98), 0.05, "undecided", 0.90),
        ((1.004, 1.005, 1.0045), 0.001, "equivalent", 0.90),
    ],
)
def test_the_others_are_pooled(ratios: tuple[float, ...], half: float, verdict: str, level: float) -> None:
    lines = [measured(ratio, half) for ratio in ratios]
    found = controls([SAME, *lines], 0.01)
    assert found is not None
    assert found.verdict == verdict
    assert found.pooled == geometric_mean([line.interval for line in lines if line.interval], level)
    assert f"({100 * level:.0f} %): " in found.sentence


def test_what_was_found_of_a_single_one_is_a_false_finding() -> None:
    lines = [measured(1.0, 0.004), replace(measured(1.03, 0.004, "faster"), row="unlucky")]
    lines.append(replace(measured(0.9, 0.1, "slower"), row="not-so", together="undecided"))
    found = controls([*lines, replace(measured(2.0, 0.1, "invalid"), row="broken")], 0.01)
    assert found is not None
    assert found.false == (("unlucky", "l"),)
    assert found.measured == 3, "an invalid cell says nothing"
    assert "single cells found faster or slower: unlucky on l." in found.sentence
