"""How an engine's server is packaged, as it stands in the engine's file."""

from __future__ import annotations

from pydantic import Field

from burnish.catalogue.edge import Entry, Reason
from burnish.model.engine import Packaging, RootTrial

CLASS = r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"
"""Pattern of a class in an engine's folder: ``module:Class``."""


class _RootTrial(Entry):
    reason: Reason
    packages: tuple[str, ...]
    run_folder: str
    client: tuple[str, ...]
    prepare: str
    read: str
    first: str
    change: str
    changed: str


class PackagingEntry(Entry):
    """The table ``packaging``; see `burnish.model.engine.Packaging`."""

    reason: Reason
    class_: str = Field(alias="class", pattern=CLASS)
    package: str
    program: str
    server_package: str
    plugin_packages: tuple[str, ...] = ()
    plugin_folder: str = ""
    settings_file: str = ""
    settings_head: str = ""
    located: tuple[str, ...] = ()
    describing: frozenset[str] = frozenset()
    user: str = ""
    service: str = ""
    trial: _RootTrial | None = None

    def packaging(self, package: str) -> Packaging:
        """The entry as a value; `package` is the Python package of the engine's folder."""
        trial = RootTrial(**self.trial.model_dump()) if self.trial else None
        values = self.model_dump(exclude={"class_", "trial"})
        return Packaging(implementation=f"{package}.{self.class_}", trial=trial, **values)
