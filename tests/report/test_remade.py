"""A build that is made again between its starts: the report says so if it came out as another program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from burnish.model.cell import CellId
from burnish.record.events.trials import StartDone
from burnish.report import fold as folding
from burnish.report.fold import fold
from burnish.study.trials import superseded
from drawn import markdown
from reported import Events

WORDS = "made again between its starts, as another program"


def program(code: str, data: str = "d") -> dict[str, Any]:
    return {
        "machine": "x86-64",
        "bits": 64,
        "code": code,
        "data": data,
        "sizes": {},
        "needed": [],
        "versions": [],
        "symbols": True,
    }


class Sittings(Events):
    """A tune of one candidate, and the programs that its starts are taken of."""

    def examined(self, name: str, code: str, data: str = "d") -> Sittings:
        self.add("build", variant=name, key="k", about={}, identity={})
        needs = {"level": "x86-64", "beyond": []}
        self.add("evidence", variant=name, tried={}, program=program(code, data), needs=needs)
        return self

    def start(self, number: int, invalid: str | None = None) -> Sittings:
        self.add("start_done", cell="one / w", start=number, invalid=invalid)
        return self


def sitting(*programs: str) -> Sittings:
    """The first sitting of a search's finalist, or of any build, with these programs: code, and maybe data."""
    events = Sittings("baseline", "one").run().contest("one / w")
    assert isinstance(events, Sittings)
    return events.examined("baseline", "base").examined("one", *programs).start(1)


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (("aaaaaaaaaaaaaaaa",), None),
        (("bbbbbbbbbbbbbbbb",), "code aaaaaaaaaaaa, then bbbbbbbbbbbb"),
        (("aaaaaaaaaaaaaaaa", "e"), "data d, then e"),
    ],
)
def test_another_program_is_named_and_an_equal_one_is_not(then: tuple[str, ...], said: str | None) -> None:
    events = sitting("aaaaaaaaaaaaaaaa").examined("baseline", "base").examined("one", *then).start(2)
    _, one = fold(events.made).builds
    assert one.notes == ((f"{WORDS}: {said}",) if said else ())
    assert (f"* one: {WORDS}: {said}" in markdown(fold(events.made))) is bool(said)


def test_the_baseline_is_a_side_of_every_cell() -> None:
    events = sitting("a").examined("baseline", "other").start(2)
    base, one = fold(events.made).builds
    assert (base.notes, one.notes) == ((f"{WORDS}: code base, then other",), ())


def test_a_program_that_was_not_measured_counts_for_nothing() -> None:
    events = sitting("a").examined("one", "b").start(2, "the server died").examined("one", "a").start(3)
    assert not any(build.notes for build in fold(events.made).builds)


AFTER = "made again after its starts, as another program"


def test_a_cell_without_a_start_of_the_last_program_is_named() -> None:
    """Its verdict stands, as no start of it was due: the report says whose it is."""
    events = sitting("a" * 16).examined("baseline", "base")
    before = list(events.made)
    assert not any(build.notes for build in fold(before).builds)
    base, one = fold(events.examined("one", "b" * 16).made).builds
    said = "not measured since, so that these figures are of the earlier program: one on w; --fresh measures anew"
    assert (base.notes, one.notes) == ((), (f"{AFTER}: code {'a' * 12}, then {'b' * 12}; {said}",))
    assert AFTER in markdown(fold(events.made))
    again = fold(events.start(2).made)
    assert again.builds[1].notes == (f"{WORDS}: code {'a' * 12}, then {'b' * 12}",)


def test_the_baselines_cells_are_those_of_all_candidates() -> None:
    events = sitting("a").examined("baseline", "other")
    base, one = fold(events.made).builds
    assert one.notes == ()
    assert base.notes[0].startswith(f"{AFTER}: code base, then other; ")
    assert "of the earlier program: one on w;" in base.notes[0]


def test_the_superseded_starts_of_a_record_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    really = superseded.superseded

    def seen(starts: Iterable[StartDone]) -> dict[tuple[CellId, int], tuple[bool, bool]]:
        asked.append(starts)
        return really(starts)

    for place in (superseded, folding):
        monkeypatch.setattr(place, "superseded", seen)
    fold(sitting("a").examined("one", "b").start(2).made)
    assert len(asked) == 1
