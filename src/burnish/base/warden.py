"""The warden: waits until its Burnish process is gone, then kills all processes and removes all network namespaces
and all folders of data with the run's mark.

Run as a script (``python -I -S warden.py MARK VARIABLE``) with a pipe on standard input whose other end is held by the
Burnish process only: end of file means that this process ended, by itself or by kill -9. Processes inherit the mark
with their environment, so neither a new session nor a new parent hides them. It uses the standard library only, so that
it starts in about 20 ms.
"""

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator

NAMESPACE = "burnish-"
"""Prefix of the names of Burnish's network namespaces; the run's mark follows: its process id, a dash, …"""

FOLDER = "/run/netns"
"""Folder in which `ip netns` keeps their names."""

STORES = "/dev/shm"  # noqa: S108 - folders in it are made by us, mode 0700
"""Folder in which data in memory are kept: a file system of the kernel's in memory on every Linux."""

_IP = ("/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip")
_UMOUNT = ("/usr/bin/umount", "/bin/umount")


def marked(variable: str) -> Iterator[tuple[int, str]]:
    """(pid, mark) of every other process whose environment has `variable`."""
    needle = variable.encode() + b"="
    for name in os.listdir("/proc"):  # noqa: PTH208 - no pathlib in a script that must start at once
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123 - see above
                environ = file.read()
        except OSError:
            continue
        for entry in environ.split(b"\0"):
            if entry.startswith(needle):
                yield int(name), entry[len(needle) :].decode(errors="replace")


def namespaces(mark: str = "") -> list[str]:
    """Names of Burnish's network namespaces, of one run or of all."""
    names = os.listdir(FOLDER) if os.path.isdir(FOLDER) else []  # noqa: PTH112, PTH208 - see above
    return sorted(name for name in names if name.startswith(f"{NAMESPACE}{mark}") and owner_of(name))


def owner_of(name: str) -> int:
    """Process id of the run that made the namespace of this name; 0 if it is not one of Burnish's."""
    owner = name.removeprefix(NAMESPACE).partition("-")[0]
    return int(owner) if name.startswith(NAMESPACE) and owner.isdigit() else 0


def stores(folder: str, mark: str = "") -> list[str]:
    """Burnish's folders of data in `folder`, of one run or of all, that belong to this user."""
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - see above
            path = os.path.join(folder, name)  # noqa: PTH118
            if name.startswith(f"{NAMESPACE}{mark}") and owner_of(name) and os.lstat(path).st_uid == os.geteuid():
                found.append(path)
    return sorted(found)


def remove_store(path: str) -> None:
    """Unmounts a folder of data, if it is a file system of its own, and removes it."""
    program = next((each for each in _UMOUNT if os.access(each, os.X_OK)), None)
    if os.path.ismount(path) and program is not None:
        os.spawnv(os.P_WAIT, program, ["umount", "-l", path])  # noqa: S606 - see below
    shutil.rmtree(path, ignore_errors=True)


def _remove(name: str) -> None:
    program = next((path for path in _IP if os.access(path, os.X_OK)), None)
    if program is not None:
        os.spawnv(os.P_WAIT, program, ["ip", "netns", "delete", name])  # noqa: S606 - process.py ended with the owner


def main(mark: str, variable: str) -> None:
    """Waits for the end of standard input, then kills all processes with `mark` and removes what they leave.

    Each line of standard input is a folder, besides `STORES`, in which the run keeps data.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    told = b""
    while part := os.read(0, 4096):
        told += part
    for _ in range(20):
        pids = [pid for pid, owner_mark in marked(variable) if owner_mark == mark]
        if not pids:
            break
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
    for name in namespaces(f"{mark}-"):
        _remove(name)
    for folder in {STORES, *os.fsdecode(told).splitlines()}:
        for path in stores(folder, mark):
            remove_store(path)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
