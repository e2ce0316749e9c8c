"""Plain values of what this machine has and keeps: findings, runs, builds, profiles, everything with its size."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from burnish.bench.host import HostFacts
from burnish.profiles.inspecting import Inspection, Overlap
from burnish.record.store import Entry as Stored
from burnish.report.examination.finding import Finding
from burnish.report.sections.kept import RunLine
from burnish.study.kept.cleaning import Kept

_PROFILE = ("engine", "kind", "source", "toolchain", "training", "merged")


def findings(found: Iterable[Finding], facts: HostFacts | None = None) -> dict[str, Any]:
    """What an examination found, with the host's facts when given."""
    content: dict[str, Any] = {"findings": [asdict(finding) for finding in found]}
    return content if facts is None else content | {"host": facts.as_record()}


def runs(lines: Iterable[RunLine]) -> list[dict[str, Any]]:
    """The runs of this machine."""
    return [asdict(line) for line in lines]


def inventory(items: Iterable[Kept], doomed: Collection[Kept]) -> list[dict[str, Any]]:
    """Everything that is kept, and whether it goes."""
    return [{**vars(item), "folder": str(item.folder), "goes": item in doomed} for item in items]


def builds(found: Iterable[tuple[Stored, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Builds with the facts of their programs."""
    return [{"key": entry.key, "about": dict(entry.about), **facts} for entry, facts in found]


def profiles(entries: Sequence[tuple[str, Stored]]) -> list[dict[str, Any]]:
    """Profiles, each with its name."""
    return [
        {"name": name, "key": entry.key} | {key: entry.about.get(key) for key in _PROFILE} for name, entry in entries
    ]


def profile(found: Inspection, against: Overlap | None) -> dict[str, Any]:
    """One profile, and how like another it is."""
    return {**asdict(found), "against": asdict(against) if against else None}
