"""The warden: waits until its Burnish process is gone, then kills all processes and removes all network namespaces
with the run's mark.

Run as a script (``python -I -S warden.py MARK VARIABLE``) with a pipe on standard input whose other end is held by the
Burnish process only: end of file means that this process ended, by itself or by kill -9. Processes inherit the mark
with their environment, so neither a new session nor a new parent hides them. It uses the standard library only, so that
it starts in about 20 ms.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator

NAMESPACE = "burnish-"
"""Prefix of the names of Burnish's network namespaces; the run's mark follows: its process id, a dash, …"""

FOLDER = "/run/netns"
"""Folder in which `ip netns` keeps their names."""

_IP = ("/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip")


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


def _remove(name: str) -> None:
    program = next((path for path in _IP if os.access(path, os.X_OK)), None)
    if program is not None:
        os.spawnv(os.P_WAIT, program, ["ip", "netns", "delete", name])  # noqa: S606 - process.py ended with the owner


def main(mark: str, variable: str) -> None:
    """Waits for the end of standard input, then kills all processes with `mark` and removes its namespaces."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while os.read(0, 64):
        pass
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


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
