"""Well-known servers that cannot be built: better errors for their names than the nearest spelling."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache

from burnish.base.errors import UserError, unknown
from burnish.catalogue.edge import ROOT, Entry, Reason, read_toml, validated


class Server(Entry):
    """A server that is not an engine.

    Attributes:
        title: its name as usually written.
        nearest: the most similar engine, if any.
        same: whether it is that engine by another name.
        reason: why it is listed.
    """

    title: str
    nearest: str | None = None
    same: bool = False
    reason: Reason


@cache
def other_servers() -> Mapping[str, Server]:
    """The servers by the names that users may type."""
    path = ROOT / "other_servers.toml"
    return {name: validated(Server, value, f"{path.name}: {name}") for name, value in read_toml(path).items()}


def unknown_engine(name: str, engines: Collection[str]) -> UserError:
    """The error for an engine that does not exist.

    Args:
        name: the requested name.
        engines: the engines for users.
    """
    server = other_servers().get(name.lower())
    if server is None:
        return unknown("engine", name, engines)
    if server.same and server.nearest in engines:
        return UserError(f"engine {name!r}: {server.title} is called {server.nearest} here")
    instead = f"; the nearest to {server.title} is {server.nearest}" if server.nearest in engines else ""
    *most, last = sorted(engines)
    only = f"{', '.join(most)} and {last}" if most else last
    return UserError(f"engine {name!r}: only {only} can be built so far{instead}")
