"""What one record holds, by what it means: a part of those that are put together (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.record.exchange import compact
from burnish.record.record import Event

Body = Mapping[str, Any]

MERGED = "merged"
"""Kind of the event that says what was put together."""

VERBS = ("tune", "compare")
"""Verbs whose records can be merged, beside the studies that ship; a calibration is of one host, and others say more
than a verdict of each cell."""

OF_HOST = ("measured", "timeline", "profile_facts")
"""Events of a study that ships which say what one host saw: each is known by its host and study, as starts are."""

_OF_STARTS = ("start", "pair", "start_done")
_SAID_ANEW = ("verdict", "family", "finished", MERGED)
_ABOUT_CELL = ("role", "candidate", "workload", "design", "headline", "unit", "per_minute")
_BY_HOSTS = ("hosts", "hosts_differ")

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
        table: of a study that ships, its table; the last one. None of other verbs.
        said: by cell, the verdict that a study gave itself, which has not been said anew since.
        rounds: rounds of a search for weights.
    """

    name: str
    begun: str
    definition: Body
    contest: Body = field(default_factory=dict)
    starts: dict[StartName, list[Step]] = field(default_factory=dict)
    hosts: dict[str, tuple[str, Body]] = field(default_factory=dict)
    cells: dict[str, Body] = field(default_factory=dict)
    about: dict[str, Step] = field(default_factory=dict)
    table: Body | None = None
    said: dict[str, Body] = field(default_factory=dict)
    rounds: list[Body] = field(default_factory=list)

    def steps(self, *kinds: str) -> list[Step]:
        """Those of `about` that are of these kinds, in order of time."""
        return [self.about[key] for key in sorted(self.about) if self.about[key].kind in kinds]

    @property
    def tried(self) -> dict[str, str]:
        """By a comparison's key, the cell that it was tried as; the last one that has starts, where there are any."""
        begun = {name.cell for name in self.starts}
        events = [(str(step.body["key"]), str(step.body["cell"])) for step in self.steps("tried")]
        return dict(events) | {key: cell for key, cell in events if cell in begun}


def host_key(facts: Body) -> str:
    """Names the host that these facts (of a ``run`` event) were read on."""
    gib = round(facts["memory_bytes"] / 2**30) if facts.get("memory_bytes") else None
    return digest_of([*(facts.get(name) for name in _MACHINE), gib])


def canonical(value: Any) -> str:
    """Text that is the same for equal values, whatever order their keys have."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def read(name: str, events: Iterable[Event]) -> Part:
    """What one record holds.

    Raises:
        UserError: it can't be merged: no study, another verb, nothing measured, or recorded by an older Burnish.
    """
    steps = list(compact(events))
    begun = next((event for event in steps if event.kind == "study"), None)
    if begun is None:
        raise UserError(f"{name}: this record holds no study; `burnish record export STUDY` makes one that does")
    try:
        part = _sorted(name, begun, steps)
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{name}: its events are not those of a study ({type(error).__name__}: {error})") from None
    verb = part.definition["verb"]
    if verb not in VERBS and part.table is None:
        allowed = f"those of {' and '.join(VERBS)}, and of studies that ship, can be merged"
        raise UserError(f"{name}: the record of a {verb}; {allowed}")
    if not part.starts and not part.steps("measured"):
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
        if event.kind == "run":
            host = host_key(body["host"])
            part.hosts[host] = (event.at, body["host"])
        if event.kind in (*_OF_STARTS, *OF_HOST):
            body = {**body, "host": body.get("host", host), "study": body.get("study", begun.body["name"])}
        step = Step(event.at, event.kind, body)
        if event.kind in _OF_STARTS:
            where, study = body.pop("host"), body.pop("study")
            body["start"] = body.pop("of_start", body["start"])
            key = StartName(body["cell"], where, study, body["start"])
            open_starts.setdefault(key, []).append(step)
            if event.kind == "start_done":
                part.starts[key] = open_starts[key]
        elif event.kind == "contest":
            part.contest = body
        elif event.kind == "shipped":
            part.table = body
        elif event.kind == "robust":
            part.rounds.append(body)
        elif event.kind == "verdict":
            part.cells[body["cell"]] = {word: body[word] for word in _ABOUT_CELL if word in body}
            if body.pop("kept", "hosts" not in body):
                part.said[body["cell"]] = {word: each for word, each in body.items() if word not in _BY_HOSTS}
        elif event.kind != "study" and event.kind not in _SAID_ANEW and not (event.kind in OF_HOST and "hosts" in body):
            body.pop("on", None)
            part.about[canonical([event.at, event.kind, body])] = step
    return part


def _whole(done: Body) -> bool:
    """Whether a closing event has what a verdict needs."""
    return done["invalid"] is not None or {"pair_ratios", "hardware", "settled"} <= done.keys()
