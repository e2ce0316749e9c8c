"""What the verbs share: the application, how verbs are added to it, and how results are printed."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, cast

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from burnish import __version__
from burnish.base import paths
from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.cli import help as pages
from burnish.cli.binding import VerbGroup, command
from burnish.cli.config import settings
from burnish.cli.declaration import Argument, Option, Verb
from burnish.hosts.host import chosen_of
from burnish.record import exchange
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.record import Record
from burnish.report.analysis.taken import taken
from burnish.report.answer import board as board_report
from burnish.report.answer.around import Around
from burnish.report.contents import answer, document
from burnish.report.document import Document
from burnish.report.fold import fold
from burnish.report.render import json as renderer
from burnish.report.render import terminal
from burnish.report.result import Result
from burnish.report.sections import plan as plan_report
from burnish.report.values import runs as values
from burnish.report.values.documents import form
from burnish.report.words import visible
from burnish.study import runner
from burnish.study.kept import runs as studies
from burnish.study.kept.programs import program_of
from burnish.study.planning.plan import Plan
from burnish.study.planning.study_plan import plan_of, steps_of
from burnish.study.request.options import Ask, Options
from burnish.study.request.selection import Asked, by_name
from burnish.study.study import Study
from burnish.study.trials.board import BoardRow

ABOUT = "Finds, and proves, the fastest way to build a database server for a workload."

_Function = Callable[..., None]

app = typer.Typer(
    name="burnish",
    cls=VerbGroup,
    help=ABOUT,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
out = Console()
progress = Console(stderr=True)
errors = Console(stderr=True)


@app.callback(invoke_without_command=True, help=ABOUT)
def _program_options(
    ctx: typer.Context,
    show_version: bool = typer.Option(False, "--version", "-V", help="Print the version."),
    yes: bool = typer.Option(False, "--yes", "-y", hidden=True),  # noqa: ARG001 - for the verb, from the context
    config: str | None = typer.Option(None, "--config", hidden=True),  # noqa: ARG001 - the same
) -> None:
    if show_version:
        sys.stdout.write(f"burnish {__version__}\n")
        raise typer.Exit
    _needs_a_verb(ctx)


def _needs_a_verb(ctx: typer.Context) -> None:
    """Prints help and exits with 2 if no verb is given."""
    if ctx.invoked_subcommand is None and not ctx.resilient_parsing:
        typer.echo(ctx.get_help())
        raise typer.Exit(2)


def group(name: str, about: str, example: str) -> typer.Typer:
    """Adds a group of verbs, such as `burnish record`."""
    verbs = typer.Typer(cls=VerbGroup, rich_markup_mode=None)
    verbs.callback(invoke_without_command=True, help=about)(_needs_a_verb)
    app.add_typer(verbs, name=name, help=about, epilog=example)
    return verbs


def verb(
    name: str,
    *declared: Argument | Option,
    example: str,
    of: typer.Typer = app,
    resumes: bool = False,
    hidden: bool = False,
    refuses: Sequence[Option] = (),
) -> Callable[[_Function], _Function]:
    """Makes a function a verb; its docstring is the verb's help (see `burnish.cli.binding`).

    Args:
        name: the verb's name on the command line.
        declared: its arguments and options, in the order of its help.
        example: a call of it.
        of: the group to which it belongs.
        resumes: whether the same command resumes interrupted work.
        hidden: whether lists of verbs leave it out.
        refuses: options of other verbs that the study's constructor refuses with its reason.
    """
    arguments = tuple(item for item in declared if isinstance(item, Argument))
    options = tuple(item for item in declared if isinstance(item, Option))

    def add(function: _Function) -> _Function:
        about = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(function.__doc__ or ""))  # one line for each paragraph
        declaration = Verb(
            name, about, arguments, options, example, resumes=resumes, hidden=hidden, refused=tuple(refuses)
        )
        command(of, declaration, function, _quieten)
        return function

    return add


def _quieten(quiet: bool) -> None:
    progress.quiet = quiet


def asker() -> Ask | None:
    """A function that asks the user a question; None if the session is not interactive."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return lambda question: typer.confirm(question, err=True)


def say(text: str) -> None:
    """Prints a line about what was done, on stderr."""
    progress.print(visible(text), markup=False, highlight=False, soft_wrap=True)


def line(text: str = "") -> None:
    """Prints a line of a result, which is never wrapped."""
    out.print(text, markup=False, highlight=False, soft_wrap=True)


def run_named(name: str | None) -> Path:
    """The folder of the named run; if several match, prints which one was chosen."""
    home = paths.home()
    folder = studies.find(home, name)
    several = len(studies.beginning(studies.folders(home), name)) if name and folder.name != name else 0
    if several > 1 and name != str(folder):
        say(f"{name}: {folder.name}, the newest finished of {several} runs whose names begin so")
    return folder


def result_of(folder: Path) -> Result:
    """The result of a run, from its record."""
    with closing(Record(folder)) as record:
        return fold(record.every())


def finish(folder: Path, as_json: bool, *, full: bool) -> None:
    """Prints a run's result; exits with 1 if nothing could be measured."""
    result = result_of(folder)
    print_result(result, as_json, folder, full=full)
    if result.nothing_measured:
        raise typer.Exit(1)


def measure(study: Study, options: Options, as_json: bool, dry_run: bool, *, full: bool = False) -> None:
    """Runs a study and prints its result, with `full` all of it; with `dry_run`, prints only its plan."""
    home = paths.home()
    if dry_run:
        print_plan(steps_of(home, study, plan_of(home, study, by_name(study, Asked()), options), options), as_json)
    else:
        for folder in measured(home, study, options):
            finish(folder, as_json, full=full)


def measured(home: Home, study: Study, options: Options, asked: Asked | None = None) -> list[Path]:
    """Runs a study here, or on the hosts that are named; returns the folders of what came of it.

    Where this process works for others, it does its part instead, and does not return.
    """
    from burnish.hosts import part  # noqa: PLC0415 - only what measures needs it
    from burnish.hosts import run as on_hosts  # noqa: PLC0415

    part.take(home, study, options, asked)
    if options.on_hosts:
        return on_hosts.run(home, study, options, chosen_of(options.on_hosts), progress)
    return [runner.run(home, study, options, progress, asker(), asked, draw=draw_board)]


def draw_board(rows: Sequence[BoardRow]) -> RenderableType:
    """The cells of a running study, as many as the terminal has room for below the current step."""
    document = Document("board", (board_report.cells(rows, max(2, progress.height - 8)),))
    return Text("\n").join(terminal.styled(line) for line in terminal.lines(document, progress.width - 4))


@dataclass
class Program:
    """The program's name as the user typed it; set by `burnish.cli.main`."""

    name: str = "burnish"


program = Program()


def print_document(content: Document) -> None:
    """Prints a document, with its example commands as the user can type them."""
    terminal.show(_as_typed(content), out)


_T = TypeVar("_T")


def _as_typed(value: _T) -> _T:
    """A part of a document, with the program's name in its example commands as the user typed it."""
    result: Any = value
    if program.name == "burnish" or isinstance(value, Enum):
        return value
    if isinstance(value, str):
        result = pages.as_typed(value, program.name)
    elif isinstance(value, tuple):
        result = tuple(_as_typed(part) for part in value)
    elif is_dataclass(value) and not isinstance(value, type):
        result = replace(value, **{field.name: _as_typed(getattr(value, field.name)) for field in fields(value)})
    return cast(_T, result)


def print_json(name: str, values: Mapping[str, Any] | Sequence[Any]) -> None:
    """Prints the document of this name (`burnish.report.values.documents`) as JSON.

    It gets the version of its form, and what a settings file gave to the call.
    """
    configured = settings.call.configured
    about = {"config": asdict(configured)} if configured is not None else {}
    sys.stdout.write(renderer.text(form(name, values) | about))


def print_plan(plan: Plan, as_json: bool) -> None:
    """Prints a plan as a table or as JSON."""
    if as_json:
        print_json("plan", plan.as_dict())
    else:
        print_document(plan_report.document(plan))


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
        print_document(document(result))
    else:
        print_document(answer(result, around(result, place)))


def around(result: Result, place: Path) -> Around:
    """What the short report needs beside a result: the recommended program's file, and which verbs there are."""
    verbs = {command.name for command in app.registered_commands if command.name}
    if load.engine(result.engine).packaging is None:
        verbs -= {"install", "package"}
    take = taken(result)
    program = program_of(paths.home(), result.engine, take, _events(place)) if take is not None else None
    named = result.name if place.is_dir() else str(place)
    if program is None:
        return Around(named, verbs=verbs)
    return Around(named, str(program), program.stat().st_size, verbs)


def _events(place: Path) -> Sequence[Recorded[Event]]:
    """The events of a run's folder or of an exported record."""
    if not place.is_dir():
        return exchange.read_events(place)
    with closing(Record(place)) as record:
        return list(record.events(BuildMade, ProgramFound))
