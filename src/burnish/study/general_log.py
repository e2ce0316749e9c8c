"""A server's general log as statements with weights: equal transactions once, weighted by how often they came; pure.

Each connection's statements are put in order; what lies between BEGIN and COMMIT is one unit. Statements that only
arrange a connection (SET, USE, SHOW, pings) or change tables' definitions are left out, and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from burnish.errors import UserError
from burnish.study.statements import Unit

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


@dataclass(frozen=True)
class Replay:
    """What a log becomes.

    Attributes:
        units: different ones, the most frequent first; weights are how often each came.
        statements: statements that were taken.
        left_out: how many were not, by their first word.
        unfinished: transactions without an end in the log, which are left out too.
        databases: the databases that connections worked in, the most frequent first.
    """

    units: tuple[Unit, ...]
    statements: int
    left_out: dict[str, int]
    unfinished: int
    databases: tuple[str, ...]


def read(lines: Iterable[str], where: str, *, most: int = 100_000) -> Replay:
    """The units of a general log.

    Args:
        lines: of the log, as MariaDB and MySQL write it.
        where: its name, for errors.
        most: different units that are kept, the most frequent ones.

    Raises:
        UserError: no statement in it that could be replayed.
    """
    units: Counter[tuple[str, ...]] = Counter()
    left: Counter[str] = Counter()
    databases: Counter[str] = Counter()
    blocks: dict[str, list[str]] = {}
    taken = 0
    for thread, command, text in _entries(lines):
        if command == "Init DB":
            databases[text] += 1
        elif command == "Connect":
            named = re.search(r"\bon (\S+)(?: using|$)", text)
            if named:
                databases[named[1]] += 1
        elif command in ("Query", "Execute"):
            statement = text.strip().rstrip(";").strip()
            if not replayed(statement):
                left[statement.split(maxsplit=1)[0].upper() if statement else "(nothing)"] += 1
                continue
            taken += 1
            block = blocks.get(thread)
            if _BEGIN.match(statement):
                blocks[thread] = [statement]  # an open one is committed by the new one
            elif block is None:
                if not _FINISH.match(statement):
                    units[statement,] += 1
            else:
                block.append(statement)
                if _FINISH.match(statement):
                    units[tuple(blocks.pop(thread))] += 1
    if not units:
        raise UserError(f"{where}: no statement in it that could be replayed; is it a general log (general_log = ON)?")
    return Replay(
        units=tuple(Unit(statements, float(count)) for statements, count in units.most_common(most)),
        statements=taken,
        left_out=dict(left.most_common()),
        unfinished=len(blocks),
        databases=tuple(name for name, _ in databases.most_common()),
    )


def replayed(statement: str) -> bool:
    """Whether it is a statement of a load: reads or writes rows, or belongs to a transaction."""
    return _REPLAYED.match(statement) is not None


def _entries(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """(connection, command, text) of each entry; a statement's further lines belong to it."""
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
