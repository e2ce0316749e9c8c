"""The verb that follows a running study from another terminal."""

from __future__ import annotations

import time
from contextlib import closing, suppress
from dataclasses import asdict, replace
from pathlib import Path

from rich.live import Live as Screen
from rich.text import Text

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.cli import options as o
from burnish.cli.common import out, print_document, print_json, verb
from burnish.cli.declaration import Option
from burnish.record import live
from burnish.record.events.study import StudyFinished
from burnish.record.record import Record
from burnish.report.answer import board as report
from burnish.report.document import Document
from burnish.report.render import terminal
from burnish.study.kept import runs as studies
from burnish.study.trials.board import BoardRow, board

EVERY_S = 3.0
"""Seconds between two looks on a terminal: each takes some CPU time, on a host that is being measured."""

PLAIN_EVERY_S = 20.0
"""The same where the output is not a terminal."""

ONCE = Option(
    "once", ("--once",), "Print the state once and stop.", common=True, panel="Output",
)  # fmt: skip


@verb("watch", replace(o.KEPT_RUN, unset="the newest unfinished one"), ONCE, o.JSON, example="burnish watch")
def watch(run: str | None, once: bool, as_json: bool) -> None:
    """Follow a running study from another terminal.

    It shows the step, the throughput of both sides and the cells as they fill in. It only reads, and ends with the run.
    On a busy host each look takes a little CPU time from what is measured.
    """
    folder = _folder(run)
    if as_json:
        now, rows, finished = _state(folder)
        state = asdict(now) | {"running": now.running} if now else None
        cells = [asdict(row) for row in rows]
        print_json("watch", {"run": folder.name, "finished": finished, "now": state, "cells": cells})
    elif once:
        print_document(_document(folder)[0])
    elif out.is_terminal:
        _on_terminal(folder)
    else:
        _plainly(folder)


def _folder(run: str | None) -> Path:
    """The folder of the named run, or of the newest that is not finished.

    Raises:
        UserError: every run is finished.
    """
    home = paths.home()
    if run is not None:
        return studies.find(home, run)
    unfinished = [folder for folder in studies.folders(home) if _is_open(folder)]
    if not unfinished:
        raise UserError("watch: no run is going on in this home; `burnish runs` lists those that are kept")
    return next((folder for folder in reversed(unfinished) if _is_running(folder)), unfinished[-1])


def _is_open(folder: Path) -> bool:
    """Whether a run of this machine is not finished."""
    with suppress(UserError), closing(Record(folder)) as record:
        return studies.is_unfinished(record)
    return True  # what is wrong with its record is said when it is read


def _is_running(folder: Path) -> bool:
    now = live.read(folder)
    return now is not None and now.running


def _state(folder: Path) -> tuple[live.Live | None, tuple[BoardRow, ...], bool]:
    """What the run is doing now, its cells, whether it is finished."""
    with closing(Record(folder)) as record:
        return live.read(folder), board(record), record.last(StudyFinished) is not None


def _document(folder: Path) -> tuple[Document, bool]:
    """The run's state as a document, and whether it goes on."""
    now, rows, finished = _state(folder)
    most = max(4, out.height - 8) if out.is_terminal else report.MOST
    going = not finished and now is not None and now.running
    return report.document(folder.name, now, rows, finished=finished, most=most), going


def _on_terminal(folder: Path) -> None:
    """Draws the state anew every few seconds, until the run ends."""
    with Screen(console=out, auto_refresh=False, transient=False) as screen:
        while True:
            document, going = _document(folder)
            text = Text("\n").join(terminal.styled(line) for line in terminal.lines(document, out.width))
            screen.update(text, refresh=True)
            if not going:
                return
            time.sleep(EVERY_S)


def _plainly(folder: Path) -> None:
    """Prints the state whenever it has changed, until the run ends."""
    before: tuple[object, ...] = ()
    while True:
        now, rows, _ = _state(folder)
        document, going = _document(folder)
        state = (now.step if now else "", rows, going)
        if state != before:
            print_document(document)
            before = state
        if not going:
            return
        time.sleep(PLAIN_EVERY_S)
