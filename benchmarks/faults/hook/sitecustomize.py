"""Kills the interpreter before one of its operations on files, counted from its start: Python loads this at start-up.

FAULTS_AT names the operation; FAULTS_COUNT a file into which their number is written at the end.
"""

import atexit
import itertools
import os
import signal
import sys

_OPERATIONS = frozenset({
    "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.utime", "os.chmod",
    "shutil.rmtree", "shutil.move", "shutil.copyfile", "shutil.copytree", "shutil.make_archive", "subprocess.Popen",
    "tempfile.mkstemp", "tempfile.mkdtemp", "sqlite3.connect", "fcntl.flock", "os.kill", "os.killpg",
})  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR

# Programs that it starts must not be killed by these.
_at, _count = int(os.environ.pop("FAULTS_AT", "0")), os.environ.pop("FAULTS_COUNT", "")
_seen = itertools.count(1)


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    writes = event == "open" and isinstance(arguments[2], int) and bool(arguments[2] & _WRITING)
    if not writes and event not in _OPERATIONS:
        return
    if (writes and str(arguments[0]).endswith(".pyc")) or "__pycache__" in str(arguments[:1]):
        return
    if next(_seen) == _at:
        os.kill(os.getpid(), signal.SIGKILL)


def _write() -> None:
    with open(_count, "w") as file:  # noqa: PTH123 - no pathlib before the program's own
        file.write(str(next(_seen) - 1))


if _at or _count:
    sys.addaudithook(_watch)
if _count:
    atexit.register(_write)
