"""Folders outside of Burnish's home, for data and short-lived files: private, bounded, and gone with their run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from burnish.base import process, storage, temporary, warden
from burnish.base.errors import UserError

MIB = 1 << 20


@pytest.fixture(autouse=True)
def released() -> Iterator[None]:
    yield
    storage.release()


def soon(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + 60
    while not holds() and time.monotonic() < until:
        time.sleep(0.05)
    return holds()


def test_a_folder_in_memory_is_private_and_goes() -> None:
    place = storage.in_memory(8 * MIB)
    assert place.parent == Path(warden.STORES)
    assert place.stat().st_mode & 0o777 == 0o700
    assert storage.kind_of(place) == "tmpfs"
    assert storage.in_memory(8 * MIB) == place, "a run has one"
    (place / "data").write_bytes(b"x")
    storage.release()
    assert not place.exists()


def test_where_it_can_be_mounted_its_size_is_bounded() -> None:
    place = storage.in_memory(MIB)
    if not place.is_mount():
        pytest.skip("this process may not mount")
    with pytest.raises(OSError, match="No space"):
        (place / "data").write_bytes(b"x" * (2 * MIB))


def test_too_little_memory_is_refused_in_one_line() -> None:
    with pytest.raises(UserError) as caught:
        storage.in_memory(3 << 30, available=4 << 30)
    said = str(caught.value)
    assert "5.0 GiB of memory are needed (3.0 for data, 2 for servers), 4.0 are available" in said
    assert "storage=disk" in said
    assert "\n" not in said
    assert storage.lacking(3 << 30, 5 << 30) is None


def test_a_file_system_that_is_too_small_and_cannot_be_mounted_over_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1)
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda _: SimpleNamespace(free=64 * MIB))
    with pytest.raises(UserError, match=r"/dev/shm has 0.1 GiB free, 1.0 are needed, and this process may not mount"):
        storage.in_memory(1 << 30)
    assert not [path for path in Path(warden.STORES).iterdir() if process.run_id() in path.name]


def test_available_memory_is_the_kernels(tmp_path: Path) -> None:
    told = tmp_path / "meminfo"
    told.write_text("MemTotal:  100 kB\nMemAvailable:   20 kB\n")
    assert storage.available_memory(told) == 20 * 1024
    told.write_text("MemTotal:  100 kB\n")
    assert storage.available_memory(told) == 0
    assert storage.available_memory() > 0


def test_a_folder_on_a_device_that_is_named(tmp_path: Path) -> None:
    place = storage.on_device(tmp_path)
    assert place.parent == tmp_path
    assert place.stat().st_mode & 0o777 == 0o700
    storage.release()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UserError, match="there is no such folder"):
        storage.on_device(tmp_path / "none")


def test_the_kind_of_a_file_system_is_that_of_the_nearest_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("/dev/a / ext4 rw 0 0\n/dev/b /data xfs rw 0 0\nt /data/deep tmpfs rw 0 0\n")
    assert storage.kind_of(Path("/data/x"), mounts) == "xfs"
    assert storage.kind_of(Path("/data/deep/x"), mounts) == "tmpfs"
    assert storage.kind_of(Path("/database"), mounts) == "ext4"
    assert storage.kind_of(Path("/x"), tmp_path / "none") == ""


OWNER = """
import sys, time
from pathlib import Path
from burnish.base import process, storage, temporary, warden
warden.NAMESPACE = sys.argv[2]
said = process.run(["sh", "-c", "mktemp"]).output
print(storage.in_memory(1 << 20), storage.on_device(Path(sys.argv[1])), said, process._warden.pid, flush=True)
time.sleep(300)
"""


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], tuple[Path, Path, Path], int]]:
    """Another run: (itself, its folders in memory, on a device and for a program's short-lived files, its warden).

    Its folders are called as `warden.NAMESPACE` has it.
    """
    env = {key: value for key, value in os.environ.items() if key != process.RUN_VARIABLE}
    argv = [sys.executable, "-c", OWNER, str(tmp_path), warden.NAMESPACE]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=env) as running:
        assert running.stdout is not None
        memory, device, file, guard = running.stdout.readline().split()
        try:
            yield running, (Path(memory), Path(device), Path(file).parent), int(guard)
        finally:
            running.kill()


def test_a_killed_run_leaves_none(owner: tuple[subprocess.Popen[str], tuple[Path, Path, Path], int]) -> None:
    running, places, _ = owner
    assert all(place.is_dir() and place.stat().st_mode & 0o777 == 0o700 for place in places)
    assert str(places[0]) not in storage.sweep(), "a run that lives keeps its own"
    assert str(places[2]) not in temporary.sweep()
    running.send_signal(signal.SIGKILL)
    assert soon(lambda: not any(place.exists() for place in places))


@pytest.fixture
def unswept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders with names that runs of the tests beside these do not sweep."""
    monkeypatch.setattr(warden, "NAMESPACE", f"burnish{os.getpid()}-")


def test_the_next_run_removes_what_a_killed_warden_did_not(
    unswept: None,
    owner: tuple[subprocess.Popen[str], tuple[Path, Path, Path], int],
) -> None:
    running, (memory, device, short_lived), guard = owner
    os.kill(guard, signal.SIGKILL)
    running.kill()
    running.wait()
    assert memory.is_dir()
    assert storage.sweep() == [str(memory)]
    assert not memory.exists()
    assert str(short_lived) in temporary.sweep()
    assert not short_lived.exists()
    own = storage.on_device(device.parent)
    assert list(device.parent.iterdir()) == [own], "a device is swept when it is used again"


def test_another_containers_folders_are_kept(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    (tmp_path / f"burnish-{dead.pid}-abc-1").mkdir()
    (tmp_path / "burnish-notes").mkdir()
    assert storage.sweep(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 2


def test_another_machines_folders_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have the folder (NFS), and the first pid namespace has the same number on every Linux."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    monkeypatch.setattr(process, "run_id", lambda: f"{dead.pid}-abc")
    own = tmp_path / storage.name()
    older = tmp_path / f"burnish-{dead.pid}-abc-{process.pid_namespace()}"
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(os, "uname", lambda: SimpleNamespace(nodename="elsewhere"))
        other = tmp_path / storage.name()
    for place in (own, older, other, tmp_path / "burnish-1"):
        place.mkdir()
    assert other != own
    assert sorted(storage.sweep(tmp_path)) == sorted(map(str, (own, older)))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((other.name, "burnish-1"))


def test_a_machine_is_known_by_its_id_and_its_name(tmp_path: Path) -> None:
    place = tmp_path / "machine-id"
    without = storage._machine(place)
    place.write_text("0123\n")
    assert storage._machine(place) == storage._machine(place) != without
