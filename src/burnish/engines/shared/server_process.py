"""A server with clients as a process in a private folder: launched, waited for, asked how it ended, ended.

`ServerProcess` is a server of one process, `ForkingServer` one that has a process for each connection.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from burnish.base import process, temporary
from burnish.base.errors import InfrastructureError, UserError
from burnish.engines.side import MARKER, SideSpec

BOOT_S = 90.0
STOP_S = 60.0
_KILLED_S = 5.0  # until a killed process is gone
_SOCKET_LENGTH = 100  # the kernel allows 107 bytes; servers warn a little earlier


@dataclass(frozen=True)
class Launch:
    """How one server is launched.

    Attributes:
        program: the server's program.
        data: its data folder, with `MARKER` in it.
        folder: private folder for socket, log and temporary files.
        settings: server settings over the usual ones, as (name, value).
        environment: variables for the server.
        cores: CPU numbers at launch; None: all.
    """

    program: Path
    data: Path
    folder: Path
    settings: tuple[tuple[str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    cores: frozenset[int] | None = None

    @classmethod
    def of(cls, spec: SideSpec, settings: tuple[tuple[str, str], ...], **own: Any) -> Self:
        """That of a side's server, under these settings; `own` is what a derived class has beyond."""
        return cls(
            program=spec.built.server.resolve(),
            data=spec.data,
            folder=spec.folder,
            settings=settings,
            environment=spec.built.environment + spec.environment,
            cores=spec.cores,
            **own,
        )


class ServerProcess(ABC):
    """A server that answers on a Unix socket in a private folder; ended by `stop`.

    Attributes:
        launch: how it is launched.
        log: its output.

    Args:
        launch: see there.
        name: of its log, without suffix.
        socket: file name of its socket.
    """

    first_signal: ClassVar[int] = signal.SIGTERM
    """What asks the server to end, cleanly."""

    complaint: ClassVar[re.Pattern[str] | None] = None
    """What its log has where it tells of an error, the message in a group; None: that is not known."""

    def __init__(self, launch: Launch, *, name: str, socket: str) -> None:
        self.launch = launch
        self.log = launch.folder / f"{name}.log"
        self._socket_name = socket
        self._socket_folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._code: int | None = None
        self._begun = False

    # What one server has of its own.

    @abstractmethod
    def words(self) -> Sequence[str | Path]:
        """Its command line."""

    @abstractmethod
    def ready(self) -> bool:
        """Whether it takes connections; asked again and again while it starts."""

    # What all have.

    @property
    def socket(self) -> Path:
        """The Unix socket; in a separate folder of short-lived files if the launch folder's path is too long."""
        if self._socket_folder is None:
            self._socket_folder = self.launch.folder
            for place in (temporary.folder, temporary.short_folder):
                if len(os.fsencode(self._socket_folder / self._socket_name)) > _SOCKET_LENGTH:
                    self._socket_folder = Path(tempfile.mkdtemp(dir=place()))
        return self._socket_folder / self._socket_name

    @property
    def pid(self) -> int:
        """Process id of the server; 0 before `boot`."""
        return 0 if self._process is None else self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the server runs."""
        return self._process is not None and self._process.poll() is None

    def pids(self) -> list[int]:
        """All of its processes that live, the one that was started first."""
        return [self.pid] if self.alive else []

    def boot(self) -> None:
        """Starts the server and waits until it takes connections.

        Raises:
            UserError: the data folder is not Burnish's.
            InfrastructureError: the server ended or was not ready in time; its log is attached.
        """
        if not self._begun:
            self.begin()
        self._begun = False
        self.wait()

    def begin(self) -> None:
        """Starts the server without waiting for it; a `boot` that follows waits.

        Raises:
            UserError: the data folder is not Burnish's.
            InfrastructureError: the program can't be started.
        """
        self.check_data()
        self.spawn()
        self._begun = True

    def check_data(self) -> None:
        """A `UserError` where the data folder is not Burnish's."""
        if not (self.launch.data / MARKER).is_file():
            raise UserError(
                f"{self.launch.data}: a data folder that is not ours (no {MARKER} in it), so no server is started on "
                "it; let Burnish prepare its own"
            )

    def spawn(self) -> None:
        """Launches the process; see `begin`, which is called instead."""
        launch, self._code = self.launch, None
        with self.log.open("ab") as sink:
            self._process = process.start(
                self.words(),
                cwd=launch.folder,
                env=dict(launch.environment),
                stdout=sink.fileno(),
                stderr=subprocess.STDOUT,
                cores=launch.cores,
            )

    def wait(self) -> None:
        """Waits until the process answers; see `boot`, which is called instead."""
        launch = self.launch
        deadline = time.monotonic() + BOOT_S
        while not self.ready():
            if not self.alive:
                raise InfrastructureError(f"{launch.program}: {self.ending()} while starting", log=self.log)
            if time.monotonic() > deadline:
                why = f"did not answer within {BOOT_S:g} s of its start"
                raise InfrastructureError(f"{launch.program}: {why}", log=self.log)
            time.sleep(0.02)

    def ending(self) -> str:
        """How the server ended, in words."""
        code = None if self._process is None else self._process.poll()
        if code is None:
            return "the server runs"
        if code < 0:
            return f"the server was ended by {signal.Signals(-code).name}"
        return f"the server ended with exit code {code}"

    def ends_within(self, seconds: float) -> bool:
        """Waits up to so many seconds for the server's end; whether it has ended."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=seconds)
        return not self.alive

    def complaints(self) -> list[str]:
        """What `complaint` finds in its log so far, in order."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.is_file() else ""
        return [] if self.complaint is None else [match[1] for match in self.complaint.finditer(text)]

    def stop(self, patience: float = STOP_S) -> int:
        """Shuts the server down cleanly (an instrumented one writes its profile); kills it after `patience` seconds.

        Returns:
            The server's exit code, 0 when it was never started; negative for a signal.
        """
        if self._process is not None and self._code is None:
            self._code = process.stop(self._process, patience=patience, first=self.first_signal)
        if self._socket_folder is not None and self._socket_folder != self.launch.folder:
            shutil.rmtree(self._socket_folder, ignore_errors=True)
        self._socket_folder = None
        return self._code or 0


class ForkingServer(ServerProcess):
    """A server whose first process has a child for each connection and each task of its own."""

    def __init__(self, launch: Launch, *, name: str, socket: str) -> None:
        super().__init__(launch, name=name, socket=socket)
        self._seen: dict[int, str] = {}
        """When a child was started, as the kernel counts it, by pid; '' for processes that are none."""

    def pids(self) -> list[int]:
        """The first process, then its children. A process keeps its parent, so that each is looked at once."""
        if not self.alive:
            return []
        there = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - called often
        self._seen = {pid: self._seen[pid] if pid in self._seen else self._child(pid) for pid in there}
        return [self.pid, *(pid for pid, begun in self._seen.items() if begun)]

    def _child(self, pid: int) -> str:
        parent, begun = _parent_and_begin(pid)
        return begun if parent == self.pid else ""

    def stop(self, patience: float = STOP_S) -> int:
        """See `ServerProcess.stop`; children that outlive a first process that was killed are killed."""
        self.pids()
        code = super().stop(patience)
        children = {pid: begun for pid, begun in self._seen.items() if begun}
        deadline = time.monotonic() + _KILLED_S
        # By its start, since another process may have been given the number of one that ended.
        while left := [pid for pid, begun in children.items() if _parent_and_begin(pid)[1] == begun]:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                break
            time.sleep(0.01)
        self._seen = {}
        return code


def _parent_and_begin(pid: int) -> tuple[int, str]:
    """Pid of a process's parent, and when it was started in clock ticks since boot; (0, '') when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (0, "") if fields[0] in "ZX" else (int(fields[1]), fields[19])
    except (OSError, IndexError):
        return 0, ""
