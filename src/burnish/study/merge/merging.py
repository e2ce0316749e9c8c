"""Merges records of one plan into one record: pieces of a long study, from one host or from several.

A merged record is a record like any other: it can be shown, exported and merged again. It depends only on the set of
starts and facts in its parts, so neither their order nor merging in steps changes a byte of it. Verdicts of the parts
are dropped and reached again from all starts (`merged`).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from burnish import __version__
from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.record.codec import decode, encode, plain
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import BuildMade, ProgramFound, SourceObtained
from burnish.record.events.bundled import FigureMeasured, SearchRound, TablePlanned
from burnish.record.events.study import (
    MergedHost,
    MergedStudy,
    Origin,
    RecordsMerged,
    StudyBegun,
    StudyFinished,
)
from burnish.record.events.trials import StartDone, TrialsPlanned
from burnish.study.merge import bundled, merged, same_plan
from burnish.study.merge.parts import OfHost, OfStart, Part, StartName, Step, canonical, read

_AS_WRITTEN = (TablePlanned, SearchRound)
"""Events in which the order of values matters: it is that of the study's file."""

_IN_WORDS = {"verb": "study", "recipes.rows": "what the study's file asks for"}
"""Words for keys of a plan, in messages about bundled studies."""


@dataclass(frozen=True)
class Merged:
    """The result of `merge`.

    Attributes:
        events: of the merged record.
        hosts: number of hosts.
        starts: number of starts.
        twice: number of starts that were in more than one record.
    """

    events: tuple[Recorded[Event], ...]
    hosts: int
    starts: int
    twice: int


def merge(records: Sequence[tuple[str, Iterable[Recorded[Event]]]]) -> Merged:
    """One record from several of the same plan.

    Args:
        records: each one's name for messages, and its events, compact or whole.

    Raises:
        UserError: a record cannot be merged, their plans differ, or they disagree on a start that both have.
    """
    parts = [read(name, events) for name, events in records]
    if len(parts) < 2:
        raise UserError("merge: one record named; name two or more of one plan")
    plans = [_plan(part) for part in parts]
    # Every pair is compared: a value may be present only in, say, the second and the third.
    for (one, plan), (other, other_plan) in itertools.combinations(zip(parts, plans, strict=True), 2):
        difference = same_plan.difference(plan, other_plan)
        if difference is not None:
            where, here, there = difference
            words = _IN_WORDS if one.table or other.table else {}
            raise UserError(
                f"merge: {one.name} and {other.name} are not of one plan: {words.get(where, where)} is "
                f"{_short(here)} in the one, {_short(there)} in the other; merge records of one plan only"
            )
    bundled.check_tried([part for part in parts if part.table])
    starts, twice = _all_starts(parts)
    put_together = _put_together(parts, starts)
    return Merged(put_together, len(_sources(parts, starts).hosts), len(starts), twice)


def _plan(part: Part) -> dict[str, Any]:
    """What must be equal in all records."""
    compilers = {made.build.name: made.about.get("toolchain_version") for made in part.of(BuildMade)}
    sources = part.of(SourceObtained)
    source = plain(sources[-1]) if sources else {}
    if part.table is None:
        trials = plain(part.trials) if part.trials else {}
        return same_plan.plan(part.definition, trials, source, compilers)
    asked = {"verb": part.definition["verb"], **bundled.asked(part), **part.definition}
    return same_plan.plan(asked, bundled.planned(part), source, compilers)


def _all_starts(parts: Sequence[Part]) -> tuple[dict[StartName, list[Step]], int]:
    """Every start once, in order of time, and the number of duplicates."""
    by_name: dict[StartName, tuple[Part, list[Step]]] = {}
    twice = 0
    for part in parts:
        for name, steps in part.starts.items():
            if name not in by_name:
                by_name[name] = part, steps
                continue
            twice += 1
            other, known = by_name[name]
            if _is_spent(steps):  # the other record may be from before its cell was measured again
                by_name[name] = part, steps
            if _readings(known) != _readings(steps):
                raise UserError(
                    f"merge: {other.name} and {part.name} disagree on start {name.number} of {name.cell} in study "
                    f"{name.study}: other readings under one name; one of the two files was changed"
                )
    order = sorted(by_name, key=lambda name: (by_name[name][1][-1].at, name.rank))
    return {name: by_name[name][1] for name in order}, twice


def _readings(steps: Sequence[Step]) -> str:
    """A start's events as text for comparison, without how sides were launched, which is recorded once per cell, and
    whether its cell was measured again since."""
    comparable = (
        replace(s, event=replace(s.event, launched=None, spent=None)) if isinstance(s.event, StartDone) else s
        for s in steps
    )
    return canonical([step.text for step in comparable])


def _is_spent(steps: Sequence[Step]) -> bool:
    return any(isinstance(step.event, StartDone) and step.event.spent is True for step in steps)


@dataclass(frozen=True)
class _Sources:
    """The hosts' labels by key, in order, and (study, host's key) of all records."""

    hosts: dict[str, str]
    studies: list[tuple[str, str]]


def _sources(parts: Sequence[Part], starts: Iterable[StartName]) -> _Sources:
    """A letter for each host, in the order of their first starts, then of what else was seen there."""
    seen = sorted(
        (at, seen.origin.host, seen.origin.study) for part in parts for at, seen in part.seen if seen.origin is not None
    )
    pairs = [*((name.host, name.study) for name in starts), *((host, study) for _, host, study in seen)]
    keys = list(dict.fromkeys(host for host, _ in pairs))
    labels = {key: chr(ord("A") + n) if n < 26 else f"H{n + 1}" for n, key in enumerate(keys)}
    return _Sources(labels, sorted({(study, host) for host, study in pairs}))


def _put_together(parts: Sequence[Part], starts: Mapping[StartName, list[Step]]) -> tuple[Recorded[Event], ...]:
    """The merged record's events."""
    sources = _sources(parts, starts)
    labels = sources.hosts
    about = {key: step for part in parts for key, step in part.about.items()}
    ordered = [about[key] for key in sorted(about)]
    seen = [(step.at, step.event) for step in ordered if isinstance(step.event, OfHost)]
    ended = max((steps[-1].at for steps in starts.values()), default="")
    ended = max([ended, *(at for at, _ in seen)])
    definition = min((part.definition for part in parts), key=canonical)
    name = f"{definition['engine']}-{definition['verb']}-merged-{digest_of(sources.studies, 8)}"
    begun = StudyBegun(name, definition, digest_of(definition), __version__)
    steps = [
        Step(min(part.begun for part in parts), begun),
        *_programs(ordered, definition),
        *(step for step in ordered if not isinstance(step.event, ProgramFound | OfHost)),
        *bundled.facts(seen, labels),
        Step(ended, _merged(parts, starts, sources)),
        *(
            _verdicts(parts, starts, labels, ended)
            if parts[0].table is None
            else _verdicts_of_table(parts, starts, labels, ended)
        ),
        Step(ended, StudyFinished()),
    ]
    return tuple(Recorded(n, step.at, _in_one_order(step.event)) for n, step in enumerate(steps, 1))


def _merged(parts: Sequence[Part], starts: Iterable[StartName], sources: _Sources) -> RecordsMerged:
    """The event that lists the merged hosts and studies."""
    names = list(starts)
    facts: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for part in parts:
        for key, seen in part.hosts.items():
            facts[key] = max(
                facts.get(key, seen), seen, key=lambda host_facts: (host_facts[0], canonical(host_facts[1]))
            )
    return RecordsMerged(
        hosts=tuple(
            MergedHost(label, key, facts.get(key, ("", {}))[1], _count(names, key))
            for key, label in sources.hosts.items()
        ),
        studies=tuple(
            MergedStudy(study, sources.hosts[host], _count(names, host, study)) for study, host in sources.studies
        ),
    )


def _verdicts(
    parts: Sequence[Part], starts: Mapping[StartName, list[Step]], labels: Mapping[str, str], ended: str
) -> list[Step]:
    """Trials, starts, and the verdicts from all of them."""
    definition = min((part.definition for part in parts), key=canonical)
    trials = _trials(parts, definition)
    if trials is None:
        return []
    cells = {cell: about for part in parts for cell, about in part.cells.items()}
    numbered = _numbered(starts)
    explore = bool(definition.get("explore"))
    reached, family = merged.verdicts(_of_starts(numbered), trials, cells, labels, explore=explore)
    return [Step(ended, trials), *numbered, *(Step(ended, event) for event in (*reached, family))]


def _verdicts_of_table(
    parts: Sequence[Part], starts: Mapping[StartName, list[Step]], labels: Mapping[str, str], ended: str
) -> list[Step]:
    """Of a bundled study: its table, trials, starts, and the verdicts from all of them."""
    table = bundled.table(parts)
    tried = bundled.tried_as(parts, table)
    again = bundled.confirmations(parts)
    designs = bundled.designs(starts)
    fresh = sorted((cell for cell in again if cell in designs), key=lambda cell: cell.name)
    trials = bundled.trials(parts, [*tried.values(), *fresh])
    numbered = _numbered(starts)
    events: list[Event] = []
    verdicts = {}
    if trials is not None:
        cells = bundled.about_cells(table, tried, again, designs, trials)
        cells |= {cell: about for part in parts for cell, about in part.cells.items()}
        in_table = {tried[comparison.id] for comparison in table.comparisons if comparison.id in tried}
        kept = bundled.kept(parts, starts)
        reached, family = merged.verdicts(
            _of_starts(numbered), trials, cells, labels, explore=True, kept=kept, together=in_table
        )
        verdicts = {verdict.cell: verdict for verdict in reached}
        events = [*reached, family]
    on: dict[Any, list[str]] = {}
    for name in starts:
        on.setdefault(name.cell, []).append(labels[name.host])
    rounds = bundled.rounds(parts, verdicts, on if len(labels) > 1 else {})
    seen = {
        Step(at, figure).text: figure
        for part in parts
        for at, figure in part.seen
        if isinstance(figure, FigureMeasured)
    }
    figures = bundled.figures([seen[key] for key in sorted(seen)], labels)
    planned: list[Event] = [table, *([trials] if trials is not None else [])]
    return [
        *(Step(ended, event) for event in planned),
        *numbered,
        *(Step(ended, event) for event in (*events, *rounds, *figures)),
    ]


def _count(starts: Iterable[StartName], host: str, study: str | None = None) -> int:
    return sum(name.host == host and study in (None, name.study) for name in starts)


def _programs(steps: Iterable[Step], definition: Mapping[str, Any]) -> list[Step]:
    """The programs that `compare` compares, each once, the baseline first."""
    order = same_plan.program_keys(definition)
    programs = [(step, step.event) for step in steps if isinstance(step.event, ProgramFound)]
    by_key: dict[str, Step] = {}
    for step, program in sorted(programs, key=lambda pair: (_index(order, pair[1].key), pair[0].text)):
        by_key.setdefault(program.key, step)
    return list(by_key.values())


def _trials(parts: Sequence[Part], definition: Mapping[str, Any]) -> TrialsPlanned | None:
    """How it was measured: the common part, the cells of all records, and all forced calibrations."""
    plans = [part.trials for part in parts if part.trials is not None]
    if not plans:
        return None
    common = (replace(plan, cells=(), calibrations=(), forced=()) for plan in plans)
    cells = dict.fromkeys(cell for plan in plans for cell in plan.cells)
    order = list(definition["variants"])
    loads = [load.partition("#")[0] for load in definition["workloads"]]
    return replace(
        min(common, key=lambda plan: canonical(plain(plan))),
        cells=tuple(
            sorted(cells, key=lambda cell: (_index(order, cell.label), _index(loads, cell.workload), cell.name))
        ),
        forced=tuple(sorted({name for plan in plans for name in plan.forced})),
    )


def _index(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def _numbered(starts: Mapping[StartName, list[Step]]) -> list[Step]:
    """Each cell's starts with consecutive numbers; each event gets the origin of its start."""
    numbers: dict[Any, int] = {}
    numbered = []
    for name, steps in starts.items():
        number = numbers[name.cell] = numbers.get(name.cell, 0) + 1
        origin = Origin(name.host, name.study, name.number)
        for step in steps:
            assert isinstance(step.event, OfStart)  # noqa: S101 - a start is made of them
            numbered.append(replace(step, event=replace(step.event, start=number, origin=origin)))
    return numbered


def _of_starts(steps: Iterable[Step]) -> list[OfStart]:
    return [step.event for step in steps if isinstance(step.event, OfStart)]


def _in_one_order(event: Event) -> Event:
    """The event with its mappings in a fixed order, so that the order of the files does not matter."""
    if isinstance(event, _AS_WRITTEN):
        return event
    kind, body = encode(event)
    return decode(kind, json.loads(canonical(body)))


def _short(value: Any) -> str:
    text = "not there" if value is None else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
