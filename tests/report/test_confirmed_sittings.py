"""A winner that was measured again in each of two sittings: two verdicts in the record, one row in the report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.model.cell import CellId, Role
from burnish.model.sittings import Schedule, Spread
from burnish.record.events import Event, Recorded
from burnish.record.events.study import Call, SessionBegun, SpreadAssumed, StudyBegun, StudyFinished
from burnish.record.events.trials import StartDone, StoppingRule, TrialsPlanned
from burnish.record.events.verdicts import Interval, OtherMethod, VerdictReached
from burnish.report.answer.around import Around
from burnish.report.contents import answer
from burnish.report.fold import fold
from burnish.report.values import runs
from drawn import drawn
from reported import HOST

CLAIM = CellId("fast", "fake_mix")
TIMES = ("2026-11-27T10:00:00Z", "2026-11-27T14:00:00Z")


def start(cell: CellId, number: int, reading: float) -> StartDone:
    return StartDone(
        cell, number, None, True, 1.0, "data", {"capacity": reading}, {"capacity": (reading,)}, hardware={}
    )


def reached(cell: CellId, ratio: float) -> VerdictReached:
    interval = Interval(ratio, ratio - 0.1, ratio + 0.1, 0.95)
    other = (OtherMethod("trimmed mean", interval),)
    ratios: dict[str, Interval | None] = {"capacity": interval}
    return VerdictReached(cell, "duet", "capacity", "transaction", "faster", "", ratios, 2, sensitivity=other)


@pytest.mark.parametrize("role", [Role.CONFIRMATION, Role.LAYOUTS])
def test_a_cell_with_a_verdict_of_each_sitting_is_one_row(role: Role) -> None:
    """The fake engine's `FAKE_SPEED=400`: four times the baseline's capacity in both sittings."""
    again = replace(CLAIM, role=role)
    begun: list[Event] = [
        StudyBegun("run", {"verb": "tune", "engine": "fake", "variants": ["baseline", "fast"], "features": "full"}),
        SessionBegun({**HOST, "boot": "here"}),
        SpreadAssumed(Spread(0.005, 20.0, "elsewhere")),
        TrialsPlanned((CLAIM,), StoppingRule(8), ((0,), (1,))),
    ]
    moments = [(TIMES[0], event) for event in begun]
    for at, first, ratio in ((TIMES[0], 1, 4.0), (TIMES[1], 3, 4.1)):
        for cell in (CLAIM, again):
            events = (start(cell, first, 1.39), start(cell, first + 1, 1.4), reached(cell, ratio))
            moments += [(at, event) for event in events]
    result = fold([Recorded(number, at, event) for number, (at, event) in enumerate(moments, 1)])
    (row,) = result.confirmations if role is Role.CONFIRMATION else result.relinked
    assert (row.candidate, row.workload, row.starts) == ("fast", "fake_mix", 4)
    assert row.sitting is not None
    assert row.sitting.sittings == 2
    assert row.sensitivity == (), "as recorded it is of one sitting; the ratio is of both"
    shown = runs.run(result)
    assert len(shown["confirmations"]) + len(shown["relinked"]) == 1
    assert [claim.starts for claim in result.rows] == [4]


@pytest.mark.parametrize(("finished", "wanted", "missing"), [(False, 3, True), (False, 2, False), (True, 3, False)])
def test_sittings_that_are_left_are_said(finished: bool, wanted: int, missing: bool) -> None:
    call = Call(("tune", "fake", "--sittings", str(wanted)), "/", Schedule(wanted, 7200.0))
    begun: list[Event] = [
        StudyBegun("run", {"verb": "tune", "engine": "fake", "variants": ["baseline", "fast"], "features": "full"}),
        SessionBegun({**HOST, "boot": "here"}, call=call),
        TrialsPlanned((CLAIM,), StoppingRule(8), ((0,), (1,))),
    ]
    moments = [(TIMES[0], event) for event in begun]
    for at, first in ((TIMES[0], 1), (TIMES[1], 3)):
        moments += [(at, one) for one in (start(CLAIM, first, 1.39), start(CLAIM, first + 1, 1.4), reached(CLAIM, 4))]
    moments += [(TIMES[1], StudyFinished())] * finished
    result = fold([Recorded(number, at, event) for number, (at, event) in enumerate(moments, 1)])
    said = drawn(answer(result, Around(result.name, "/b", 1, ("show",), "")), 80)
    assert ("the sittings (2 of 3) are not complete; the same command resumes" in " ".join(said.split())) == missing
    assert [(one.role, one.taken, one.wanted) for one in result.pending] == [("sittings", 2, 3)] * missing
