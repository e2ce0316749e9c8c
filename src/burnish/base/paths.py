"""Burnish's home folder, private to the user."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from burnish.base.errors import UserError

HOME_VARIABLE = "BURNISH_HOME"


@dataclass(frozen=True)
class Home:
    """The home folder and its subfolders.

    Attributes:
        root: ``$BURNISH_HOME``, or the user's data folder for ``burnish``.
    """

    root: Path

    @property
    def store(self) -> Path:
        """Builds, profiles, datasets, calibrations and step costs, shared by all studies."""
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
    named = os.environ.get(HOME_VARIABLE)
    root = Path(named).expanduser() if named else Path(platformdirs.user_data_dir("burnish"))
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{root}: cannot make Burnish's folder ({error.strerror}); name another one in {HOME_VARIABLE}"
        ) from None
    if not os.access(root, os.W_OK | os.X_OK):
        raise UserError(f"{root}: no permission to write; name another folder in {HOME_VARIABLE}")
    return Home(root.resolve())
