"""Whether two contests of one record measure alike."""

from __future__ import annotations

from typing import Any

from burnish.model.cell import CellId, Role
from burnish.record.events.trials import StartBegun
from burnish.study.merge import bundled, same_plan
from burnish.study.merge.parts import Part, StartName, Step

TIMES = {"duet": {"window": 0.1, "pairs": 3}}


def load(*parameters: list[str], **more: Any) -> dict[str, Any]:
    return {"name": "l", "parameters": [list(each) for each in parameters], "threads": 1, **more}


def contest(found: dict[str, Any], times: dict[str, Any] = TIMES) -> dict[str, Any]:
    return {"workloads": {"l": found}, "timings": times}


def test_a_load_with_other_parameters_is_measured_otherwise() -> None:
    one, other = contest(load(["loops", "500"], ["tree", "/a"])), contest(load(["loops", "100"], ["tree", "/b"]))
    assert same_plan.changed(one, other) == ("l.parameters.loops", "500", "100")
    assert same_plan.changed(one, contest(load(["loops", "500"], ["tree", "/b"]))) is None, "where it lies is no matter"
    assert same_plan.changed(one, contest(load(["loops", "500"], saturated=True))) is None, "follows from a cell"
    assert same_plan.changed(one, {"workloads": {"m": load()}, "timings": {}}) is None, "nothing that both have"
    assert same_plan.changed({}, one) is None, "nothing was measured so far"


def test_where_a_users_script_lies_is_no_matter_alone_or_in_a_mix() -> None:
    def own(place: str, content: str = "c") -> dict[str, Any]:
        return load(file=f"{place}/m.lua", program=f"{place}/m.lua", content=content)

    def mixed(place: str, content: str = "c") -> dict[str, Any]:
        return contest(load(program="mix.lua", parts=[[own(place, content), 2], [load(program="oltp_insert"), 1]]))

    assert same_plan.changed(contest(own("/a")), contest(own("/b"))) is None
    assert same_plan.changed(contest(own("/a")), contest(own("/a", "d"))) is not None
    assert same_plan.changed(mixed("/a"), mixed("/b")) is None
    assert same_plan.changed(mixed("/a"), mixed("/a", "d")) is not None


def test_so_is_one_read_at_other_times() -> None:
    one = contest(load())
    assert same_plan.changed(one, contest(load(), {"duet": {"window": 0.2, "pairs": 3}})) == (
        "duet.window",
        0.1,
        0.2,
    )
    assert same_plan.changed(one, contest(load(), {"duet": {"window": 0.1, "pairs": 2}})) is None, "by calibration"


def test_a_canarys_design_is_no_part_of_the_plan() -> None:
    """One cell holds the baseline against itself, whichever row's design it was mixed in with."""
    cells = {CellId("A/A", "l", Role.CANARY, "baseline"): "solo", CellId("o3", "l", base="baseline"): "duet"}
    part = Part("r1", "", {})
    for cell, design in cells.items():
        part.starts[StartName(cell, "h", "s", 1)] = [Step("", StartBegun(cell, 1, design))]
    assert bundled.planned(part)["designs"] == {"baseline: o3 / l": "duet"}
