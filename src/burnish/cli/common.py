"""What the verbs share: the application, how a verb is added to it, and how results are printed."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, cast

import typer
from rich.console import Console

from burnish import __version__
from burnish.base import paths
from burnish.cli import help as pages
from burnish.cli.binding import VerbGroup, command
from burnish.cli.declaration import Argument, Option, Verb
from burnish.record.record import Record
from burnish.report.contents import document
from burnish.report.document import Document
from burnish.report.fold import fold
from burnish.report.render import json as renderer
from burnish.report.render import terminal
from burnish.report.result import Result
from burnish.report.sections import plan as plan_report
from burnish.report.values import runs as values
from burnish.study import runner
from burnish.study.kept import runs as studies
from burnish.study.planning.plan import Plan
from burnish.study.planning.study_plan import plan_of, steps_of
from burnish.study.request.options import Ask, Options
from burnish.study.request.selection import Asked, by_name
from burnish.study.study import Study

ABOUT = "Finds, and proves, the fastest way to build a database server for a workload."

SCHEMA = 1
"""Version of what --json prints; a field that goes or changes its meaning raises it, a new one does not."""

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
) -> None:
    if show_version:
        sys.stdout.write(f"burnish {__version__}\n")
        raise typer.Exit
    _needs_a_verb(ctx)


def _needs_a_verb(ctx: typer.Context) -> None:
    """Without a verb there is only help, and nothing was done."""
    if ctx.invoked_subcommand is None and not ctx.resilient_parsing:
        typer.echo(ctx.get_help())
        raise typer.Exit(2)


def group(name: str, about: str, example: str) -> typer.Typer:
    """A group of verbs, as `burnish record` is one."""
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
        name: as it is typed.
        declared: its arguments and options, in the order of its help.
        example: a call of it.
        of: the group that it belongs to.
        resumes: whether the same command takes up work that was interrupted.
        hidden: whether lists of verbs leave it out.
        refuses: options of other verbs that the study's constructor refuses with its reason.
    """
    arguments = tuple(item for item in declared if isinstance(item, Argument))
    options = tuple(item for item in declared if isinstance(item, Option))

    def add(function: _Function) -> _Function:
        about = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(function.__doc__ or ""))  # a paragraph, a line
        declaration = Verb(
            name, about, arguments, options, example, resumes=resumes, hidden=hidden, refused=tuple(refuses)
        )
        command(of, declaration, function, _quieten)
        return function

    return add


def _quieten(quiet: bool) -> None:
    progress.quiet = quiet


def asker() -> Ask | None:
    """How to ask a person; None when nobody is there to answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return lambda question: typer.confirm(question, err=True)


def say(text: str) -> None:
    """A line about what was done, on stderr."""
    progress.print(text, markup=False, highlight=False, soft_wrap=True)


def line(text: str = "") -> None:
    """A line of a result, which stays one line however narrow the terminal is."""
    out.print(text, markup=False, highlight=False, soft_wrap=True)


def run_named(name: str | None) -> Path:
    """The folder of the run that is meant; says which one where the name could mean several."""
    home = paths.home()
    folder = studies.find(home, name)
    several = len(studies.beginning(studies.folders(home), name)) if name and folder.name != name else 0
    if several > 1 and name != str(folder):
        say(f"{name}: {folder.name}, the newest finished of {several} runs whose names begin so")
    return folder


def result_of(folder: Path) -> Result:
    """What a run's record says."""
    with closing(Record(folder)) as record:
        return fold(record.every())


def finish(folder: Path, as_json: bool) -> None:
    """Prints what a run came to; ends with 1 where nothing could be measured."""
    result = result_of(folder)
    print_result(result, as_json)
    if result.nothing_measured:
        raise typer.Exit(1)


def measure(study: Study, options: Options, as_json: bool, dry_run: bool) -> None:
    """Runs a study and prints what it came to, or prints only its plan."""
    home = paths.home()
    if dry_run:
        print_plan(steps_of(home, study, plan_of(home, study, by_name(study, Asked()), options), options), as_json)
    else:
        finish(runner.run(home, study, options, progress, asker()), as_json)


@dataclass
class Program:
    """The program as it was called, which `burnish.cli.main` knows."""

    name: str = "burnish"


program = Program()


def print_document(content: Document) -> None:
    """A document for people, who can copy the calls of Burnish that it names."""
    terminal.show(_as_typed(content), out)


_T = TypeVar("_T")


def _as_typed(value: _T) -> _T:
    """A part of a document with the program's name as it was typed in the calls that it has."""
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


def print_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """A value for machines; an object has the version of its form."""
    sys.stdout.write(renderer.text({"schema": SCHEMA, **value} if isinstance(value, Mapping) else value))


def print_plan(plan: Plan, as_json: bool) -> None:
    """As a table for people or as JSON."""
    if as_json:
        print_json(plan.as_dict())
    else:
        print_document(plan_report.document(plan))


def print_result(result: Result, as_json: bool) -> None:
    """As tables for people or as JSON."""
    if as_json:
        print_json(values.run(result))
    else:
        print_document(document(result))
