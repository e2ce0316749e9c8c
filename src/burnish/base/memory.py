"""What Python's collector of cyclic garbage need not look at."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lasting() -> Iterator[None]:
    """What is made within lasts until the process ends, so that the collector does not look for garbage in it.

    It would at every some thousand new values, again and again through all that are there: half of the time in which a
    large record is read.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
