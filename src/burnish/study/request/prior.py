"""Earlier results that a search takes as its prior: runs of this home, and runs or exported records that are named."""

from __future__ import annotations

import contextlib
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.bench.host import read_host
from burnish.catalogue.space import SpaceFile
from burnish.model.cell import CellId, Role
from burnish.model.quantity import CAPACITY, THROUGHPUT
from burnish.record.by_type import ByType
from burnish.record.events import Event
from burnish.record.events.searches import MainEffect, SearchBegun, SearchEnded
from burnish.record.events.study import RecordsMerged, SessionBegun, StudyBegun, StudyFinished
from burnish.record.events.verdicts import Interval, VerdictReached
from burnish.record.exchange import events_of
from burnish.record.record import Record
from burnish.search.effects import Effect
from burnish.search.prior import Finding, Result
from burnish.study.bundled.recipes import recipes_of
from burnish.study.kept.runs import find, of_all, open_record
from burnish.study.request.definition import Definition
from burnish.workload.objective import aim_of

HOME, NONE = "home", "none"
"""Words of `--prior`: every finished run of this home (what is meant without the option), and nothing."""

NORMAL = 1.96
"""Half-width of a 95 % interval in standard errors; with few builds it is more, and the error taken too large."""

KINDS: tuple[type[Event], ...] = (
    StudyBegun,
    SessionBegun,
    StudyFinished,
    RecordsMerged,
    SearchBegun,
    SearchEnded,
    VerdictReached,
)
"""What is read of a record."""


@dataclass(frozen=True)
class Wanted:
    """What a search wants to know of earlier runs.

    Attributes:
        engine: the engine.
        file: what may be built; recipes are looked up in it.
        loads: names of the loads that it is for.
        quantity: what it is for; None: as much work as possible.
    """

    engine: str
    file: SpaceFile
    loads: tuple[str, ...]
    quantity: str | None


def recorded(home: Home, definition: Definition, *, fresh: bool) -> SearchBegun | None:
    """How the unfinished search of this definition began, so that it goes on with the prior that it had."""
    if fresh:
        return None
    with open_record(home, definition) as record:
        begun = record.last(SearchBegun) if record is not None else None
        return begun.event if begun is not None else None


def findings(home: Home, names: Sequence[str], wanted: Wanted) -> tuple[Finding, ...]:
    """What earlier runs found, on this host or others.

    Args:
        home: where runs are kept.
        names: runs' names, files of exported records, `HOME` or `NONE`; none: `HOME`.
        wanted: what is wanted to be known.

    Raises:
        UserError: there is no such run or file, it is of another engine, or nothing in it is of use.
    """
    if NONE in names and len(names) > 1:
        raise UserError(f"--prior {','.join(names)}: {NONE} stands alone; leave it out, or the others")
    kept = home.root if home.studies.exists() else None  # where nothing is kept, no id of the machine is made
    machine = read_host(programs=False, home=kept).machine
    found: dict[str, Finding] = {}
    for name in names or (HOME,):
        if name == HOME:
            runs = of_all(home, _finished)
            every = [_finding(by, wanted, machine) for by in runs if _engine(by) == wanted.engine]
            found = {one.name: one for one in every if _useful(one)} | found
        elif name != NONE:
            one = _named(home, name, wanted, machine)
            found[one.name] = one
    return tuple(found.values())


def _named(home: Home, name: str, wanted: Wanted, machine: str) -> Finding:
    if Path(name).is_file():
        by = ByType(events_of(Path(name), *KINDS))
    else:
        with contextlib.closing(Record(find(home, name))) as record:
            by = ByType(list(record.events(*KINDS)))
    if (own := _engine(by)) != wanted.engine:
        raise UserError(f"--prior {name}: it is of {own}, not of {wanted.engine}; name runs of one engine")
    finding = _finding(by, wanted, machine)
    if not _useful(finding):
        raise UserError(
            f"--prior {name}: it has no search that came to its end, and no verdict on builds that `burnish space "
            f"{wanted.engine}` knows; name a run of `burnish tune` or `burnish study run`"
        )
    return finding


def _finished(record: Record) -> Iterator[ByType]:
    """The events of a run that is finished."""
    if record.last(StudyFinished) is not None:
        yield ByType(list(record.events(*KINDS)))


def _engine(by: ByType) -> str:
    begun = by.last(StudyBegun)
    return str(begun.definition.get("engine")) if begun is not None else "?"


def _useful(finding: Finding) -> bool:
    return bool(finding.effects or finding.results or finding.best is not None)


def _finding(by: ByType, wanted: Wanted, machine: str) -> Finding:
    begun, ended, search = by.last(StudyBegun), by.last(SearchEnded), by.last(SearchBegun)
    assert begun is not None  # noqa: S101 - its engine is known
    host = _host(by)
    here = host == machine and host != "unknown"
    if ended is not None:
        same = search is not None and _work(aim_of(search.objective or None).quantity) == _work(wanted.quantity)
        near = here and same and search is not None and bool(search.weights.keys() & {*wanted.loads})
        best = ended.settings if ended.winner else None
        return Finding(begun.name, tuple(map(_effect, ended.effects)), best, (), host, near)
    logs = _logs(by, wanted)
    near = here and any(load in wanted.loads for loads in logs.values() for load in loads)
    results = tuple(_results(begun, logs, wanted))
    gains = {tuple(one.build.items()): one.gain for one in results if not one.base and one.gain > NORMAL * one.error}
    top = max(gains, key=lambda build: gains[build], default=None)
    return Finding(begun.name, (), dict(top) if top is not None else None, results, host, near)


def _host(by: ByType) -> str:
    """The machine of all its sessions; 'unknown' if there are several."""
    merged = by.last(RecordsMerged)
    facts = [host.facts for host in merged.hosts] if merged is not None else []
    machines = {str(one.get("machine", "unknown")) for one in facts or [one.host for one in by.of(SessionBegun)]}
    return machines.pop() if len(machines) == 1 else "unknown"


def _work(quantity: str | None) -> str | None:
    """Quantities of work are one: builds come in the same order by any of them."""
    return None if quantity in (CAPACITY.name, THROUGHPUT.name) else quantity


def _logs(by: ByType, wanted: Wanted) -> dict[CellId, dict[str, tuple[float, float]]]:
    """By pair of builds (a cell without its load), by load, the log-ratio of the headline and its error."""
    verdicts = {verdict.cell: verdict for verdict in by.of(VerdictReached)}
    found: dict[CellId, dict[str, tuple[float, float]]] = {}
    for cell, verdict in verdicts.items():
        interval = verdict.ratios.get(verdict.headline)
        if cell.role is not Role.CLAIM or cell.control or not cell.is_usual or not _sound(interval):
            continue
        if _work(verdict.headline) == _work(wanted.quantity) and interval is not None:
            half = 0.5 * (math.log(interval.high) - math.log(interval.low))
            pair = CellId(cell.candidate, "", base=cell.base)
            found.setdefault(pair, {})[cell.workload] = (math.log(interval.ratio), half / NORMAL)
    return found


def _sound(interval: Interval | None) -> bool:
    return interval is not None and 0.0 < interval.low < interval.high < math.inf


def _results(
    begun: StudyBegun, logs: Mapping[CellId, Mapping[str, tuple[float, float]]], wanted: Wanted
) -> Iterator[Result]:
    """What builds gained, on the loads that are wanted where there are such, else on all: the mean of their logs."""
    recipes = recipes_of(begun.definition)
    names = begun.definition.get("variants") or ("",)
    points: dict[str, Mapping[str, str] | None] = {}
    for pair, loads in logs.items():
        base = pair.base or str(names[0])
        for name in (pair.candidate, base):
            if name not in points:
                points[name] = _settings(wanted.file, recipes.get(name))
        one, other = points[pair.candidate], points[base]
        if one is None or other is None or one == other:
            continue
        kept = [read for load, read in loads.items() if load in wanted.loads] or list(loads.values())
        # One build on several loads: its error does not shrink with their number.
        error = math.sqrt(statistics.fmean(error**2 for _, error in kept))
        yield Result(one, other, statistics.fmean(gain for gain, _ in kept), error)


def _settings(file: SpaceFile, recipe: Mapping[str, Any] | None) -> Mapping[str, str] | None:
    """A recipe's choices that do not have their usual level; None if it is made of other things too."""
    point = file.point(recipe) if recipe is not None else None
    return dict(point.settings) if point is not None else None


def _effect(one: MainEffect) -> Effect:
    half = 0.5 * (math.log(one.high) - math.log(one.low)) if one.low > 0.0 else 0.0
    return Effect(one.choice, one.level, math.log(one.ratio), half / NORMAL, half, one.builds)
