"""The interface to a packaged server: what it can do, and which of the distribution's plugins load into it.

It is asked of the distribution's own program and of the one that takes its place, both as they lie in an unpacked
package, so that the answers can be compared. Nothing that is installed is used or changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.base.workbench import Workbench
from burnish.model.engine import Packaging
from burnish.program.built import Built

Account = Mapping[str, Mapping[str, str]]
"""What a server can do, as it says itself: by kind of ability (``plugin``, ``variable``) its names and their values."""


@dataclass(frozen=True)
class PluginTrial:
    """One loadable plugin, tried in a server.

    Attributes:
        loaded: whether the server loaded it.
        outcome: what the server then said about it, one line for each statement: the same from two servers that treat
            the plugin alike. If it was not loaded: why.
    """

    loaded: bool
    outcome: tuple[str, ...]


@dataclass(frozen=True)
class HostSetting:
    """A setting in one of the host's own configuration files.

    Attributes:
        name: the setting's name.
        value: its value.
        file: the file.
    """

    name: str
    value: str
    file: Path


class PackagedServer(ABC):
    """Asks a packaged server of one engine.

    Attributes:
        packaging: how the distribution packages it.
    """

    def __init__(self, packaging: Packaging) -> None:
        self.packaging = packaging

    @abstractmethod
    def account(self, built: Built, settings: Path | None, place: Path, bench: Workbench) -> Account:
        """What the server can do.

        The kind ``setting`` has the default of every setting, as in force with the configuration file `settings`.

        Args:
            built: the server's program in an unpacked package.
            settings: a configuration file, as it will be packaged; None: none.
            place: private scratch folder, empty.
            bench: recorded processes.

        Raises:
            InfrastructureError: the server does not start here.
        """

    @abstractmethod
    def plugins(self, built: Built, files: Sequence[Path], place: Path, bench: Workbench) -> Mapping[str, PluginTrial]:
        """Loads each of the plugins into the server and uses it; by the plugin's file name without suffix.

        Args:
            built: the server's program in an unpacked package, with the environment in which plugins find libraries.
            files: the plugins; all in one folder.
            place: private scratch folder, empty.
            bench: recorded processes.
        """

    def overridden(self, values: Mapping[str, str], root: Path) -> list[HostSetting]:
        """What files of the host set that are read before the packaged one, which sets other values for the same.

        Args:
            values: what the packaged configuration file sets.
            root: root of the host's files.
        """
        del values, root
        return []

    @abstractmethod
    def settings_text(self, values: Mapping[str, str]) -> str:
        """A configuration file that sets these values; '' for none."""
