"""Memory for data is checked before anything is made, and flushes are timed and told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.bench import flushing
from burnish.catalogue import load
from burnish.model.condition import Condition
from burnish.record.events.trials import FlushesProbed
from burnish.record.record import Record
from burnish.study.trials.storing import Storing, bound
from conftest import FakeBench

SPEC = load.engine("mariadb")
PLENTY = 1 << 40


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with closing(Record(tmp_path / "study", create=True)) as record:
        yield record


def storing(place: Path, record: Record, bench: FakeBench, available: int = PLENTY) -> Storing:
    return Storing(place, record, bench, SPEC, available)


def test_memory_is_refused_if_it_is_too_little(record: Record, bench: FakeBench, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"storage=memory: .* are available; take smaller data, or storage=disk"):
        storing(tmp_path, record, bench, 1 << 30).check(Condition(storage="memory"))
    storing(tmp_path, record, bench).check(Condition(storage="memory"))
    storing(tmp_path, record, bench, 0).check(Condition())
    assert bound(10) > 2 * 10


def test_an_uneven_disk_is_recorded_and_told_once(
    record: Record, bench: FakeBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uneven = flushing.summary([0.0002] * 97 + [0.004] * 3, "disk", "ext4")
    monkeypatch.setattr(flushing, "probe", lambda *_: uneven)
    storing(tmp_path, record, bench).probe(["disk", "disk"])
    assert [each.event for each in record.events(FlushesProbed)] == [uneven]
    assert [line for line in bench.said if "a flush takes" in line] == [flushing.warning(uneven)]
