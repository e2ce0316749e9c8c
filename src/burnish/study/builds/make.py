"""From stages to gated builds: makes each stage once, examines and tests each build."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from burnish.base.digest import digest_of
from burnish.base.errors import InfrastructureError
from burnish.bench import datasets
from burnish.builds import configuration, evidence
from burnish.builds.after_link.maker import AfterLinkMaker
from burnish.builds.builder import Builder
from burnish.builds.evidence import Examiner, Portable
from burnish.builds.sharing import in_order, kept_as, needed, outdated, without
from burnish.builds.stages import Bolt, Compile, Stage
from burnish.builds.training import Trainer
from burnish.engines.contract import Engine, GateReport
from burnish.model.cache import CacheUse
from burnish.model.recipe import Recipe, Variant
from burnish.model.workload import Workload
from burnish.profiles import merging
from burnish.profiles.stages import Merge, Train
from burnish.program import elf
from burnish.program.built import Built, Identity
from burnish.record.codec import plain, value_of
from burnish.record.events.builds import (
    BuildFailed,
    BuildMade,
    DatasetMade,
    GateRun,
    MachineCodeChanged,
    ProfileMade,
    StageDone,
    StageKey,
    VariantMissing,
)
from burnish.record.record import Record
from burnish.record.store import MADE_WITH, Entry, Store
from burnish.record.workbench import Bench
from burnish.study.builds.recorded import build_id, gate_findings, identity_recorded, program_examined, unsaid
from burnish.study.builds.resolving import Chain, asked_of, gate_key, untested_by
from burnish.toolchain import failures, hints


@dataclass
class Made:
    """A variant's build, or why there is none.

    Attributes:
        built: its build, if it may be measured.
        identity: version and features as the program reports them.
        failure: why it is not measured, otherwise.
        same: whether its program is the baseline's; then there is nothing to measure and no gate is needed.
    """

    variant: Variant
    built: Built | None = None
    identity: Identity | None = None
    failure: str | None = None
    same: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass
class Maker:
    """Makes the builds of a study.

    Attributes:
        engine: the engine.
        builder: compiles.
        store: finished work.
        record: what happened.
        bench: progress.
        cores: CPU numbers that training may use.
        scratch: private folder.
        workloads: the loads that trials measure, by name.
        version: what the store's data sets are named by; the source's version until the baseline has said its own (see
            `Source.data_version`).
        training: the loads that builds are trained on, by their names in recipes: a load may be trained under other
            settings than it is measured under, so that it has other data.
        portable: what the study asks of its builds' portability.
        look: called with the baseline as soon as it is built, before data sets are made; raises if something is wrong.
        data_ahead: number of data sets that are still steps of the plan; before a folder's first build it expects none
            of them in the store.
    """

    engine: Engine
    builder: Builder
    store: Store
    record: Record
    bench: Bench
    cores: frozenset[int]
    scratch: Path
    workloads: dict[str, Workload]
    version: str
    training: dict[str, Workload] = field(default_factory=dict)
    portable: Portable = field(default_factory=Portable)
    look: Callable[[Built], None] = lambda _: None
    tools: Built | None = None
    first: str = ""
    baselines: dict[str, tuple[Built, Recipe, dict[str, Any]]] = field(default_factory=dict)
    data: dict[str, Entry] = field(default_factory=dict)
    data_ahead: int = 0
    _failed: dict[str, InfrastructureError] = field(default_factory=dict)

    @property
    def loads(self) -> tuple[Workload, ...]:
        """All loads: the measured ones first, then those that builds are trained on."""
        return (*self.workloads.values(), *self.training.values())

    def _there(self, kind: str, key: str) -> bool:
        """For `needed`: profiles are fetched and checked; a build that only trainings run is not worth fetching."""
        return Store.has(self.store, kind, key) if kind == "builds" else self.store.find(kind, key) is not None

    def _have(self, stage: Stage) -> bool:
        return self.store.find(kept_as(stage), stage.key) is not None

    def _wanted(self, *chains: Sequence[Stage]) -> tuple[list[tuple[Stage, ...]], frozenset[str]]:
        """Of each chain the stages that must be there, and the keys of those that are, but must be made anew."""
        unfit = outdated(chains, self._there, self.store.made_with)
        return [needed(chain, without(unfit, self._there)) for chain in chains], unfit

    def make(self, chains: Sequence[Chain], *, more: bool = False, tested: bool = True) -> list[Made]:
        """Makes and tests all variants' builds; one that fails becomes a row with its reason, the others continue.

        The baseline is made and tested first. Then come the stages that several variants share, then each
        variant's own. A shared stage that fails is not tried again for the next variant that needs it.

        Args:
            chains: every variant's stages, the baseline's first.
            more: whether an earlier call has made the baseline, so that `chains` has only other variants.
            tested: whether they are tested; `test` does so later.
        """
        made = []
        for number, chain in enumerate(chains, int(more)):
            if number == 1:
                self._make_shared(chains if more else chains[1:])
            if chain.missing is not None:
                self.record.append(VariantMissing(build_id(chain.variant.name), chain.missing))
                self.bench.say(f"{chain.variant.name}: left out: {chain.missing}")
                made.append(Made(chain.variant, failure=f"left out: {chain.missing}"))
                continue
            try:
                made.append(self._make_one(chain, baseline=number == 0, tested=tested))
            except InfrastructureError as error:
                self.record.append(BuildFailed(build_id(chain.variant.name), error.explain()))
                if number == 0:
                    raise
                self.bench.total -= self._never_made(chain, chains[number - int(more) + 1 :])
                self.bench.say(f"{chain.variant.name}: failed: {error}")
                made.append(Made(chain.variant, failure=f"build failed: {_words(error)}"))
        return made

    def _never_made(self, chain: Chain, later: Sequence[Chain]) -> int:
        """Steps of the plan that a chain which failed leaves out: its gate, and stages that no later one makes."""
        wanted = {stage.key for other in later if other.missing is None for stage in other.stages}
        (stages,), unfit = self._wanted(chain.stages)
        lost = [stage for stage in stages if stage.key not in self._failed.keys() | wanted]
        gated = self.store.find("gates", gate_key(self.engine.spec, chain.stages)) is not None
        return sum(stage.key in unfit or not self._have(stage) for stage in lost) + (not gated)

    def _make_shared(self, chains: Sequence[Chain]) -> None:
        """Makes the stages that several variants share, before those of single variants."""
        possible = [chain for chain in chains if chain.missing is None]
        users = Counter(key for chain in possible for key in {stage.key for stage in chain.stages})
        stages, unfit = self._wanted(*(chain.stages for chain in possible))
        for stage in in_order(stages):
            if users[stage.key] > 1 and (stage.key in unfit or not self._have(stage)):
                chain = next(candidate for candidate in possible if stage in candidate.stages)
                with contextlib.suppress(InfrastructureError):  # remembered, and raised for each variant that needs it
                    self.make_up_to(stage, chain)

    def make_up_to(self, last: Stage, chain: Chain) -> None:
        """Makes the missing stages of a chain that `last` needs, and `last`."""
        before = chain.stages[: chain.stages.index(last) + 1]
        (wanted,), unfit = self._wanted(before)
        for stage in before:
            if stage not in wanted:
                continue
            if stage.key in self._failed:
                raise self._failed[stage.key]
            here = Store.has(self.store, kept_as(stage), stage.key)
            made = stage.key in unfit or not self._have(stage)
            if made:
                try:
                    self._make_stage(stage, chain.variant.name)
                except InfrastructureError as error:
                    self._failed[stage.key] = error
                    raise
            if made or not here:  # what comes after it may fit no longer, if it was fetched too
                (wanted,), unfit = self._wanted(before)
            if not made:
                self._say_late(_kind(stage), stage.title, chain.variant.name, kept_as(stage), stage.key)

    def _make_one(self, chain: Chain, *, baseline: bool, tested: bool) -> Made:
        name = chain.variant.name
        self.make_up_to(chain.stages[-1], chain)
        entry = self.store.find("builds", chain.final)
        assert entry is not None  # noqa: S101 - made just now
        built = self.builder.built(name, entry)
        identity = self.engine.identity(built, self.bench)
        if baseline:
            self.tools = built
            if self.builder.origin is not None:
                self.version = self.builder.origin.data_version(identity.version)
            self.look(built)
            self._prepare_data(built)
        self.record.append(
            BuildMade(
                build=build_id(name),
                key=entry.key,
                about={name: value for name, value in entry.about.items() if name not in ("making", MADE_WITH)},
                identity=identity_recorded(identity),
                stages=tuple(StageKey(stage.key, stage.title) for stage in chain.stages),
            )
        )
        self._note_profile(chain, name)
        result = Made(chain.variant, built=built, identity=identity, notes=list(chain.notes))
        if patches := entry.about.get("patches"):
            listed = ", ".join(f"{'-R ' if patch['reverted'] else ''}{patch['file']}" for patch in patches)
            result.notes.insert(0, f"patched, source {entry.about['source'][:12]}: {listed}")
        for flag, count, example in entry.about.get("cancelled", ()):
            result.notes.append(
                f"{flag} was cancelled by a later flag in {count} of {entry.about['objects']} objects ({example})"
            )
        result.notes += hints.notes(entry.about.get("wrong_hints", ()))
        result.notes += entry.about.get("notes", ())
        for flag, count, example in entry.about.get("disagree", ()):
            result.notes.append(f"{flag}: {count} objects were compiled without, by their own record ({example})")
        if not self._examine(result, built, baseline=baseline):
            return result
        for option in untested_by(self.engine.spec, chain.stages):
            count = f"{len(option.tests)} test{'s' if len(option.tests) > 1 else ''}"
            result.notes.append(
                f"{option.option}: the gate leaves out {count}, of {option.why}: {', '.join(option.tests)}"
            )
        if tested:
            self.test(chain, result)
        if baseline and result.failure:
            raise InfrastructureError(
                f"the baseline {result.failure}; nothing can be compared with it",
                log=self.bench.log_path(f"gate-{name}.log"),
                kept="the build; fix what made the tests fail and run the same command again",
            )
        return result

    def test(self, chain: Chain, made: Made) -> None:
        """Tests a build by its server's own tests; one that fails may not be measured any more."""
        if made.built is None or made.same:
            return
        report = self._gate(chain, made.built, made.identity.version if made.identity else "")
        if not report.passed:
            names = ", ".join(test for test, _ in report.failures[:3])
            made.built, made.failure = None, f"failed its gate: {names}"

    def _note_profile(self, chain: Chain, name: str) -> None:
        """Records the profile of a build that was in the store already: reports say what it was trained on."""
        if self.record.last(ProfileMade, build=build_id(name)) is not None:
            return
        for stage in reversed(chain.stages):
            if isinstance(stage, Train | Merge) and (entry := self.store.find(kept_as(stage), stage.key)) is not None:
                self.record.append(ProfileMade(build_id(name), entry.key, _short(entry)))
                return

    def _examine(self, result: Made, built: Built, *, baseline: bool) -> bool:
        """Examines the build's program; returns whether it continues to the gate and the trials."""
        examiner = Examiner(self.engine, self.store, self.bench, self.scratch)
        facts = examiner.look(built)
        result.built = replace(built, program=digest_of([facts["program"][name] for name in ("code", "data")]))
        tried = examiner.try_on(built, self.portable.to_try(facts["program"]["machine"]))
        self.record.append(program_examined(build_id(built.name), built.key, tried, facts))
        result.notes += [f"on {name}: {why}" for name, why in tried.items() if why]
        if why := evidence.refused(facts, tried, self.portable):
            if baseline:
                raise InfrastructureError(f"the baseline {why}: nothing can be compared with it")
            result.built, result.failure = None, why
            return False
        recipe, (name, _, replicate) = result.variant.recipe, built.name.partition("#")
        if baseline:
            self.first = name
        if name == self.first:
            self.baselines[replicate] = built, recipe, facts
            return True
        if replicate not in self.baselines:
            return True  # that replicate of the baseline could not be made
        other, usual, its = self.baselines[replicate]
        if evidence.same(facts, its, built, other, recipe, usual):
            result.same = True
            self.bench.say(f"{built.name}: no effect: identical code; not measured")
            return False
        notes = (evidence.compared(facts, its), configuration.note(built.folder, other.folder, self.first))
        result.notes += [note for note in notes if note]
        if replicate in ("", "1") and evidence.only_patched(recipe, usual):
            changed = plain(examiner.changed(built, other))
            self.record.append(
                value_of(MachineCodeChanged, {"build": plain(build_id(name)), "of": self.first, **changed})
            )
        return True

    def _make_stage(self, stage: Stage, name: str) -> None:
        began = time.monotonic()
        self._perform(stage, name)
        entry = self.store.find(kept_as(stage), stage.key)
        about = entry.about if entry else {}
        self._note(_kind(stage), stage.title, name, stage.key, time.monotonic() - began, about)

    def _say_late(self, kind: str, title: str, name: str, kept: str, key: str) -> None:
        """Records a step that this run made, but was killed before it could say so."""
        if unsaid(self.record, key) and (entry := self.store.find(kept, key)) is not None:
            seconds = {**entry.about.get("report", {}), **entry.about}.get("seconds", 0.0)
            self._note(kind, title, name, key, seconds, entry.about)

    def _note(self, kind: str, title: str, name: str, key: str, seconds: float, about: Mapping[str, Any]) -> None:
        """Records a step that was made in this run, not taken from the store, with its cost."""
        cache = about.get("cache")
        self.record.append(
            StageDone(
                stage=kind,
                title=title,
                build=build_id(name),
                key=key,
                seconds=round(seconds, 3),
                peak_rss_bytes=about.get("peak_rss_bytes"),
                cache=value_of(CacheUse, cache) if cache else None,
            )
        )

    def _perform(self, stage: Stage, name: str) -> None:
        if isinstance(stage, Compile):
            self.builder.compile(stage, name)
        elif isinstance(stage, Train):
            trained = {step: self.training[step] for step, _ in stage.training}
            data = {load.name: self._dataset(load) for load in trained.values() if load.dataset != "none"}
            trainer = Trainer(self.builder, trained, data, self.tools, self.cores, self.scratch)
            entry = trainer.train(stage, name)
            self.record.append(ProfileMade(build_id(name), entry.key, _short(entry)))
        elif isinstance(stage, Merge):
            with self.bench.step(f"{name}: {stage.title}", f"merge-{name}-{stage.key}"):
                entry = merging.merge(stage, self.engine.spec, self.store, self.bench, name)
            self.record.append(ProfileMade(build_id(name), entry.key, _short(entry)))
        elif isinstance(stage, Bolt):
            shutil.rmtree(self.builder.bolt_raw, ignore_errors=True)
            self.builder.bolt(stage, name)
        else:
            AfterLinkMaker(self.builder.engine, self.store, self.bench).make(stage, name)

    def _prepare_data(self, built: Built) -> None:
        loads = {(load.name, self._data_key(load)): load for load in self.loads if load.dataset != "none"}
        missing = sum(self.store.find("datasets", key) is None for key in {key for _, key in loads})
        self.bench.total -= max(0, self.data_ahead - missing)
        self.data_ahead = 0
        for (name, key), workload in loads.items():
            if self.store.find("datasets", key) is not None:
                self._say_late("dataset", workload.dataset, built.name, "datasets", key)
            entry = self._dataset(workload)
            self.data.setdefault(name, entry)  # what is measured comes first
            self.record.append(DatasetMade(name, key, dict(entry.about)))

    def _data_key(self, workload: Workload) -> str:
        return datasets.dataset_key(self.engine.spec, self.version, workload)

    def _dataset(self, workload: Workload) -> Entry:
        """A load's data set, made by the baseline unless it is in the store."""
        key, built = self._data_key(workload), self.tools
        entry = self.store.find("datasets", key)
        if entry is None:
            if built is None:
                raise InfrastructureError(f"dataset {workload.dataset}: the baseline makes it, and is not built yet")
            expected, began = self.store.cost(self.engine.spec.name, "dataset", workload.dataset), time.monotonic()
            with self.bench.step(f"dataset {workload.dataset}", f"dataset-{workload.dataset}", expected):
                entry = datasets.obtain(self.engine, self.store, built, built, self.version, workload, self.bench)
            self._note("dataset", workload.dataset, built.name, key, time.monotonic() - began, {})
        return entry

    def _gate(self, chain: Chain, built: Built, version: str = "") -> GateReport:
        """The gate's report for a build: from the store when it passed before, tested now otherwise.

        What the program says of its `version` is kept with it, for plans.
        """
        assert self.tools is not None  # noqa: S101 - the baseline is made first
        spec = self.engine.spec
        name, key, asked = built.name, gate_key(spec, chain.stages), asked_of(spec, chain.stages)
        passed, measured = self.store.find("gates", key), elf.build_id(built.server)
        content = evidence.content_of(self.store, built)
        same = passed is not None and passed.about["report"]["build_id"] == measured
        # A result of before its program's digest was kept with it has the build id alone.
        if passed is not None and not (same and passed.about.get(evidence.CONTENT, content) == content):
            passed = None  # of a program that was made again and came out otherwise
        if passed is not None:
            about = passed.about["report"]
            lists = {name: tuple(about.get(name, ())) for name in ("left_out", "again")}
            report = GateReport(**{**about, "failures": (), **lists})
            self._say_late("gate", "gate", name, "gates", key)
        else:
            expected = self.store.cost(spec.name, "gate", name) or spec.costs.gate_s
            place = self.scratch / "gate"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(mode=0o700, parents=True)
            began = time.monotonic()
            with self.bench.step(f"{name}: gate", f"gate-{name}", expected):
                report = self.engine.gate(built, self.tools, place, self.bench, asked)
                report = replace(report, left_out=tuple(test for test in spec.gate_tests if test not in asked))
                self.store.note_cost(spec.name, "gate", name, time.monotonic() - began)
            shutil.rmtree(place, ignore_errors=True)
            if report.passed:
                self.store.begin("gates", key)
                about = {"build": chain.final, evidence.CONTENT: content, "report": asdict(report), "version": version}
                self.store.admit("gates", key, about)
            self._note("gate", "gate", name, key, time.monotonic() - began, {})
            if not report.passed:
                for test, why in report.failures[:5]:
                    self.bench.say(f"{name}: gate: {test}: {why}")
        if report.passed and report.build_id != measured:
            raise InfrastructureError(
                f"{name}: the gate tested build id {report.build_id or 'none'}, the store holds {measured or 'none'}"
            )
        self.record.append(GateRun(build_id(name), chain.final, passed is not None, gate_findings(report)))
        return report


def _kind(stage: Stage) -> str:
    """The kind of a stage in the record."""
    return type(stage).__name__.lower()


def _words(error: InfrastructureError) -> str:
    """What failed, the first error in its log, and where the log is."""
    first = str(error).splitlines()[0]
    if error.log is None:
        return first
    text = error.log.read_text(encoding="utf-8", errors="replace") if error.log.is_file() else ""
    cause = failures.first_error(failures.last_command(text))
    what = f"{first.partition(': `')[0]}: {cause}" if cause else first  # more useful than an exit code
    return f"{what} (log: {error.log.parent.name}/{error.log.name})"


def _short(entry: Entry) -> dict[str, object]:
    return {key: value for key, value in entry.about.items() if key not in ("objects", MADE_WITH)}
