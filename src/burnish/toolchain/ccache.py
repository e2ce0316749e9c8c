"""The compiler cache: a ccache folder of our own in the store, bounded, and what each build had from it; pure.

Nothing is relaxed for more hits. Builds are made at one constant path, so that the working folder in debug
information (`hash_dir`) and absolute paths (`base_dir`) never differ between two builds of one home; headers that a
build generates are recognised by their content; so no `sloppiness` is needed either, but for precompiled headers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.base.digest import digest_of
from burnish.base.errors import UserError

SIZE_VARIABLE = "BURNISH_CCACHE_GB"
USUAL_GB = 8.0
"""Room for some twenty full builds of MariaDB: one takes 0.2 to 0.4 GB compressed."""

_WRAPPER = Path(__file__).with_name("ccache.sh")
_HIT = ("direct_cache_hit", "preprocessed_cache_hit", "remote_storage_hit")
_NO_COMPILATION = ("called_for_link", "called_for_preprocessing")


@dataclass(frozen=True)
class CacheUse:
    """What became of the compilations of one build.

    Attributes:
        hits: objects taken from the cache.
        misses: objects compiled and put there.
        passed: objects compiled past the cache, since it could not tell what they depend on.
    """

    hits: int = 0
    misses: int = 0
    passed: int = 0

    @property
    def objects(self) -> int:
        """All compilations."""
        return self.hits + self.misses + self.passed

    @property
    def share(self) -> float:
        """Share of the compilations that the cache answered, 0 to 1."""
        return self.hits / self.objects if self.objects else 0.0

    @property
    def words(self) -> str:
        """For a sentence."""
        passed = f", {self.passed} not cacheable" if self.passed else ""
        return f"{self.hits} of {self.objects} objects from the cache{passed}"


def size_gb(environment: Mapping[str, str] = os.environ) -> float:
    """The bound on the cache's size in GB (10^9 bytes).

    Raises:
        UserError: the variable does not hold a size.
    """
    text = environment.get(SIZE_VARIABLE, str(USUAL_GB))
    if re.fullmatch(r"\d+(\.\d+)?", text) is None or not 0.1 <= float(text) <= 10_000:
        raise UserError(f"{SIZE_VARIABLE}={text}: give the compiler cache's size in GB, from 0.1 to 10000")
    return float(text)


def launcher(flags: Iterable[str], *, precompiled: bool = False) -> tuple[str, ...]:
    """Words before a compiler in its command line, for compile commands with these flags.

    Args:
        flags: the build's compile flags.
        precompiled: whether the build has precompiled headers.
    """
    wrapped = precompiled or any(flag.startswith("-fprofile-") for flag in flags)
    return ("sh", str(_WRAPPER)) if wrapped else ("ccache",)


def environment(
    folder: Path, log: Path, flags: Iterable[str], gb: float, *, precompiled: bool = False
) -> dict[str, str]:
    """Variables for whatever runs the compilers: a cache of our own, whatever the user's settings are.

    Args:
        folder: the cache.
        log: file that gets a paragraph for each compilation, for `read_log`.
        flags: the build's compile flags.
        gb: bound on the cache's size.
        precompiled: whether the build has precompiled headers.
    """
    found = {
        "CCACHE_DIR": str(folder),
        "CCACHE_CONFIGPATH": os.devnull,
        "CCACHE_MAXSIZE": f"{gb:g}G",
        "CCACHE_STATSLOG": str(log),
    }
    if precompiled:
        # ccache does not look into a precompiled header and asks to be told that this is meant. The wrapper puts the
        # digest of its text beside it, which stands for it; a macro of it that changes shows in what the preprocessor
        # makes of the file that reads it. So everything is seen that is seen without, as long as the preprocessor is
        # always asked.
        found |= {"CCACHE_SLOPPINESS": "pch_defines,time_macros", "CCACHE_PCH_EXTSUM": "1", "CCACHE_NODIRECT": "1"}
    if any(re.fullmatch(r"-m(arch|tune|cpu)=native", flag) for flag in flags):
        # To ccache "native" is a word like any other; to a home on another processor it means other code.
        found["CCACHE_NAMESPACE"] = processor_digest(Path("/proc/cpuinfo").read_text(errors="replace"))
    return found


def processor_digest(cpuinfo: str) -> str:
    """Names what ``native`` means: the first processor's identity and abilities in /proc/cpuinfo's text."""
    first = cpuinfo.partition("\n\n")[0]
    keys = ("vendor_id", "cpu family", "model", "stepping", "flags", "CPU implementer", "CPU part", "Features")
    rows = (line.partition(":") for line in first.splitlines())
    return digest_of({name.strip(): value.strip() for name, _, value in rows if name.strip() in keys})


def read_log(text: str) -> CacheUse:
    """What a statistics log (CCACHE_STATSLOG) says: a line ``# SOURCE``, then the counters that it raised."""
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
