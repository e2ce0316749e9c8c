"""Where data are: as asked, as earlier starts had them, else as the load's kind and the host's memory allow."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.model.cell import CellId
from burnish.model.condition import Condition
from burnish.record.events.trials import StartBegun
from burnish.record.record import Record
from burnish.study.trials.storing import Storing, bound
from conftest import FakeBench

SPEC = load.engine("mariadb")
UPDATE = load.workload(SPEC, "oltp_update_index")
PLENTY = 1 << 40


@pytest.fixture
def record(tmp_path: Path):
    with closing(Record(tmp_path / "study", create=True)) as record:
        yield record


def storing(record: Record, bench: FakeBench, available: int = PLENTY) -> Storing:
    return Storing(Path("/scratch"), record, bench, SPEC, available)


def test_too_little_memory_leaves_data_on_the_disk_and_says_so_once(record: Record, bench: FakeBench) -> None:
    short = storing(record, bench, 1 << 30)
    assert [short.storage(UPDATE, Condition()) for _ in range(3)] == ["disk"] * 3
    said = [line for line in bench.said if "stay on the disk" in line]
    assert len(said) == 1
    assert "are available" in said[0]
    assert storing(record, bench).storage(UPDATE, Condition()) == "memory"


def test_memory_that_was_asked_for_is_refused_if_it_is_too_little(record: Record, bench: FakeBench) -> None:
    with pytest.raises(UserError, match=r"storage=memory: .* take smaller data, or storage=disk"):
        storing(record, bench, 1 << 30).check(Condition(storage="memory"))
    storing(record, bench).check(Condition(storage="memory"))
    storing(record, bench, 0).check(Condition())
    assert bound(10) > 2 * 10


@pytest.mark.parametrize(
    ("had", "stays"), [({"baseline": "memory"}, "memory"), ({"baseline": "disk"}, "disk"), (None, "disk")]
)
def test_starts_that_are_continued_stay_where_they_were(
    record: Record, bench: FakeBench, had: dict[str, str] | None, stays: str
) -> None:
    cell = CellId(candidate="one", workload=UPDATE.name)
    record.append(StartBegun(cell=cell, start=1, storage=had))
    assert storing(record, bench, 0).storage(UPDATE, Condition()) == stays
    assert storing(record, bench, 0).storage(UPDATE, Condition(storage="/mnt")) == "/mnt"
