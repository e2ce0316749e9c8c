"""Shell completion: names from the catalogue, and of what is kept on this machine.

A completion prints nothing and never fails: for a file that can't be read it offers nothing. What it needs is imported
when a word is completed: the declarations of all options name these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.cli.declaration import Completer
from burnish.model.workload import Design, Placement

Names = Callable[[typer.Context], Iterable[str]]
"""Takes the command line so far; returns the names to choose from."""


def one(names: Names) -> Completer:
    """Completes one name."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        try:
            return sorted(name for name in set(names(context)) if name.startswith(incomplete))
        except (UserError, OSError):
            return []

    return complete


def several(names: Names) -> Completer:
    """Completes the last of several names separated by commas."""
    single = one(names)

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in single(context, last)]

    return complete


def _argument(context: typer.Context, known: Iterable[str]) -> str | None:
    """The word that is one of the known names; typer leaves words after an unfinished option unparsed."""
    words = (*context.params.values(), *context.args)
    return next((word for word in words if isinstance(word, str) and word in known), None)


def strategies(_context: typer.Context) -> Iterable[str]:
    """A search's strategies."""
    from burnish.search.asks import STRATEGIES

    return STRATEGIES


def engines(_context: typer.Context) -> Iterable[str]:
    """Engines that a user may name."""
    from burnish.catalogue import load

    return load.engine_names()


def workloads(context: typer.Context) -> Iterable[str]:
    """Loads of the named engine, or of all engines."""
    from burnish.catalogue import load

    engine = _argument(context, load.engines())
    named = (engine,) if engine else load.engine_names()
    return (name for owner, name in load.workloads() if owner in named)


def variants(context: typer.Context) -> Iterable[str]:
    """The catalogue's variants, and those of the user's own file."""
    from burnish.catalogue import load

    recipes = context.params.get("recipes")
    own = load.read_variants(Path(recipes)) if recipes else {}
    return (*load.variants(), *own)


def designs(_context: typer.Context) -> Iterable[str]:
    """Trial designs."""
    return (design.value for design in Design)


def placements(_ctx: typer.Context) -> Iterable[str]:
    """Placements of servers and clients."""
    return (placement.value for placement in Placement)


def bundled(_context: typer.Context) -> Iterable[str]:
    """Bundled studies."""
    from burnish.catalogue.bundled import files as studies

    return studies.names()


def rows(context: typer.Context) -> Iterable[str]:
    """Rows of the named bundled study."""
    from burnish.catalogue.bundled import files as studies

    name = _argument(context, studies.names())
    return (row.name for row in studies.study(name).rows) if name else ()


def runs(_context: typer.Context) -> Iterable[str]:
    """Runs on this machine."""
    from burnish.study.kept.runs import folders

    return (folder.name for folder in folders(paths.home()))


def formats(_context: typer.Context) -> Iterable[str]:
    """Kinds of packages."""
    from burnish.packages.planned import Format

    return (kind.value for kind in Format)


def builds(_context: typer.Context) -> Iterable[str]:
    """Keys of builds that are kept."""
    from burnish.record.store import Store

    return (entry.key for entry in Store(paths.home().store).entries() if entry.kind == "builds")


def profiles(_context: typer.Context) -> Iterable[str]:
    """Names of profiles, and keys of those without one."""
    from burnish.profiles import kept
    from burnish.record.store import Store

    store = Store(paths.home().store)
    entries = (entry for entry in store.entries() if entry.kind == "profiles")
    return (kept.name_of(store, entry.key) or entry.key for entry in entries)
