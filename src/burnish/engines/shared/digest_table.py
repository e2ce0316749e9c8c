"""Statement digests and tables of a running server, asked over its Unix socket; nothing is written there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pymysql

from burnish.base.errors import UserError
from burnish.workload.sql.digests import Digest
from burnish.workload.sql.placeholders import Averages
from burnish.workload.sql.schema import SAMPLES, Column, Table, known, seen_in

_DIGESTS = """
SELECT schema_name, digest_text, count_star, sum_rows_sent, sum_rows_examined, sum_rows_affected, {sample}
FROM performance_schema.events_statements_summary_by_digest
"""
_COLUMNS = """
SELECT c.table_name, column_name, data_type,
  IF(data_type IN ('enum', 'set'), SUBSTRING(column_type, LOCATE('(', column_type) + 1,
     CHAR_LENGTH(column_type) - LOCATE('(', column_type) - 1),
     IFNULL(character_maximum_length, CONCAT_WS(',', numeric_precision, numeric_scale))),
  extra LIKE '%%auto_increment%%', table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')
FROM information_schema.columns AS c JOIN information_schema.tables AS t
  ON t.table_schema = c.table_schema AND t.table_name = c.table_name
WHERE c.table_schema = %s ORDER BY c.table_name, ordinal_position
"""
_KEYS = """
SELECT table_name, MAX(column_name), MIN(non_unique), COUNT(*) FROM information_schema.statistics
WHERE table_schema = %s GROUP BY table_name, index_name
"""
_LEADING = """
SELECT DISTINCT table_name, column_name FROM information_schema.statistics
WHERE table_schema = %s AND seq_in_index = 1 AND column_name IS NOT NULL
"""

Cursor = pymysql.cursors.Cursor


@contextlib.contextmanager
def connected(socket: Path, user: str, password: str) -> Iterator[Cursor]:
    """A cursor in a session that can't write; a `UserError` when the server keeps us out or refuses a question."""
    try:
        connection = pymysql.connect(
            unix_socket=str(socket), user=user, password=password, connect_timeout=10, read_timeout=600
        )
    except (pymysql.err.MySQLError, OSError) as error:
        message = error.args[-1] if error.args else error
        raise UserError(
            f"--socket {socket}: {message}; name a running server's socket, and --user and --password-file if it asks"
        ) from None
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION READ ONLY")
            cursor.execute("START TRANSACTION READ ONLY")
            yield cursor
    except pymysql.err.MySQLError as error:
        message = error.args[-1] if error.args else error
        raise UserError(
            f"--socket {socket}: {message}; name a --user who may read performance_schema and the load's tables"
        ) from None


def digests(cursor: Cursor, where: str) -> list[Digest]:
    """The server's digests; a `UserError` when it keeps none."""
    cursor.execute(
        "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'performance_schema' "
        "AND table_name = 'events_statements_summary_by_digest' AND column_name = 'query_sample_text'"
    )
    sample = "query_sample_text" if (cursor.fetchone() or (0,))[0] else "NULL"
    try:
        cursor.execute(_DIGESTS.format(sample=sample))
    except pymysql.err.MySQLError as error:
        raise UserError(f"{where}: {error.args[-1]}; the user needs SELECT on performance_schema") from None
    digests = []
    for schema, text, count, sent, examined, affected, sample_text in cursor.fetchall():
        averages = Averages(*(float(number) / count if count else None for number in (sent, examined, affected)))
        digests.append(Digest(schema or "", " ".join((text or "").split()), int(count), averages, sample_text or ""))
    if not digests:
        raise UserError(f"{where}: it keeps no digests; start it with performance_schema=ON and run the load on it")
    return digests


def tables(cursor: Cursor, database: str) -> dict[str, Table]:
    """The tables of a database: columns, ranges of those that lead an index, some values of all.

    Of a view only the columns: to read a few of its rows may take the server as long as to make all of them.
    """
    cursor.execute(_KEYS, (database,))
    alone = {(t, c) for t, c, not_unique, columns in cursor.fetchall() if not not_unique and columns == 1}
    cursor.execute(_COLUMNS, (database,))
    columns: dict[str, dict[str, Column]] = {}
    stored: set[str] = set()
    for table, name, kind, size, counts, has_rows in cursor.fetchall():
        if has_rows:
            stored.add(table)
        column = Column(name.lower(), kind.lower(), str(size or ""), bool(counts), (table, name) in alone)
        columns.setdefault(table, {})[name.lower()] = column
    cursor.execute(_LEADING, (database,))
    leading: dict[str, list[str]] = {}
    for table, name in cursor.fetchall():
        leading.setdefault(table, []).append(name)
    found = {name: Table(name, table_columns) for name, table_columns in columns.items()}
    return {
        name.lower(): _looked_at(cursor, database, table, leading.get(name, [])) if name in stored else table
        for name, table in found.items()
    }


def _looked_at(cursor: Cursor, database: str, table: Table, leading: list[str]) -> Table:
    """The table with the values of a few rows, and the ends of its indexes, which cost the server nothing."""
    # By name, since * leaves invisible columns out. The names are the server's own.
    names, place = ", ".join(map(_quoted, table.columns)), f"{_quoted(database)}.{_quoted(table.name)}"
    cursor.execute(f"SELECT {names} FROM {place} LIMIT {8 * SAMPLES}")  # noqa: S608
    values: dict[str, list[str]] = {}
    for row in cursor.fetchall():
        for column, value in zip(table.columns, row, strict=True):
            values.setdefault(column, []).append(pymysql.converters.escape_item(value, "utf8mb4"))
    for column in leading:
        if table.columns[column.lower()].whole:
            cursor.execute(f"SELECT MIN({_quoted(column)}), MAX({_quoted(column)}) FROM {place}")  # noqa: S608
            ends = [str(value) for value in cursor.fetchone() or () if value is not None]
            values[column.lower()] = [*ends, *values.get(column.lower(), [])]
    return known(table, {column: seen_in(column_values) for column, column_values in values.items()})


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
