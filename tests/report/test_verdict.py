"""A verdict's words: a difference that is proved and small says both, in every table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_patch_report import study
from test_study_table import shipped

from burnish.record.events.verdicts import VerdictReached
from burnish.report.analysis import verdict as words
from burnish.report.fold import fold
from burnish.report.values import runs as values
from drawn import markdown, printed
from reported import Events, comparison, verdict

SMALL = {"ratio": 1.005, "low": 1.001, "high": 1.009, "level": 0.95}
BOTH = "faster, and within ±1 %: the whole interval lies above 1 after 6 starts"


@pytest.mark.parametrize(
    ("kind", "within", "shown"),
    [
        ("faster", 0.01, "faster (<1 %)"),
        ("slower", 0.005, "slower (<0.5 %)"),
        ("faster", None, "faster"),
        ("undecided", 0.01, "undecided"),
        ("", None, ""),
    ],
)
def test_words(kind: str, within: float | None, shown: str) -> None:
    assert words.words(kind, within) == shown


def test_a_comparison_says_so_and_json_too() -> None:
    events = Events("baseline", "one").run().contest("one / w")
    result = fold(events.add("verdict", **verdict("one / w", "faster", SMALL, reason=BOTH)).made)
    assert any(line.split()[:3] == ["one", "faster", "(<1"] for line in printed(result).splitlines())
    assert "| one | faster (<1 %) |" in markdown(result)
    assert values.run(result)["rows"][0]["within"] == 0.01
    assert values.run(result)["rows"][0]["verdict"] == "faster"


def test_a_bundled_study_says_so() -> None:
    events = shipped(comparison("one"))
    body = verdict("one / w", "faster", SMALL, reason=BOTH)
    result = fold(events.add("verdict", **{**body, "cell": "baseline: one / w"}).made)
    assert "| one | - | +0.5 [+0.1, +0.9] | faster (<1 %) |" in markdown(result)


def test_a_patch_says_so() -> None:
    events = study({"a": []}, [("a", "alone", "a", ["a"])], {"a": ("faster", SMALL)})
    last = events.made[-1]
    assert isinstance(last.event, VerdictReached)
    events.made[-1] = replace(last, event=replace(last.event, within=0.01))
    assert "| a | alone | faster (<1 %) |" in markdown(fold(events.made))
