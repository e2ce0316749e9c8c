"""The contest: starts of every cell in turn until each is decided; readings to the record, verdicts from it.

Three kinds of cell: claims (a candidate against the baseline on a workload), canaries (the baseline against
itself, a few starts mixed in so that each study carries its own check), and confirmations (a winner that was
picked from many, on fresh starts of a number fixed in advance).
"""

from __future__ import annotations

import math
import os
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from burnish.bench import datasets
from burnish.bench.pairs import Contestant, Pair, StartResult
from burnish.bench.trials import run_start
from burnish.engines.base import Built, Engine
from burnish.record.record import Event, Record
from burnish.record.store import Entry
from burnish.run.replicates import by_replicate, fresh
from burnish.statistics import multiplicity
from burnish.statistics.replicates import judge_replicates
from burnish.statistics.sensitivity import sensitivity
from burnish.statistics.verdicts import (
    HostPrior,
    Interval,
    Judgement,
    Kind,
    Rule,
    invalid,
    judge,
    start_reading,
)
from burnish.study.model import Design, Timing, Workload
from burnish.workbench import Bench

INVALID_STARTS = 3
"""So many invalid starts, and at least half as many as valid ones, make a cell invalid instead of being repeated."""

CANARIES = 2
"""A/A starts of each workload that a study mixes in."""

CANARY_EVERY = 3
"""Starts of a cell between two canaries."""

MANY = 3
"""More candidates than this make the best of them look better than it is: it is measured again."""

CONFIRMING_STARTS = 8
"""Starts of a confirmation."""

AA = "A/A"
"""Candidate of a canary's cell: the baseline once more."""


class Role(StrEnum):
    """What a cell is for."""

    CLAIM = "claim"
    CANARY = "canary"
    CONFIRMATION = "confirmation"


@dataclass(frozen=True)
class Cell:
    """One comparison: a candidate against the baseline on one workload.

    Attributes:
        candidate: a candidate's name, or `AA`.
        workload: the load.
        design: how the sides share the host.
        headline: what the verdict is about: ``capacity`` where server and load share cores, else ``throughput``.
        role: what the cell is for.
        tag: what sets it apart from another cell of the same candidate and workload.
    """

    candidate: str
    workload: Workload
    design: Design = Design.DUET
    headline: str = "capacity"
    role: Role = Role.CLAIM
    tag: str = ""

    @property
    def name(self) -> str:
        """As in the record: ``clang-pgo-thinlto / oltp_read_only``, with a tag before it where one is needed."""
        return f"{self.tag}: {self.label}" if self.tag else self.label

    @property
    def label(self) -> str:
        """Candidate and workload."""
        return f"{self.candidate} / {self.workload.name}"


@dataclass
class Contest:
    """Runs the trials of a study.

    Attributes:
        engine: the engine.
        record: where readings go.
        bench: progress.
        baseline: the side that every ratio is against.
        candidates: the other sides by name.
        cells: what is compared.
        rule: when a cell is decided.
        times: of a start, by design.
        core_sets: one for each side.
        data: dataset entries by workload name.
        scratch: private folder.
        seed: the study's.
        priors: the host's calibration by (workload's name, design).
        canaries: A/A starts of each workload.
        count_events: whether the host's PMU can count.
        explore: whether the cells are looked through rather than claimed together.
        replicates: builds of each side by its name, one for each start in turn; empty without replicates.
    """

    engine: Engine
    record: Record
    bench: Bench
    baseline: Contestant
    candidates: Mapping[str, Contestant]
    cells: Sequence[Cell]
    rule: Rule
    times: Mapping[Design, Timing]
    core_sets: Sequence[frozenset[int]]
    data: Mapping[str, Entry]
    scratch: Path
    seed: int
    priors: Mapping[tuple[str, Design], HostPrior] = field(default_factory=dict)
    canaries: int = CANARIES
    count_events: bool = False
    explore: bool = False
    replicates: Mapping[str, Sequence[Built]] = field(default_factory=dict)

    @property
    def replicate_count(self) -> int:
        """Builds of each side; 0 without replicates."""
        return len(self.replicates.get(self.baseline.label, ()))

    def run(self) -> None:
        """Starts of all cells in turn, until every one is finished; picks up where the record ends."""
        self.decide(self.cells, self.rule)
        if not self.cells:
            return
        kinds = self._claim_together()
        again = self._to_confirm(kinds)
        fixed = min(CONFIRMING_STARTS, self.replicate_count or CONFIRMING_STARTS)
        self.decide(again, Rule.fixed(fixed, delta=self.rule.delta))

    def decide(self, cells: Sequence[Cell], rule: Rule) -> None:
        """Starts of these cells in turn until each is finished by this rule."""
        open_cells = [cell for cell in cells if self.record.last("verdict", cell=cell.name) is None]
        while open_cells:
            for cell in list(open_cells):
                judgement = self.judge(cell, rule)
                if not judgement.finished:
                    self._start(cell, rule.cap)
                    self._canary(cell)
                    judgement = self.judge(cell, rule)
                if judgement.finished:
                    self._close(cell, judgement, rule)
                    open_cells.remove(cell)

    def judge(self, cell: Cell, rule: Rule) -> Judgement:
        """What the record says of a cell so far."""
        starts = cell_starts(self.record, cell.name)
        if (bad := spoilt(starts.invalid, len(starts.capacity))) is not None:
            return bad
        if self.replicate_count and cell.role is not Role.CANARY:
            return judge_replicates(by_replicate(starts.of(cell.headline), self.replicate_count), rule)
        # A number of starts that was fixed in advance is judged by itself, without the calibration's help.
        prior = self._prior(cell) if cell.role is Role.CLAIM else None
        return judge(starts.of(cell.headline), rule, prior, self._canary_sd(cell))

    def _prior(self, cell: Cell) -> HostPrior | None:
        """The host's calibration; it knows nothing of layouts, so replicates have none."""
        return None if self.replicate_count else self.priors.get((cell.workload.name, cell.design))

    def _canary_sd(self, cell: Cell) -> float | None:
        """Spread of this study's canaries of the cell's workload; None below two."""
        canary = replace(cell, candidate=AA, tag="" if cell.role is Role.CONFIRMATION else cell.tag)
        return spread_about_zero(cell_starts(self.record, canary.name).of(cell.headline))

    def _canary(self, cell: Cell) -> None:
        """Mixes in a start of the baseline against itself, when one is due."""
        if cell.role is not Role.CLAIM:
            return
        canary = replace(cell, candidate=AA, role=Role.CANARY)
        had = cell_starts(self.record, canary.name)
        taken = len(cell_starts(self.record, cell.name).capacity)
        due = min(self.canaries, (taken + CANARY_EVERY - 1) // CANARY_EVERY)
        if len(had.capacity) < due and len(had.invalid) < INVALID_STARTS:
            self._start(canary, self.canaries)

    def _claim_together(self) -> dict[str, Kind]:
        """The verdicts as one family, beside each as if it were the only one; returns them by cell."""
        family = [
            multiplicity.Cell(
                cell.name,
                tuple(cell_starts(self.record, cell.name).of(cell.headline)),
                self._prior(cell),
                self._canary_sd(cell),
            )
            for cell in self.cells
        ]
        return claim_together(self.record, family, self.rule, explore=self.explore)

    def _to_confirm(self, kinds: Mapping[str, Kind]) -> list[Cell]:
        """The winner's cells, once more, where it was picked from many."""
        values = {
            name: statistics.fmean(
                statistics.fmean(cell_starts(self.record, cell.name).of(cell.headline)) for cell in mine
            )
            for name in self.candidates
            if (mine := [cell for cell in self.cells if cell.candidate == name])
            and all(kinds[cell.name] is Kind.FASTER for cell in mine)
        }
        if len(self.candidates) <= MANY or not values:
            return []
        best = max(values, key=lambda name: values[name])
        self.bench.say(
            f"{best} is the best of {len(self.candidates)}: measured again on {CONFIRMING_STARTS} fresh starts"
        )
        return [replace(cell, role=Role.CONFIRMATION, tag="again") for cell in self.cells if cell.candidate == best]

    def _start(self, cell: Cell, cap: int) -> None:
        number = sum(1 for _ in self.record.events("start", cell=cell.name)) + 1
        done = cell_starts(self.record, cell.name)
        seed = f"{self.seed}/{cell.name}"
        title = f"{cell.name}: start {len(done.capacity) + 1} of at most {cap}"
        folder = self.scratch / "start"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        baseline = self._fresh(self.baseline, len(done.capacity))
        equal = cell.candidate == AA
        candidate = (
            replace(baseline, label=AA) if equal else self._fresh(self.candidates[cell.candidate], len(done.capacity))
        )
        with self.bench.step(title, f"trial-{cell.candidate}-{cell.workload.name}", None, counts=False):
            copied = self._data(cell.workload, len(self.core_sets))
            self.record.append(
                "start",
                cell=cell.name,
                start=number,
                design=cell.design,
                copy_seconds=round(copied, 3),
                seed=seed,
                builds={side.label: side.built.key for side in (baseline, candidate)},
            )

            def on_pair(index: int, pair: Pair) -> None:
                self.record.append("pair", cell=cell.name, start=number, pair=index, **pair.as_dict())

            result = run_start(
                self.engine,
                cell.workload,
                [baseline, candidate],
                design=cell.design,
                core_sets=self.core_sets,
                data=[self._place(cell.workload, side) for side in range(len(self.core_sets))],
                scratch=folder,
                timing=self.times[cell.design],
                seed=seed,
                number=number,
                bench=self.bench,
                on_pair=on_pair,
                count_events=self.count_events,
            )
            self._close_start(cell, number, result)
        shutil.rmtree(folder, ignore_errors=True)

    def _fresh(self, side: Contestant, start: int) -> Contestant:
        """The side with its build for this start, where it has several."""
        return replace(side, built=fresh(self.replicates, side.label, start) or side.built)

    def _close_start(self, cell: Cell, number: int, result: StartResult) -> None:
        values = result.as_dict()
        good = [pair for pair in result.pairs if pair.invalid is None]
        if values["invalid"] is None and not good:
            values["invalid"] = result.pairs[0].invalid if result.pairs else "no pair was read"
        before = self.record.last("start_done", workload=cell.workload.name, invalid=None)
        if values["invalid"] is None and before and before.body["fingerprint"] != result.fingerprint:
            values["invalid"] = f"the data differ from those of earlier starts ({result.fingerprint[:12]})"
        if values["invalid"] is None:
            ratios = [pair.ratio(self.baseline.label, cell.candidate) for pair in good]
            values["capacity"] = start_reading([ratio.capacity for ratio in ratios])
            values["throughput"] = start_reading([ratio.throughput for ratio in ratios])
            values["pair_ratios"] = [[ratio.capacity, ratio.throughput] for ratio in ratios]
        self.record.append("start_done", cell=cell.name, workload=cell.workload.name, start=number, **values)
        if values["invalid"] is not None:
            self.bench.say(f"{cell.name}: start {number} is invalid and will be repeated: {values['invalid']}")

    def _place(self, workload: Workload, side: int) -> Path:
        """Where a side's copy of the workload's data is; each dataset has places of its own."""
        entry = self.data.get(workload.name)
        return self.scratch / (f"data{side}-{entry.key}" if entry else f"no-data{side}")

    def _data(self, workload: Workload, sides: int) -> float:
        """Puts a clean copy of the workload's data at each side's place; returns the seconds it took.

        Copies that nothing wrote to are used again: a file beside them says that they are clean.
        """
        began = time.monotonic()
        entry = self.data.get(workload.name)
        for side in range(sides):
            place = self._place(workload, side)
            if entry is None:
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir(mode=0o700, parents=True)
                continue
            clean = place.with_name(f"{place.name}.clean")
            if not clean.exists():
                datasets.copy(entry, place, self.bench)
            if workload.writes:
                clean.unlink(missing_ok=True)
            else:
                clean.touch()
        os.sync()
        return time.monotonic() - began

    def _close(self, cell: Cell, judgement: Judgement, rule: Rule) -> None:
        starts = cell_starts(self.record, cell.name, pairs=True)
        other, capacity = (self._plainly(cell, starts.of(name), rule) for name in ("throughput", "capacity"))
        about = {"throughput": plain_interval(other.difference if other else None)}
        about["capacity"] = plain_interval(capacity.difference if capacity else None)
        about[cell.headline] = plain_interval(judgement.interval)
        self.record.append(
            "verdict",
            cell=cell.name,
            role=cell.role,
            candidate=cell.candidate,
            workload=cell.workload.name,
            design=cell.design,
            headline=cell.headline,
            unit=cell.workload.unit,
            per_minute=cell.workload.per_minute,
            verdict=str(judgement.kind),
            reason=judgement.reason,
            **about,
            starts=judgement.starts,
            invalid_starts=len(starts.invalid),
            invalid_pairs=starts.invalid_pairs,
            unsettled=starts.unsettled,
            sd_between=judgement.sd_between if judgement.starts > 1 else None,
            sensitivity=[
                {"name": name, **(plain_interval(interval) or {})}
                for name, interval in sensitivity(starts.of(cell.headline))
            ],
            sides={
                label: side_summary(starts.pairs, label, starts.hardware)
                for label in (self.baseline.label, cell.candidate)
            },
        )
        self.bench.say(f"{cell.name}: {judgement.reason}")

    def _plainly(self, cell: Cell, readings: Sequence[float], rule: Rule) -> Judgement | None:
        """What one quantity says by itself; None where nothing was read."""
        if not readings:
            return None
        if self.replicate_count and cell.role is not Role.CANARY:
            return judge_replicates(by_replicate(readings, self.replicate_count), rule)
        return judge(readings, rule)


def claim_together(
    record: Record, family: Sequence[multiplicity.Cell], rule: Rule, *, explore: bool
) -> dict[str, Kind]:
    """Records what a family of decided cells says when all are claimed together; returns the verdicts by cell.

    Args:
        record: the study's; it has each cell's verdict alone.
        family: the cells.
        rule: the one that they were sampled by.
        explore: whether they are looked through rather than claimed.
    """
    method = multiplicity.exploration if explore else multiplicity.claims
    closed = {event.body["cell"]: event.body["verdict"] for event in record.events("verdict")}
    kinds, found = {}, {}
    for each in method(family, rule):
        kinds[each.name] = Kind.INVALID if closed[each.name] == Kind.INVALID else each.kind
        found[each.name] = claim_values(each, kinds[each.name])
    record.append("family", explore=explore, cells=found)
    return kinds


@dataclass(frozen=True)
class Starts:
    """A cell's finished starts.

    Attributes:
        capacity: log-ratio of each valid start.
        throughput: likewise.
        invalid: reasons of the invalid ones.
        pairs: the valid pairs of the valid starts, as recorded.
        pair_ratios: for each valid start, the log-ratios of its valid pairs, (capacity, throughput) each.
        invalid_pairs: pairs of valid starts that count for nothing.
        unsettled: valid starts whose rate never was steady.
        hardware: of each valid start, events per transaction by side.
        seconds: wall time of each valid start.
    """

    capacity: list[float]
    throughput: list[float]
    invalid: list[str]
    pairs: list[Mapping[str, Any]]
    pair_ratios: list[list[tuple[float, float]]]
    invalid_pairs: int
    unsettled: int
    hardware: list[Mapping[str, Mapping[str, float]]]
    seconds: list[float]

    def of(self, quantity: str) -> list[float]:
        """Log-ratios of ``capacity`` or ``throughput``."""
        return self.capacity if quantity == "capacity" else self.throughput


def cell_starts(record: Record, cell: str, *, pairs: bool = False) -> Starts:
    """The finished starts of a cell, from its record alone; what has no closing event counts for nothing.

    Args:
        record: the study's.
        cell: the cell's name.
        pairs: whether the pairs are read too, which takes longer; without, `Starts.pairs` is empty.
    """
    kinds = ("start_done", "pair") if pairs else ("start_done",)
    return starts_of(record.events(*kinds, cell=cell))


def starts_of(events: Iterable[Event]) -> Starts:
    """The finished starts among events of one cell: its ``start_done`` and, where they are wanted, its ``pair``."""
    every = list(events)
    closed = {event.body["start"]: event.body for event in every if event.kind == "start_done"}
    valid = {number: body for number, body in closed.items() if body["invalid"] is None}
    read = [event.body for event in every if event.kind == "pair" and event.body["start"] in valid]
    return Starts(
        capacity=[body["capacity"] for body in valid.values()],
        throughput=[body["throughput"] for body in valid.values()],
        invalid=[body["invalid"] for body in closed.values() if body["invalid"] is not None],
        pairs=[body for body in read if body["invalid"] is None],
        pair_ratios=[[(c, t) for c, t in body["pair_ratios"]] for body in valid.values()],
        invalid_pairs=sum(body["invalid"] is not None for body in read),
        unsettled=sum(not body["settled"] for body in valid.values()),
        hardware=[body["hardware"] for body in valid.values() if body["hardware"]],
        seconds=[body["seconds"] for body in valid.values()],
    )


def spoilt(reasons: Sequence[str], valid: int) -> Judgement | None:
    """The judgement of a cell of which too many starts were invalid; None where they are few enough to be repeated.

    Args:
        reasons: why starts were invalid, one each.
        valid: how many were not.
    """
    if len(reasons) < INVALID_STARTS or 2 * len(reasons) < valid:
        return None
    reason, count = Counter(reasons).most_common(1)[0]
    return invalid(f"{len(reasons)} starts were invalid, {count} of them: {reason}", valid)


def spread_about_zero(readings: Sequence[float]) -> float | None:
    """Standard deviation of A/A readings, whose mean is known to be 0; None below two."""
    if len(readings) < 2:
        return None
    return math.sqrt(statistics.fmean(value * value for value in readings))


def plain_interval(interval: Interval | None) -> dict[str, float] | None:
    """Plain values for the record; None where too few starts were read to bound the ratio at all."""
    if interval is None or math.isinf(interval.high):
        return None
    return {"ratio": interval.ratio, "low": interval.low, "high": interval.high, "level": interval.level}


def claim_values(claim: multiplicity.Corrected, kind: Kind) -> dict[str, Any]:
    """A cell's verdict as one of a family, as plain values for the record."""
    return {
        "verdict": str(kind),
        "p": claim.p,
        "adjusted_p": claim.adjusted_p,
        "adjusted_equivalence_p": claim.adjusted_equivalence_p,
        "interval": plain_interval(claim.interval),
        "label": claim.label,
    }


def side_summary(
    pairs: Sequence[Mapping[str, Any]], label: str, hardware: Sequence[Mapping[str, Mapping[str, float]]]
) -> dict[str, Any] | None:
    """Medians over a side's pairs, for the report."""
    if not pairs:
        return None
    sides = [pair["sides"][label] for pair in pairs]
    usage = [pair["usage"][label] for pair in pairs]
    names = {name for side in sides for name in side["latency"]}
    spent = sum(used["user"] + used["system"] for used in usage)

    def per_transaction(name: str) -> float:
        """Of what was counted over whole pairs, by the share of its CPU time that fell into the turns."""
        values: list[float] = [
            used[name] / side["done"] * min(1.0, side["server_cpu"] / max(1e-9, used["user"] + used["system"]))
            for used, side in zip(usage, sides, strict=True)
        ]
        return statistics.median(values)

    return {
        "throughput": statistics.median(side["done"] / side["seconds"] for side in sides),
        "server_cpu_per_transaction": statistics.median(side["server_cpu"] / side["done"] for side in sides),
        "client_cpu_per_transaction": statistics.median(side["client_cpu"] / side["done"] for side in sides),
        "kernel_share": sum(used["system"] for used in usage) / spent if spent > 0 else 0.0,
        "busy": statistics.median(pair["busy"][label] for pair in pairs),
        "latency": {
            name: statistics.median(side["latency"][name] for side in sides if name in side["latency"])
            for name in sorted(names)
        },
        "waits_per_transaction": per_transaction("waits"),
        "preemptions_per_transaction": per_transaction("preemptions"),
        "faults_per_transaction": per_transaction("minor_faults") + per_transaction("major_faults"),
        "rss_bytes": statistics.median(used["rss_bytes"] for used in usage),
        "steal": statistics.median(pair["steal"] for pair in pairs),
        "hardware": {
            name: statistics.median(each[label][name] for each in hardware if name in each.get(label, {}))
            for name in sorted({name for each in hardware for name in each.get(label, {})})
        },
    }
