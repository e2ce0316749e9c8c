from __future__ import annotations

import math

import pytest

from burnish.report import suites
from burnish.report.summary import summarise
from burnish.report.terminal import markdown, remarks
from burnish.statistics.means import geometric_mean
from reported import Events, ratio, verdict


@pytest.mark.parametrize(
    ("workload", "found"),
    [
        ("sql_bench:tests=ATIS", ("sql_bench", "ATIS")),
        ("sql_bench:loop-count=5,tests=ATIS", ("sql_bench:loop-count=5", "ATIS")),
        ("sql_bench:fast=on,tests=alter-table,tree=/x", ("sql_bench:fast=on,tree=/x", "alter-table")),
        ("sql_bench:tests=ATIS,tree=/x", ("sql_bench:tree=/x", "ATIS")),
        ("sql_bench:tests=ATIS+select", None),
        ("oltp_read_only:tables=4", None),
    ],
)
def test_a_test_is_part_of_its_suite(workload: str, found: tuple[str, str] | None) -> None:
    assert suites.split(workload) == found


def test_the_mean_is_as_sure_as_all_of_its_tests_together() -> None:
    whole = geometric_mean([ratio(1.1), ratio(1.2)])
    assert whole is not None
    assert whole["ratio"] == pytest.approx(math.sqrt(1.1 * 1.2))
    half, single = (math.log(each["high"] / each["low"]) / 2 for each in (whole, ratio(1.1)))
    assert half == pytest.approx(single / math.sqrt(2))
    # An interval of another level stands for another error.
    narrow = geometric_mean([ratio(1.1, level=0.90)])
    assert narrow is not None
    assert math.log(narrow["high"] / narrow["low"]) / 2 == pytest.approx(single * 1.95996 / 1.64485, rel=1e-3)
    assert geometric_mean([]) is None


def study() -> Events:
    events = Events("baseline", "fast").run()
    cells = [f"fast / sql_bench:tests={test}" for test in ("ATIS", "connect", "create")]
    events.contest(*cells, "fast / oltp_read_only")
    for cell, value in zip(cells, (1.1, 1.2, None), strict=True):
        events.add("verdict", **verdict(cell, "faster" if value else "invalid", ratio(value) if value else None))
    return events.add("verdict", **verdict("fast / oltp_read_only", "faster", ratio(1.5)))


def test_times_and_the_mean_of_a_suite_are_told() -> None:
    summary = summarise(study().made)
    (whole,) = suites.wholes(summary.rows)
    assert (whole.suite, whole.candidate, whole.tests, whole.missing) == ("sql_bench", "fast", 2, ("create",))
    said = "sql_bench: geometric mean of 2 tests, fast against baseline: throughput 1.149 [1.141, 1.157], capacity"
    assert any(line.startswith(said) and line.endswith("; without create.") for line in remarks(summary))
    ((title, rows),) = suites.times(summary)
    assert title == "sql_bench: what a pass takes, fast beside baseline"
    assert rows[0] == ("ATIS", "0.001", "0.001", "0.000", "0.000")
    assert "| test | seconds | baseline's | CPU seconds | baseline's |" in markdown(summary)
    assert suites.wholes(row for row in summary.rows if "ATIS" in row.workload) == []
