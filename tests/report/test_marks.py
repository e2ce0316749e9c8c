"""What weakens security, changes results or narrows portability is marked, and not crowned unless it was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from test_study_table import decided, shipped

from burnish.model.recipe import Marks
from burnish.report.analysis import marks
from burnish.report.analysis.ranking import ranking, winner
from burnish.report.fold import fold
from burnish.report.result import Result
from burnish.report.sections.conclusion import sentences
from burnish.report.values import runs as values
from drawn import markdown, printed
from reported import Events, comparison, ratio, verdict


def near(value: float) -> dict[str, float]:
    return {"ratio": value, "low": value * 0.998, "high": value * 1.002, "level": 0.95}


def run(named: Sequence[str] | None = None, safe: float = 1.10, other: float = 1.05, **marked: Any) -> Result:
    """`risky`, which has marks, `safe` and `other`, which have none."""
    events = Events("baseline", "risky", "safe", "other").run()
    values_ = {"risky": near(1.14), "safe": near(safe), "other": near(other)}
    for name in ("baseline", *values_):
        asked = {} if named is None else {"named": name in named}
        events.add("variant", variant=name, failure=None, notes=[], **asked, **(marked if name == "risky" else {}))
    events.contest(*(f"{name} / w" for name in values_))
    for name, value in values_.items():
        events.add("verdict", **verdict(f"{name} / w", "faster", value))
    return fold(events.made)


@pytest.mark.parametrize(
    ("marked", "letters", "words"),
    [
        ({"weakens_security": True}, "S", "!S weakens security"),
        ({"changes_results": True}, "R", "!R changes results"),
        ({"narrows_portability": True}, "P", "!P narrows portability"),
        (
            {"weakens_security": True, "changes_results": True},
            "RS",
            "!R changes results, !S weakens security",
        ),
    ],
)
def test_a_mark_stands_in_the_row_with_what_it_means(marked: dict[str, bool], letters: str, words: str) -> None:
    result = run(**marked)
    lines = printed(result).splitlines()
    assert any(line.split()[:3] == ["risky", f"!{letters}", "faster"] for line in lines)
    assert any(line.split()[:2] == ["safe", "faster"] for line in lines)
    assert words in lines
    text = markdown(result)
    assert f"| risky !{letters} | faster |" in text
    assert f"| risky !{letters} | - |" in text, "among the builds too"
    assert f"* {words}" in text


def test_without_marks_there_is_no_legend() -> None:
    assert "!" not in printed(run())
    assert marks.legend([None, Marks()]) is None


def test_what_the_engine_chose_is_not_crowned_with_a_mark() -> None:
    result = run(named=[], weakens_security=True)
    found = ranking(result)
    assert found is not None
    assert (found.best, found.take) == ("safe", "safe")
    assert [rival.candidate for rival in found.marked] == ["risky"]
    said = sentences(result)
    assert said[0] == "Fastest without marks: safe, 1.100 [1.098, 1.102] times baseline's capacity on w."
    assert "risky (weakens security) against safe: +3.6 [+3.3, +3.9] % over all loads." in said
    assert values.run(result)["ranking"]["marked"][0]["candidate"] == "risky"


def test_what_was_named_is_crowned_with_its_mark_in_the_headline() -> None:
    result = run(named=["risky", "safe"], weakens_security=True)
    assert winner(result) == "risky"
    said = sentences(result)
    assert said[0].startswith("risky (weakens security) is fastest: 1.140 [")
    assert "Fastest without marks: safe, 1.100 [1.098, 1.102] times baseline's capacity on w." in said


def test_a_record_that_does_not_tell_is_about_what_was_asked_for() -> None:
    said = sentences(run(weakens_security=True))
    assert said[0].startswith("risky (weakens security) is fastest: ")
    assert any(line.startswith("Fastest without marks: safe, ") for line in said)


def test_a_marked_one_that_is_slower_is_no_matter() -> None:
    said = sentences(run(named=[], safe=1.20, weakens_security=True))
    assert said[0].startswith("safe is fastest: ")
    assert not any("risky" in line for line in said[:2])


def test_a_tie_without_marks() -> None:
    said = sentences(run(named=[], other=1.10, weakens_security=True))
    assert said[0].startswith("Tied without marks: safe, other; take safe, the simpler one: ")


def test_where_only_marked_ones_are_faster_none_is_crowned_but_they_are_named() -> None:
    events = Events("baseline", "risky").run().contest("risky / w")
    events.add("variant", variant="risky", failure=None, notes=[], weakens_security=True, named=False)
    result = fold(events.add("verdict", **verdict("risky / w", "faster", ratio(1.2))).made)
    assert winner(result) is None
    assert sentences(result)[0] == (
        "No candidate is faster than baseline on every workload; with marks that were not asked for: "
        "risky (weakens security)."
    )


def test_a_bundled_study_marks_rows_and_its_recommendation() -> None:
    events = shipped(comparison("fast"), comparison("plain"), recommends=True)
    events.add("variant", variant="fast", failure=None, notes=[], changes_results=True, narrows_portability=True)
    decided(events, "fast", "faster", 1.3)
    decided(events, "plain", "faster", 1.1)
    result = fold(events.made)
    assert "| fast !RP | - | +30.0 [+28.7, +31.3] | faster |" in markdown(result)
    assert "!R changes results, !P narrows portability" in printed(result)
    (said,) = sentences(result)
    assert said.startswith("build with fast (changes results, narrows portability): +30.0 % over the baseline")
    assert "; the best without such marks is plain: +10.0 %" in said
