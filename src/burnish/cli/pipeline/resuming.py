"""The verb that resumes runs by their own commands: interrupted ones, and those whose next sitting is due."""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from burnish.base import paths
from burnish.base.errors import HostError, InfrastructureError, UserError, unknown
from burnish.bench.host import boot_now
from burnish.cli import options as o
from burnish.cli.common import app, errors, line, program, progress, say, verb
from burnish.cli.config import settings
from burnish.study.kept import runs as studies
from burnish.study.kept.runs import Unfinished


@verb(
    "resume",
    replace(o.KEPT_RUN, unset="the newest unfinished one"),
    o.DUE,
    o.YES,
    example="burnish resume --due",
    resumes=True,
)
def resume(run: str | None, due: bool, yes: bool) -> None:
    """Resume an unfinished run by the command that began it.

    With --due it resumes, one after another, every run whose next sitting is due, or whose cells that the host
    disturbed may be measured again, and does nothing else, so that it can be called from cron or a systemd timer.
    """
    unfinished = studies.unfinished(paths.home(), boot_now())
    if due and run is not None:
        raise UserError(f"--due resumes whatever is due; leave {run} out, or --due")
    if due:
        _resume_due(unfinished, yes=yes)
        return
    chosen = [one for one in unfinished if run is None or one.folder.name.startswith(run)]
    if run is not None:  # a name that others begin with, and a folder, are as exact as elsewhere
        chosen = [one for one in unfinished if run in (one.folder.name, str(one.folder))] or chosen
        chosen = chosen or [one for one in unfinished if one.folder == Path(run).resolve()]
    if not unfinished and run is None:
        raise UserError("no unfinished run here; `burnish runs` lists the runs")
    if not chosen:
        raise _not_unfinished(run or "", unfinished)
    _go_on(chosen[-1], yes=yes)


def _not_unfinished(run: str, unfinished: Sequence[Unfinished]) -> UserError:
    """The error for a run that can't be resumed: it is finished, or there is no unfinished one of that name."""
    folders = studies.folders(paths.home())
    place = Path(run).resolve()
    folder = next((folder for folder in folders if folder.name == run or folder.resolve() == place), None)
    if folder is not None and studies.is_finished(folder):
        return UserError(f"{run}: is finished; `burnish show {shlex.quote(run)}` has its result")
    return unknown("unfinished run", run, [one.folder.name for one in unfinished], "burnish runs")


def _resume_due(unfinished: list[Unfinished], *, yes: bool) -> None:
    """Resumes every run whose next sitting is due; one that fails does not keep the others from it."""
    failed = 0
    # What a resumed run prints may be JSON, so that standard output must have nothing else.
    waits = say if any(one.following and one.following.due <= time.time() for one in unfinished) else line
    for one in unfinished:
        if one.following is None:
            continue
        if one.following.due > time.time():
            waits(f"{one.folder.name}: {one.following.words}")
            continue
        try:
            _go_on(one, yes=yes)
        except (UserError, InfrastructureError, HostError) as error:
            text = str(error) if isinstance(error, UserError) else error.explain()
            errors.print(f"burnish: {one.folder.name}: {text}", markup=False, highlight=False, soft_wrap=True)
            failed = max(failed, error.exit_code)
        except typer.Exit as ended:
            failed = max(failed, ended.exit_code)
    if not any(one.following for one in unfinished):
        line("no run waits for a sitting")
    if failed:
        raise typer.Exit(failed)


def _go_on(one: Unfinished, *, yes: bool) -> None:
    """Calls the command of a run in its folder; what a settings file gave is in its words."""
    say(f"{one.folder.name}: {program.name} {shlex.join(one.command)}")
    consent = ["--yes"] if yes else []
    quiet = ["--quiet"] if progress.quiet and "--quiet" not in one.command else []
    with _as_called(one), settings.repeating(one.configured):
        words = [*consent, "--config", settings.NONE, *one.command, *quiet]
        code = app(args=words, prog_name=program.name, standalone_mode=False)
    if isinstance(code, int) and code:
        raise typer.Exit(code)


@contextlib.contextmanager
def _as_called(one: Unfinished) -> Iterator[None]:
    """The working folder and the words of the command line as they were when the run was begun."""
    words = sys.argv
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(contextlib.chdir(one.place or "."))
        except FileNotFoundError:
            raise UserError(
                f"{one.place}: the folder in which {one.folder.name} was begun is gone; make it again, or call its "
                "command"
            ) from None
        sys.argv = [words[0], *one.command]
        try:
            yield
        finally:
            sys.argv = words
