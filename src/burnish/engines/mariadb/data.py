"""Where a MariaDB installation keeps its parts, and how data are made with it."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable
from pathlib import Path

import pymysql

from burnish.base.errors import InfrastructureError, UserError
from burnish.base.workbench import Workbench
from burnish.engines.contract import MARKER
from burnish.engines.mariadb import own_data
from burnish.engines.mariadb.server import Launch, Server, private_options
from burnish.engines.shared import sql_bench, sysbench
from burnish.model.workload import Workload
from burnish.program.built import Built

SCRIPTS = ("mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql")
"""What makes the system tables, in order; MariaDB's own install program feeds the same to a server."""

_MAKING = (("innodb_flush_log_at_trx_commit", "0"), ("innodb_fast_shutdown", "0"))  # fast, and clean at its end
_SHARES = ("sql/share", "share/mysql", "share/mariadb", "share")
_MESSAGES = "english/errmsg.sys"

SYSTEM = Path("/usr")
"""Folders of messages of a distribution's package."""


def installation(program: Path) -> tuple[Path, Path] | None:
    """(folder of the installation that `program` belongs to, its folder of messages); None: no messages found.

    Looks around the program first (a build tree, an unpacked package), then in `SYSTEM`.
    """
    around = [
        *list(program.parents)[1:2],
        *list(program.parents)[:1],
        *list(program.parents)[2:3],
        SYSTEM,
    ]
    for root in around:
        for share in _SHARES:
            if (root / share / _MESSAGES).is_file():
                return root, root / share
    return None


def location_options(messages: Path) -> tuple[str, ...]:
    """Server options with the paths of messages and character sets; the compiled-in paths may not exist."""
    charsets = messages / "charsets"
    options = (f"--character-sets-dir={charsets}",) if charsets.is_dir() else ()
    return (f"--lc-messages-dir={messages}", *options)


def system_scripts(builds: Iterable[Built]) -> list[Path]:
    """The scripts that make the system tables, from the first build that has them; a UserError when none has."""
    looked = []
    for built in builds:
        for place in ("scripts", *_SHARES):
            folder = built.folder / place
            looked.append(str(folder))
            if all((folder / name).is_file() for name in SCRIPTS):
                return [folder / name for name in SCRIPTS]
    raise UserError(
        f"no {SCRIPTS[0]} beside the server, so no data can be prepared with it (looked in {', '.join(looked)}); "
        "unpack the whole server package in one folder and name the program in there"
    )


def create_dataset(
    built: Built, tools: Built, workload: Workload, folder: Path, bench: Workbench, *, shaping: Collection[str]
) -> None:
    """Makes `workload`'s data in the empty `folder`: system tables, the load's tables, everything flushed.

    Args:
        built: see `Engine.create_dataset`.
        tools: see there.
        workload: see there.
        folder: see there.
        bench: see there.
        shaping: names of the settings that decide what files a server makes.

    Raises:
        UserError: the installation lacks the scripts that make the system tables, or the user's data can't be used.
        InfrastructureError: the server or sysbench failed; the log is attached.
    """
    copied = bool(workload.own_data) and Path(workload.own_data).is_dir()
    shaped = workload.data_settings(shaping)
    scripts = [] if copied else system_scripts((built, tools))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if copied:
        own_data.copy_folder(Path(workload.own_data), folder, bench)
    (folder / MARKER).write_text("Data of a Burnish dataset; made, copied and removed by Burnish.\n")
    scratch = folder / ".prepare"  # within the folder: whoever removes a half-made dataset removes this too
    scratch.mkdir(mode=0o700)
    if not copied:
        bootstrap(built, scripts, folder, scratch, shaped, bench)
    server = Server(
        Launch(
            program=built.server,
            data=folder,
            folder=scratch,
            options=built.options,
            settings=(workload.settings if workload.own_data else shaped) + _MAKING,
            environment=built.environment,
        )
    )
    try:
        server.boot()
        if not workload.own_data:
            server.query(f"CREATE DATABASE `{workload.database}`")
        elif not copied:
            own_data.load_dump(Path(workload.own_data), server, workload.database, tools.folder, bench)
        if workload.program == sql_bench.PROGRAM:
            sql_bench.put(workload, folder)
        elif sysbench.preparing(workload):
            if workload.own_data:
                _tables(server, workload)
            sysbench.prepare(workload, server.address, bench=bench)
        names = _tables(server, workload)
        if names:
            server.query("ANALYZE TABLE " + ", ".join(f"`{name}`" for name in names), workload.database)
        if server.stop() != 0:
            raise InfrastructureError(f"preparing the data of {workload.name}: {server.ending()}", log=server.log)
    finally:
        server.stop()
    shutil.rmtree(scratch)


def _tables(server: Server, workload: Workload) -> list[str]:
    """The tables that were made; a user's script may have none."""
    try:
        names = server.tables(workload.database)
    except pymysql.err.OperationalError as error:
        raise UserError(f"{workload.own_data}: {error.args[-1]}; name the database that the load works in") from None
    if not names and workload.own_data:
        raise UserError(f"{workload.own_data}: there is no table in database {workload.database!r}; name another one")
    if not names and not workload.content and workload.program != sql_bench.PROGRAM:
        raise InfrastructureError(f"preparing the data of {workload.name} made no tables", log=server.log)
    return names


def bootstrap(
    built: Built,
    scripts: list[Path],
    folder: Path,
    scratch: Path,
    settings: Iterable[tuple[str, str]],
    bench: Workbench,
) -> None:
    """Makes the system tables by feeding `scripts` to the server in its own bootstrap mode."""
    statements = scratch / "bootstrap.sql"
    # The server's bootstrap mode reads statement by statement, each of which must end its line.
    head = "create database mysql;\nuse mysql;\n"
    statements.write_text(head + "\n".join(script.read_text() for script in scripts))
    shaping = [f"--{name}={value}" for name, value in settings]
    words = [str(built.server), *private_options(folder), *built.options, *shaping, "--bootstrap"]
    done = bench.run(
        "bootstrap",
        words,
        cwd=scratch,
        env=dict(built.environment),
        stdin_file=statements,
        timeout=300,
    )
    done.check(f"making the system tables with {built.server}")
