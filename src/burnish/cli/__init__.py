"""The command line: one module for each group of verbs, imported when one of them is called; all options are in
`burnish.cli.options`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import cast

import typer

from burnish.base import interrupts
from burnish.base.errors import OF_THE_HOST, HostError, InfrastructureError, UserError
from burnish.base.visible import visible
from burnish.cli import help as pages
from burnish.cli.binding import Interrupted
from burnish.cli.common import app, errors, program

PROGRAM_VARIABLE = "BURNISH_PROGRAM"
"""Set by a checkout's launcher: the command that the user typed."""

INTERRUPTED = 130
"""Exit code of an interrupted run, as shells report SIGINT."""

CALL_ERROR: type[Exception] = cast(type[Exception], typer.BadParameter.__mro__[2])
"""click's ClickException, the base class of all usage errors. Older versions of typer take it from click, newer
ones from their own copy; in both it is the third class in the MRO of BadParameter, which every version exports."""

_COMPLETION = ("--install-completion", "--show-completion")


def main() -> None:
    """Entry point: runs the verb; errors become a message and an exit code (see `burnish.cli.help.EXIT_CODES`)."""
    interrupts.watch()
    if sys.stderr is None:  # closed by who called
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - as long as the program runs
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
        sys.exit(_fail("standard output is closed; give it a file or /dev/null", 1, "burnish"))
    try:
        sys.exit(_run())
    finally:
        _close_output()


def _run() -> int:
    """Runs the verb; returns the exit code."""
    # Shells know the program by its plain name.
    name = pages.program(os.environ.pop(PROGRAM_VARIABLE, sys.argv[0]))
    if any(word in _COMPLETION for word in sys.argv):
        name = "burnish"
    program.name = name
    try:
        Path.cwd()
    except FileNotFoundError:
        return _fail("the current folder is gone; change to one that is there", UserError.exit_code, name)
    try:
        code = app(prog_name=name, complete_var="_BURNISH_COMPLETE", standalone_mode=False)
        sys.stdout.flush()
    except UserError as error:
        return _fail(str(error), UserError.exit_code, name)
    except (InfrastructureError, HostError) as error:
        return _fail(error.explain(), error.exit_code, name)
    except Interrupted as error:
        return _fail(str(error), INTERRUPTED, name)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", INTERRUPTED, name)
    except CALL_ERROR as error:
        return _fail(_usage(error), UserError.exit_code, name)
    except UnicodeEncodeError as error:
        wrong = error.object[error.start : error.end]
        return _fail(f"the output has {wrong!a}, which {error.encoding} cannot encode; set LC_ALL=C.UTF-8", 1, name)
    except OSError as error:
        if error.errno not in OF_THE_HOST:
            raise
        return _fail(f"{error.filename or 'standard output'}: {error.strerror}", 1, name)
    if code == INTERRUPTED:  # typer's own exit code if interrupted before any verb began
        return _fail("interrupted", INTERRUPTED, name)
    return code if isinstance(code, int) else 0


def _fail(text: str, code: int, name: str) -> int:
    errors.print(f"burnish: {visible(pages.as_typed(text, name))}", markup=False, highlight=False, soft_wrap=True)
    return code


def _usage(error: Exception) -> str:
    """A usage error in one line, with the help to read."""
    text = str(getattr(error, "format_message", error.__str__)())
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "burnish"
    return f"{text} (see `{path} --help`)"


def _close_output() -> None:
    """Flushes standard output; if that fails, the interpreter must not try again at exit and print a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
