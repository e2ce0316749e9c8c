"""Servers that people ask for by name and that can't be built: what to say instead of a nearest spelling."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache

from burnish.base.errors import UserError, unknown
from burnish.catalogue.edge import ROOT, Entry, Reason, read_toml, validated


class Server(Entry):
    """A server that is no engine.

    Attributes:
        title: its name as it is written.
        nearest: the engine that comes nearest; None: none does.
        reason: why it is here.
    """

    title: str
    nearest: str | None = None
    reason: Reason


@cache
def other_servers() -> Mapping[str, Server]:
    """The servers by the names under which they are asked for."""
    path = ROOT / "other_servers.toml"
    return {name: validated(Server, value, f"{path.name}: {name}") for name, value in read_toml(path).items()}


def unknown_engine(name: str, engines: Collection[str]) -> UserError:
    """The error for an engine that is not there.

    Args:
        name: what was asked for.
        engines: the engines that a user may name.
    """
    server = other_servers().get(name.lower())
    if server is None:
        return unknown("engine", name, engines)
    instead = f"; the nearest to {server.title} is {server.nearest}" if server.nearest in engines else ""
    return UserError(f"engine {name!r}: only {' and '.join(sorted(engines))} can be built so far{instead}")
