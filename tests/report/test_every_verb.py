"""What makes verdicts doubtful is said of every kind of run alike: a failed calibration, one layout of each binary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from test_patch_report import study
from test_study_table import shipped

from burnish.report.fold import fold
from burnish.report.sections import repeated
from drawn import markdown, printed
from reported import Events, comparison, verdict

SMALL = {"ratio": 1.008, "low": 1.004, "high": 1.012, "level": 0.95}
LARGE = {"ratio": 1.10, "low": 1.09, "high": 1.11, "level": 0.95}
CAVEAT = "about these two binaries only: ±0.8 % is within the ±3 % that other layouts of the same code may make or take"


def built(events: Events, *names: str) -> Events:
    for name in names:
        events.add("build", variant=name, key="k", about={"toolchain": "gcc-12"}, identity={})
    return events


def tune(value: dict[str, float], **more: Any) -> Events:
    events = built(Events("baseline", "one").run(), "baseline", "one").contest("one / w", **more)
    return events.add("verdict", **verdict("one / w", "faster", value))


def patch(value: dict[str, float]) -> Events:
    return study({"one": []}, [("one", "alone", "one", ["one"])], {"one": ("faster", value)})


def bundled(value: dict[str, float]) -> Events:
    events = built(shipped(comparison("one")), "baseline", "one").contest("one / w")
    return events.add("verdict", **{**verdict("one / w", "faster", value), "cell": "baseline: one / w"})


VERBS: dict[str, Callable[[dict[str, float]], Events]] = {"tune": tune, "patch": patch, "bundled": bundled}


def compare(value: dict[str, float], *, programs: bool) -> Events:
    """Two programs, or one under two conditions."""
    events = Events("/a", "/b" if programs else "transport=tls", verb="compare").run()
    for path in ("/a", "/b" if programs else "transport=tls"):
        events.add("program", variant=path, path="/a", key="k", identity={})
    cell = f"{'/b' if programs else 'transport=tls'} / w"
    return events.contest(cell).add("verdict", **verdict(cell, "faster", value, baseline="/a"))


@pytest.mark.parametrize("verb", VERBS)
def test_a_small_difference_of_recipes_that_were_linked_once_says_so(verb: str) -> None:
    assert CAVEAT in " ".join(printed(fold(VERBS[verb](SMALL).made)).split())
    assert CAVEAT in markdown(fold(VERBS[verb](SMALL).made))
    assert "about these two binaries" not in printed(fold(VERBS[verb](LARGE).made))


@pytest.mark.parametrize("programs", [True, False])
def test_what_is_about_binaries_by_itself_needs_no_such_word(programs: bool) -> None:
    assert "about these two binaries" not in printed(fold(compare(SMALL, programs=programs).made))


def test_replicates_are_what_the_caveat_asks_for() -> None:
    events = tune(SMALL, replicates={"baseline": ["k"] * 6})
    assert "about these two binaries" not in printed(fold(events.made))


def test_conditions_controls_and_other_programs_of_a_bundled_study() -> None:
    made = [
        comparison("tcp", candidate="baseline, transport=tcp", cell="baseline: tcp / w"),
        comparison("again", candidate="baseline", control=True, cell="baseline: again / w"),
        comparison("release", cell="baseline: release / w"),
    ]
    events = built(shipped(*made), "baseline")
    for row in ("tcp", "again", "release"):
        events.add("verdict", **{**verdict(f"{row} / w", "faster", SMALL), "cell": f"baseline: {row} / w"})
    assert "about these two binaries" not in printed(fold(events.made))


def test_many_cells_have_one_sentence() -> None:
    told = repeated.two_binaries([("a", "x"), ("b", None), ("c", "x"), ("d", "x")])
    assert told == [f"{repeated.LAYOUT}: a; c; d"]
    assert repeated.two_binaries([("a", "x"), ("b", None)]) == ["a: x"]


@pytest.mark.parametrize("verb", [*VERBS, "compare"])
def test_a_failed_calibration_marks_the_report_of_every_verb(verb: str) -> None:
    events = VERBS[verb](LARGE) if verb in VERBS else compare(LARGE, programs=True)
    events.contest("one / w", forced=["mariadb, w, duet"])
    events.contest("one / w")  # a later session, or another group of the study
    result = fold(events.made)
    said = "FORCED: this host's calibration failed for mariadb, w, duet; its verdicts cannot be relied on"
    assert result.forced == ("mariadb, w, duet",)
    assert said in " ".join(printed(result).split())
    assert f"* {said}" in markdown(result)
