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
from dataclasses import replace
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.model.cell import CellId
from burnish.record import lines
from burnish.record.codec import FORMAT, decode, encode
from burnish.record.events import Event, Recorded
from burnish.record.events.study import CommandRun, PictureDrawn, RecordImported, StudyBegun
from burnish.record.events.trials import StartDone
from burnish.record.events.why import WhyExplained
from burnish.record.lines import Line
from burnish.record.record import Record

Events = Iterable[Recorded[Event]]

_LEFT_OUT = (CommandRun, RecordImported)
"""Events without which a report is the same: programs that were run, with the names of their logs."""


def compact(events: Events) -> Iterator[Recorded[Event]]:
    """The events that a report needs; compacting again changes nothing."""
    known: set[tuple[str | None, CellId]] = set()
    for each in events:
        event = each.event
        if isinstance(event, _LEFT_OUT):
            continue
        if isinstance(event, StartDone) and event.launched is not None:
            cell = (event.origin.study if event.origin else None, event.cell)
            if cell in known:
                yield replace(each, event=replace(event, launched=None))
                continue
            known.add(cell)
        yield each


def read_events(path: Path) -> tuple[Recorded[Event], ...]:
    """The events of an exported record.

    Raises:
        UserError: there is no such file; it is no record, one of a newer format, or cut off; an event is not what is
            declared.
    """
    return tuple(_recorded(line, path) for line in lines.read(path))


def _recorded(line: Line, path: Path) -> Recorded[Event]:
    where = f"{path}: event {line.number}"
    return Recorded(line.number, line.at, decode(line.kind, line.body, line.form, where=where))


def study_events(folder: Path) -> tuple[Recorded[Event], ...]:
    """The events of a study's folder, and its drawings as the last of them."""
    with closing(Record(folder)) as record:
        events = list(record.every())
    carried = {each.event.name for each in events if isinstance(each.event, PictureDrawn)}
    named = [name for each in events if isinstance(each.event, WhyExplained) for name in each.event.pictures]
    for name in dict.fromkeys(named):
        path = folder / name
        if name not in carried and path.is_file():
            drawn = PictureDrawn(name, path.read_text(encoding="utf-8"))
            events.append(Recorded(events[-1].number + 1, events[-1].at, drawn))
    return tuple(events)


def as_text(events: Events) -> str:
    """Events as JSON lines, one a line: what a file that is not packed holds after its head."""
    return lines.as_json(_lines(events))


def write(path: Path, events: Events) -> int:
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


def study_name(path: Path, events: Events) -> str:
    """The name of the study that an exported record is of.

    Raises:
        UserError: it holds no study, or its name could not be a folder's.
    """
    name = next((each.event.name for each in events if isinstance(each.event, StudyBegun)), None)
    if name is None:
        raise UserError(f"{path}: this record holds no run; `burnish record export RUN` makes one that does")
    if not re.fullmatch(r"\w[\w.+-]*", name):
        raise UserError(f"{path}: its study is called {name!r}, which is no name of a study")
    return name


def import_study(home: Home, path: Path) -> tuple[Path, bool]:
    """Makes a study of an exported record, to be shown, explained and merged, but not resumed.

    Its events stay in the format in which they were exported.

    Returns:
        its folder, and whether it was made now; False where the very same record is there already.

    Raises:
        UserError: the file is no record (see `read_events`), or another study of this name is there.
    """
    found = lines.read(path)
    events = [_recorded(line, path) for line in found]
    name = study_name(path, events)
    folder = home.studies / name
    if folder.exists():
        with closing(Record(folder)) as record:
            same = list(compact(record.every())) == list(compact(events))
        if not same:
            raise UserError(f"{folder}: a study of this name is here, with another record; rename its folder first")
        return folder, False
    home.studies.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.root) as place:
        draft = Path(place) / name
        with closing(Record(draft, create=True)) as record:
            record.restore(found)
            record.append(RecordImported(path.name))
        draft.rename(folder)
    return folder, True


def _lines(events: Events) -> Iterator[Line]:
    return (Line(each.number, each.at, *encode(each.event), FORMAT) for each in events)
