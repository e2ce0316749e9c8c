"""What is measured and how it was made: source, toolchains, plan, builds, what became of every variant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.model.cell import BuildId
from burnish.record.costs import Figure
from burnish.record.events.base import Event


@dataclass(frozen=True)
class SourceObtained(Event):
    """The source that is built.

    Attributes:
        name: the package's or the engine's name.
        version: its version; of a folder without one in its name, the first digits of its digest.
        digest: names the source by its content.
        origin: where it is from, for people.
        archives: (file name, hex SHA-256) of what was unpacked, in order; empty for a folder.
        note: what a reader should know about the choice of this version; None: nothing.
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
    """A compiler of this host and what belongs to it; paths are None for what is not there.

    Attributes:
        name: family and version, ``gcc-12``.
        family: ``gcc`` or ``clang``.
        version: the compiler's own version line.
        release: the version's numbers.
        cc: C compiler.
        cxx: C++ compiler.
        ar: archiver.
        ranlib: its index maker.
        linker: the linker that comes with it; None: the system's.
        profdata: llvm-profdata.
        gcov_dump: gcov-dump.
        bolt: llvm-bolt.
        merge_fdata: merge-fdata.
        has_profile_runtime: whether instrumented builds can be linked.
        bolt_can_instrument: whether BOLT can instrument.
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
        kind: ``source``, ``compile``, ``partial``, ``relink``, ``training``, ``merge``, ``bolt``, ``dataset``,
            ``gate``, ``trials`` or another stage's.
        title: for people.
        variants: names of the variants that it is for.
        key: its name in the store; '' for trials.
        cached: whether it is there already.
        seconds: expected wall time.
        kept: bytes that it leaves in the store.
        tree: bytes of its build folder at its fullest; None where it has none.
        peak: bytes of the largest process; None where nothing is known.
        cache_use: what the compiler cache gave when it was made, in words.
        same: whether it is known to be the baseline's code.
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
    """What is ahead altogether.

    Attributes:
        steps_ahead: number of steps.
        full_compiles: compile steps of which every object must be made.
        seconds: wall time.
        kept_bytes: what stays in the store.
        tree_bytes: build folders at their fullest.
        peak_bytes: the largest process; None where nothing is known.
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
        steps: in the order in which they are made.
        left_out: (variant, reason) of what can't be built on this host.
        to_install: system packages that were to be installed first.
        totals: of the steps that are not in the store yet.
    """

    engine: str
    source: str
    steps: tuple[PlannedStep, ...]
    left_out: tuple[tuple[str, str], ...]
    to_install: tuple[str, ...]
    totals: PlanTotals


@dataclass(frozen=True)
class VariantMissing(Event):
    """A variant can't be built on this host.

    Attributes:
        build: the variant, or the replicate of it.
        why: what is missing.
    """

    build: BuildId
    why: str


@dataclass(frozen=True)
class BuildFailed(Event):
    """A build was tried and failed.

    Attributes:
        build: which.
        why: what failed, with the end of its log.
    """

    build: BuildId
    why: str


@dataclass(frozen=True)
class CacheUse:
    """What the compiler cache did for a build.

    Attributes:
        hits: objects that it had.
        misses: objects that were compiled.
        passed: objects that it can't keep, compiled too.
    """

    hits: int
    misses: int
    passed: int


@dataclass(frozen=True)
class StageDone(Event):
    """A step was made now, not taken from the store.

    Attributes:
        stage: ``compile``, ``train``, ``merge``, ``bolt``, ``dataset``, ``gate`` or another.
        title: for people.
        build: the build that it was made for first.
        key: its name in the store.
        seconds: wall time.
        peak_rss_bytes: largest process; None where that was not noted.
        cache: what the compiler cache gave; None without one.
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
        build: for which build.
        key: the profile's name in the store.
        about: its description in the store, without its list of objects.
    """

    build: BuildId
    key: str
    about: Mapping[str, Any]


@dataclass(frozen=True)
class Identity:
    """What a server program says it is.

    Attributes:
        version: its version string.
        features: what is in or switched on, as (name, value).
        build_id: GNU build id; '' when it has none.
    """

    version: str = ""
    features: tuple[tuple[str, str], ...] = ()
    build_id: str = ""


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
    """A build is there, made now or taken from the store.

    Attributes:
        build: which.
        key: its name in the store.
        about: its description in the store (``burnish.json``): toolchain, flags, seconds, costs, audits.
        identity: what its program says it is.
        stages: how it was made, the last stage being what is measured.
    """

    build: BuildId
    key: str
    about: Mapping[str, Any]
    identity: Identity = Identity()
    stages: tuple[StageKey, ...] = ()


@dataclass(frozen=True)
class ProgramFound(Event):
    """A program that exists already is a side of the study.

    Attributes:
        build: what it is called here.
        path: where it is.
        key: digest of its content.
        identity: what it says it is.
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
        data: digest of everything else that decides what the program does.
        sizes: bytes by kind.
        needed: libraries that it asks the loader for.
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
    """Where an extension of the instruction set is used.

    Attributes:
        extension: its name.
        functions: number of functions with it.
        instructions: number of instructions.
        example: the function that has most of them.
    """

    extension: str
    functions: int
    instructions: int
    example: str


@dataclass(frozen=True)
class InstructionNeeds:
    """What a program's code needs of a processor (`burnish.program.instructions.Needs`).

    Attributes:
        level: the lowest instruction-set level that holds all it uses; '' where that was not read.
        beyond: extensions used that are in no level.
        because: uses that made it need more than the first level.
        dispatched: uses in functions that are chosen at run time.
        functions: number of functions read.
        covered: share of the code that lies in functions, 0 to 1.
        note: what can't be said, or ''.
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
    """What a program's file says, and on which processors it was tried.

    Attributes:
        build: whose program.
        key: the build's key.
        tried: by name of a processor, why the program does not run on it; None where it does.
        program: facts of its file.
        needs: what its code needs.
    """

    build: BuildId
    key: str
    tried: Mapping[str, str | None]
    program: ProgramFacts
    needs: InstructionNeeds


@dataclass(frozen=True)
class MachineCodeChanged(Event):
    """Which functions of two programs of one source do something else.

    Attributes:
        build: the second program's.
        of: name of the variant that it is compared with.
        functions: how many functions the second program has.
        differ: functions whose instructions differ.
        gone: functions that only the first one has.
        new: functions that only the second one has.
        note: why nothing can be said, or ''.
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
    """What sets two programs apart besides speed.

    Attributes:
        found: a line each; empty where nothing does.
    """

    found: tuple[str, ...]


@dataclass(frozen=True)
class GateFindings:
    """What a build's gate found.

    Attributes:
        passed: whether the build may be measured.
        tests: number of tests that ran.
        skipped: number of tests that could not run here.
        failures: (test, one line) of those that failed.
        build_id: build id of the program that was tested.
        seconds: wall time.
        left_out: tests that the build's options take out.
    """

    passed: bool
    tests: int
    skipped: int
    failures: tuple[tuple[str, str], ...] = ()
    build_id: str = ""
    seconds: float = 0.0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class GateRun(Event):
    """A build passed its gate or failed it.

    Attributes:
        build: which.
        key: the build's key.
        cached: whether the findings are an earlier session's.
        report: what was found.
    """

    build: BuildId
    key: str
    cached: bool
    report: GateFindings


@dataclass(frozen=True)
class DatasetMade(Event):
    """A load's data are there, made now or taken from the store.

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
    """What became of a variant.

    Attributes:
        variant: its name.
        reason: why one would try it.
        weakens_security: whether it trades safety for speed.
        changes_results: whether a query may give another result.
        narrows_portability: whether it runs on fewer machines.
        failure: why it is not measured; None where it is.
        same: whether it is not measured because its program is the baseline's.
        notes: what a reader should know, a sentence each.
    """

    variant: str
    reason: str = ""
    weakens_security: bool = False
    changes_results: bool = False
    narrows_portability: bool = False
    failure: str | None = None
    same: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TuningExamined(Event):
    """What routine tuning of the server was left undone for the loads.

    Attributes:
        found: a line each; empty where nothing was.
    """

    found: tuple[str, ...]
