"""A check in its formats: the sentence, the table for a review, JUnit XML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree import ElementTree as Tree

import pytest

from burnish.report.answer.check import document
from burnish.report.answer.checked import Check, Outcome, check
from burnish.report.fold import fold
from burnish.report.render.junit import junit
from burnish.report.render.markdown import markdown
from drawn import drawn
from reported import Events, ratio, verdict

SAME, BAD, OPEN = 1.0, 0.95, 0.99


def around(value: float, sd: float = 0.002) -> list[float]:
    return [math.log(value) + sd * step for step in (-1.5, -0.5, 0.5, 1.5, -1, 1, 0, 0)]


def checked(readings: dict[str, Sequence[float]], *, invalid: Sequence[str] = (), slower: float = 0.01) -> Check:
    events = Events("old", "new <fast>", verb="compare").run()
    cells = {load: f"new <fast> / {load}" for load in readings}
    events.contest(*cells.values())
    for load, cell in cells.items():
        kind = "invalid" if load in invalid else "undecided"
        value = None if load in invalid else ratio(1.0)
        events.add("verdict", **verdict(cell, kind, value, baseline="old"))
    return check(fold(events.add("finished").made), readings, slower, 600)


@pytest.mark.parametrize(
    ("values", "outcome", "says"),
    [
        ({"a": SAME, "b": 1.02}, Outcome.PASSED, "is not slower than old by more than 1 %: proved on every load."),
        ({"a": SAME, "b": BAD}, Outcome.SLOWER, "is slower than old by more than 1 % on b: proved."),
        ({"a": SAME, "b": OPEN}, Outcome.UNDECIDED, "by more than 1 % on b: more starts can tell."),
        ({"a": OPEN, "b": BAD}, Outcome.SLOWER, "on b: proved."),
    ],
)
def test_the_worst_load_decides(values: dict[str, float], outcome: Outcome, says: str) -> None:
    found = checked({load: around(value) for load, value in values.items()})
    assert found.outcome is outcome
    assert found.sentence.endswith(says)


def test_no_loss_at_all_has_no_sign() -> None:
    found = checked({"a": around(1.02)}, slower=0.0)
    assert [one.reason for one in found.loads] == ["the whole interval is above 0 %"]


def test_what_cannot_be_compared_is_no_pass() -> None:
    found = checked({"a": around(SAME), "b": []}, invalid=["b"])
    assert found.outcome is Outcome.INVALID
    assert "could not be compared with old on b" in found.sentence


def test_a_table_for_a_review_and_for_a_terminal() -> None:
    found = checked({"a": around(SAME), "b": around(BAD)})
    page = markdown(document(found))
    assert page.startswith(
        "# fake: new \\<fast> against old\n\nnew \\<fast> is slower than old by more than 1 % on b: proved."
    )
    assert "| b | slower | -5.0 [" in page
    assert "| the whole interval is below -1 % |" in page
    assert "one sitting on this host" in page
    text = drawn(document(found))
    assert text.splitlines()[0].startswith("new <fast> is slower")
    assert max(map(len, text.splitlines())) <= 80


def test_junit_has_a_test_for_each_load_and_an_undecided_one_is_no_pass() -> None:
    found = checked({"a": around(SAME), "b": around(BAD), "c": around(OPEN)})
    suite = Tree.fromstring(junit(found)).find("testsuite")  # noqa: S314 - written here
    assert suite is not None
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    assert suite.get("name") == "fake: new <fast> against old"
    inner = {case.get("name"): [child.tag for child in case] for case in suite}
    assert inner == {"a": ["system-out"], "b": ["failure"], "c": ["error"]}
