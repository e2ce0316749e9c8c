"""Events of format 2 with the values of format 1, for readers that are not converted yet; goes with the last one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from burnish.model.cell import BuildId, CellId, ComparisonId
from burnish.record import upgrade
from burnish.record.codec import plain
from burnish.record.events import Event, Unknown
from burnish.record.events.study import Origin

_OLD = {new: old for old, new in upgrade.KINDS.items()}
_LEFT_OUT = ("launched", "hardware", "facts", "pair_ratios", "origin", "copy_seconds", "seed", "design")
"""Fields that are not there while they are None; others are null."""


def body_of(event: Event) -> tuple[str, dict[str, Any]]:
    """An event's kind and values as format 1 had them."""
    if isinstance(event, Unknown):
        return event.named, dict(event.body)
    kind = _OLD[event.kind()]
    values: Any = event
    body = {
        each.name: _named(value)
        for each in dataclasses.fields(values)
        if not ((value := getattr(event, each.name)) is None and each.name in _LEFT_OUT)
    }
    if isinstance(build := getattr(event, "build", None), BuildId):
        del body["build"]
        body = {"variant": build.name, **body}
    if isinstance(comparison := getattr(event, "comparison", None), ComparisonId):
        del body["comparison"]
        body = {"key": comparison.key, **body}
    if isinstance(origin := getattr(event, "origin", None), Origin):
        del body["origin"]
        body |= {"host": origin.host, "study": origin.study}
        body |= {"of_start": origin.start} if origin.start is not None else {}
        body |= {"on": origin.label} if origin.label is not None else {}
    change = _CHANGES.get(kind)
    return kind, body if change is None else change(event, body)


def _named(value: Any) -> Any:
    if isinstance(value, CellId):
        return value.name
    if isinstance(value, tuple):
        return [_named(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): _named(each) for key, each in value.items()}
    return plain(value)


def _ratios(body: dict[str, Any]) -> dict[str, Any]:
    found = body.pop("ratios")
    return {**body, **{name: found.get(name) for name in ("throughput", "capacity")}}


def _verdict(event: Any, body: dict[str, Any]) -> dict[str, Any]:
    cell: CellId = event.cell
    body = {"role": str(cell.role), "candidate": cell.label, "workload": cell.workload, **_ratios(body)}
    body["sensitivity"] = [{"name": each.name, **(plain(each.interval) or {})} for each in event.sensitivity]
    if event.kept is None:
        del body["hosts"], body["hosts_differ"]
    if not event.kept:
        del body["kept"]
    else:
        body["hosts"] = [{"interval": None, **each} for each in body["hosts"]]
    return body


def _start_done(event: Any, body: dict[str, Any]) -> dict[str, Any]:
    readings = body.pop("readings")
    body = {**body, **readings, "workload": event.cell.workload}
    if "pair_ratios" in body:
        pairs = body["pair_ratios"]
        body["pair_ratios"] = [list(each) for each in zip(pairs["capacity"], pairs["throughput"], strict=True)]
    return body


def _family(event: Any, body: dict[str, Any]) -> dict[str, Any]:
    cells = {}
    for each in event.cells:
        values = {"interval": None, **plain(each)}
        del values["cell"]
        cells[each.cell.name] = values
    return {**body, "cells": cells}


def _noise(values: dict[str, Any]) -> dict[str, Any]:
    noise = values.pop("noise")
    return {**values, **noise}


def _contest(event: Any, body: dict[str, Any]) -> dict[str, Any]:
    body["calibrations"] = [_noise(plain(each)) for each in event.calibrations]
    body["rule"] = {"precision": None, **body["rule"]}
    if event.condition is None:
        del body["condition"], body["versus"], body["replicates"]
    return body


def _table(event: Any, body: dict[str, Any]) -> dict[str, Any]:
    comparisons = []
    for each in event.comparisons:
        values = {field.name: _named(getattr(each, field.name)) for field in dataclasses.fields(each)}
        published = {"low": None, "high": None, **values["published"]} if values["published"] else None
        comparisons.append({"key": each.id.key, **values.pop("id"), **values, "published": published})
        comparisons[-1].setdefault("threads", None)
    return {**body, "comparisons": comparisons, "cut": {each.comparison.key: each.why for each in event.cut}}


def _symbols(event: Any, body: dict[str, Any]) -> dict[str, Any]:
    if event.failure is None:
        del body["failure"]
        return body
    return {name: body[name] for name in ("variant", "workload", "failure")}


def _micro(_: Any, body: dict[str, Any]) -> dict[str, Any]:
    interval = body.pop("interval") or dict.fromkeys(("ratio", "low", "high", "level"))
    return {**body, **interval}


_CHANGES: dict[str, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    "source": lambda _, body: {"kind" if name == "source_kind" else name: each for name, each in body.items()},
    "profile_facts": lambda _, body: {"kind" if name == "profile_kind" else name: each for name, each in body.items()},
    "verdict": _verdict,
    "start_done": _start_done,
    "family": _family,
    "calibration": lambda event, _: {"calibration": _noise(plain(event.calibration))},
    "contest": _contest,
    "shipped": _table,
    "series": lambda event, body: {**body, "left_out": [[each.patch, each.kind, each.why] for each in event.left_out]},
    "symbols": _symbols,
    "measured": lambda event, body: body if event.hosts else {k: v for k, v in body.items() if k != "hosts"},
    "robust": lambda event, body: body if event.on else {k: v for k, v in body.items() if k != "on"},
    "micro_outcome": _micro,
}
