"""Recorded values as ``--json`` has them, and as renderers that read mappings do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from burnish.model.quantity import BY_NAME
from burnish.record.codec import plain
from burnish.record.events import Event
from burnish.record.events.builds import ProgramExamined
from burnish.record.events.bundled import ProfileInspected, SearchRound
from burnish.record.events.trials import TrialsPlanned
from burnish.record.events.verdicts import FamilyMember, HostNoise
from burnish.report.analysis.suites import Whole
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.quantities import Measured, judged
from burnish.report.result import Row


def row(found: Row) -> dict[str, Any]:
    """A cell of a run, its quantities beside the rest."""
    values = _flat(asdict(found), found.quantities)
    values["sides"] = plain(found.sides)
    values["together"] = member(found.together) if found.together else None
    values["sensitivity"] = [{"name": other.name, **(plain(other.interval) or {})} for other in found.sensitivity]
    return values


def table(found: StudyTable) -> dict[str, Any]:
    """The table of a bundled study, its lines with their quantities beside the rest."""
    return {**asdict(found), "lines": [_line(line) for line in found.lines]}


def _line(found: Line) -> dict[str, Any]:
    return _flat(asdict(found), found.quantities)


def _flat(values: dict[str, Any], quantities: Mapping[str, Measured]) -> dict[str, Any]:
    """The values with, in the place of their quantities, each one's ratio by its name and the verdicts of their own."""
    ratios = {name: plain(quantities[name].interval) if name in quantities else None for name in BY_NAME}
    return dict(
        pair
        for name, value in values.items()
        for pair in ((*ratios.items(), ("verdicts", judged(quantities))) if name == "quantities" else ((name, value),))
    )


def whole(found: Whole) -> dict[str, Any]:
    """A candidate on a suite, its means beside the rest."""
    values = asdict(found)
    means = values.pop("means")
    return {**values, **means}


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
