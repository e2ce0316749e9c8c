"""Plain values of what this machine has: findings, runs, builds, profiles, everything that is kept with its size."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from burnish.artefacts.bounding import Held
from burnish.bench.host import HostFacts
from burnish.profiles.inspecting import Inspection, Overlap
from burnish.record.store import Entry as Stored
from burnish.report.examination.finding import Finding
from burnish.report.sections.kept import RunLine
from burnish.study.kept.cleaning import Kept

_PROFILE = ("engine", "kind", "source", "toolchain", "training", "merged")


def findings(items: Iterable[Finding], facts: HostFacts | None = None) -> dict[str, Any]:
    """The findings of an examination, with the host's facts if given."""
    content: dict[str, Any] = {"findings": [asdict(finding) for finding in items]}
    return content if facts is None else content | {"host": facts.as_record()}


def runs(lines: Iterable[RunLine]) -> list[dict[str, Any]]:
    """The runs of this machine."""
    return [asdict(line) for line in lines]


def inventory(items: Iterable[Kept], doomed: Collection[Kept]) -> list[dict[str, Any]]:
    """Everything that is kept, and whether it is to be removed."""
    return [{**vars(item), "folder": str(item.folder), "goes": item in doomed} for item in items]


def shared(held: Iterable[Held], usable: Collection[Held]) -> list[dict[str, Any]]:
    """What hosts share, and whether this host can use it."""
    return [{**asdict(item), "usable": item in usable} for item in held]


def builds(
    entries: Iterable[tuple[Stored, Mapping[str, Any]]], names: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """Builds with facts about their programs, and the names of the variants that they are."""
    return [
        {"key": entry.key, "variants": list(names.get(entry.key, ())), "about": dict(entry.about), **facts}
        for entry, facts in entries
    ]


def profiles(entries: Sequence[tuple[str, Stored]]) -> list[dict[str, Any]]:
    """Profiles, each with its name."""
    return [
        {"name": name, "key": entry.key} | {key: entry.about.get(key) for key in _PROFILE} for name, entry in entries
    ]


def profile(inspection: Inspection, against: Overlap | None) -> dict[str, Any]:
    """One profile, and its overlap with another."""
    return {**asdict(inspection), "against": asdict(against) if against else None}
