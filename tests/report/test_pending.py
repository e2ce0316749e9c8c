"""A run whose cells are all decided and which is not finished: the report says what is missing."""

from __future__ import annotations

import json

import pytest

from burnish.model.cell import CellId, ComparisonId, Role
from burnish.record.events import Recorded
from burnish.record.events.bundled import ConfirmationBegun, LayoutsBegun
from burnish.report.answer.around import Around
from burnish.report.contents import answer
from burnish.report.fold import fold
from burnish.report.result import Result
from burnish.report.values import runs
from burnish.report.values.documents import form
from described import wrong
from drawn import drawn, markdown
from reported import Events, ratio, verdict

LOADS = ("read", "write")
TAKES = "Not finished: 2 of 2 cells decided, but "


def decided(cap: int = 20) -> Events:
    """A tune whose only candidate is faster on both loads."""
    events = Events("baseline", "one").run().contest(*(f"one / {load}" for load in LOADS), cap=cap)
    for load in LOADS:
        events.add("verdict", **verdict(f"one / {load}", "faster", ratio(1.2)))
    return events


def begun(events: Events, kind: type[ConfirmationBegun] | type[LayoutsBegun], starts: int | None) -> None:
    """Both loads measured again, on so many starts each."""
    role = Role.CONFIRMATION if kind is ConfirmationBegun else Role.LAYOUTS
    for load in LOADS:
        event = kind(ComparisonId("one", load=load), CellId("one", load, role), starts)  # type: ignore[arg-type]
        events.made.append(Recorded(len(events.made) + 1, "2026-01-02T03:04:05Z", event))


def taken(events: Events, load: str, *reasons: str | None) -> None:
    """Fresh starts of a load, each with the reason why it is invalid."""
    for number, why in enumerate(reasons, 1):
        events.add("start_done", cell=f"again: one / {load}", workload=load, start=number, invalid=why)


def short(result: Result) -> str:
    """The short report, its lines joined."""
    return " ".join(drawn(answer(result, Around(result.name, "/b", 1, ("show",), "")), 80).split())


def test_the_winners_fresh_starts_are_counted() -> None:
    events = decided()
    begun(events, ConfirmationBegun, 5)
    taken(events, "read", None, "the client died", None)
    taken(events, "write", None)
    result = fold(events.made)
    words = "the winner's fresh starts (3 of 10)"
    assert f"{TAKES}{words} are not complete; the same command resumes." in short(result)
    assert f"* not complete: {words}\n" in markdown(result)
    document = json.loads(json.dumps(form("run", runs.run(result))))
    assert document["pending"] == [{"role": "confirmation", "taken": 3, "wanted": 10}]
    assert not wrong("run", document)


def test_a_load_that_is_decided_has_all_its_starts() -> None:
    events = decided()
    begun(events, ConfirmationBegun, 4)
    taken(events, "read", None, None)
    events.add("verdict", **verdict("again: one / read", "faster", ratio(1.2)) | {"candidate": "one"})
    assert "the winner's fresh starts (4 of 8)" in short(fold(events.made))


@pytest.mark.parametrize(("cap", "wanted"), [(20, 16), (3, 6)])
def test_an_older_record_does_not_say_how_many_starts_there_are_to_be(cap: int, wanted: int) -> None:
    events = decided(cap)
    begun(events, ConfirmationBegun, None)
    assert f"the winner's fresh starts (0 of {wanted})" in short(fold(events.made))


def test_starts_in_other_link_orders_are_counted_too() -> None:
    events = decided()
    begun(events, LayoutsBegun, 6)
    assert f"{TAKES}the starts in other link orders (0 of 12) are not complete" in short(fold(events.made))


def test_whatever_else_is_missing_is_not_passed_over() -> None:
    result = fold(decided().made)
    assert f"{TAKES}what follows them is not complete; the same command resumes." in short(result)
    assert "pending" not in runs.run(result)


def test_a_finished_run_lacks_nothing() -> None:
    events = decided()
    begun(events, ConfirmationBegun, 4)  # the budget ended before them
    result = fold(events.add("finished").made)
    assert "not complete" not in short(result) + markdown(result)
