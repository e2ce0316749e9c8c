"""Recorded values as ``--json`` has them, and as renderers that read mappings do."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from burnish.record.codec import plain
from burnish.record.events import Event
from burnish.record.events.builds import ProgramExamined
from burnish.record.events.bundled import ProfileInspected, SearchRound
from burnish.record.events.trials import TrialsPlanned
from burnish.record.events.verdicts import FamilyMember, HostNoise, Interval


def interval(found: Interval | None) -> dict[str, float] | None:
    """A ratio with its interval."""
    return asdict(found) if found else None


def noise(found: HostNoise) -> dict[str, Any]:
    """What is known of a host, its quantities beside the rest."""
    values: dict[str, Any] = asdict(found)
    quantities = values.pop("noise")
    return {**values, **quantities}


def trials(planned: TrialsPlanned) -> dict[str, Any]:
    """What is compared and how; cells by their names. What differs by comparison is left out."""
    values: dict[str, Any] = plain(planned)
    values["cells"] = [cell.name for cell in planned.cells]
    values["rule"] = asdict(planned.rule)
    values["calibrations"] = [noise(each) for each in planned.calibrations]
    if planned.condition is None:
        values.pop("versus", None)
        del values["replicates"]
    else:
        values.setdefault("versus", None)
    return values


def member(found: FamilyMember) -> dict[str, Any]:
    """A verdict as one of several; its cell is said beside it."""
    return {name: value for name, value in asdict(found).items() if name != "cell"}


def examined(found: ProgramExamined) -> dict[str, Any]:
    """What a program's file says."""
    values = {name: value for name, value in asdict(found).items() if name != "build"}
    return {"variant": found.build.name, **values}


def analysis(found: Event) -> dict[str, Any]:
    """What was recorded beside a table; where it was seen stands beside the rest."""
    values: dict[str, Any] = plain(found)
    origin = values.pop("origin", None)
    if origin is not None:
        values |= {"host": origin["host"], "study": origin["study"]}
        values |= {"on": origin["label"]} if "label" in origin else {}
    if isinstance(found, ProfileInspected):
        values["kind"] = values.pop("profile_kind")
    if isinstance(found, SearchRound):
        values["cells"] = {role: cell.name if cell else None for role, cell in found.cells.items()}
        if not found.on:
            del values["on"]
    return values
