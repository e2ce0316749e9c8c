"""Several records of one plan as one record: pieces of a long study, from one host or from several.

A merged record is a record like any other: it can be shown, exported and merged again. It is a function of the set of
what its parts hold, starts above all, so neither their order nor how they were grouped on the way changes a byte of it.
What the parts said of their starts (verdicts) is left behind and said anew of all of them (`burnish.run.merged`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish import __version__
from burnish.errors import UserError
from burnish.record.exchange import compact
from burnish.record.record import Event
from burnish.run import merged, same_plan
from burnish.study.model import digest_of

Body = Mapping[str, Any]

MERGED = "merged"
"""Kind of the event that says what was put together."""

VERBS = ("tune", "compare")
"""Verbs whose records can be merged; a calibration is of one host, and others say more than a verdict of each cell."""

_OF_STARTS = ("start", "pair", "start_done")
_SAID_ANEW = ("verdict", "family", "finished", MERGED)
_ABOUT_CELL = ("role", "candidate", "workload", "design", "headline", "unit", "per_minute")

_MACHINE = ("machine", "cpu_model", "cpu_signature", "cores_online", "hypervisor")
"""Facts that tell one host from another and that stay the same from day to day; with them, GiB of memory."""


@dataclass(frozen=True, order=True)
class StartName:
    """What a start is known by, wherever it is carried; two of one name are one start.

    Attributes:
        cell: the cell's name.
        host: see `host_key`.
        study: the study that took it.
        number: its number there, of all starts of the cell.
    """

    cell: str
    host: str
    study: str
    number: int


@dataclass(frozen=True)
class Step:
    """An event without its place."""

    at: str
    kind: str
    body: Body


@dataclass
class Part:
    """What one record holds.

    Attributes:
        name: what the user calls it, for messages.
        begun: when its study was begun.
        definition: as asked.
        contest: rule, timing, design as recorded; the last one.
        starts: finished starts, each with its steps.
        hosts: by key, the latest facts of every host that it was run on.
        cells: by name, what its verdict says of a cell beside figures.
        about: everything else, by what it says: source, builds, gates, identities.
    """

    name: str
    begun: str
    definition: Body
    contest: Body = field(default_factory=dict)
    starts: dict[StartName, list[Step]] = field(default_factory=dict)
    hosts: dict[str, tuple[str, Body]] = field(default_factory=dict)
    cells: dict[str, Body] = field(default_factory=dict)
    about: dict[str, Step] = field(default_factory=dict)


@dataclass(frozen=True)
class Merged:
    """What `merge` made.

    Attributes:
        events: of the merged record.
        hosts: how many hosts its starts were taken on.
        starts: how many starts it has.
        twice: how many starts were given more than once.
    """

    events: tuple[Event, ...]
    hosts: int
    starts: int
    twice: int


def host_key(facts: Body) -> str:
    """Names the host that these facts (of a ``run`` event) were read on."""
    gib = round(facts["memory_bytes"] / 2**30) if facts.get("memory_bytes") else None
    return digest_of([*(facts.get(name) for name in _MACHINE), gib])


def merge(records: Sequence[tuple[str, Iterable[Event]]]) -> Merged:
    """One record from several of the same plan.

    Args:
        records: each one's name for messages, and its events, compact or whole.

    Raises:
        UserError: one can't be merged; their plans differ; they disagree on a start that both have.
    """
    parts = [_read(name, events) for name, events in records]
    if len(parts) < 2:
        raise UserError("merge: one record named; name two or more of one plan")
    plans = [_plan(part) for part in parts]
    for part, plan in zip(parts[1:], plans[1:], strict=True):
        found = same_plan.difference(plans[0], plan)
        if found is not None:
            where, one, other = found
            raise UserError(
                f"merge: {parts[0].name} and {part.name} are not of one plan: {where} is {_short(one)} in the one, "
                f"{_short(other)} in the other; merge records of one plan only"
            )
    starts, twice = _all_starts(parts)
    whole = _put_together(parts, starts)
    return Merged(whole, len({name.host for name in starts}), len(starts), twice)


def _read(name: str, events: Iterable[Event]) -> Part:
    """What one record holds, by what it means."""
    steps = list(compact(events))
    begun = next((event for event in steps if event.kind == "study"), None)
    if begun is None:
        raise UserError(f"{name}: this record holds no study; `burnish record export STUDY` makes one that does")
    try:
        part = _sorted(name, begun, steps)
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{name}: its events are not those of a study ({type(error).__name__}: {error})") from None
    if part.definition["verb"] not in VERBS:
        raise UserError(
            f"{name}: the record of a {part.definition['verb']}; those of {' and '.join(VERBS)} can be merged"
        )
    if not part.starts:
        raise UserError(f"{name}: holds no finished start; leave it out")
    old = next((key for key, each in part.starts.items() if not _whole(each[-1].body)), None)
    if old is not None:
        raise UserError(
            f"{name}: start {old.number} of {old.cell} was recorded by an older Burnish, without its ratios"
        )
    return part


def _sorted(name: str, begun: Event, events: Sequence[Event]) -> Part:
    part = Part(name, begun.at, begun.body["definition"])
    host = ""
    open_starts: dict[StartName, list[Step]] = {}
    for event in events:
        body = dict(event.body)
        step = Step(event.at, event.kind, body)
        if event.kind == "run":
            host = host_key(body["host"])
            part.hosts[host] = (event.at, body["host"])
        if event.kind in _OF_STARTS:
            where, study = body.pop("host", host), body.pop("study", begun.body["name"])
            body["start"] = body.pop("of_start", body["start"])
            key = StartName(body["cell"], where, study, body["start"])
            open_starts.setdefault(key, []).append(step)
            if event.kind == "start_done":
                part.starts[key] = open_starts[key]
        elif event.kind == "contest":
            part.contest = body
        elif event.kind == "verdict":
            part.cells[body["cell"]] = {word: body[word] for word in _ABOUT_CELL if word in body}
        elif event.kind != "study" and event.kind not in _SAID_ANEW:
            part.about[_canonical([event.at, event.kind, body])] = step
    return part


def _whole(done: Body) -> bool:
    """Whether a closing event has what a verdict needs."""
    return done["invalid"] is not None or {"pair_ratios", "hardware", "settled"} <= done.keys()


def _plan(part: Part) -> dict[str, Any]:
    """What must be equal in all records."""
    steps = list(part.about.values())
    source = [step.body.get("digest") for step in steps if step.kind == "source"]
    made = {step.body["variant"]: step.body.get("about", {}) for step in steps if step.kind == "build"}
    compilers = {name: about.get("toolchain_version") for name, about in made.items()}
    return same_plan.plan(part.definition, part.contest, source[-1] if source else None, compilers)


def _all_starts(parts: Sequence[Part]) -> tuple[dict[StartName, list[Step]], int]:
    """Every start once, in order of time, and how many were there more than once."""
    found: dict[StartName, tuple[Part, list[Step]]] = {}
    twice = 0
    for part in parts:
        for name, steps in part.starts.items():
            if name not in found:
                found[name] = part, steps
                continue
            twice += 1
            other, known = found[name]
            if _readings(known) != _readings(steps):
                raise UserError(
                    f"merge: {other.name} and {part.name} disagree on start {name.number} of {name.cell} in study "
                    f"{name.study}: other readings under one name; one of the two files was changed"
                )
    order = sorted(found, key=lambda name: (found[name][1][-1].at, name))
    return {name: found[name][1] for name in order}, twice


def _readings(steps: Sequence[Step]) -> str:
    """A start's steps in a form in which equal ones are equal; how sides were launched is told once for a cell."""
    return _canonical([[s.at, s.kind, {k: v for k, v in s.body.items() if k != "launched"}] for s in steps])


def _put_together(parts: Sequence[Part], starts: Mapping[StartName, list[Step]]) -> tuple[Event, ...]:
    """The merged record's events."""
    ended = max(steps[-1].at for steps in starts.values())
    labels = _labels(starts)
    facts: dict[str, tuple[str, Body]] = {}
    for part in parts:
        for key, seen in part.hosts.items():
            facts[key] = max(facts.get(key, seen), seen, key=lambda each: (each[0], _canonical(each[1])))
    definition = min((part.definition for part in parts), key=_canonical)
    studies = sorted({(name.study, name.host) for name in starts})
    name = f"{definition['engine']}-{definition['verb']}-merged-{digest_of(studies, 8)}"
    contest = _contest(parts, definition)
    cells = {cell: about for part in parts for cell, about in part.cells.items()}
    numbered = _numbered(starts)
    about = {key: step for part in parts for key, step in part.about.items()}
    told = [
        Step(
            min(part.begun for part in parts),
            "study",
            {"name": name, "digest": digest_of(definition), "burnish": __version__, "definition": definition},
        ),
        *_programs(about.values(), definition),
        *(about[key] for key in sorted(about) if about[key].kind != "program"),
        Step(
            ended,
            MERGED,
            {
                "hosts": [
                    {"label": label, "key": key, "facts": facts.get(key, ("", {}))[1], "starts": _count(starts, key)}
                    for key, label in labels.items()
                ],
                "studies": [
                    {"study": study, "host": labels[host], "starts": _count(starts, host, study)}
                    for study, host in studies
                ],
            },
        ),
        Step(ended, "contest", contest),
        *numbered,
    ]
    said = merged.verdicts(_events(numbered), contest, cells, labels, explore=bool(definition.get("explore")))
    told += [Step(ended, kind, body) for kind, body in said]
    told.append(Step(ended, "finished", {}))
    return _events(told)


def _labels(starts: Mapping[StartName, list[Step]]) -> dict[str, str]:
    """A letter for each host, in the order of their first starts."""
    keys = list(dict.fromkeys(name.host for name in starts))
    return {key: chr(ord("A") + n) if n < 26 else f"H{n + 1}" for n, key in enumerate(keys)}


def _count(starts: Iterable[StartName], host: str, study: str | None = None) -> int:
    return sum(name.host == host and study in (None, name.study) for name in starts)


def _programs(about: Iterable[Step], definition: Body) -> list[Step]:
    """The programs that `compare` compares, each once, the baseline first: the order says which is which."""
    steps = [step for step in about if step.kind == "program"]
    order = same_plan.program_keys(definition)
    found: dict[str, Step] = {}
    for step in sorted(steps, key=lambda each: (_index(order, each.body["key"]), _canonical([each.at, each.body]))):
        found.setdefault(step.body["key"], step)
    return list(found.values())


def _contest(parts: Sequence[Part], definition: Body) -> dict[str, Any]:
    """How it was measured: what all have in common, the cells of all, and on whom no verdict may rely."""
    every = [part.contest for part in parts]
    own = ("calibrations", "forced", "cells")
    chosen = min(({key: value for key, value in each.items() if key not in own} for each in every), key=_canonical)
    cells = dict.fromkeys(cell for each in sorted(every, key=_canonical) for cell in each.get("cells", ()))
    order = list(definition["variants"])
    loads = [load.partition("#")[0] for load in definition["workloads"]]

    def place(cell: str) -> tuple[int, int, str]:
        candidate, _, load = cell.rpartition(" / ")
        return _index(order, candidate), _index(loads, load), cell

    forced = sorted({name for each in every for name in each.get("forced", ())})
    return {**chosen, "cells": sorted(cells, key=place), "calibrations": [], "forced": forced}


def _index(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def _numbered(starts: Mapping[StartName, list[Step]]) -> list[Step]:
    """Each cell's starts numbered through, each step with what its start is known by."""
    numbers: dict[str, int] = {}
    found = []
    for name, steps in starts.items():
        number = numbers[name.cell] = numbers.get(name.cell, 0) + 1
        known = {"host": name.host, "study": name.study, "of_start": name.number, "start": number}
        found += [Step(step.at, step.kind, {**step.body, **known}) for step in steps]
    return found


def _events(steps: Sequence[Step]) -> tuple[Event, ...]:
    """Numbered, and with values in one order whatever file they came from."""
    bodies = (json.loads(_canonical(step.body)) for step in steps)
    return tuple(
        Event(n, step.at, step.kind, body) for n, (step, body) in enumerate(zip(steps, bodies, strict=True), 1)
    )


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def _short(value: Any) -> str:
    text = "not there" if value is None else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
