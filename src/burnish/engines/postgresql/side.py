"""A side of a PostgreSQL start: one server and the pgbench that loads it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.files import sha256_of
from burnish.engines.contract import TICK_S, Side, SideSpec, Tick, Writes
from burnish.engines.postgresql.server import CLIENT, DATABASE, Launch, Server
from burnish.engines.shared.load_process import LoadProcess
from burnish.model.condition import Condition
from burnish.model.workload import Workload

TICKS = Path(__file__).with_name("pgbench_ticks.c")

_ENDLESS_S = "1000000"
_TROUBLE = re.compile(r"^.*\b(?:error:|fatal:|aborted).*$", re.MULTILINE)
_TABLES = "SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"
_DURABILITY = ("fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "data_checksums")
_WRITES = """SELECT s.wal_sync, s.wal_bytes, b.buffers_checkpoint + b.buffers_clean + b.buffers_backend
FROM pg_stat_wal s, pg_stat_bgwriter b"""


def settings_of(workload: Workload, condition: Condition) -> tuple[tuple[str, str], ...]:
    """The load's server settings and the condition's, which win where both name one; connections for all clients."""
    threads = workload.threads
    room = {"max_connections": str(threads + 10)} if threads > 90 else {}  # 100 is the server's own
    return tuple({**room, **dict(workload.settings), **dict(condition.settings)}.items())


def pgbench_words(workload: Workload) -> list[str]:
    """What pgbench is told of a load: its script, the protocol, a rate, the variables of a user's script."""
    if workload.file and sha256_of(Path(workload.file))[:16] != workload.content:
        raise UserError(f"{workload.file}: it was changed while the study ran; run it again with --fresh")
    given = dict(workload.parameters)
    words = ["-f", workload.file] if workload.file else ["-b", workload.program]
    words += ["-M", given.pop("protocol", "simple"), "-j", given.pop("jobs", "1")]
    rate = given.pop("rate", "0")
    words += ["-R", rate] if float(rate) > 0 else []
    made = {"scale", "fillfactor", "checksums"}
    return [*words, *(f"-D{name}={value}" for name, value in given.items() if name not in made)]


class PostgreSQLSide(Side):
    """One server and its pgbench."""

    def __init__(self, spec: SideSpec) -> None:
        self.spec = spec
        self._load: LoadProcess | None = None
        self._stopped = self._booted = False
        self._server = Server(
            Launch(
                program=spec.built.server.resolve(),
                data=spec.data,
                folder=spec.folder,
                settings=settings_of(spec.workload, spec.condition),
                environment=spec.built.environment + spec.environment,
                cores=spec.cores,
            )
        )

    def boot(self) -> None:
        """See `Side.boot`; makes what pgbench is preloaded with, too."""
        library = self.spec.folder / "ticks.so"
        words: list[str | Path] = ["cc", "-O2", "-shared", "-fPIC", "-pthread", TICKS, "-o", library, "-lm", "-ldl"]
        process.run(words, timeout=60).check("compiling the counter of pgbench's transactions")
        self._server.boot()
        self._booted = True

    def fingerprint(self) -> str:
        """A digest of the rows of all tables, in any order; the rows are in the server's memory afterwards."""
        digest = hashlib.sha256()
        for (table,) in self._server.query(_TABLES):
            rows = self._server.query(f"SELECT count(*), sum(hashtextextended(t::text, 0)) FROM {table} t")  # noqa: S608
            digest.update(f"{table} {rows}\n".encode())
            # The index, too, is to be in memory before it is measured.
            self._server.query(f"SET enable_seqscan = off; SELECT count(*) FROM {table}")  # noqa: S608
        return digest.hexdigest()[:16]

    def load(self) -> None:
        """See `Side.load`."""
        spec, client, ticks = self.spec, self.spec.data / CLIENT, self.spec.folder / "ticks.jsonl"
        threads = str(spec.workload.threads)
        where = ["-h", str(self._server.sockets), "-U", DATABASE]
        how = ["-n", "-c", threads, "-T", _ENDLESS_S, f"--random-seed={spec.seed}", "-l", "--log-prefix=burnish-log"]
        self._load = LoadProcess(
            [str(client / "pgbench"), *where, *how, *pgbench_words(spec.workload), DATABASE],
            log=spec.folder / "pgbench.log",
            ticks=ticks,
            folder=spec.folder,
            environment={
                "LD_LIBRARY_PATH": str(client),
                "LD_PRELOAD": str(spec.folder / "ticks.so"),
                "BURNISH_LOG": "burnish-log",
                "BURNISH_TICKS": str(ticks),
                "BURNISH_TICK_S": str(TICK_S),
                "BURNISH_SERVER_PID": str(self._server.pid),
            },
            cores=spec.cores,
        )
        self._load.start()

    def ticks(self) -> list[Tick]:
        """See `Side.ticks`."""
        return [] if self._load is None else self._load.ticks()

    def server_pids(self) -> list[int]:
        """The postmaster and all of its children."""
        return self._server.pids()

    def client_pids(self) -> list[int]:
        """See `Side.client_pids`."""
        return [] if self._load is None else self._load.pids()

    def misses(self) -> int | None:
        """Blocks that were not in the server's own memory; they may have been in the system's."""
        said = self._asked("SELECT sum(blks_read)::bigint FROM pg_stat_database")
        return int(said[0]) if said and said[0] else None

    def writes(self) -> Writes:
        """See `Side.writes`; none from a version that counts otherwise."""
        values = self._asked(_WRITES)
        names = ("flushes", "log_bytes", "pages")
        return Writes({name: int(float(value)) for name, value in zip(names, values, strict=False) if value})

    def facts(self) -> dict[str, str]:
        """The transport, and what is durable when a commit is answered."""
        columns = ", ".join(f"current_setting('{name}')" for name in _DURABILITY)
        said = zip(_DURABILITY, self._asked(f"SELECT {columns}"), strict=False)
        return {"transport": "unix", **{name: value or "" for name, value in said}}

    def _asked(self, statement: str) -> tuple[str | None, ...]:
        """The first row, or nothing where the server does not answer."""
        try:
            return (self._server.query(statement) or [()])[0]
        except InfrastructureError:
            return ()

    def trouble(self) -> str | None:
        """See `Side.trouble`."""
        if not self._booted or self._stopped:
            return None
        message = self._server.ending() if not self._server.alive else None
        if message is None and self._load is not None:
            said = _TROUBLE.search(self._load.log.read_text(errors="replace")) if self._load.log.is_file() else None
            ended = self._load.trouble()
            message = f"pgbench says: {said[0]}" if said else ended
        return f"{self.spec.label}: {message}" if message else None

    def stop(self) -> None:
        """See `Side.stop`."""
        self._stopped = True
        try:
            if self._load is not None:
                self._load.stop()
        finally:
            self._server.stop()
