"""Engines as data: what an engine's TOML file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.model.recipe import Recipe
from burnish.model.workload import Design, Timing


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
class ServerSettings:
    """What is known of the settings of an engine's server, all in plain names (with underscores); empty without one.

    Attributes:
        words: words for several settings at once: settings by value by word (``durability=commit``).
        reserved: settings that Burnish decides, since several servers run side by side in folders of its own.
        harmless: those of them that say nothing of speed or data: in an option file they are left out, not refused.
        shaping: settings that decide what files a server makes: data made under others are other data, or none to it.
        opposed: groups of settings of which a later one takes an earlier one's place.
        joined: settings that add to themselves where an option file has them again, with what stands between values.
        option_groups: groups of an option file that every release of the server reads; none: it reads no such file.
        release_groups: groups that it reads with a dash and its release series behind them.
    """

    words: Mapping[str, Mapping[str, tuple[tuple[str, str], ...]]] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    harmless: frozenset[str] = frozenset()
    shaping: frozenset[str] = frozenset()
    opposed: tuple[tuple[str, ...], ...] = ()
    joined: Mapping[str, str] = field(default_factory=dict)
    option_groups: tuple[str, ...] = ()
    release_groups: tuple[str, ...] = ()


NO_SETTINGS = ServerSettings()
"""What is known of an engine without a server."""


@dataclass(frozen=True)
class EngineSpec:
    """An engine's TOML, validated.

    Attributes:
        name: as on the command line.
        title: as in a sentence.
        reason: why the engine is here.
        hidden: not listed for users (an engine for tests).
        debian_package: source package that the default source comes from; None: the folder `source` beside its code.
        release_package: binary package of the distribution that has the server; None: there is none.
        series: release series of the default source; '' where none is told.
        build_options: value of DEB_BUILD_MAINT_OPTIONS in the package's rules (what hardening it asks for).
        package_c: flags that the package's rules add for C beyond dpkg-buildflags.
        package_cxx: likewise for C++.
        package_link: likewise for the link.
        build_packages: names of groups of Debian packages that building needs.
        load_packages: names of groups that running, testing and loading a built program needs.
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
        settings: what is known of its server's settings.
        implementation: the class that behaves for it, as ``package.module:Class``.
        folder: where its files lie.
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
    different: KnownDifference | None = None
    linking: EngineLinking = EngineLinking()
    precompiled: tuple[PrecompiledHeaders, ...] = ()
    markers: tuple[str, ...] = ()
    release_package: str | None = None
    series: str = ""
    steal_bound: float = 0.05
    settings: ServerSettings = NO_SETTINGS
    implementation: str = ""
    folder: Path = Path()

    @property
    def system_packages(self) -> tuple[str, ...]:
        """Names of all groups of Debian packages that the engine needs."""
        return tuple(dict.fromkeys((*self.build_packages, *self.load_packages)))
