"""A study that ships at work: row by row its builds, then its cells; what can't be made is its row's reason."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from burnish.base.durations import duration
from burnish.base.errors import InfrastructureError, UserError
from burnish.bench.pairs import Contestant
from burnish.builds.stages import Compile
from burnish.engines.registry import create
from burnish.model.condition import Condition
from burnish.model.recipe import Recipe, Variant
from burnish.model.workload import Design, Workload
from burnish.record.record import Record
from burnish.source.debian import released
from burnish.statistics.calibration import Calibration
from burnish.study import conditions, holding
from burnish.study import workloads as workload_choice
from burnish.study.builds import peaks
from burnish.study.builds.make import Chain, Made, Maker
from burnish.study.builds.programs import differences, known_program
from burnish.study.bundled import chains as study_chains
from burnish.study.bundled.cells import RELEASE, Comparison, Table
from burnish.study.bundled.contests import is_usual, note_contest, under
from burnish.study.bundled.session import record_table, settled
from burnish.study.cells import Cell
from burnish.study.options import Setting
from burnish.study.planning import bundled_plan
from burnish.study.planning.bundled_plan import Selection, unit_of, unit_words
from burnish.study.trials.timing import priors_of, timings
from burnish.workload.conditions import condition_of


class Left(Exception):
    """Why a comparison is not made, for its row.

    Attributes:
        final: whether another sitting would find the same.
    """

    def __init__(self, why: str, *, final: bool = False) -> None:
        super().__init__(why)
        self.final = final


@dataclass
class AtWork:
    """One sitting at work.

    Attributes:
        setting: record, workbench, host.
        table: all comparisons.
        selection: those of this sitting.
        maker: makes builds.
        chains: stages by build's name.
        release: a distribution's program, where one was named.
        made: what became of each build.
        began: when the sitting began, seconds of the monotonic clock.
    """

    setting: Setting
    table: Table
    selection: Selection
    maker: Maker
    chains: dict[str, Chain]
    release: Path | None
    made: dict[str, Made] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    _conditions: dict[tuple[str, ...], Condition] = field(default_factory=dict)
    _examined: dict[tuple[str, str, str], str | None] = field(default_factory=dict)
    _wrong: dict[str, str] = field(default_factory=dict)

    @property
    def record(self) -> Record:
        """The study's."""
        return self.setting.record

    def check_loads(self) -> None:
        """Looks at every load's parameters; one that is wrong is its rows' reason."""
        good: list[Workload] = []
        for workload in self.setting.workloads:
            try:
                good += workload_choice.check(self.setting.engine, [workload], self.setting.bench)
            except UserError as error:
                self._wrong[workload.name] = str(error)
        self.setting.workloads = tuple(good)
        self.maker.workloads |= {workload.name: workload for workload in good}
        for name in self._wrong:
            self.maker.workloads.pop(name, None)

    def go(self, expected: Mapping[bundled_plan.Unit, float], budget: float | None) -> None:
        """Every chosen row in turn, until the budget is used up."""
        have = settled(self.record)
        left = [
            each for each in self.selection.chosen if each.reason is None and not bundled_plan.is_decided(each, have)
        ]
        units = list(dict.fromkeys(unit_of(each) for each in left))
        if not units:
            return
        self.made["baseline"] = self.maker.make([self.chains["baseline"]])[0]
        self._check_ladder()
        cut = dict(self.selection.cut)
        for number, unit in enumerate(units):
            spent = time.monotonic() - self.began
            if budget is not None and number and spent + expected.get(unit, 0.0) > 1.05 * budget:
                words = f"cut by --budget: {duration(spent)} of {duration(budget)} were used up by the rows before it"
                cut |= {each.key: words for each in left if unit_of(each) == unit}
                continue
            self.setting.bench.say(f"row {number + 1} of {len(units)}: {unit_words(unit)}")
            self.row([each for each in left if unit_of(each) == unit])
        self.selection = replace(self.selection, cut=cut)
        record_table(self.record, self.table, self.selection)

    def add(self, variant: Variant) -> None:
        """One more build, as an analysis asks for it."""
        self.table = replace(self.table, variants={**self.table.variants, variant.name: variant})

    def find_chains(self, names: Sequence[str]) -> None:
        """Stages of builds that were not thought of when the sitting began."""
        if not names:
            return
        origin = self.maker.builder.origin
        assert origin is not None  # noqa: S101 - prepare gave it
        found = study_chains.chains_of(
            self.table,
            names,
            source_digest=origin.digest,
            home=self.setting.home,
            store=self.setting.store,
            features=self.setting.options.features or self.setting.spec.default_features,
        )
        self.chains |= {name: found[name] for name in names}
        possible = [found[name].variant for name in names if found[name].missing is None]
        self.maker.workloads |= workload_choice.training_workloads(self.setting.spec, possible)

    def tried(self, each: Comparison) -> str | None:
        """Name of the cell that a comparison was tried as."""
        event = self.record.last("tried", key=each.key)
        return str(event.body["cell"]) if event else None

    def _check_ladder(self) -> None:
        """Refuses a ladder of the user's own that the server's connections don't bear, before any row."""
        built = self.made["baseline"].built
        most = max(self.setting.workloads, key=lambda workload: workload.threads, default=None)
        if built is not None and most is not None:
            words = self.setting.options.settings
            condition = conditions.ready(self.setting, condition_of(words, self.setting.spec.settings))
            self._examine_one(built.key, most, condition, ",".join(words))

    def row(self, comparisons: Sequence[Comparison]) -> None:
        """One row: its builds, then its cells by what they are held against."""
        self.make(bundled_plan.needed(comparisons))
        groups: dict[str, list[tuple[Comparison, Contestant, Contestant]]] = {}
        for each in comparisons:
            try:
                if each.measure is not None:
                    self._measure(each)
                else:
                    sides = self.sides(each)
                    groups.setdefault(each.group, []).append(sides)
            except Left as left:
                self._leave(each, str(left), final=left.final)
        for held in groups.values():
            self._hold(held)

    def _leave(self, comparison: Comparison, why: str, *, final: bool = False) -> None:
        self.record.append("left", key=comparison.key, why=why, final=final)
        self.setting.bench.say(f"{comparison.title}: {why}")

    def make(self, wanted: Sequence[str]) -> None:
        """Makes those of these builds that are not there yet."""
        names = [name for name in wanted if name not in self.made]
        if not names:
            return
        if lacking := [name for name in names if name not in self.chains]:
            self.find_chains(lacking)
        chains = [self.chains[name] for name in names]
        try:
            found = self.maker.make(chains, more=True)
        except UserError as error:  # an option that this engine has not: the row's reason, not the study's end
            found = [Made(chain.variant, failure=str(error)) for chain in chains]
        for name, item in zip(names, found, strict=True):
            self.made[name] = item
            if item.built is not None and name in self.table.instrumented:
                # What it counts while it is measured goes where nobody takes it for a training's.
                away = self.setting.scratch / "counts-of-trials"
                counts = (("GCOV_PREFIX", str(away)), ("LLVM_PROFILE_FILE", str(away / "%p.profraw")))
                item.built = replace(item.built, environment=(*item.built.environment, *counts))
            holding.note_variant(self.record, item, item.notes)

    def _build(self, name: str) -> Made:
        """A build that may be measured; the baseline's own where its program is the same."""
        item = self.made[name]
        if item.same:
            return self.made["baseline"]
        if item.built is None:
            raise Left(f"{name}: {item.failure or 'could not be made'}")
        return item

    def sides(self, each: Comparison) -> tuple[Comparison, Contestant, Contestant]:
        """Both sides of a comparison, looked at under their conditions; a `Left` when it can't be made."""
        assert each.workload is not None  # noqa: S101 - what is not measured otherwise has a load
        if each.workload.name in self._wrong:
            raise Left(self._wrong[each.workload.name])
        base = self._build(each.base)
        candidate = self._release() if each.release else self._build(each.candidate)
        assert base.built is not None  # noqa: S101 - seen to above
        assert candidate.built is not None  # noqa: S101
        if candidate.built.key == base.built.key and not each.versus and not each.control:
            raise Left("no effect: identical code, not measured", final=True)
        first = self._condition(each.given)
        second = self._condition((*each.given, *each.versus))
        sides = ((base.built, first, each.given), (candidate.built, second, (*each.given, *each.versus)))
        for built, condition, words in sides:
            why = self._examine(built.key, self._load(each.workload), condition, ",".join(words))
            if why is not None:
                raise Left(why)
        label = f"{each.label} {candidate.built.key[:8]}" if each.release else each.label
        return each, Contestant(each.base, base.built, first), Contestant(label, candidate.built, second)

    def _condition(self, words: tuple[str, ...]) -> Condition:
        """The condition, made ready once for the study."""
        if words not in self._conditions:
            try:
                asked = condition_of(words, self.setting.spec.settings)
                self._conditions[words] = conditions.ready(self.setting, asked)
            except UserError as error:
                raise Left(str(error)) from None
        return self._conditions[words]

    def _examine(self, key: str, workload: Workload, condition: Condition, words: str) -> str | None:
        """What routine tuning says, told once; why the load can't run, or None."""
        name = (key, workload.name, words)
        if name not in self._examined:
            try:
                self._examine_one(key, workload, condition, words)
                self._examined[name] = None
            except UserError as error:
                self._examined[name] = str(error)
        return self._examined[name]

    def _examine_one(self, key: str, workload: Workload, condition: Condition, words: str) -> None:
        built = next(item.built for item in self.made.values() if item.built is not None and item.built.key == key)
        conditions.examine(replace(self.setting, workloads=(workload,)), [(built, condition)], self.maker.data)
        self._examined[key, workload.name, words] = None

    def _release(self) -> Made:
        """The release binary, as a contestant; a `Left` where there is none, looked for once."""
        if RELEASE not in self.made:
            self.made[RELEASE] = self._find_release()
        item = self.made[RELEASE]
        if item.built is None:
            raise Left(str(item.failure))
        return item

    def _find_release(self) -> Made:
        """The release binary with what sets it apart from the baseline, or why there is none."""
        try:
            path = self.release or find_release(self.setting) or self._download_release()
            built = create(self.setting.spec).existing(path)
        except UserError as error:
            return Made(Variant(RELEASE, Recipe(), "a distribution's program"), failure=str(error))
        found = known_program(self.setting, RELEASE, built)
        base, mine = self.made["baseline"].identity, found.identity
        if base is not None and mine is not None:
            self.record.append("difference", found=differences(base, mine))
        return found

    def _download_release(self) -> Path:
        """The distribution's server from its package, of the version that is built where the mirror has it."""
        spec, origin = self.setting.spec, self.maker.builder.origin
        program = Path(spec.server).name
        if spec.release_package is None:
            raise UserError(f"no release binary: `{program}` is not installed; --release PATH names one")
        return released.obtain(
            spec.release_package,
            program,
            origin.version if origin is not None else "",
            cache=self.setting.home.downloads / "releases",
            say=self.setting.bench.say,
        )

    def _measure(self, each: Comparison) -> None:
        """The peak memory of the row's compiles, in both builds."""
        found = []
        for name in (each.base, each.candidate):
            peak = peaks.heaviest(self._costs(name, each.objects), each.objects)
            if isinstance(peak, str):
                raise Left(f"{name}: {peak}")
            found.append(peak)
        (_, before, _), (path, after, seconds) = found
        self.record.append(
            "measured",
            key=each.key,
            value=after / 1e6,
            base=before / 1e6,
            unit=peaks.UNIT,
            words=peaks.words(after / 1e6, before / 1e6),
            note=f"peak of {Path(path).name}, {seconds:.0f} s; read off the compile, so it has no interval",
        )

    def _costs(self, name: str, words: Sequence[str]) -> Mapping[str, Any]:
        """What these objects of a build took: from its description, or from compiling no more than them."""
        if name not in self.chains:
            self.find_chains([name])
        chain = self.chains[name]
        if chain.missing is not None:
            raise Left(f"{name}: {chain.missing}")
        entry, stage = self.setting.store.find("builds", chain.final), chain.stages[0]
        if entry is None and len(chain.stages) == 1 and isinstance(stage, Compile):
            try:
                return self.maker.builder.cost_of(stage, name, words)
            except InfrastructureError as error:
                self.record.append("build_failed", variant=name, why=error.explain())
                raise Left(f"{name}: build failed: {error}") from None
        if entry is None:
            self.make([name])
            built = self._build(name).built
            entry = self.setting.store.find("builds", built.key if built else "")
        return dict(entry.about.get("costs") or {}) if entry else {}

    def _hold(self, held: Sequence[tuple[Comparison, Contestant, Contestant]]) -> None:
        """The contest of cells that are held against the same build under the same condition."""
        base = held[0][1]
        cells = {}
        for each, _, candidate in held:
            cell = under(self.cell(each, candidate.label), base, candidate)
            cells[cell.name] = (cell, candidate)
            self.record.append("tried", key=each.key, cell=cell.name)
        mine = [cell for cell, _ in cells.values()]
        known = self.known(mine)
        times = timings(self.setting, known)
        note_contest(self.setting, mine, times)
        holding.contest(
            self.setting,
            base,
            {candidate.label: candidate for _, candidate in cells.values()},
            mine,
            times,
            self.maker.data,
            priors=priors_of(known, times),
        ).decide(mine, self.setting.rule)

    def known(self, cells: Sequence[Cell]) -> list[Calibration]:
        """The host's calibrations of cells under the usual condition; they say nothing of others."""
        usual = [cell for cell in cells if is_usual(cell)]
        return holding.known_calibrations(self.setting, usual)

    def cell(self, each: Comparison, label: str) -> Cell:
        """The contest's cell; a release binary's label tells which one it was."""
        cell = each.cell
        assert cell is not None  # noqa: S101 - it is tried
        alone = cell.design is Design.DUET and not self.setting.twin_cores
        design = Design.INTERLEAVED if alone else cell.design
        return replace(cell, candidate=label, design=design, workload=self._load(cell.workload))

    def _load(self, workload: Workload) -> Workload:
        """A load as it was made ready on this host: some need their programs' place in the source."""
        return next((each for each in self.setting.workloads if each.name == workload.name), workload)


def find_release(setting: Setting) -> Path | None:
    """The server program that a distribution has installed here, if any."""
    folders = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/libexec"])
    found = shutil.which(Path(setting.spec.server).name, path=folders)
    return Path(found) if found else None
