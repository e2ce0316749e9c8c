"""Verdicts about response times hold for another sitting too, as those about capacity do."""

from __future__ import annotations

from burnish.model.cell import CellId
from burnish.model.sittings import Spread
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.study import SessionBegun, SpreadAssumed, StudyBegun
from burnish.record.events.trials import StartDone, StoppingRule, TrialsPlanned
from burnish.record.events.verdicts import Interval, VerdictReached
from burnish.study.trials.repeated import repeated

CELL = CellId("fast", "load")
WITHIN = Interval(1.35, 1.3, 1.4, 0.95)
READINGS = (0.29, 0.30, 0.31)


def test_a_response_time_has_both_intervals() -> None:
    made: list[Event] = [
        StudyBegun("run", {"verb": "tune", "engine": "fake"}),
        SessionBegun({"boot": "here"}),
        SpreadAssumed(Spread(0.05, 20.0, "elsewhere")),
        TrialsPlanned((CELL,), StoppingRule(3, looks=(3,), equivalence_looks=(3,)), ((0,), (1,))),
        *(
            StartDone(CELL, number + 1, None, True, 1.0, "data", readings={"p99": reading, "capacity": 0.0})
            for number, reading in enumerate(READINGS)
        ),
        VerdictReached(CELL, "interleaved", "p99", "transaction", "faster", "", {"p99": WITHIN}, 3),
    ]
    at = "2026-11-26T20:00:00Z"
    told = repeated(ByType([Recorded(number, at, event) for number, event in enumerate(made, 1)]))
    (verdict,) = told.by.of(VerdictReached)
    wider = verdict.ratios["p99"]
    assert wider is not None
    assert wider.low < WITHIN.low < WITHIN.high < wider.high
    assert told.sittings[CELL].intervals["p99"] == WITHIN
