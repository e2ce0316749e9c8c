"""How many compilers and linkers may run at a time, by the available memory; pure.

A compiler or linker that the kernel kills for want of memory fails a build after minutes, and one that swaps takes
hours. So the number of each is chosen from what is free and from what one of them took when it was last seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.engines.build_job import BuildJob
from burnish.model.recipe import Flags

HEADROOM = 0.85
"""Share of the available memory that builds may plan with; the rest is for the page cache and for growth."""

GIB = 1 << 30


@dataclass(frozen=True)
class Jobs:
    """How wide a build may be.

    Attributes:
        compile: compilers at a time.
        link: links at a time.
        link_threads: threads of one link with LTO; None: as many as it likes.
        reason: why it is fewer than there are cores; '' when it is not.
    """

    compile: int
    link: int
    link_threads: int | None = None
    reason: str = ""


def choose(
    cores: int,
    available: int | None,
    *,
    object_peak: float,
    link_peak: float,
    lto: bool,
    wanted: int | None = None,
) -> Jobs:
    """The widest build that fits.

    Args:
        cores: cores that a build may use.
        available: bytes available to new programs; None if the host does not report it; then memory is not limited.
        object_peak: largest resident set of one compilation, bytes.
        link_peak: largest resident set of one link with all of its threads, bytes.
        lto: whether the link compiles: only then do its threads each take memory.
        wanted: jobs that the user asked for; never exceeded, and reduced only where they would not fit.
    """
    most = wanted or cores
    if available is None:
        return Jobs(most, most)
    room = HEADROOM * available
    compile_jobs = max(1, min(most, int(room // max(object_peak, 1.0))))
    link_jobs = max(1, min(most, int(room // max(link_peak, 1.0))))
    # Most of what such a link takes are the parts that its threads are compiling.
    threads = max(1, int(cores * room / link_peak)) if lto and link_peak > room else None
    reasons = []
    if compile_jobs < most:
        reasons.append(f"{compile_jobs} of {most} compile jobs, one may take {object_peak / GIB:.1f} GiB")
    if link_jobs < most:
        reasons.append(f"{link_jobs} of {most} links at a time, one may take {link_peak / GIB:.1f} GiB")
    if threads is not None:
        reasons.append(f"{threads} threads in a link")
    return Jobs(
        compile_jobs,
        link_jobs,
        threads,
        f"{available / GIB:.1f} GiB of memory free: {'; '.join(reasons)}" if reasons else "",
    )


def has_lto(flags: Flags) -> bool:
    """Whether these flags leave compiling to the link."""
    words = [word for word in flags.link if word.startswith(("-flto", "-fno-lto"))]
    return bool(words) and words[-1] != "-fno-lto"


def link_words(job: BuildJob) -> tuple[str, ...]:
    """Link flags that bound a link's threads; they change how long it takes, never what comes out.

    gcc compiles one part of the program after the other by default; clang's linker uses all cores by default.
    """
    if not has_lto(job.flags):
        return ()
    if job.toolchain.family == "gcc":
        return () if _numbered(job.flags.link) else (f"-flto={job.link_threads or job.jobs}",)
    bounded = job.link_threads is not None and "-fuse-ld=lld" in job.flags.link
    return (f"-Wl,--thinlto-jobs={job.link_threads}",) if bounded else ()


def program_words(job: BuildJob) -> tuple[str, ...]:
    """Link flags of programs alone: relocations for BOLT, the folder of libraries that are linked in, what comes first.

    A shared library of the same build goes on to load what it loaded.
    """
    relocations = ("-Wl,--emit-relocs",) if job.relocations else ()
    return (*relocations, *((f"-L{job.archives}",) if job.archives is not None else ()), *job.first)


def _numbered(link: Sequence[str]) -> bool:
    return any(re.fullmatch(r"-flto=(auto|jobserver|\d+)", word) for word in link)
