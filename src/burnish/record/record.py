"""A study's record: an append-only SQLite file in the study's folder.

One table of events. Nothing is ever changed or taken back: triggers refuse it. What happened last wins; what
has no closing event (a start without `StartDone`, a build without `BuildMade`) did not finish and counts for
nothing. Reports and exports are pure functions of the events.

Every event says in which format it is, so that a study which an older Burnish began is resumed without touching what is
there: its events stay as they are and are read as events of today (`burnish.record.upgrade`).
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from burnish.base.errors import UserError
from burnish.model.cell import CellId
from burnish.record import upgrade
from burnish.record.codec import FORMAT, decode, encode
from burnish.record.events import Event, Recorded
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

_E = TypeVar("_E", bound=Event)


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

    def append(self, event: Event, /) -> int:
        """Writes one event; returns its number. It is on disk when this returns. A figure that is not finite is
        written as null: JSON has no word for it, and a finished piece of work must not be lost for it."""
        self._say_format()
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
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

    def every(self) -> Iterator[Recorded[Event]]:
        """All events in the order in which they happened.

        Raises:
            UserError: one is not what is declared; names it.
        """
        return map(self._recorded, self._lines("", ()))

    def events(self, kind: type[_E], /, *others: type[_E], cell: CellId | None = None) -> Iterator[Recorded[_E]]:
        """Events of these types in the order in which they happened; of this cell only, if one is named.

        Raises:
            UserError: one is not what is declared; names it.
        """
        return self._typed((kind, *others), cell, "id")

    def last(self, kind: type[_E], /, **match: Any) -> Recorded[_E] | None:
        """The latest event of a type whose fields have these values; None where there is none."""
        cell = match.get("cell")
        every = self._typed((kind,), cell if isinstance(cell, CellId) else None, "id DESC")
        return next((e for e in every if all(getattr(e.event, key) == value for key, value in match.items())), None)

    def _typed(self, kinds: Sequence[type[_E]], cell: CellId | None, order: str) -> Iterator[Recorded[_E]]:
        names = [name for kind in kinds for name in (kind.kind(), _KINDS_BEFORE.get(kind.kind(), kind.kind()))]
        where, values = f"WHERE kind IN ({','.join('?' * len(names))})", list(names)
        if cell is not None:  # what the file can compare; the rest is compared below
            candidate, load = "json_extract(body, '$.cell.candidate')", "json_extract(body, '$.cell.workload')"
            where += f" AND (json_extract(body, '$.cell') = ? OR ({candidate} = ? AND {load} = ?))"
            values += [cell.name, cell.candidate, cell.workload]
        for line in self._lines(where, values, order):
            found = self._recorded(line)
            if isinstance(found.event, tuple(kinds)) and (cell is None or getattr(found.event, "cell", None) == cell):
                yield cast("Recorded[_E]", found)

    def _recorded(self, line: Line) -> Recorded[Event]:
        where = f"{self.path}: event {line.number}"
        return Recorded(line.number, line.at, decode(line.kind, line.body, line.form, where=where))

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


def import_events(path: Path, folder: Path) -> Record:
    """A record made again in `folder` from an exported file, packed or not.

    Raises:
        UserError: the file is no record (see `burnish.record.lines.read`).
    """
    found = read(path)
    record = Record(folder, create=True)
    record.restore(found)
    return record
