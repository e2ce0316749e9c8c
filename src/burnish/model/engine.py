"""Engines as data: the content of an engine's TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.model.recipe import Recipe
from burnish.model.sittings import Spread
from burnish.model.workload import Design, Timing


@dataclass(frozen=True)
class FeatureSet:
    """The parts of the server that are built in; the same for every variant of a study unless a row overrides it.

    Attributes:
        name: as in the engine's TOML.
        reason: its purpose, and what it includes and leaves out.
        options: configure options, as (name, value).
    """

    name: str
    reason: str
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Costs:
    """Estimated step costs of an engine, used for the plan and the disk check until costs were measured on this host.

    Attributes:
        source_mb: size of the unpacked source.
        build_mb: size of a build tree during the build.
        kept_mb: size of a stored build.
        dataset_mb: size of one copy of the data.
        compile_s: wall seconds of one full build on 2 cores.
        gate_s: wall seconds of the gate.
        object_mb: largest resident set of one compilation.
        link_mb: largest resident set of one link.
        lto_link_mb: largest resident set of one link with link-time optimisation.
        once_read: of a full build, the share of time that is left where clang has read all sources for another one.
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
    once_read: float = 0.9


@dataclass(frozen=True)
class KnownDifference:
    """A candidate known to be slower than the baseline, by its recipe or its settings; used for calibration.

    Attributes:
        reason: why it is slower.
        recipe: how it is built; None: like the baseline.
        settings: server settings, as (name, value).
    """

    reason: str
    recipe: Recipe | None = None
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class EngineLinking:
    """What static, 32-bit and stripped programs of an engine, and programs with libraries linked in, need.

    Attributes:
        strips_debug: whether the engine's link drops debug sections, so that a later strip has to keep them explicitly.
        static_options: configure options that a fully static program requires, as (name, value).
        static_libraries: library files that a fully static program is linked with.
        static_packages: Debian packages that contain them.
        bundled_options: configure options with which libraries of which the source has a copy are compiled with the
            server and linked in, as (name, value).
        bundled_archives: file names of these libraries in the build.
        archives: library files of the distribution that are linked in where the source has no copy.
        archive_packages: Debian packages that contain them.
        linked_in: names of shared libraries (``libz``) that the program no longer loads then.
        allocators: configure options that link an allocator at the end of each program's link, with its library's name.
        options_32: configure options that a 32-bit program requires, as (name, value).
        libraries_32: library files that a 32-bit program is linked with.
        packages_32: Debian packages that contain them.
        no_static: why no fully static program can be made on any machine; '': one can.
        no_32: why no 32-bit program can be made on any machine; '': one can.
        reason: why these.
    """

    strips_debug: bool = False
    static_options: tuple[tuple[str, str], ...] = ()
    static_libraries: tuple[str, ...] = ()
    static_packages: tuple[str, ...] = ()
    bundled_options: tuple[tuple[str, str], ...] = ()
    bundled_archives: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()
    archive_packages: tuple[str, ...] = ()
    linked_in: tuple[str, ...] = ()
    allocators: tuple[tuple[str, str], ...] = ()
    options_32: tuple[tuple[str, str], ...] = ()
    libraries_32: tuple[str, ...] = ()
    packages_32: tuple[str, ...] = ()
    no_static: str = ""
    no_32: str = ""
    reason: str = ""


@dataclass(frozen=True)
class PrecompiledHeaders:
    """Headers of an engine that are precompiled: compilation is shorter, the code is the same.

    Attributes:
        target: target of the engine's own build that uses them.
        headers: their paths in the source tree, in include order.
        reason: why these.
        without: names of files compiled without them, because their code would change.
    """

    target: str
    headers: tuple[str, ...]
    reason: str
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServerSettings:
    """Facts about the settings of an engine's server, names with underscores; empty for an engine without a server.

    Attributes:
        words: shorthands for several settings at once: settings by value by word (``durability=commit``).
        reserved: settings that Burnish controls, because several servers run side by side in its own folders.
        harmless: reserved settings that affect neither speed nor data: ignored in an option file, not refused.
        shaping: settings that decide the format of the server's files: a dataset made with other values is another
            dataset, or cannot be read.
        opposed: groups of settings in which a later one overrides an earlier one.
        joined: settings whose values accumulate when an option file repeats them, each with the separator.
        repeated: settings of which every line of an option file counts, as patterns of names (``replicate_*``).
        option_groups: groups of an option file that every release of the server reads; none: it reads no such file.
        release_groups: groups that it reads with a dash and the release series appended.
        simulated: settings without which the server does not run on a simulated processor (valgrind), as (name, value).
    """

    words: Mapping[str, Mapping[str, tuple[tuple[str, str], ...]]] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    harmless: frozenset[str] = frozenset()
    shaping: frozenset[str] = frozenset()
    opposed: tuple[tuple[str, ...], ...] = ()
    joined: Mapping[str, str] = field(default_factory=dict)
    repeated: tuple[str, ...] = ()
    option_groups: tuple[str, ...] = ()
    release_groups: tuple[str, ...] = ()
    simulated: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class RootTrial:
    """What is tried of a package in a clean root of the distribution.

    Attributes:
        reason: why these.
        packages: binary packages beside the server's, with its client.
        run_folder: folder that the service makes for its user, without leading slash.
        client: words of the client before a statement; it answers with values only.
        prepare: statements for the distribution's server.
        read: statements that both answer, on its data.
        first: the answer before anything was changed.
        change: statements for the new server; they end with `read`.
        changed: the answer afterwards, from both.
    """

    reason: str
    packages: tuple[str, ...]
    run_folder: str
    client: tuple[str, ...]
    prepare: str
    read: str
    first: str
    change: str
    changed: str


@dataclass(frozen=True)
class Packaging:
    """How the distribution packages an engine's server; paths in packages have no leading slash.

    Attributes:
        reason: why these.
        implementation: the class that asks packaged servers for what they can do, as ``package.module:Class``.
        package: binary package with the server program.
        program: path of the program in it.
        server_package: binary package that makes it a service.
        plugin_packages: binary packages with loadable plugins; all from the same source package as the server.
        plugin_folder: folder of the plugins in them.
        settings_file: path of a configuration file that the server reads, for `located`; '' if it reads none.
        settings_head: first line of that file.
        located: settings whose default is a path that the distribution decides when it configures its build. Where a
            build has another path, the packaged configuration file sets the distribution's.
        describing: settings that only describe the build; a difference is reported, not refused.
        user: user that the service runs as; '' for root.
        service: name of the service, as systemctl takes it; '' where it is not known.
        trial: what is tried in a clean root; None: nothing is known.
    """

    reason: str
    implementation: str
    package: str
    program: str
    server_package: str
    plugin_packages: tuple[str, ...]
    plugin_folder: str
    settings_file: str = ""
    settings_head: str = ""
    located: tuple[str, ...] = ()
    describing: frozenset[str] = frozenset()
    user: str = ""
    service: str = ""
    trial: RootTrial | None = None


def is_on(value: str) -> bool:
    """Whether a configure option is switched on by this value, as cmake reads it."""
    return value.upper() in {"1", "ON", "YES", "TRUE"}


NO_SETTINGS = ServerSettings()
"""For an engine without a server."""


@dataclass(frozen=True)
class EngineSpec:
    """An engine's TOML, validated.

    Attributes:
        name: as on the command line.
        title: as in a sentence.
        reason: why Burnish supports the engine.
        hidden: not listed for users (an engine for tests).
        debian_package: source package of the default source; None: the folder `source` beside its code.
        debian_suites: suites in which it is looked for besides the host's own (``sid``).
        release_package: binary package of the distribution that contains the server; None: there is none.
        series: release series of the default source; '' if not stated.
        data_per_major: whether a server reads no data of another major version, the number before the first dot.
        data_revision: number of the way in which its data sets are made: those that another way made are not used.
        build_options: value of DEB_BUILD_MAINT_OPTIONS in the package's rules (which hardening it requests).
        package_c: flags that the package's rules add for C beyond dpkg-buildflags.
        package_cxx: flags that they add for C++.
        package_link: flags that they add for the link.
        profile_options: configure options with which the tree's own build uses a profile, the one that asks for it
            first; an instrumented build is configured, and named, without them.
        lto_options: configure options with which the tree's own build turns link-time optimisation on; the first of
            them that is given decides.
        build_packages: names of groups of Debian packages needed to build.
        load_packages: names of groups needed to run, test and load a built program.
        features: feature sets by name.
        default_features: name of the feature set that a study uses unless it names one.
        ladder: names of the default variants, baseline first.
        workloads: names of the default workloads.
        training: (workload, seconds) that train profiles.
        server: path of the measured program in a build's folder.
        markers: files that identify a source tree of this engine.
        covered: functions that a usable profile must have counted.
        gate_tests: names of the gate's tests or steps, in the engine's own terms.
        costs: estimated step costs.
        slow_compile_s: wall seconds of one full build on the slowest host of which it is recorded; 0: not known.
        times: times of a start under each design.
        language: what the server is written in, ``C`` or ``C++``.
        different: a candidate known to differ from the baseline, if there is one.
        linking: what static, 32-bit and stripped programs of this engine need.
        precompiled: headers to precompile; none: nothing is precompiled.
        steal_bound: share of a pair's CPU time, 0 to 1, that the hypervisor may take before the pair is invalid.
        between_sittings: how far ratios of its builds move between sittings; None: as the shipped figure says.
        settings: facts about its server's settings.
        packaging: how the distribution packages its server; None: it has no package.
        implementation: the class that implements it, as ``package.module:Class``.
        folder: folder of its files.
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
    build_packages: tuple[str, ...]
    load_packages: tuple[str, ...]
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
    language: str = "C"
    different: KnownDifference | None = None
    linking: EngineLinking = EngineLinking()
    precompiled: tuple[PrecompiledHeaders, ...] = ()
    markers: tuple[str, ...] = ()
    release_package: str | None = None
    series: str = ""
    debian_suites: tuple[str, ...] = ()
    steal_bound: float = 0.05
    between_sittings: Spread | None = None
    settings: ServerSettings = NO_SETTINGS
    packaging: Packaging | None = None
    implementation: str = ""
    folder: Path = Path()
    profile_options: tuple[str, ...] = ()
    lto_options: tuple[str, ...] = ()
    slow_compile_s: int = 0
    data_per_major: bool = False
    data_revision: int = 1

    def instrumented_options(self, options: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """A recipe's options, (name, value), as its instrumented build has them."""
        if is_on(dict(options).get(next(iter(self.profile_options), ""), "")):
            return tuple(option for option in options if option[0] not in self.profile_options)
        return options

    def lto_by_option(self, options: Mapping[str, str]) -> bool:
        """Whether a build with these configure options has link-time optimisation by its tree's own doing."""
        return is_on(next((options[name] for name in self.lto_options if name in options), ""))

    @property
    def system_packages(self) -> tuple[str, ...]:
        """Names of all groups of Debian packages that the engine needs."""
        return tuple(dict.fromkeys((*self.build_packages, *self.load_packages)))
