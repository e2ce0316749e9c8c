"""The command line: verbs are declared in a module for each kind, their options in `burnish.cli.options`."""

from __future__ import annotations

import errno
import os
import sys
from typing import cast

import typer

from burnish.base.errors import InfrastructureError, UserError
from burnish.cli import (  # noqa: F401 - each registers its verbs
    catalogue,
    cleaning,
    kept,
    looking,
    measuring,
    micro,
    patch,
    profiles,
    records,
    study,
    why,
    workload,
)
from burnish.cli import help as pages
from burnish.cli.binding import Interrupted
from burnish.cli.common import app, errors, program

PROGRAM_VARIABLE = "BURNISH_PROGRAM"
"""Set by the launcher of a checkout: what the person typed."""

INTERRUPTED = 130
"""Exit code of a run that was interrupted, as a shell has it for SIGINT."""

CALL_ERROR: type[Exception] = cast(type[Exception], typer.BadParameter.__mro__[2])
"""click's ClickException, which every error in a call is. typer has had it from click, and of late from a copy of its
own; it is the second parent of the one error that typer has offered all along."""

_COMPLETION = ("--install-completion", "--show-completion")


def main() -> None:
    """Entry point: runs the verb; every error becomes words and an exit code (see `burnish.cli.help.EXIT_CODES`)."""
    try:
        sys.exit(_run())
    finally:
        _close_output()


def _run() -> int:
    """The exit code of what the command line asks for."""
    # Shells know the program by its plain name.
    name = pages.program(os.environ.pop(PROGRAM_VARIABLE, sys.argv[0]))
    if any(word in _COMPLETION for word in sys.argv):
        name = "burnish"
    program.name = name
    try:
        code = app(prog_name=name, complete_var="_BURNISH_COMPLETE", standalone_mode=False)
        sys.stdout.flush()
    except UserError as error:
        return _fail(str(error), UserError.exit_code, name)
    except InfrastructureError as error:
        return _fail(error.explain(), InfrastructureError.exit_code, name)
    except Interrupted as error:
        return _fail(str(error), INTERRUPTED, name)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", INTERRUPTED, name)
    except CALL_ERROR as error:
        return _fail(_usage(error), UserError.exit_code, name)
    except UnicodeEncodeError as error:
        wrong = error.object[error.start : error.end]
        return _fail(f"the output has {wrong!a}, which {error.encoding} has not; set LC_ALL=C.UTF-8", 1, name)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        return _fail(f"{error.filename or 'standard output'}: {error.strerror}", 1, name)
    if code == INTERRUPTED:  # typer's own word for it, before any verb had begun
        return _fail("interrupted", INTERRUPTED, name)
    return code if isinstance(code, int) else 0


def _fail(text: str, code: int, name: str) -> int:
    errors.print(f"burnish: {pages.as_typed(text, name)}", markup=False, highlight=False, soft_wrap=True)
    return code


def _usage(error: Exception) -> str:
    """A wrong call in one line, with where to read about the right one."""
    text = str(getattr(error, "format_message", error.__str__)())
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "burnish"
    return f"{text} (see `{path} --help`)"


def _close_output() -> None:
    """What can't be written to a full disk must not be tried again by the interpreter, which would say so its way."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
