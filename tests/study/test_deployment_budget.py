"""A search's deployment without time: every choice is a row that says so, and nothing is left for the same command."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from burnish.model.cell import CellId, Role
from burnish.model.workload import Design, Placement
from burnish.record.by_type import ByType
from burnish.record.events import Recorded
from burnish.record.events.deployment import DeploymentTaken, DeploymentTried, StartsLimited
from burnish.record.events.searches import SearchEnded
from burnish.record.events.trials import StartBegun, StartDone
from burnish.record.record import Record
from burnish.report.analysis.deployed import Deployed, deployed
from burnish.report.answer import deployment as report
from burnish.report.document import Points
from burnish.statistics.sequential import Rule
from burnish.study.extras import deployment
from burnish.study.workshop.workshop import NotMeasured, Workshop

ENDED = SearchEnded("fast", "fast", (), 3, 0, "", (), (), {}, 0.0, 100.0, {})
WHY = "cut by --budget: 3 h 09 min of 3 h 00 min were used up before it, and it needs about 4 min"


def test_nothing_of_a_searchs_deployment_is_left_open_for_want_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices = tuple(SimpleNamespace(name=name, words=(name,), does="", costs="") for name in ("lighter", "heavier"))
    study = SimpleNamespace(deploy=choices, search=object(), base="baseline")
    built = SimpleNamespace(built=object())

    def late(*_: object) -> None:
        raise NotMeasured(WHY)

    for name, value in {"_loads": lambda _: {"load": None}, "_fits": lambda *_: None, "_on": lambda *_: []}.items():
        monkeypatch.setattr(deployment, name, value)
    monkeypatch.setattr(deployment, "_measure", late)
    monkeypatch.setattr(Workshop, "make_baseline", lambda _: built)
    monkeypatch.setattr(Workshop, "make", lambda *_: None)
    with closing(Record(tmp_path / "run", create=True)) as record:
        record.append(ENDED)
        record.append(replace(ENDED, winner=None))  # by another sitting: the winner of the first one was deployed
        session = SimpleNamespace(record=record, bench=SimpleNamespace(say=lambda _: None))
        made = cast("Any", {"fast": built})
        workshop = Workshop(cast("Any", session), cast("Any", study), cast("Any", None), made=made)
        assert deployment.deployment_open(workshop)
        deployment.deploy(workshop)
        assert not deployment.deployment_open(workshop), "or the run would never be finished"
        tried = [recorded.event for recorded in record.events(DeploymentTried)]
        assert [(event.choice, event.build, event.failure) for event in tried] == [
            ("lighter", "fast", WHY),
            ("heavier", "fast", WHY),
        ]
        found = deployed(ByType(record.every()), lambda _: None)
    assert found is not None
    assert found.done
    assert f"lighter: not measured: {WHY}" in sentences(found)


def sentences(found: Deployed) -> list[str]:
    result = cast("Any", SimpleNamespace(deployment=found, baseline="baseline", confirmations=(), rows=()))
    (section,) = report.sections(result)
    return [item.text for block in section.blocks if isinstance(block, Points) for item in block.items]


def test_a_report_says_what_could_not_be_measured_together() -> None:
    taken = DeploymentTaken("fast", ("lighter",), ("work_percent=25",), {}, {}, WHY)
    tried = DeploymentTried("lighter", "fast", ("work_percent=25",))
    by = ByType([Recorded(1, "2026-11-26T02:00:00Z", tried), Recorded(2, "2026-11-26T02:00:01Z", taken)])
    found = deployed(by, lambda _: None)
    assert found is not None
    assert sentences(found) == [f"lighter: faster by itself; together not measured: {WHY}"]


@pytest.mark.parametrize(
    ("budget", "cap"), [(None, None), (1000.0, 12), (150.0, 9), (90.0, 3)], ids=["none", "much", "some", "least"]
)
def test_a_choice_takes_no_more_starts_than_leave_time_for_what_comes_after_it(
    budget: float | None, cap: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two loads, a start 5 s; after the choice each is measured twice more with the fewest starts, 60 s in all."""
    asked: list[Rule | None] = []
    used = {"seconds": 0.0}
    with closing(Record(tmp_path / "run", create=True)) as record:
        workshop = _workshop(record, budget, used, asked, monkeypatch)
        deployment._measure(workshop, cast("Any", ["reads", "writes"]), 2)
        assert [event.event.cap for event in record.events(StartsLimited)] == ([] if cap is None else [cap])
        assert asked == [Rule() if cap is None else Rule().at_most(cap)]
        assert asked[0] is not None
        used["seconds"] = 2 * 5.0 * asked[0].cap  # all that it may take
        if budget is not None:
            room = deployment.Allowance(budget, lambda: used["seconds"], again=False)
            assert room.why_not(2 * 2 * 3 * 5.0) is None, "and the rest still has its time"
            deployment._measure(workshop, cast("Any", ["reads", "writes"]))
            assert asked[1] == asked[0], "a session that continues decides nothing anew"


def test_a_start_is_reckoned_as_it_took_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Rule | None] = []
    with closing(Record(tmp_path / "run", create=True)) as record:
        workshop = _workshop(record, 150.0, {"seconds": 0.0}, asked, monkeypatch)
        taken = [(Design.INTERLEAVED, 6.0), (Design.INTERLEAVED, 8.0), (Design.DUET, 1.0)]
        for number, (design, seconds) in enumerate(taken):
            record.append(StartBegun(_cell("before"), number, design=design, placement=Placement.APART, seed=""))
            record.append(StartDone(_cell("before"), number, None, True, seconds, ""))
        deployment._measure(workshop, cast("Any", ["reads", "writes"]), 2)
    assert asked == [Rule().at_most(5)], "of 157 s, 84 are kept for what comes after it, and both starts take 14"


def _cell(load: str) -> CellId:
    return CellId("fast", load, Role.DEPLOYMENT)


def _workshop(
    record: Record,
    budget: float | None,
    used: dict[str, float],
    asked: list[Rule | None],
    monkeypatch: pytest.MonkeyPatch,
) -> Workshop:
    """A search's, whose starts take 5 s if none is recorded; the rule of each measurement is noted, none is made."""

    def examined(_: Workshop, load: object) -> Any:
        cell = SimpleNamespace(id=_cell(str(load)), design=Design.INTERLEAVED, workload=SimpleNamespace(name=load))
        return SimpleNamespace(cell=cell, candidate=SimpleNamespace(label="fast"))

    def measure(_: Workshop, __: Sequence[object], rule: Rule | None = None, *, again: bool) -> None:
        assert again
        asked.append(rule)

    monkeypatch.setattr(deployment, "_examined", examined)
    monkeypatch.setattr(deployment, "measure", measure)
    monkeypatch.setattr(deployment, "timings", lambda _: {Design.INTERLEAVED: None})
    monkeypatch.setattr(deployment, "start_seconds", lambda _: 5.0)
    monkeypatch.setattr(deployment, "note_times", lambda *_: None)
    monkeypatch.setattr(Workshop, "spent", property(lambda _: used["seconds"]))
    options = SimpleNamespace(budget=budget)
    session = SimpleNamespace(record=record, options=options, bench=SimpleNamespace(say=lambda _: None))
    study = SimpleNamespace(search=object(), rule=Rule())
    return Workshop(cast("Any", session), cast("Any", study), cast("Any", None))
