"""The contest: starts of every cell in turn until each is decided; readings to the record, verdicts from it."""

from __future__ import annotations

import math
import os
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.bench import datasets, readings
from burnish.bench.readings import Reading
from burnish.bench.trials import Contestant, Pair, StartResult, Timing, run_start
from burnish.engines.base import Engine
from burnish.record.record import Record
from burnish.record.store import Entry
from burnish.statistics.verdicts import Interval, Judgement, Rule, invalid, judge, start_reading
from burnish.study.model import Workload
from burnish.workbench import Bench

INVALID_STARTS = 3
"""So many invalid starts, and at least half as many as valid ones, make a cell invalid instead of being repeated."""


@dataclass(frozen=True)
class Cell:
    """One comparison: a candidate against the baseline on one workload."""

    candidate: str
    workload: Workload

    @property
    def name(self) -> str:
        """As in the record: ``clang-pgo-thinlto / oltp_read_only``."""
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
        timing: settle, window, warm-up, pairs.
        core_sets: one for each side.
        data: dataset entries by workload name.
        scratch: private folder.
        seed: the study's.
    """

    engine: Engine
    record: Record
    bench: Bench
    baseline: Contestant
    candidates: Mapping[str, Contestant]
    cells: Sequence[Cell]
    rule: Rule
    timing: Timing
    core_sets: Sequence[frozenset[int]]
    data: Mapping[str, Entry]
    scratch: Path
    seed: int

    def run(self) -> None:
        """Starts of all cells in turn, until every one is finished; picks up where the record ends."""
        open_cells = [cell for cell in self.cells if self.record.last("verdict", cell=cell.name) is None]
        while open_cells:
            for cell in list(open_cells):
                judgement = self.judge(cell)
                if not judgement.finished:
                    self._start(cell)
                    judgement = self.judge(cell)
                if judgement.finished:
                    self._close(cell, judgement)
                    open_cells.remove(cell)

    def judge(self, cell: Cell) -> Judgement:
        """What the record says of a cell so far."""
        starts = cell_starts(self.record, cell.name)
        if len(starts.invalid) >= INVALID_STARTS and 2 * len(starts.invalid) >= len(starts.capacity):
            reason, count = Counter(starts.invalid).most_common(1)[0]
            return invalid(f"{len(starts.invalid)} starts were invalid, {count} of them: {reason}")
        return judge(starts.capacity, self.rule)

    def _start(self, cell: Cell) -> None:
        number = sum(1 for event in self.record.events("start") if event.body["cell"] == cell.name) + 1
        done = cell_starts(self.record, cell.name)
        seed = f"{self.seed}/{cell.name}"
        title = f"{cell.name}: start {len(done.capacity) + 1} of at most {self.rule.cap}"
        folder = self.scratch / "start"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        with self.bench.step(title, f"trial-{cell.candidate}-{cell.workload.name}", None, counts=False):
            copied = self._data(cell.workload, len(self.core_sets))
            self.record.append("start", cell=cell.name, start=number, copy_seconds=round(copied, 3), seed=seed)

            def on_pair(index: int, pair: Pair) -> None:
                self.record.append("pair", cell=cell.name, start=number, pair=index, **pair.as_dict())

            result = run_start(
                self.engine,
                cell.workload,
                [self.baseline, self.candidates[cell.candidate]],
                core_sets=self.core_sets,
                data=[self._place(cell.workload, side) for side in range(len(self.core_sets))],
                scratch=folder,
                timing=self.timing,
                seed=seed,
                number=number,
                bench=self.bench,
                on_pair=on_pair,
            )
            self._close_start(cell, number, result)
        shutil.rmtree(folder, ignore_errors=True)

    def _close_start(self, cell: Cell, number: int, result: StartResult) -> None:
        values = result.as_dict()
        good = [pair for pair in result.pairs if pair.invalid is None]
        if values["invalid"] is None and not good:
            values["invalid"] = result.pairs[0].invalid if result.pairs else "no pair was read"
        before = self.record.last("start_done", workload=cell.workload.name, invalid=None)
        if values["invalid"] is None and before and before.body["fingerprint"] != result.fingerprint:
            values["invalid"] = f"the data differ from those of earlier starts ({result.fingerprint[:12]})"
        if values["invalid"] is None:
            ratios = [_ratio(pair, self.baseline.label, cell.candidate) for pair in good]
            values["capacity"] = start_reading([ratio.capacity for ratio in ratios])
            values["throughput"] = start_reading([ratio.throughput for ratio in ratios])
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

    def _close(self, cell: Cell, judgement: Judgement) -> None:
        starts = cell_starts(self.record, cell.name)
        through = judge(starts.throughput, self.rule) if starts.throughput else None
        self.record.append(
            "verdict",
            cell=cell.name,
            candidate=cell.candidate,
            workload=cell.workload.name,
            unit=cell.workload.unit,
            verdict=str(judgement.kind),
            reason=judgement.reason,
            capacity=_interval(judgement.interval),
            throughput=_interval(through.difference if through else None),
            starts=judgement.starts,
            invalid_starts=len(starts.invalid),
            sd_between=judgement.sd_between if judgement.starts > 1 else None,
            sides={label: _summary(starts.readings.get(label, [])) for label in (self.baseline.label, cell.candidate)},
        )
        self.bench.say(f"{cell.name}: {judgement.reason}")


@dataclass(frozen=True)
class Starts:
    """A cell's finished starts.

    Attributes:
        capacity: log-ratio of each valid start.
        throughput: likewise.
        invalid: reasons of the invalid ones.
        readings: by side, the readings of all valid pairs.
    """

    capacity: list[float]
    throughput: list[float]
    invalid: list[str]
    readings: dict[str, list[Reading]]


def cell_starts(record: Record, cell: str) -> Starts:
    """The finished starts of a cell, from its record alone; what has no closing event counts for nothing."""
    closed = {event.body["start"]: event.body for event in record.events("start_done") if event.body["cell"] == cell}
    valid = {number: body for number, body in closed.items() if body["invalid"] is None}
    sides: dict[str, list[Reading]] = {}
    for event in record.events("pair"):
        body = event.body
        if body["cell"] == cell and body["start"] in valid and body["invalid"] is None:
            for label in body["halves"][0]:
                halves = [_reading(half[label]) for half in body["halves"]]
                sides.setdefault(label, []).append(readings.total(halves))
    return Starts(
        capacity=[body["capacity"] for body in valid.values()],
        throughput=[body["throughput"] for body in valid.values()],
        invalid=[body["invalid"] for body in closed.values() if body["invalid"] is not None],
        readings=sides,
    )


def _reading(values: Mapping[str, Any]) -> Reading:
    return Reading(**{**values, "cores": tuple(values["cores"])})


def _ratio(pair: Pair, baseline: str, candidate: str) -> readings.PairRatio:
    return readings.pair_ratio([half[baseline] for half in pair.halves], [half[candidate] for half in pair.halves])


def _interval(interval: Interval | None) -> dict[str, float] | None:
    """Plain values for the record; None where too few starts were read to bound the ratio at all."""
    if interval is None or math.isinf(interval.high):
        return None
    return {"ratio": interval.ratio, "low": interval.low, "high": interval.high, "level": interval.level}


def _summary(items: Sequence[Reading]) -> dict[str, Any] | None:
    """Medians over a side's pairs, for the report."""
    if not items:
        return None
    names = {name for item in items for name in item.latency}
    kernel = sum(item.system for item in items) / max(1e-9, sum(item.user + item.system for item in items))
    per = [item.server_cpu / item.done for item in items]
    return {
        "throughput": statistics.median(item.throughput for item in items),
        "server_cpu_per_transaction": statistics.median(per),
        "kernel_share": kernel,
        "latency": {
            name: statistics.median(item.latency[name] for item in items if name in item.latency) for name in names
        },
        "client_cpu_per_transaction": statistics.median(item.client_cpu / item.done for item in items),
    }
