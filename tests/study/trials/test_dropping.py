"""Programs are dropped from the page cache before each start, in runs that began so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from burnish.bench.pairs import Contestant
from burnish.model.cell import CellId
from burnish.model.condition import Condition
from burnish.program import cached
from burnish.program.built import Built
from burnish.record.events.trials import StartBegun
from burnish.record.record import Record
from burnish.study.constructors.tune import tune_study
from burnish.study.request.options import Options
from burnish.study.trials.dropping import Dropping
from conftest import FakeBench


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with closing(Record(tmp_path / "study", create=True)) as record:
        yield record


@pytest.fixture
def sides(tmp_path: Path) -> list[Contestant]:
    program = tmp_path / "server"
    program.write_bytes(b"#!/bin/sh\n")
    return [Contestant(label, Built(label, tmp_path, program, "key"), Condition()) for label in ("one", "other")]


def test_each_sides_program_is_dropped_and_what_stays_is_told_once(
    record: Record, bench: FakeBench, sides: list[Contestant], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached, "drop", lambda files: 0.5 if list(files) else None)
    dropping = Dropping(record, bench)
    for _ in range(2):
        assert dropping.drop(sides) == {"one": 0.5, "other": 0.5}
    (line,) = bench.said
    assert "server: 50% of it stays in memory" in line


@pytest.mark.parametrize(("before", "drops"), [(None, False), ({}, True)])
def test_a_run_goes_on_as_it_began(
    record: Record, bench: FakeBench, sides: list[Contestant], before: dict[str, float | None] | None, drops: bool
) -> None:
    record.append(StartBegun(CellId("other", "load"), start=1, cached=before))
    assert (Dropping(record, bench).drop(sides) is not None) == drops


def test_programs_stay_where_that_is_asked_for(record: Record, bench: FakeBench, sides: list[Contestant]) -> None:
    assert Dropping(record, bench, keep=True).drop(sides) is None
    assert bench.said == []
    usual, keeping = (tune_study("fake", Options(keep_cached=keep)).definition for keep in (False, True))
    assert "keep_cached" not in usual.as_dict(), "unfinished runs of older versions are found"
    assert usual.digest != keeping.digest
