"""What the fast lane ended on a calibrated host is decided in the report as well."""

from __future__ import annotations

import pytest

from burnish.model.cell import CellId
from burnish.model.sittings import Spread
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.study import SessionBegun, SpreadAssumed, StudyBegun
from burnish.record.events.trials import StartDone, StoppingRule, TrialsPlanned
from burnish.record.events.verdicts import Calibrated, FamilyJudged, FamilyMember, Interval, VerdictReached
from burnish.statistics.verdicts import Kind
from burnish.study.trials.repeated import Repeated, repeated

CELL = CellId("fast", "load")
READ = {"capacity": (0.048, 0.052), "throughput": (0.048, 0.052)}


def judged(calibrated: Calibrated | None) -> Repeated:
    ratio = Interval(1.05, 1.03, 1.07, 0.95)
    made: list[Event] = [
        StudyBegun("run", {"verb": "tune", "engine": "fake"}),
        SessionBegun({"boot": "here"}),
        SpreadAssumed(Spread(0.003, 20.0, "elsewhere")),
        TrialsPlanned((CELL,), StoppingRule(12), ((0,), (1,))),
        *(
            StartDone(CELL, number + 1, None, True, 1.0, "data", readings={key: of[number] for key, of in READ.items()})
            for number in range(2)
        ),
        VerdictReached(
            CELL, "duet", "capacity", "t", "faster", "", dict.fromkeys(READ, ratio), 2, calibrated=calibrated
        ),
        FamilyJudged(False, (FamilyMember(CELL, "faster", 0.01, 0.01, 1.0, "", ratio),)),
    ]
    at = "2026-11-26T20:00:00Z"
    return repeated(ByType([Recorded(number, at, event) for number, event in enumerate(made, 1)]))


def test_two_starts_are_enough_by_the_calibration_that_the_lane_had() -> None:
    by_lane = judged(Calibrated(0.004, 12, ended=True))
    (verdict,) = by_lane.by.of(VerdictReached)
    assert verdict.verdict == "faster"
    assert "fast lane" in verdict.reason
    shown = verdict.ratios["capacity"]
    assert shown is not None
    assert shown.low > 1.0
    assert by_lane.kinds == {CELL: Kind.FASTER}
    beside = verdict.ratios["throughput"]
    assert beside is not None
    assert beside.low < 1.0, "the calibration is of the headline"


@pytest.mark.parametrize("calibrated", [None, Calibrated(0.004, 12, ended=False)])
def test_without_the_lane_two_starts_tell_nothing(calibrated: Calibrated | None) -> None:
    assert judged(calibrated).kinds == {CELL: Kind.UNDECIDED}
