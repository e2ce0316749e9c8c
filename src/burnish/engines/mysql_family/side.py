"""A side of a start: one server and the program that loads it."""

from __future__ import annotations

import math
from pathlib import Path

from burnish.engines.contract import SideSpec, Writes
from burnish.engines.mysql_family import certificates, own_data
from burnish.engines.mysql_family.product import Habits
from burnish.engines.mysql_family.server import Launch, Server
from burnish.engines.reported import Reported
from burnish.engines.shared import sql_bench
from burnish.engines.shared.load_process import LoadProcess
from burnish.engines.shared.server_side import ServerSide
from burnish.engines.shared.sysbench import SysbenchLoad
from burnish.model.condition import Condition
from burnish.model.workload import Workload

_WRITTEN = {
    "flushes": "Innodb_data_fsyncs",
    "log_bytes": "Innodb_os_log_written",
    "pages": "Innodb_buffer_pool_pages_flushed",
}
_LEFT = {"dirty_pages": "Innodb_buffer_pool_pages_dirty", "purge": "Innodb_history_list_length"}

_LOG = (
    ("Innodb_checkpoint_age", "Innodb_checkpoint_max_age", "innodb_log_file_size"),  # MariaDB
    ("Innodb_redo_log_logical_size", "innodb_redo_log_capacity", "innodb_redo_log_capacity"),  # MySQL
)
"""What the redo log holds and may hold, in bytes (counters or variables), and the variable that makes it larger."""

_FULL = 0.9
"""Share of what a redo log may hold from which on it counts as full: writes stop somewhat before its end."""

_LARGER = 4
"""How much larger a log is proposed: it then lasts for a start, at the rates of a fast build on two cores."""

_COUNTED = (
    "Com_select", "Com_insert", "Com_update", "Com_delete", "Com_commit",
    "Handler_read_key", "Handler_read_next", "Handler_read_rnd_next", "Handler_write", "Handler_update",
    "Sort_rows", "Created_tmp_tables", "Created_tmp_disk_tables", "Opened_tables",
    "Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads", "Innodb_rows_read", "Innodb_data_fsyncs",
    "Innodb_row_lock_waits", "Table_locks_waited", "Bytes_sent",
)  # fmt: skip
"""Counters that tell whether two servers did the same work for a statement: statements by kind, rows by the way to
them, sorts and temporary tables, pages, waits for locks, the answers' size."""

_BETWEEN_S = 30.0
"""Seconds that a question between two turns may take: a server that hangs must not hold up the start for minutes."""

_PATIENCE_S = 5.0
"""Seconds that a server has to tell of itself: one that hangs must not keep its start from ending."""


def settings_of(workload: Workload, condition: Condition) -> tuple[tuple[str, str], ...]:
    """The workload's server settings and the condition's, which win where both name one; see `without_events`."""
    given = {name.replace("-", "_") for name, _ in condition.settings}
    settings = tuple(item for item in workload.settings if item[0] not in given) + condition.settings
    return own_data.without_events(workload, settings)


class FamilySide(ServerSide[Server]):
    """One server and its load.

    Args:
        spec: what it is made of.
        habits: how its server is launched.
    """

    def __init__(self, spec: SideSpec, habits: Habits) -> None:
        condition = spec.condition
        launch = Launch.of(
            spec,
            settings_of(spec.workload, condition),
            habits=habits,
            options=spec.built.options,
            transport=condition.transport,
            certificates=condition.certificates,
            rate=condition.rate,
            delay=condition.delay,
        )
        super().__init__(spec, Server(launch))
        self._before: dict[str, int] = {}

    def fingerprint(self) -> str:
        """See `Side.fingerprint`; if the data are meant to be in memory, it reads all of them into memory."""
        workload = self.spec.workload
        if workload.dataset == "none":
            return ""
        fingerprint = self.server.fingerprint(workload.database)
        if workload.in_memory:  # the checksums have read all rows, and a load of few long queries misses the rest late
            self.server.read_indexes(workload.database)
        return fingerprint

    def query(self, statement: str, database: str) -> list[tuple[object, ...]]:
        """Rows of one statement, over a new connection."""
        return self.server.query(statement, database)

    def new_load(self) -> LoadProcess:
        """See `ServerSide.new_load`; with the certificates that it needs for TLS."""
        spec = self.spec
        if spec.condition.transport == "tls":
            certificates.hand_out(Path(spec.condition.certificates), spec.folder)
        # The server's start and the data's checksums are no work of the load's.
        self._before = self.server.statuses("%", _PATIENCE_S)
        if spec.workload.program == sql_bench.PROGRAM:
            sql_bench.check_clients(spec.workload.threads)
            return sql_bench.SqlBenchLoad(
                spec.workload,
                self.server.address,
                data=spec.data,
                server_pid=self.server.pid,
                folder=spec.folder,
                cores=spec.cores,
            )
        return SysbenchLoad(
            spec.workload,
            self.server.address,
            server_pid=self.server.pid,
            threads=spec.workload.threads,
            seed=spec.seed,
            folder=spec.folder,
            cores=spec.cores,
        )

    def misses(self) -> int | None:
        """See `Side.misses`: pages that InnoDB did not find in its buffer pool."""
        return self.server.status("Innodb_buffer_pool_reads", _BETWEEN_S)

    def writes(self) -> Writes:
        """See `Side.writes`: InnoDB's counters."""
        found = self.server.statuses("Innodb\\_%", _BETWEEN_S)
        return Writes(
            {name: found[variable] for name, variable in _WRITTEN.items() if variable in found},
            {name: found[variable] for name, variable in _LEFT.items() if variable in found},
        )

    def waits_for(self) -> str | None:
        """See `Side.waits_for`: pages to be written, where the redo log is full."""
        variables = self.server.variables(_PATIENCE_S)
        said = {name: int(value) for name, value in variables.items() if value.isdigit()}
        said |= self.server.statuses("Innodb\\_%", _PATIENCE_S)
        for held, most, variable in _LOG:
            if held in said and variable in said and said[held] > _FULL * said.get(most, math.inf):
                larger = f"--set {variable}={_LARGER * said[variable] >> 20}M"
                return f"its redo log is full ({said[held] / 1e6:.0f} of {said[most] / 1e6:.0f} MB; {larger} may help)"
        return None

    def facts(self) -> dict[str, str]:
        """See `Side.facts`: the transport, the network's limits, and the cipher that the load itself was given."""
        condition = self.spec.condition
        transport = condition.transport
        cipher = self.cipher() if transport != "unix" else None
        limits = {name: value for name, value in (("rate", condition.rate), ("delay", condition.delay)) if value}
        return {"transport": transport} | limits | ({"cipher": cipher} if cipher is not None else {})

    def reported(self) -> Reported:
        """See `Side.reported`: all global variables, and the counters of `_COUNTED` since the load began."""
        now = self.server.statuses("%", _PATIENCE_S)
        done = {name: count - self._before.get(name, 0) for name, count in now.items()}
        return Reported(
            self.server.variables(_PATIENCE_S) if now else {},
            done.get("Questions", 0),
            {name: done[name] for name in _COUNTED if name in done},
            (str(self.server.socket.parent),),
        )

    def objection(self, load: LoadProcess) -> str | None:
        """See `ServerSide.objection`: connections that are not as the condition asks, once the load reported them."""
        if self.spec.condition.transport == "unix":
            return None
        cipher, tls = load.cipher(), self.spec.condition.transport == "tls"
        if cipher is None or bool(cipher) is tls:
            return None
        return f"the load's cipher is {cipher!r}" if cipher else "the load's connections are not encrypted"
