"""One server's life in a private folder."""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pymysql

from burnish.base import netns
from burnish.base.digest import digest_of
from burnish.base.errors import InfrastructureError, UserError
from burnish.engines.mysql_family import certificates, tuning
from burnish.engines.mysql_family.product import Habits
from burnish.engines.shared import server_process
from burnish.engines.shared.server_process import ServerProcess
from burnish.engines.shared.sysbench import Address
from burnish.model.condition import Transport

_TEMPORARY = "tmp"
_OLDER_LOG = {"innodb_log_file_size", "innodb_log_files_in_group"}
"""MySQL since 8.0.30 ignores these where ``innodb_redo_log_capacity`` is given."""


@dataclass(frozen=True, kw_only=True)
class Launch(server_process.Launch):
    """How one server of the family is launched.

    Attributes:
        habits: what is usual for it.
        options: options that this build needs (where its messages are).
        transport: how clients reach it besides its Unix socket.
        certificates: folder with the server's certificate and key, for TLS; '' without.
        rate: bandwidth limit for the transport ``remote`` (see `burnish.base.netns.steps`).
        delay: added delay for the transport ``remote`` (see `burnish.base.netns.steps`).
        grants: whether users are checked; plugins can be installed only then.
    """

    habits: Habits
    options: tuple[str, ...] = ()
    transport: Transport = "unix"
    certificates: str = ""
    rate: str = ""
    delay: str = ""
    grants: bool = False


def private_options(data: Path) -> list[str]:
    """Options of every run of a server: no configuration file, and root only if Burnish runs as root."""
    user = ["--user=root"] if os.geteuid() == 0 else []  # it refuses to run as root otherwise
    return ["--no-defaults", f"--datadir={data}", *user]


def setting_options(settings: Iterable[tuple[str, str]], defaults: Mapping[str, str]) -> list[str]:
    """`defaults` and `settings` as ``--name=value``; a setting replaces the default of the same name.

    It also replaces those that would silently win over it: the redo log's size where it is given by the older names,
    and what a server sizes itself (``innodb_dedicated_server``) only where nothing is given.
    """

    def plain(name: str) -> str:
        return name.lstrip("-").replace("-", "_")

    given = [(plain(name), value) for name, value in settings]
    names = {name.removeprefix("loose_"): value for name, value in given}
    replaced = {name for name, _ in given}
    if tuning.dedicated(names):
        replaced |= {"innodb_buffer_pool_size", "innodb_redo_log_capacity"}
    if names.keys() & _OLDER_LOG:
        replaced.add("innodb_redo_log_capacity")
    usual = [
        (name, value)
        for name, value in defaults.items()
        if not replaced & {name, name.removeprefix("loose_"), name.removeprefix("skip_")}
    ]
    # Each of those given, also of one name: of some settings all count, of the others the server takes the last.
    return [f"--{name}={value}" for name, value in usual + given]


class Server(ServerProcess):
    """A server that answers on a Unix socket, and over TCP if the transport asks for it; ended by `stop`.

    Args:
        launch: how it is launched.
    """

    launch: Launch
    complaint = re.compile(r"\[ERROR\] *(.*)")

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch, name=launch.habits.name, socket=f"{launch.habits.name}.sock")
        self._port: int | None = None
        self._written = 0
        remote = launch.transport == "remote"
        self._cable = netns.Cable(launch.rate, launch.delay) if remote else None

    @property
    def address(self) -> Address:
        """Where a load reaches the server."""
        if self._cable is not None:
            return Address(self.socket, netns.PORT, host=netns.ADDRESS, within=self._cable.for_client)
        return Address(self.socket, self._port, tls=self.launch.transport == "tls")

    def begin(self) -> None:
        """See `ServerProcess.begin`; a `UserError` also where something listens on the socket."""
        launch = self.launch
        self.check_data()
        launch.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _free(self.socket)
        (launch.folder / _TEMPORARY).mkdir(mode=0o700, exist_ok=True)
        if self._cable is not None:
            self._cable.up()
        try:
            super().begin()
        except BaseException:
            self.stop(patience=0.0)
            raise

    def boot(self) -> None:
        """Starts the server where `begin` has not, and waits until it answers.

        Raises:
            UserError: the data folder is not Burnish's, or something listens on the socket.
            InfrastructureError: the server ended or did not answer in time; its log is attached.
        """
        for last in (False, False, True):
            try:
                super().boot()
            except BaseException:
                if last or not self._port_was_taken():
                    self.stop(patience=0.0)
                    raise
            else:
                return

    def spawn(self) -> None:
        """See `ServerProcess.spawn`."""
        self._written = self.log.stat().st_size if self.log.is_file() else 0
        super().spawn()

    def words(self) -> list[str | Path]:
        """See `ServerProcess.words`; with a port, if it needs one, that is free now."""
        launch = self.launch
        return [
            *(self._cable.for_server if self._cable is not None else ()),
            str(launch.program),
            *private_options(launch.data),
            *launch.options,
            *self._network(),
            *([] if launch.grants else self._way_in()),
            *launch.habits.options,
            f"--socket={self.socket}",
            f"--pid-file={launch.folder / f'{launch.habits.name}.pid'}",
            f"--tmpdir={launch.folder / _TEMPORARY}",
            f"--log-error={self.log}",
            *setting_options(launch.settings, launch.habits.defaults),
        ]

    def ready(self) -> bool:
        """See `ServerProcess.ready`."""
        with contextlib.suppress(pymysql.err.MySQLError, OSError):
            self.query("SELECT 1", patience=5)  # one that listens and does not answer is asked again
            return True
        return False

    def _way_in(self) -> list[str]:
        """Options by which the load gets in without a password."""
        habits = self.launch.habits
        if not habits.accounts:
            return list(habits.unchecked)
        script = self.launch.folder / "accounts.sql"
        script.write_text(habits.accounts)
        return [f"--init-file={script}"]

    def _port_was_taken(self) -> bool:
        """Whether the server ended since somebody else took the port that was free a moment before."""
        if self._port is None or self.alive or not self.log.is_file():
            return False
        with self.log.open("rb") as file:
            file.seek(self._written)
            return b"Bind on TCP/IP port" in file.read()

    def _network(self) -> list[str]:
        """Options for the transport; the port is one that is free now."""
        if self.launch.transport == "unix":
            return ["--skip-networking"]
        if self._cable is not None:
            return ["--skip-name-resolve", f"--bind-address={netns.ADDRESS}", f"--port={netns.PORT}"]
        with socket.socket(socket.AF_INET) as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        tls = certificates.server_options(Path(self.launch.certificates)) if self.launch.transport == "tls" else []
        return ["--skip-name-resolve", "--bind-address=127.0.0.1", f"--port={self._port}", *tls]

    def query(self, statement: str, database: str | None = None, patience: float = 600) -> list[tuple[object, ...]]:
        """Rows of one statement, over a new connection; `patience` is how many seconds it may take."""
        connection = pymysql.connect(
            unix_socket=str(self.socket),
            user="root",
            database=database,
            connect_timeout=5,
            read_timeout=patience,
            autocommit=True,
        )
        with connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def status(self, name: str, patience: float = 600) -> int | None:
        """A status variable's number; None when the server does not answer or has no such variable."""
        with contextlib.suppress(pymysql.err.MySQLError, OSError, ValueError):
            for _, value in self.query(f"SHOW GLOBAL STATUS LIKE '{name}'", patience=patience):
                return int(str(value))
        return None

    def statuses(self, pattern: str, patience: float = 600) -> dict[str, int]:
        """Status variables with whole numbers whose names are like `pattern`; empty if the server does not answer."""
        with contextlib.suppress(pymysql.err.MySQLError, OSError):
            rows = self.query(f"SHOW GLOBAL STATUS LIKE '{pattern}'", patience=patience)
            return {str(name): int(str(value)) for name, value in rows if str(value).isdigit()}
        return {}

    def variables(self, patience: float = 600) -> dict[str, str]:
        """Its global variables; empty if it does not answer."""
        with contextlib.suppress(pymysql.err.MySQLError, OSError):
            return {str(name): str(value) for name, value in self.query("SHOW GLOBAL VARIABLES", patience=patience)}
        return {}

    def tables(self, database: str) -> list[str]:
        """Names of the tables (not views) of a database, sorted."""
        rows = self.query("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'", database)
        return sorted(str(row[0]) for row in rows)

    def fingerprint(self, database: str) -> str:
        """A digest of every table of a database: names and the server's own checksums (CHECKSUM TABLE)."""
        try:
            quoted = ", ".join(f"`{name}`" for name in self.tables(database))
            sums = self.query(f"CHECKSUM TABLE {quoted} EXTENDED", database) if quoted else []
        except (pymysql.err.MySQLError, OSError) as error:
            raise InfrastructureError(f"reading the data's checksums: {error}", log=self.log) from error
        missing = [str(name) for name, checksum in sums if checksum is None]
        if missing:
            raise InfrastructureError(f"no checksum for {', '.join(missing)}", log=self.log)
        return digest_of([[str(name), int(str(checksum))] for name, checksum in sums])

    def read_indexes(self, database: str) -> None:
        """Reads a database's secondary indexes from end to end, so that they are in the buffer pool if they fit."""
        listed = (
            "SELECT DISTINCT TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS "
            "WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME <> 'PRIMARY' AND INDEX_TYPE = 'BTREE'"
        )
        try:
            for table, index in self.query(listed, database):
                scan = f"SELECT COUNT(*) FROM `{table}` FORCE INDEX (`{index}`)"  # noqa: S608 (the server's own names)
                self.query(scan, database)
        except (pymysql.err.MySQLError, OSError) as error:
            raise InfrastructureError(f"reading the indexes of {database}: {error}", log=self.log) from error

    def stop(self, patience: float = server_process.STOP_S) -> int:
        """See `ServerProcess.stop`; what was made for the transport goes too."""
        code = super().stop(patience)
        if self._cable is not None:
            self._cable.down()
        return code


def _free(path: Path) -> None:
    """Removes a stale socket; a `UserError` when something still listens on it."""
    if not path.exists():
        return
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(2.0)
        try:
            probe.connect(str(path))
        except OSError:
            path.unlink()
            return
    raise UserError(f"{path}: the socket is in use by another server; end that one or name another BURNISH_HOME")
