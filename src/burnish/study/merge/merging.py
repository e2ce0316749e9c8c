"""Several records of one plan as one record: pieces of a long study, from one host or from several.

A merged record is a record like any other: it can be shown, exported and merged again. It is a function of the set of
what its parts hold, starts above all, so neither their order nor how they were grouped on the way changes a byte of it.
What the parts said of their starts (verdicts) is left behind and said anew of all of them (`merged`).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish import __version__
from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.record.record import Event
from burnish.study.merge import bundled, merged, same_plan
from burnish.study.merge.parts import MERGED, OF_HOST, Body, Part, StartName, Step, canonical, read

_AS_WRITTEN = ("shipped", "robust")
"""Events whose values' order says something: the order of a study's file."""

_IN_WORDS = {"verb": "study", "recipes.rows": "what the study's file asks for"}
"""Of studies that ship, what a plan calls by other names."""


@dataclass(frozen=True)
class Merged:
    """What `merge` made.

    Attributes:
        events: of the merged record.
        hosts: how many hosts it was measured on.
        starts: how many starts it has.
        twice: how many starts were given more than once.
    """

    events: tuple[Event, ...]
    hosts: int
    starts: int
    twice: int


def merge(records: Sequence[tuple[str, Iterable[Event]]]) -> Merged:
    """One record from several of the same plan.

    Args:
        records: each one's name for messages, and its events, compact or whole.

    Raises:
        UserError: one can't be merged; their plans differ; they disagree on a start that both have.
    """
    parts = [read(name, events) for name, events in records]
    if len(parts) < 2:
        raise UserError("merge: one record named; name two or more of one plan")
    plans = [_plan(part) for part in parts]
    # Each with each: what is held against each other where both have it may be in the second and the third alone.
    for (one, mine), (other, its) in itertools.combinations(zip(parts, plans, strict=True), 2):
        found = same_plan.difference(mine, its)
        if found is not None:
            where, here, there = found
            words = _IN_WORDS if one.table or other.table else {}
            raise UserError(
                f"merge: {one.name} and {other.name} are not of one plan: {words.get(where, where)} is "
                f"{_short(here)} in the one, {_short(there)} in the other; merge records of one plan only"
            )
    bundled.check_tried([part for part in parts if part.table])
    starts, twice = _all_starts(parts)
    whole = _put_together(parts, starts)
    return Merged(whole, len(_sources(parts, starts).hosts), len(starts), twice)


def _plan(part: Part) -> dict[str, Any]:
    """What must be equal in all records."""
    made = {step.body["variant"]: step.body.get("about", {}) for step in part.steps("build")}
    compilers = {name: about.get("toolchain_version") for name, about in made.items()}
    sources = [step.body for step in part.steps("source")]
    source = sources[-1] if sources else {}
    if part.table is None:
        return same_plan.plan(part.definition, part.contest, source, compilers)
    asked = {"verb": part.definition["verb"], **bundled.asked(part), **part.definition}
    return same_plan.plan(asked, bundled.planned(part), source, compilers)


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
    return canonical([[s.at, s.kind, {k: v for k, v in s.body.items() if k != "launched"}] for s in steps])


@dataclass(frozen=True)
class _Sources:
    """Where things were measured: hosts' labels by key, in order; and (study, host's key) of all records."""

    hosts: dict[str, str]
    studies: list[tuple[str, str]]


def _sources(parts: Sequence[Part], starts: Iterable[StartName]) -> _Sources:
    """A letter for each host, in the order of their first starts, then of what else was seen there."""
    seen = sorted((step.at, step.body["host"], step.body["study"]) for part in parts for step in part.steps(*OF_HOST))
    pairs = [*((name.host, name.study) for name in starts), *((host, study) for _, host, study in seen)]
    keys = list(dict.fromkeys(host for host, _ in pairs))
    labels = {key: chr(ord("A") + n) if n < 26 else f"H{n + 1}" for n, key in enumerate(keys)}
    return _Sources(labels, sorted({(study, host) for host, study in pairs}))


def _put_together(parts: Sequence[Part], starts: Mapping[StartName, list[Step]]) -> tuple[Event, ...]:
    """The merged record's events."""
    sources = _sources(parts, starts)
    labels = sources.hosts
    about = {key: step for part in parts for key, step in part.about.items()}
    ended = max((steps[-1].at for steps in starts.values()), default="")
    ended = max([ended, *(step.at for step in about.values() if step.kind in OF_HOST)])
    definition = min((part.definition for part in parts), key=canonical)
    name = f"{definition['engine']}-{definition['verb']}-merged-{digest_of(sources.studies, 8)}"
    ordered = [about[key] for key in sorted(about) if about[key].kind not in ("program", *OF_HOST)]
    seen = bundled.facts([about[key] for key in sorted(about)], labels)
    told = [
        Step(
            min(part.begun for part in parts),
            "study",
            {"name": name, "digest": digest_of(definition), "burnish": __version__, "definition": definition},
        ),
        *_programs(about.values(), definition),
        *ordered,
        *seen,
        Step(ended, MERGED, _merged(parts, starts, sources)),
    ]
    said = _verdicts(parts, starts, labels) if parts[0].table is None else _said_of_table(parts, starts, labels)
    told += [each if isinstance(each, Step) else Step(ended, *each) for each in said]
    told.append(Step(ended, "finished", {}))
    return _events(told)


def _merged(parts: Sequence[Part], starts: Iterable[StartName], sources: _Sources) -> Body:
    """What was put together."""
    names = list(starts)
    facts: dict[str, tuple[str, Body]] = {}
    for part in parts:
        for key, seen in part.hosts.items():
            facts[key] = max(facts.get(key, seen), seen, key=lambda each: (each[0], canonical(each[1])))
    return {
        "hosts": [
            {"label": label, "key": key, "facts": facts.get(key, ("", {}))[1], "starts": _count(names, key)}
            for key, label in sources.hosts.items()
        ],
        "studies": [
            {"study": study, "host": sources.hosts[host], "starts": _count(names, host, study)}
            for study, host in sources.studies
        ],
    }


def _verdicts(
    parts: Sequence[Part], starts: Mapping[StartName, list[Step]], labels: Mapping[str, str]
) -> list[Step | tuple[str, Body]]:
    """Contest, starts and what all of them say."""
    definition = min((part.definition for part in parts), key=canonical)
    contest = _contest(parts, definition)
    cells = {cell: about for part in parts for cell, about in part.cells.items()}
    numbered = _numbered(starts)
    explore = bool(definition.get("explore"))
    said = merged.verdicts(_events(numbered), contest, cells, labels, explore=explore)
    return [("contest", contest), *numbered, *said]


def _said_of_table(
    parts: Sequence[Part], starts: Mapping[StartName, list[Step]], labels: Mapping[str, str]
) -> list[Step | tuple[str, Body]]:
    """Of a study that ships: its table, contest and starts, and what all of them say."""
    table = bundled.table(parts)
    tried = bundled.tried_as(parts, table)
    again = {str(step.body["cell"]): str(step.body["key"]) for part in parts for step in part.steps("again")}
    designs = bundled.designs(starts)
    contest = bundled.contest(parts, [*tried.values(), *sorted(cell for cell in again if cell in designs)])
    numbered = _numbered(starts)
    said: list[tuple[str, Body]] = []
    if contest is not None:
        cells: dict[str, Body] = {**bundled.about_cells(table, tried, again, designs)}
        cells |= {cell: about for part in parts for cell, about in part.cells.items()}
        in_table = {tried[each["key"]] for each in table["comparisons"] if each["key"] in tried}
        kept = bundled.kept(parts, starts)
        said += merged.verdicts(_events(numbered), contest, cells, labels, explore=True, kept=kept, together=in_table)
    verdicts = {body["cell"]: body for kind, body in said if kind == "verdict"}
    on: dict[str, list[str]] = {}
    for name in starts:
        on.setdefault(name.cell, []).append(labels[name.host])
    rounds = bundled.rounds(parts, verdicts, on if len(labels) > 1 else {})
    seen = {canonical([step.at, step.body]): step for part in parts for step in part.steps("measured")}
    figures = bundled.figures([seen[key] for key in sorted(seen)], labels)
    return [
        ("shipped", table),
        *([("contest", contest)] if contest is not None else []),
        *numbered,
        *said,
        *(("robust", body) for body in rounds),
        *(("measured", body) for body in figures),
    ]


def _count(starts: Iterable[StartName], host: str, study: str | None = None) -> int:
    return sum(name.host == host and study in (None, name.study) for name in starts)


def _programs(about: Iterable[Step], definition: Body) -> list[Step]:
    """The programs that `compare` compares, each once, the baseline first: the order says which is which."""
    steps = [step for step in about if step.kind == "program"]
    order = same_plan.program_keys(definition)
    found: dict[str, Step] = {}
    for step in sorted(steps, key=lambda each: (_index(order, each.body["key"]), canonical([each.at, each.body]))):
        found.setdefault(step.body["key"], step)
    return list(found.values())


def _contest(parts: Sequence[Part], definition: Body) -> dict[str, Any]:
    """How it was measured: what all have in common, the cells of all, and on whom no verdict may rely."""
    every = [part.contest for part in parts]
    own = ("calibrations", "forced", "cells")
    chosen = min(({key: value for key, value in each.items() if key not in own} for each in every), key=canonical)
    cells = dict.fromkeys(cell for each in sorted(every, key=canonical) for cell in each.get("cells", ()))
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
    bodies = (json.loads(_text(step)) for step in steps)
    return tuple(
        Event(n, step.at, step.kind, body) for n, (step, body) in enumerate(zip(steps, bodies, strict=True), 1)
    )


def _text(step: Step) -> str:
    return json.dumps(step.body, default=str) if step.kind in _AS_WRITTEN else canonical(step.body)


def _short(value: Any) -> str:
    text = "not there" if value is None else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
