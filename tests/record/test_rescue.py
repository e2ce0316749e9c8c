"""A record whose file is damaged: what is whole is read, and no more; nothing else is disturbed by it."""

from __future__ import annotations

import errno
import os
import random
import resource
from contextlib import closing
from pathlib import Path

import pytest

from burnish.base.errors import HostError, UserError
from burnish.model.cell import BuildId
from burnish.record import rescue
from burnish.record.events.builds import BuildFailed
from burnish.record.lines import Line
from burnish.record.record import FILE, DamagedError, Record
from burnish.study.kept import damaged

EVENTS = [
    BuildFailed(BuildId(f"variant {number}"), "\N{GREEK SMALL LETTER MU}" * (number % 97)) for number in range(400)
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a record of some hundred events, whose texts are of characters of two bytes."""
    folder = tmp_path_factory.mktemp("whole")
    with closing(Record(folder, create=True)) as record:
        record._db.execute("PRAGMA synchronous=OFF")
        for event in EVENTS:
            record.append(event)
    return (folder / FILE).read_bytes()


def kept(folder: Path) -> int:
    """How many events of a rescued record there are; each as it was written."""
    said: list[str] = []
    if not damaged.repair(folder, lambda _: True, said.append):
        assert "left out" in said[0]
        return 0
    with closing(Record(folder)) as record:
        found = [recorded.event for recorded in record.every()]
        assert found == EVENTS[: len(found)]
        record.append(EVENTS[0])
    return len(found)


def test_cut_off_anywhere_it_is_resumed_as_far_as_it_is_whole(tmp_path: Path, whole: bytes) -> None:
    had = []
    for number, length in enumerate([0, 99, 5000, *sorted(random.Random(1).sample(range(8192, len(whole)), 9))]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / FILE).write_bytes(whole[:length])
        with pytest.raises(UserError, match="or a damaged one") as caught, closing(Record(folder)) as record:
            record.check()
        assert "\n" not in str(caught.value)
        had.append(kept(folder))
        assert (folder / rescue.ASIDE).exists() == (had[-1] > 0), "what was damaged is kept"
        assert not (folder / ".rescued").exists()
    assert had == sorted(had)
    assert had[:2] == [0, 0]
    assert 200 < had[-1] < len(EVENTS)


def test_events_after_a_damaged_page_are_not_used(tmp_path: Path, whole: bytes) -> None:
    data = bytearray(whole)
    leaves = [at for at in range(4096, len(data), 4096) if data[at] == 0x0D]  # pages of the table, not of its index
    middle = leaves[len(leaves) // 2]
    data[middle : middle + 4096] = bytes(4096)
    (tmp_path / FILE).write_bytes(data)
    with closing(Record(tmp_path)) as record, pytest.raises(DamagedError):
        list(record.every())
    assert 50 < kept(tmp_path) < 350


def test_without_links_the_damaged_file_is_copied_aside(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(source: str, *_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), source)

    monkeypatch.setattr("os.link", refused)
    (tmp_path / FILE).write_bytes(whole[:-5000])
    assert kept(tmp_path) > 0
    assert (tmp_path / rescue.ASIDE).read_bytes() == whole[:-5000]


def test_a_whole_record_is_left_as_it_is(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / FILE).write_bytes(whole)
    assert damaged.repair(tmp_path, lambda _: True, pytest.fail)
    assert not damaged.repair(tmp_path, lambda _: False, pytest.fail)
    assert (tmp_path / FILE).read_bytes() == whole


def test_a_record_of_another_run_is_left_as_damaged_as_it_is(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / FILE).write_bytes(whole[:-5000])
    assert not damaged.repair(tmp_path, lambda _: False, pytest.fail)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_full_disk_is_no_damage(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / FILE).write_bytes(whole)
    with closing(Record(tmp_path)) as record:
        pages = record._db.execute("PRAGMA page_count").fetchone()[0]
        record._db.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(HostError, match="full"):
            record.append(BuildFailed(BuildId("large"), "x" * 9000))


def test_no_room_in_a_file_or_a_quota_is_no_damage(tmp_path: Path, whole: bytes) -> None:
    """SQLite calls these a disk I/O error."""
    (tmp_path / FILE).write_bytes(whole)
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    with closing(Record(tmp_path)) as record:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole), former[1]))
        try:
            with pytest.raises(HostError, match="disk I/O"):
                record.append(BuildFailed(BuildId("large"), "x" * 9000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, former)
        record.append(EVENTS[0])
        assert len(list(record.every())) == len(EVENTS) + 1, "it is whole"


def test_a_full_disk_is_no_damage_of_a_record_that_is_copied(tmp_path: Path) -> None:
    with closing(Record(tmp_path, create=True)) as record:
        pages = record._db.execute("PRAGMA page_count").fetchone()[0]
        record._db.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(HostError, match="full"):
            record.restore([Line(1, "2026-01-01T00:00:00Z", "build_failed", {"why": "x" * 9000})])
