"""Recorded values as plain mappings, for ``--json`` and for report sections that read mappings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from burnish.model.quantity import read_for
from burnish.record.codec import plain
from burnish.record.events import Event
from burnish.record.events.builds import ProgramExamined
from burnish.record.events.bundled import ProfileInspected, SearchRound
from burnish.record.events.trials import TrialsPlanned
from burnish.record.events.verdicts import FamilyMember, HostNoise
from burnish.report.analysis.suites import SuiteTotal
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.quantities import Measured, judged
from burnish.report.result import Row
from burnish.workload.conditions import LAUNCH


def row(cell: Row) -> dict[str, Any]:
    """A cell of a run, with its quantities on the top level."""
    values = _flat(asdict(cell), cell.quantities)
    values["sides"] = plain(cell.sides)
    values["together"] = member(cell.together) if cell.together else None
    values["sensitivity"] = [{"name": other.name, **(plain(other.interval) or {})} for other in cell.sensitivity]
    return values


def table(study: StudyTable) -> dict[str, Any]:
    """The table of a bundled study; the quantities of each line are on the line's top level.

    ``means`` is there where the publication states any, so that summaries of other studies stay as they were.
    """
    values = {**asdict(study), "lines": [_line(line) for line in study.lines]}
    return values if study.means else {name: value for name, value in values.items() if name != "means"}


def _line(line: Line) -> dict[str, Any]:
    return _flat(asdict(line), line.quantities)


def _flat(values: dict[str, Any], quantities: Mapping[str, Measured]) -> dict[str, Any]:
    """The values with the field ``quantities`` replaced by the ratio of each quantity, by name, and their verdicts."""
    ratios = {name: plain(quantities[name].interval) if name in quantities else None for name in read_for(quantities)}
    return dict(
        pair
        for name, value in values.items()
        for pair in ((*ratios.items(), ("verdicts", judged(quantities))) if name == "quantities" else ((name, value),))
    )


def suite(total: SuiteTotal) -> dict[str, Any]:
    """A candidate on a suite, with its means on the top level."""
    values = asdict(total)
    means = values.pop("means")
    return {**values, **means}


def noise(host: HostNoise) -> dict[str, Any]:
    """What is known about the noise of a host, with its quantities on the top level."""
    values: dict[str, Any] = asdict(host)
    quantities = values.pop("noise")
    return {**values, **quantities}


def trials(planned: TrialsPlanned) -> dict[str, Any]:
    """What is compared and how; cells are given by name, and fields that do not apply are left out."""
    values: dict[str, Any] = plain(planned)
    values["cells"] = [cell.name for cell in planned.cells]
    values["rule"] = asdict(planned.rule)
    values["calibrations"] = [noise(host) for host in planned.calibrations]
    for side in ("condition", "versus"):
        if values.get(side):  # how a server is launched is said where it is not as usual
            values[side] = {name: value for name, value in values[side].items() if value or name not in LAUNCH}
    if planned.condition is None:
        values.pop("versus", None)
        del values["replicates"]
    else:
        values.setdefault("versus", None)
    return values


def member(verdict: FamilyMember) -> dict[str, Any]:
    """A corrected verdict without its cell, which is given beside it."""
    return {name: value for name, value in asdict(verdict).items() if name != "cell"}


def examined(program: ProgramExamined) -> dict[str, Any]:
    """Facts from the examination of a program's file."""
    values = {name: value for name, value in asdict(program).items() if name != "build"}
    return {"variant": program.build.name, **values}


def analysis(event: Event) -> dict[str, Any]:
    """An analysis recorded beside a table, with its origin (host and study) on the top level."""
    values: dict[str, Any] = plain(event)
    origin = values.pop("origin", None)
    if origin is not None:
        values |= {"host": origin["host"], "study": origin["study"]}
        values |= {"on": origin["label"]} if "label" in origin else {}
    if isinstance(event, ProfileInspected):
        values["kind"] = values.pop("profile_kind")
    if isinstance(event, SearchRound):
        values["cells"] = {role: cell.name if cell else None for role, cell in event.cells.items()}
        if not event.on:
            del values["on"]
    return values
