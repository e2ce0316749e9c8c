"""Converts a server's statement digests to statements weighted by their number of executions; pure.

The input is the table events_statements_summary_by_digest of the performance schema, exported with its column names as
tab- or comma-separated values or as JSON. Digests do not include transactions, so each statement is a unit of its own.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from burnish.base.errors import UserError
from burnish.workload.sql.general_log import replayed
from burnish.workload.sql.placeholders import Averages, Unfilled, filled
from burnish.workload.sql.schema import Table
from burnish.workload.sql.statements import Unit

_SYSTEM = {"", "null", "mysql", "performance_schema", "information_schema", "sys"}
_TRANSACTION = re.compile(r"^(BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b", re.IGNORECASE)
_MOST_NAMED = 12  # statements that an error names
_EXPORT = "SELECT * FROM performance_schema.events_statements_summary_by_digest, by the server's client with -B"
_OTHER = f"not TSV, CSV or JSON of events_statements_summary_by_digest; export the table: {_EXPORT}"
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\", "\\0": ""}


@dataclass(frozen=True)
class Digest:
    """One row of the table.

    Attributes:
        schema: the database in which it was run; '' if none.
        text: the statement with ``?`` for its literals; '' in the row for statements that did not fit into the table.
        count: number of executions.
        averages: average rows per execution.
        sample: an original statement of this digest (MySQL 8), or ''.
    """

    schema: str
    text: str
    count: int
    averages: Averages = field(default_factory=Averages)
    sample: str = ""


@dataclass(frozen=True)
class Replay:
    """The result of converting digests.

    Attributes:
        units: statements with weights, the most frequent first.
        executions: number of executions that they represent.
        left_out: number of executions left out, by reason.
    """

    units: tuple[Unit, ...]
    executions: int
    left_out: Mapping[str, int]


def read(text: str, where: str) -> list[Digest]:
    """The digests of an export; a `UserError` if the text is not one."""
    rows = _rows(text, where)
    if not rows or not {"digest_text", "count_star"} <= rows[0].keys():
        raise UserError(
            f"{where}: no columns DIGEST_TEXT and COUNT_STAR; export the table with the names of its columns: {_EXPORT}"
        )
    return [_digest(row, f"{where}: row {number}") for number, row in enumerate(rows, start=1)]


def _rows(text: str, where: str) -> list[dict[str, str]]:
    """Rows by lower-case column names; NULL becomes ''."""
    head = text.lstrip("\ufeff \n\r")
    try:
        if head.startswith(("[", "{")):
            values = json.loads(head) if head.startswith("[") else [json.loads(line) for line in head.splitlines()]
            return [
                {str(key).lower(): "" if item is None else str(item) for key, item in row.items()} for row in values
            ]
        first = head.partition("\n")[0]
        if "\t" in first:
            lines = [line.split("\t") for line in head.splitlines() if line]
            table = [[_unescaped(cell) for cell in line] for line in lines]
        else:
            table = [line for line in csv.reader(head.splitlines(keepends=True)) if line]
    except (ValueError, AttributeError, csv.Error) as error:
        raise UserError(f"{where}: can't be read: {error}; {_OTHER}") from None
    names = [name.strip().lower() for name in table[0]] if table else []
    if "digest_text" not in names and len({len(line) for line in table}) > 1:
        raise UserError(f"{where}: {_OTHER}")
    short = next((number for number, line in enumerate(table, start=1) if len(line) != len(names)), None)
    if short is not None:
        raise UserError(f"{where}:{short}: {len(table[short - 1])} values for {len(names)} columns")
    return [
        {name: "" if cell == "NULL" else cell for name, cell in zip(names, line, strict=True)} for line in table[1:]
    ]


def _unescaped(cell: str) -> str:
    """Undoes the escaping of the client's batch mode."""
    return re.sub(r"\\[nt\\0]", lambda match: _ESCAPES[match[0]], cell)


def _digest(row: Mapping[str, str], where: str) -> Digest:
    count = _number(row.get("count_star", ""))
    if count is None:
        found = f"is {row['count_star']!r}, no number" if "count_star" in row else "is not there"
        raise UserError(f"{where}: COUNT_STAR {found}; export the table again: {_EXPORT}")

    def average(name: str) -> float | None:
        number = _number(row.get(name, ""))
        return None if number is None or not count else number / count

    return Digest(
        schema=row.get("schema_name", ""),
        text=" ".join(row.get("digest_text", "").split()),
        count=int(count),
        averages=Averages(average("sum_rows_sent"), average("sum_rows_examined"), average("sum_rows_affected")),
        sample=row.get("query_sample_text", "").strip().rstrip(";").strip(),
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def database_of(digests: Sequence[Digest], named: str | None, where: str) -> str:
    """The database whose statements are used: the named one, or the only one; a `UserError` otherwise."""
    counts: Counter[str] = Counter()
    for digest in digests:
        if digest.schema.lower() not in _SYSTEM:
            counts[digest.schema] += digest.count
    if named is not None:
        if named not in counts:
            raise UserError(f"--database {named}: not in {where}; there are: {', '.join(counts) or 'none'}")
        return named
    if len(counts) != 1:
        listed = ", ".join(f"{name} ({count} statements)" for name, count in counts.most_common())
        raise UserError(f"{where}: statements of {len(counts)} databases ({listed}); name one in --database")
    return next(iter(counts))


def turned(
    digests: Iterable[Digest], database: str, tables: Mapping[str, Table], where: str, *, leave_out: bool = False
) -> Replay:
    """Converts the digests of one database to units.

    A statement is made from what is known about its tables; if that is not enough, its sample is used, if it has one.

    Args:
        digests: the digests.
        database: name of the database.
        tables: the known tables, by name; empty without a schema.
        where: the file's name, for errors.
        leave_out: whether digests that can't be converted are left out and counted.

    Raises:
        UserError: nothing is left; or, without `leave_out`, digests that can't be converted, each with its reason.
    """
    units: list[Unit] = []
    left: Counter[str] = Counter()
    problems: list[UserError] = []
    executions = 0
    for digest in sorted(digests, key=lambda digest: -digest.count):
        word = _left_out(digest, database)
        if word is not None:
            left[word] += digest.count
            continue
        try:
            statements = _statements(digest, tables)
        except Unfilled as reason:
            problems.append(UserError(f"{where}: {_short(digest.text)}: {reason}"))
            left["not known"] += digest.count
            continue
        executions += digest.count
        units += [Unit((statement,), round(digest.count / len(statements), 6)) for statement in statements]
    if problems and not leave_out:
        raise _refused(problems, bool(tables), left["not known"], executions)
    if not units:
        raise UserError(f"{where}: no statement of {database} in it that could be replayed")
    return Replay(tuple(units), executions, {word: count for word, count in left.items() if count})


def _left_out(digest: Digest, database: str) -> str | None:
    """Why a digest is not part of the load, or None."""
    if not digest.text:
        return "without a digest (performance_schema_digests_size was too small)"
    if digest.schema != database:
        return "of other databases"
    if not digest.count:
        return "never run"
    if _TRANSACTION.match(digest.text):
        return "begins and ends of transactions"
    if not replayed(digest.text):
        return digest.text.split(maxsplit=1)[0].upper()
    return None


def _statements(digest: Digest, tables: Mapping[str, Table]) -> tuple[str, ...]:
    try:
        return filled(digest.text, tables, digest.averages)
    except Unfilled:
        if digest.sample and not digest.sample.endswith("..."):
            return (digest.sample,)
        raise


def _short(text: str) -> str:
    return text if len(text) <= 70 else f"{text[:67]}..."


def _refused(problems: Sequence[UserError], has_schema: bool, unknown: int, known: int) -> UserError:
    schema = "" if has_schema else "give the tables' definitions in --schema DUMP, or "
    share = f"{unknown / (unknown + known):.1%} of the executions"
    shown = [str(problem) for problem in problems[:_MOST_NAMED]]
    more = [f"and {len(problems) - _MOST_NAMED} others"] if len(problems) > _MOST_NAMED else []
    head = (
        f"of {len(problems)} statements it is not known what they were; {schema}--leave-out leaves them out ({share}):"
    )
    return UserError("\n  ".join([head, *shown, *more]))
