"""When trials look: the fast lane not before both canaries, and at the headline alone."""

from __future__ import annotations

import io
import itertools
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from burnish.bench.pairs import Contestant, Pair, StartResult
from burnish.bench.readings import Reading
from burnish.catalogue import load
from burnish.catalogue.between import shipped
from burnish.engines.contract import Engine
from burnish.model.cell import AA, CellId
from burnish.model.condition import Condition
from burnish.model.workload import Design, Placement, Timing
from burnish.program.built import Built
from burnish.record.events.trials import StartBegun, StartDone
from burnish.record.events.verdicts import Calibrated, VerdictReached
from burnish.record.record import Record
from burnish.record.workbench import Bench
from burnish.statistics.sequential import HostPrior, Rule
from burnish.statistics.sittings import SittingCell, spread_for
from burnish.statistics.verdicts import Kind
from burnish.study.cells import Cell
from burnish.study.trials import trials as module
from burnish.study.trials.trials import Trials

LOAD = load.workload(load.engine("fake"), "fake_mix")
CELL = Cell(CellId("one", LOAD.name), LOAD)
CALIBRATED = HostPrior(0.002, 20)
LARGE = (0.050, 0.051, 0.049, 0.050)

Run = Callable[..., list[str]]


def pair(labels: list[str], capacity: float, throughput: float) -> Pair:
    """A pair in which the second side has these log-ratios."""
    base = Reading(1.0, 1000.0, 0, 1.0, 0.1)
    rate = math.exp(throughput)
    other = Reading(1.0, 1000.0 * rate, 0, rate / math.exp(capacity), 0.1)
    turn: Mapping[str, Reading] = dict(zip(labels, (base, other), strict=True))
    return Pair((turn, turn), 2, {}, {}, 0.0, {}, None)


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with closing(Record(tmp_path / "study", create=True)) as made:
        yield made


@pytest.fixture
def said() -> io.StringIO:
    """What the terminal shows."""
    return io.StringIO()


@pytest.fixture
def run(record: Record, said: io.StringIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Decides the cell on scripted readings; returns the candidates of its starts, in order."""

    def decide(
        readings: tuple[float, ...],
        canaries: tuple[float, ...],
        rule: Rule,
        *,
        calibrated: bool,
        beside: Any = None,
        cell: Cell = CELL,
    ) -> list[str]:
        scripts = {"one": iter(readings), AA: iter(canaries)}
        other = iter(beside or readings)

        def scripted(_: Engine, __: object, sides: list[Contestant], **___: Any) -> StartResult:
            labels = [side.label for side in sides]
            capacity = next(scripts[labels[1]])
            throughput = next(other) if labels[1] == "one" else capacity
            return StartResult({}, 1.0, True, (pair(labels, capacity, throughput),), "f", None, 1.0)

        monkeypatch.setattr(module, "run_start", scripted)
        built = Built("b", tmp_path, tmp_path / "server", "key")
        sides = {name: Contestant(name, built, Condition()) for name in ("baseline", "one")}
        Trials(
            engine=cast("Engine", None),
            record=record,
            bench=Bench(record, tmp_path / "logs", Console(file=said)),
            baseline=sides["baseline"],
            candidates={"one": sides["one"]},
            times={Design.DUET: Timing(0.1, 0.4, 1.0)},
            core_sets=(frozenset({0}), frozenset({1})),
            data={},
            scratch=tmp_path / "scratch",
            seed=1,
            priors={(LOAD.name, Design.DUET, Placement.SHARED): CALIBRATED} if calibrated else {},
        ).decide([cell], rule)
        return [begun.event.cell.candidate for begun in record.events(StartBegun)]

    return decide


def verdict(record: Record) -> VerdictReached:
    found = record.last(VerdictReached)
    assert found is not None
    return found.event


def test_both_canaries_are_read_before_the_fast_lane_looks(run: Run, record: Record) -> None:
    assert run(LARGE, (0.001, -0.001), Rule(), calibrated=True) == ["one", AA, "one", AA]
    assert "fast lane" in verdict(record).reason
    assert verdict(record).starts == 2
    assert verdict(record).calibrated == Calibrated(CALIBRATED.sd, CALIBRATED.starts, ended=True)


@pytest.mark.parametrize("calibrated", [True, False])
def test_a_fixed_number_of_starts_is_taken_on_a_calibrated_host_too(run: Run, record: Record, calibrated: bool) -> None:
    assert run(LARGE, (0.001, -0.001), Rule.fixed(4), calibrated=calibrated).count("one") == 4
    assert (verdict(record).verdict, verdict(record).starts) == ("faster", 4)
    assert "fast lane" not in verdict(record).reason


def test_a_stop_is_said_to_be_about_its_sitting(run: Run, record: Record, said: io.StringIO) -> None:
    """The report judges for another sitting, and is often undecided where the fast lane has stopped."""
    readings = (0.020, 0.021)
    run(readings, (0.001, -0.001), Rule(), calibrated=True)
    words = " ".join(said.getvalue().split())
    assert "ahead in this sitting, +2.1 %: the whole interval lies above 1 after 2 starts (fast lane" in words
    assert "faster" not in words
    reported = SittingCell("one", (readings,), spread_for(shipped("fake"), None)).judge(Rule())
    assert reported.kind is Kind.UNDECIDED, "or this test shows nothing"


def test_a_long_condition_is_said_once_and_not_with_each_start(run: Run, said: io.StringIO) -> None:
    given = ("innodb_buffer_pool_size=246M", "binlog=on", "performance_schema=OFF")
    long = replace(CELL, id=CellId("one", LOAD.name, base="baseline", given=given))
    run(LARGE, (0.001, -0.001), Rule(), calibrated=True, cell=long)
    lines = said.getvalue().splitlines()
    starts = [line for line in lines if line.startswith("[start")]
    assert len(starts) == 8, "four starts, a line at the beginning and one at the end of each"
    assert all("…: one / fake_mix" in line or f"…: {AA} / fake_mix" in line for line in starts)
    stop = next(line for line in lines if "ahead in this sitting" in line)
    assert f"baseline, {', '.join(given)}: one / fake_mix" in stop, "a verdict is read by itself"
    words = " ".join(said.getvalue().split())
    assert words.count(f"… is short for baseline, {', '.join(given)}") == 1


def test_noisy_canaries_keep_the_fast_lane_from_looking(run: Run, record: Record) -> None:
    """The host is ten times as noisy as it was: two starts, however far from 1, are no verdict."""
    assert run(LARGE, (0.02, -0.02), Rule(), calibrated=True) == ["one", AA, "one", AA, "one"]
    assert "fast lane" not in verdict(record).reason


def test_without_a_calibration_canaries_are_spread_out(run: Run) -> None:
    wide = (0.05, 0.01, 0.09, 0.03, 0.05, 0.02)
    assert run(wide, (0.0, 0.0), Rule.fixed(6), calibrated=False) == ["one", AA, "one", "one", "one", AA, "one", "one"]


def test_the_other_headline_quantity_is_of_all_starts(run: Run, record: Record) -> None:
    """Capacity is decided at the second look; throughput alone would have been at the first, and selected for it."""
    capacity, throughput = (0.05, 0.01, 0.09, 0.05, 0.05, 0.05), (0.05, 0.0501, 0.0499, 0.01, 0.02, 0.03)
    run(capacity, (0.0, 0.0), Rule(cap=6, looks=(3, 6), equivalence_looks=(6,)), calibrated=False, beside=throughput)
    found = verdict(record)
    beside = found.ratios["throughput"]
    assert found.starts == 6
    assert beside is not None
    assert beside.ratio == pytest.approx(math.exp(sum(throughput) / 6))
    assert beside.low < math.exp(0.02), "all starts' spread, not that of the first three"


def test_a_start_that_its_pairs_make_invalid_tells_whose_fault_it_was(
    run: Run, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoilt = [replace(pair(["baseline", "one"], 0.0, 0.0), invalid="one read 9 pages", at_fault=("one",))]
    scripted = pair

    def first_is_spoilt(labels: list[str], capacity: float, throughput: float) -> Pair:
        return spoilt.pop() if spoilt and labels[1] == "one" else scripted(labels, capacity, throughput)

    monkeypatch.setattr(sys.modules[__name__], "pair", first_is_spoilt)
    run((0.05, *LARGE[:3]), (0.0, 0.0), Rule.fixed(3), calibrated=False)
    done = [each.event for each in record.events(StartDone) if each.event.cell == CELL.id]
    assert [(start.invalid, start.at_fault) for start in done] == [
        ("one read 9 pages", ("one",)),
        *[(None, None)] * 3,
    ]


@pytest.mark.parametrize(("stolen", "reason"), [(True, None), (False, "3 starts were invalid")])
def test_a_noisy_host_ends_a_cell_later_than_a_crash(
    run: Run, record: Record, monkeypatch: pytest.MonkeyPatch, stolen: bool, reason: str | None
) -> None:
    """Three starts of nine that the hypervisor disturbed are repeated; three that one side spoilt are an answer."""
    bad = [replace(pair(["baseline", "one"], 0.0, 0.0), invalid="taken", disturbed=stolen) for _ in range(3)]
    scripted, calls = pair, itertools.count()

    def some_are_spoilt(labels: list[str], capacity: float, throughput: float) -> Pair:
        spoilt = labels[1] == "one" and next(calls) in {4, 5, 6}
        return bad.pop() if spoilt else scripted(labels, capacity, throughput)

    monkeypatch.setattr(sys.modules[__name__], "pair", some_are_spoilt)
    run((0.05,) * 12, (0.0, 0.0), Rule.fixed(8), calibrated=False)
    starts = [each.event for each in record.events(StartDone) if each.event.cell == CELL.id]
    assert {start.disturbed for start in starts if start.invalid is not None} == {True if stolen else None}
    assert verdict(record).starts == (8 if reason is None else 4)
    assert (reason or "faster") in f"{verdict(record).reason} {verdict(record).verdict}"


def test_what_the_host_disturbed_is_completed_in_another_sitting(
    run: Run, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four starts of eight are disturbed: the cell is given up, and takes four more an hour later."""
    bad = [replace(pair(["baseline", "one"], 0.0, 0.0), invalid="taken", disturbed=True) for _ in range(4)]
    scripted, calls = pair, itertools.count()

    def half_are_spoilt(labels: list[str], capacity: float, throughput: float) -> Pair:
        spoilt = labels[1] == "one" and next(calls) in {4, 5, 6, 7}
        return bad.pop() if spoilt else scripted(labels, capacity, throughput)

    monkeypatch.setattr(sys.modules[__name__], "pair", half_are_spoilt)
    run((0.05,) * 8, (0.0, 0.0), Rule.fixed(8), calibrated=False)
    assert (verdict(record).verdict, verdict(record).starts) == ("invalid", 4)
    begun = sum(1 for _ in record.events(StartBegun))
    run((), (), Rule.fixed(8), calibrated=False)
    assert sum(1 for _ in record.events(StartBegun)) == begun, "nothing while the sitting is on"
    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    run((0.05,) * 4, (), Rule.fixed(8), calibrated=False)
    found = verdict(record)
    assert (found.verdict, found.starts, found.invalid_starts) == ("faster", 8, 4)


def test_a_start_says_how_many_there_will_probably_be(run: Run, said: io.StringIO) -> None:
    wide = (0.03, -0.04, 0.02, -0.01, 0.05, -0.03, 0.01, -0.02, 0.04, -0.05, 0.0, 0.02)
    run(wide, (0.01, -0.01), Rule(cap=12, precision=0.01, minimum=8), calibrated=False)
    places = re.findall(r"start (\d+)/(\d+)", said.getvalue())
    assert places[0] == ("1", "8"), "nothing is known of its scatter: the least number"
    assert {of for number, of in places if int(number) >= 7} == {"14"}, "not one more each time; two are canaries"
