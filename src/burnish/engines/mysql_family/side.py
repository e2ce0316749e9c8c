"""A side of a start: one server and the program that loads it."""

from __future__ import annotations

from pathlib import Path

from burnish.base.errors import InfrastructureError
from burnish.engines.contract import Side, SideSpec, Tick, Writes
from burnish.engines.mysql_family import certificates
from burnish.engines.mysql_family.product import Habits
from burnish.engines.mysql_family.server import Launch, Server
from burnish.engines.shared import sql_bench
from burnish.engines.shared.load_process import LoadProcess
from burnish.engines.shared.sysbench import SysbenchLoad
from burnish.engines.told import Told
from burnish.model.condition import Condition
from burnish.model.workload import Workload

_WRITTEN = {
    "flushes": "Innodb_data_fsyncs",
    "log_bytes": "Innodb_os_log_written",
    "pages": "Innodb_buffer_pool_pages_flushed",
}
_LEFT = {"dirty_pages": "Innodb_buffer_pool_pages_dirty", "purge": "Innodb_history_list_length"}

_COUNTED = (
    "Com_select", "Com_insert", "Com_update", "Com_delete", "Com_commit",
    "Handler_read_key", "Handler_read_next", "Handler_read_rnd_next", "Handler_write", "Handler_update",
    "Sort_rows", "Created_tmp_tables", "Created_tmp_disk_tables", "Opened_tables",
    "Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads", "Innodb_rows_read", "Innodb_data_fsyncs",
    "Innodb_row_lock_waits", "Table_locks_waited", "Bytes_sent",
)  # fmt: skip
"""Counters that tell whether two servers did the same work for a statement: statements by kind, rows by the way to
them, sorts and temporary tables, pages, waits for locks, the answers' size."""

_PATIENCE_S = 5.0
"""Seconds that a server has to tell of itself: one that hangs must not keep its start from ending."""


def settings_of(workload: Workload, condition: Condition) -> tuple[tuple[str, str], ...]:
    """The workload's server settings and the condition's, which win where both name one."""
    given = {name.replace("-", "_") for name, _ in condition.settings}
    return tuple(item for item in workload.settings if item[0] not in given) + condition.settings


class ServerSide(Side):
    """One server and its load.

    Args:
        spec: what it is made of.
        habits: how its server is launched.
    """

    def __init__(self, spec: SideSpec, habits: Habits) -> None:
        self.spec = spec
        self._load: LoadProcess | None = None
        self._stopped = False
        self._before: dict[str, int] = {}
        self._server = Server(
            Launch(
                program=spec.built.server,
                habits=habits,
                data=spec.data,
                folder=spec.folder,
                options=spec.built.options,
                settings=settings_of(spec.workload, spec.condition),
                environment=spec.built.environment + spec.environment,
                cores=spec.cores,
                transport=spec.condition.transport,
                certificates=spec.condition.certificates,
                rate=spec.condition.rate,
                delay=spec.condition.delay,
            )
        )

    def boot(self) -> None:
        """See `Side.boot`."""
        self._server.boot()

    def fingerprint(self) -> str:
        """See `Side.fingerprint`; if the data are meant to be in memory, it reads all of them into memory."""
        workload = self.spec.workload
        if workload.dataset == "none":
            return ""
        fingerprint = self._server.fingerprint(workload.database)
        if workload.in_memory:  # the checksums have read all rows, and a load of few long queries misses the rest late
            self._server.read_indexes(workload.database)
        return fingerprint

    def query(self, statement: str, database: str) -> list[tuple[object, ...]]:
        """Rows of one statement, over a new connection."""
        return self._server.query(statement, database)

    def load(self) -> None:
        """See `Side.load`."""
        if not self._server.alive:
            raise InfrastructureError(f"{self.spec.label}: {self._server.ending()}", log=self._server.log)
        spec = self.spec
        if spec.condition.transport == "tls":
            certificates.hand_out(Path(spec.condition.certificates), spec.folder)
        # The server's start and the data's checksums are no work of the load's.
        self._before = self._server.statuses("%", _PATIENCE_S)
        self._load = self._new_load()
        self._load.start()

    def _new_load(self) -> LoadProcess:
        spec = self.spec
        if spec.workload.program == sql_bench.PROGRAM:
            sql_bench.check_clients(spec.workload.threads)
            return sql_bench.SqlBenchLoad(
                spec.workload,
                self._server.address,
                data=spec.data,
                server_pid=self._server.pid,
                folder=spec.folder,
                cores=spec.cores,
            )
        return SysbenchLoad(
            spec.workload,
            self._server.address,
            server_pid=self._server.pid,
            threads=spec.workload.threads,
            seed=spec.seed,
            folder=spec.folder,
            cores=spec.cores,
        )

    def ticks(self) -> list[Tick]:
        """See `Side.ticks`."""
        return [] if self._load is None else self._load.ticks()

    def server_pids(self) -> list[int]:
        """See `Side.server_pids`."""
        return [self._server.pid] if self._server.alive else []

    def client_pids(self) -> list[int]:
        """See `Side.client_pids`."""
        return [] if self._load is None else self._load.pids()

    def silence(self) -> float:
        """See `Side.silence`."""
        return 0.0 if self._load is None else self._load.silence()

    def misses(self) -> int | None:
        """See `Side.misses`: pages that InnoDB did not find in its buffer pool."""
        return self._server.status("Innodb_buffer_pool_reads")

    def writes(self) -> Writes:
        """See `Side.writes`: InnoDB's counters."""
        found = self._server.statuses("Innodb\\_%")
        return Writes(
            {name: found[variable] for name, variable in _WRITTEN.items() if variable in found},
            {name: found[variable] for name, variable in _LEFT.items() if variable in found},
        )

    def facts(self) -> dict[str, str]:
        """See `Side.facts`: the transport, the network's limits, and the cipher that the load itself was given."""
        condition = self.spec.condition
        transport = condition.transport
        cipher = self._load.cipher() if self._load is not None and transport != "unix" else None
        limits = {name: value for name, value in (("rate", condition.rate), ("delay", condition.delay)) if value}
        return {"transport": transport} | limits | ({"cipher": cipher} if cipher is not None else {})

    def told(self) -> Told:
        """See `Side.told`: all global variables, and the counters of `_COUNTED` since the load began."""
        now = self._server.statuses("%", _PATIENCE_S)
        done = {name: count - self._before.get(name, 0) for name, count in now.items()}
        return Told(
            self._server.variables(_PATIENCE_S) if now else {},
            done.get("Questions", 0),
            {name: done[name] for name in _COUNTED if name in done},
            (str(self._server.socket.parent),),
        )

    def trouble(self) -> str | None:
        """See `Side.trouble`: the server's end first, since the load's end follows from it."""
        if self._stopped:
            return None
        if self._server.pid and not self._server.alive:
            return f"{self.spec.label}: {self._server.ending()} (its log: {self._server.log})"
        message = None if self._load is None else self._load.trouble() or self._in_the_clear(self._load)
        return f"{self.spec.label}: {message}" if message else None

    def _in_the_clear(self, load: LoadProcess) -> str | None:
        """Why the load's connections are not as the condition asks, once the load has reported them."""
        if self.spec.condition.transport == "unix":
            return None
        cipher, tls = load.cipher(), self.spec.condition.transport == "tls"
        if cipher is None or bool(cipher) is tls:
            return None
        return f"the load's cipher is {cipher!r}" if cipher else "the load's connections are not encrypted"

    def stop(self) -> None:
        """See `Side.stop`."""
        self._stopped = True
        try:
            if self._load is not None:
                self._load.stop()
        finally:
            self._server.stop()
