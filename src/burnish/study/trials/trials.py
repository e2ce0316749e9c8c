"""Trials: starts of every cell in turn until each is decided; readings go to the record, verdicts come from it.

There are three kinds of cell: claims (a candidate against the baseline on a workload), canaries (the baseline against
itself: a few starts in every study, as a check of the host), and confirmations (a winner that was picked from many, on
a fixed number of fresh starts).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from burnish.bench.pairs import Contestant, Pair, StartResult
from burnish.bench.probe import Probe, worth_probing
from burnish.bench.slots import draw_slots
from burnish.bench.trials import run_start
from burnish.engines.contract import Engine
from burnish.model.cell import AA, Role
from burnish.model.quantity import BY_NAME, LATENCIES, QUANTITIES, read_for
from burnish.model.sittings import Schedule
from burnish.model.workload import Design, Placement, Timing
from burnish.program.built import Built
from burnish.record.events.trials import HostState, StartBegun, StartDone
from burnish.record.events.verdicts import Calibrated, Interval, VerdictReached
from burnish.record.record import Record
from burnish.record.store import Entry
from burnish.record.workbench import Bench
from burnish.statistics.hosts import HostCell
from burnish.statistics.intervals import Interval as Estimate
from burnish.statistics.replicates import by_replicate, judge_replicates, replicate_readings
from burnish.statistics.verdicts import HostPrior, Judgement, Rule, judge, start_reading
from burnish.study.cells import Cell
from burnish.study.trials.copies import Copies
from burnish.study.trials.dropping import Dropping
from burnish.study.trials.findings import interval_of, other_methods, side_summary, within
from burnish.study.trials.progress import Progress, probable_starts
from burnish.study.trials.readings import pair_read, start_done
from burnish.study.trials.replicates import fresh, program
from burnish.study.trials.schedule import CellSittings, cell_sittings, is_due, is_open
from burnish.study.trials.starts import INVALID_STARTS, canary_sd, cell_starts, check_designs
from burnish.study.trials.storing import Storing
from burnish.study.trials.timing import start_seconds
from burnish.study.trials.together import Sharing, together

CANARIES = 2
"""Number of A/A starts of each workload that a study includes."""

CANARY_EVERY = 3
"""Starts of a cell between two canaries, on a host that is not calibrated for its load."""

LONG_TAG = 40
"""Characters from which a cell's tag is said once and not with each start: half of a line of a terminal."""


def _unread(headline: str) -> str:
    """Why a start without a reading of what its cell is about is invalid."""
    quantity = BY_NAME[headline]
    why = "no request ended in one of its turns; a higher rate gives one" if quantity in LATENCIES else "see its turns"
    return f"no {quantity.title} could be read: {why}"


@dataclass
class Trials:
    """Takes the starts of cells that share a baseline.

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
        seed: the study's random seed.
        priors: the host's calibration by (workload's name, design, placement).
        count_events: whether the host's PMU can count.
        replicates: builds of each side by its name, one for each start in turn; empty without replicates.
        progress: the starts that this session has taken.
        schedule: in how many sittings cells are measured.
        boot: the host's boot; '' if unknown.
        probe: of the host's state; None: it is not recorded.
        storing: decides where data are; None: all are in `scratch`.
        dropping: drops the sides' programs from the page cache before each start; None: they stay as they are.
        sharing: how candidates share a baseline in the starts of `take`; None: each has its own.
        upgraded: see `Copies`.
        apart: labels of candidates that failed beside others, and so share no more.
        shortened: the tag that lines of progress leave out now; '' none.
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
    priors: Mapping[tuple[str, Design, Placement], HostPrior] = field(default_factory=dict)
    count_events: bool = False
    replicates: Mapping[str, Sequence[Built]] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    schedule: Schedule = field(default_factory=Schedule)
    boot: str = ""
    probe: Probe | None = None
    storing: Storing | None = None
    dropping: Dropping | None = None
    sharing: Sharing | None = None
    upgraded: bool = False
    apart: set[str] = field(default_factory=set)
    shortened: str = ""

    @property
    def replicate_count(self) -> int:
        """Builds of each side; 0 without replicates."""
        return len(self.replicates.get(self.baseline.label, ()))

    def decide(self, cells: Sequence[Cell], rule: Rule) -> None:
        """Takes starts of these cells in turn until each is finished by this rule; resumes where the record ends.

        Cells that have a verdict get the starts of another sitting, if one is due; those that the host disturbed are
        open again in a later sitting.
        """
        self._sit_again([cell for cell in cells if is_due(self._sittings(cell), self.schedule)])
        open_cells = [cell for cell in cells if is_open(self.record, cell.id, self.boot)]
        check_designs(self.record, open_cells)
        while open_cells:
            for cell in list(open_cells):
                judgement = self.judge(cell, rule)
                if not judgement.finished:
                    self._start([cell], self._left(open_cells, rule))
                    self._canary(cell, self._left(open_cells, rule))
                    judgement = self.judge(cell, rule)
                if judgement.finished:
                    self._close(cell, judgement, rule)
                    open_cells.remove(cell)

    def take(self, wanted: Sequence[tuple[Cell, int]]) -> None:
        """Takes starts of these cells in turn until each has so many valid ones; resumes where the record ends.

        Cells of one load share their baseline's starts as far as `sharing` goes. No verdict is given: see `conclude`.
        """
        check_designs(self.record, [cell for cell, _ in wanted])
        while lacking := [cell for cell, starts in wanted if self._lacking(cell, starts)]:
            for cells in together(lacking, self.sharing, self.candidates, self.apart):
                left = sum(self._lacking(cell, starts) for cell, starts in wanted)
                self._start(cells, left)
                for cell in cells:
                    self._canary(cell, left)

    def _lacking(self, cell: Cell, starts: int) -> int:
        """How many valid starts a cell lacks; none if too many were invalid."""
        had = cell_starts(self.record, cell.id)
        return 0 if had.invalid_judgement is not None else max(0, starts - had.valid)

    def conclude(self, cells: Sequence[Cell], rule: Rule) -> None:
        """Records the verdicts of cells by the starts that they have; those without any have none."""
        for cell in cells:
            had = cell_starts(self.record, cell.id)
            if (had.valid or had.invalid) and self.record.last(VerdictReached, cell=cell.id) is None:
                self._close(cell, self.judge(cell, rule), rule)

    def sit_again(self, cells: Sequence[Cell]) -> None:
        """Takes the starts of another sitting of cells that have a verdict; of one that was interrupted, the rest."""
        sittings = [(cell, self._sittings(cell)) for cell in cells]
        self._sit_again([cell for cell, one in sittings if one is not None and one.taken < one.target])

    def _sittings(self, cell: Cell) -> CellSittings | None:
        return cell_sittings(self.record, cell.id, self.boot)

    def _sit_again(self, cells: Sequence[Cell]) -> None:
        """Takes as many starts of these cells, in turn, as their first sittings had; no look at them ends it early."""
        check_designs(self.record, cells)
        open_cells = list(cells)
        while open_cells:
            for cell in list(open_cells):
                sitting = self._sittings(cell)
                if sitting is None or sitting.taken >= sitting.target or sitting.given_up:
                    self._close_sitting(cell, sitting.taken if sitting else 0)
                    open_cells.remove(cell)
                    continue
                left = sum(max(0, one.target - one.taken) for one in map(self._sittings, open_cells) if one)
                self._start([cell], left)

    def _close_sitting(self, cell: Cell, starts: int) -> None:
        """Records the verdict of a further sitting by itself; reports judge all sittings together."""
        if starts > 1:
            rule = Rule.fixed(starts)
            readings = cell_starts(self.record, cell.id).of(cell.headline)[-starts:]
            self._close(cell, self._judge(cell, readings, rule), rule, last=starts)

    def judge(self, cell: Cell, rule: Rule) -> Judgement:
        """The judgement of a cell by the starts that are recorded so far."""
        starts = cell_starts(self.record, cell.id)
        if (bad := starts.invalid_judgement) is not None:
            return bad
        prior = self._prior_by(cell, rule)
        return self._judge(cell, starts.of(cell.headline), rule, prior, canary_sd(self.record, cell))

    def _prior_by(self, cell: Cell, rule: Rule) -> HostPrior | None:
        """The host's calibration, if the rule may use it for the cell.

        A fixed number of starts is judged by itself, without the calibration: nothing looks before its end.
        """
        return self._prior(cell) if cell.role is Role.CLAIM and rule.sequential else None

    def _judge(
        self,
        cell: Cell,
        readings: Sequence[float],
        rule: Rule,
        prior: HostPrior | None = None,
        sd: float | None = None,
    ) -> Judgement:
        """Judges readings by replicate, which needs neither calibration nor canaries, or by start."""
        if self.replicate_count and cell.role is not Role.CANARY:
            return judge_replicates(by_replicate(readings, self.replicate_count), rule)
        return judge(readings, rule, prior, sd)

    def _over_all(self, cell: Cell, readings: Sequence[float], rule: Rule) -> Estimate | None:
        """The interval over all readings, at the level of the rule's looks."""
        replicated = self.replicate_count and cell.role is not Role.CANARY
        used = replicate_readings(by_replicate(readings, self.replicate_count)) if replicated else readings
        return HostCell(cell.name, {"": used}).judge(rule).difference

    def _prior(self, cell: Cell) -> HostPrior | None:
        """The host's calibration; it knows nothing of layouts, so replicates have none."""
        return None if self.replicate_count else self.priors.get(cell.manner)

    def _left(self, open_cells: Sequence[Cell], rule: Rule) -> int:
        """The number of starts of these cells that are probably left, without canaries."""
        every = (cell_starts(self.record, cell.id).of(cell.headline) for cell in open_cells)
        return sum(probable_starts(readings, rule) - len(readings) for readings in every)

    def _canary(self, cell: Cell, left: int) -> None:
        """Takes a start of the baseline against itself, if one is due."""
        if cell.role is not Role.CLAIM:
            return
        canary = cell.canary
        had = cell_starts(self.record, canary.id)
        taken = cell_starts(self.record, cell.id).valid
        # On a calibrated host the fast lane looks after two starts, and canaries have to be there before.
        every = 1 if self._prior(cell) is not None else CANARY_EVERY
        due = min(CANARIES, (taken + every - 1) // every)
        if had.valid < due and len(had.invalid) < INVALID_STARTS:
            self._start([canary], left)

    def _start(self, cells: Sequence[Cell], left: int) -> None:
        """Takes one start of each of these cells, all in one where they are several; they have one baseline."""
        first, *more = cells
        numbers = [sum(1 for _ in self.record.events(StartBegun, cell=cell.id)) + 1 for cell in cells]
        seed = f"{self.seed}/{' + '.join(cell.name for cell in cells)}"
        folder = self.scratch / "start"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        done = cell_starts(self.record, first.id).valid  # replicates are fresh by it, and cells with any do not share
        baseline = self._fresh(self.baseline, done)
        equal = first.id.candidate == AA
        sides = [baseline, replace(baseline, label=AA) if equal else self._fresh(self.candidates[first.label], done)]
        sides += [self.candidates[cell.label] for cell in more]
        core_sets = self._core_sets(first, len(sides))
        place = self.progress.words(left, start_seconds(self.times[first.design]))
        name = ", ".join([*(cell.label for cell in cells[:-1]), self._short(cells[-1])])
        log = f"trial-{'+'.join(cell.label for cell in cells)}-{first.workload.name}"
        begun = time.monotonic()
        with self.bench.step(name, log, place=place):
            began = time.monotonic()
            storage, data = self._data(first, sides, draw_slots([side.label for side in sides], seed, numbers[0]))
            cached = self.dropping.drop(sides) if self.dropping is not None else None
            copied, state = round(time.monotonic() - began, 3), self._state(first, core_sets)
            keys = {side.label: side.built.key for side in sides}
            for cell, number in zip(cells, numbers, strict=True):
                own = (baseline.label, cell.label)
                self.record.append(
                    StartBegun(
                        cell=cell.id,
                        start=number,
                        design=cell.design,
                        placement=cell.placement,
                        seed=seed,
                        copy_seconds=copied,
                        builds={label: keys[label] for label in own},
                        state=state,
                        storage={label: where for label, where in storage.items() if label in own},
                        cached=None if cached is None else {label: cached[label] for label in own},
                        beside={label: key for label, key in keys.items() if label not in own} or None,
                    )
                )

            def on_pair(index: int, pair: Pair) -> None:
                for cell, number in zip(cells, numbers, strict=True):
                    self.record.append(pair_read(cell.id, number, index, pair.of((baseline.label, cell.label))))

            result = run_start(
                self.engine,
                first.workload,
                sides,
                design=first.design,
                placement=first.placement,
                core_sets=core_sets,
                data=data,
                scratch=folder,
                timing=self.times[first.design],
                seed=seed,
                number=numbers[0],
                bench=self.bench,
                on_pair=on_pair,
                count_events=self.count_events,
            )
            self._close_starts(cells, numbers, result, self._state(first, core_sets))
        self.progress.note(time.monotonic() - begun, len(cells))
        shutil.rmtree(folder, ignore_errors=True)

    def _core_sets(self, cell: Cell, sides: int) -> Sequence[frozenset[int]]:
        return self.core_sets if self.sharing is None else self.sharing.sets_of(cell, sides, self.core_sets)

    def _state(self, cell: Cell, core_sets: Sequence[frozenset[int]]) -> tuple[HostState, ...] | None:
        """The host's state now, if starts of this cell are long enough for it."""
        probed = self.probe is not None and worth_probing(self.times[cell.design])
        return self.probe.states(core_sets) if self.probe is not None and probed else None

    def _data(
        self, cell: Cell, sides: Sequence[Contestant], slots: Mapping[str, Mapping[str, int]]
    ) -> tuple[dict[str, str], list[Path]]:
        """Where each side's data are, by its label, and clean copies of them by their slots."""
        copies = Copies(self.data, self.scratch, self.bench, self.upgraded)
        if self.storing is None:
            return {}, copies.clean(cell.workload, len(sides))
        storage = {side.label: side.condition.place for side in sides}
        roots = {slots[label]["data"]: self.storing.folder(place, self.data) for label, place in storage.items()}
        return storage, copies.clean(cell.workload, len(sides), [roots[slot] for slot in range(len(sides))])

    def _fresh(self, side: Contestant, start: int) -> Contestant:
        """The side with its build for this start, if it has replicates."""
        return replace(side, built=fresh(self.replicates, side.label, start) or side.built)

    def _close_starts(
        self,
        cells: Sequence[Cell],
        numbers: Sequence[int],
        result: StartResult,
        state: tuple[HostState, ...] | None,
    ) -> None:
        """Records a start of each of these cells.

        A candidate that failed beside others is measured apart from now on. Their starts, which are lost with its own,
        do not count as invalid ones of theirs: they stay without an end.
        """
        faulty = result.faulty if len(cells) > 1 else frozenset[str]()
        self.apart |= faulty - {self.baseline.label}
        lost = result.invalid is not None or all(pair.invalid is not None for pair in result.pairs)
        for cell, number in zip(cells, numbers, strict=True):
            own = {self.baseline.label, cell.label}
            if lost and faulty and not faulty & own:
                self.bench.say(f"{cell.name}: start {number} is lost with that of {', '.join(sorted(faulty))}")
            else:
                self._close_start(cell, number, result.of(own), state)

    def _close_start(self, cell: Cell, number: int, result: StartResult, state: tuple[HostState, ...] | None) -> None:
        good = [pair for pair in result.pairs if pair.invalid is None]
        invalid, at_fault, disturbed = result.invalid, result.at_fault, False
        if invalid is not None:
            self.bench.check_host(invalid)
        if invalid is None and not good:
            invalid = result.pairs[0].invalid if result.pairs else "no pair was read"
            at_fault = result.pairs[0].at_fault if result.pairs else ()
            disturbed = bool(result.pairs) and all(pair.disturbed for pair in result.pairs)
        before = next(
            (
                recorded.event.fingerprint
                for recorded in self.record.events(StartDone)
                if recorded.event.cell.workload == cell.id.workload and recorded.event.invalid is None
            ),
            None,
        )
        if invalid is None and before is not None and before != result.fingerprint:
            invalid = f"the data differ from those of earlier starts ({result.fingerprint[:12]})"
        ratios = [pair.ratios(self.baseline.label, cell.label) for pair in good] if invalid is None else []
        asked = read_for([cell.headline]) if ratios else []
        read = [name for name in asked if all(name in ratio for ratio in ratios)]
        if ratios and cell.headline not in read:
            invalid, ratios, read = _unread(cell.headline), [], []
        by_quantity = {name: tuple(ratio[name] for ratio in ratios) for name in read}
        readings = {name: start_reading(list(values)) for name, values in by_quantity.items()}
        halves = [pair.faster_half(self.baseline.label, cell.label) for pair in good] if invalid is None else []
        faster = (
            {name: start_reading([half[name] for half in halves]) for name in halves[0]}
            if halves and all(halves)
            else {}
        )
        programs = self._programs(cell)
        self.record.append(
            start_done(
                cell.id,
                number,
                result,
                invalid,
                readings,
                by_quantity,
                state,
                at_fault,
                programs,
                disturbed=disturbed,
                faster=faster,
            )
        )
        if invalid is not None:
            self.bench.say(f"{self._short(cell)}: start {number} is invalid and will be repeated: {invalid}")

    def _short(self, cell: Cell) -> str:
        """A cell's name for lines of progress: a long tag, which a group's cells have in common, is said once."""
        if len(cell.id.tag) <= LONG_TAG:
            return cell.name
        if cell.id.tag != self.shortened:
            self.bench.say(f"… is short for {cell.id.tag}")
            self.shortened = cell.id.tag
        return cell.name.replace(cell.id.tag, "…", 1)

    def _programs(self, cell: Cell) -> tuple[str, str] | None:
        """Digests of both sides' programs; None if one is not known."""
        base = program(self.replicates, self.baseline.label, self.baseline.built)
        aa = cell.id.candidate == AA
        candidate = base if aa else program(self.replicates, cell.label, self.candidates[cell.label].built)
        return (base, candidate) if base and candidate else None

    def _close(self, cell: Cell, judgement: Judgement, rule: Rule, last: int | None = None) -> None:
        """Records a cell's verdict.

        Args:
            cell: the cell.
            judgement: that of its headline.
            rule: the rule that it was sampled by.
            last: number of its last starts that it is about; None: all.
        """
        starts = cell_starts(self.record, cell.id, pairs=True, last=last)
        ratios: dict[str, Interval | None] = {}
        verdicts: dict[str, str] = {}
        for quantity in QUANTITIES:
            readings = starts.of(quantity.name)
            if quantity.headline:
                # From the headline's own starts: the rule would stop again, at another look, on this quantity.
                ratios[quantity.name] = interval_of(self._over_all(cell, readings, rule)) if readings else None
            elif quantity.name != cell.headline and len(readings) == starts.valid and starts.valid > 1:
                # Judged on all starts of the headline: stopping separately would select among them.
                judged = self._judge(cell, readings, Rule.fixed(starts.valid, delta=rule.delta))
                ratios[quantity.name] = interval_of(judged.interval)
                verdicts[quantity.name] = str(judged.kind)
        ratios[cell.headline] = interval_of(judgement.interval)
        prior = self._prior_by(cell, rule) if rule.precision is None else None
        lane = prior if prior is not None and prior.usable() else None
        self.record.append(
            VerdictReached(
                cell=cell.id,
                design=cell.design,
                placement=cell.placement,
                headline=cell.headline,
                unit=cell.workload.unit,
                per_minute=cell.workload.per_minute,
                verdict=str(judgement.kind),
                reason=judgement.reason,
                within=within(judgement, rule),
                ratios=ratios,
                verdicts=verdicts,
                starts=judgement.starts,
                invalid_starts=len(starts.invalid),
                invalid_pairs=starts.invalid_pairs,
                unsettled=starts.unsettled,
                sd_between=judgement.sd_between if judgement.starts > 1 else None,
                sensitivity=other_methods(starts.of(cell.headline)),
                sides={
                    label: side_summary(starts.pairs, label, starts.hardware)
                    for label in (self.baseline.label, cell.label)
                },
                calibrated=Calibrated(lane.sd, lane.starts, judgement.fast) if lane is not None else None,
            )
        )
        self.bench.say(f"{cell.name}: {judgement.at_stop}")
