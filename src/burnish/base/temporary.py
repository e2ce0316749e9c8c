"""Short-lived files: all of a run's in one folder, which goes with the run however that ends.

A file with a random name in ``/tmp`` stays there for ever when the program that made it is killed: ours, and those of
the compilers that we started. So there is one folder for each run, which bears its mark: it is removed at the end, by
the warden if the run is killed, by the next run if the warden is killed too. Programs get it as ``TMPDIR``.
"""

from __future__ import annotations

import atexit
import os
from pathlib import Path

from burnish.base import process, storage, warden

VARIABLE = "TMPDIR"

_SHORT = Path("/tmp")  # noqa: S108 - the folder in it is private

_made: list[Path] = []


def base() -> Path:
    """The folder that short-lived files of all programs are in.

    Not `tempfile.gettempdir`: it tries folders out by writing a file into each, which stays if it is killed then.
    """
    names = (*(os.environ.get(name, "") for name in (VARIABLE, "TEMP", "TMP")), "/tmp", "/var/tmp")  # noqa: S108
    usable = (name for name in names if name and os.path.isdir(name) and os.access(name, os.W_OK | os.X_OK))  # noqa: PTH112
    return Path(next(usable, str(Path.cwd()))).absolute()


def folder() -> Path:
    """This run's folder, private to the user; made when it is first asked for."""
    return _in(base())


def short_folder() -> Path:
    """This run's folder in ``/tmp``, wherever other files are: for a socket, whose whole name has at most 107 bytes."""
    return _in(_SHORT)


def _in(parent: Path) -> Path:
    place = parent / storage.name()
    if not place.is_dir():
        process.watch_folder(place.parent)
        place.mkdir(mode=0o700)
        if not _made:
            atexit.register(_remove, os.getpid())
        _made.append(place)
    return place


def sweep() -> list[str]:
    """Removes the folders of runs that no longer exist; returns their paths."""
    return [path for place in dict.fromkeys((base(), _SHORT)) for path in storage.sweep(place)]


def _remove(owner: int) -> None:
    if os.getpid() == owner:  # not in a fork of it
        for place in _made:
            warden.remove_store(str(place))
