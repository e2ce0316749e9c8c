"""The state of a running study: its builds and programs, its loads and conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from burnish.base.errors import UserError
from burnish.bench.probe import Probe
from burnish.bench.probe import make as make_probe
from burnish.model.condition import Condition
from burnish.model.recipe import Variant
from burnish.model.workload import Design, Placement, Workload
from burnish.program.built import Built
from burnish.record.record import Record
from burnish.record.store import Entry
from burnish.statistics.calibration import Calibration
from burnish.study.builds.chains import chains_of
from burnish.study.builds.make import Made, Maker
from burnish.study.builds.programs import differences, note_variant
from burnish.study.builds.resolving import Chain
from burnish.study.calibration import known_calibrations
from burnish.study.cells import Cell
from burnish.study.comparison import Comparison
from burnish.study.request import conditions
from burnish.study.request import workloads as workload_choice
from burnish.study.request.selection import Selection
from burnish.study.session import Session
from burnish.study.study import Study
from burnish.study.trials.replicates import gathered, replicate_names
from burnish.study.trials.storing import Storing
from burnish.study.workshop import launching
from burnish.workload.conditions import condition_of


class NotMeasured(Exception):
    """A comparison is not measured; the message is its row's reason.

    Attributes:
        final: whether the reason will hold in every later session.
    """

    def __init__(self, why: str, *, final: bool = False) -> None:
        super().__init__(why)
        self.final = final


@dataclass
class Workshop:
    """A study while it runs in one session.

    Attributes:
        session: record, workbench, host.
        study: what is asked.
        selection: the comparisons of this session.
        maker: makes builds; None if existing programs are compared.
        chains: stages by build's name; of replicates by name#1, name#2, ...
        made: the result for each build or program, by name.
        replicates: builds of each variant by its name, where it has several.
        notes: whether facts about its variants are recorded; not of other builds of variants that have theirs.
    """

    session: Session
    study: Study
    selection: Selection
    maker: Maker | None = None
    chains: dict[str, Chain] = field(default_factory=dict)
    made: dict[str, Made] = field(default_factory=dict)
    replicates: dict[str, tuple[Built, ...]] = field(default_factory=dict)
    program_data: dict[str, Entry] = field(default_factory=dict)
    wrong_loads: dict[str, str] = field(default_factory=dict)
    notes: bool = True
    _noted: set[str] = field(default_factory=set)
    _untested: set[str] = field(default_factory=set)
    _by_replicate: dict[str, Made] = field(default_factory=dict)
    _conditions: dict[tuple[tuple[str, ...], tuple[str, ...]], Condition] = field(default_factory=dict)
    _examined: dict[tuple[str, str, str], str | None] = field(default_factory=dict)
    _probe: Probe | None = None

    @cached_property
    def storing(self) -> Storing:
        """Where data are."""
        session = self.session
        return Storing(session.scratch, session.record, session.bench, session.spec)

    @property
    def record(self) -> Record:
        """The run's record."""
        return self.session.record

    @property
    def spent(self) -> float:
        """Seconds that count against the budget.

        A search's budget is for all of it, in however many sessions it is done; another study's is for one session,
        and the same command has it again.
        """
        session = self.session
        return session.used if self.study.search is not None else session.used - session.earlier

    @property
    def data(self) -> Mapping[str, Entry]:
        """Dataset entries by workload name."""
        return self.maker.data if self.maker is not None else self.program_data

    @property
    def source_digest(self) -> str:
        """Digest of the source that builds are made from."""
        assert self.maker is not None and self.maker.builder.origin is not None  # noqa: S101, PT018 - it builds
        return self.maker.builder.origin.digest

    def probe(self) -> Probe:
        """The probe of the host's state; compiled when it is wanted first."""
        if self._probe is None:
            self._probe = make_probe(self.session.store, self.session.bench)
        return self._probe

    def check_loads(self) -> None:
        """Checks every load's parameters; a wrong load becomes its rows' reason, or a `UserError` if not tolerant."""
        if not self.study.tolerant:
            self.session.workloads = workload_choice.check(
                self.session.engine, self.session.workloads, self.session.bench
            )
            return
        good: list[Workload] = []
        for workload in self.session.workloads:
            try:
                good += workload_choice.check(self.session.engine, [workload], self.session.bench)
            except UserError as error:
                self.wrong_loads[workload.name] = str(error)
        self.session.workloads = tuple(good)

    def add(self, variant: Variant) -> None:
        """Adds a build that an analysis needs."""
        self.study = self.study.with_variants(variant)

    def find_chains(self, names: Sequence[str]) -> None:
        """Plans the stages of builds that were not selected when the session began."""
        if not names or self.maker is None:
            return
        chains = chains_of(
            self.study,
            names,
            source_digest=self.source_digest,
            home=self.session.home,
            store=self.session.store,
        )
        wanted = [replicate for name in names for replicate in replicate_names(name, self.study.replicates)]
        self.chains |= {name: chains[name] for name in wanted}
        possible = [chains[name].variant for name in wanted if chains[name].missing is None]
        training = workload_choice.training_workloads(self.session.spec, possible, self.session.workloads)
        located = workload_choice.located(self.session.spec, training.values(), self.maker.builder.source)
        self.maker.training = {**dict(zip(training, located, strict=True)), **self.maker.training}

    def make_baseline(self) -> Made:
        """Makes the baseline's build (its first replicate) before any other; it must succeed."""
        name = self.study.base
        if name not in self.made and self.maker is not None:
            first = replicate_names(name, self.study.replicates)[0]
            (self._by_replicate[first],) = self.maker.make([self.chains[first]])
            self.made[name] = self._by_replicate[first]
            if self.study.replicates.count == 1:
                self._noted.add(name)
                note_variant(self.record, self.made[name], self.made[name].notes, named=self.study.is_named(name))
        return self.made[name]

    def make(self, wanted: Sequence[str], *, tested: bool = True) -> None:
        """Makes those of these builds that are missing, with all their replicates.

        Args:
            wanted: names of builds.
            tested: whether they are tested by the server's own tests; `test` does so later.
        """
        factors = self.study.replicates
        names = [
            name for name in wanted if name not in self.made or (factors.count > 1 and name not in self.replicates)
        ]
        names = [name for name in names if not (name in self.made and self.made[name].failure)]
        if not names or self.maker is None:
            return
        self.find_chains([name for name in names if replicate_names(name, factors)[0] not in self.chains])
        single = [
            replicate
            for name in names
            for replicate in replicate_names(name, factors)
            if replicate not in self._by_replicate
        ]
        chains = [self.chains[replicate] for replicate in single]
        try:
            made = self.maker.make(chains, more=True, tested=tested)
        except UserError as error:  # an option that this engine lacks
            if not self.study.tolerant:
                raise
            made = [Made(chain.variant, failure=str(error)) for chain in chains]
        self._by_replicate |= zip(single, made, strict=True)
        self._noted |= set(names)
        self._untested |= set() if tested else set(names)
        for name in names:
            replicates = [self._by_replicate[replicate] for replicate in replicate_names(name, factors)]
            item, builds = gathered(self.study.variants[name], replicates, baseline=name == self.study.base)
            if builds:
                self.replicates[name] = builds
            if item.built is not None and name in self.study.instrumented:
                # Counts written during trials go to a separate folder, so that they are not taken for a training's.
                away = self.session.scratch / "counts-of-trials"
                counts = (("GCOV_PREFIX", str(away)), ("LLVM_PROFILE_FILE", str(away / "%p.profraw")))
                item.built = replace(item.built, environment=(*item.built.environment, *counts))
            self.made[name] = item
            if self.notes:
                self._note(item)

    def is_tested(self, name: str) -> bool:
        """Whether a build of this session was tested by the server's own tests."""
        return name in self.made and name not in self._untested

    def test(self, name: str) -> None:
        """Tests a build that was made without; one that fails can't be measured any more."""
        if name not in self._untested or self.maker is None:
            return
        self._untested.discard(name)
        for replicate in replicate_names(name, self.study.replicates):
            made = self._by_replicate[replicate]
            self.maker.test(self.chains[replicate], made)
            if made.failure:
                item = self.made[name]
                item.built, item.failure = None, made.failure
                self._note(item)

    def _note(self, item: Made) -> None:
        """Records facts about a variant, with how its build differs."""
        named = self.study.is_named(item.variant.name)
        note_variant(self.record, item, [*item.notes, *self._differences(item)], named=named)

    def _differences(self, item: Made) -> list[str]:
        """How a build differs from the baseline besides speed, unless its recipe asks for that."""
        base = self.made[self.study.base]
        if item is base or not item.identity or not base.identity or item.variant.recipe.features is not None:
            return []
        return [f"differs from {base.variant.name}: {line}" for line in differences(base.identity, item.identity)]

    def build(self, name: str) -> Made:
        """A build that may be measured; the baseline's own if its program is the same.

        Raises:
            NotMeasured: it cannot be measured.
        """
        item = self.made[name]
        if item.same:
            return self.made[self.study.base]
        if item.built is None:
            raise NotMeasured(f"{name}: {item.failure or 'could not be made'}")
        return item

    def condition(self, given: tuple[str, ...], versus: tuple[str, ...] = ()) -> Condition:
        """A condition, prepared once for the study.

        Raises:
            NotMeasured: it cannot be prepared, and the study is tolerant.
            UserError: it cannot be prepared, and the study is not tolerant.
        """
        if (given, versus) not in self._conditions:
            try:
                known = self.session.spec.settings
                asked = condition_of(versus, known, over=condition_of(given, known), option="--versus")
                self.storing.check(asked)
                launching.check(asked)
                self._conditions[given, versus] = conditions.ready(self.session, asked)
            except UserError as error:
                if not self.study.tolerant:
                    raise
                raise NotMeasured(str(error)) from None
        return self._conditions[given, versus]

    def examine(self, built: Built, workload: Workload, condition: Condition, words: str) -> None:
        """Examines a load on a build under a condition, once; reports settings that are poorly tuned.

        Raises:
            NotMeasured: the load cannot run like this, and the study is tolerant.
            UserError: the load cannot run like this, and the study is not tolerant.
        """
        name = (built.key, workload.name, words)
        if name not in self._examined:
            try:
                self.examine_strictly(built, workload, condition, words)
            except UserError as error:
                if not self.study.tolerant:
                    raise
                self._examined[name] = str(error)
        if (why := self._examined[name]) is not None:
            raise NotMeasured(why)

    def examine_strictly(self, built: Built, workload: Workload, condition: Condition, words: str) -> None:
        """As `examine`, but a load that cannot run is a `UserError` even in a tolerant study."""
        conditions.examine(replace(self.session, workloads=(workload,)), [(built, condition)], self.data)
        self._examined[built.key, workload.name, words] = None

    def cell(self, comparison: Comparison) -> Cell:
        """The cell of a comparison on this host.

        Without two cores alike, one side at a time has all cores, its clients included.
        """
        cell = comparison.cell
        assert cell is not None  # noqa: S101 - it is tried
        alone = cell.design is Design.DUET and not self.session.twin_cores
        design = Design.INTERLEAVED if alone else cell.design
        placement = cell.placement if self.session.twin_cores else Placement.WHOLE
        headline = comparison.quantity or ("capacity" if placement.mixed else "throughput")
        return replace(cell, design=design, placement=placement, headline=headline, workload=self.load(cell.workload))

    def load(self, workload: Workload) -> Workload:
        """A load as prepared on this host: some need the path of their programs in the source."""
        return next((loaded for loaded in self.session.workloads if loaded.name == workload.name), workload)

    def calibrations(self, comparisons: Sequence[Comparison]) -> list[Calibration]:
        """The host's calibrations for these comparisons' loads; none for other than default conditions.

        Raises:
            UserError: one of them failed, so this host gives no verdicts without ``--force``.
        """
        if self.session.options.defaults_file is not None:
            return []
        cells = [
            self.cell(comparison) for comparison in comparisons if comparison.usual and comparison.cell is not None
        ]
        return known_calibrations(self.session, cells)
