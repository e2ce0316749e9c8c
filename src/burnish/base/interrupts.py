"""Ctrl-C that is never lost.

Python raises KeyboardInterrupt wherever it is when the signal comes. In a finaliser the exception is printed and
dropped, and the run would go on as if nobody had pressed the keys. So the signal is noted too, and the next step of a
run raises it again, or the program that runs this moment; what Python would print of it is left out. While a program is
being started it is noted only (`deferred`): raised there, it would leave a program that nobody knows.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_noted = False
_lost = False
_deferring = False


def watch() -> None:
    """Notes every SIGINT from now on; leaves it alone where it is ignored, as a shell does for background jobs."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note)
        sys.unraisablehook = _dropped


def _dropped(what: UnraisableHookArgs) -> None:
    """Prints what Python had to drop, but not a SIGINT, which is noted."""
    global _lost  # noqa: PLW0603 - a process has one SIGINT
    if issubclass(what.exc_type, KeyboardInterrupt):
        _lost = True
    else:
        sys.__unraisablehook__(what)


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """While it is active, a SIGINT is noted and not raised; `check_lost` raises it."""
    global _deferring  # noqa: PLW0603 - programs are started by one thread, which is the one that signals come to
    _deferring = True
    try:
        yield
    finally:
        _deferring = False


def check() -> None:
    """Raises KeyboardInterrupt if a SIGINT came, once for each; for the beginning of a step."""
    global _noted, _lost  # noqa: PLW0603
    if _noted:
        _noted = _lost = False
        raise KeyboardInterrupt


def check_lost() -> None:
    """Raises KeyboardInterrupt if one was dropped or deferred; while any program runs, also one that cleans up."""
    if _lost:
        check()


def _note(_number: int, _frame: FrameType | None) -> None:
    global _noted, _lost  # noqa: PLW0603
    _noted = True
    if _deferring:
        _lost = True
        return
    raise KeyboardInterrupt
