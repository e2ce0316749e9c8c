"""A series of patches as its record has it; a pure function of the events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.record.record import Event


@dataclass(frozen=True)
class Patched:
    """A series of patches as its study has it.

    Attributes:
        recipe: name of the variant that every row is built by.
        members: the patches in the order in which they are applied: name, origin, reverted, sha256, needs.
        builds: what was to be built: variant, kind, patch, patches, also.
        left_out: (patch, kind, why) of what can't be built.
        twins: variants that are the same program as another, by name: measured once.
        compiled: by variant, (objects that the compiler cache did not have, all objects).
        symbols: what samples of two builds say: variant, workload, and functions or why there are none.
    """

    recipe: str
    members: tuple[Mapping[str, Any], ...]
    builds: tuple[Mapping[str, Any], ...]
    left_out: tuple[tuple[str, str, str], ...]
    twins: Mapping[str, str]
    compiled: Mapping[str, tuple[int, int]]
    symbols: tuple[Mapping[str, Any], ...]


def patched(by: Mapping[str, Sequence[Event]]) -> Patched | None:
    """From a record's events by kind; None where the study is about no patches."""
    if "series" not in by:
        return None
    told = by["series"][-1].body
    symbols = {(e.body["variant"], e.body["workload"]): e.body for e in by.get("symbols", ())}
    return Patched(
        recipe=told["recipe"],
        members=tuple(told["members"]),
        builds=tuple(told["builds"]),
        left_out=tuple((patch, kind, why) for patch, kind, why in told["left_out"]),
        twins={event.body["variant"]: event.body["of"] for event in by.get("twin", ())},
        # Of replicates the first: the others differ in their link alone, so that the cache has all of their objects.
        compiled={
            event.body["variant"].partition("#")[0]: _compiled(event.body["about"])
            for event in reversed(by.get("build", ()))
        },
        symbols=tuple(symbols.values()),
    )


def _compiled(about: Mapping[str, Any]) -> tuple[int, int]:
    """(objects compiled, all objects) when a build was made; without a compiler cache all of them."""
    cache = about.get("cache")
    if cache is None:
        return about.get("objects", 0), about.get("objects", 0)
    return cache["misses"] + cache["passed"], sum(cache[name] for name in ("hits", "misses", "passed"))
