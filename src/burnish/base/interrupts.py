"""Ctrl-C that is never lost.

Python raises KeyboardInterrupt wherever it is when the signal comes. In a finaliser, or in what it runs around a fork,
the exception is printed and dropped, and the run would go on as if nobody had pressed the keys. So the signal is noted
too, and the next step of a run raises it again; what Python would print of it is left out.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_noted = False


def watch() -> None:
    """Notes every SIGINT from now on; leaves it alone where it is ignored, as a shell does for background jobs."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note)
        sys.unraisablehook = _dropped


def _dropped(what: UnraisableHookArgs) -> None:
    """Prints what Python had to drop, but not a SIGINT, which is noted."""
    if not issubclass(what.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(what)


def check() -> None:
    """Raises KeyboardInterrupt if a SIGINT came, once for each."""
    global _noted  # noqa: PLW0603 - a process has one SIGINT
    if _noted:
        _noted = False
        raise KeyboardInterrupt


def _note(_number: int, _frame: FrameType | None) -> None:
    global _noted  # noqa: PLW0603
    _noted = True
    raise KeyboardInterrupt
