"""Ctrl-C that is never lost.

Python raises KeyboardInterrupt wherever it is when the signal comes. In a finaliser, or in what it runs around a fork,
the exception is printed and dropped, and the run would go on as if nobody had pressed the keys. So the signal is noted
too, and the next step of a run raises it again.
"""

from __future__ import annotations

import signal
from types import FrameType

_noted = False


def watch() -> None:
    """Notes every SIGINT from now on; leaves it alone where it is ignored, as a shell does for background jobs."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note)


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
