from __future__ import annotations

import math

import pytest

from burnish.report.analysis import suites
from burnish.report.fold import fold
from burnish.report.sections.conclusion import sentences
from burnish.report.sections.remarks import lines as remarks
from burnish.statistics.means import geometric_mean
from drawn import markdown, printed
from reported import Events, bounded, ratio, verdict


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
    whole = geometric_mean([bounded(1.1), bounded(1.2)])
    assert whole is not None
    assert whole.ratio == pytest.approx(math.sqrt(1.1 * 1.2))
    half, single = (math.log(each.high / each.low) / 2 for each in (whole, bounded(1.1)))
    assert half == pytest.approx(single / math.sqrt(2))
    # An interval of another level stands for another error.
    narrow = geometric_mean([bounded(1.1, level=0.90)])
    assert narrow is not None
    assert math.log(narrow.high / narrow.low) / 2 == pytest.approx(single * 1.95996 / 1.64485, rel=1e-3)
    assert geometric_mean([]) is None


def study() -> Events:
    events = Events("baseline", "fast").run()
    cells = [f"fast / sql_bench:tests={test}" for test in ("ATIS", "connect", "create")]
    events.contest(*cells, "fast / oltp_read_only")
    for cell, value in zip(cells, (1.1, 1.2, None), strict=True):
        events.add("verdict", **verdict(cell, "faster" if value else "invalid", ratio(value) if value else None))
    return events.add("verdict", **verdict("fast / oltp_read_only", "faster", ratio(1.5)))


def test_times_and_the_mean_of_a_suite_are_told() -> None:
    summary = fold(study().made)
    (whole,) = suites.wholes(summary.rows)
    assert (whole.suite, whole.candidate, whole.tests, whole.missing) == ("sql_bench", "fast", 2, ("create",))
    said = "sql_bench: geometric mean of 2 tests, fast against baseline: capacity 1.149 [1.141, 1.157], throughput"
    assert any(line.startswith(said) and line.endswith("; without create.") for line in remarks(summary))
    ((title, rows),) = suites.times(summary)
    assert title == "sql_bench: time of a pass, fast and baseline"
    assert rows[0] == ("ATIS", "0.001", "0.001", "0.000", "0.000")
    assert "| test | seconds | baseline's | CPU seconds | baseline's |" in markdown(summary)
    assert suites.wholes(row for row in summary.rows if "ATIS" in row.workload) == []


TESTS = ("alter-table", "ATIS", "big-tables", "connect", "create", "insert", "select", "transactions", "wisconsin")


def many() -> Events:
    """Two candidates on nine tests and on a load that is none; a pass takes seconds."""
    events = Events("baseline", "gcc-o3", "clang-pgo-thinlto").run()
    names = ("gcc-o3", "clang-pgo-thinlto")
    cells = [f"{name} / sql_bench:fast=on,loops=ATIS=500,tests={test}" for test in TESTS for name in names]
    events.contest(*cells, *(f"{name} / oltp_read_only" for name in names))
    for number, cell in enumerate(cells):
        body = verdict(cell, "faster", ratio(1.1 + number / 100)) | {"unit": "pass"}
        for name, cpu in (("baseline", 2.0), (cell.partition(" / ")[0], 1.5)):
            body["sides"][name] |= {"throughput": 0.25, "server_cpu_per_transaction": cpu, "latency": {"p95": 4.0}}
        events.add("verdict", **body)
    for name in names:
        events.add("verdict", **verdict(f"{name} / oltp_read_only", "faster", ratio(1.5)))
    return events


def test_a_suite_is_a_table_of_its_tests_for_each_candidate() -> None:
    summary = fold(many().made)
    found = suites.tables(summary.rows)
    suite = "sql_bench:fast=on,loops=ATIS=500"
    assert [(load, head, len(rows)) for load, head, rows in found] == [
        (f"{suite}, gcc-o3", "test", 9),
        (f"{suite}, clang-pgo-thinlto", "test", 9),
        ("oltp_read_only", "variant", 2),
    ]
    assert [name for name, _ in found[0][2]] == list(TESTS)
    said = markdown(summary)
    assert f"## {suite}, gcc-o3, ratios to baseline" in said
    assert "| test | verdict | capacity | throughput | starts |" in said
    assert "| wisconsin | faster | 1.260 [1.247, 1.273] |" in said
    assert suites.tables([row for row in summary.rows if "ATIS" in row.workload][:1])[0][1] == "variant"


def test_sentences_are_about_the_suite_not_about_each_of_its_tests() -> None:
    summary = fold(many().made)
    said = sentences(summary)
    assert len(said) == 5
    assert said[0].startswith("Tied: clang-pgo-thinlto, gcc-o3; take clang-pgo-thinlto")
    assert "1.189 [1.185, 1.193] times baseline's capacity on sql_bench" in said[0]
    assert "on sql_bench:fast=on,loops=ATIS=500 (geometric mean of 9 tests), 1.500 [" in said[0]
    assert said[1].startswith("clang-pgo-thinlto against gcc-o3: +0.8 [")
    assert said[2].startswith("oltp_read_only: clang-pgo-thinlto uses")
    assert said[3].startswith("sql_bench:fast=on,loops=ATIS=500: 40 % of baseline's 18 s per pass is kernel time")
    assert "clang-pgo-thinlto is at 1.33x" in said[3], "a pass of all tests"


def test_the_report_is_read_at_80_columns_and_within_two_screens() -> None:
    lines = printed(fold(many().made)).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 100
    assert sum("tests=" in line for line in lines) == 0, "no test is named by its whole load"
    assert any(line.split() == ["wisconsin", "faster", "1.260", "[1.247,", "1.273]", "1.260", "[1.247,", "1.273]", "6",
                                "(+1)"] for line in lines)  # fmt: skip


def test_latencies_of_seconds_are_told_in_seconds() -> None:
    events = Events("baseline", "fast").run().contest("fast / report")
    body = verdict("fast / report", "faster", ratio(1.1))
    body["sides"]["fast"]["latency"] = {"p95": 3.3}
    body["sides"]["baseline"]["latency"] = {"p95": 12.0}
    events.add("verdict", **body)
    assert any("p95 3.3 s instead of 12 s" in line for line in sentences(fold(events.made)))
