"""What the verbs share: the application, how verbs are added to it, how results are printed. Every call imports it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

import typer
from rich.console import Console

from burnish import __version__
from burnish.base.visible import visible
from burnish.cli import help as pages
from burnish.cli.binding import VerbGroup, command
from burnish.cli.config import settings
from burnish.cli.declaration import Argument, Option, Verb

if TYPE_CHECKING:
    from burnish.report.document import Document
    from burnish.study.request.options import Ask

ABOUT = "Finds, and proves, the fastest way to build a database server for a workload."

_Function = Callable[..., None]


class Verbs(Mapping[str, Any]):
    """The commands of the whole command line by name; one is imported and made when it is first taken."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            place, _ = pages.VERBS[name]
            import_module(f"burnish.cli.{place}")
            # typer makes the commands of a whole application at once; this one has the wanted one alone.
            alone = typer.Typer(rich_markup_mode=None)
            alone.registered_commands = [known for known in app.registered_commands if known.name == name]
            alone.registered_groups = [known for known in app.registered_groups if known.name == name]
            self._made[name] = typer.main.get_group(alone).commands[name]
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(pages.VERBS)

    def __len__(self) -> int:
        return len(pages.VERBS)


class Whole(VerbGroup):
    """The whole command line."""

    def __init__(self, **words: Any) -> None:
        super().__init__(**words)
        self.commands = cast(Any, Verbs())


app = typer.Typer(
    name="burnish",
    cls=Whole,
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
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):  # None: it is closed
        return None
    return lambda question: typer.confirm(question, err=True)


def say(text: str) -> None:
    """Prints a line about what was done, on stderr."""
    progress.print(visible(text), markup=False, highlight=False, soft_wrap=True)


def line(text: str = "") -> None:
    """Prints a line of a result, which is never wrapped."""
    out.print(text, markup=False, highlight=False, soft_wrap=True)


@dataclass
class Program:
    """The program's name as the user typed it; set by `burnish.cli.main`."""

    name: str = "burnish"


program = Program()


def print_document(content: Document, *, full: bool = False) -> None:
    """Prints a document, with its details if `full`, and its example commands as the user can type them."""
    from burnish.report.render import terminal

    terminal.show(_as_typed(content), out, full=full)


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
    from burnish.report.render import json as renderer
    from burnish.report.values.documents import form

    configured = settings.call.configured
    about = {"config": asdict(configured)} if configured is not None else {}
    sys.stdout.write(renderer.text(form(name, values) | about))
