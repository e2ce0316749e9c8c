"""Runs on disk: finding, beginning and resuming them; one at a time in a home."""

from __future__ import annotations

import contextlib
import itertools
import shlex
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from burnish import __version__
from burnish.base.digest import digest_of
from burnish.base.errors import UserError, unknown
from burnish.base.files import held
from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.record.events.bundled import FigureMeasured
from burnish.record.events.study import Configured, RecordImported, SessionBegun, StudyBegun, StudyFinished
from burnish.record.events.verdicts import VerdictReached
from burnish.record.lines import SUFFIXES, is_file_name
from burnish.record.record import FILE, Record
from burnish.study.kept import damaged
from burnish.study.kept.sittings import Again, Next, following
from burnish.study.request.definition import Definition

_Found = TypeVar("_Found")

_DRAFT = ".draft-"
REMOVED = ".removed-"
"""Beginning of the name that a folder has while it is removed."""


def folders(home: Home) -> list[Path]:
    """The folders of all runs, oldest first."""
    hidden = (_DRAFT, REMOVED)
    studies = [path.parent for path in home.studies.glob(f"*/{FILE}") if not path.parent.name.startswith(hidden)]
    return sorted(studies, key=lambda path: (path / FILE).stat().st_ctime)


def of_all(home: Home, read: Callable[[Record], Iterable[_Found]]) -> Iterator[_Found]:
    """What is read of all runs, oldest first; records of a newer Burnish and damaged ones are passed over."""
    for folder in folders(home):
        with contextlib.suppress(UserError), contextlib.closing(Record(folder)) as record:
            yield from read(record)


ANEW = ("why",)
"""Verbs that begin anew each time, so that none of their runs is resumed."""

WITHOUT_VERDICTS = ("why", "calibrate")
"""Verbs whose runs have no verdicts: `find` returns them only if they are named."""


def none_yet() -> str:
    """That there is no run, and what makes the first one, in words."""
    return f"no run yet; `burnish tune {load.example()}` makes the first one"


def find(home: Home, name: str | None) -> Path:
    """The run with this name or folder, or the newest finished run whose name begins with it.

    Without a name it is the run with verdicts that was written to last, else the one that was written to last.

    Raises:
        UserError: there is none, or several names begin with it and none of these runs is finished.
    """
    runs = folders(home)
    if name is None:
        if not runs:
            raise UserError(f"{home.studies}: {none_yet()}")
        written = by_writing(runs)
        return next((path for path in written if has_verdicts(path)), written[0])
    if (Path(name) / FILE).is_file():
        return Path(name)
    matching = [path for path in runs if path.name == name] or beginning(runs, name)
    if len(matching) == 1:
        return matching[0]
    if not matching:
        if Path(name).is_file() and is_file_name(name):
            raise UserError(
                f"{name}: is an exported record, and this takes a run; `burnish record import {shlex.quote(name)}` "
                "makes one of it"
            )
        if Path(name).is_file():
            raise UserError(f"{name}: no record; a record's name ends in {', '.join(SUFFIXES)} or .html")
        if not runs:
            raise UserError(f"unknown run {name!r}: {none_yet()}")
        raise unknown("run", name, [path.name for path in runs], "burnish runs")
    finished = [path for path in matching if is_finished(path)]
    if not finished:
        names = ", ".join(path.name for path in matching)
        raise UserError(f"run {name!r} could be {names}, of which none is finished; name one of them")
    return finished[-1]


def by_writing(runs: Sequence[Path]) -> list[Path]:
    """The runs, first the one that was written to last."""
    return sorted(runs, key=lambda path: -(path / FILE).stat().st_mtime)


def beginning(runs: Sequence[Path], name: str) -> list[Path]:
    """The runs whose names begin with `name`, oldest first."""
    return [path for path in runs if path.name.startswith(name)]


def is_finished(folder: Path) -> bool:
    """Whether a run is finished; one whose record is damaged is not."""
    with contextlib.suppress(UserError), contextlib.closing(Record(folder)) as record:
        return record.last(StudyFinished) is not None
    return False


def has_verdicts(folder: Path) -> bool:
    """Whether a run compares something and came to an end or has a verdict or figure; not if its record is damaged.

    One that ended without a verdict found equal code, which is an answer.
    """
    with contextlib.suppress(UserError), contextlib.closing(Record(folder)) as record:
        begun = record.last(StudyBegun)
        verb = begun.event.definition["verb"] if begun else None
        if verb in WITHOUT_VERDICTS:
            return False
        return any(record.last(kind) is not None for kind in (VerdictReached, FigureMeasured, StudyFinished))
    return False


def repair(home: Home, definition: Definition, say: Callable[[str], None]) -> None:
    """Repairs the record of the unfinished run of this definition, if it is damaged; call it while holding the lock.

    Args:
        home: where runs are.
        definition: what is asked.
        say: prints a line for the user.
    """
    for folder in reversed(folders(home)):
        if damaged.repair(folder, lambda record: _is_open(record, definition), say):
            return


def begin_or_resume(home: Home, definition: Definition, *, fresh: bool) -> tuple[Record, bool]:
    """The record to write to, and whether it is an unfinished run that is resumed.

    Args:
        home: where runs are.
        definition: what is asked.
        fresh: begin a new run even if an unfinished one could be resumed.
    """
    if not fresh:
        with open_record(home, definition) as found:
            folder = None if found is None else found.folder
        if folder is not None:
            return Record(folder), True
    for left in home.studies.glob(f"{_DRAFT}*"):
        shutil.rmtree(left, ignore_errors=True)
    begun_at = f"{definition.engine}-{definition.verb}-{time.strftime('%Y%m%d-%H%M%S')}"
    names = itertools.chain([begun_at], (f"{begun_at}-{number}" for number in itertools.count(2)))
    name = next(name for name in names if not (home.studies / name).exists())
    # The folder is renamed when its first event is written, so a kill leaves no record without one.
    draft = home.studies / f"{_DRAFT}{name}"
    with contextlib.closing(Record(draft, create=True)) as record:
        record.append(StudyBegun(name, definition.as_dict(), definition.digest, __version__))
    draft.rename(home.studies / name)
    return Record(home.studies / name), False


def finished(home: Home, definition: Definition) -> Path | None:
    """The newest run of this definition if it is finished, else None."""
    for folder in reversed(folders(home)):
        with contextlib.suppress(UserError), contextlib.closing(Record(folder)) as record:
            if _is_of(record, definition):
                return folder if record.last(StudyFinished) is not None else None
    return None


@contextlib.contextmanager
def open_record(home: Home, definition: Definition) -> Iterator[Record | None]:
    """The record of the unfinished run of this definition, for reading; None if there is none."""
    for folder in reversed(folders(home)):
        with contextlib.ExitStack() as opened:
            try:
                record = opened.enter_context(contextlib.closing(Record(folder)))
                if not _is_open(record, definition):
                    continue
            except UserError:  # damaged, or of a newer Burnish
                continue
            yield record
            return
    yield None


def _is_of(record: Record, definition: Definition) -> bool:
    """Whether a record is a run of this definition that was made here."""
    begun = record.last(StudyBegun)
    if begun is None or record.last(RecordImported) is not None:
        return False
    return begun.event.digest == definition.digest or (
        begun.event.digest == definition.older and begun.event.definition.get("seed") == 1 and _seedless(record)
    )


def of_another_budget(home: Home, definition: Definition) -> tuple[str, float | None] | None:
    """The newest unfinished search that is this one but for its budget: its name and that budget in seconds (None: it
    has none). None if there is no such search, or if one of this very budget is resumed.
    """
    asked = definition.as_dict()
    if "search" not in asked:
        return None
    with open_record(home, definition) as same:
        if same is not None:
            return None
    for folder in reversed(folders(home)):
        with contextlib.suppress(UserError), contextlib.closing(Record(folder)) as record:
            begun = record.last(StudyBegun)
            if begun is not None and is_unfinished(record) and _unbounded(begun.event.definition) == _unbounded(asked):
                return folder.name, begun.event.definition["search"].get("budget")
    return None


def _unbounded(definition: Mapping[str, Any]) -> str:
    """A digest of a search's definition without its budget."""
    search = {key: value for key, value in (definition.get("search") or {}).items() if key != "budget"}
    return digest_of({**definition, "search": search})


def _seedless(record: Record) -> bool:
    """Whether a record is of a Burnish that did not draw seeds."""
    session = record.last(SessionBegun)
    return session is None or session.event.seed is None


def is_unfinished(record: Record) -> bool:
    """Whether a run was begun here and has not finished; one that was imported goes on elsewhere, if at all."""
    return record.last(StudyFinished) is None and record.last(RecordImported) is None


def _is_open(record: Record, definition: Definition) -> bool:
    """Whether a record is an unfinished run of this definition."""
    return _is_of(record, definition) and record.last(StudyFinished) is None


@dataclass(frozen=True)
class Unfinished:
    """A run that its command resumes.

    Attributes:
        folder: the run's.
        command: words of the command line after the program's name.
        place: the working folder of that command.
        following: its next sitting, or that of what the host disturbed, if it waits for one; else None.
        configured: what of the words a settings file gave; None if it gave nothing.
    """

    folder: Path
    command: tuple[str, ...]
    place: str
    following: Next | Again | None
    configured: Configured | None = None


def unfinished(home: Home, boot: str) -> list[Unfinished]:
    """The runs that can be resumed, oldest first; those of older versions, which do not know their command, are left
    out."""
    runs = []
    for folder in folders(home):
        with contextlib.suppress(UserError), contextlib.closing(Record(folder)) as record:
            session = record.last(SessionBegun)
            begun = record.last(StudyBegun)
            anew = begun is not None and begun.event.definition["verb"] in ANEW
            call = session.event.call if session and is_unfinished(record) and not anew else None
            if call is None:
                continue
            words = tuple(word for word in call.words if word != "--fresh")
            again = following(record, call.schedule, boot)
            runs.append(Unfinished(folder, words, call.folder, again, call.configured))
    return runs


@contextlib.contextmanager
def lock(home: Home) -> Iterator[None]:
    """Locks the home: two runs would build in the same place and disturb each other's measurements."""
    with held(
        home.root / "lock",
        lambda process: f"another burnish (process {process}) is running in this home; wait for it or stop it",
    ):
        yield
