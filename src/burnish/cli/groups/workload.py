"""The verb about loads: list them, and make statements from a server's log or its digests."""

from __future__ import annotations

import getpass
import gzip
import sys
from collections.abc import Mapping
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.files import write_out
from burnish.catalogue import load
from burnish.cli import options as o
from burnish.cli import readers
from burnish.cli.common import group, print_document, print_json, say, verb
from burnish.cli.declaration import Argument
from burnish.engines.registry import create
from burnish.engines.shared import digest_table
from burnish.report.sections import catalogue as report
from burnish.report.values import catalogue as values
from burnish.workload.sql import digests, general_log, schema, statements
from burnish.workload.sql.digests import Digest
from burnish.workload.sql.schema import Table

workload = group(
    "workload",
    "List workloads; make one from a server's log or digests.",
    example="burnish workload list {engine}",
)


@verb("list", o.ONE_ENGINE, o.JSON, of=workload, example="burnish workload list {engine}")
def list_loads(engine: str | None, as_json: bool) -> None:
    """List the workloads of the catalogue: name, parameters, and why one would run each."""
    names = {load.engine(engine).name} if engine else set(load.engine_names())
    every = [item for (owner, _), item in load.workloads().items() if owner in names]
    if as_json:
        print_json("workloads", values.loads(every))
    else:
        owners = dict.fromkeys(item.engine for item in every)
        print_document(report.loads(every, {name: create(load.engine(name)).loads.beside for name in owners}))


@verb(
    "from-log",
    Argument("file", "FILE", "A general log (general_log = ON).", readers.path),
    o.MOST,
    o.OUTPUT,
    of=workload,
    example="burnish workload from-log general.log --output mine.sql",
)
def from_log(file: Path, most: int, output: Path | None) -> None:
    """Turn a server's general log into statements with weights, to be replayed over your own data.

    Without --output they are printed.
    """
    try:
        with file.open(errors="surrogateescape") as lines:
            parsed = general_log.read(lines, str(file), most=most)
    except OSError as error:
        raise UserError(f"{file}: cannot be read ({error.strerror}); name a general log") from None
    text = statements.as_text(parsed.units).encode(errors="surrogateescape").decode(errors="replace")
    _write(output, f"-- From {file.name}. Weights are how often each transaction came.\n\n{text}")
    left = ", ".join(f"{count} {word}" for word, count in parsed.left_out.items())
    say(
        f"{parsed.statements} statements, {len(parsed.units)} different transactions"
        + (f"; left out: {left}" if left else "")
        + (f"; {parsed.unfinished} transactions had no end" if parsed.unfinished else "")
        + (f"; databases: {', '.join(parsed.databases)}" if parsed.databases else "")
    )


@verb(
    "from-digest",
    Argument(
        "file", "FILE", "A table of digests (events_statements_summary_by_digest) as TSV, CSV or JSON.", readers.path,
        required=False,
    ),
    o.SOCKET,
    o.USER,
    o.PASSWORD_FILE,
    o.SCHEMA,
    o.DATABASE,
    o.LEAVE_OUT,
    o.OUTPUT,
    of=workload,
    example="burnish workload from-digest digests.tsv --schema dump.sql.gz --output mine.sql",
)  # fmt: skip
def from_digest(
    file: Path | None,
    socket: Path | None,
    user: str | None,
    password_file: Path | None,
    dump: Path | None,
    database: str | None,
    leave_out: bool,
    output: Path | None,
) -> None:
    """Turn a server's statement digests into statements with weights, to be replayed over your own data.

    Without --output they are printed.
    """
    if (file is None) == (socket is None):
        raise UserError("from-digest: name either an exported FILE or a running server's --socket")
    for option, given in (("--user", user), ("--password-file", password_file)):
        if given is not None and socket is None:
            raise UserError(f"{option}: is of a running server; name its --socket, or leave {option} out")
    if socket is not None:
        where = str(socket)
        name, entries, tables = _asked(socket, user, password_file, database)
    else:
        assert file is not None  # noqa: S101 - one of the two is given
        where = str(file)
        entries = digests.read(_text(file, "name an export of events_statements_summary_by_digest"), where)
        name = digests.database_of(entries, database, where)
        tables = {}
    if dump is not None:
        tables = _schema(dump, name)
    replay = digests.turned(entries, name, tables, where, leave_out=leave_out)
    head = f"-- From the digests of {where}. Weights are how often each statement was run.\n\n"
    _write(output, head + statements.as_text(replay.units))
    left = ", ".join(f"{count} {word}" for word, count in replay.left_out.items())
    say(
        f"{replay.executions} executions as {len(replay.units)} statements of database {name}"
        + (f"; left out: {left}" if left else "")
    )


def _write(file: Path | None, text: str) -> None:
    """Writes to the file, or to standard output if none is named."""
    if file is None:
        sys.stdout.write(text)
        return
    try:
        write_out(file, text)
    except OSError as error:
        raise UserError(f"--output {file}: cannot be written ({error.strerror}); name another file") from None


def _asked(
    socket: Path, user: str | None, password_file: Path | None, database: str | None
) -> tuple[str, list[Digest], Mapping[str, Table]]:
    """The database, digests and tables of a running server."""
    password = _text(password_file, "name a file that holds the password").strip() if password_file else ""
    with digest_table.connected(socket, user or getpass.getuser(), password) as cursor:
        entries = digest_table.digests(cursor, str(socket))
        name = digests.database_of(entries, database, str(socket))
        return name, entries, digest_table.tables(cursor, name)


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
