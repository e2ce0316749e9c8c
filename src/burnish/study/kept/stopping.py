"""How a study ends when the host lets it down: one line about the host, one about what is kept."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from burnish.base.errors import OF_THE_HOST, HostError, UserError
from burnish.base.paths import Home
from burnish.record.events import Event
from burnish.record.events.builds import BuildMade, DatasetMade, GateRun
from burnish.record.events.trials import StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.study.kept import runs as studies
from burnish.study.request.definition import Definition

_COUNTED: tuple[tuple[type[Event], str], ...] = (
    (BuildMade, "build"),
    (DatasetMade, "data set"),
    (GateRun, "test run"),
    (StartDone, "start"),
    (VerdictReached, "verdict"),
)


@contextlib.contextmanager
def reporting_what_is_kept(home: Home, definition: Definition) -> Iterator[None]:
    """Ends with a `HostError` that says what is kept, where the host can't be written or has no more of something.

    Args:
        home: where the study runs.
        definition: what is asked.
    """
    try:
        yield
    except HostError as error:
        raise HostError(str(error), kept=_kept(home, definition)) from None
    except OSError as error:
        if error.errno not in OF_THE_HOST:
            raise
        what = f"{error.filename or home.root}: {error.strerror}"
        raise HostError(what, kept=_kept(home, definition)) from None
    except sqlite3.OperationalError as error:
        raise HostError(f"{home.root}: {error}", kept=_kept(home, definition)) from None


def _kept(home: Home, definition: Definition) -> str:
    """What the unfinished run of this definition has, and what to do, in a sentence."""
    go_on = "once that is put right, the same command goes on"
    try:
        with studies.open_record(home, definition) as record:
            if record is None:
                return f"nothing was begun yet; {go_on}"
            return f"{_counted(record)} of {record.folder.name}; {go_on}"
    except (HostError, UserError, OSError, sqlite3.Error):  # the disk can't even be read
        return f"what was finished; {go_on}"


def _counted(record: Record) -> str:
    """How many builds, starts and so on a record has."""
    parts = []
    for kind, noun in _COUNTED:
        different = {
            repr([getattr(recorded.event, name, None) for name in ("build", "workload", "cell", "start")])
            for recorded in record.events(kind)
        }
        if different:
            parts.append(f"{len(different)} {noun}{'s' if len(different) > 1 else ''}")
    return ", ".join(parts) or "the record"
