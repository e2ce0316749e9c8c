"""Short-lived files: all of a run's in one folder, which goes with the run however that ends.

A file with a random name in ``/tmp`` stays there for ever when the program that made it is killed: ours, and those of
the compilers that we started. So there is one folder for each run, which bears its mark: it is removed at the end, by
the warden if the run is killed, by the next run if the warden is killed too. Programs get it as ``TMPDIR``.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from pathlib import Path

from burnish.base import process, storage, warden

VARIABLE = "TMPDIR"

_made: list[Path] = []


def folder() -> Path:
    """This run's folder, private to the user; made when it is first asked for."""
    place = Path(tempfile.gettempdir(), storage.name())
    if not place.is_dir():
        process.watch_folder(place.parent)
        place.mkdir(mode=0o700)
        if not _made:
            atexit.register(_remove, os.getpid())
        _made.append(place)
    return place


def sweep() -> list[str]:
    """Removes the folders of runs that no longer exist; returns their paths."""
    return storage.sweep(Path(tempfile.gettempdir()))


def _remove(owner: int) -> None:
    if os.getpid() == owner:  # not in a fork of it
        for place in _made:
            warden.remove_store(str(place))
