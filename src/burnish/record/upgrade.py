"""Older events as those of today (pure): the only place where names and sentences are taken apart.

Events of format 1 had no declared fields: a cell was a text such as ``baseline, x=1: candidate / load``, a comparison
a text such as ``series / row / reading / load / threads``, and each quantity of a verdict was a field of the verdict.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from burnish.model.cell import AA, AGAIN, Role
from burnish.model.workload import Design

Body = Mapping[str, Any]

KINDS: dict[str, str] = {
    "study": "study_begun",
    "run": "session_begun",
    "finished": "study_finished",
    "imported": "record_imported",
    "merged": "records_merged",
    "command": "command_run",
    "picture": "picture_drawn",
    "source": "source_obtained",
    "toolchains": "toolchains_found",
    "plan": "builds_planned",
    "variant_missing": "variant_missing",
    "build_failed": "build_failed",
    "stage": "stage_done",
    "profile": "profile_made",
    "build": "build_made",
    "program": "program_found",
    "evidence": "program_examined",
    "changed": "machine_code_changed",
    "difference": "programs_differ",
    "gate": "gate_run",
    "dataset": "dataset_made",
    "variant": "variant_settled",
    "tuning": "tuning_examined",
    "contest": "trials_planned",
    "start": "start_begun",
    "pair": "pair_read",
    "start_done": "start_done",
    "verdict": "verdict_reached",
    "family": "family_judged",
    "calibration": "host_calibrated",
    "different": "difference_known",
    "shipped": "table_planned",
    "tried": "comparison_tried",
    "left": "comparison_left",
    "again": "confirmation_begun",
    "measured": "figure_measured",
    "extras": "extras_done",
    "timeline": "timeline_read",
    "profile_facts": "profile_inspected",
    "robust": "search_round",
    "robust_left": "search_stopped",
    "series": "series_read",
    "twin": "twin_found",
    "symbols": "build_explained",
    "profiled": "build_sampled",
    "simulated": "build_simulated",
    "explained": "why_explained",
    "micro": "micro_begun",
    "micro_outcome": "micro_done",
}
"""Names of kinds in format 2 by their names in format 1."""

_QUANTITIES = ("capacity", "throughput")
"""The quantities of format 1."""

_RELEASE = re.compile(r"(?P<words>release(?:, .*)?) (?P<program>[0-9a-f]{8})")
"""Candidate that is a distribution's program, with the first digits of its digest."""

_WITHIN = re.compile(r"(?:faster|slower), and within ±(?P<percent>[\d.]+) %")
"""How the sentence of a verdict begins whose difference is proved to be within ±delta too: the delta, in per cent."""

_OF_A_TURN = ("seconds", "done", "server_cpu", "client_cpu")


def upgraded(kind: str, body: Body) -> tuple[str, Body]:
    """A kind and its values in format 2; unchanged for a kind that format 1 does not have.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, IndexError: the values are not those of format 1.
    """
    change = _CHANGES.get(kind)
    return KINDS.get(kind, kind), body if change is None else change(dict(body))


def completed(kind: str, body: Body) -> Body:
    """The values of an event of format 2 with the fields that it got later, as far as its others say what they hold."""
    if kind != "verdict_reached" or "within" in body:
        return body
    proved = _WITHIN.match(str(body.get("reason", "")))
    return body if proved is None else {**body, "within": float(proved["percent"]) / 100}


def cell_fields(name: str) -> dict[str, Any]:
    """The fields of a cell (`burnish.model.cell.CellId`) by its name in format 1."""
    left, _, workload = name.rpartition(" / ")
    tag, _, label = left.rpartition(": ")
    fields: dict[str, Any] = {"candidate": label, "workload": workload}
    if tag in tuple(Design):  # of a calibration: what is not A/A is known to differ, on starts of a fixed number
        role = Role.CANARY if label == AA else Role.CONFIRMATION
        return fields | {"role": str(role), "design": tag}
    if label == AA:
        fields["role"] = str(Role.CANARY)
    if tag == AGAIN:
        fields["role"] = str(Role.CONFIRMATION)
    if tag in ("", AGAIN):
        return fields
    if tag.startswith(f"{AGAIN}, "):
        fields["role"] = str(Role.CONFIRMATION)
        fields["series"], _, tag = tag.removeprefix(f"{AGAIN}, ").partition(" ")
    base, *given = tag.split(", ")
    return fields | {"base": base, "given": given} | ({} if label == AA else _label_fields(label))


def _label_fields(label: str) -> dict[str, Any]:
    """The fields that the label of a bundled study's candidate holds."""
    if label.endswith(f" {AGAIN}"):
        return {"candidate": label.removesuffix(f" {AGAIN}"), "control": True}
    fields: dict[str, Any] = {}
    if release := _RELEASE.fullmatch(label):
        label, fields["program"] = release["words"], release["program"]
    fields["candidate"], *versus = label.split(", ")
    return fields | {"versus": versus}


def comparison_fields(key: str) -> dict[str, Any]:
    """The fields of a comparison (`burnish.model.cell.ComparisonId`) by its key in format 1."""
    series, row, reading, load, threads, *test = key.split(" / ", 5)
    fields = {"series": series, "row": row, "reading": reading, "load": load}
    return fields | {"threads": int(threads) if threads else None, "test": test[0] if test else ""}


def build_fields(name: str) -> dict[str, Any]:
    """The fields of a build (`burnish.model.cell.BuildId`) by its name in format 1."""
    variant, mark, number = name.rpartition("#")
    return {"variant": variant, "replicate": int(number)} if mark and number.isdigit() else {"variant": name}


def _of_build(body: dict[str, Any]) -> Body:
    return {"build": build_fields(body.pop("variant")), **body}


def _of_comparison(body: dict[str, Any]) -> Body:
    fields = {"comparison": comparison_fields(body.pop("key")), **body}
    return {**fields, "cell": cell_fields(body["cell"])} if "cell" in body else fields


def _with_origin(body: dict[str, Any], start: bool = False) -> Body:
    """The values with an `Origin` instead of a merged record's separate fields for host, study and start."""
    host, study, own = body.pop("host", None), body.pop("study", None), body.pop("of_start", None)
    label = body.pop("on", None)
    if host is None:
        return body
    body["origin"] = {"host": host, "study": study} | ({"start": own} if start else {})
    if label is not None:
        body["origin"]["label"] = label
    return body


def _source(body: dict[str, Any]) -> Body:
    return {"source_kind" if name == "kind" else name: value for name, value in body.items()}


def _toolchains(body: dict[str, Any]) -> Body:
    toolchains = [
        {name: value for name, value in toolchain.items() if name != "gcov_tool"} for toolchain in body["found"]
    ]
    return {"found": toolchains}


def _contest(body: dict[str, Any]) -> Body:
    body["cells"] = [cell_fields(name) for name in body["cells"]]
    for word in ("condition", "versus"):
        if body.get(word) is not None:
            body[word] = {name: value for name, value in body[word].items() if name != "threads"}
    body["calibrations"] = [_noise(calibration) for calibration in body.get("calibrations", ())]
    loads = dict.fromkeys(cell["workload"] for cell in body["cells"])
    design, timing, headline = (body.pop(word, None) for word in ("design", "timing", "headline"))
    if design is not None:
        body["designs"] = dict.fromkeys(loads, design)
    if headline is not None:
        body["headlines"] = dict.fromkeys(loads, headline)
    if timing is not None:  # one for all designs
        named = {*body.get("designs", {}).values(), *(cell.get("design", "") for cell in body["cells"])} - {""}
        body["timings"] = dict.fromkeys(sorted(named), timing)
    return body


def _start(body: dict[str, Any]) -> Body:
    body["cell"] = cell_fields(body["cell"])
    if isinstance(body.get("builds"), list):  # of a `why`, whose sides had no names here
        body["builds"] = dict(zip("AB", body["builds"], strict=False))
    return _with_origin(body, start=True)


def _pair(body: dict[str, Any]) -> Body:
    body["cell"] = cell_fields(body["cell"])
    halves = body.pop("halves", None)
    if halves is not None:
        labels = list(halves[0])
        body["sides"] = {label: _total([half[label] for half in halves]) for label in labels}
        body["turns"] = {label: [[half[label][name] for name in _OF_A_TURN] for half in halves] for label in labels}
        body["places"] = len(labels)
    return _with_origin(body, start=True)


def _total(halves: list[dict[str, Any]]) -> dict[str, Any]:
    """Both turns of a side together."""
    summed = {name: sum(half[name] for half in halves) for name in (*_OF_A_TURN, "errors")}
    names = [name for name in halves[0]["latency"] if all(name in half["latency"] for half in halves)]
    latency = {
        name: (max if name == "max" else statistics.fmean)([half["latency"][name] for half in halves]) for name in names
    }
    return {**summed, "latency": latency, "cores": sorted({core for half in halves for core in half["cores"]})}


def _start_done(body: dict[str, Any]) -> Body:
    body["cell"] = cell_fields(body["cell"])
    del body["workload"]
    body["readings"] = {name: body.pop(name) for name in _QUANTITIES if name in body}
    pairs = body.pop("pair_ratios", None)
    if pairs is not None:
        body["pair_ratios"] = {name: [pair[n] for pair in pairs] for n, name in enumerate(_QUANTITIES)}
    return _with_origin(body, start=True)


def _verdict(body: dict[str, Any]) -> Body:
    body["cell"] = cell_fields(body["cell"])  # the same as in its starts, which have no more than the name
    for name in ("candidate", "workload", "role"):
        body.pop(name, None)
    body["ratios"] = {name: body.pop(name, None) for name in ("throughput", "capacity")}
    body["sensitivity"] = [_method(method) for method in body.get("sensitivity", ())]
    if "hosts" in body:
        body.setdefault("kept", False)  # of a merged record, and said there
    return {"design": str(Design.DUET), "headline": "capacity", **body}


def _method(values: Mapping[str, Any]) -> dict[str, Any]:
    interval = {name: value for name, value in values.items() if name != "name"}
    return {"name": values["name"], "interval": interval or None}


def _family(body: dict[str, Any]) -> Body:
    cells = [{"cell": cell_fields(name), **member} for name, member in body["cells"].items()]
    return {"explore": body["explore"], "cells": cells}


def _noise(body: Mapping[str, Any]) -> dict[str, Any]:
    noise = {name: body[name] for name in _QUANTITIES}
    return {**{name: value for name, value in body.items() if name not in _QUANTITIES}, "noise": noise}


def _calibration(body: dict[str, Any]) -> Body:
    return {"calibration": _noise(body["calibration"])}


def _table(body: dict[str, Any]) -> Body:
    body["comparisons"] = [_planned(dict(comparison)) for comparison in body["comparisons"]]
    body["cut"] = [{"comparison": comparison_fields(key), "why": why} for key, why in body["cut"].items()]
    return body


def _planned(body: dict[str, Any]) -> dict[str, Any]:
    words = {name: body.pop(name) for name in ("series", "row", "reading", "load", "threads")}
    words["test"] = body.pop("test", "")
    del body["key"]
    cell = body["cell"]
    return {"id": words, **body, "cell": cell_fields(cell) if cell is not None else None}


def _figure(body: dict[str, Any]) -> Body:
    return _with_origin(dict(_of_comparison(body)))


def _profile_facts(body: dict[str, Any]) -> Body:
    body["profile_kind"] = body.pop("kind")
    return _with_origin(body)


def _round(body: dict[str, Any]) -> Body:
    cells = body.get("cells", {})
    body["cells"] = {role: cell_fields(name) if name is not None else None for role, name in cells.items()}
    return body


def _series(body: dict[str, Any]) -> Body:
    left = [dict(zip(("patch", "kind", "why"), build, strict=True)) for build in body["left_out"]]
    return {**body, "left_out": left}


def _micro_outcome(body: dict[str, Any]) -> Body:
    interval = {name: body.pop(name) for name in ("ratio", "low", "high", "level")}
    return {**body, "interval": None if interval["level"] is None else interval}


_CHANGES: dict[str, Callable[[dict[str, Any]], Body]] = {
    "source": _source,
    "toolchains": _toolchains,
    **dict.fromkeys(("variant_missing", "build_failed", "stage", "profile", "build", "program"), _of_build),
    **dict.fromkeys(("evidence", "changed", "gate"), _of_build),
    "contest": _contest,
    "start": _start,
    "pair": _pair,
    "start_done": _start_done,
    "verdict": _verdict,
    "family": _family,
    "calibration": _calibration,
    "shipped": _table,
    **dict.fromkeys(("tried", "left", "again"), _of_comparison),
    "measured": _figure,
    "timeline": _with_origin,
    "profile_facts": _profile_facts,
    "robust": _round,
    "series": _series,
    "micro_outcome": _micro_outcome,
}
"""Conversions of values by the kind's name in format 1; the values of other kinds do not change."""
