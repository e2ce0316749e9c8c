"""A series of patches as its record has it; a pure function of the events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from burnish.record.by_type import ByType
from burnish.record.events.builds import BuildMade
from burnish.record.events.patches import BuildExplained, SeriesRead, TwinFound


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


def patched(by: ByType) -> Patched | None:
    """From a record's events; None where the study is about no patches."""
    series = by.last(SeriesRead)
    if series is None:
        return None
    explained = {(each.variant, each.workload): each for each in by.of(BuildExplained)}
    return Patched(
        recipe=series.recipe,
        members=tuple(asdict(each) for each in series.members),
        builds=tuple(asdict(each) for each in series.builds),
        left_out=tuple((each.patch, each.kind, each.why) for each in series.left_out),
        twins={each.variant: each.of for each in by.of(TwinFound)},
        # Of replicates the first: the others differ in their link alone, so that the cache has all of their objects.
        compiled={each.build.variant: _compiled(each.about) for each in reversed(by.of(BuildMade))},
        symbols=tuple(_explained(each) for each in explained.values()),
    )


def _explained(found: BuildExplained) -> dict[str, Any]:
    """What samples of a build say, or why there are none."""
    said = ("failure",) if found.failure is not None else ("study", "unit", "cpu", "functions")
    values = asdict(found)
    return {name: values[name] for name in ("variant", "workload", *said)}


def _compiled(about: Mapping[str, Any]) -> tuple[int, int]:
    """(objects compiled, all objects) when a build was made; without a compiler cache all of them."""
    cache = about.get("cache")
    if cache is None:
        return about.get("objects", 0), about.get("objects", 0)
    return cache["misses"] + cache["passed"], sum(cache[name] for name in ("hits", "misses", "passed"))
