"""The warden: waits until its Burnish process is gone, then kills every process that bears its mark.

Run as a script (``python -I -S warden.py MARK VARIABLE``) with a pipe on standard input whose other end
only the Burnish process holds: end of file means that it ended, by itself or by kill -9. A process inherits
the mark with its environment, so neither a new session nor a new parent hides it. Standard library only:
it starts in some 20 ms.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator


def marked(variable: str) -> Iterator[tuple[int, str]]:
    """(pid, mark) of every process of ours whose environment has `variable`."""
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


def main(mark: str, variable: str) -> None:
    """Waits for the end of standard input, then kills until nothing bears `mark` any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while os.read(0, 64):
        pass
    for _ in range(20):
        found = [pid for pid, of in marked(variable) if of == mark]
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
