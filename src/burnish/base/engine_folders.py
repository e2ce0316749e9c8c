"""The folders of engines: each is a Python package with `engine.toml` beside its code.

Burnish's own engines are in `burnish.engines`. An installed package adds an engine with an entry point of the group
`burnish.engines`, whose name is the engine's and whose value is the package: ``tally = "tally_engine"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources, util
from pathlib import Path

from burnish.base.errors import UserError

FILE = "engine.toml"
"""File that identifies an engine's folder."""

GROUP = "burnish.engines"
"""Burnish's own package of engines, and the group of entry points for engines of other packages."""


@dataclass(frozen=True)
class EngineFolder:
    """The folder of an installed engine.

    Attributes:
        name: the engine's name.
        package: name of its Python package.
        path: path of the folder.
    """

    name: str
    package: str
    path: Path


@cache
def engine_folders() -> tuple[EngineFolder, ...]:
    """The installed engines' folders: Burnish's own sorted by name, then those of other packages sorted by name.

    Does not import engines.

    Raises:
        UserError: an entry point's package does not exist or has no `engine.toml`, or two engines have the same name.
    """
    own = Path(str(resources.files(GROUP)))
    paths = sorted(path.parent for path in own.glob(f"*/{FILE}"))
    # A package that is on the search path twice has its entry point twice.
    points = {(point.name, point.value): point for point in metadata.entry_points(group=GROUP)}
    seen: dict[str, EngineFolder] = {}
    for folder in (
        *(EngineFolder(path.name, f"{GROUP}.{path.name}", path) for path in paths),
        *(_of_entry_point(point) for _, point in sorted(points.items())),
    ):
        other = seen.setdefault(folder.name, folder)
        if other is not folder:
            raise UserError(
                f"two engines are called {folder.name!r}: {other.path} and {folder.path}; uninstall one of the packages"
            )
    return tuple(seen.values())


def _of_entry_point(point: metadata.EntryPoint) -> EngineFolder:
    try:
        spec = util.find_spec(point.value)
    except (ImportError, ValueError):
        spec = None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(place) / FILE).is_file():
            return EngineFolder(point.name, point.value, Path(place))
    by = f"{point.dist.name} {point.dist.version}" if point.dist else "an installed package"
    what = f"no {FILE} in package" if spec else "there is no package"
    raise UserError(
        f"the engine {point.name!r} of {by}: {what} {point.value!r}; reinstall that package, or uninstall it"
    )
