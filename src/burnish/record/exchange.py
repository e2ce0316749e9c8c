"""Export and import of records: compact records, exported files, and studies imported from them.

A compact record renders the same report as the full one: it has the plan, how every build was made, every pair, every
verdict. It has no commands and no logs, and the launched processes of a cell's sides only once, not for each start.
The omitted kinds of event are listed here, so that new kinds are exported by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from burnish.base import storage
from burnish.base.errors import UserError
from burnish.base.files import check_folder, remove_tree, write_whole
from burnish.base.paths import Home
from burnish.model.cell import CellId
from burnish.record import lines, upgrade
from burnish.record.codec import FORMAT, decode, encode
from burnish.record.events import Event, Recorded
from burnish.record.events.study import CommandRun, PictureDrawn, RecordImported, StudyBegun
from burnish.record.events.trials import StartDone
from burnish.record.events.why import WhyExplained
from burnish.record.lines import Line
from burnish.record.record import Record

Events = Iterable[Recorded[Event]]

_LEFT_OUT = (CommandRun, RecordImported)
"""Events that do not affect reports: commands with the names of their logs, and the import itself."""


def compact(events: Events) -> Iterator[Recorded[Event]]:
    """The events that a report needs; idempotent."""
    compacted = Compacting()
    return (kept for recorded in events if (kept := compacted(recorded)) is not None)


class Compacting:
    """Makes a record compact, event by event."""

    def __init__(self) -> None:
        self._known: set[tuple[str | None, CellId]] = set()

    def __call__(self, recorded: Recorded[Event]) -> Recorded[Event] | None:
        """The event as a compact record has it: the same, shorter, or None for none."""
        event = recorded.event
        if isinstance(event, _LEFT_OUT):
            return None
        if isinstance(event, StartDone) and event.launched is not None:
            cell = (event.origin.study if event.origin else None, event.cell)
            if cell in self._known:
                return replace(recorded, event=replace(event, launched=None))
            self._known.add(cell)
        return recorded


def read_events(path: Path, *, turns: bool = True) -> tuple[Recorded[Event], ...]:
    """The events of an exported record.

    Args:
        path: the file.
        turns: whether with the turns of pairs, which no report shows.

    Raises:
        UserError: the file does not exist, is not a record, has a newer format or is truncated, or an event does not
            match its declaration.
    """
    return tuple(decoded(line, path) for line, _ in lines.each(path, turns=turns))


def events_of(path: Path, *kinds: type[Event]) -> list[Recorded[Event]]:
    """The events of these types in an exported record; raises as `read_events` does, but for events of other types."""
    names = {kind.kind() for kind in kinds}
    found = (line for line, _ in lines.each(path, turns=False) if upgrade.KINDS.get(line.kind, line.kind) in names)
    return [decoded(line, path) for line in found]


def decoded(line: Line, path: Path) -> Recorded[Event]:
    """The event on a line of a file; raises a `UserError` that names it."""
    where = f"{path}: event {line.number}"
    return Recorded(line.number, line.at, decode(line.kind, line.body, line.form, where=where))


def study_events(folder: Path) -> tuple[Recorded[Event], ...]:
    """The events in a study's folder, followed by its drawings as events."""
    with closing(Record(folder)) as record:
        events = list(record.every())
    return (*events, *drawings(folder, events))


def drawings(folder: Path, events: Sequence[Recorded[Event]]) -> list[Recorded[Event]]:
    """A study's drawings as events after its own, those that are not among them."""
    known = {recorded.event.name for recorded in events if isinstance(recorded.event, PictureDrawn)}
    named = [
        name for recorded in events if isinstance(recorded.event, WhyExplained) for name in recorded.event.pictures
    ]
    files = {name: folder / name for name in dict.fromkeys(named) if name not in known}
    drawn = [PictureDrawn(name, file.read_text(encoding="utf-8")) for name, file in files.items() if file.is_file()]
    return [Recorded(events[-1].number + at, events[-1].at, picture) for at, picture in enumerate(drawn, 1)]


def as_text(events: Events) -> str:
    """Events as JSON, one per line: the content of an uncompressed file after its header."""
    return lines.as_json(_lines(events))


def write(path: Path, events: Events) -> int:
    """Writes an exported record atomically; returns its size in bytes.

    Raises:
        UserError: the name has none of the suffixes, or its folder does not exist.
    """
    lines.check_name(path)
    check_folder(path)
    data = lines.pack(_lines(events), path.name)
    write_whole(path, data)
    return len(data)


def study_name(path: Path, events: Events) -> str:
    """The name of the study in an exported record.

    Raises:
        UserError: the record contains no study, or the study's name cannot be a folder name.
    """
    name = next((recorded.event.name for recorded in events if isinstance(recorded.event, StudyBegun)), None)
    if name is None:
        raise UserError(f"{path}: this record holds no run; `burnish record export RUN` makes one that does")
    if not is_study_name(name):
        raise UserError(f"{path}: its study is called {name!r}, which is not a valid study name")
    return name


def is_study_name(name: str) -> bool:
    """Whether a study can be called so, and a folder or file after it."""
    return re.fullmatch(r"\w[\w.+-]*", name) is not None


def import_study(home: Home, path: Path, called: str | None = None) -> tuple[Path, bool]:
    """Makes a study from an exported record, to be shown, explained and merged, but not resumed.

    Its events keep the format in which they were exported.

    Args:
        home: where it is made.
        path: the record.
        called: name of its folder; None: the study's own.

    Returns:
        its folder, and whether it was made now; False if the same record was already imported.

    Raises:
        UserError: the file is not a record (see `read_events`), or another study has this name.
    """
    imported = lines.read(path)
    events = [decoded(line, path) for line in imported]
    name = called or study_name(path, events)
    folder = home.studies / name
    if folder.exists():
        # An export has drawings as events, a run that was made here has them as files.
        if list(compact(study_events(folder))) != list(compact(events)):
            raise UserError(f"{folder}: a study of this name exists, with another record; rename its folder first")
        return folder, False
    home.studies.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = home.scratch / storage.name()  # swept by the next run, if this one is killed
    try:
        with closing(Record(place / name, create=True)) as record:
            record.restore(imported)
            record.append(RecordImported(path.name))
        (place / name).rename(folder)
    finally:
        remove_tree(place)
    return folder, True


def _lines(events: Events) -> Iterator[Line]:
    return map(line_of, events)


def line_of(recorded: Recorded[Event]) -> Line:
    """An event as a line of a file."""
    return Line(recorded.number, recorded.at, *encode(recorded.event), FORMAT)
