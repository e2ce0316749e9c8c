"""One PostgreSQL server's life in a private folder, and the settings that all of them have."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from pathlib import Path

from burnish.engines.shared import unprivileged
from burnish.engines.shared.server_process import ForkingServer, Launch
from burnish.engines.shared.simple_query import ask
from burnish.model.condition import Condition
from burnish.model.workload import Workload

CLUSTER = "cluster"
"""Folder of the server's data in a data folder."""

CLIENT = "client"
"""Folder of pgbench and its library in a data folder: the baseline's, so that all sides have one client."""

DATABASE = "burnish"
"""The database of the loads, and the user that owns it."""

DEFAULTS: Mapping[str, str] = {
    "shared_buffers": "1GB",  # four times the data
    "max_wal_size": "4GB",  # no checkpoint but the timed ones
    "huge_pages": "off",  # of several servers that try, one may get the reserved pages and another not
}
"""Settings of every server unless the load or the condition names them; all others are the server's own."""


def settings_of(workload: Workload, condition: Condition) -> tuple[tuple[str, str], ...]:
    """The load's server settings and the condition's, which win where both name one; connections for all clients."""
    threads = workload.threads
    room = {"max_connections": str(threads + 10)} if threads > 90 else {}  # 100 is the server's own
    return tuple({**room, **dict(workload.settings), **dict(condition.settings)}.items())


class Server(ForkingServer):
    """A postmaster with its children, on a Unix socket that nobody else reaches; ended by `stop`."""

    complaint = re.compile(r"^(?:.* FATAL|postgres): +(.*)", re.MULTILINE)
    first_signal = signal.SIGINT
    """A fast shutdown: sessions end, a checkpoint is made, each process writes its profile."""

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch, name="postgres", socket=".s.PGSQL.5432")

    def words(self) -> list[str | Path]:
        """See `ServerProcess.words`."""
        launch = self.launch
        settings = {**DEFAULTS, "listen_addresses": "", **dict(launch.settings)}
        given = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return [*unprivileged.words(), launch.program, "-D", launch.data / CLUSTER, "-k", self.socket.parent, *given]

    def ready(self) -> bool:
        """See `ServerProcess.ready`: the first line of the postmaster's file is its pid, the eighth its state."""
        file = self.launch.data / CLUSTER / "postmaster.pid"
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []
        return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"

    def query(self, statement: str, database: str = DATABASE) -> list[tuple[str | None, ...]]:
        """Rows of one statement, over a new connection; see `ask`."""
        return ask(self.socket, statement, user=DATABASE, database=database)
