"""A study's record: an append-only SQLite file in the study's folder.

One table of events. Nothing is ever changed or taken back: triggers refuse it. What happened last wins; what
has no closing event (a start without `StartDone`, a build without `BuildMade`) did not finish and counts for
nothing. Reports and exports are pure functions of the events.

Every event says in which format it is, so that a study which an older Burnish began is resumed without touching what is
there: its events stay as they are and are read as events of today (`burnish.record.upgrade`).
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

from burnish.base.errors import UserError
from burnish.model.cell import CellId
from burnish.record import events as declared
from burnish.record import legacy, upgrade
from burnish.record.codec import FORMAT, decode, encode
from burnish.record.events import Recorded
from burnish.record.lines import Line, read

FILE = "record.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS event (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL CHECK (json_valid(body)),
  format INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX IF NOT EXISTS event_kind ON event (kind, id);
CREATE TRIGGER IF NOT EXISTS event_is_final BEFORE UPDATE ON event
  BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
CREATE TRIGGER IF NOT EXISTS event_is_not_replaced BEFORE INSERT ON event
  WHEN EXISTS (SELECT 1 FROM event WHERE id = NEW.id)
  BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
CREATE TRIGGER IF NOT EXISTS event_is_kept BEFORE DELETE ON event
  BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
"""

_SAYS_FORMAT = "ALTER TABLE event ADD COLUMN format INTEGER NOT NULL DEFAULT 1"
"""What a file of format 1 gets before its first event of a later one; its own events stay as they are."""

_KINDS_BEFORE = {new: old for old, new in upgrade.KINDS.items()}

_E = TypeVar("_E", bound=declared.Event)


@dataclass(frozen=True)
class Event:
    """One thing that happened, as format 1 has it; `burnish.record.events.Recorded` takes its place.

    Attributes:
        number: its place in the order of events, from 1.
        at: when it was written, ISO 8601 in UTC.
        kind: what it is (``study``, ``command``, ``build``, ``pair``, …).
        body: its values.
    """

    number: int
    at: str
    kind: str
    body: Mapping[str, Any]


def before(line: Line) -> Event:
    """An event as format 1 has it."""
    if line.form == 1:
        return Event(line.number, line.at, line.kind, line.body)
    kind, body = legacy.body_of(decode(line.kind, line.body, line.form, where=f"event {line.number}"))
    return Event(line.number, line.at, kind, body)


def recorded(events: Iterable[Event | Recorded[declared.Event]]) -> Iterator[Recorded[declared.Event]]:
    """Events by their declarations, whichever way they are given.

    Raises:
        UserError: one is not what is declared; names it.
    """
    for each in events:
        if isinstance(each, Recorded):
            yield each
        else:
            yield Recorded(each.number, each.at, decode(each.kind, each.body, 1, where=f"event {each.number}"))


class Record:
    """The record in `folder`; made when it is not there yet."""

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self.folder = folder
        self.path = folder / FILE
        if not create and not self.path.is_file():
            raise UserError(f"{folder}: no study's record ({FILE}) here; `burnish show` lists the studies")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(self.path, isolation_level=None, timeout=10.0)
            if create:
                self._db.executescript("PRAGMA synchronous=FULL;" + _SCHEMA)
                if not self._format:
                    self._db.execute(f"PRAGMA user_version={FORMAT}")
            found = self._format
        except sqlite3.DatabaseError as error:
            raise UserError(f"{self.path}: not a study's record ({error})") from None
        if not 1 <= found <= FORMAT:
            raise UserError(f"{self.path}: written in format {found}; this Burnish reads formats 1 to {FORMAT}")

    @property
    def _format(self) -> int:
        """The newest format that an event of the file may be in; 0 of a file that was made just now."""
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    @overload
    def append(self, event: declared.Event, /) -> int: ...

    @overload
    def append(self, event: str, /, **body: Any) -> int: ...

    def append(self, event: declared.Event | str, /, **body: Any) -> int:
        """Writes one event; returns its number. It is on disk when this returns. A figure that is not finite is
        written as null: JSON has no word for it, and a finished piece of work must not be lost for it."""
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        if isinstance(event, str):
            text = json.dumps(_finite(body), default=str, allow_nan=False)
            cursor = self._db.execute("INSERT INTO event (at, kind, body) VALUES (?, ?, ?)", (at, event, text))
            return int(cursor.lastrowid or 0)
        self._say_format()
        kind, values = encode(event)
        cursor = self._db.execute(
            "INSERT INTO event (at, kind, body, format) VALUES (?, ?, ?, ?)",
            (at, kind, json.dumps(values, allow_nan=False), FORMAT),
        )
        return int(cursor.lastrowid or 0)

    def restore(self, lines: Iterable[Line]) -> None:
        """Writes events of another record as they were, into one that has none yet."""
        self._say_format()
        self._db.execute("BEGIN")  # one for all: each by itself would wait for the disk
        rows = ((line.number, line.at, line.kind, json.dumps(line.body), line.form) for line in lines)
        self._db.executemany("INSERT INTO event (id, at, kind, body, format) VALUES (?, ?, ?, ?, ?)", rows)
        self._db.execute("COMMIT")

    def every(self) -> Iterator[Recorded[declared.Event]]:
        """All events in the order in which they happened.

        Raises:
            UserError: one is not what is declared; names it.
        """
        return map(self._recorded, self._lines("", ()))

    @overload
    def events(self, *kinds: str, cell: str | None = None) -> Iterator[Event]: ...

    @overload
    def events(self, *kinds: type[_E], cell: CellId | None = None) -> Iterator[Recorded[_E]]: ...

    def events(self, *kinds: Any, cell: CellId | str | None = None) -> Iterator[Any]:
        """Events of these types in the order in which they happened; of this cell only, if one is named.

        Raises:
            UserError: one is not what is declared; names it.
        """
        if not kinds or isinstance(kinds[0], str):
            assert not isinstance(cell, CellId)  # noqa: S101 - the overloads say so
            return self._events_before(kinds, cell)
        return self._typed(kinds, cell, "id")

    @overload
    def last(self, kind: type[_E], /, **match: Any) -> Recorded[_E] | None: ...

    @overload
    def last(self, kind: str, /, **match: Any) -> Event | None: ...

    def last(self, kind: Any, /, **match: Any) -> Any:
        """The latest event of a type whose fields have these values; None where there is none."""
        if isinstance(kind, str):
            found = None
            for each in self.events(kind):
                if all(each.body.get(key) == value for key, value in match.items()):
                    found = each
            return found
        cell = match.get("cell")
        every = self._typed((kind,), cell if isinstance(cell, CellId) else None, "id DESC")
        return next((e for e in every if all(getattr(e.event, key) == value for key, value in match.items())), None)

    def _typed(
        self, kinds: Sequence[type[_E]], cell: CellId | str | None, order: str
    ) -> Iterator[Recorded[declared.Event]]:
        names = [name for kind in kinds for name in (kind.kind(), _KINDS_BEFORE.get(kind.kind(), kind.kind()))]
        where, values = f"WHERE kind IN ({','.join('?' * len(names))})", list(names)
        if isinstance(cell, CellId):  # what the file can compare; the rest is compared below
            candidate, load = "json_extract(body, '$.cell.candidate')", "json_extract(body, '$.cell.workload')"
            where += f" AND (json_extract(body, '$.cell') = ? OR ({candidate} = ? AND {load} = ?))"
            values += [cell.name, cell.candidate, cell.workload]
        for line in self._lines(where, values, order):
            found = self._recorded(line)
            if isinstance(found.event, tuple(kinds)) and (cell is None or getattr(found.event, "cell", None) == cell):
                yield found

    def _recorded(self, line: Line) -> Recorded[declared.Event]:
        where = f"{self.path}: event {line.number}"
        return Recorded(line.number, line.at, decode(line.kind, line.body, line.form, where=where))

    def _events_before(self, kinds: Sequence[str], cell: str | None) -> Iterator[Event]:
        """Events as format 1 has them."""
        names = [name for kind in kinds for name in dict.fromkeys((kind, upgrade.KINDS.get(kind, kind)))]
        where = f"kind IN ({','.join('?' * len(names))})" if names else "1"
        values = list(names)
        if cell is not None:
            where += " AND (json_type(body, '$.cell') = 'object' OR json_extract(body, '$.cell') = ?)"
            values.append(cell)
        for line in self._lines(f"WHERE {where}", values):
            found = before(line)
            if (not kinds or found.kind in kinds) and (cell is None or found.body.get("cell") == cell):
                yield found

    def _lines(self, where: str, values: Sequence[str], order: str = "id") -> Iterator[Line]:
        """Rows of the file."""
        form = "format" if self._format > 1 else "1"
        query = f"SELECT id, at, kind, body, {form} FROM event {where} ORDER BY {order}"  # noqa: S608 - no values
        for number, at, kind, body, said in self._db.execute(query, values):
            yield Line(number, at, kind, json.loads(body), said)

    def _say_format(self) -> None:
        """Makes room for events of this format in a file that an older Burnish began."""
        if self._format < FORMAT:
            columns = [row[1] for row in self._db.execute("PRAGMA table_info(event)")]
            self._db.execute("BEGIN IMMEDIATE")
            if "format" not in columns:
                self._db.execute(_SAYS_FORMAT)
            self._db.execute(f"PRAGMA user_version={FORMAT}")
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Closes the file."""
        self._db.close()


def _finite(value: Any) -> Any:
    """`value` with None where a float is infinite or not a number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value


def import_events(path: Path, folder: Path) -> Record:
    """A record made again in `folder` from an exported file, packed or not.

    Raises:
        UserError: the file is no record (see `burnish.record.lines.read`).
    """
    found = read(path)
    record = Record(folder, create=True)
    record.restore(found)
    return record
