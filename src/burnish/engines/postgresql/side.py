"""A side of a PostgreSQL start: one server and the pgbench that loads it."""

from __future__ import annotations

import hashlib
import re

from burnish.base.errors import InfrastructureError
from burnish.engines.contract import SideSpec, Writes
from burnish.engines.postgresql.server import CLIENT, DATABASE, Server, settings_of
from burnish.engines.shared import own_script
from burnish.engines.shared.load_process import LoadProcess
from burnish.engines.shared.logged_load import LoggedLoad, make_counter
from burnish.engines.shared.server_process import Launch
from burnish.engines.shared.server_side import ServerSide
from burnish.model.workload import Workload

_ENDLESS_S = "1000000"
_TABLES = "SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"
_PLAIN = "SET jit = off; SET enable_seqscan = off"  # Debian's server would compile each of these, for half a second
# By their places: a scan of a table larger than a quarter of the server's memory keeps a few of its rows there.
_ROWS = "SELECT count(*), sum(hashtextextended(t::text, 0)) FROM {} t WHERE ctid >= '(0,0)'"
_MISSES = "SELECT sum(heap_blks_read + coalesce(idx_blks_read, 0))::bigint FROM pg_statio_user_tables"
_DURABILITY = ("fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "data_checksums")
_WRITES = """SELECT CASE WHEN current_setting('wal_sync_method') LIKE 'open%' THEN s.wal_write ELSE s.wal_sync END,
s.wal_bytes, b.buffers_checkpoint + b.buffers_clean + b.buffers_backend FROM pg_stat_wal s, pg_stat_bgwriter b"""


def pgbench_words(workload: Workload) -> list[str]:
    """What pgbench is told of a load: its script, the protocol, a rate, the variables of a user's script."""
    if workload.file:
        own_script.unchanged(workload)
    given = dict(workload.parameters)
    # With a script of one's own pgbench does not look how large its tables are: :scale would be 1.
    words = ["-f", workload.file, "-s", given.get("scale", "100")] if workload.file else ["-b", workload.program]
    words += ["-M", given.pop("protocol", "simple"), "-j", given.pop("jobs", "1")]
    rate = given.pop("rate", "0")
    words += ["-R", rate] if float(rate) > 0 else []
    made = {"scale", "fillfactor", "checksums"}
    return [*words, *(f"-D{name}={value}" for name, value in given.items() if name not in made)]


class Pgbench(LoggedLoad):
    """pgbench, which says what went wrong in lines of its own."""

    name = "pgbench"
    complaint = re.compile(r"\b(?:error:|fatal:|aborted)")


class PostgreSQLSide(ServerSide[Server]):
    """One server and its pgbench."""

    def __init__(self, spec: SideSpec) -> None:
        super().__init__(spec, Server(Launch.of(spec, settings_of(spec.workload, spec.condition))))

    def boot(self) -> None:
        """See `Side.boot`; makes what pgbench is preloaded with, too."""
        make_counter(self.spec.folder)
        super().boot()

    def fingerprint(self) -> str:
        """A digest of the rows of all tables, in any order; the rows are in the server's memory afterwards."""
        digest = hashlib.sha256()
        for (table,) in self.server.query(_TABLES):
            rows = self.server.query(f"{_PLAIN}; {_ROWS.format(table)}")
            digest.update(f"{table} {rows}\n".encode())
            # The index, too, is to be in memory before it is measured.
            self.server.query(f"{_PLAIN}; SELECT count(*) FROM {table}")  # noqa: S608
        return digest.hexdigest()[:16]

    def new_load(self) -> LoadProcess:
        """See `ServerSide.new_load`."""
        spec, client, log = self.spec, self.spec.data / CLIENT, "burnish-log"
        where = ["-h", str(self.server.socket.parent), "-U", DATABASE, DATABASE]
        how = ["-n", "-c", str(spec.workload.threads), "-T", _ENDLESS_S, f"--random-seed={spec.seed}"]
        words = [str(client / "pgbench"), *how, "-l", f"--log-prefix={log}", *pgbench_words(spec.workload), *where]
        own, pid = {"LD_LIBRARY_PATH": str(client)}, self.server.pid
        return Pgbench(words, spec, transactions=log, field=3, server_pid=pid, environment=own)

    def misses(self) -> int | None:
        """Blocks of the load's tables and indexes that were not in the server's own memory.

        They may have been in the system's. Catalogs are not counted, which autovacuum reads in all databases.
        """
        said = self._asked(_MISSES)
        return int(said[0]) if said and said[0] else None

    def writes(self) -> Writes:
        """See `Side.writes`; none from a version that counts otherwise. Writes to an O_DSYNC log are flushes, too."""
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
            return (self.server.query(statement) or [()])[0]
        except InfrastructureError:
            return ()
