"""A study's record: an append-only SQLite file in the study's folder.

One table of events. Nothing is ever changed or taken back: triggers refuse it. What happened last wins; what
has no closing event (a start without ``start_done``, a build without ``build``) did not finish and counts for
nothing. Reports and exports are pure functions of the events.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.base.errors import UserError
from burnish.record.lines import Line, read

FILE = "record.sqlite"
FORMAT = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS event (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL CHECK (json_valid(body))
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


@dataclass(frozen=True)
class Event:
    """One thing that happened.

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
                self._db.execute(f"PRAGMA user_version={FORMAT}")
            found = self._db.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise UserError(f"{self.path}: not a study's record ({error})") from None
        if found != FORMAT:
            raise UserError(f"{self.path}: written in format {found}; this Burnish reads format {FORMAT}")

    def append(self, kind: str, /, **body: Any) -> int:
        """Writes one event; returns its number. It is on disk when this returns. A figure that is not finite is
        written as null: JSON has no word for it, and a finished piece of work must not be lost for it."""
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        cursor = self._db.execute(
            "INSERT INTO event (at, kind, body) VALUES (?, ?, ?)",
            (at, kind, json.dumps(_finite(body), default=str, allow_nan=False)),
        )
        return int(cursor.lastrowid or 0)

    def restore(self, lines: Iterable[Line]) -> None:
        """Writes events of another record as they were, into one that has none yet."""
        self._db.execute("BEGIN")  # one for all: each by itself would wait for the disk
        rows = ((line.number, line.at, line.kind, json.dumps(line.body)) for line in lines)
        self._db.executemany("INSERT INTO event (id, at, kind, body) VALUES (?, ?, ?, ?)", rows)
        self._db.execute("COMMIT")

    def events(self, *kinds: str, cell: str | None = None) -> Iterator[Event]:
        """Events in the order in which they happened; of these kinds and of this cell only, if any are named."""
        conditions = [f"kind IN ({','.join('?' * len(kinds))})"] if kinds else []
        conditions += ["json_extract(body, '$.cell') = ?"] if cell is not None else []
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        query = f"SELECT id, at, kind, body FROM event {where} ORDER BY id"  # noqa: S608 - placeholders only
        for number, at, kind, body in self._db.execute(query, (*kinds, *([] if cell is None else [cell]))):
            yield Event(number, at, kind, json.loads(body))

    def last(self, kind: str, /, **match: Any) -> Event | None:
        """The latest event of a kind whose body has these values."""
        found = None
        for event in self.events(kind):
            if all(event.body.get(key) == value for key, value in match.items()):
                found = event
        return found

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
