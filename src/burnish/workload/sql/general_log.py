"""Converts a server's general log to statements: equal transactions once, weighted by their frequency; pure.

Statements are grouped by connection; those between BEGIN and COMMIT are one unit and, with autocommit off, those
between one COMMIT and the next. Statements that only configure a connection (SET, USE, SHOW, pings) or change tables'
definitions are left out and counted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from burnish.base.errors import UserError
from burnish.workload.sql.statements import Unit

_ENTRY = re.compile(
    r"^(?P<at>\d{6}\s+\d{1,2}:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+|)\s*(?P<thread>\d+)\s"
    r"(?P<command>Connect|Query|Execute|Prepare|Quit|Init DB|Close stmt|Reset stmt|Statistics|Ping|Field List|"
    r"Change user|Fetch|Long Data|Bulk_execute|Reset connection|Set option|Kill|Refresh|Shutdown|Processlist)"
    r"(?:\s(?P<text>.*))?$"
)
_REPLAYED = re.compile(r"^(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH|CALL|DO|BEGIN|START\s+TRANSACTION|COMMIT|ROLLBACK|"
                       r"SAVEPOINT|RELEASE)\b|^\(", re.IGNORECASE)  # fmt: skip
_BEGIN = re.compile(r"^(BEGIN|START\s+TRANSACTION)\b", re.IGNORECASE)
_FINISH = re.compile(r"^(COMMIT|ROLLBACK)\b(?!\s+(WORK\s+)?TO\b)", re.IGNORECASE)
_BREAKS = ("Connect", "Quit", "Change user", "Reset connection")
_AUTOCOMMIT = re.compile(
    r"\s*(?:(?:SESSION|LOCAL)\s+|@@(?:(?:session|local)\.)?)?autocommit\s*:?=\s*'?(?P<value>\w+)'?\s*", re.IGNORECASE
)
_IMPLICIT = re.compile(
    r"^(ALTER|ANALYZE|(CREATE|DROP)(?!\s+TEMPORARY)|FLUSH|GRANT|LOCK|OPTIMIZE|RENAME|REVOKE|TRUNCATE)\b", re.IGNORECASE
)
"""Statements that commit an open transaction: "Statements That Cause an Implicit Commit" in both servers' manuals."""


@dataclass
class _Connection:
    """State of a connection.

    Attributes:
        autocommit: whether a statement outside a transaction is a transaction of its own.
        block: statements of the open transaction; None: no transaction is open.
    """

    autocommit: bool = True
    block: list[str] | None = None

    def take(self, statement: str) -> tuple[tuple[str, ...], ...]:
        """Adds a statement; returns the units that end with or before it."""
        if _BEGIN.match(statement):
            ended = self.commit()
            self.block = [statement]
            return ended
        if self.block is None:
            if _FINISH.match(statement):
                return ()
            if self.autocommit:
                return ((statement,),)
            self.block = ["BEGIN"]
        self.block.append(statement)
        if not _FINISH.match(statement):
            return ()
        unit, self.block = tuple(self.block), None
        return (unit,)

    def arrange(self, statement: str) -> tuple[tuple[str, ...], ...]:
        """Handles a statement that is not replayed; returns the units that it ends."""
        if _IMPLICIT.match(statement):
            return self.commit()
        words = statement[3:].split(",") if statement[:3].upper() == "SET" else []
        values = [match["value"].upper() for match in map(_AUTOCOMMIT.fullmatch, words) if match]
        if not values:
            return ()
        before, self.autocommit = self.autocommit, values[-1] in ("1", "ON", "TRUE", "DEFAULT")
        # Only switching it on commits.
        return self.commit() if self.autocommit and not before else ()

    def commit(self) -> tuple[tuple[str, ...], ...]:
        """The open transaction as a unit, with a COMMIT that is missing in the log."""
        unit, self.block = self.block, None
        return () if unit is None or len(unit) == 1 else ((*unit, "COMMIT"),)


@dataclass(frozen=True)
class Replay:
    """The result of converting a log.

    Attributes:
        units: the different units with their frequencies as weights, the most frequent first.
        statements: number of statements used.
        left_out: number of statements left out, by their first word.
        unfinished: number of transactions without an end in the log, which are left out too.
        databases: the databases that connections used, the most frequent first.
    """

    units: tuple[Unit, ...]
    statements: int
    left_out: dict[str, int]
    unfinished: int
    databases: tuple[str, ...]


def read(lines: Iterable[str], where: str, *, most: int = 100_000) -> Replay:
    """The units of a general log.

    Args:
        lines: lines of the log, as written by MariaDB and MySQL.
        where: its name, for errors.
        most: maximum number of different units, of which the most frequent are kept.

    Raises:
        UserError: it contains no statement that can be replayed.
    """
    units: Counter[tuple[str, ...]] = Counter()
    left: Counter[str] = Counter()
    databases: Counter[str] = Counter()
    connections: defaultdict[str, _Connection] = defaultdict(_Connection)
    taken = unfinished = 0
    for thread, command, text in _entries(lines):
        if command in _BREAKS:
            # The server rolls back an open transaction; connection numbers repeat after its restart.
            unfinished += connections.pop(thread, _Connection()).block is not None
        if command == "Init DB":
            databases[text] += 1
        elif command == "Connect":
            named = re.search(r"\bon (\S+)(?: using|$)", text)
            if named:
                databases[named[1]] += 1
        elif command in ("Query", "Execute"):
            statement = text.strip().rstrip(";").strip()
            if replayed(statement):
                taken += 1
                units.update(connections[thread].take(statement))
            else:
                left[statement.split(maxsplit=1)[0].upper() if statement else "(nothing)"] += 1
                units.update(connections[thread].arrange(statement))
    if not units:
        raise UserError(f"{where}: no statement in it that could be replayed; is it a general log (general_log = ON)?")
    return Replay(
        units=tuple(Unit(statements, float(count)) for statements, count in units.most_common(most)),
        statements=taken,
        left_out=dict(left.most_common()),
        unfinished=unfinished + sum(connection.block is not None for connection in connections.values()),
        databases=tuple(name for name, _ in databases.most_common()),
    )


def replayed(statement: str) -> bool:
    """Whether a statement is replayed: it reads or writes rows, or begins or ends a transaction."""
    return _REPLAYED.match(statement) is not None


def _entries(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """(connection, command, text) of each entry, with the continuation lines of its statement."""
    thread, command, text = "", "", []
    for line in lines:
        match = _ENTRY.match(line.rstrip("\n"))
        if match is None:
            if thread:
                text.append(line.rstrip("\n"))
            continue
        if thread:
            yield thread, command, "\n".join(text)
        thread, command, text = match["thread"], match["command"], [match["text"] or ""]
    if thread:
        yield thread, command, "\n".join(text)
