"""Recipes become stages: equal stages have equal names, and whatever differs in a build differs in its name."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.base.errors import UserError
from burnish.builds.stages import (
    CLANG_SAY,
    GCC_USE,
    INSTRUMENT,
    Bolt,
    Compile,
    PackageFlags,
    base_flags,
    is_level,
)
from burnish.model.recipe import Recipe
from burnish.profiles.stages import Train
from burnish.source.patches.patch import Patch
from burnish.study.kept.reproducing import recipe_toml
from burnish.toolchain.toolchains import Toolchain
from chains import CLANG, GCC, PACKAGE, SPEC, chain, compiles

# flags


def test_one_level_and_the_recipes_flags_last() -> None:
    flags = base_flags(Recipe(level="-O3", c=("-DMINE",), cxx=("-DMY",), link=("-lm",)), PACKAGE)
    assert flags.c == ("-O3", "-g", "-fstack-protector-strong", "-DP=1", "-DMINE")
    assert flags.cxx == ("-O3", "-g", "-DP=2", "-DMY")
    assert flags.link == ("-Wl,-z,relro", "-lm")
    assert flags.level == "-O3"


def test_without_a_level_the_packages_own_holds() -> None:
    assert base_flags(Recipe(), PACKAGE).level == "-O2"
    last = PackageFlags(c=("-O1", "-Os"), cxx=(), link=())
    assert base_flags(Recipe(), last).c == ("-Os",), "the package's last one, as its compiler would take it"
    none = PackageFlags(c=("-g",), cxx=(), link=())
    assert base_flags(Recipe(), none).level == "-O2"


def test_removed_flags_are_gone_everywhere() -> None:
    flags = base_flags(Recipe(remove=("-g", "-Wl,-z,relro", "-DP=2", "-not-there")), PACKAGE)
    assert "-g" not in (*flags.c, *flags.cxx)
    assert flags.link == ()
    assert flags.cxx == ("-O2",)


@pytest.mark.parametrize(("lto", "flag"), [("thin", "-flto=thin"), ("full", "-flto")])
def test_lto_is_in_compile_and_link(lto: str, flag: str) -> None:
    (stage,) = compiles(chain(Recipe(lto=lto), tools=CLANG))  # type: ignore[arg-type]
    for flags in (stage.flags.c, stage.flags.cxx, stage.flags.link):
        assert flags[-1] == flag


FLAGS = st.lists(st.sampled_from(["-g", "-O1", "-O3", "-DA", "-DB=1", "-fno-plt", "-Ofast"]), max_size=4).map(tuple)


@given(FLAGS, FLAGS, st.sampled_from([None, "-O0", "-O3"]), FLAGS)
def test_there_is_always_exactly_one_level_before_the_recipes_own_flags(
    package: tuple[str, ...], cxx: tuple[str, ...], level: str | None, own: tuple[str, ...]
) -> None:
    flags = base_flags(Recipe(level=level, c=own), PackageFlags(package, cxx, ()))
    settled = flags.c[: len(flags.c) - len(own)]
    assert [flag for flag in settled if is_level(flag)] == [flags.level]
    assert [flag for flag in flags.cxx if is_level(flag)] == [flags.level], "C++ at the same level as C"
    assert flags.c[len(flags.c) - len(own) :] == own


# chains


def test_a_plain_recipe_is_one_stage() -> None:
    (stage,) = chain(Recipe(), with_tools=True)
    assert isinstance(stage, Compile)
    assert (stage.instrumented, stage.profile, stage.relocations, stage.with_tools) == (False, None, False, True)


@pytest.mark.parametrize(("tools", "kind"), [(GCC, "gcc"), (CLANG, "clang")])
def test_a_profile_is_instrument_train_use(tools: Toolchain, kind: str) -> None:
    first, trained, final = chain(Recipe(pgo=True, lto="full"), tools=tools, with_tools=True)
    assert isinstance(first, Compile)
    assert first.instrumented
    assert set(INSTRUMENT) <= set(first.flags.c)
    assert INSTRUMENT[0] in first.flags.link
    assert not any(flag.startswith("-flto") for flag in (*first.flags.c, *first.flags.cxx, *first.flags.link))
    assert not first.with_tools, "the gate's tools come from the final build"
    assert isinstance(trained, Train)
    assert (trained.kind, trained.build, trained.training) == (kind, first.key, SPEC.training)
    assert isinstance(final, Compile)
    assert (final.profile, final.instrumented, final.with_tools) == (trained.key, False, True)
    assert "-flto" in final.flags.c
    use = GCC_USE if kind == "gcc" else ("-fprofile-use=/work/p.profdata", *CLANG_SAY)
    assert final.flags.c[-len(use) :] == use
    assert final.flags.link[-1] == use[0]


def test_bolt_follows_the_link() -> None:
    made = chain(Recipe(pgo=True, lto="thin", bolt=True, toolchain="clang"), tools=CLANG)
    assert [stage.title for stage in made] == [
        "instrumented",
        "training",
        "with profile",
        "BOLT instrumentation",
        "BOLT training",
        "BOLT",
    ]
    first, _, final, marked, trained, optimised = made
    assert isinstance(first, Compile)
    assert isinstance(final, Compile)
    assert not first.relocations, "so that it is the same stage as without BOLT"
    assert final.relocations
    assert isinstance(marked, Bolt)
    assert isinstance(trained, Train)
    assert isinstance(optimised, Bolt)
    assert (marked.build, marked.profile) == (final.key, None)
    assert (trained.build, trained.kind) == (marked.key, "bolt")
    assert (optimised.build, optimised.profile) == (final.key, trained.key)
    assert len({stage.key for stage in made}) == 6


def test_gcc_must_not_split_functions_that_bolt_will() -> None:
    split = "-fno-reorder-blocks-and-partition"
    (final,) = compiles(chain(Recipe(bolt=True)))
    assert split in final.flags.c
    assert split in final.flags.cxx
    assert split not in compiles(chain(Recipe(bolt=True), tools=CLANG))[0].flags.c
    assert split not in compiles(chain(Recipe()))[0].flags.c


def test_stages_that_variants_share_are_one() -> None:
    plain = chain(Recipe(pgo=True, lto="thin", toolchain="clang"), "one", tools=CLANG)
    bolted = chain(Recipe(pgo=True, lto="thin", bolt=True, toolchain="clang"), "two", tools=CLANG)
    without = chain(Recipe(pgo=True, toolchain="clang"), "three", tools=CLANG)
    assert plain[:2] == bolted[:2] == without[:2]
    assert plain[2] == bolted[2], "relocations are kept in both, so that BOLT follows without another build"
    assert plain[2].key != without[2].key


# keys


def test_the_same_recipe_has_the_same_keys_under_any_name() -> None:
    recipe = Recipe(pgo=True, bolt=True, c=("-DX",), options=(("A", "1"),))
    assert [stage.key for stage in chain(recipe, "one")] == [stage.key for stage in chain(recipe, "two")]
    assert chain(Recipe(level="-O2"))[-1].key == chain(Recipe())[-1].key, "what is the same build has the same name"


DIFFERENT = (
    chain(Recipe()),
    chain(Recipe(level="-O3")),
    chain(Recipe(c=("-DX",))),
    chain(Recipe(c=("-DX", "-DY"))),
    chain(Recipe(c=("-DY", "-DX"))),
    chain(Recipe(cxx=("-DX",))),
    chain(Recipe(link=("-DX",))),
    chain(Recipe(remove=("-g",))),
    chain(Recipe(options=(("A", "1"),))),
    chain(Recipe(options=(("A", "2"),))),
    chain(Recipe(hardening=False)),
    chain(Recipe(lto="full")),
    chain(Recipe(pgo=True)),
    chain(Recipe(bolt=True)),
    chain(Recipe(features="trimmed")),
    chain(Recipe(), source="another"),
    chain(Recipe(), with_tools=True),
    chain(Recipe(), tools=CLANG),
    chain(Recipe(), tools=replace(GCC, identity="gcc version 12.1.0-2")),
    chain(Recipe(), package=replace(PACKAGE, link=())),
    chain(Recipe(pgo=True), training=(("fake_mix", 9.0),)),
    chain(Recipe(pgo=True), training=(("fake_write", 1.0),)),
    chain(Recipe(pgo=True), tools=CLANG),
    chain(Recipe(pgo=True), tools=CLANG, profile_place="/elsewhere"),
    chain(Recipe(bolt=True), bolt=replace(CLANG, bolt_version="clang version 20")),
)


def test_any_difference_is_another_key() -> None:
    """Order of flags too: the last one wins."""
    seen: dict[str, int] = {}
    for number, made in enumerate(DIFFERENT):
        assert made[-1].key not in seen, f"number {number} has the key of number {seen[made[-1].key]}"
        seen[made[-1].key] = number


RECIPES = st.builds(
    Recipe,
    level=st.sampled_from([None, "-O2", "-O3"]),
    lto=st.sampled_from(["none", "full"]),
    pgo=st.booleans(),
    bolt=st.booleans(),
    hardening=st.booleans(),
    features=st.sampled_from([None, "full", "trimmed"]),
    c=FLAGS,
    link=st.sampled_from([(), ("-lm",)]),
    remove=st.sampled_from([(), ("-g",), ("-nowhere",)]),
    options=st.sampled_from([(), (("A", "1"),), (("A", "2"),), (("A", "1"), ("B", "1"))]),
)


def content(stage: Compile) -> object:
    """All that decides what a compile makes: everything but its names."""
    return replace(stage, key="", title="", features=replace(stage.features, name="", reason=""))


@given(RECIPES, RECIPES, st.sampled_from([GCC, CLANG]), st.sampled_from([GCC, CLANG]))
def test_keys_are_equal_just_when_what_is_built_is(one: Recipe, two: Recipe, mine: Toolchain, other: Toolchain) -> None:
    for left in compiles(chain(one, tools=mine)):
        for right in compiles(chain(two, tools=other)):
            assert (left.key == right.key) == (content(left) == content(right))


# refusals


def test_thin_lto_needs_clang() -> None:
    with pytest.raises(UserError, match=r"variant v: lto = 'thin' needs clang, found gcc-12; gcc has lto = 'full'"):
        chain(Recipe(lto="thin"))


@pytest.mark.parametrize(
    ("recipe", "tools", "says"),
    [
        (Recipe(pgo=True), replace(CLANG, profdata=None), "llvm-19"),
        (Recipe(pgo=True), replace(CLANG, has_profile_runtime=False), "libclang-rt-19-dev"),
        (Recipe(pgo=True), replace(GCC, gcov_dump=None), "gcc-12"),
        (Recipe(pgo=True), replace(GCC, has_profile_runtime=False), "libgcc-12-dev"),
        (Recipe(lto="thin"), replace(CLANG, linker=None), "lld-19"),
        (Recipe(lto="full"), replace(CLANG, ar=None), "llvm-19"),
        (Recipe(lto="full"), replace(GCC, ar=None), "gcc-12"),
        (Recipe(link=("-fuse-ld=lld",)), replace(CLANG, linker=None), "lld-19"),
    ],
)
def test_a_toolchain_without_a_part_that_the_recipe_needs_is_refused(
    recipe: Recipe, tools: Toolchain, says: str
) -> None:
    with pytest.raises(UserError) as caught:
        chain(recipe, tools=tools)
    assert str(caught.value).startswith(f"variant v: {tools.name}: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parts_that_a_recipe_does_not_need_may_be_missing() -> None:
    bare = replace(CLANG, linker=None, ar=None, profdata=None, has_profile_runtime=False, bolt=None)
    assert len(chain(Recipe(), tools=bare)) == 1


def test_no_bolt() -> None:
    with pytest.raises(UserError, match=r"variant v: no llvm-bolt found; to have it: .* bolt-19 libbolt-19-dev"):
        chain(Recipe(toolchain="clang", bolt=True), tools=CLANG, bolt=None)


def test_patches_are_in_every_key_of_the_chain_and_without_them_nothing_changes() -> None:
    one, other = Patch(Path("/p"), b"one"), Patch(Path("/p"), b"other")
    plain = chain(Recipe(pgo=True))
    assert chain(Recipe(pgo=True, patches=()), patches=()) == plain
    keys = [
        [stage.key for stage in made]
        for made in (plain, *(chain(Recipe(pgo=True), patches=found) for found in ((one,), (other,), (one, other))))
    ]
    for stages_of_one_kind in zip(*keys, strict=True):
        assert len(set(stages_of_one_kind)) == len(keys)
    (_, last) = compiles(chain(Recipe(pgo=True), patches=(one,)))
    assert last.patches == (one,)
    assert last.source != "source"


def test_any_name_of_a_variant_is_one_key_of_a_recipes_file() -> None:
    for name in ("clang-pgo", "0001-spin-v1.1", "a+b", "mit leer", 'say "x"', "größer"):
        text = recipe_toml(name, "", Recipe(level="-O3").as_dict(), [])
        assert tomllib.loads(text)[name]["recipe"]["level"] == "-O3"
