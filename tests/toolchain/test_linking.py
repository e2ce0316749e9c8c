"""What a recipe says of its link: flags, refusals and names; and that a recipe which says nothing keeps its own."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import pytest

from burnish.base.errors import UnavailableError, UserError
from burnish.builds.after_link.preload import Preload
from burnish.builds.after_link.strip import Strip
from burnish.builds.stages import Compile, PackageFlags, Stage, stages
from burnish.catalogue import load
from burnish.model.engine import EngineLinking, EngineSpec
from burnish.model.recipe import Recipe, Variant
from burnish.toolchain import link_parts, linking
from burnish.toolchain.link_parts import NOTHING, Library, LinkerProgram, Parts, catalogue, linker_of
from burnish.toolchain.linking import Linking
from burnish.toolchain.toolchains import Toolchain

SPEC = load.engine("fake")
FEATURES = SPEC.features[SPEC.default_features]
MARIADB = load.engine("mariadb")
PACKAGE = PackageFlags(c=("-O2", "-g"), cxx=("-O2", "-g"), link=("-Wl,-z,relro",))
LLD = LinkerProgram("lld", Path("/llvm/bin/ld.lld"), "LLD 19")
JEMALLOC = Library("libjemalloc.so.2", Path("/lib/libjemalloc.so.2"), "d1")


def toolchain(family: str) -> Toolchain:
    tool = Path("/t/tool")
    clang = family == "clang"
    return Toolchain(
        name=f"{family}-19",
        family="clang" if clang else "gcc",
        version=f"{family} 19.1",
        identity=f"{family} 19.1",
        release="19.1.0",
        cc=tool,
        cxx=tool,
        ar=tool,
        ranlib=tool,
        linker=tool if clang else None,
        profdata=tool if clang else None,
        gcov_dump=None if clang else tool,
        bolt=Path("/llvm/bin/llvm-bolt"),
        bolt_version=f"{family} 19.1",
        merge_fdata=tool,
        has_profile_runtime=True,
        bolt_can_instrument=True,
    )


GCC, CLANG = toolchain("gcc"), toolchain("clang")


def chain(recipe: Recipe, parts: Parts = NOTHING, tools: Toolchain = GCC, spec: EngineSpec = SPEC) -> tuple[Stage, ...]:
    return stages(
        Variant("v", recipe, "a reason that is long enough"),
        spec=spec,
        source="source",
        toolchain=tools,
        package=PACKAGE,
        features=spec.default_features,
        with_tools=False,
        bolt=tools if recipe.bolt else None,
        profile_place="/work/profile",
        parts=parts,
        link_place="/work/link",
    )


def link_flags(recipe: Recipe, parts: Parts = NOTHING, tools: Toolchain = GCC) -> tuple[str, ...]:
    final = [stage for stage in chain(recipe, parts, tools) if isinstance(stage, Compile)][-1]
    return final.flags.link


def linker(name: str, version: str = "1") -> Parts:
    return Parts(linker=LinkerProgram(name, Path(f"/usr/bin/ld.{name}"), version))  # type: ignore[arg-type]


# names


CLANG_KEYS = [
    "4d172c894ed38ea1",
    "495410f0cbddac8a",
    "29d1df672f874548",
    "2f5338fbb00d7175",
    "afb879f446fa1a20",
    "a87282381389124d",
]


@pytest.mark.parametrize(
    ("recipe", "tools", "keys"),
    [
        (Recipe(), GCC, ["bfb6a74932a24ea7"]),
        (Recipe(pgo=True, lto="full"), GCC, ["c9e89652bacbffce", "339fb3d3d415f405", "d31001fdd1402059"]),
        (Recipe(toolchain="clang", pgo=True, lto="thin", bolt=True, link=("-fuse-ld=lld",)), CLANG, CLANG_KEYS),
    ],
)
def test_a_recipe_that_says_nothing_of_its_link_keeps_its_keys(
    recipe: Recipe, tools: Toolchain, keys: list[str]
) -> None:
    """Builds of months stay valid: these are the keys from before there was anything to say."""
    assert [stage.key for stage in chain(recipe, tools=tools)] == keys


DIFFERENT: tuple[tuple[Recipe, Parts], ...] = (
    (Recipe(), NOTHING),
    (Recipe(linker="gold"), linker("gold")),
    (Recipe(linker="gold"), linker("gold", "2")),
    (Recipe(linker="mold"), linker("mold")),
    (Recipe(linker="lld"), linker("lld")),
    (Recipe(static="runtime"), NOTHING),
    (Recipe(static="full"), NOTHING),
    (Recipe(word=32), Parts(words=frozenset({64, 32}))),
    (Recipe(layout=1), linker("bfd")),
    (Recipe(layout=2), linker("bfd")),
    (Recipe(layout=1, linker="lld"), linker("lld")),
    (Recipe(layout=2, linker="lld"), linker("lld")),
    (Recipe(allocator="jemalloc"), Parts(allocator=JEMALLOC)),
    (Recipe(allocator="jemalloc"), Parts(allocator=replace(JEMALLOC, digest="d2"))),
    (Recipe(allocator="jemalloc", preload=True), Parts(allocator=JEMALLOC)),
    (Recipe(allocator="jemalloc", preload=True), Parts(allocator=replace(JEMALLOC, digest="d2"))),
    (Recipe(allocator="jemalloc", preload=True, huge_text=True), Parts(allocator=JEMALLOC)),
    (Recipe(huge_text=True), NOTHING),
    (Recipe(strip="debug"), NOTHING),
    (Recipe(strip="all"), NOTHING),
)


def test_whatever_differs_in_the_link_is_another_build() -> None:
    keys = [chain(recipe, parts)[-1].key for recipe, parts in DIFFERENT]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("family", ["gcc", "clang"])
def test_profiles_are_shared_whatever_the_link(family: str) -> None:
    tools = CLANG if family == "clang" else GCC
    plain = chain(Recipe(pgo=True), tools=tools)[:2]
    for recipe, parts in DIFFERENT:
        if recipe.word == 64 and not (recipe.linker == "mold" and family == "clang"):
            assert chain(replace(recipe, pgo=True), parts, tools)[:2] == plain, recipe


def test_strip_and_preload_follow_the_finished_program() -> None:
    recipe = Recipe(strip="all", allocator="jemalloc", preload=True, huge_text=True)
    compiled, stripped, preloaded = chain(recipe, Parts(allocator=JEMALLOC))
    assert isinstance(compiled, Compile)
    assert isinstance(stripped, Strip)
    assert isinstance(preloaded, Preload)
    assert (stripped.build, stripped.what, stripped.tool) == (compiled.key, "all", None)
    assert (preloaded.build, preloaded.allocator, preloaded.huge_text) == (stripped.key, JEMALLOC, True)
    assert chain(Recipe(allocator="jemalloc", preload=True), Parts(allocator=JEMALLOC))[0] == chain(Recipe())[0]


def test_only_an_engine_that_drops_debug_sections_links_again_to_strip() -> None:
    assert chain(Recipe(strip="debug"))[0] == chain(Recipe())[0]
    dropping = replace(SPEC, linking=EngineLinking(strips_debug=True))
    (kept, _), (plain,) = chain(Recipe(strip="debug"), spec=dropping), chain(Recipe(), spec=dropping)
    assert isinstance(kept, Compile)
    assert kept.linking.keep_debug
    assert kept.key != plain.key


def test_a_program_that_bolt_wrote_is_stripped_by_llvm() -> None:
    made = chain(Recipe(toolchain="clang", bolt=True, strip="all"), tools=CLANG)[-1]
    assert isinstance(made, Strip)
    assert made.tool == "/llvm/bin/llvm-objcopy"


# flags


@pytest.mark.parametrize(
    ("recipe", "parts", "tools", "expected"),
    [
        (Recipe(), NOTHING, GCC, ()),
        (Recipe(linker="mold"), linker("mold"), GCC, ("-fuse-ld=mold",)),
        (Recipe(linker="lld"), Parts(linker=LLD), GCC, ("-fuse-ld=lld", "-B/work/link")),
        (Recipe(linker="lld"), Parts(linker=LLD), CLANG, ("-fuse-ld=lld",)),
        (Recipe(layout=3), linker("bfd"), GCC, ("-B/work/link",)),
        (Recipe(layout=3, linker="gold"), linker("gold"), CLANG, ("-fuse-ld=gold", "-B/work/link")),
        (Recipe(static="runtime"), NOTHING, GCC, ("-static-libgcc", "-static-libstdc++")),
        (
            Recipe(static="runtime"),
            NOTHING,
            CLANG,
            ("-static-libgcc", "-static-libstdc++", "-Wno-unused-command-line-argument"),
        ),
        (Recipe(static="full"), NOTHING, GCC, ("-static",)),
        (Recipe(word=32), Parts(words=frozenset({64, 32})), GCC, ("-m32",)),
        (Recipe(huge_text=True), NOTHING, GCC, ("-Wl,-z,max-page-size=0x200000",)),
        (
            Recipe(huge_text=True, linker="mold"),
            linker("mold"),
            GCC,
            ("-fuse-ld=mold", "-Wl,-z,max-page-size=0x200000", "-Wl,-z,separate-loadable-segments"),
        ),
        (
            Recipe(allocator="jemalloc"),
            Parts(allocator=JEMALLOC),
            GCC,
            ("-Wl,--push-state,--no-as-needed,-l:libjemalloc.so.2,--pop-state",),
        ),
        (Recipe(allocator="jemalloc", preload=True), Parts(allocator=JEMALLOC), GCC, ()),
    ],
)
def test_link_flags(recipe: Recipe, parts: Parts, tools: Toolchain, expected: tuple[str, ...]) -> None:
    assert link_flags(recipe, parts, tools) == (*PACKAGE.link, *expected)


@pytest.mark.parametrize("recipe", [Recipe(static="runtime"), Recipe(link=("-static-libgcc", "-static-libstdc++"))])
def test_a_c_program_is_linked_without_a_warning(recipe: Recipe, clang: Toolchain, tmp_path: Path) -> None:
    """What cmake's checks do: a warning makes them fail, and what they ask for is then missing from the build."""
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    link = [word for word in link_flags(recipe, tools=CLANG) if word not in PACKAGE.link]
    argv = [clang.cc, "a.c", "-o", "a", *link]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_llds_layout_shuffles_sections_and_moves_what_the_profile_orders() -> None:
    recipe = Recipe(toolchain="clang", layout=7, link=("-fuse-ld=lld",))
    result = link_flags(recipe, Parts(linker=LLD), CLANG)
    assert result[-2:] == ("-Wl,--shuffle-sections=.text*=7", "-Wl,-T,/work/link/layout.ld")
    shifts = {linking.shift(seed) for seed in range(1, 200)}
    assert len(shifts) > 50, "not all seeds begin alike"
    assert all(0 <= shift < 4096 and shift % 64 == 0 for shift in shifts)
    assert f". += {linking.shift(7)};" in linking.layout_script(7)


def test_the_word_size_is_in_every_compile_and_in_training() -> None:
    parts = Parts(words=frozenset({64, 32}))
    for stage in chain(Recipe(word=32, pgo=True), parts):
        if isinstance(stage, Compile):
            assert all("-m32" in flags for flags in (stage.flags.c, stage.flags.cxx, stage.flags.link))


def test_the_cache_changes_no_result_and_is_in_no_key() -> None:
    thin, cache = Linking(cached=True), PurePath("/store/thinlto")
    assert thin.identity == ()
    where, policy = linking.unkeyed(thin, cache)
    assert where == "-Wl,--thinlto-cache-dir=/store/thinlto"
    assert "cache_size_bytes=" in policy, "bounded"
    assert linking.unkeyed(linking.PLAIN, cache) == ()
    assert linking.linking_of(Recipe(lto="thin", link=("-fuse-ld=lld",)), NOTHING, SPEC, FEATURES).cached
    assert not linking.linking_of(Recipe(lto="thin", linker="gold"), linker("gold"), SPEC, FEATURES).cached


def test_a_static_server_has_the_options_that_it_forces() -> None:
    (stage,) = chain(Recipe(static="full", options=(("WITH_SYSTEMD", "auto"),)), spec=MARIADB)
    assert isinstance(stage, Compile)
    result = dict(stage.options)
    assert result["WITHOUT_DYNAMIC_PLUGINS"] == "1"
    assert result["WITH_SYSTEMD"] == "auto", "the recipe's own word wins"


# refusals


BOTH_WORDS = Parts(words=frozenset({64, 32}))
CONTRADICTIONS = [
    (Recipe(linker="lld", lto="full"), Parts(linker=LLD), GCC, "lld does not read gcc's LTO objects"),
    (Recipe(static="full", allocator="jemalloc", preload=True), NOTHING, GCC, "preload contradict"),
    (Recipe(static="full", huge_text=True), NOTHING, GCC, "huge_text contradict"),
    (Recipe(static="full", allocator="mimalloc"), NOTHING, GCC, "mallinfo"),
    (Recipe(preload=True), NOTHING, GCC, "preload without an allocator"),
    (Recipe(word=32, bolt=True), BOTH_WORDS, GCC, "64-bit programs only"),
    (Recipe(linker="mold", link=("-fuse-ld=lld",)), linker("mold"), CLANG, "contradict; leave one out"),
]
LACKS = [
    (Recipe(linker="mold"), NOTHING, GCC, "apt-get install --no-install-recommends mold"),
    (Recipe(linker="lld"), NOTHING, GCC, "--no-install-recommends lld-"),
    (Recipe(lto="thin"), Parts(has_plugin=False), CLANG, "llvm-19-linker-tools"),
    (Recipe(allocator="tcmalloc"), NOTHING, GCC, "libtcmalloc-minimal4"),
    (Recipe(word=32), NOTHING, GCC, "gcc-multilib g++-multilib"),
    (Recipe(allocator="jemalloc", word=32), BOTH_WORDS, GCC, "libjemalloc2:i386"),
    (Recipe(word=32, pgo=True), replace(BOTH_WORDS, has_profile_runtime=False), GCC, "profile runtime"),
    (Recipe(strip="all"), Parts(has_objcopy=False), GCC, "binutils"),
    (Recipe(huge_text=True), Parts(huge_pages="never"), GCC, "set to 'never'"),
    (Recipe(huge_text=True), Parts(huge_pages=""), GCC, "has none"),
    (Recipe(static="full"), Parts(missing=("libssl.a",)), GCC, "static libraries that are not here: libssl.a"),
]


@pytest.mark.parametrize(("recipe", "parts", "tools", "says"), CONTRADICTIONS)
def test_what_contradicts_itself_stops_the_request(recipe: Recipe, parts: Parts, tools: Toolchain, says: str) -> None:
    with pytest.raises(UserError) as caught:
        chain(recipe, parts, tools)
    assert not isinstance(caught.value, UnavailableError)
    assert str(caught.value).startswith("variant v: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("recipe", "parts", "tools", "says"), LACKS)
def test_what_this_machine_lacks_leaves_the_variant_out(
    recipe: Recipe, parts: Parts, tools: Toolchain, says: str
) -> None:
    with pytest.raises(UnavailableError) as caught:
        chain(recipe, parts, tools)
    assert str(caught.value).startswith("variant v: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("recipe", "says"),
    [(Recipe(static="full"), "there is no fully static"), (Recipe(word=32), "there is no 32-bit")],
)
def test_what_no_machine_links_stops_the_request_whatever_is_installed(recipe: Recipe, says: str) -> None:
    never = replace(SPEC, linking=EngineLinking(no_static="no archives", no_32="64 bits alone"))
    for parts in (NOTHING, BOTH_WORDS):
        with pytest.raises(UserError, match=f"^variant v: {says} ") as caught:
            chain(recipe, parts, spec=never)
        assert not isinstance(caught.value, UnavailableError), "nothing that could be installed would help"
    assert linking.never(recipe, never) is not None
    assert linking.never(recipe, SPEC) is None
    assert linking.never(Recipe(static="libraries"), never) is None


def test_mold_is_refused_only_where_it_would_die() -> None:
    recipe = Recipe(toolchain="clang", pgo=True, linker="mold")
    dropping = replace(SPEC, linking=EngineLinking(strips_debug=True))
    with pytest.raises(UserError, match=r"mold 1\.10 dies"):
        chain(recipe, linker("mold"), CLANG, dropping)
    assert chain(replace(recipe, strip="debug"), linker("mold"), CLANG, dropping)
    assert chain(recipe, linker("mold"), CLANG)


def test_every_refusal_names_traits_that_there_are() -> None:
    known = linking.traits(Recipe(), GCC, SPEC)
    for refusal in catalogue().refused:
        assert refusal.when.keys() <= known.keys()
        assert not refusal.holds(known), "a plain recipe is never refused"


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (Recipe(), "bfd"),
        (Recipe(link=("-fuse-ld=lld",)), "lld"),
        (Recipe(link=("-fuse-ld=lld", "-fuse-ld=gold")), "gold"),
        (Recipe(linker="mold"), "mold"),
    ],
)
def test_the_linker_that_a_recipe_ends_up_with(recipe: Recipe, expected: str) -> None:
    assert linker_of(recipe) == expected


def test_system_packages_of_a_recipe() -> None:
    recipes: list[tuple[dict[str, Any], list[str]]] = [
        ({}, []),
        ({"linker": "bfd"}, []),
        ({"linker": "mold"}, ["linkers"]),
        ({"allocator": "jemalloc"}, ["allocators"]),
        ({"word": 32}, ["word-32"]),
    ]
    for fields, groups in recipes:
        assert linking.groups(Recipe(**fields)) == groups


def test_an_allocator_is_found_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow, wide = tmp_path / "lib32/libjemalloc.so.2", tmp_path / "lib/libjemalloc.so.2"
    for path, word in ((narrow, 1), (wide, 2)):
        path.parent.mkdir()
        path.write_bytes(b"\x7fELF" + bytes([word]) + b" a library")
    program = tmp_path / "ldconfig"
    lines = f"\tlibjemalloc.so.2 (libc6) => {narrow}\n\tlibjemalloc.so.2 (libc6,x86-64) => {wide}\n"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n2 libs found in cache\n{lines}END\n")
    program.chmod(0o755)
    monkeypatch.setattr(link_parts, "find_toolchains", list)
    monkeypatch.setattr(link_parts, "find_programs", lambda names: dict.fromkeys(names, program))
    found = link_parts.installed_allocator("jemalloc")
    assert found is not None
    assert found.path == wide.resolve()
    assert link_parts.installed_allocator("mimalloc") is None
    monkeypatch.setattr(link_parts, "find_programs", dict.fromkeys)
    assert link_parts.installed_allocator("jemalloc") is None


def test_name_services_of_a_static_program_are_a_note() -> None:
    log = (
        "x.o: in function f:\nx.c:1: warning: Using 'getaddrinfo' in statically linked applications requires at "
        "runtime the shared libraries from the glibc version used for linking\n"
    )
    (note,) = linking.notes(log + log.replace("getaddrinfo", "getpwnam"))
    assert "getaddrinfo, getpwnam" in note
    assert linking.notes("all is well\n") == []
