"""Burnish's home folder, private to the user."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from burnish.base.errors import UserError

HOME_VARIABLE = "BURNISH_HOME"

MARKER = ".burnish-home"
"""The file by which Burnish knows that a folder is its own, so that it may remove what is in it."""

_BEFORE_MARKERS = ("lock", "store", "studies")
"""What a home of an older Burnish is known by."""

_EMPTIED = ("downloads", "logs", "packages", "scratch", "verified", "work")
"""Folders whose content Burnish removes, of itself or when it is asked to."""


@dataclass(frozen=True)
class Home:
    """The home folder and its subfolders.

    Attributes:
        root: ``$BURNISH_HOME``, or the user's data folder for ``burnish``.
    """

    root: Path

    @property
    def store(self) -> Path:
        """Builds, profiles, datasets and step costs, shared by all studies."""
        return self.root / "store"

    @property
    def downloads(self) -> Path:
        """Verified source archives and the private apt state."""
        return self.root / "downloads"

    @property
    def studies(self) -> Path:
        """One folder for each study, with its record and its logs."""
        return self.root / "studies"

    def work(self, engine: str) -> Path:
        """The constant path at which `engine` is built: paths in objects would break ccache and .gcda."""
        return self.root / "work" / engine

    @property
    def scratch(self) -> Path:
        """Folders of running starts; emptied when a run begins."""
        return self.root / "scratch"


def home() -> Home:
    """The home folder, created if needed (mode 0700); a `UserError` if that is not possible."""
    root = _root()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{root}: cannot make Burnish's folder ({error.strerror}); name another one in {HOME_VARIABLE}"
        ) from None
    if not os.access(root, os.W_OK | os.X_OK):
        raise UserError(f"{root}: no permission to write; name another folder in {HOME_VARIABLE}")
    _mark(root)
    return Home(root.resolve())


def existing() -> Home | None:
    """The home folder for whoever only reads in it, as it lies; None if there is none, or none that can be read."""
    root = _root()
    return Home(root.resolve()) if os.access(root, os.R_OK | os.X_OK) and root.is_dir() else None


def _root() -> Path:
    named = os.environ.get(HOME_VARIABLE)
    return Path(named).expanduser() if named else Path(platformdirs.user_data_dir("burnish"))


def _mark(root: Path) -> None:
    """Marks a folder as Burnish's; a `UserError` if it has a folder of somebody else's that would be emptied.

    Other files are left alone, and may have been put there for Burnish: the certificates of a scheduler.
    """
    marker = root / MARKER
    if marker.exists():
        return
    others = [name for name in _EMPTIED if (root / name).exists()]
    if others and not any((root / name).exists() for name in _BEFORE_MARKERS):
        raise UserError(
            f"{root}: is not Burnish's, which would empty the {others[0]} in it; name a new folder in {HOME_VARIABLE}"
        )
    try:
        marker.touch()
    except OSError as error:
        raise UserError(
            f"{marker}: cannot be made ({error.strerror}); name another folder in {HOME_VARIABLE}"
        ) from None
