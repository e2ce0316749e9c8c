"""A search's deployment without time: every choice is a row that says so, and nothing is left for the same command."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from burnish.record.by_type import ByType
from burnish.record.events import Recorded
from burnish.record.events.deployment import DeploymentTaken, DeploymentTried
from burnish.record.events.searches import SearchEnded
from burnish.record.record import Record
from burnish.report.analysis.deployed import Deployed, deployed
from burnish.report.answer import deployment as report
from burnish.report.document import Points
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
    assert sentences(found) == [f"lighter: faster by themselves; together not measured: {WHY}"]
