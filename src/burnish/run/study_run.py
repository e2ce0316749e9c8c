"""A study that ships as it runs: row by row its builds, then its cells; goes on where an earlier sitting ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from rich.console import Console

from burnish.bench.trials import Contestant
from burnish.build.toolchains import choose, find_toolchains
from burnish.catalogue import load
from burnish.catalogue.studies import study
from burnish.engines.registry import create
from burnish.errors import UserError
from burnish.paths import Home
from burnish.record.record import Record
from burnish.run import conditions, studies, study_plan, verbs
from burnish.run import workloads as workload_choice
from burnish.run.contest import (
    AA,
    CONFIRMING_STARTS,
    Cell,
    Role,
    cell_starts,
    claim_together,
    spread_about_zero,
)
from burnish.run.making import Chain, Made, Maker
from burnish.run.studies import Definition
from burnish.run.study_cells import RELEASE, Comparison, Table, expand, other_compilers
from burnish.run.study_plan import Asked, Selection, unit_of, unit_words
from burnish.run.verbs import Ask, Options, Setting
from burnish.statistics import multiplicity
from burnish.statistics.calibration import Calibration
from burnish.statistics.verdicts import HostPrior, Kind, Rule
from burnish.study.conditions import condition_of
from burnish.study.model import Condition, Design, Timing, Workload, digest_of
from burnish.workbench import duration

PEAK_UNIT = "MB"


@dataclass(frozen=True)
class Sitting:
    """What a person says to `study run` beside the options of every trial.

    Attributes:
        study: the study's name.
        engine: the engine's; None: the study's own.
        asked: which part of it.
        release: a distribution's server program; None: the one that is found.
        second: compiler that stands for another patch level; None: the one that is found.
    """

    study: str
    engine: str | None = None
    asked: Asked = field(default_factory=Asked)
    release: Path | None = None
    second: str | None = None


def table_of(sitting: Sitting, options: Options) -> Table:
    """The study's comparisons, as this host and these words have them.

    Raises:
        UserError: an unknown study or engine, a second compiler that is not there.
    """
    found, spec = study(sitting.study), load.engine(sitting.engine or study(sitting.study).engine)
    toolchains = find_toolchains()
    second = other_compilers(toolchains)
    if sitting.second is not None:
        chosen = choose(sitting.second, toolchains)
        second[chosen.family] = sitting.second
    given = sitting.asked.threads
    own = sorted({number for row in found.rows_for(spec.name) for number in row.threads} | set(given))
    table = expand(found, spec, threads=own if given else (), settings=options.settings, second=second)
    # A ladder that only the words have belongs to rows that have one; rows keep their own numbers otherwise.
    kept = tuple(
        each for each in table.comparisons
        if each.threads is None or each.threads in given or each.threads in table.row(each.row).threads
    )  # fmt: skip
    return replace(table, comparisons=kept)


def definition_of(table: Table, options: Options) -> Definition:
    """What makes two sittings parts of one study: its rows' content and how they are measured, not which part."""
    spec, own = table.engine, table.study
    rows = own.rows_for(spec.name)
    meaning = [
        [(row.name, row.base, row.build, row.recipe, row.given, row.versus, row.loads) for row in rows],
        {name: variant.recipe.as_dict() for name, variant in own.builds.items()},
        {name: each.overlay for name, each in own.series.items()},
        {name: (each.against, each.overlay) for name, each in own.readings.items()},
    ]
    features = options.features or spec.default_features
    plain = verbs.definition_of(own.name, spec, options, ["baseline"], (), features, ())
    loads = tuple(dict.fromkeys(each.named[spec.name] for each in own.loads.values() if spec.name in each.named))
    return replace(plain, workloads=loads, recipes={"rows": digest_of(meaning)}, threads=None)


def finished(home: Home, definition: Definition) -> Path | None:
    """The newest study of this definition, when it is finished."""
    for folder in reversed(studies.folders(home)):
        with contextlib.closing(Record(folder)) as record:
            begun = record.last("study")
            if begun and begun.body.get("digest") == definition.digest:
                return folder if record.last("finished") is not None else None
    return None


def decided(home: Home, definition: Definition) -> frozenset[str]:
    """Cells and keys of the unfinished study of this definition that have their verdict or figure."""
    for folder in reversed(studies.folders(home)):
        with contextlib.closing(Record(folder)) as record:
            begun = record.last("study")
            if begun and begun.body.get("digest") == definition.digest and record.last("finished") is None:
                return settled(record)
    return frozenset()


def settled(record: Record) -> frozenset[str]:
    """Names of cells that have their verdict, and keys of comparisons that have theirs under another name."""
    cells = {str(event.body["cell"]) for event in record.events("verdict")}
    keys = {str(event.body["key"]) for event in record.events("measured")}
    tried = {str(event.body["key"]) for event in record.events("tried") if event.body["cell"] in cells}
    return frozenset(cells | keys | tried)


def run(home: Home, sitting: Sitting, options: Options, console: Console, ask: Ask | None) -> Path:
    """One sitting of a study; returns its folder.

    Raises:
        UserError: unknown names, a budget too small for one row, a ladder beyond the server's connections.
    """
    table = table_of(sitting, options)
    spec, options = table.engine, replace(options, explore=True)
    definition = definition_of(table, options)
    selection = study_plan.by_name(table, sitting.asked)
    if not options.fresh and (done := finished(home, definition)) is not None:
        console.print(f"{done.name}: finished already; --fresh measures it again", markup=False, highlight=False)
        return done
    with studies.lock(home):
        _install(table, selection, options, ask)
        have = frozenset() if options.fresh else decided(home, definition)
        found = study_plan.predict(home, table, selection.chosen, options, have)
        selection = study_plan.within(selection, found, sitting.asked.budget)
        verbs.check_disk(home, spec, sum(step.kind == "compile" for step in found.plan.ahead))
        loads = study_plan.workloads_of([each for each in selection.chosen if each.reason is None])
        setting = verbs.begin(home, spec, definition, options, console, loads, ask)
        expected = {cost.unit: cost.seconds for cost in found.costs}
        with verbs.nothing_half_made(setting.record):
            at_work = _begin(setting, table, selection, sitting)
        at_work.go(expected, sitting.asked.budget)
        return at_work.end(sitting.asked.budget)


def _install(table: Table, selection: Selection, options: Options, ask: Ask | None) -> None:
    """Installs what the chosen rows need; a row whose tools are refused is left out later on."""
    chosen = [each for each in selection.chosen if each.reason is None]
    variants = [table.variants[name] for name in study_plan.needed(chosen)]
    verbs.install(table.engine, variants, options, ask)
    if any(condition.endswith("=tls") for each in chosen for condition in (*each.given, *each.versus)):
        try:
            verbs.ensure(["tls"], "rows with encrypted connections", options, ask)
        except UserError as error:
            Console(stderr=True).print(f"going on without: {error}", markup=False, highlight=False, soft_wrap=True)


def _begin(setting: Setting, table: Table, selection: Selection, sitting: Sitting) -> AtWork:
    """Source, stages of all builds, the baseline's build and data."""
    record_table(setting.record, table, selection)
    have = settled(setting.record)
    chosen = [each for each in selection.chosen if each.reason is None and not study_plan.is_decided(each, have)]
    names = study_plan.needed(chosen)
    features = setting.options.features or setting.spec.default_features
    (first,), maker = verbs.prepare(setting, [table.variants["baseline"]], features)
    origin = maker.builder.origin
    assert origin is not None  # noqa: S101 - prepare gave it
    chains = study_plan.chains_of(
        table, names, source_digest=origin.digest, home=setting.home, store=setting.store, features=features
    )
    at_work = AtWork(setting, table, selection, maker, {**chains, "baseline": first}, sitting.release)
    at_work.check_loads()
    possible = [chain.variant for chain in chains.values() if chain.missing is None]
    maker.workloads |= verbs.training_workloads(setting.spec, possible)
    return at_work


def record_table(record: Record, table: Table, selection: Selection) -> None:
    """Puts the study's table on record: what a report is made from, whatever becomes of it."""
    own = table.study
    record.append(
        "shipped",
        study=own.name,
        title=own.title,
        reason=own.reason,
        sources=own.sources,
        recommends=own.recommends,
        analysis=own.analysis,
        rows={row.name: {"title": row.title, "reason": row.reason} for row in own.rows_for(table.engine.name)},
        readings={name: {"title": each.title, "reason": each.reason} for name, each in own.readings.items()},
        series={name: each.reason for name, each in own.series.items()},
        builds=list(table.variants),
        comparisons=[
            {
                "key": each.key,
                "row": each.row,
                "series": each.series,
                "reading": each.reading,
                "load": each.load,
                "threads": each.threads,
                "workload": each.workload.name if each.workload else "",
                "cell": each.cell.name if each.cell else None,
                "base": each.base,
                "candidate": each.label,
                "quantity": each.quantity,
                "control": each.control,
                "measure": each.measure,
                "published": each.published.as_dict() if each.published else None,
                "published_words": each.published.words if each.published else "-",
                "reason": each.reason,
                "final": each.final,
            }
            for each in table.comparisons
        ],
        cut=dict(selection.cut),
    )


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
    chains: Mapping[str, Chain]
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
        good = []
        for workload in self.setting.workloads:
            try:
                good += workload_choice.check(self.setting.engine, [workload], self.setting.bench)
            except UserError as error:
                self._wrong[workload.name] = str(error)
        self.setting.workloads = tuple(good)
        self.maker.workloads |= {workload.name: workload for workload in good}
        for name in self._wrong:
            self.maker.workloads.pop(name, None)

    def go(self, expected: Mapping[study_plan.Unit, float], budget: float | None) -> None:
        """Every chosen row in turn, until the budget is used up."""
        have = settled(self.record)
        left = [each for each in self.selection.chosen if each.reason is None and not study_plan.is_decided(each, have)]
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
            self._row([each for each in left if unit_of(each) == unit])
        self.selection = replace(self.selection, cut=cut)
        record_table(self.record, self.table, self.selection)

    def _check_ladder(self) -> None:
        """Refuses a ladder of the user's own that the server's connections don't bear, before any row."""
        built = self.made["baseline"].built
        most = max(self.setting.workloads, key=lambda workload: workload.threads, default=None)
        if built is not None and most is not None:
            words = self.setting.options.settings
            self._examine_one(built.key, most, conditions.ready(self.setting, condition_of(words)), ",".join(words))

    def _row(self, comparisons: Sequence[Comparison]) -> None:
        """One row: its builds, then its cells by what they are held against."""
        self._make(comparisons)
        groups: dict[str, list[tuple[Comparison, Contestant, Contestant]]] = {}
        for each in comparisons:
            try:
                if each.measure is not None:
                    self._measure(each)
                else:
                    groups.setdefault(each.group, []).append(self._sides(each))
            except _Left as left:
                self._leave(each, str(left), final=left.final)
        for held in groups.values():
            self._hold(held)

    def _leave(self, comparison: Comparison, why: str, *, final: bool = False) -> None:
        self.record.append("left", key=comparison.key, why=why, final=final)
        self.setting.bench.say(f"{comparison.key}: {why}")

    def _make(self, comparisons: Sequence[Comparison]) -> None:
        """Makes what the row's builds lack."""
        names = [name for name in study_plan.needed(comparisons) if name not in self.made]
        if not names:
            return
        chains = [self.chains[name] for name in names]
        try:
            found = self.maker.make(chains, more=True)
        except UserError as error:  # an option that this engine has not: the row's reason, not the study's end
            found = [Made(chain.variant, failure=str(error)) for chain in chains]
        for name, item in zip(names, found, strict=True):
            self.made[name] = item
            self.record.append(
                "variant",
                variant=name,
                reason=item.variant.reason,
                weakens_security=item.variant.weakens_security,
                changes_results=item.variant.changes_results,
                narrows_portability=item.variant.narrows_portability,
                failure=item.failure,
                same=item.same,
                notes=item.notes,
            )

    def _build(self, name: str) -> Made:
        """A build that may be measured; the baseline's own where its program is the same."""
        item = self.made[name]
        if item.same:
            return self.made["baseline"]
        if item.built is None:
            raise _Left(f"{name}: {item.failure or 'could not be made'}")
        return item

    def _sides(self, each: Comparison) -> tuple[Comparison, Contestant, Contestant]:
        """Both sides of a comparison, looked at under their conditions; a `_Left` when it can't be made."""
        assert each.workload is not None  # noqa: S101 - what is not measured otherwise has a load
        if each.workload.name in self._wrong:
            raise _Left(self._wrong[each.workload.name])
        base = self._build(each.base)
        candidate = self._release(each) if each.release else self._build(each.candidate)
        assert base.built is not None  # noqa: S101 - seen to above
        assert candidate.built is not None  # noqa: S101
        if candidate.built.key == base.built.key and not each.versus and not each.control:
            raise _Left("no effect: identical code, not measured", final=True)
        first = self._condition(each.given)
        second = self._condition((*each.given, *each.versus))
        sides = ((base.built, first, each.given), (candidate.built, second, (*each.given, *each.versus)))
        for built, condition, words in sides:
            why = self._examine(built.key, each.workload, condition, ",".join(words))
            if why is not None:
                raise _Left(why)
        label = f"{each.label} {candidate.built.key[:8]}" if each.release else each.label
        return each, Contestant(each.base, base.built, first), Contestant(label, candidate.built, second)

    def _condition(self, words: tuple[str, ...]) -> Condition:
        """The condition, made ready once for the study."""
        if words not in self._conditions:
            try:
                self._conditions[words] = conditions.ready(self.setting, condition_of(words))
            except UserError as error:
                raise _Left(str(error)) from None
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
        conditions.examine(replace(self.setting, workloads=(workload,)), built, [condition], self.maker.data)
        self._examined[key, workload.name, words] = None

    def _release(self, each: Comparison) -> Made:
        """The release binary, as a contestant; a `_Left` where there is none."""
        if RELEASE not in self.made:
            path = self.release or find_release(self.setting)
            if path is None:
                program = Path(self.setting.spec.server).name
                raise _Left(f"no release binary: `{program}` is not installed; --release PATH names one")
            try:
                built = create(self.setting.spec).existing(path)
            except UserError as error:
                raise _Left(str(error)) from None
            self.made[RELEASE] = verbs.known_program(self.setting, RELEASE, built)
            base, mine = self.made["baseline"].identity, self.made[RELEASE].identity
            if base is not None and mine is not None:
                self.record.append("difference", found=verbs.differences(base, mine))
        return self.made[RELEASE]

    def _measure(self, each: Comparison) -> None:
        """Reads the peak memory of the row's compiles off both builds' descriptions."""
        found = []
        for name in (each.base, each.candidate):
            item = self._build(name)
            entry = self.setting.store.find("builds", item.built.key if item.built else "")
            heaviest = (entry.about.get("costs") or {}).get("heaviest", ()) if entry else ()
            mine = [row for row in heaviest if any(word in row[0] for word in each.objects)]
            if not mine:
                seen = f" (the heaviest was {heaviest[0][0]}, {heaviest[0][1] / 1e6:.0f} MB)" if heaviest else ""
                raise _Left(
                    f"{name}: no figure for {' or '.join(each.objects)}: it is not among the heaviest objects{seen}"
                )
            found.append(max(mine, key=lambda row: row[1]))
        (_, before, _), (path, after, seconds) = found
        self.record.append(
            "measured",
            key=each.key,
            value=after / 1e6,
            base=before / 1e6,
            unit=PEAK_UNIT,
            words=f"{after / 1e6:,.0f} {PEAK_UNIT} (as usual {before / 1e6:,.0f})",
            note=f"peak of {Path(path).name}, {seconds:.0f} s; read off the compile, so it has no interval",
        )

    def _hold(self, held: Sequence[tuple[Comparison, Contestant, Contestant]]) -> None:
        """The contest of cells that are held against the same build under the same condition."""
        base = held[0][1]
        cells = {}
        for each, _, candidate in held:
            cell = self._cell(each, candidate.label)
            cells[cell.name] = (cell, candidate)
            self.record.append("tried", key=each.key, cell=cell.name)
        mine = [cell for cell, _ in cells.values()]
        known = self._known(mine)
        times = verbs.timings(self.setting, known)
        self._note_contest(mine, times)
        verbs.contest(
            self.setting,
            base,
            {candidate.label: candidate for _, candidate in cells.values()},
            mine,
            times,
            self.maker.data,
            priors=_priors(known, times),
        ).decide(mine, self.setting.rule)

    def _known(self, cells: Sequence[Cell]) -> list[Calibration]:
        """The host's calibrations of cells under the usual condition; they say nothing of others."""
        usual = [cell for cell in cells if _usual(cell)]
        return verbs.known_calibrations(self.setting, usual)

    def _cell(self, each: Comparison, label: str) -> Cell:
        """The contest's cell; a release binary's label tells which one it was."""
        cell = each.cell
        assert cell is not None  # noqa: S101 - it is tried
        alone = cell.design is Design.DUET and not self.setting.twin_cores
        return replace(cell, candidate=label, design=Design.INTERLEAVED if alone else cell.design)

    def _note_contest(self, cells: Sequence[Cell], times: Mapping[Design, Timing]) -> None:
        """The contest as every study notes it, so that its reports can be read; all cells so far are in it."""
        earlier = self.record.last("contest")
        before = earlier.body if earlier else {}
        loads = {cell.workload.name: cell for cell in cells}
        self.record.append(
            "contest",
            designs={**before.get("designs", {}), **{name: cell.design for name, cell in loads.items()}},
            headlines={},
            cells=list(dict.fromkeys([*before.get("cells", ()), *(cell.name for cell in cells)])),
            rule=asdict(self.setting.rule),
            timings={**before.get("timings", {}), **{cell.design: asdict(times[cell.design]) for cell in cells}},
            workloads={**before.get("workloads", {}), **{name: asdict(cell.workload) for name, cell in loads.items()}},
            core_sets=[sorted(cores) for cores in self.setting.core_sets],
            calibrations=[],
            forced=[],
        )

    def end(self, budget: float | None) -> Path:
        """The verdicts as one family, the best row once more; closes the record, for good when nothing is open."""
        verdicts = {event.body["cell"]: event.body for event in self.record.events("verdict")}
        tried = {str(event.body["key"]): str(event.body["cell"]) for event in self.record.events("tried")}
        cells = {
            name: self._cell(each, name.removeprefix(f"{each.group}: ").rpartition(" / ")[0])
            for each in self.table.comparisons
            if (name := tried.get(each.key, "")) in verdicts
        }
        if cells and "baseline" in self.made:
            kinds = self._claim(cells)
            if self.table.study.recommends:
                self._confirm({tried[key]: key for key in tried if tried[key] in cells}, kinds, budget)
        have = settled(self.record)
        left = {str(event.body["key"]): bool(event.body["final"]) for event in self.record.events("left")}
        still = [
            each
            for each in self.table.comparisons
            if not (each.final or study_plan.is_decided(each, have) or left.get(each.key))
        ]
        if not still:
            return verbs.finish(self.setting)
        self.setting.bench.say(f"{len(still)} of {len(self.table.comparisons)} cells open; the same command goes on")
        self.record.close()
        shutil.rmtree(self.setting.scratch, ignore_errors=True)
        return self.record.folder

    def _claim(self, cells: Mapping[str, Cell]) -> Mapping[str, Kind]:
        """All cells with a verdict, looked through together."""
        known = self._known(list(cells.values()))
        priors = _priors(known, verbs.timings(self.setting, known))
        family = []
        for name, cell in cells.items():
            canary = replace(cell, candidate=AA)
            family.append(
                multiplicity.Cell(
                    name,
                    tuple(cell_starts(self.record, name).of(cell.headline)),
                    priors.get((cell.workload.name, cell.design)) if _usual(cell) else None,
                    spread_about_zero(cell_starts(self.record, canary.name).of(cell.headline)),
                )
            )
        return claim_together(self.record, family, self.setting.rule, explore=True)

    def _confirm(self, keys: Mapping[str, str], kinds: Mapping[str, Kind], budget: float | None) -> None:
        """The best row of each series on fresh starts: picked from many, it looks better than it is."""
        of = {each.key: each for each in self.table.comparisons}
        first = next(iter(self.table.study.readings))
        for series in self.table.study.series:
            mine: dict[str, list[tuple[Comparison, str]]] = {}
            for cell, key in keys.items():
                each = of[key]
                if each.series == series and each.reading == first and not each.release:
                    mine.setdefault(each.row, []).append((each, cell))
            best = _best(self.record, mine, kinds)
            if best is not None:
                self._again([each for each, _ in mine[best]], budget)

    def _again(self, comparisons: Sequence[Comparison], budget: float | None) -> None:
        """The cells of one row on fresh starts of a number fixed in advance."""
        times = verbs.timings(self.setting)
        try:
            self._make(comparisons)
            held = [self._sides(each) for each in comparisons]
        except _Left as left:
            self.setting.bench.say(f"not measured again: {left}")
            return
        for each, base, candidate in held:
            cell = replace(
                self._cell(each, candidate.label), role=Role.CONFIRMATION, tag=f"again, {each.series} {each.group}"
            )
            needs = CONFIRMING_STARTS * verbs.start_seconds(times[cell.design])
            late = budget is not None and time.monotonic() - self.began + needs > 1.05 * budget
            if self.record.last("verdict", cell=cell.name) is not None or late:
                continue
            self.record.append("again", key=each.key, cell=cell.name)
            fixed = Rule.fixed(CONFIRMING_STARTS, delta=self.setting.rule.delta)
            held_again = verbs.contest(
                self.setting, base, {candidate.label: candidate}, [cell], times, self.maker.data, rule=fixed
            )
            held_again.decide([cell], fixed)


def _best(
    record: Record, rows: Mapping[str, Sequence[tuple[Comparison, str]]], kinds: Mapping[str, Kind]
) -> str | None:
    """The row with the largest mean of its headline, of those that are faster wherever they were measured."""
    values = {
        row: statistics.fmean(
            statistics.fmean(cell_starts(record, cell).of(each.quantity)) for each, cell in cells
        )
        for row, cells in rows.items()
        if all(kinds.get(cell) is Kind.FASTER for _, cell in cells)
    }
    return max(values, key=lambda row: values[row]) if values else None


def _usual(cell: Cell) -> bool:
    """Whether a cell's sides run under the usual condition: its name tells any other behind a comma."""
    return "," not in f"{cell.tag}{cell.candidate}"


def _priors(
    known: Sequence[Calibration], times: Mapping[Design, Timing]
) -> dict[tuple[str, Design], HostPrior]:
    return {(each.workload, each.design): each.prior(times[each.design].pairs) for each in known}


class _Left(Exception):
    """Why a comparison is not made, for its row.

    Attributes:
        final: whether another sitting would find the same.
    """

    def __init__(self, why: str, *, final: bool = False) -> None:
        super().__init__(why)
        self.final = final


def find_release(setting: Setting) -> Path | None:
    """The server program that a distribution has installed here, if any."""
    folders = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/libexec"])
    found = shutil.which(Path(setting.spec.server).name, path=folders)
    return Path(found) if found else None
