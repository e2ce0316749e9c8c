"""The description of a build that an engine is to make, as a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.base.workbench import Workbench
from burnish.model.engine import FeatureSet, PrecompiledHeaders
from burnish.model.recipe import Flags
from burnish.toolchain import ccache

if TYPE_CHECKING:
    from burnish.toolchain.compile_costs import Meter
    from burnish.toolchain.toolchains import Toolchain


@dataclass(frozen=True)
class BuildJob:
    """The parameters of one build.

    Attributes:
        source: the unpacked tree (constant path; must not be written to).
        place: the build folder (constant path; empty at the start, except for the .gcda files of a profile that gcc
            uses, which are where its objects will be).
        toolchain: compilers and other tools, as found.
        flags: complete flags, including the package's, in order.
        features: the feature set.
        options: configure options of the recipe, as (name, value); they override the feature set's.
        hardening: whether the engine's own hardening switch stays on.
        with_tools: whether to build the gate's and dataset's tools too (done once for each source).
        relocations: whether the link must keep relocations (BOLT comes after).
        jobs: parallel compile jobs.
        bench: recorded processes and progress.
        cache: folder of the compiler cache (ccache), so that a compile that was killed can be resumed, and
            builds that differ only in their link are not compiled again; None without ccache.
        cache_gb: maximum size of it, GB.
        link_jobs: parallel links; None: as many as compile jobs.
        link_threads: threads of one link; None: the linker's own choice, all cores.
        keep_debug: whether debug sections stay in the program although the engine's own link drops them.
        full_debug: whether objects have full debug information, by which samples are mapped.
        archives: folder with libraries that are linked in, to be searched before the system's; None: there are none.
        first: words of each program's link that come before its libraries.
        meter: records memory and time of each compile and link; None: they are not recorded.
        precompiled: headers that the engine's build may read once for many files.
        see: called with each line of its commands, which it ends by an exception; None: nobody looks.
    """

    source: Path
    place: Path
    toolchain: Toolchain
    flags: Flags
    features: FeatureSet
    options: tuple[tuple[str, str], ...]
    hardening: bool
    with_tools: bool
    relocations: bool
    jobs: int
    bench: Workbench
    cache: Path | None = None
    cache_gb: float = ccache.USUAL_GB
    link_jobs: int | None = None
    link_threads: int | None = None
    keep_debug: bool = False
    full_debug: bool = False
    archives: Path | None = None
    first: tuple[str, ...] = ()
    meter: Meter | None = None
    precompiled: tuple[PrecompiledHeaders, ...] = ()
    see: Callable[[str], None] | None = None

    @property
    def launcher(self) -> tuple[str, ...]:
        """Words before a compiler in its command line."""
        if self.cache is not None:
            return ccache.launcher((*self.flags.c, *self.flags.cxx), precompiled=bool(self.precompiled))
        return ("sh", str(ccache.READ_ONCE)) if self.in_two_steps else self.metered

    @property
    def in_two_steps(self) -> bool:
        """Whether reading a source and making its object are two steps, so that the first can be cached by itself."""
        return self.toolchain.family == "clang"

    @property
    def cache_log(self) -> Path:
        """The compiler cache's log, with the result of each compilation."""
        return self.place / "burnish-ccache.log"

    @property
    def cache_log_of_reading(self) -> Path:
        """The compiler cache's log of the first of two steps."""
        return self.place / "burnish-ccache-read.log"

    @property
    def metered(self) -> tuple[str, ...]:
        """Words before a compiler or linker that is run without the cache."""
        return (str(self.meter.script),) if self.meter else ()

    @property
    def meter_environment(self) -> dict[str, str]:
        """Environment variables for commands with the words of `metered`."""
        return self.meter.variables if self.meter else {}

    @property
    def cache_environment(self) -> dict[str, str]:
        """Environment variables for commands that run the compilers."""
        if self.cache is None:
            return self.meter_environment
        behind = ccache.before(self.meter.script) if self.meter else {}
        flags, reads = (*self.flags.c, *self.flags.cxx), self.cache_log_of_reading if self.in_two_steps else None
        cache = ccache.environment(
            self.cache, self.cache_log, flags, self.cache_gb, precompiled=bool(self.precompiled), reads=reads
        )
        return {**behind, **cache, **self.meter_environment}
