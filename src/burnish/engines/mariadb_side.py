"""A side of a MariaDB start: one server and the sysbench that loads it."""

from __future__ import annotations

from burnish.engines.base import Side, SideSpec, Tick
from burnish.engines.mariadb_server import Launch, Server
from burnish.engines.sysbench import SysbenchLoad
from burnish.errors import InfrastructureError


class MariaDBSide(Side):
    """One mariadbd and its sysbench.

    Args:
        spec: what it is made of.
    """

    def __init__(self, spec: SideSpec) -> None:
        self.spec = spec
        self._load: SysbenchLoad | None = None
        self._server = Server(
            Launch(
                program=spec.built.server,
                data=spec.data,
                folder=spec.folder,
                options=spec.built.options,
                settings=spec.condition.settings,
                environment=spec.built.environment + spec.environment,
                cores=spec.cores,
            )
        )

    def boot(self) -> None:
        """See `Side.boot`."""
        self._server.boot()

    def fingerprint(self) -> str:
        """See `Side.fingerprint`."""
        return "" if self.spec.workload.dataset == "none" else self._server.fingerprint()

    def load(self) -> None:
        """See `Side.load`."""
        if not self._server.alive:
            raise InfrastructureError(f"{self.spec.label}: {self._server.ending()}", log=self._server.log)
        spec = self.spec
        self._load = SysbenchLoad(
            spec.workload,
            self._server.socket,
            server_pid=self._server.pid,
            threads=spec.threads,
            seed=spec.seed,
            folder=spec.folder,
            cores=spec.cores,
        )
        self._load.start()

    def ticks(self) -> list[Tick]:
        """See `Side.ticks`."""
        return [] if self._load is None else self._load.ticks()

    def server_pids(self) -> list[int]:
        """See `Side.server_pids`."""
        return [self._server.pid] if self._server.alive else []

    def client_pids(self) -> list[int]:
        """See `Side.client_pids`."""
        return [] if self._load is None else self._load.pids()

    def misses(self) -> int | None:
        """See `Side.misses`: pages that InnoDB did not find in its buffer pool."""
        return self._server.status("Innodb_buffer_pool_reads")

    def trouble(self) -> str | None:
        """See `Side.trouble`: the server's end first, since the load's end follows from it."""
        if self._server.pid and not self._server.alive:
            return f"{self.spec.label}: {self._server.ending()} (its log: {self._server.log})"
        said = None if self._load is None else self._load.trouble()
        return f"{self.spec.label}: {said}" if said else None

    def stop(self) -> None:
        """See `Side.stop`."""
        try:
            if self._load is not None:
                self._load.stop()
        finally:
            self._server.stop()
