"""What can be read of a record whose file was cut off or otherwise damaged: its events up to the damage.

SQLite refuses a file that is shorter than its first page says. Events are written at the end only, so those before the
damage are whole: they are read from a copy whose first page says how long it is.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from burnish.base import temporary
from burnish.base.errors import UserError
from burnish.base.files import link_or_copy, remove_tree
from burnish.record.codec import decode
from burnish.record.lines import Line
from burnish.record.record import FILE, Record

ASIDE = f"{FILE}.damaged"
"""Name under which the damaged file stays in the run's folder."""

_DRAFT = ".rescued"

_MAGIC = b"SQLite format 3\0"
_PAGE_SIZE, _PAGES = slice(16, 18), slice(28, 32)
"""Where a file's first page has the size of its pages, and their number."""


def readable(path: Path) -> tuple[Line, ...]:
    """The events of a damaged record up to the damage; none if not even the first can be read."""
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[_PAGE_SIZE], "big") or 1
    size = 1 << 16 if size == 1 else size
    if data[: len(_MAGIC)] != _MAGIC or len(data) < size:
        return ()
    whole = len(data) // size
    data[_PAGES] = whole.to_bytes(4, "big")
    with tempfile.NamedTemporaryFile(dir=temporary.folder()) as copy:
        copy.write(data[: whole * size])
        copy.flush()
        return tuple(_lines(Path(copy.name)))


def _lines(path: Path) -> Iterator[Line]:
    before = 0
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as db:
            for number, at, kind, body, form in db.execute("SELECT id, at, kind, body, format FROM event ORDER BY id"):
                if number != before + 1:
                    return
                line = Line(number, at, kind, json.loads(body), form)
                decode(line.kind, line.body, line.form, where=str(path))
                yield line
                before = number
    except (sqlite3.Error, ValueError, UserError):
        return


def draft(folder: Path) -> Record | None:
    """A new record of what can be read of the damaged one in a run's folder; None if that is nothing."""
    lines = readable(folder / FILE)
    if not lines:
        return None
    remove_tree(folder / _DRAFT)
    record = Record(folder / _DRAFT, create=True)
    record.restore(lines)
    return record


def adopt(folder: Path) -> None:
    """Puts the draft into the place of the damaged record, which is kept beside it."""
    aside = folder / ASIDE
    aside.unlink(missing_ok=True)
    link_or_copy(str(folder / FILE), str(aside))
    (folder / f"{FILE}-journal").unlink(missing_ok=True)
    (folder / _DRAFT / FILE).replace(folder / FILE)
    discard(folder)


def discard(folder: Path) -> None:
    """Removes the draft."""
    remove_tree(folder / _DRAFT)
