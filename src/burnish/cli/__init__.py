"""The command line: one short function per verb, in a module for each kind of verb."""

from __future__ import annotations

import re
import sys
from typing import Annotated

import typer

from burnish import __version__
from burnish.base.errors import InfrastructureError, UserError, unknown
from burnish.cli import (  # noqa: F401 - each registers its verbs
    catalogue,
    kept,
    looking,
    measuring,
    micro,
    patch,
    plan,
    profiles,
    records,
    reproducing,
    study,
    why,
    workload,
)
from burnish.cli.common import app, progress


@app.callback(invoke_without_command=True)
def version(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Finds, and proves, the fastest way to build a database server for a workload."""
    if show_version:
        sys.stdout.write(f"burnish {__version__}\n")
        raise typer.Exit


def main() -> None:
    """Entry point: runs the verb; turns both families of error into words and exit codes."""
    try:
        app(standalone_mode=False)
    except UserError as error:
        progress.print(f"burnish: {error}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(UserError.exit_code)
    except InfrastructureError as error:
        progress.print(f"burnish: {error.explain()}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(InfrastructureError.exit_code)
    except typer.TyperException as error:
        if type(error).__name__ != "NoArgsIsHelpError":  # then the help has been printed
            progress.print(f"burnish: {_usage(error)}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        progress.print("burnish: interrupted; the same command goes on where it was")
        sys.exit(130)


def _usage(error: typer.TyperException) -> str:
    """A wrong call in one line, with the nearest verb where a verb was meant."""
    text = error.format_message()
    words = sys.argv[1:2]
    found = re.search(r"No such command '(.*?)'", text)
    context = getattr(error, "ctx", None)
    if found and context is not None:
        group = f"{context.info_name} " if context.parent else ""
        return str(unknown(f"{group}verb", found[1], context.command.list_commands(context)))
    return f"{text} (see `burnish {' '.join(words)} --help`)"
