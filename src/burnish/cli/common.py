"""What the verbs share: the application, how a verb is added to it, and how results are printed."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from burnish import __version__
from burnish.base import paths
from burnish.cli.binding import VerbGroup, command
from burnish.cli.declaration import Argument, Option, Verb
from burnish.record.record import Record
from burnish.report import plan as plan_report
from burnish.report import suites, terminal
from burnish.report.summary import Summary, summarise
from burnish.study import studies
from burnish.study.options import Ask
from burnish.study.planning.plan import Plan

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
def _whole(
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
    found = typer.Typer(cls=VerbGroup, rich_markup_mode=None)
    found.callback(invoke_without_command=True, help=about)(_needs_a_verb)
    app.add_typer(found, name=name, help=about, epilog=example)
    return found


def verb(
    name: str,
    *declared: Argument | Option,
    example: str,
    of: typer.Typer = app,
    resumes: bool = False,
    hidden: bool = False,
) -> Callable[[_Function], _Function]:
    """Makes a function a verb; its docstring is the verb's help (see `burnish.cli.binding`).

    Args:
        name: as it is typed.
        declared: its arguments and options, in the order of its help.
        example: a call of it.
        of: the group that it belongs to.
        resumes: whether the same command takes up work that was interrupted.
        hidden: whether lists of verbs leave it out.
    """
    arguments = tuple(each for each in declared if isinstance(each, Argument))
    options = tuple(each for each in declared if isinstance(each, Option))

    def add(function: _Function) -> _Function:
        about = inspect.cleandoc(function.__doc__ or "")
        made = Verb(name, about, arguments, options, example, resumes=resumes, hidden=hidden)
        command(of, made, function, _quieten)
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


def entry(name: str, prose: Sequence[str], details: Sequence[str] = (), marks: str = "") -> None:
    """One entry of a list: its name and marks, what is said of it, and the particulars, dim."""
    title = Text(name, style="bold")
    title.append(f" ({marks})" if marks else "", style="not bold")
    out.print(title)
    for text, style in (*((text, "") for text in prose), *((text, "dim") for text in details)):
        if text:
            out.print(Padding(Text(text, style=style), (0, 0, 0, 4)))


def run_named(name: str | None) -> Path:
    """The folder of the run that is meant; says which one where the name could mean several."""
    home = paths.home()
    folder = studies.find(home, name)
    several = len(studies.beginning(studies.folders(home), name)) if name and folder.name != name else 0
    if several > 1 and name != str(folder):
        say(f"{name}: {folder.name}, the newest finished of {several} runs whose names begin so")
    return folder


def summary_of(folder: Path) -> Summary:
    """What a run's record says."""
    with closing(Record(folder)) as record:
        return summarise(record.events())


def finish(folder: Path, as_json: bool) -> None:
    """Prints what a run came to; ends with 1 where nothing could be measured."""
    summary = summary_of(folder)
    print_summary(summary, as_json)
    if getattr(summary, "nothing_measured", False):
        raise typer.Exit(1)


def print_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """A value for machines; an object has the version of its form."""
    found = {"schema": SCHEMA, **value} if isinstance(value, Mapping) else value
    sys.stdout.write(json.dumps(found, indent=1, default=str) + "\n")


def print_plan(found: Plan, as_json: bool) -> None:
    """As a table for people or as JSON."""
    if as_json:
        print_json(found.as_dict())
    else:
        out.print(plan_report.render(found))


def print_summary(summary: Summary, as_json: bool) -> None:
    """As tables for people or as JSON."""
    if as_json:
        print_json(summary.as_dict() | {"suites": [whole.as_dict() for whole in suites.wholes(summary.rows)]})
    else:
        out.print(terminal.render(summary))
