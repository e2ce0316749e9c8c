"""Calls of the command line that begin with its modules loaded: most of a short call's time is importing them.

The first call starts a process that imports what most verbs need, reads the catalogue, and waits. A call is a fork of
it, with arguments, environment, folder and output of its own: a process as any other, which can be waited for, stopped
and killed. What a process takes from its environment before it runs anything (`EARLY`) is the same in all forks of one
such process; for another environment another one is started.

What is about the beginning itself (which modules a call imports, Ctrl-C meanwhile, completion) needs `subprocess`.

A call can be had to stop at an event (`STOPS_AT`), whenever whoever waits for that has a turn.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

EARLY = ("PYTHON", "LC_", "LANG", "LD_", "COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "TTY_")
"""Beginnings of names of variables that the interpreter, the loader or a module reads at once."""

LOADED = (
    "burnish.cli.measuring",
    "burnish.cli.results",
    "burnish.engines.fake.engine",
    "burnish.hosts.part",
    "burnish.study.runner",
    "numpy",
    "scipy.integrate",
    "scipy.optimize",
    "scipy.special",
)
"""Modules that bring along what most calls import; what a verb needs beyond, its fork imports."""

STOPS_AT = "BURNISH_TEST_STOPS_AT"
"""A variable with a kind of event and a file, by a blank: a call makes the file and stops itself (SIGSTOP) as soon as
its record has such an event."""

_LENGTH = struct.Struct("I")
_STATUS = struct.Struct("i")

_loaded: dict[tuple[tuple[str, str], ...], tuple[subprocess.Popen[bytes], socket.socket]] = {}


class Call:
    """A call of the command line: what `subprocess.Popen` has of these names, with its output in files.

    Args:
        words: the call, without the program.
        env: its environment.
    """

    def __init__(self, *words: str | Path, env: Mapping[str, str]) -> None:
        self.args = ["burnish", *map(str, words)]
        self.stdout: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self.stderr: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self.returncode: int | None = None
        asked = {"words": self.args[1:], "env": dict(env), "cwd": str(Path.cwd())}
        self._status, theirs = os.pipe()
        to = _loaded_for(env)
        message = json.dumps(asked).encode()
        files = array.array("i", [self.stdout.fileno(), self.stderr.fileno(), theirs])
        to.sendmsg([_LENGTH.pack(len(message))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        to.sendall(message)
        os.close(theirs)
        (self.pid,) = _STATUS.unpack(_read(self._status, _STATUS.size))

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end; the exit code."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            (status,) = _STATUS.unpack(_read(self._status, _STATUS.size))
            os.close(self._status)
            self.returncode = os.waitstatus_to_exitcode(status)
            self.stdout.seek(0)
            self.stderr.seek(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kills it."""
        self.send_signal(signal.SIGKILL)

    def finished(self, timeout: float) -> subprocess.CompletedProcess[str]:
        """Waits for its end, and kills it where that takes too long."""
        try:
            code = self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait()
            raise
        with self.stdout, self.stderr:
            return subprocess.CompletedProcess(self.args, code, self.stdout.read(), self.stderr.read())


def _loaded_for(env: Mapping[str, str]) -> socket.socket:
    """The connection to a process that has everything loaded under the early variables of `env`."""
    key = tuple(sorted((name, value) for name, value in env.items() if name.startswith(EARLY)))
    if key not in _loaded or _loaded[key][0].poll() is not None:
        ours, theirs = socket.socketpair()
        with theirs:
            argv = [sys.executable, __file__, str(theirs.fileno())]
            process = subprocess.Popen(argv, pass_fds=[theirs.fileno()], env=env)
        _loaded[key] = (process, ours)
    return _loaded[key][1]


def _read(file: int, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = os.read(file, size - len(found))
        if not more:
            raise EOFError("the process that forks calls has ended")
        found += more
    return found


# In the process that has everything loaded.


def _read_catalogue() -> None:
    """Reads what `burnish.catalogue.load` keeps; what is wrong with an installed engine, each call says itself."""
    from burnish.base.errors import UserError
    from burnish.catalogue import load

    with contextlib.suppress(UserError):
        for kept in (load.engines, load.workloads, load.variants):
            kept()


def _serve(connection: socket.socket) -> dict[str, Any] | None:
    """Forks for each request until the other side is gone; the request, in the fork."""
    running: dict[int, int] = {}
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    while True:
        ready = select.select([connection, woken], [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
            for pid in list(running):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    file = running.pop(pid)
                    os.write(file, _STATUS.pack(status))
                    os.close(file)
        if connection not in ready:
            continue
        head, files, _, _ = socket.recv_fds(connection, _LENGTH.size, 3)
        if not head:
            return None
        asked = json.loads(_read(connection.fileno(), _LENGTH.unpack(head)[0]))
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for file in (connection.detach(), woken, wakes, *running.values()):
                os.close(file)
            return asked | {"files": files}
        os.write(files[2], _STATUS.pack(pid))
        running[pid] = files[2]
        for file in files[:2]:
            os.close(file)


def _become(asked: dict[str, Any]) -> None:
    """Makes this fork what a new process would be."""
    from burnish.base import process

    out, err, status = asked["files"]
    os.dup2(out, 1)
    os.dup2(err, 2)
    for file in (out, err, status):
        os.close(file)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    tempfile.tempdir = None
    process._run_id = f"{os.getpid()}-{os.urandom(6).hex()}"
    sys.argv = ["burnish", *asked["words"]]
    sys.path[0] = asked["cwd"]  # as `python -m` has it
    if STOPS_AT in os.environ:
        _stop_at(*os.environ.pop(STOPS_AT).split(" ", 1))


def _stop_at(kind: str, file: str) -> None:
    """Has this process stop behind the first event of this kind."""
    from burnish.record.record import Record

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it does not outlive the tests, stopped for ever
    append = Record.append

    def appended(record: Record, event: Any, /) -> int:
        number = append(record, event)
        if event.kind() == kind:
            Path(file).touch()
            os.kill(os.getpid(), signal.SIGSTOP)
        return number

    Record.append = appended  # type: ignore[method-assign]


if __name__ == "__main__":
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path[0] = ""
    for name in LOADED:
        importlib.import_module(name)
    with contextlib.suppress(ImportError):  # not on hosts that are not x86
        importlib.import_module("iced_x86")
    _read_catalogue()
    gc.freeze()
    request = _serve(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        _become(request)
        runpy.run_module("burnish", run_name="__main__", alter_sys=True)
