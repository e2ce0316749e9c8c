"""A series of patches from a record; a pure function of its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from burnish.record.by_type import ByType
from burnish.record.events.builds import BuildMade
from burnish.record.events.patches import BuildExplained, SeriesRead, TwinFound


@dataclass(frozen=True)
class Patched:
    """A series of patches in a run.

    Attributes:
        recipe: name of the variant whose recipe every row is built with.
        members: the patches in the order in which they are applied: name, origin, reverted, sha256, needs.
        builds: what was to be built: variant, kind, patch, patches, also.
        left_out: (patch, kind, why) of what can't be built.
        twins: by variant, the variant that is the same program and is measured instead of it.
        compiled: by variant, (objects that the compiler cache did not have, all objects).
        symbols: samples of two builds compared: variant, workload, and functions or why there are none.
    """

    recipe: str
    members: tuple[Mapping[str, Any], ...]
    builds: tuple[Mapping[str, Any], ...]
    left_out: tuple[tuple[str, str, str], ...]
    twins: Mapping[str, str]
    compiled: Mapping[str, tuple[int, int]]
    symbols: tuple[Mapping[str, Any], ...]


def patched(by: ByType) -> Patched | None:
    """The series in a record's events; None if the study is not about patches."""
    series = by.last(SeriesRead)
    if series is None:
        return None
    explained = {(event.variant, event.workload): event for event in by.of(BuildExplained)}
    return Patched(
        recipe=series.recipe,
        members=tuple(asdict(member) for member in series.members),
        builds=tuple(asdict(build) for build in series.builds),
        left_out=tuple((omission.patch, omission.kind, omission.why) for omission in series.left_out),
        twins={twin.variant: twin.of for twin in by.of(TwinFound)},
        # The first replicate counts: the others differ only in their link, so that the cache has all of their objects.
        compiled={made.build.variant: _compiled(made.about) for made in reversed(by.of(BuildMade))},
        symbols=tuple(_explained(event) for event in explained.values()),
    )


def _explained(event: BuildExplained) -> dict[str, Any]:
    """The functions from a build's samples, or why there are none."""
    parts = ("failure",) if event.failure is not None else ("study", "unit", "cpu", "functions")
    values = asdict(event)
    return {name: values[name] for name in ("variant", "workload", *parts)}


def _compiled(about: Mapping[str, Any]) -> tuple[int, int]:
    """(objects compiled, all objects) when a build was made; without a compiler cache all were compiled."""
    cache = about.get("cache")
    if cache is None:
        return about.get("objects", 0), about.get("objects", 0)
    return cache["misses"] + cache["passed"], sum(cache[name] for name in ("hits", "misses", "passed"))
