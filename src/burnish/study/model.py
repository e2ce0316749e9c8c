"""What a study is made of: recipes, workloads, conditions, variants; values, validated and frozen.

TOML files are read by pydantic models (the edge) and handed on as frozen dataclasses (the inside).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Literal

Lto = Literal["none", "thin", "full"]
Linker = Literal["bfd", "gold", "lld", "mold"]
Static = Literal["none", "runtime", "full"]
Allocator = Literal["libc", "jemalloc", "tcmalloc", "mimalloc"]
Strip = Literal["debug", "all"]
Word = Literal[64, 32]
Mixing = Literal["together", "in_turn"]
Transport = Literal["unix", "tcp", "tls", "remote"]

REVERTED = "-R "
"""Stands before the path of a recipe's patch that is taken out of the source instead of put in."""


def digest_of(value: object, length: int = 16) -> str:
    """Hex SHA-256 (shortened to `length`) of a JSON-able value, keys sorted: equal values, equal names."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:length]


@dataclass(frozen=True)
class Recipe:
    """One way to build, without anything that belongs to one machine.

    Attributes:
        toolchain: ``gcc``, ``clang`` (the newest complete one found) or an exact name such as ``clang-19``.
        level: optimisation level that replaces the package's own (``-O3``); None keeps it.
        lto: link-time optimisation.
        pgo: whether it is built with a profile from training.
        bolt: whether the linked program is rewritten by BOLT after a training of its own.
        hardening: whether the package's hardening flags and the engine's hardening switch stay on.
        features: name of the engine's feature set; None takes the study's.
        c: flags added for C, after the package's own.
        cxx: flags added for C++, likewise.
        link: flags added for the link, likewise.
        remove: flags of the package that are left out, exactly as they are spelled there.
        options: configure options (cmake ``-D``), as (name, value).
        flags: entries of the flag catalogue by name, in order; the toolchain decides how each is spelled.
        target: processor or instruction-set level the code is for (``-march``); None keeps the package's.
        linker: which linker; None takes the toolchain's own choice.
        static: what is linked in instead of loaded: nothing, the compiler's run-time libraries, or everything.
        allocator: which malloc.
        preload: whether the allocator is preloaded when the server starts, rather than linked.
        word: word size in bits.
        strip: what is taken out of the linked program (its symbols are kept beside it): ``debug`` sections or
            ``all`` symbols; None leaves debug sections out from the start and keeps the symbol table.
        huge_text: whether the code is aligned and mapped for huge pages.
        patches: patches to the source, in order, as paths; one that begins with ``-R `` is reverted instead.
        layout: seed of a shuffled link order, for replicates of one recipe; 0 is the build system's own order.
        training: (workload, weight) that its profile is trained on; empty takes the engine's.
        training_seed: replicate of the training: decides the load's keys; 0 is the usual one.
        context_sensitive: whether clang trains a second round after inlining (CSPGO).
        partial_training: whether gcc treats what training did not reach as unknown rather than cold.
        sampled: whether the profile comes from branch samples of an ordinary build instead of counters.
        profile: name of a kept or imported profile that is used instead of training one.
        bolt_options: BOLT's options; empty takes the usual ones.
    """

    toolchain: str = "gcc"
    level: str | None = None
    lto: Lto = "none"
    pgo: bool = False
    bolt: bool = False
    hardening: bool = True
    features: str | None = None
    c: tuple[str, ...] = ()
    cxx: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()
    target: str | None = None
    linker: Linker | None = None
    static: Static = "none"
    allocator: Allocator = "libc"
    preload: bool = False
    word: Word = 64
    strip: Strip | None = None
    huge_text: bool = False
    patches: tuple[str, ...] = ()
    layout: int = 0
    training: tuple[tuple[str, float], ...] = ()
    training_seed: int = 0
    context_sensitive: bool = False
    partial_training: bool = False
    sampled: bool = False
    profile: str | None = None
    bolt_options: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Plain values, for digests and the record."""
        return asdict(self)

    def changes(self) -> dict[str, str]:
        """What it does otherwise than the baseline, in words: fields that are not the defaults."""
        usual = Recipe().as_dict()
        return {name: _words(value) for name, value in self.as_dict().items() if value != usual[name]}


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return " ".join(item if isinstance(item, str) else "=".join(map(str, item)) for item in value)
    return str(value)


@dataclass(frozen=True)
class Marks:
    """What a way to build costs beyond time.

    Attributes:
        changes_results: the same query may give another result, if only in the last digit.
        narrows_portability: the build runs on fewer machines.
        weakens_security: a protection is gone.
    """

    changes_results: bool = False
    narrows_portability: bool = False
    weakens_security: bool = False

    def __or__(self, other: Marks) -> Marks:
        return Marks(*(getattr(self, each.name) or getattr(other, each.name) for each in fields(Marks)))

    def __bool__(self) -> bool:
        return bool(self.words)

    @property
    def words(self) -> tuple[str, ...]:
        """The marks that are set, as one reads them: ``changes results``."""
        return tuple(each.name.replace("_", " ") for each in fields(Marks) if getattr(self, each.name))


@dataclass(frozen=True)
class Variant:
    """A recipe with a name, and the reason why one would want it.

    Attributes:
        name: as on the command line.
        recipe: how it is built.
        reason: why one would want it.
        weakens_security: whether it takes a protection away.
        changes_results: whether a query may give another result, if only in the last digit.
        narrows_portability: whether the build runs on fewer machines.
    """

    name: str
    recipe: Recipe
    reason: str
    weakens_security: bool = False
    changes_results: bool = False
    narrows_portability: bool = False

    @property
    def marks(self) -> Marks:
        """What it costs beyond time."""
        return Marks(self.changes_results, self.narrows_portability, self.weakens_security)


class Design(StrEnum):
    """How the two sides of a trial share the host.

    * ``duet``: both under load at the same time, each on half of the cores, changing places;
    * ``interleaved``: both up, one at a time under load, in random order;
    * ``solo``: one at a time is up at all, as a user will run it.
    """

    DUET = "duet"
    INTERLEAVED = "interleaved"
    SOLO = "solo"


SHAPING = frozenset(
    {
        "character_set_server",
        "collation_server",
        "default_storage_engine",
        "innodb_checksum_algorithm",
        "innodb_data_file_path",
        "innodb_default_row_format",
        "innodb_file_per_table",
        "innodb_page_size",
        "innodb_undo_tablespaces",
        "lower_case_table_names",
    }
)
"""Server settings that decide what files a server makes: data made under others are other data, or none to it."""


@dataclass(frozen=True)
class Workload:
    """A load that an engine's load program understands.

    Attributes:
        name: as in the catalogue.
        engine: the engine family it is written for (``mariadb``, ``sqlite``, ``fake``).
        reason: why one would run it and what it shows.
        program: sysbench script, or the engine's own load program.
        parameters: what the program is called with (tables, rows, sizes), as (name, value).
        threads: client threads of each side.
        writes: whether it changes its data, so that they are restored before each start.
        dataset: name of the data it needs; workloads with the same name and parameters share a dataset.
        unit: what is counted: ``transaction`` or ``unit`` (one whole pass of a program).
        design: the trial design that fits it, unless a study says otherwise.
        in_memory: whether all its data are meant to be in the server's memory; a pair that reads from disk then
            counts for nothing.
        saturated: whether its server is meant to be busy all the time; a pair in which the client is the
            bottleneck then counts for nothing.
        shape: names of the parameters that decide what the data are; empty: all of them do.
        prepare: script that makes the data; '' is `program`. What shares a dataset shares this too.
        prepare_threads: threads that make the data.
        without: parameters of the program that this load does not take.
        settings: server settings that belong to the load, as (name, value); a condition's win over them.
        database: the database that it works in.
        per_minute: whether its rate is told in transactions per minute too, with the mean response time.
        file: a user's own script or file of statements; '' for a shipped load.
        content: digest of what that file holds.
        own_data: a user's dump or data folder that the dataset is made from; '' when `prepare` makes it.
        parts: loads that are mixed in this one, as (load, weight).
        mixing: whether each part has client threads of its own (``together``) or each thread does all (``in_turn``).
    """

    name: str
    engine: str
    reason: str
    program: str
    parameters: tuple[tuple[str, str], ...] = ()
    threads: int = 4
    writes: bool = False
    dataset: str = "none"
    unit: str = "transaction"
    design: Design = Design.DUET
    in_memory: bool = False
    saturated: bool = False
    shape: tuple[str, ...] = ()
    prepare: str = ""
    prepare_threads: int = 2
    without: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    database: str = "sbtest"
    per_minute: bool = False
    file: str = ""
    content: str = ""
    own_data: str = ""
    parts: tuple[tuple[Workload, int], ...] = ()
    mixing: Mixing = "together"

    @property
    def identity(self) -> str:
        """Its name, with the digest of the user's files where it has any: what a study is found again by."""
        return f"{self.name}#{self.content}@{self.dataset}" if self.content else self.name

    @property
    def entry(self) -> str:
        """The catalogue's name for it, without parameters."""
        return self.name.partition(":")[0]

    def data_parameters(self) -> tuple[tuple[str, str], ...]:
        """The parameters that decide what the data are; a mix's are its parts'."""
        if self.parts:
            each = {part.dataset: part.data_parameters() for part, _ in self.parts}
            if len(each) == 1:
                return next(iter(each.values()))
            return tuple((f"{name}.{item[0]}", item[1]) for name, items in sorted(each.items()) for item in items)
        return tuple(item for item in self.parameters if not self.shape or item[0] in self.shape)

    def data_settings(self) -> tuple[tuple[str, str], ...]:
        """Those of its settings that decide what its data look like on disk, sorted."""
        return tuple(sorted(item for item in self.settings if item[0] in SHAPING))

    def parameter(self, name: str, default: str = "") -> str:
        """A parameter's value, or `default`."""
        return dict(self.parameters).get(name, default)


@dataclass(frozen=True)
class Condition:
    """How a server is deployed for a trial.

    Attributes:
        settings: server settings beyond the engine's own, as (name, value).
        transport: how clients reach the server: its Unix socket, TCP on the loopback device, TLS over that, or TCP
            from another host (a network namespace).
        certificates: folder of the study's certificates; '' without TLS.
        rate: bound on the network's rate in each direction (``100mbit``); '' without. For ``remote`` only.
        delay: of the network in each direction (``1ms``), likewise.
    """

    settings: tuple[tuple[str, str], ...] = ()
    transport: Transport = "unix"
    certificates: str = ""
    rate: str = ""
    delay: str = ""

    @property
    def limited(self) -> bool:
        """Whether the network is made slower than it could be, so that a server may have to wait for it."""
        return bool(self.rate or self.delay)

    def as_dict(self) -> dict[str, object]:
        """Plain values, for the record."""
        return asdict(self)


@dataclass(frozen=True)
class FeatureSet:
    """Which parts of the server are built in; the same for every variant of a study unless a row says so.

    Attributes:
        name: as in the engine's TOML.
        reason: what it is for, and what is in and out.
        options: configure options, as (name, value).
    """

    name: str
    reason: str
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Costs:
    """Rough step costs of an engine, until this host's own are known; for the plan and the disk check.

    Attributes:
        source_mb: size of the unpacked source.
        build_mb: size of a build tree while it is being built.
        kept_mb: size of what is kept of a build.
        dataset_mb: size of one copy of the data.
        compile_s: wall seconds of one full build on 2 cores.
        gate_s: wall seconds of the gate.
        object_mb: largest resident set of one compilation.
        link_mb: largest resident set of one link.
        lto_link_mb: likewise with link-time optimisation.
    """

    source_mb: int
    build_mb: int
    kept_mb: int
    dataset_mb: int
    compile_s: int
    gate_s: int
    object_mb: int
    link_mb: int
    lto_link_mb: int


@dataclass(frozen=True)
class Timing:
    """Times of a start under one design, in seconds.

    Attributes:
        settle: discarded at the begin of each turn.
        window: length of a turn after that.
        warmup: least load before the first pair.
        pairs: pairs in a start.
        turns: turns in a pair: an even number, so that each side has each place equally often.
    """

    settle: float
    window: float
    warmup: float
    pairs: int = 3
    turns: int = 2

    @property
    def pair(self) -> float:
        """Seconds that a pair takes when no turn is longer than it was asked to be."""
        return self.turns * (self.settle + self.window)


@dataclass(frozen=True)
class KnownDifference:
    """A side that is known to be slower than the baseline, for calibration: by its recipe or by its settings.

    Attributes:
        reason: why it is slower.
        recipe: how it is built; None: as the baseline.
        settings: server settings, as (name, value).
    """

    reason: str
    recipe: Recipe | None = None
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class EngineLinking:
    """What other ways of linking ask of an engine.

    Attributes:
        strips_debug: whether the engine's link drops debug sections, so that a later strip must ask for them.
        static_options: configure options that a fully static program forces, as (name, value).
        static_libraries: library files that it is then linked with.
        static_packages: Debian packages that have them.
        options_32: configure options that a 32-bit program forces, as (name, value).
        libraries_32: library files that it is then linked with.
        packages_32: Debian packages that have them.
        reason: why these.
    """

    strips_debug: bool = False
    static_options: tuple[tuple[str, str], ...] = ()
    static_libraries: tuple[str, ...] = ()
    static_packages: tuple[str, ...] = ()
    options_32: tuple[tuple[str, str], ...] = ()
    libraries_32: tuple[str, ...] = ()
    packages_32: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class PrecompiledHeaders:
    """Headers that are read once for many files of an engine, which makes the compile shorter and no other code.

    Attributes:
        target: what of the engine's own build they are read for.
        headers: their paths in the source tree, in the order in which they are read.
        reason: why these.
        without: names of files that go without, since their code would be another.
    """

    target: str
    headers: tuple[str, ...]
    reason: str
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class EngineSpec:
    """An engine's TOML, validated.

    Attributes:
        name: as on the command line.
        title: as in a sentence.
        reason: why the engine is here.
        hidden: not listed for users (the fake engine).
        debian_package: source package that the default source comes from; None: a folder shipped with Burnish.
        release_package: binary package of the distribution that has the server; None: there is none.
        series: release series of the default source; '' where none is told.
        build_options: value of DEB_BUILD_MAINT_OPTIONS in the package's rules (what hardening it asks for).
        package_c: flags that the package's rules add for C beyond dpkg-buildflags.
        package_cxx: likewise for C++.
        package_link: likewise for the link.
        system_packages: names of groups in catalogue/system.toml that building and loading need.
        features: feature sets by name.
        default_features: the one a study takes when it does not say.
        ladder: names of the default variants, baseline first.
        workloads: names of the default workloads.
        training: (workload, seconds) that train profiles.
        server: path of the measured program in a build's folder.
        markers: files that a source tree of this engine has, and of no other.
        covered: functions that a usable profile must have counted.
        gate_tests: names of the gate's tests or steps, in the engine's own terms.
        costs: rough step costs.
        times: times of a start under each design.
        different: a side that is known to differ from the baseline, if there is one.
        linking: what static, 32-bit and stripped programs of this engine need.
        precompiled: headers to precompile; none: every file reads its own.
        steal_bound: share of a pair's CPU time, 0 to 1, that the hypervisor may take away before the pair is invalid.
    """

    name: str
    title: str
    reason: str
    hidden: bool
    debian_package: str | None
    build_options: str
    package_c: tuple[str, ...]
    package_cxx: tuple[str, ...]
    package_link: tuple[str, ...]
    system_packages: tuple[str, ...]
    features: Mapping[str, FeatureSet]
    default_features: str
    ladder: tuple[str, ...]
    workloads: tuple[str, ...]
    training: tuple[tuple[str, float], ...]
    server: str
    covered: tuple[str, ...]
    gate_tests: tuple[str, ...]
    costs: Costs
    times: Mapping[Design, Timing]
    different: KnownDifference | None = None
    linking: EngineLinking = EngineLinking()
    precompiled: tuple[PrecompiledHeaders, ...] = ()
    markers: tuple[str, ...] = ()
    release_package: str | None = None
    series: str = ""
    steal_bound: float = 0.05


@dataclass(frozen=True)
class Flags:
    """Flags of one build, complete and in order."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]
    link: tuple[str, ...]
    level: str = "-O2"
