"""The run whose build is meant where none is named."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from burnish.base.errors import UserError, unknown
from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.record.events.builds import BuildMade
from burnish.record.events.study import StudyBegun, StudyFinished
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.study.kept import runs


@dataclass(frozen=True)
class _Judged:
    """What a run built and judged.

    Attributes:
        names: its variants with a build; none if it has no verdict.
        baseline: the one that the others are compared with.
        finished: whether it is at its end.
    """

    names: frozenset[str] = frozenset()
    baseline: str = ""
    finished: bool = False


def with_build(home: Home, variant: str | None) -> Path:
    """The folder of the newest finished run that built and judged this variant; without a name, any but its baseline.

    Comparisons of existing programs are newer as often as not (`burnish verify --measure` makes one), and have no
    build. Where no such run is finished, it is the newest that is not.

    Raises:
        UserError: there is none; of a name, with the nearest one that there is.
    """
    known: set[str] = set()
    unfinished = None
    for folder in runs.by_writing(runs.folders(home)):
        judged = _judged(folder)
        known |= judged.names
        if variant not in judged.names if variant else not judged.names - {judged.baseline}:
            continue
        if judged.finished:
            return folder
        unfinished = unfinished or folder
    if unfinished is not None:
        return unfinished
    if variant and known:
        raise unknown("variant", variant, known)
    raise UserError(
        f"{home.studies}: no run built and measured a variant; `burnish runs` lists what there is, "
        f"`burnish tune {load.example()}` makes one"
    )


def _judged(folder: Path) -> _Judged:
    with contextlib.suppress(UserError), contextlib.closing(Record(folder)) as record:
        if record.last(VerdictReached) is None:
            return _Judged()
        begun = record.last(StudyBegun)
        asked = begun.event.definition["variants"] if begun else ()
        names = frozenset(made.event.build.variant for made in record.events(BuildMade))
        return _Judged(names, next(iter(asked), ""), record.last(StudyFinished) is not None)
    return _Judged()
