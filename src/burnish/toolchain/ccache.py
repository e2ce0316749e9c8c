"""The compiler cache: Burnish's own ccache folder in the store, of limited size, and its use by each build; pure.

No check of ccache is relaxed to get more hits. Builds are made at one constant path, so that the working folder in
debug information (`hash_dir`) and absolute paths (`base_dir`) are the same in all builds of one home. Generated headers
are recognised by their content. So no `sloppiness` is needed, except for precompiled headers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.model.cache import CacheUse

SIZE_VARIABLE = "BURNISH_CCACHE_GB"
USUAL_GB = 8.0
"""Room for some twenty full builds of MariaDB: one takes 0.2 to 0.4 GB compressed."""

_WRAPPER = Path(__file__).with_name("ccache.sh")
READ_ONCE = Path(__file__).with_name("read_once.sh")
"""Before clang: makes an object in two steps, of which the first can be cached for several builds."""

_NOT_READ = re.compile(r"-flto=thin|-f(cs-)?profile-.*|-W.*backend-plugin|-W.*profile-instr.*")
_DECIDED_READING = re.compile(
    r"-flto|-flto=[^t].*|-fno-lto|-ffat-lto-objects|-fembed-bitcode.*|-fprofile-(sample|instr)-.*|-fauto-profile.*"
    r"|-fpseudo-probe-.*|-fprofile-arcs|-ftest-coverage|-fcoverage-mapping|--?coverage|-fsanitize.*|-gsplit-dwarf.*"
    r"|-[fg]record-.*|-fsave-optimization-record.*|-ftime-trace.*|-Wmisexpect|-R.*|.*-save-temps.*"
)
"""Flags that only the second step has, and those with which clang is run in one step; as in read_once.sh."""

_HIT = ("direct_cache_hit", "preprocessed_cache_hit", "remote_storage_hit")
_NO_COMPILATION = ("called_for_link", "called_for_preprocessing")


def size_gb(environment: Mapping[str, str] = os.environ) -> float:
    """The limit on the cache's size in GB (10^9 bytes).

    Raises:
        UserError: the variable is not a valid size.
    """
    text = environment.get(SIZE_VARIABLE, str(USUAL_GB))
    if re.fullmatch(r"\d+(\.\d+)?", text) is None or not 0.1 <= float(text) <= 10_000:
        raise UserError(f"{SIZE_VARIABLE}={text}: give the compiler cache's size in GB, from 0.1 to 10000")
    return float(text)


def launcher(flags: Iterable[str], *, precompiled: bool = False) -> tuple[str, ...]:
    """Prefix of compile commands with these flags.

    Args:
        flags: the build's compile flags.
        precompiled: whether the build has precompiled headers.
    """
    wrapped = precompiled or any(flag.startswith("-fprofile-") for flag in flags)
    return ("sh", str(_WRAPPER)) if wrapped else ("ccache",)


def reading_flags(flags: Sequence[str]) -> tuple[str, ...] | None:
    """Those of clang's flags by which it reads a source; None if it is run in one step with them, as read_once.sh does.

    Builds with the same ones, and the same source, share what was read.
    """
    if any(_DECIDED_READING.fullmatch(flag) for flag in flags):
        return None
    # LLVM's own options, each of two or four words, are about making code; no flag holds a line's end.
    rest = re.sub(r"^(-Xclang\n)?-mllvm\n(-Xclang\n)?.*\n?", "", "\n".join(flags), flags=re.MULTILINE)
    return tuple("-O2" if flag == "-O3" else flag for flag in rest.splitlines() if not _NOT_READ.fullmatch(flag))


def environment(
    folder: Path, log: Path, flags: Iterable[str], gb: float, *, precompiled: bool = False, reads: Path | None = None
) -> dict[str, str]:
    """Environment variables for the build: Burnish's own cache, independent of the user's settings.

    Args:
        folder: the cache.
        log: file to which a paragraph is written for each compilation, for `read_log`.
        flags: the build's compile flags.
        gb: limit on the cache's size.
        precompiled: whether the build has precompiled headers.
        reads: clang makes objects in two steps: file to which a paragraph is written for each first one; None: in one.
    """
    variables = {
        "CCACHE_DIR": str(folder),
        "CCACHE_CONFIGPATH": os.devnull,
        "CCACHE_MAXSIZE": f"{gb:g}G",
        "CCACHE_STATSLOG": str(log),
    }
    if precompiled:
        # ccache requires these settings for precompiled headers, because it does not hash their content. The wrapper
        # writes the digest of a header's text beside it, which ccache hashes instead; a changed macro shows in the
        # preprocessed text of the including file. So every change is detected, as long as the preprocessor always runs.
        variables |= {"CCACHE_SLOPPINESS": "pch_defines,time_macros", "CCACHE_PCH_EXTSUM": "1", "CCACHE_NODIRECT": "1"}
    if reads is not None:
        # An object that was made in one step is none of those made in two: names of values are kept in ThinLTO's, and
        # with them a digest of the file is another.
        variables |= {**before(READ_ONCE), "BURNISH_READS": str(reads), "CCACHE_EXTRAFILES": str(READ_ONCE)}
    if any(re.fullmatch(r"-m(arch|tune|cpu)=native", flag) for flag in flags):
        # ccache does not know that "native" means other code on another processor.
        variables["CCACHE_NAMESPACE"] = processor_digest(Path("/proc/cpuinfo").read_text(errors="replace"))
    return variables


def before(script: Path, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Environment variables with which ccache runs `script` before the compiler.

    ccache splits its prefix at spaces; at a path that has one, it is a name that is looked for on PATH.
    """
    if " " not in str(script):
        return {"CCACHE_PREFIX": str(script)}
    return {"CCACHE_PREFIX": script.name, "PATH": f"{script.parent}:{environment.get('PATH', os.defpath)}"}


def processor_digest(cpuinfo: str) -> str:
    """Digest of what ``native`` means: identity and features of the first processor in /proc/cpuinfo's text."""
    first = cpuinfo.partition("\n\n")[0]
    keys = ("vendor_id", "cpu family", "model", "stepping", "flags", "CPU implementer", "CPU part", "Features")
    rows = (line.partition(":") for line in first.splitlines())
    return digest_of({name.strip(): value.strip() for name, _, value in rows if name.strip() in keys})


def use_of(log: Path, reads: Path) -> CacheUse | None:
    """Use of the cache by a build, from the logs of objects and of what was read; None without the first."""
    if not log.exists():
        return None
    return replace(
        read_log(log.read_text(encoding="utf-8")),
        read=read_log(reads.read_text(encoding="utf-8")).hits if reads.exists() else 0,
    )


def read_log(text: str) -> CacheUse:
    """Use of the cache from a statistics log (CCACHE_STATSLOG): a line ``# SOURCE``, then its counters."""
    hits = misses = passed = 0
    for paragraph in re.split(r"^# .*$", text, flags=re.MULTILINE)[1:]:
        counters = set(paragraph.split())
        if counters & set(_HIT):
            hits += 1
        elif "cache_miss" in counters:
            misses += 1
        elif counters and not counters & set(_NO_COMPILATION):
            passed += 1
    return CacheUse(hits, misses, passed)
