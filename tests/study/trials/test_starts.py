"""A cell's starts as the record has them."""

from __future__ import annotations

import math
from contextlib import closing
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.model.cell import CellId
from burnish.model.workload import Design
from burnish.record.events.study import RecordsMerged, SessionBegun
from burnish.record.events.trials import PairRead, SideReading, StartBegun, StartDone
from burnish.record.record import Record
from burnish.statistics.verdicts import HostPrior, Rule, judge
from burnish.study.cells import Cell
from burnish.study.trials.starts import (
    check_designs,
    check_machine,
    given_up,
    invalid_cell,
    spread_about_zero,
    starts_of,
)

CELL = CellId("one", "w")


def test_the_fast_lane_is_off_until_two_canaries_were_read() -> None:
    """Whether the host is as quiet as when it was calibrated is not known before."""
    prior, readings = HostPrior(0.002, 20), [0.05, 0.051]
    assert judge(readings, Rule(), prior, 0.002).fast
    assert not judge(readings, Rule(), prior, math.inf).fast


def test_the_spread_of_canaries_is_about_what_they_should_be() -> None:
    assert spread_about_zero([0.3]) is None
    assert spread_about_zero([0.03, 0.04]) == pytest.approx(math.sqrt(0.00125)), "their mean is known: 0"


def test_reasons_that_differ_in_their_figures_alone_are_one() -> None:
    reasons = ["gcc-12.o3 hangs", "took 7% of 2.5 (bound 5%)", "gcc-13.o3 hangs", "took 19% of 0.1 (bound 5%)"]
    judged = invalid_cell(reasons, valid=8)
    assert judged is not None
    assert "4 starts were invalid, 2 of them: took 7% of 2.5 (bound 5%)" in judged.reason
    assert invalid_cell(reasons, valid=9) is None, "few enough to be repeated"
    assert invalid_cell(reasons, valid=7, disturbed=2) is None, "what the host alone did counts half"


def test_starts_that_the_host_disturbed_end_a_cell_when_they_are_as_many_as_valid_ones() -> None:
    assert given_up(3, 3, 0), "a host that is never quiet"
    assert given_up(4, 4, 4)
    assert not given_up(4, 4, 5)
    assert given_up(3, 0, 6)
    assert not given_up(3, 3, 6)
    assert not given_up(2, 0, 0), "too few to tell"


def test_a_cell_that_was_begun_in_another_design_is_refused(tmp_path: Path) -> None:
    load_ = load.workload(load.engine("fake"), "fake_mix")

    def cell(label: str, design: Design) -> Cell:
        return Cell(CellId(label, load_.name), load_, design)

    one, other = cell("one", Design.SOLO), cell("other", Design.INTERLEAVED)
    with closing(Record(tmp_path / "study", create=True)) as record:
        record.append(StartBegun(one.id, start=1, design="solo"))
        check_designs(record, [one, other])
        with pytest.raises(UserError, match=r"study: .* one / fake_mix was solo .* is interleaved now; "):
            check_designs(record, [other, cell("one", Design.INTERLEAVED)])


def session(machine: str, seed: int | None = 7) -> SessionBegun:
    return SessionBegun({"machine": machine, "cpu_model": f"CPU of {machine}"}, seed=seed)


def test_a_run_whose_starts_another_machine_took_is_refused(tmp_path: Path) -> None:
    """Its sittings would be taken for those of one host."""
    with closing(Record(tmp_path / "study", create=True)) as record:
        record.append(session("builder"))
        check_machine(record, "here", "CPU")
        record.append(session("there"))
        record.append(StartBegun(CELL, start=1))
        check_machine(record, "there", "CPU")
        check_machine(record, "unknown", "CPU")
        with pytest.raises(UserError) as caught:
            check_machine(record, "here", "Zen 5")
        said = str(caught.value)
        assert said.startswith("study: its earlier starts were taken on another machine (CPU of there) than this one")
        assert "(Zen 5); " in said
        assert "--fresh" in said
        assert "`burnish record merge`" in said
        assert "\n" not in said
        with pytest.raises(UserError, match="or by root here and now by another user"):
            check_machine(record, "here", "CPU of there")
        record.append(session("unknown"))
        with pytest.raises(UserError, match="another machine"):
            check_machine(record, "here", "Zen 5")
        record.append(RecordsMerged((), ()))
        check_machine(record, "here", "Zen 5")


def test_machines_that_the_record_does_not_know_are_not_compared(tmp_path: Path) -> None:
    """Version 0.1 knew a machine by another digest, and drew no seed."""
    with closing(Record(tmp_path / "study", create=True)) as record:
        for host in (session("unknown"), session("old", seed=None), SessionBegun({}, seed=7)):
            record.append(host)
        record.append(StartBegun(CELL, start=1))
        check_machine(record, "here", "CPU")


def test_what_a_sides_transactions_cost_in_each_start() -> None:
    """All valid pairs of a start together; nothing where a start lacks the side."""

    def pair(start: int, number: int, cpu: float, label: str = "base", invalid: str | None = None) -> PairRead:
        return PairRead(CELL, start, number, {label: SideReading(1.0, 100.0, 0, cpu, 0.1)}, {}, 1, invalid=invalid)

    ends = [StartDone(CELL, start, None, True, 1.0, "f", {"capacity": 0.1}) for start in (1, 2)]
    found = starts_of([*ends, pair(2, 1, 4.0), pair(1, 1, 1.0), pair(1, 2, 3.0), pair(1, 3, 99.0, invalid="noise")])
    assert found.costs("base") == pytest.approx((math.log(0.02), math.log(0.04)))
    assert found.costs("other") == ()
    assert starts_of([*ends, pair(1, 1, 1.0)]).costs("base") == (), "of one start it is not known"
