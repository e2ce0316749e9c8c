"""What is measured and how it was made: source, toolchains, plan, builds, the outcome of every variant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.model.cache import CacheUse
from burnish.model.cell import BuildId
from burnish.record.costs import Figure
from burnish.record.events.base import Event


@dataclass(frozen=True)
class SourceObtained(Event):
    """The source that is built.

    Attributes:
        name: name of the package or engine.
        version: its version; for a folder without a version in its name, the first digits of its digest.
        digest: digest of the source's content.
        origin: where it comes from, for people.
        archives: (file name, hex SHA-256) of the unpacked archives, in order; empty for a folder.
        note: remark about the choice of this version; None: no remark.
        source_kind: ``debian``, ``archive`` or ``folder``; None in older records.
    """

    name: str
    version: str
    digest: str
    origin: str
    archives: tuple[tuple[str, str], ...] = ()
    note: str | None = None
    source_kind: str | None = None


@dataclass(frozen=True)
class FoundToolchain:
    """A compiler of this host with its tools; the path of a missing tool is None.

    Attributes:
        name: family and version, ``gcc-12``.
        family: ``gcc`` or ``clang``.
        version: version line that the compiler prints.
        release: version number.
        cc: C compiler.
        cxx: C++ compiler.
        ar: archiver.
        ranlib: ranlib of that archiver.
        linker: linker of the toolchain; None: the system's.
        profdata: llvm-profdata.
        gcov_dump: gcov-dump.
        bolt: llvm-bolt.
        merge_fdata: merge-fdata.
        has_profile_runtime: whether instrumented builds can be linked.
        bolt_can_instrument: whether BOLT can instrument.
        identity: what tells the compiler from others in the keys of builds; '' in older records.
        bolt_version: the same of BOLT; '' in older records, or without one.
    """

    name: str
    family: str
    version: str
    release: str
    cc: str
    cxx: str
    ar: str | None = None
    ranlib: str | None = None
    linker: str | None = None
    profdata: str | None = None
    gcov_dump: str | None = None
    bolt: str | None = None
    merge_fdata: str | None = None
    has_profile_runtime: bool = False
    bolt_can_instrument: bool = False
    identity: str = ""
    bolt_version: str = ""


@dataclass(frozen=True)
class ToolchainsFound(Event):
    """The compilers of this host.

    Attributes:
        found: all of them.
    """

    found: tuple[FoundToolchain, ...]


@dataclass(frozen=True)
class PlannedStep:
    """One step of a plan.

    Attributes:
        kind: ``source``, ``compile``, ``partial``, ``relink``, ``read``, ``training``, ``merge``, ``bolt``,
            ``dataset``, ``gate``, ``trials`` or another stage's.
        title: for people.
        variants: names of the variants that need it.
        key: its name in the store; '' for trials.
        cached: whether it is in the store already.
        seconds: expected wall time.
        kept: bytes that it adds to the store.
        tree: largest size of its build folder in bytes; None if it has none.
        peak: bytes of the largest process; None if unknown.
        cache_use: hits of the compiler cache when it was made, in words.
        same: whether its code is known to be the baseline's.
    """

    kind: str
    title: str
    variants: tuple[str, ...]
    key: str
    cached: bool
    seconds: Figure
    kept: Figure
    tree: Figure | None = None
    peak: Figure | None = None
    cache_use: str = ""
    same: bool = False


@dataclass(frozen=True)
class PlanTotals:
    """Expected total costs of a plan.

    Attributes:
        steps_ahead: number of steps to do.
        full_compiles: compile steps that have to compile every object.
        seconds: wall time.
        kept_bytes: bytes added to the store.
        tree_bytes: largest size of the build folders.
        peak_bytes: the largest process; None if unknown.
    """

    steps_ahead: int
    full_compiles: int
    seconds: Figure
    kept_bytes: Figure
    tree_bytes: Figure
    peak_bytes: Figure | None = None


@dataclass(frozen=True)
class BuildsPlanned(Event):
    """What a session is going to make, with its expected costs.

    Attributes:
        engine: the engine's name.
        source: the source, in words.
        steps: all steps, in order.
        left_out: (variant, reason) of variants that can't be built on this host.
        to_install: system packages to install first.
        totals: costs of the steps that are not in the store yet.
        lacking: of variants that are left out, the system packages with which they could be built, where known.
    """

    engine: str
    source: str
    steps: tuple[PlannedStep, ...]
    left_out: tuple[tuple[str, str], ...]
    to_install: tuple[str, ...]
    totals: PlanTotals
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class VariantMissing(Event):
    """A variant can't be built on this host.

    Attributes:
        build: the variant, or one of its replicates.
        why: what is missing.
    """

    build: BuildId
    why: str


@dataclass(frozen=True)
class BuildFailed(Event):
    """A build failed.

    Attributes:
        build: which build.
        why: what failed, with the last lines of its log.
    """

    build: BuildId
    why: str


@dataclass(frozen=True)
class StageDone(Event):
    """A step was carried out in this run, not taken from the store.

    Attributes:
        stage: ``compile``, ``train``, ``merge``, ``bolt``, ``dataset``, ``gate`` or another.
        title: for people.
        build: the first build that needed it.
        key: its name in the store.
        seconds: wall time.
        peak_rss_bytes: largest process; None if not recorded.
        cache: use of the compiler cache; None if there is none.
    """

    stage: str
    title: str
    build: BuildId
    key: str
    seconds: float
    peak_rss_bytes: int | None = None
    cache: CacheUse | None = None


@dataclass(frozen=True)
class ProfileMade(Event):
    """A build was trained, or profiles were merged for it.

    Attributes:
        build: the build that uses the profile.
        key: the profile's name in the store.
        about: its description in the store, without its list of objects.
    """

    build: BuildId
    key: str
    about: Mapping[str, Any]


@dataclass(frozen=True)
class Identity:
    """How a server program identifies itself.

    Attributes:
        version: its version string.
        features: features built in or switched on, as (name, value).
        build_id: GNU build id; '' if it has none.
        product: which server it is, where the engine has several; '' in older records.
    """

    version: str = ""
    features: tuple[tuple[str, str], ...] = ()
    build_id: str = ""
    product: str = ""


@dataclass(frozen=True)
class StageKey:
    """A stage of a build.

    Attributes:
        key: its name in the store.
        title: for people.
    """

    key: str
    title: str


@dataclass(frozen=True)
class BuildMade(Event):
    """A build is available, made in this session or taken from the store.

    Attributes:
        build: which build.
        key: its name in the store.
        about: its description in the store (``burnish.json``): toolchain, flags, seconds, costs, audits.
        identity: how its program identifies itself.
        stages: the stages that made it; the last one is what is measured.
    """

    build: BuildId
    key: str
    about: Mapping[str, Any]
    identity: Identity = Identity()
    stages: tuple[StageKey, ...] = ()


@dataclass(frozen=True)
class ProgramFound(Event):
    """An existing program is a side of the study.

    Attributes:
        build: its name in this study.
        path: its path.
        key: digest of its content.
        identity: how it identifies itself.
    """

    build: BuildId
    path: str
    key: str
    identity: Identity = Identity()


@dataclass(frozen=True)
class ProgramFacts:
    """Facts from a linked program's file (`burnish.program.program.Program`).

    Attributes:
        machine: processor family.
        bits: word size.
        code: digest of the executable sections.
        data: digest of all other sections that affect what the program does.
        sizes: bytes by kind.
        needed: shared libraries that it needs.
        versions: (family, highest version) of symbol versions that it needs.
        symbols: whether it has a symbol table beyond what the loader needs.
    """

    machine: str
    bits: int
    code: str
    data: str
    sizes: Mapping[str, int]
    needed: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]
    symbols: bool


@dataclass(frozen=True)
class ExtensionUse:
    """Use of an instruction-set extension in a program.

    Attributes:
        extension: its name.
        functions: number of functions that use it.
        instructions: number of its instructions.
        example: the function that has most of them.
    """

    extension: str
    functions: int
    instructions: int
    example: str


@dataclass(frozen=True)
class InstructionNeeds:
    """The processor features that a program's code needs (`burnish.program.instructions.Needs`).

    Attributes:
        level: the lowest instruction-set level that includes everything it uses; '' if that was not determined.
        beyond: extensions used that are in no level.
        because: uses that require more than the lowest level.
        dispatched: uses in functions that are selected at run time.
        functions: number of functions read.
        covered: share of the code that lies in functions, 0 to 1.
        note: what could not be determined, or ''.
    """

    level: str
    beyond: tuple[str, ...] = ()
    because: tuple[ExtensionUse, ...] = ()
    dispatched: tuple[ExtensionUse, ...] = ()
    functions: int = 0
    covered: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class ProgramExamined(Event):
    """Facts from a program's file, and the processors on which it was tried.

    Attributes:
        build: the build that the program belongs to.
        key: the build's key.
        tried: by processor name, why the program does not run on it; None if it does.
        program: facts from its file.
        needs: processor features that its code needs.
    """

    build: BuildId
    key: str
    tried: Mapping[str, str | None]
    program: ProgramFacts
    needs: InstructionNeeds


@dataclass(frozen=True)
class MachineCodeChanged(Event):
    """Functions that differ between two programs of one source.

    Attributes:
        build: build of the second program.
        of: name of the variant that it is compared with.
        functions: number of functions in the second program.
        differ: functions whose instructions differ.
        gone: functions that only the first one has.
        new: functions that only the second one has.
        note: why the programs could not be compared, or ''.
    """

    build: BuildId
    of: str
    functions: int
    differ: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class ProgramsDiffer(Event):
    """Differences between two programs other than speed.

    Attributes:
        found: one line for each difference; empty if there is none.
    """

    found: tuple[str, ...]


@dataclass(frozen=True)
class GateFindings:
    """Results of a build's gate.

    Attributes:
        passed: whether the build may be measured.
        tests: number of tests that ran.
        skipped: number of tests that could not run here.
        failures: (test, one line) of the failed tests.
        build_id: build id of the tested program.
        seconds: wall time.
        left_out: tests that do not apply because of the build's options.
        again: tests that passed only when they ran once more, alone.
    """

    passed: bool
    tests: int
    skipped: int
    failures: tuple[tuple[str, str], ...] = ()
    build_id: str = ""
    seconds: float = 0.0
    left_out: tuple[str, ...] = ()
    again: tuple[str, ...] = ()


@dataclass(frozen=True)
class GateRun(Event):
    """A build passed its gate or failed it.

    Attributes:
        build: which build.
        key: the build's key.
        cached: whether the results are from an earlier session.
        report: the results.
    """

    build: BuildId
    key: str
    cached: bool
    report: GateFindings


@dataclass(frozen=True)
class DatasetMade(Event):
    """A load's data are available, made in this session or taken from the store.

    Attributes:
        workload: the load.
        key: their name in the store.
        about: their description in the store.
    """

    workload: str
    key: str
    about: Mapping[str, Any]


@dataclass(frozen=True)
class VariantSettled(Event):
    """The outcome of a variant.

    Attributes:
        variant: its name.
        reason: why one would use it.
        weakens_security: whether it trades security for speed.
        changes_results: whether a query may give a different result.
        narrows_portability: whether it runs on fewer machines.
        failure: why it is not measured; None if it is.
        same: whether it is not measured because its program is identical to the baseline's.
        notes: remarks for the reader, one sentence each.
        named: whether it was requested by name, rather than as one of the engine's or of a file's; true in older
            records.
    """

    variant: str
    reason: str = ""
    weakens_security: bool = False
    changes_results: bool = False
    narrows_portability: bool = False
    failure: str | None = None
    same: bool = False
    notes: tuple[str, ...] = ()
    named: bool = True


@dataclass(frozen=True)
class TuningExamined(Event):
    """Settings of the server that are poorly tuned for the loads.

    Attributes:
        found: one line for each; empty if there is none.
    """

    found: tuple[str, ...]
