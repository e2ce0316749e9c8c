"""Both intervals of every verdict, from the starts alone: records made before there were two have both as well."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from burnish.catalogue.between import shipped
from burnish.model.cell import BuildId, Role
from burnish.model.sittings import Spread
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import BuildMade
from burnish.record.events.study import SpreadAssumed
from burnish.record.events.trials import StartDone
from burnish.record.exchange import read_events
from burnish.report.fold import fold
from burnish.report.result import Result
from burnish.report.values import runs
from drawn import printed

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@cache
def recorded(name: str) -> tuple[Recorded[Event], ...]:
    return read_events(RESULTS / f"{name}.jsonl.xz")


@cache
def result(name: str) -> Result:
    return fold(recorded(name))


def test_an_old_record_has_both_intervals() -> None:
    for row in result("mariadb-tune").rows:
        assert row.sitting is not None
        within, repeated = row.sitting.intervals["capacity"], row.ratio
        assert within is not None
        assert repeated is not None
        assert repeated.low < within.low < within.high < repeated.high
        assert repeated.ratio == pytest.approx(within.ratio)
        assert (row.sitting.sittings, row.sitting.source) == (1, shipped("mariadb").profiled.source)
    said = " ".join(printed(result("mariadb-tune")).split())
    assert "intervals are for another sitting on this kind of host" in said
    assert "1 sitting: that sittings differ by ±1.1 %" in said
    assert "sitting" in said.split("oltp_point_select, ratios to baseline")[1][:80]


def test_a_small_difference_of_one_sitting_is_not_called_for_another() -> None:
    rows = {(row.candidate, row.workload): row for row in result("mariadb-ladder").rows}
    small = rows["no-frame-pointers", "oltp_read_only"]
    assert small.verdict == "undecided"
    large = rows["gcc-pgo", "oltp_read_only"]
    assert (large.verdict, large.sitting.verdict if large.sitting else "") == ("faster", "faster")


def test_equal_in_one_sitting_is_not_equal_in_another() -> None:
    table = result("mariadb-sun-2008").shipped
    assert table is not None
    equal = [line for line in table.lines if line.sitting and line.sitting.verdict == "equivalent"]
    assert len(equal) > 3
    assert all(line.verdict == "equivalent" for line in equal if line.control), "but a program against itself is"
    assert not all(line.verdict == "equivalent" for line in equal if not line.control)


def test_hosts_are_never_one_ratio() -> None:
    """Of +5.7 and +19.0 % on two hosts +12.2 [11.2, 13.2] % was made once."""
    table = result("mariadb-pgo").shipped
    assert table is not None
    (line,) = (line for line in table.lines if line.row == "pgo" and line.load == "point_select" and line.interval)
    assert line.interval is not None
    each = [host.interval for host in line.hosts if hasattr(host, "interval")]
    assert len(each) == 2
    assert all(one and line.interval.low <= one.ratio <= line.interval.high for one in each)
    assert line.hosts_differ


def test_starts_and_both_intervals_of_a_search_are_of_the_same_starts() -> None:
    """A search takes more starts of a build than its verdict needed; once 4 of 10 made the interval of the sitting."""
    done = (one.event for one in recorded("sqlite-search") if isinstance(one.event, StartDone))
    taken = Counter(
        (start.cell.candidate, start.cell.workload)
        for start in done
        if start.invalid is None and start.cell.role is Role.CLAIM
    )
    rows = {(row.candidate, row.workload): row for row in result("sqlite-search").rows}
    assert {cell: row.starts for cell, row in rows.items()} == dict(taken)
    assert rows["clang-pgo-thinlto-bolt", "kvtest"].starts == 10
    compared = 0
    for row in rows.values():
        within = row.sitting.intervals["capacity"] if row.sitting else None
        if within is not None and row.ratio is not None:
            assert row.ratio.low < within.low < within.high < row.ratio.high, row
            assert within.ratio == pytest.approx(row.ratio.ratio)
            compared += 1
    assert compared == 16


def test_of_a_searchs_sittings_the_one_with_most_starts_is_shown() -> None:
    """Two starts in a screen, and more than half an hour later the ten others: once the sitting was +-34 %."""
    rows = {(row.candidate, row.workload): row for row in result("mysql-search-zen3").rows}
    row = rows["search-03", "oltp_point_select"]
    assert row.sitting is not None
    assert (row.starts, row.sitting.sittings) == (12, 2)
    for quantity in ("capacity", "throughput"):
        within = row.sitting.intervals[quantity]
        assert within is not None
        assert within.high / within.low < 1.08, quantity


def later(events: tuple[Recorded[Event], ...], start: int, hours: float) -> list[Recorded[Event]]:
    """The same record, with every cell's starts from one on taken so many hours later."""

    def moved(one: Recorded[Event]) -> Recorded[Event]:
        if not isinstance(one.event, StartDone) or one.event.start < start:
            return one
        at = datetime.fromisoformat(one.at) + timedelta(hours=hours)
        return replace(one, at=at.strftime("%Y-%m-%dT%H:%M:%SZ"))

    return [moved(one) for one in events]


def test_sittings_are_told_by_the_time_between_starts() -> None:
    rows = fold(later(recorded("mariadb-tune"), 5, 3.0)).rows
    assert {row.sitting.sittings for row in rows if row.sitting} == {2}
    for row, before in zip(rows, result("mariadb-tune").rows, strict=True):
        assert row.ratio is not None
        assert before.ratio is not None
        assert row.ratio.high - row.ratio.low < before.ratio.high - before.ratio.low


def test_two_sittings_that_contradict_one_another_are_reported() -> None:
    """The second sitting of one cell has a tenth more; that of the others is as the first."""
    cell = "clang-pgo-thinlto"

    def raised(one: Recorded[Event]) -> Recorded[Event]:
        event = one.event
        if not isinstance(event, StartDone) or event.start < 5 or event.cell.candidate != cell:
            return one
        return replace(one, event=replace(event, readings={name: x + 0.1 for name, x in event.readings.items()}))

    found = fold([raised(one) for one in later(recorded("mariadb-tune"), 5, 3.0)])
    contrary = {row.candidate for row in found.rows if row.sitting and row.sitting.contrary}
    assert contrary == {cell}
    for row in found.rows:
        if row.sitting and row.ratio and row.candidate == cell:
            assert row.sitting.assumed is None, "it goes by the sittings' own difference"
            assert all(row.ratio.low < math.exp(mean) < row.ratio.high for mean in row.sitting.means)
    said = " ".join(printed(found).split())
    assert "of cells whose two sittings contradict one another, the interval has both" in said
    assert f"{cell} on oltp_read_only: its two sittings contradict one another (" in said


def test_a_study_reports_the_cell_whose_sittings_contradict_one_another() -> None:
    table = result("mariadb-sun-2008-whole").shipped
    assert table is not None
    (line,) = (line for line in table.lines if line.sitting and line.sitting.contrary)
    assert (line.row, line.threads, line.verdict) == ("over-fast", 16, "undecided")
    assert line.sitting is not None
    assert line.sitting.contradiction.startswith("its two sittings contradict one another (+12.0 and -1.1 %)")
    said = " ".join(printed(result("mariadb-sun-2008-whole")).split())
    assert f"16: {line.sitting.contradiction}" in said


def assuming(known: SpreadAssumed, name: str = "mariadb-tune") -> Result:
    """A record's result as if the run had assumed this."""
    events = recorded(name)
    return fold([*events[:-1], Recorded(events[-1].number, events[-1].at, known), events[-1]])


def test_what_a_run_assumed_is_in_its_record() -> None:
    own, other = Spread(0.002, 30.0, "12 sittings of this host"), Spread(0.003, 9.0, "others")
    sources = {}
    for row in assuming(SpreadAssumed(own, other), "mariadb-ladder").rows:
        if row.sitting is not None:
            sources[row.candidate] = row.sitting.source
    assert sources["gcc-pgo"] == own.source
    assert sources["no-frame-pointers"] == other.source


def test_an_older_record_assumed_one_figure_for_all() -> None:
    own = SpreadAssumed(Spread(0.002, 30.0, "12 sittings of this host"))
    rows = assuming(own, "mariadb-ladder").rows
    assert {row.sitting.source for row in rows if row.sitting} == {own.spread.source}
    was_shipped = SpreadAssumed(Spread(0.0094, 10.0, "40 sittings of MariaDB in docs/results"))
    rows = assuming(was_shipped, "mariadb-ladder").rows
    now = shipped("mariadb")
    assert {row.sitting.source for row in rows if row.sitting} == {now.profiled.source, now.alike.source}


def test_the_kinds_have_their_own_spreads() -> None:
    made = result("mariadb-ladder")
    assumed = {row.candidate: row.sitting.assumed for row in made.rows if row.sitting}
    known = shipped("mariadb")
    with_profile = {"gcc-pgo", "clang-pgo-thinlto", "clang-pgo-thinlto-bolt"}
    assert with_profile < set(assumed)
    assert {name for name, spread in assumed.items() if spread == known.profiled.sd} == with_profile
    assert {assumed[name] for name in set(assumed) - with_profile} == {known.alike.sd}
    said = " ".join(printed(made).split())
    assert f"is taken from {known.profiled.source}, ±0.35 % from {known.alike.source}; --sittings 3" in said


def test_of_two_given_programs_the_larger_is_assumed() -> None:
    rows = [row for row in result("mariadb-package-verify").rows if row.sitting]
    assert rows
    assert {row.sitting.assumed for row in rows if row.sitting} == {shipped("mariadb").profiled.sd}


def test_where_sides_take_turns_on_loads_that_commit_the_largest_is_assumed() -> None:
    table = result("mariadb-arm-2020").shipped
    assert table is not None
    lines = [line for line in table.lines if line.sitting and line.sitting.assumed]
    assumed = {(line.row, line.load): line.sitting.assumed for line in lines if line.sitting}
    known = shipped("mariadb")
    assert assumed["large-memory-count", "oltp_write_only"] == known.committing.sd, "interleaved"
    assert assumed["my-convert-wide", "oltp_read_only"] == known.alike.sd, "a duet"


def test_a_control_that_can_gain_nothing_is_not_called_faster() -> None:
    """Code that only starts and ends run: one sitting called it 3.9 % faster, the next ones nothing."""
    table = result("mariadb-arm-2020").shipped
    assert table is not None
    control = next(line for line in table.lines if line.row == "large-memory-count")
    assert control.sitting is not None
    assert control.sitting.verdict == "faster"
    assert control.verdict == "undecided"


def test_with_a_profile_no_more_is_assumed_on_loads_that_commit() -> None:
    rows = [row for row in result("mysql-tune").rows if row.sitting and row.workload == "oltp_update_index"]
    assert rows
    assert {row.sitting.assumed for row in rows if row.sitting} == {shipped("mariadb").profiled.sd}


def test_a_record_of_two_figures_has_the_third_from_what_is_shipped() -> None:
    known = [
        SpreadAssumed(Spread(0.002, 30.0, "own"), Spread(0.003, 9.0, "others")),
        SpreadAssumed(Spread(0.002, 30.0, "own"), Spread(0.003, 9.0, "others"), Spread(0.004, 9.0, "committing")),
    ]
    for assumed, expected in zip(known, (shipped("mariadb").committing.sd, 0.004), strict=True):
        rows = [row.sitting for row in assuming(assumed, "mariadb-waves").rows if row.sitting]
        assert rows
        assert {sitting.assumed for sitting in rows} == {expected}, "given programs, interleaved"


def test_of_a_build_that_says_nothing_of_its_profile_the_larger_is_assumed() -> None:
    def silent(one: Recorded[Event]) -> Recorded[Event]:
        if not isinstance(one.event, BuildMade) or one.event.build != BuildId("no-frame-pointers"):
            return one
        return replace(one, event=replace(one.event, about={}))

    rows = fold([silent(one) for one in recorded("mariadb-ladder")]).rows
    assumed = {row.candidate: row.sitting.assumed for row in rows if row.sitting}
    assert assumed["no-frame-pointers"] == shipped("mariadb").profiled.sd


def test_json_has_both() -> None:
    values: dict[str, Any] = runs.run(result("mariadb-tune"))
    row = values["rows"][0]
    assert row["sitting"]["intervals"]["capacity"]["low"] > row["capacity"]["low"]
    assert row["sitting"]["assumed"] == pytest.approx(shipped("mariadb").profiled.sd)
