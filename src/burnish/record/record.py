"""A study's record: an append-only SQLite file in the study's folder.

It has one table of events. Events are never changed or deleted: triggers prevent it. A later event overrides an
earlier one; work without its closing event (a start without `StartDone`, a build without `BuildMade`) did not finish
and is ignored. Reports and exports are pure functions of the events.

Every event states its format, so that a study begun by an older Burnish can be resumed without rewriting its record:
its events stay as they are and are upgraded when they are read (`burnish.record.upgrade`).
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from burnish.base.errors import HostError, UserError
from burnish.model.cell import CellId
from burnish.record import upgrade
from burnish.record.codec import FORMAT, decode, encode
from burnish.record.events import Event, Recorded
from burnish.record.lines import Line, read, spliced, without_turns

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

_ADD_FORMAT = "ALTER TABLE event ADD COLUMN format INTEGER NOT NULL DEFAULT 1"
"""Adds the format column to a file of format 1 before its first event of a later format; its events do not change."""

_OLD_KINDS = {new: old for old, new in upgrade.KINDS.items()}

PAGE = 256
"""Events that are read at a time."""

WAITS = 60.0
"""Seconds that an event waits to be written while others read or copy the file."""

_NOT_THE_FILE = re.compile("full|disk I/O|locked|readonly|read-only|unable to open")
"""What SQLite says of the host: *full* for ENOSPC alone, *disk I/O error* for a quota or a limit of a file's size."""

_E = TypeVar("_E", bound=Event)


class DamagedError(UserError):
    """A record of which not all can be read; `burnish.record.rescue` takes out what can."""


class Record:
    """The record in `folder`; created if `create` is set and it does not exist yet."""

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self.folder = folder
        self.path = folder / FILE
        if not create and not self.path.is_file():
            raise UserError(f"{folder}: no study's record ({FILE}) here; `burnish show` lists the studies")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(self.path, isolation_level=None, timeout=WAITS)
            if create:
                self._db.executescript("PRAGMA synchronous=FULL;" + _SCHEMA)
                if not self._format:
                    self._db.execute(f"PRAGMA user_version={FORMAT}")
            form = self._format
        except sqlite3.DatabaseError as error:
            raise self._failed(error) from None
        if not form:
            raise self._damaged("it is empty")
        if not 1 <= form <= FORMAT:
            raise UserError(f"{self.path}: written in format {form}; this Burnish reads formats 1 to {FORMAT}")

    @property
    def _format(self) -> int:
        """The newest format of events in the file; 0 for a new file."""
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def append(self, event: Event, /) -> int:
        """Writes one event to disk and returns its number.

        A number that is not finite is written as null: JSON cannot represent it, and finished work must not be lost
        because of it.
        """
        self._add_format()
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        kind, values = encode(event)
        row = (at, kind, json.dumps(values, allow_nan=False), FORMAT)
        try:
            cursor = self._db.execute("INSERT INTO event (at, kind, body, format) VALUES (?, ?, ?, ?)", row)
        except sqlite3.DatabaseError as error:
            raise self._failed(error) from None
        return int(cursor.lastrowid or 0)

    def restore(self, lines: Iterable[Line]) -> None:
        """Copies the events of another record unchanged into this one, which must be empty."""
        rows = ((line.number, line.at, line.kind, json.dumps(line.body), line.form) for line in lines)
        try:
            self._add_format()
            self._db.execute("BEGIN")  # one transaction for all: each of its own would wait for the disk
            self._db.executemany("INSERT INTO event (id, at, kind, body, format) VALUES (?, ?, ?, ?, ?)", rows)
            self._db.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise self._failed(error) from None

    def every(self, *, turns: bool = True) -> Iterator[Recorded[Event]]:
        """All events in the order in which they happened.

        Args:
            turns: whether with the turns of pairs, which no report shows.

        Raises:
            UserError: an event does not match its declaration; the message names it.
        """
        return map(self._recorded, self._lines("", (), turns=turns))

    def lines(self) -> Iterator[Line]:
        """All events as they are written, in the order in which they happened."""
        return self._lines("", ())

    def with_texts(self) -> Iterator[tuple[Line, bytes]]:
        """All events but for the turns of pairs, each with its line of an exported record, which has them."""
        for number, at, kind, body, form in self._rows("", ()):
            line = Line(number, at, kind, json.loads(without_turns(body)), form)
            yield line, spliced(number, at, kind, body, form)

    def events(self, kind: type[_E], /, *others: type[_E], cell: CellId | None = None) -> Iterator[Recorded[_E]]:
        """Events of these types in the order in which they happened; only those of `cell`, if it is given.

        Raises:
            UserError: an event does not match its declaration; the message names it.
        """
        return self._typed((kind, *others), cell, "id")

    @property
    def written(self) -> str:
        """When the last event was written, in UTC; '' if there is none."""
        row = self._db.execute("SELECT at FROM event ORDER BY id DESC LIMIT 1").fetchone()
        return str(row[0]) if row is not None else ""

    def last(self, kind: type[_E], /, **match: Any) -> Recorded[_E] | None:
        """The latest event of a type whose fields have these values; None if there is none."""
        cell = match.get("cell")
        events = self._typed((kind,), cell if isinstance(cell, CellId) else None, "id DESC")
        return next(
            (
                recorded
                for recorded in events
                if all(getattr(recorded.event, key) == value for key, value in match.items())
            ),
            None,
        )

    def _typed(self, kinds: Sequence[type[_E]], cell: CellId | None, order: str) -> Iterator[Recorded[_E]]:
        both = (name for kind in kinds for name in (kind.kind(), _OLD_KINDS.get(kind.kind(), kind.kind())))
        names = list(dict.fromkeys(both))  # of one name, its index has the order
        where, values = f"WHERE kind IN ({','.join('?' * len(names))})", list(names)
        if cell is not None:  # the fields that SQL can compare; the others are compared below
            candidate, load = "json_extract(body, '$.cell.candidate')", "json_extract(body, '$.cell.workload')"
            where += f" AND (json_extract(body, '$.cell') = ? OR ({candidate} = ? AND {load} = ?))"
            values += [cell.name, cell.candidate, cell.workload]
        for line in self._lines(where, values, order):
            recorded = self._recorded(line)
            if isinstance(recorded.event, tuple(kinds)) and (
                cell is None or getattr(recorded.event, "cell", None) == cell
            ):
                yield cast("Recorded[_E]", recorded)

    def _recorded(self, line: Line) -> Recorded[Event]:
        where = f"{self.path}: event {line.number}"
        return Recorded(line.number, line.at, decode(line.kind, line.body, line.form, where=where))

    def _lines(self, where: str, values: Sequence[str], order: str = "id", *, turns: bool = True) -> Iterator[Line]:
        for number, at, kind, body, form in self._rows(where, values, order):
            try:
                value = json.loads(body if turns else without_turns(body))
            except (TypeError, ValueError):  # TypeError: no text at all, as behind the end of what is whole
                raise self._damaged(f"event {number} is not JSON") from None
            yield Line(number, at, kind, value, form)

    def _rows(self, where: str, values: Sequence[str], order: str = "id") -> Iterator[tuple[int, str, str, str, int]]:
        """Rows of the file as it is now: number, time, kind, body as text, format.

        They are read in pages: an open query holds the file's lock, and the study that writes to it would wait for
        whoever reads, however slow it is.
        """
        form = "format" if self._format > 1 else "1"
        condition = f"{where} {'AND' if where else 'WHERE'} id > ? AND id <= ?"
        query = f"SELECT id, at, kind, body, {form} FROM event {condition} ORDER BY {order} LIMIT ?"  # noqa: S608
        forward = order == "id"
        page = PAGE if forward else 1  # backwards, most look for one event
        try:
            # None of an empty file, but 0 also of one whose end is damaged: what is before that is read all the same.
            after, until = 0, self._db.execute("SELECT max(id) FROM event").fetchone()[0] or sys.maxsize
            while rows := self._db.execute(query, (*values, after, until, page)).fetchall():
                yield from rows
                if len(rows) < page:
                    return
                after, until = (rows[-1][0], until) if forward else (after, rows[-1][0] - 1)
                page = min(2 * page, PAGE)
        except sqlite3.DatabaseError as error:
            raise self._failed(error) from None

    def check(self) -> None:
        """Raises a `DamagedError` if not all of the file is as it was written."""
        try:
            (said,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.DatabaseError as error:
            raise self._failed(error) from None
        if said != "ok":
            raise self._damaged(" ".join(said.split()))

    def _failed(self, error: sqlite3.DatabaseError) -> HostError | DamagedError:
        """What an error of SQLite means: the host's trouble, or the file's."""
        of_the_host = isinstance(error, sqlite3.OperationalError) and _NOT_THE_FILE.search(str(error))
        return HostError(f"{self.path}: {error}") if of_the_host else self._damaged(error)

    def _damaged(self, why: object) -> DamagedError:
        return DamagedError(
            f"{self.path}: not a study's record, or a damaged one ({why}); the command that began its run goes on from "
            "what is whole of it"
        )

    def _add_format(self) -> None:
        """Prepares a file created by an older Burnish for events of this format."""
        if self._format < FORMAT:
            columns = [row[1] for row in self._db.execute("PRAGMA table_info(event)")]
            self._db.execute("BEGIN IMMEDIATE")
            if "format" not in columns:
                self._db.execute(_ADD_FORMAT)
            self._db.execute(f"PRAGMA user_version={FORMAT}")
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Closes the file."""
        self._db.close()


def import_events(path: Path, folder: Path) -> Record:
    """Creates a record in `folder` from an exported file.

    Raises:
        UserError: the file is not a record (see `burnish.record.lines.read`).
    """
    imported = read(path)
    record = Record(folder, create=True)
    record.restore(imported)
    return record
