"""Candidates of a record are compared by what they share of a sitting, where they share it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from burnish.model.cell import BuildId, CellId
from burnish.model.sittings import Spread
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import BuildMade, Identity
from burnish.record.events.study import SessionBegun, SpreadAssumed, StudyBegun
from burnish.record.events.trials import StartBegun, StartDone, StoppingRule, TrialsPlanned
from burnish.record.events.verdicts import Interval, VerdictReached
from burnish.report.fold import fold
from burnish.study.trials.repeated import Repeated, repeated
from reported import HOST

ONE, OTHER = CellId("one", "load"), CellId("other", "load")
BEGAN = datetime(2026, 11, 26, 20, tzinfo=UTC)
PROFILED, ALIKE = 0.02, 0.001
FASTER = Interval(1.3, 1.2, 1.4, 0.95)
DEFINITION = {"verb": "tune", "engine": "fake", "variants": ["base", "one", "other"], "features": "full"}


def events(minutes: Mapping[CellId, tuple[float, ...]], profiles: tuple[str, str]) -> list[Recorded[Event]]:
    """A run with starts of both candidates at these minutes; readings of 0.30 ± 0.001 and 0.27 ± 0.001."""
    of = {"base": "", "one": profiles[0], "other": profiles[1]}
    builds = [
        BuildMade(BuildId(name), f"key-{name}", {"profile": profile or None}, Identity(), ())
        for name, profile in of.items()
    ]
    began: list[Event] = [
        StudyBegun("run", DEFINITION),
        SessionBegun({**HOST, "boot": "here"}),
        *builds,
        SpreadAssumed(Spread(PROFILED, math.inf, "a"), alike=Spread(ALIKE, math.inf, "b")),
        TrialsPlanned((ONE, OTHER), StoppingRule(3, looks=(3,), equivalence_looks=(3,)), ((0,), (1,))),
    ]
    made: list[tuple[float, Event]] = []
    for cell, mean in ((ONE, 0.30), (OTHER, 0.27)):
        for number, minute in enumerate(minutes[cell], 1):
            keys = {"base": "key-base", cell.candidate: f"key-{cell.candidate}"}
            reading = mean + 0.001 * (number % 3 - 1)
            made += [
                (minute, StartBegun(cell, number, "duet", builds=keys)),
                (minute, StartDone(cell, number, None, True, 10.0, "data", readings={"capacity": reading})),
            ]
    made.sort(key=lambda one: one[0])
    last = made[-1][0]
    ends: list[tuple[float, Event]] = [
        (
            last,
            VerdictReached(cell, "duet", "capacity", "t", "faster", "", {"capacity": FASTER}, 3),
        )
        for cell in (ONE, OTHER)
    ]
    return [
        Recorded(number, f"{BEGAN + timedelta(minutes=minute):%Y-%m-%dT%H:%M:%SZ}", event)
        for number, (minute, event) in enumerate([*((0.0, event) for event in began), *made, *ends], 1)
    ]


def told(minutes: Mapping[CellId, tuple[float, ...]], profiles: tuple[str, str] = ("p", "p")) -> Repeated:
    return repeated(ByType(events(minutes, profiles)))


def test_candidates_with_the_same_profile_move_less_than_with_two() -> None:
    minutes = {ONE: (1.0, 3.0, 5.0), OTHER: (2.0, 4.0, 6.0)}
    alike, profiled = told(minutes).quotient(ONE, OTHER), told(minutes, ("p", "q")).quotient(ONE, OTHER)
    assert alike is not None
    assert profiled is not None
    assert alike.ratio == profiled.ratio == pytest.approx(math.exp(0.03))
    assert math.log(profiled.high / profiled.ratio) > 1.96 * PROFILED
    assert math.log(alike.high / alike.ratio) < PROFILED


@pytest.mark.parametrize(
    "minutes",
    [
        {ONE: (1.0, 3.0, 5.0), OTHER: (62.0, 64.0, 66.0)},
        {ONE: (1.0, 3.0, 5.0), OTHER: (2.0, 4.0, 66.0)},
        {ONE: tuple(range(0, 60, 10)), OTHER: tuple(range(55, 115, 10))},
        {ONE: (0.0, 20.0, 40.0), OTHER: (0.0, 1.0, 40.0)},
    ],
    ids=["other sittings", "one more sitting", "a long sitting", "a gap of one of them"],
)
def test_what_is_not_of_the_same_sittings_has_none(minutes: dict[CellId, tuple[float, ...]]) -> None:
    assert told(minutes).quotient(ONE, OTHER) is None


def test_a_report_goes_by_it() -> None:
    result = fold(events({ONE: (1.0, 3.0, 5.0), OTHER: (2.0, 4.0, 6.0)}, ("p", "p")))
    assert result.quotients["one"]["other"]["load"].ratio == pytest.approx(math.exp(0.03))
    assert result.quotients["other"]["one"]["load"].ratio == pytest.approx(math.exp(-0.03))
