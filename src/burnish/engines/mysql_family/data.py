"""Where an installation keeps its parts, and how data are made with it."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

import pymysql

from burnish.base.errors import InfrastructureError, UserError
from burnish.base.workbench import Workbench
from burnish.engines.contract import CLEAN_END_S, MARKER
from burnish.engines.mysql_family import own_data
from burnish.engines.mysql_family.product import Initialise, Product
from burnish.engines.mysql_family.server import Launch, Server
from burnish.engines.shared import sql_bench, sysbench
from burnish.model.workload import Workload
from burnish.program.built import Built

_MAKING = (("innodb_flush_log_at_trx_commit", "0"), ("innodb_fast_shutdown", "0"))  # fast, and clean at its end
SHARES = ("sql/share", "share/mysql", "share/mariadb", "share")
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
        for share in SHARES:
            if (root / share / _MESSAGES).is_file():
                return root, root / share
    return None


def location_options(messages: Path) -> tuple[str, ...]:
    """Server options with the paths of messages and character sets; the compiled-in paths may not exist."""
    charsets = messages / "charsets"
    options = (f"--character-sets-dir={charsets}",) if charsets.is_dir() else ()
    return (f"--lc-messages-dir={messages}", *options)


def create_dataset(
    built: Built,
    tools: Built,
    workload: Workload,
    folder: Path,
    bench: Workbench,
    *,
    product: Product,
    initialise: Initialise | None,
    shaping: Collection[str],
) -> None:
    """Makes `workload`'s data in the empty `folder`: system tables, the load's tables, everything flushed.

    Args:
        built: see `Engine.create_dataset`.
        tools: see there.
        workload: see there.
        folder: see there.
        bench: see there.
        product: which server it is.
        initialise: makes the system tables; None for a user's data folder, which has them.
        shaping: names of the settings that decide what files a server makes.

    Raises:
        UserError: the user's data can't be used.
        InfrastructureError: the server or sysbench failed; the log is attached.
    """
    copied = initialise is None
    shaped = workload.data_settings(shaping)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if copied:
        own_data.copy_folder(Path(workload.own_data), folder, bench)
    (folder / MARKER).write_text("Data of a Burnish dataset; made, copied and removed by Burnish.\n")
    scratch = folder / ".prepare"  # within the folder: whoever removes a half-made dataset removes this too
    scratch.mkdir(mode=0o700)
    if initialise is not None:
        initialise(folder, scratch, shaped, bench)
    server = Server(
        Launch(
            program=built.server,
            habits=product.habits,
            data=folder,
            folder=scratch,
            options=built.options,
            settings=own_data.without_events(workload, workload.settings if workload.own_data else shaped) + _MAKING,
            environment=built.environment,
        )
    )
    try:
        server.boot()
        if not workload.own_data:
            server.query(f"CREATE DATABASE `{workload.database}`")
        elif not copied:
            clients = [str(tools.folder / product.client_folder / name) for name in product.clients]
            own_data.load_dump(Path(workload.own_data), server, workload.database, (*clients, *product.clients), bench)
        if workload.program == sql_bench.PROGRAM:
            sql_bench.put(workload, folder)
        elif sysbench.preparing(workload):
            if workload.own_data:
                _tables(server, workload)
            sysbench.prepare(workload, server.address, bench=bench)
        names = _tables(server, workload)
        if names:
            server.query("ANALYZE TABLE " + ", ".join(f"`{name}`" for name in names), workload.database)
        if server.stop(patience=CLEAN_END_S) != 0:
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
