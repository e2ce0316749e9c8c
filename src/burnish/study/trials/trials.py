"""Trials: starts of every cell in turn until each is decided; readings go to the record, verdicts come from it.

Three kinds of cell: claims (a candidate against the baseline on a workload), canaries (the baseline against
itself, a few starts mixed in so that each study carries its own check), and confirmations (a winner that was
picked from many, on fresh starts of a number fixed in advance).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from burnish.bench.pairs import Contestant, Pair, StartResult
from burnish.bench.trials import run_start
from burnish.engines.contract import Engine
from burnish.model.workload import Design, Timing
from burnish.program.built import Built
from burnish.record.record import Record
from burnish.record.store import Entry
from burnish.record.workbench import Bench
from burnish.statistics.replicates import judge_replicates
from burnish.statistics.verdicts import HostPrior, Judgement, Rule, judge, start_reading
from burnish.study.cells import AA, Cell, Role
from burnish.study.trials.copies import Copies
from burnish.study.trials.findings import plain_interval, sensitivity_values, side_summary
from burnish.study.trials.replicates import by_replicate, fresh
from burnish.study.trials.starts import INVALID_STARTS, canary_sd, cell_starts, check_designs, spoilt

CANARIES = 2
"""A/A starts of each workload that a study mixes in."""

CANARY_EVERY = 3
"""Starts of a cell between two canaries."""


@dataclass
class Trials:
    """Opens the starts of cells that share a baseline.

    Attributes:
        engine: the engine.
        record: where readings go.
        bench: progress.
        baseline: the side that every ratio is against.
        candidates: the other sides by name.
        times: of a start, by design.
        core_sets: one for each side.
        data: dataset entries by workload name.
        scratch: private folder.
        seed: the study's.
        priors: the host's calibration by (workload's name, design).
        count_events: whether the host's PMU can count.
        replicates: builds of each side by its name, one for each start in turn; empty without replicates.
    """

    engine: Engine
    record: Record
    bench: Bench
    baseline: Contestant
    candidates: Mapping[str, Contestant]
    times: Mapping[Design, Timing]
    core_sets: Sequence[frozenset[int]]
    data: Mapping[str, Entry]
    scratch: Path
    seed: int
    priors: Mapping[tuple[str, Design], HostPrior] = field(default_factory=dict)
    count_events: bool = False
    replicates: Mapping[str, Sequence[Built]] = field(default_factory=dict)

    @property
    def replicate_count(self) -> int:
        """Builds of each side; 0 without replicates."""
        return len(self.replicates.get(self.baseline.label, ()))

    def decide(self, cells: Sequence[Cell], rule: Rule) -> None:
        """Starts of these cells in turn until each is finished by this rule; resumes where the record ends."""
        open_cells = [cell for cell in cells if self.record.last("verdict", cell=cell.name) is None]
        check_designs(self.record, open_cells)
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
        # A number of starts that was fixed in advance is judged by itself, without the calibration's help.
        prior = self._prior(cell) if cell.role is Role.CLAIM else None
        return self._judge(cell, starts.of(cell.headline), rule, prior, canary_sd(self.record, cell))

    def _judge(
        self,
        cell: Cell,
        readings: Sequence[float],
        rule: Rule,
        prior: HostPrior | None = None,
        sd: float | None = None,
    ) -> Judgement:
        """What a cell's readings say: by replicate, which needs neither calibration nor canaries, or by start."""
        if self.replicate_count and cell.role is not Role.CANARY:
            return judge_replicates(by_replicate(readings, self.replicate_count), rule)
        return judge(readings, rule, prior, sd)

    def _prior(self, cell: Cell) -> HostPrior | None:
        """The host's calibration; it knows nothing of layouts, so replicates have none."""
        return None if self.replicate_count else self.priors.get((cell.workload.name, cell.design))

    def _canary(self, cell: Cell) -> None:
        """Mixes in a start of the baseline against itself, when one is due."""
        if cell.role is not Role.CLAIM:
            return
        canary = replace(cell, candidate=AA, role=Role.CANARY)
        had = cell_starts(self.record, canary.name)
        taken = len(cell_starts(self.record, cell.name).capacity)
        due = min(CANARIES, (taken + CANARY_EVERY - 1) // CANARY_EVERY)
        if len(had.capacity) < due and len(had.invalid) < INVALID_STARTS:
            self._start(canary, CANARIES)

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
            began = time.monotonic()
            data = Copies(self.data, self.scratch, self.bench).clean(cell.workload, len(self.core_sets))
            self.record.append(
                "start",
                cell=cell.name,
                start=number,
                design=cell.design,
                copy_seconds=round(time.monotonic() - began, 3),
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
                data=data,
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

    def _close(self, cell: Cell, judgement: Judgement, rule: Rule) -> None:
        starts = cell_starts(self.record, cell.name, pairs=True)
        about = {name: self._plainly(cell, starts.of(name), rule) for name in ("throughput", "capacity")}
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
            sensitivity=sensitivity_values(starts.of(cell.headline)),
            sides={
                label: side_summary(starts.pairs, label, starts.hardware)
                for label in (self.baseline.label, cell.candidate)
            },
        )
        self.bench.say(f"{cell.name}: {judgement.reason}")

    def _plainly(self, cell: Cell, readings: Sequence[float], rule: Rule) -> dict[str, float] | None:
        """The interval of one quantity by itself, as plain values; None where nothing was read."""
        return plain_interval(self._judge(cell, readings, rule).difference) if readings else None
