"""Records carried elsewhere: what a compact one leaves out, exported files, and studies made from them again.

A compact record renders the same report as the whole one: it has what was planned, what was built and how, every pair
that was read, every verdict. It has no commands and no logs, and says how a cell's sides were launched once, not at
each start. What it leaves out is a list here, so that kinds of event that are yet to come are carried until one says
otherwise.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.record import lines
from burnish.record.lines import Line
from burnish.record.record import Event, Record, before

IMPORTED = "imported"
"""Kind of the event that says where a record came from; such a study is never gone on with."""

PICTURE = "picture"
"""Kind of the event that carries a drawing (``name``, ``svg``) that can't be made again from the record."""

_LEFT_OUT = ("command", IMPORTED)
"""Kinds of event without which a report is the same: programs that were run, with the names of their logs."""


def compact(events: Iterable[Event]) -> Iterator[Event]:
    """The events that a report needs; compacting again changes nothing."""
    told: set[tuple[object, object]] = set()
    for event in events:
        if event.kind in _LEFT_OUT:
            continue
        body = dict(event.body)
        if event.kind == "start_done" and "launched" in body:
            cell = (body.get("study"), body.get("cell"))
            if cell in told:
                del body["launched"]
            told.add(cell)
        yield Event(event.number, event.at, event.kind, body)


def read_events(path: Path) -> tuple[Event, ...]:
    """The events of an exported record.

    Raises:
        UserError: there is no such file; it is no record, one of another format, or cut off.
    """
    return tuple(before(line) for line in lines.read(path))


def study_events(folder: Path) -> tuple[Event, ...]:
    """The events of a study's folder, and its drawings as the last of them."""
    with closing(Record(folder)) as record:
        events = list(record.events())
    carried = {event.body["name"] for event in events if event.kind == PICTURE}
    named = [name for event in events if event.kind == "explained" for name in event.body.get("pictures", ())]
    for name in dict.fromkeys(named):
        path = folder / name
        if name not in carried and path.is_file():
            body = {"name": name, "svg": path.read_text(encoding="utf-8")}
            events.append(Event(events[-1].number + 1, events[-1].at, PICTURE, body))
    return tuple(events)


def as_text(events: Iterable[Event]) -> str:
    """Events as JSON lines, one a line: what a file that is not packed holds after its head."""
    return lines.as_json(_lines(events))


def write(path: Path, events: Iterable[Event]) -> int:
    """Writes an exported record, whole or not at all; returns its size in bytes.

    Raises:
        UserError: the name does not say how to pack it, or there is no such folder.
    """
    lines.check_name(path)
    if not path.parent.is_dir():
        raise UserError(f"{path.parent}: there is no such folder; name a file in one that is there")
    data = lines.pack(_lines(events), path.name)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        file.write(data)
    place = Path(file.name)
    place.chmod(0o644)
    place.replace(path)
    return len(data)


def study_name(path: Path, events: Iterable[Event]) -> str:
    """The name of the study that an exported record is of.

    Raises:
        UserError: it holds no study, or its name could not be a folder's.
    """
    name = next((event.body.get("name") for event in events if event.kind == "study"), None)
    if name is None:
        raise UserError(f"{path}: this record holds no study; `burnish record export STUDY` makes one that does")
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.+-]*", name):
        raise UserError(f"{path}: its study is called {name!r}, which is no name of a study")
    return name


def import_study(home: Home, path: Path) -> tuple[Path, bool]:
    """Makes a study of an exported record, to be shown, explained and merged, but not gone on with.

    Returns:
        its folder, and whether it was made now; False where the very same record is there already.

    Raises:
        UserError: the file is no record (see `lines.read`), or another study of this name is there.
    """
    events = read_events(path)
    name = study_name(path, events)
    folder = home.studies / name
    if folder.exists():
        with closing(Record(folder)) as record:
            same = list(compact(record.events())) == list(compact(events))
        if not same:
            raise UserError(f"{folder}: a study of this name is here, with another record; rename its folder first")
        return folder, False
    home.studies.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.root) as place:
        draft = Path(place) / name
        with closing(Record(draft, create=True)) as record:
            record.restore(_lines(events))
            record.append(IMPORTED, file=path.name)
        draft.rename(folder)
    return folder, True


def _lines(events: Iterable[Event]) -> Iterator[Line]:
    return (Line(event.number, event.at, event.kind, event.body) for event in events)
