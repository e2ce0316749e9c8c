"""Links of the fake engine as they come out: what their recipes promise is read back from the programs."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from burnish.base.errors import InfrastructureError, UnavailableError
from burnish.builds import linkers
from burnish.builds.after_link import preload
from burnish.builds.after_link.maker import AfterLinkMaker
from burnish.builds.after_link.stage import AfterLink
from burnish.builds.builder import Builder
from burnish.builds.linkers import shuffling_linker
from burnish.builds.loaded import check_malloc, needed
from burnish.builds.stages import Compile, PackageFlags, Train, stages
from burnish.catalogue import load
from burnish.engines.contract import BuildJob
from burnish.engines.fake.engine import FakeEngine
from burnish.model.engine import EngineLinking, EngineSpec
from burnish.model.recipe import Allocator, Recipe, Variant
from burnish.program.built import Built
from burnish.program.elf import build_id, word_of
from burnish.record.store import Entry, Store
from burnish.record.workbench import Bench
from burnish.study.builds.resolving import resolve
from burnish.toolchain.link_parts import find_allocator, find_file, find_linker, find_parts, huge_pages, words_of
from burnish.toolchain.toolchains import Toolchain
from conftest import FAKE_SOURCE


class Shop:
    """A store, and what makes builds of the fake engine for it."""

    def __init__(self, root: Path, toolchain: Toolchain, spec: EngineSpec | None = None) -> None:
        self.toolchain = toolchain
        engine = FakeEngine(spec or load.engine("fake"))
        source = root / "work/source"
        shutil.copytree(FAKE_SOURCE, source)
        self.bench = Bench(None, root / "logs", Console(file=io.StringIO(), width=200))
        self.builder = Builder(engine, Store(root / "store"), root / "work", source, self.bench, jobs=1)

    def make(self, recipe: Recipe, toolchain: Toolchain | None = None) -> tuple[Built, Entry]:
        """The recipe's build, each stage made unless the store has it."""
        builder, tools = self.builder, toolchain or self.toolchain
        spec = builder.engine.spec
        chain = stages(
            Variant("test", recipe, "for a test of links"),
            spec=spec,
            source="source",
            toolchain=tools,
            package=PackageFlags(("-O2", "-g"), (), ("-Wl,-z,relro",)),
            features="full",
            with_tools=False,
            bolt=tools,
            profile_place=str(builder.profile_place),
            parts=find_parts(recipe, tools, spec),
            link_place=str(builder.link_place),
        )
        entry = None
        for stage in chain:
            entry = builder.store.find("builds", stage.key)
            if entry is None and isinstance(stage, Compile):
                entry = builder.compile(stage, "test")
            elif entry is None:
                assert not isinstance(stage, Train)
                assert isinstance(stage, AfterLink)
                entry = AfterLinkMaker(builder.engine, builder.store, self.bench).make(stage, "test")
        assert entry is not None
        return builder.built("test", entry), entry


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, gcc: Toolchain) -> Shop:
    return Shop(tmp_path_factory.mktemp("links"), gcc)


def symbols(program: Path) -> dict[str, str]:
    """Address of each function of the program itself, by name."""
    said = subprocess.run(["nm", program], capture_output=True, text=True, check=False).stdout
    found = (re.match(r"(\w+) [tT] (\w+)$", line) for line in said.splitlines())
    return {match[2]: match[1] for match in found if match}


def says(built: Built) -> str:
    """The program's version, to see that it runs as it is launched."""
    done = subprocess.run(
        [built.server, "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | dict(built.environment),
    )
    assert done.stderr == ""
    return done.stdout


# linkers and layouts


@pytest.mark.parametrize("name", ["gold", "lld", "mold"])
def test_a_linker_that_is_asked_for_is_the_one_that_links(name: str, shop: Shop, gcc: Toolchain) -> None:
    recipe = Recipe(linker=name)  # type: ignore[arg-type]
    if find_linker(name, gcc) is None:  # type: ignore[arg-type]
        pytest.skip(f"no {name} on this machine")
    built, entry = shop.make(recipe)
    assert says(built) == says(shop.make(Recipe())[0])
    text = built.server.read_bytes()
    marks = {"gold": b".note.gnu.gold-version", "lld": b"Linker: ", "mold": b"mold "}
    assert marks[name] in text
    assert str(entry.about["linker"]).lower().find(name) >= 0


@pytest.mark.parametrize("name", ["bfd", "gold", "lld", "mold"])
def test_a_seed_is_a_layout(name: str, shop: Shop, gcc: Toolchain) -> None:
    if find_linker(name, gcc) is None:  # type: ignore[arg-type]
        pytest.skip(f"no {name} on this machine")

    def laid_out(seed: int) -> Path:
        return shop.make(Recipe(linker=name, layout=seed))[0].server  # type: ignore[arg-type]

    first, others = laid_out(1), [laid_out(seed) for seed in (2, 3, 4)]
    kept = first.read_bytes()
    (entry,) = [each for each in shop.builder.store.entries() if each.folder == first.parent.parent]
    shop.builder.store.remove(entry)
    assert laid_out(1).read_bytes() == kept, "the same seed, the same bytes"
    orders = {tuple(sorted(symbols(each).items())) for each in (first, *others)}
    assert len(orders) > 1, "another seed, other addresses"
    assert symbols(first).keys() == symbols(others[0]).keys(), "and nothing else"


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Objects and an archive of a small program of many files."""
    place = tmp_path_factory.mktemp("many files")
    names = [f"part{number}" for number in range(8)]
    for name in names:
        (place / f"{name}.c").write_text(f"int {name}(int x) {{ return x * {len(name)} + x; }}\n")
        (place / f"in_{name}.c").write_text(f"int in_{name}(int x) {{ return x - {len(name)}; }}\n")
    calls = " + ".join(f"{name}(c) + in_{name}(c)" for name in names)
    declared = "\n".join(f"int {name}(int); int in_{name}(int);" for name in names)
    (place / "main.c").write_text(f"{declared}\nint main(int c, char **v) {{ (void)v; return ({calls}) == 7; }}\n")
    subprocess.run(["gcc", "-O1", "-c", *(path.name for path in place.glob("*.c"))], cwd=place, check=True)
    subprocess.run(["ar", "rcs", "libin.a", *(f"in_{name}.o" for name in names)], cwd=place, check=True)
    return place


@pytest.fixture
def wrapped(parts: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder with a shuffling linker in it."""
    folder = tmp_path / "linkers"
    folder.mkdir()
    program = folder / "ld"
    program.write_text(shuffling_linker(5, Path(shutil.which("ld") or "ld"), Path("ar")))
    program.chmod(0o755)
    yield folder
    shutil.rmtree(parts / ".layout", ignore_errors=True)


def linked(parts: Path, *words: str | Path) -> list[str]:
    """Functions of the program in the order of their addresses."""
    subprocess.run(["gcc", *map(str, words), "-o", "a program"], cwd=parts, check=True)
    assert subprocess.run([parts / "a program"], check=False).returncode == 0
    by_address = sorted((address, name) for name, address in symbols(parts / "a program").items())
    return [name for _, name in by_address if "part" in name]


def test_objects_and_members_of_archives_are_shuffled(parts: Path, wrapped: Path) -> None:
    objects = ["main.o", *(f"part{number}.o" for number in range(8))]
    before = linked(parts, *objects, "libin.a")
    after = linked(parts, f"-B{wrapped}", *objects, "libin.a")
    assert sorted(before) == sorted(after)
    assert before[:8] != after[:8]
    assert before[8:] != after[8:]
    assert {name.startswith("in_") for name in after[:8]} == {False}, "objects and archive in their places"
    assert not (parts / "libin.a").with_suffix(".shuffled").exists()


def test_whole_archives_and_response_files_are_left_as_they_are(parts: Path, wrapped: Path) -> None:
    (parts / "arguments").write_text("main.o part0.o\n'part1.o' \"part2.o\" part3.o part4.o part5.o part6.o part7.o\n")
    whole = ("-Wl,--whole-archive", "libin.a", "-Wl,--no-whole-archive", "-Wl,-rpath,/a\\ b")
    before = linked(parts, "@arguments", *whole)
    after = linked(parts, f"-B{wrapped}", "@arguments", *whole)
    assert before[:8] != after[:8]
    assert before[8:] == after[8:]


def test_what_another_configuration_left_in_the_build_folder_is_in_no_build(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a sitting that was killed: its cache of answers would configure the next build."""
    place, engine = shop.builder.place, shop.builder.engine
    (place / "CMakeFiles").mkdir(parents=True)
    (place / "CMakeCache.txt").write_text("CMAKE_BUILD_TYPE:STRING=Debug\n")
    seen: list[list[str]] = []
    real = engine.build

    def build(job: BuildJob) -> None:
        seen.append([path.name for path in job.place.iterdir()])
        real(job)

    monkeypatch.setattr(engine, "build", build)
    shop.make(Recipe(c=("-DLEFT=1",)))
    assert seen == [[]]
    assert not place.exists(), "nor is this build's left for the next"


def test_a_layout_compiles_nothing(shop: Shop) -> None:
    if shutil.which("ccache") is None:
        pytest.skip("no ccache on this machine")
    plain = (Recipe(layout=1), Recipe(layout=2), Recipe())
    flags = [
        (stage.flags.c, stage.flags.cxx)
        for recipe in plain
        for stage in stages(
            Variant("v", recipe, "for a test of links"),
            spec=shop.builder.engine.spec,
            source="s",
            toolchain=shop.toolchain,
            package=PackageFlags(("-O2",), ("-O2",), ()),
            features="full",
            with_tools=False,
            bolt=None,
            profile_place="p",
            parts=find_parts(recipe, shop.toolchain, shop.builder.engine.spec),
        )
        if isinstance(stage, Compile)
    ]
    assert len(set(flags)) == 1, "the compiler cache knows every object"


# static programs and allocators


def test_a_static_program_loads_nothing(shop: Shop) -> None:
    built, _ = shop.make(Recipe(static="full"))
    assert needed(built.server) == []
    assert says(built) == says(shop.make(Recipe())[0])


def test_a_program_that_is_static_by_name_only_is_an_error(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """gcc takes the last of -static-pie and -pie, and a build system may put its own behind ours."""
    plain, _ = shop.make(Recipe())
    (stage,) = [
        stage
        for stage in stages(
            Variant("v", Recipe(static="full"), "for a test of links"),
            spec=shop.builder.engine.spec,
            source="s",
            toolchain=shop.toolchain,
            package=PackageFlags((), (), ()),
            features="full",
            with_tools=False,
            bolt=None,
            profile_place="p",
        )
        if isinstance(stage, Compile)
    ]
    with pytest.raises(InfrastructureError, match=r"v: linked statically, yet it loads .*libc\.so\.6"):
        linkers.verify(stage, plain, "v")


ZLIB = Recipe(static="libraries", link=("-Wl,--no-as-needed", "-Wl,--undefined=zlibVersion", "-rdynamic", "-lz"))
"""A program that needs zlib, and would show its functions to others."""


def exported(program: Path) -> str:
    """The functions that a program shows to the libraries that it loads."""
    return subprocess.run(["nm", "-D", "--defined-only", program], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", ["bfd", "gold", "lld", "mold"])
def test_a_library_linked_in_is_not_loaded_and_not_shown(name: str, tmp_path: Path, gcc: Toolchain) -> None:
    if find_file("libz.a", gcc, 64) is None or find_linker(name, gcc) is None:  # type: ignore[arg-type]
        pytest.skip(f"no libz.a or no {name} on this machine")
    spec = replace(load.engine("fake"), linking=EngineLinking(archives=("libz.a",), linked_in=("libz",)))
    shop = Shop(tmp_path, gcc, spec)
    built, entry = shop.make(replace(ZLIB, linker=name))  # type: ignore[arg-type]
    says(built)
    assert "zlibVersion" in symbols(built.server)
    assert "zlibVersion" not in exported(built.server)
    assert not [one for one in needed(built.server) if one.startswith("libz.")]
    assert entry.about["linked_in"] == ["libz"]
    assert [archive for archive, _ in entry.about["archives"]] == ["libz.a"]
    assert "security updates of the distribution do not reach them: libz" in entry.about["notes"][0]
    assert f"ln -sf {find_file('libz.a', gcc, 64)}" in (entry.folder / "build.sh").read_text()
    shared, _ = shop.make(replace(ZLIB, static="runtime", linker=name))  # type: ignore[arg-type]
    assert [one for one in needed(shared.server) if one.startswith("libz.")], "the system's, where it is not asked for"


def test_a_library_that_is_loaded_although_it_was_to_be_linked_in_is_an_error(tmp_path: Path, gcc: Toolchain) -> None:
    """A build system may name the shared library by its path."""
    spec = replace(load.engine("fake"), linking=EngineLinking(archives=("libgcc.a",), linked_in=("libz",)))
    with pytest.raises(InfrastructureError, match=r"test: libraries were to be linked in, yet it loads libz\.so\.1"):
        Shop(tmp_path, gcc, spec).make(ZLIB)


@pytest.mark.parametrize("name", ["jemalloc", "tcmalloc", "mimalloc"])
@pytest.mark.parametrize("preload", [False, True])
def test_malloc_is_the_allocators(name: Allocator, preload: bool, shop: Shop, gcc: Toolchain) -> None:
    library = find_allocator(name, gcc, 64)
    if library is None:
        pytest.skip(f"no {name} on this machine")
    built, entry = shop.make(Recipe(allocator=name, preload=preload))
    assert (library.name in needed(built.server)) is not preload
    assert bool(built.environment) is preload
    says(built)
    debug = subprocess.run(
        [built.server, "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | dict(built.environment) | {"LD_DEBUG": "bindings", "LD_BIND_NOW": "1"},
    ).stderr
    bound = re.search(
        rf"binding file {re.escape(str(built.server))} \[0\] to (\S+) \[0\]: normal symbol `malloc'", debug
    )
    assert bound is not None
    assert Path(bound[1]).name.startswith(f"lib{name}")
    assert entry.about["allocator"] == f"{library.name}, {'preloaded' if preload else 'linked'}"
    if preload:
        base = shop.make(Recipe())[0]
        assert built.server.samefile(base.server), "the same program, launched otherwise"


def test_an_allocator_that_would_not_be_used_is_an_error(shop: Shop, gcc: Toolchain) -> None:
    library = find_allocator("jemalloc", gcc, 64)
    if library is None:
        pytest.skip("no jemalloc on this machine")
    plain, entry = shop.make(Recipe())
    with pytest.raises(InfrastructureError, match="malloc would not be that of libjemalloc"):
        check_malloc(plain, library.name, "v")
    assert preload.environment(entry) == ()


# strip


@pytest.mark.parametrize("what", ["debug", "all"])
def test_symbols_are_kept_beside_a_stripped_program(what: str, shop: Shop) -> None:
    before, _ = shop.make(Recipe())
    after, entry = shop.make(Recipe(strip=what))  # type: ignore[arg-type]
    assert build_id(after.server) == build_id(before.server)
    assert entry.about["base"] == before.key
    sections = subprocess.run(["readelf", "-SW", after.server], capture_output=True, text=True, check=True).stdout
    assert ".debug_info" not in sections
    assert (".symtab" in sections) is (what == "debug")
    assert ".gnu_debuglink" in sections
    beside = after.folder / str(entry.about["symbols"])
    assert "fake_serve" in symbols(beside)
    assert build_id(beside) == build_id(before.server)
    named = subprocess.run(
        ["readelf", "--string-dump=.gnu_debuglink", after.server],
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
    )
    assert beside.name in named.stdout
    assert says(after) == says(before)
    assert symbols(before.server), "the program that it was made from is as it was"


# huge pages


@pytest.mark.parametrize("name", [None, "gold", "lld", "mold"])
def test_code_is_on_huge_pages(name: str | None, shop: Shop, gcc: Toolchain, tmp_path: Path) -> None:
    if huge_pages() not in ("always", "madvise"):
        pytest.skip("no transparent huge pages on this machine")
    if name is not None and find_linker(name, gcc) is None:  # type: ignore[arg-type]
        pytest.skip(f"no {name} on this machine")
    filler = tmp_path.parent / "filler.o"  # a server of some size: gold's segment must hold a whole huge page
    filler.with_suffix(".s").write_text(".text\n.fill 5000000, 1, 0x90\n")
    subprocess.run(["gcc", "-c", filler.with_suffix(".s"), "-o", filler], check=True)
    recipe = Recipe(linker=name, huge_text=True, link=(str(filler),))  # type: ignore[arg-type]
    built, entry = shop.make(recipe)
    assert int(entry.about["huge_text_bytes"]) >= 4 << 20
    assert "code on huge pages" in entry.about["notes"][0]
    (tmp_path / "data").write_bytes(b"x" * 100)
    server = subprocess.Popen(
        [built.server, "socket", tmp_path / "data"], cwd=tmp_path, env=os.environ | dict(built.environment)
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "socket").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        smaps = Path(f"/proc/{server.pid}/smaps").read_text()
    finally:
        server.terminate()
        server.wait()
    huge = 0
    executable = False
    for line in smaps.splitlines():
        if match := re.match(r"[0-9a-f]+-[0-9a-f]+ (\S+)", line):
            executable = "x" in match[1]
        elif executable and (match := re.match(r"(?:AnonHugePages|FilePmdMapped): +(\d+) kB", line)):
            huge += int(match[1])
    assert huge >= 4096, "in a server that serves, too"


# word size


@pytest.mark.parametrize(("headers", "words"), [(True, {32, 64}), (False, {64})])
def test_32_bits_need_the_kernels_headers_beside_the_libraries(
    headers: bool, words: set[int], gcc: Toolchain, tmp_path: Path
) -> None:
    (tmp_path / "here").touch()
    compiler = tmp_path / "cc"
    compiler.write_text(
        f"""#!/bin/sh
case "$*" in
*-print-file-name=*) echo {tmp_path}/here;;
*) {"echo preprocessed" if headers else "exit 1"};;
esac
"""
    )
    compiler.chmod(0o755)
    assert words_of(replace(gcc, cc=compiler)) == words


def test_a_32_bit_program(shop: Shop, gcc: Toolchain) -> None:
    if 32 not in words_of(gcc):
        pytest.skip("no 32-bit libraries on this machine")
    built, _ = shop.make(Recipe(word=32, huge_text=True))
    assert word_of(built.server) == 32
    assert word_of(shop.make(Recipe())[0].server) == 64
    assert word_of(Path(__file__)) == 0
    says(built)
    assert says(built) == says(shop.make(Recipe())[0])


# link-time optimisation


def test_thin_lto_by_lld_has_a_cache(shop: Shop, clang: Toolchain) -> None:
    _, entry = shop.make(Recipe(toolchain="clang", lto="thin", linker="lld"), clang)
    cache = shop.builder.store.root / "thinlto"
    assert list(cache.glob("llvmcache-*")), "a second link of the same objects finds its work done"
    assert not any("thinlto-cache" in flag for flag in entry.about["flags"]["link"])


def test_nothing_in_a_folder_with_a_colon_can_be_preloaded(tmp_path: Path, gcc: Toolchain) -> None:
    if find_allocator("jemalloc", gcc, 64) is None:
        pytest.skip("no jemalloc on this machine")
    odd = Shop(tmp_path / "a:b", replace(gcc))
    with pytest.raises(
        UnavailableError, match=r"variant v: LD_PRELOAD cannot name .*/a:b: its path has a space or a col"
    ):
        preload.check(Recipe(huge_text=True), "variant v", tmp_path / "a:b")
    given = [Variant("baseline", Recipe(), "the baseline"), Variant("v", Recipe(huge_text=True), "code on huge pages")]
    _, chain = resolve(
        given,
        spec=odd.builder.engine.spec,
        source_digest="source",
        source=odd.builder.source,
        toolchains=[gcc],
        features="full",
        profile_place=odd.builder.profile_place,
        store=odd.builder.store,
    )
    assert "space or a colon; name another BURNISH_HOME" in (chain.missing or ""), "before it is compiled"
    outside = Recipe(allocator="jemalloc", preload=True)
    preload.check(outside, "variant v", tmp_path / "a:b")
    assert odd.make(outside)[1].about["allocator"].endswith(", preloaded")
    if huge_pages() in ("always", "madvise"):
        with pytest.raises(InfrastructureError, match="space or a colon; name another BURNISH_HOME"):
            odd.make(Recipe(huge_text=True))
