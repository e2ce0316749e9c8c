"""Speeds over versions and dates, and the file that Apache Otava reads."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.report.answer.history import document
from burnish.report.answer.points import Point, points, step
from burnish.report.committed import result_of_file
from burnish.report.render.otava import COLUMNS, otava
from drawn import drawn

RESULTS = Path(__file__).parents[2] / "docs" / "results"
NAMES = ("mariadb-tune", "mariadb-ladder", "sqlite-tune", "mariadb-compare-debian-other-host", "mariadb-pgo")


@pytest.fixture(scope="module")
def found() -> list[Point]:
    return points([result_of_file(RESULTS / f"{name}.jsonl.xz") for name in NAMES])


def test_every_variant_on_every_load_is_a_point_and_the_baseline_one(found: list[Point]) -> None:
    assert [point.at for point in found] == sorted(point.at for point in found)
    ladder = [point for point in found if point.run.endswith("193257")]
    read_only = {point.variant: point for point in ladder if point.load == "oltp_read_only"}
    assert read_only["baseline"].ratio == 1.0
    assert read_only["clang-pgo-thinlto"].ratio == pytest.approx(1.179, abs=0.001)
    assert read_only["clang-pgo-thinlto"].capacity > read_only["baseline"].capacity
    assert "strip-all" not in read_only, "it was not measured"
    assert {point.engine for point in found} == {"mariadb", "sqlite"}
    assert not any(point.run == "pgo" for point in found)


def test_versions_are_the_packages_or_the_programs(found: list[Point]) -> None:
    versions = {point.version for point in found}
    assert "1:10.11.18-0+deb12u1" in versions
    assert "10.11.19-MariaDB-0+deb12u1" in versions


def test_an_engine_or_a_package_is_chosen() -> None:
    results = [result_of_file(RESULTS / f"{name}.jsonl.xz") for name in NAMES]
    assert {point.engine for point in points(results, "sqlite")} == {"sqlite"}
    assert {point.engine for point in points(results, "sqlite3 3.40")} == {"sqlite"}
    assert points(results, "postgres") == []


def test_speeds_of_two_hosts_or_placements_are_not_compared(found: list[Point]) -> None:
    one = found[0]
    assert step(None, one) is None
    assert step(one, one) == 0.0
    other = Point(**{**vars(one), "host": "another"})
    assert step(one, other) is None
    assert step(one, Point(**{**vars(one), "placement": "apart"})) is None


def test_speeds_under_two_settings_are_not_compared() -> None:
    """A server with a small log writes more: that is no change of speed from one date to the next."""
    usual = result_of_file(RESULTS / "mariadb-tune.jsonl.xz")
    small = replace(usual, definition={**usual.definition, "conditions": ["innodb_log_file_size=10M"]})
    before, now = (next(iter(points([result]))) for result in (usual, small))
    assert (before.condition, now.condition) == ("", "innodb_log_file_size=10M")
    assert step(before, replace(now, condition="")) is not None
    assert step(before, now) is None
    assert before.series != now.series
    assert now.series.endswith("@innodb_log_file_size=10M")
    text = drawn(document([before, now]))
    assert f"mariadb: {now.variant} on {now.load}, innodb_log_file_size=10M" in text
    (line,) = csv.DictReader(io.StringIO(otava([now])))
    assert line["condition"] == now.condition


def test_each_placement_has_its_table_and_each_host_its_change(found: list[Point]) -> None:
    """Runs that alternate between placements or hosts lose no change."""
    first, second = replace(found[0], placement="shared", capacity=100.0), replace(found[0], placement="apart")
    again = replace(first, capacity=110.0)
    text = drawn(document([first, second, again]))
    title = f"{first.engine}: {first.variant} on {first.load}"
    assert [line for line in text.splitlines() if line.startswith(title)] == [title, f"{title}, apart"]
    assert "+10.0" in text
    assert "+10.0" in drawn(document([first, replace(first, host="another"), again]))


def test_a_small_speed_has_digits_in_which_a_change_is_seen(found: list[Point]) -> None:
    one = Point(**{**vars(found[0]), "capacity": 16.04, "throughput": 12345.6})
    text = drawn(document([one]), 120)
    assert " 16 " in text
    assert " 12,346 " in text
    assert " 16.3 " in drawn(document([Point(**{**vars(one), "capacity": 16.26})]), 120)


def test_a_table_for_each_series_fits_the_screen(found: list[Point]) -> None:
    text = drawn(document(found))
    assert "mariadb: baseline on oltp_read_only" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "no run with speeds" in drawn(document([]))


def test_otavas_importer_can_read_every_line(found: list[Point]) -> None:
    """Its rules: a head, no line shorter than it, metrics that are figures, one branch told from another."""
    head, *lines = csv.reader(io.StringIO(otava(found)), delimiter=",", quotechar='"')
    assert tuple(head) == COLUMNS
    assert len(lines) == len(found)
    for line, point in zip(lines, found, strict=True):
        assert len(line) == len(head)
        placed = "" if point.placement == "shared" else f"@{point.placement}"
        assert line[head.index("branch")] == f"{point.variant}@{point.load}{placed}", "speeds of two are not compared"
        for metric in ("capacity", "throughput", "ratio"):
            float(line[head.index(metric)])
    mine = [line for line in lines if line[1] == "baseline@oltp_read_only"]
    assert [line[0] for line in mine] == sorted(line[0] for line in mine)
