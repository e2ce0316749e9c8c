"""The compiler cache: what it gave is read back, and builds that could come from it do."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.builds.sharing import cost_title, from_cache, partly_from_cache, read_before
from burnish.builds.stages import Compile
from burnish.catalogue import load
from burnish.engines.contract import BuildJob
from burnish.engines.fake.engine import SOURCES, FakeEngine
from burnish.engines.jobs import Jobs
from burnish.model.cache import CacheUse
from burnish.model.engine import PrecompiledHeaders
from burnish.model.recipe import Flags
from burnish.toolchain import ccache
from burnish.toolchain.toolchains import Toolchain
from profiling import Shop

LOG = """# /s/a.c
direct_cache_hit
local_storage_hit
# /s/b.c
cache_miss
direct_cache_miss
preprocessed_cache_miss
# /s/c.c
preprocessed_cache_hit
direct_cache_miss
# /s/d.c
unsupported_compiler_option
# program
called_for_link
"""
GCC_USE = ("-fprofile-use", "-fprofile-correction", "-Wno-missing-profile")


def test_a_log_is_counted() -> None:
    result = ccache.read_log(LOG)
    assert result == CacheUse(hits=2, misses=1, passed=1)
    assert result.words == "2 of 4 objects from the cache, 1 not cacheable"
    assert ccache.read_log("") == CacheUse()


def test_a_cost_is_a_full_compiles_only_where_nearly_nothing_was_there() -> None:
    """A patch's build, three quarters of whose objects are cached, must not be taken for what a compile takes."""
    assert CacheUse().share == 0.0
    assert cost_title("compile", CacheUse(misses=9, passed=1)) == "compile"
    assert cost_title("compile", CacheUse(hits=1, misses=9)) == "compile"
    assert cost_title("compile", CacheUse(hits=75, misses=25)) == partly_from_cache("compile")
    assert cost_title("compile", CacheUse(hits=95, misses=5)) == from_cache("compile")
    assert cost_title("compile", CacheUse(misses=20, read=19)) == read_before("compile")
    assert cost_title("compile", CacheUse(misses=20, read=10)) == partly_from_cache("compile")
    assert cost_title("compile", CacheUse(misses=20, read=1)) == "compile"


@pytest.mark.parametrize("text", ["", "many", "-1", "0", "8G", "1e3"])
def test_a_size_that_is_none_is_refused_by_name(text: str) -> None:
    with pytest.raises(UserError, match=f"BURNISH_CCACHE_GB={text}: give the compiler cache's size in GB"):
        ccache.size_gb({ccache.SIZE_VARIABLE: text})


def test_the_size_bounds_the_cache() -> None:
    assert ccache.size_gb({}) == ccache.USUAL_GB
    gb = ccache.size_gb({ccache.SIZE_VARIABLE: "2.5"})
    assert ccache.environment(Path("/c"), Path("/l"), (), gb)["CCACHE_MAXSIZE"] == "2.5G"


def test_native_is_another_word_on_another_processor() -> None:
    def namespace(*flags: str) -> str | None:
        return ccache.environment(Path("/c"), Path("/l"), flags, 8.0).get("CCACHE_NAMESPACE")

    assert namespace("-O2", "-march=x86-64-v3") is None
    assert namespace("-O2", "-march=native") is not None
    one = "processor : 0\nmodel : 1\nflags : sse avx2\ncpu MHz : 2400.1\n\nprocessor : 1\n"
    assert ccache.processor_digest(one) == ccache.processor_digest(one.replace("2400.1", "3100.9"))
    assert ccache.processor_digest(one) != ccache.processor_digest(one.replace("avx2", "avx512f"))


class Lab:
    """Builds the fake engine again and again at one place, with one cache."""

    def __init__(self, root: Path, bench: object) -> None:
        self.root, self.bench = root, bench

    def build(
        self, toolchain: Toolchain, *flags: str, link: tuple[str, ...] = (), counts: Path | None = None
    ) -> CacheUse:
        place = self.root / "place"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if counts is not None:
            shutil.copyfile(counts, place / counts.name)
        engine = FakeEngine(load.engine("fake"))
        job = BuildJob(
            source=engine.spec.folder / "source",
            place=place,
            toolchain=toolchain,
            flags=Flags(("-O2", "-g", f"-ffile-prefix-map={place}=.", *flags), (), link),
            features=engine.spec.features["full"],
            options=(),
            hardening=True,
            with_tools=False,
            relocations=False,
            jobs=1,
            bench=self.bench,  # type: ignore[arg-type]
            cache=self.root / "cache",
        )
        engine.build(job)
        use = ccache.use_of(job.cache_log, job.cache_log_of_reading)
        assert use is not None
        return use


@pytest.fixture
def lab(tmp_path: Path, bench: object) -> Lab:
    if shutil.which("ccache") is None:
        pytest.skip("no ccache on this machine")
    return Lab(tmp_path, bench)


ALL = len(SOURCES)


def test_what_differs_in_the_link_is_never_compiled_again(lab: Lab, gcc: Toolchain) -> None:
    assert lab.build(gcc) == CacheUse(misses=ALL)
    assert lab.build(gcc, link=("-static-libgcc", "-Wl,-z,now")) == CacheUse(hits=ALL)
    assert lab.build(gcc, "-fno-plt") == CacheUse(misses=ALL)


def test_builds_with_counters_come_from_the_cache(lab: Lab, gcc: Toolchain, clang: Toolchain) -> None:
    for toolchain in (gcc, clang):
        words = ("-fprofile-generate", "-fprofile-update=atomic")
        assert lab.build(toolchain, *words, link=words[:1]) == CacheUse(misses=ALL)
        assert lab.build(toolchain, *words, link=words[:1]) == CacheUse(hits=ALL)
        other = ("-fprofile-generate", "-fprofile-update=single")
        use = lab.build(toolchain, *other, link=other[:1])
        assert (use.hits, use.misses) == (0, ALL), "what is passed by still counts"


def test_gcc_builds_with_a_profile_follow_the_profile(lab: Lab, gcc: Toolchain, tmp_path: Path) -> None:
    counts = tmp_path / "fake_work.gcda"  # of one object only: the others have none
    counts.write_bytes(b"one")
    assert lab.build(gcc, *GCC_USE, counts=counts) == CacheUse(misses=ALL)
    assert lab.build(gcc, *GCC_USE, counts=counts) == CacheUse(hits=ALL)
    counts.write_bytes(b"two")
    assert lab.build(gcc, *GCC_USE, counts=counts) == CacheUse(hits=ALL - 1, misses=1)
    assert lab.build(gcc, *GCC_USE) == CacheUse(hits=ALL - 1, misses=1)
    partial = (*GCC_USE, "-fprofile-partial-training")
    assert lab.build(gcc, *partial) == CacheUse(misses=ALL)
    assert lab.build(gcc, *partial) == CacheUse(hits=ALL)


def test_counts_in_a_folder_are_followed_too(lab: Lab, gcc: Toolchain, tmp_path: Path) -> None:
    """As MySQL's own cmake has them: its -fprofile-use=FOLDER comes after ours, the last one counts."""
    folder = tmp_path / "profile-data"
    folder.mkdir()
    counts = folder / str(lab.root / "place" / "fake_work.gcda").replace("/", "#")
    counts.write_bytes(b"one")
    words = (*GCC_USE, f"-fprofile-use={folder}", "-fprofile-partial-training")
    assert lab.build(gcc, *words) == CacheUse(misses=ALL)
    assert lab.build(gcc, *words) == CacheUse(hits=ALL)
    counts.write_bytes(b"two")
    assert lab.build(gcc, *words) == CacheUse(hits=ALL - 1, misses=1)


def test_clang_builds_with_thinlto_come_from_the_cache(lab: Lab, clang: Toolchain) -> None:
    words, link = (
        ("-flto=thin", "-Xclang", "-mllvm", "-Xclang", "-pgo-warn-missing-function"),
        ("-flto=thin", "-fuse-ld=lld"),
    )
    assert lab.build(clang, *words, link=link) == CacheUse(misses=ALL)
    assert lab.build(clang, *words, link=link) == CacheUse(hits=ALL)


def test_clang_reads_a_source_once_for_several_builds(lab: Lab, clang: Toolchain, gcc: Toolchain) -> None:
    counting, thin = ("-fprofile-generate", "-fprofile-update=atomic"), ("-flto=thin",)
    llvm = ("-Xclang", "-mllvm", "-Xclang", "-inline-threshold=500")
    lld = "-fuse-ld=lld"
    assert lab.build(clang, *counting, link=counting[:1]) == CacheUse(misses=ALL)
    assert lab.build(clang, *thin, link=(*thin, lld)) == CacheUse(misses=ALL, read=ALL)
    assert lab.build(clang, *llvm) == CacheUse(misses=ALL, read=ALL)
    assert lab.build(clang, *counting, link=counting[:1]) == CacheUse(hits=ALL)
    assert lab.build(clang, "-fno-plt") == CacheUse(misses=ALL), "it is about reading too"
    assert lab.build(clang, "-flto", link=("-flto", lld)) == CacheUse(misses=ALL), "it is compiled in one step"
    assert lab.build(gcc, *counting, link=counting[:1]) == CacheUse(misses=ALL)
    assert lab.build(gcc) == CacheUse(misses=ALL), "gcc's"


def test_headers_are_precompiled_for_gcc_only(tmp_path: Path, gcc: Toolchain, clang: Toolchain) -> None:
    headers = (PrecompiledHeaders("server", ("all.h",), "For a test."),)
    for toolchain, expected in ((gcc, headers), (clang, ())):
        shop = Shop(tmp_path / toolchain.family, toolchain)
        shop.builder.engine.spec = replace(shop.builder.engine.spec, precompiled=headers)
        stage = shop.chain("bolt")[0]
        assert isinstance(stage, Compile)
        assert shop.builder._job(stage, Jobs(1, 1), stage.key).precompiled == expected
