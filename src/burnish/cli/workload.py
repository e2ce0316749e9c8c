"""The verb about loads: what there is to choose from, and statements made from a server's log or its digests."""

from __future__ import annotations

import getpass
import gzip
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.cli.common import AsJson, Yes, app, progress, show_document, show_values
from burnish.engines.registry import create
from burnish.engines.shared import digest_table
from burnish.report.sections import catalogue as report
from burnish.report.values import catalogue as values
from burnish.workload.sql import digests, general_log, schema, statements
from burnish.workload.sql.digests import Digest
from burnish.workload.sql.schema import Table

workload = typer.Typer(
    no_args_is_help=True, help="List the loads; make one from a server's general log or statement digests."
)
app.add_typer(workload, name="workload", epilog="Example: burnish workload list mariadb")


@workload.command("list", epilog="Example: burnish workload list mariadb")
def list_loads(
    engine: Annotated[str | None, typer.Argument(help="Only this engine's.")] = None,
    as_json: AsJson = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """List the loads of the catalogue: name, parameters, and why one would run each."""
    names = {load.engine(engine).name} if engine else {s.name for s in load.engines().values() if not s.hidden}
    every = [each for (owner, _), each in load.workloads().items() if owner in names]
    if as_json:
        show_values(values.loads(every))
    else:
        owners = dict.fromkeys(each.engine for each in every)
        beside = {name: create(load.engine(name)).loads.beside for name in owners}
        show_document(report.loads(every, beside))


@workload.command("from-log", epilog="Example: burnish workload from-log general.log > mine.sql")
def from_log(
    file: Annotated[Path, typer.Argument(help="A general log (general_log = ON) of MariaDB or MySQL.")],
    most: Annotated[int, typer.Option(min=1, help="Different transactions to keep, the most frequent ones.")] = 100_000,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """Turn a general log into statements with weights, to be replayed over your own data."""
    try:
        with file.open(errors="surrogateescape") as lines:
            found = general_log.read(lines, str(file), most=most)
    except OSError as error:
        raise UserError(f"{file}: cannot be read ({error.strerror}); name a general log") from None
    sys.stdout.write(f"-- From {file.name}. Weights are how often each transaction came.\n\n")
    sys.stdout.write(statements.as_text(found.units).encode(errors="surrogateescape").decode(errors="replace"))
    left = ", ".join(f"{count} {word}" for word, count in found.left_out.items())
    progress.print(
        f"{found.statements} statements, {len(found.units)} different transactions"
        + (f"; left out: {left}" if left else "")
        + (f"; {found.unfinished} transactions had no end" if found.unfinished else "")
        + (f"; databases: {', '.join(found.databases)}" if found.databases else ""),
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


@workload.command(
    "from-digest", epilog="Example: burnish workload from-digest digests.tsv --schema dump.sql.gz > mine.sql"
)
def from_digest(
    file: Annotated[
        Path | None,
        typer.Argument(help="events_statements_summary_by_digest as TSV, CSV or JSON, with the columns' names."),
    ] = None,
    socket: Annotated[Path | None, typer.Option(help="A running server's socket, to read both from instead.")] = None,
    user: Annotated[str | None, typer.Option(help="Whom to be there; default: who you are here.")] = None,
    password_file: Annotated[Path | None, typer.Option(help="File with the password; default: none is given.")] = None,
    dump: Annotated[
        Path | None, typer.Option("--schema", help="A dump (.sql, .sql.gz): the tables' columns and values.")
    ] = None,
    database: Annotated[str | None, typer.Option(help="Whose statements; default: the only one's.")] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Leave out statements whose literals are not known, and say how many.")
    ] = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """Turn a server's statement digests into statements with weights, to be replayed over your own data."""
    if (file is None) == (socket is None):
        raise UserError("from-digest: name either an exported FILE or a running server's --socket")
    if socket is not None:
        where = str(socket)
        name, found, tables = _asked(socket, user, password_file, database)
    else:
        assert file is not None  # noqa: S101 - one of the two is given
        where = str(file)
        found = digests.read(_text(file, "name an export of events_statements_summary_by_digest"), where)
        name = digests.database_of(found, database, where)
        tables = {}
    if dump is not None:
        tables = _schema(dump, name)
    replay = digests.turned(found, name, tables, where, leave_out=leave_out)
    sys.stdout.write(f"-- From the digests of {where}. Weights are how often each statement was run.\n\n")
    sys.stdout.write(statements.as_text(replay.units))
    left = ", ".join(f"{count} {word}" for word, count in replay.left_out.items())
    progress.print(
        f"{replay.executions} executions as {len(replay.units)} statements of database {name}"
        + (f"; left out: {left}" if left else ""),
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _asked(
    socket: Path, user: str | None, password_file: Path | None, database: str | None
) -> tuple[str, list[Digest], Mapping[str, Table]]:
    """Database, digests and tables of a running server."""
    password = _text(password_file, "name a file that holds the password").strip() if password_file else ""
    with digest_table.connected(socket, user or getpass.getuser(), password) as cursor:
        found = digest_table.digests(cursor, str(socket))
        name = digests.database_of(found, database, str(socket))
        return name, found, digest_table.tables(cursor, name)


def _schema(dump: Path, database: str) -> Mapping[str, Table]:
    try:
        if dump.suffix == ".gz":
            with gzip.open(dump, "rt", errors="replace") as lines:
                tables = schema.from_dump(lines, database)
        else:
            with dump.open(errors="replace") as lines:
                tables = schema.from_dump(lines, database)
    except (OSError, EOFError) as error:
        raise UserError(f"--schema {dump}: cannot be read ({error}); name a dump (.sql, .sql.gz)") from None
    if not tables:
        raise UserError(f"--schema {dump}: no definition of a table of {database} in it; give a dump with its tables")
    return tables


def _text(file: Path, wanted: str) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError as error:
        raise UserError(f"{file}: cannot be read ({error.strerror}); {wanted}") from None
