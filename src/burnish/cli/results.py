"""Runs as several verbs have them: found by name, read, printed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import typer

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.bench.host import boot_now
from burnish.catalogue import load
from burnish.cli import help as pages
from burnish.cli.common import print_document, print_json, say
from burnish.hosts.place import read_joined
from burnish.record import exchange
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.events.study import StudyBegun
from burnish.record.record import FILE, Record
from burnish.report.analysis.taken import taken
from burnish.report.answer.around import Around
from burnish.report.contents import answer, document
from burnish.report.fold import fold
from burnish.report.result import Result
from burnish.report.values import runs as values
from burnish.study.kept import runs as studies
from burnish.study.kept.programs import key_of, program_of

_OF_KEPT = {"install", "package", "reproduce"}
"""Verbs that take a kept run by its name, and no file."""


def run_named(name: str | None) -> Path:
    """The folder of the named run; if several match, or none is named of several, prints which one was chosen."""
    home = paths.home()
    folder = studies.find(home, name)
    runs = studies.folders(home)
    if name is None and len(runs) > 1:
        say(f"{folder.name}: the newest run{' with verdicts' if studies.has_verdicts(folder) else ''}")
    several = len(studies.beginning(runs, name)) if name and folder.name != name else 0
    if several > 1 and name != str(folder):
        say(f"{name}: {folder.name}, the newest finished of {several} runs whose names begin so")
    return folder


def result_of(folder: Path) -> Result:
    """The result of a run, from its record."""
    with closing(Record(folder)) as record:
        return called(fold(record.every(turns=False)), folder)


def called(result: Result, place: Path) -> Result:
    """A result by the name that finds it: that of its folder, where it is a kept run's."""
    return replace(result, name=place.name) if place.is_dir() else result


def finish(folder: Path, as_json: bool, *, full: bool) -> None:
    """Prints a run's result; exits with 1 if nothing could be measured."""
    result = result_of(folder)
    print_result(result, as_json, folder, full=full)
    if result.nothing_measured:
        raise typer.Exit(1)


def finish_all(folders: Sequence[Path], as_json: bool, *, full: bool) -> None:
    """Prints the results of all these runs, one for each host; exits with 1 if nothing could be measured in one.

    As JSON, several are one document.
    """
    results = [result_of(folder) for folder in folders]
    if as_json and len(results) > 1:
        print_json("reports", {"runs": [values.run(result) for result in results]})
    else:
        for result, folder in zip(results, folders, strict=True):
            print_result(result, as_json, folder, full=full)
    if any(result.nothing_measured for result in results):
        raise typer.Exit(1)


def print_result(result: Result, as_json: bool, place: Path, *, full: bool) -> None:
    """Prints a result in short, as its whole report, or as JSON.

    Args:
        result: the result of a run.
        as_json: whether as JSON.
        place: the run's folder, or the exported record that it is from.
        full: whether as the whole report.
    """
    if as_json:
        print_json("run", values.run(result))
    elif full:
        print_document(document(result), full=True)
    else:
        print_document(answer(result, around(result, place)))


def around(result: Result, place: Path) -> Around:
    """What the short report needs beside a result: the recommended program's file, and which verbs there are.

    A home is read where there is one, and none is made: an exported record can be shown without.
    """
    verbs = set(pages.VERBS)
    if load.engine(result.engine).packaging is None:
        verbs -= {"install", "package"}
    take = taken(result)
    home = paths.existing()
    named = result.name if place.is_dir() else str(place)
    resumes = result.ended is None and _resumes(home, place)
    if take is None:
        return Around(named, verbs=verbs, resumes=resumes)
    events = _events(place)
    program = program_of(home, result.engine, take, events, checked=False)
    kept = result.name if place.is_dir() else _kept(home, events)
    if not kept:
        verbs -= _OF_KEPT
    if program is None:
        return Around(named, verbs=verbs, pull=_pull(home, key_of(take, events)), resumes=resumes)
    return Around(named, str(program), program.stat().st_size, verbs, resumes=resumes, kept=kept)


def _resumes(home: Home | None, place: Path) -> bool:
    """Whether a place is a run of this home that its command resumes."""
    if home is None or not place.is_dir():
        return False
    return any(one.folder.resolve() == place.resolve() for one in studies.unfinished(home, boot_now()))


def _kept(home: Home | None, events: Sequence[Recorded[Event]]) -> str:
    """The name of the run that an exported record is of; '' if that is not in this home."""
    begun = next((one.event for one in events if isinstance(one.event, StudyBegun)), None)
    if home is None or begun is None or not exchange.is_study_name(begun.name):
        return ""
    folder = home.studies / begun.name
    if (folder / FILE).is_file():
        with suppress(UserError), closing(Record(folder)) as record:
            own = next(record.events(StudyBegun), None)
            if own is not None and own.event == begun:
                return folder.name
    return ""


def _pull(home: Home | None, key: str | None) -> str:
    """The command that fetches a build from where this machine's hosts share theirs; '' if they do not."""
    joined = None if home is None else read_joined(home)
    if key is None or joined is None or joined.store is None:
        return ""
    return f"burnish store pull {key[:12]} --artefacts {shlex.quote(joined.store)}"


def _events(place: Path) -> Sequence[Recorded[Event]]:
    """The builds and programs of a run's folder or of an exported record, and how that one begins."""
    if not place.is_dir():
        return exchange.events_of(place, StudyBegun, BuildMade, ProgramFound)
    with closing(Record(place)) as record:
        return list(record.events(BuildMade, ProgramFound))
