"""One PostgreSQL server's life in a private folder: started, asked, ended; and the processes that it is."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.base import process, temporary
from burnish.base.errors import InfrastructureError, UserError
from burnish.engines.contract import MARKER
from burnish.engines.postgresql.protocol import ask

CLUSTER = "cluster"
"""Folder of the server's data in a data folder."""

CLIENT = "client"
"""Folder of pgbench and its library in a data folder: the baseline's, so that all sides have one client."""

DATABASE = "burnish"
"""The database of the loads, and the user that owns it."""

DEFAULTS: Mapping[str, str] = {
    "shared_buffers": "1GB",  # four times the data, or a scan would not leave them in memory
    "max_wal_size": "4GB",  # no checkpoint but the timed ones
}
"""Settings of every server unless the load or the condition names them; all others are the server's own."""

_NOBODY = 65534
_SOCKET = ".s.PGSQL.5432"
_SOCKET_LENGTH = 100
_BOOT_S = 90.0
_STOP_S = 60.0


def unprivileged() -> tuple[str, ...]:
    """Words before programs that refuse to run as root (postgres, initdb): nobody's user id and no privilege.

    In a user namespace of its own the process is nobody, without any capability, while files keep one owner: what
    Burnish makes (0700) is the server's own, and what the server writes, profiles included, is Burnish's, wherever its
    home is. A change of user could not reach a home below /root. Afterwards, since the kernel forgets it on a change of
    user: the server ends with Burnish.
    """
    if os.geteuid() != 0:
        return ()
    namespace = ("unshare", "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}")
    return (*namespace, "setpriv", "--pdeathsig", "KILL")


def check_user() -> None:
    """A `UserError` where Burnish runs as root and programs cannot be run as anybody else."""
    words = unprivileged()
    if words and not process.run([*words, "true"], timeout=30).ok:
        raise UserError(
            "PostgreSQL refuses to run as root, and this host allows no user namespace (`unshare --user`), in which it "
            "would run as nobody; run Burnish as an ordinary user"
        )


@dataclass(frozen=True)
class Launch:
    """How one server is launched.

    Attributes:
        program: postgres.
        data: data folder, with `MARKER` and `CLUSTER` in it.
        folder: private folder for socket and log.
        settings: server settings over `DEFAULTS`, as (name, value).
        environment: variables for the server.
        cores: CPU numbers at launch; None: all.
    """

    program: Path
    data: Path
    folder: Path
    settings: tuple[tuple[str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    cores: frozenset[int] | None = None


def setting_words(settings: Iterable[tuple[str, str]]) -> list[str]:
    """`DEFAULTS` and `settings` as words of a command line; a setting replaces the default of the same name."""
    return [word for name, value in {**DEFAULTS, **dict(settings)}.items() for word in ("-c", f"{name}={value}")]


class Server:
    """A postmaster with its children, on a Unix socket that nobody else reaches; ended by `stop`."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.log = launch.folder / "postgres.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._sockets: Path | None = None
        self._is_child: dict[int, bool] = {}

    @property
    def sockets(self) -> Path:
        """Folder of the socket; under /tmp if the launch folder's path is too long for a socket's name."""
        if self._sockets is None:
            short = len(str(self.launch.folder / _SOCKET)) <= _SOCKET_LENGTH
            self._sockets = self.launch.folder if short else Path(tempfile.mkdtemp(dir=temporary.folder()))
        return self._sockets

    @property
    def pid(self) -> int:
        """The postmaster; 0 before `boot`."""
        return 0 if self._process is None else self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the postmaster runs."""
        return self._process is not None and self._process.poll() is None

    def pids(self) -> list[int]:
        """The postmaster, then its children. A process keeps its parent, so that each is looked at once."""
        if not self.alive:
            return []
        there = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - called often
        known = self._is_child
        self._is_child = {pid: known[pid] if pid in known else _parent(pid) == self.pid for pid in there}
        return [self.pid, *(pid for pid, child in self._is_child.items() if child)]

    def boot(self) -> None:
        """Starts the server and waits until it takes connections.

        Raises:
            UserError: the data folder is not Burnish's.
            InfrastructureError: the server ended or was not ready in time; its log is attached.
        """
        launch, cluster = self.launch, self.launch.data / CLUSTER
        if not (launch.data / MARKER).is_file():
            raise UserError(f"{launch.data}: no {MARKER} in it, so it is not ours, and no server is started on it")
        words: list[str | Path] = [
            *unprivileged(),
            launch.program,
            "-D",
            cluster,
            "-k",
            self.sockets,
            "-c",
            "listen_addresses=",
        ]
        with self.log.open("ab") as sink:
            self._process = process.start(
                [*words, *setting_words(launch.settings)],
                cwd=launch.folder,
                env=dict(launch.environment),
                stdout=sink.fileno(),
                stderr=subprocess.STDOUT,
                cores=launch.cores,
            )
        deadline = time.monotonic() + _BOOT_S
        while not self._ready(cluster / "postmaster.pid"):
            if not self.alive or time.monotonic() > deadline:
                why = self.ending() if not self.alive else f"the server was not ready within {_BOOT_S:.0f} s"
                raise InfrastructureError(f"{launch.program}: {why}", log=self.log)
            time.sleep(0.02)

    def _ready(self, file: Path) -> bool:
        """Whether the postmaster has said so: the first line of its file is its pid, the eighth its state."""
        lines = file.read_text(errors="replace").splitlines() if file.is_file() else []
        return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"

    def query(self, statement: str, database: str = DATABASE) -> list[tuple[str | None, ...]]:
        """Rows of one statement, over a new connection; see `ask`."""
        return ask(self.sockets / _SOCKET, statement, user=DATABASE, database=database)

    def ending(self) -> str:
        """How the server ended, in words."""
        code = None if self._process is None else self._process.poll()
        if code is None:
            return "the server runs"
        return f"the server was ended by {signal.Signals(-code).name}" if code < 0 else f"the server ended, code {code}"

    def stop(self, patience: float = _STOP_S) -> None:
        """A fast shutdown (sessions end, a checkpoint is made, each process writes its profile); then a kill."""
        if self._process is None:
            return
        self.pids()
        process.stop(self._process, patience=patience, first=signal.SIGINT)
        # Where the postmaster was killed its children end when they look up; each leads a process group of its own.
        for pid in (pid for pid, child in self._is_child.items() if child):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"postgres:"):
                    os.kill(pid, signal.SIGKILL)
        self._process, self._is_child = None, {}
        if self._sockets is not None and self._sockets != self.launch.folder:
            shutil.rmtree(self._sockets, ignore_errors=True)
        self._sockets = None


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return None
