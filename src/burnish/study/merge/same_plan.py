"""Whether records are of one plan: request, source, compilers, rule (pure)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_NOT_PLANNED = ("seed", "pairs", "file", "own_data", "certificates", "reason")
"""Keys that may differ within a plan: seed, calibrated pairs, paths, reasons."""

_JUDGED = ("rule", "designs", "placements", "headlines", "timings", "timing", "condition", "versus")
"""The planned parts of a contest; cells, cores and calibrations depend on the host."""

_BY_NAME = ("compiler", "designs", "placements", "headlines", "timings", "loads")
"""Mappings that are compared only for keys in both records: a variant may have failed to build on one host, and each
record of a bundled study has the rows that were requested."""

_WHERE = ("tree",)
"""Parameters of loads that are paths."""


def plan(
    definition: Mapping[str, Any],
    contest: Mapping[str, Any],
    source: Mapping[str, Any],
    compilers: Mapping[str, str | None],
) -> dict[str, Any]:
    """What must be equal in all records that are merged.

    Args:
        definition: the study's definition.
        contest: how it was measured, as recorded.
        source: what was built, as recorded; empty if nothing was.
        compilers: by variant, the compiler's version.
    """
    asked = dict(definition)
    if source.get("digest") is not None:
        asked.pop("source", None)  # its path; the digest identifies it
    if asked["verb"] == "compare":
        asked["variants"] = program_keys(definition)
    parts = {
        **asked,
        "the engine's release": source.get("version"),
        "source digest": source.get("digest"),
        **{word: contest.get(word) for word in _JUDGED},
        "loads": {name: _without_places(load) for name, load in (contest.get("workloads") or {}).items()},
        "compiler": compilers,
    }
    return _plain(parts)


def program_keys(definition: Mapping[str, Any]) -> list[str]:
    """The digests of the programs that `compare` compares, without their paths, the baseline's first."""
    return [str(program).rpartition("=")[2] for program in definition["variants"]]


def difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    """The path of the first value in which two plans differ, and both values; None if they are equal."""
    first, second = dict(one), dict(other)
    for word in _BY_NAME:
        one_values, other_values = one.get(word, {}), other.get(word, {})
        both = [name for name in one_values if name in other_values]
        first[word], second[word] = ({name: named[name] for name in both} for named in (one_values, other_values))
    if not (one.get("rule") and other.get("rule")):  # one of them has only figures, no trials
        for word in ("rule", "condition", "versus"):
            first[word] = second[word] = None
    return first_difference(first, second)


def changed(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    """The first load or design's times that two contests of one record measure differently; None if there is none.

    Their starts must not be counted as starts of one cell. They can differ if the catalogue has changed in between.

    Args:
        earlier: body of the event ``contest``, as recorded.
        now: body of the next such event.
    """
    differing = difference(*(_plain(_measured(contest)) for contest in (earlier, now)))
    return differing and (differing[0].partition(".")[2], *differing[1:])


def first_difference(one: Any, other: Any, where: str = "") -> tuple[str, Any, Any] | None:
    """The path of the first value that differs, and both values; None if all are equal."""
    if isinstance(one, Mapping) or isinstance(other, Mapping):
        one, other = ({} if value is None else value for value in (one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        inner = (
            first_difference(one.get(key), other.get(key), f"{where}.{key}" if where else str(key))
            for key in dict.fromkeys((*one, *other))
        )
        return next((differing for differing in inner if differing is not None), None)
    return None if one == other else (where, one, other)


def without_conditions(load: Mapping[str, Any]) -> dict[str, Any]:
    """A load without the fields that depend on a cell's conditions."""
    return {word: value for word, value in load.items() if word != "saturated"}


def _measured(contest: Mapping[str, Any]) -> dict[str, Any]:
    """The loads and the times of the designs of a contest, by name."""
    loads = {}
    for name, load in contest.get("workloads", {}).items():
        plain = without_conditions(_without_places(load))
        loads[name] = {**plain, "parameters": dict(plain["parameters"])}
    return {"loads": loads, "timings": contest.get("timings", {})}


def _without_places(load: Mapping[str, Any]) -> dict[str, Any]:
    """A load without paths on its host, in parameters, in a user's script and in the parts of a mix."""
    return {
        **{word: value for word, value in load.items() if word != "program" or not load.get("file")},
        "parameters": [parameter for parameter in load.get("parameters", ()) if parameter[0] not in _WHERE],
        "parts": [[_without_places(part), weight] for part, weight in load.get("parts") or ()],
    }


def _plain(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The planned parts, as JSON values like those read from a record."""
    plain: dict[str, Any] = json.loads(json.dumps(_planned(parts), default=str))
    return plain


def _planned(value: Any) -> Any:
    """`value` without keys that are not part of a plan, and without empty values, which older records lack."""
    if isinstance(value, Mapping):
        inner = {key: _planned(item) for key, item in value.items() if key not in _NOT_PLANNED}
        return {key: item for key, item in inner.items() if item not in (None, "", [], {}, False)}
    if isinstance(value, list | tuple):
        return [_planned(item) for item in value]
    return value
