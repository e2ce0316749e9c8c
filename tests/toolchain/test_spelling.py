"""A recipe's entries and target become flags of its toolchain, or one line that says why not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.base.errors import UnavailableError, UserError
from burnish.base.processor import Processor, read_processor
from burnish.builds.stages import base_flags
from burnish.catalogue import flags, load
from burnish.model.recipe import Recipe
from burnish.toolchain.fitting import fitted
from burnish.toolchain.spelling import Spelled, spell
from chains import CLANG, GCC, PACKAGE, chain, compiles

HASWELL = Processor("x86_64", "some Haswell", flags.target("haswell").needs)
ARM = Processor("aarch64", "0x41/0xd0c", flags.target("neoverse-n1").needs)


def test_nothing_said_is_nothing_added() -> None:
    assert spell(Recipe(), GCC, HASWELL, "variant v") == Spelled()
    assert base_flags(Recipe(), PACKAGE, Spelled()) == base_flags(Recipe(), PACKAGE)


def test_target_then_entries_in_their_order() -> None:
    recipe = Recipe(target="haswell", flags=("points-to", "visibility-hidden", "sections-gc"))
    result = spell(recipe, GCC, HASWELL, "variant v")
    assert result.c == ("-march=haswell", "-fipa-pta", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections")
    assert result.cxx[2:4] == ("-fvisibility=hidden", "-fvisibility-inlines-hidden")
    assert result.link == ("-Wl,--gc-sections",)


def test_each_family_has_its_spelling() -> None:
    recipe = Recipe(flags=("no-vectorisation",))
    assert spell(recipe, GCC, HASWELL, "v").c == ("-fno-tree-vectorize",)
    assert spell(recipe, CLANG, HASWELL, "v").c == ("-fno-vectorize", "-fno-slp-vectorize")


def test_an_entry_for_the_level_is_the_level() -> None:
    result = spell(Recipe(flags=("Ofast",)), CLANG, HASWELL, "v")
    assert (result.level, result.c) == ("-O3", ("-ffast-math",))
    made = base_flags(Recipe(flags=("Ofast",), c=("-DMINE",)), PACKAGE, result)
    assert made.level == "-O3"
    assert made.c == ("-O3", "-g", "-fstack-protector-strong", "-DP=1", "-ffast-math", "-DMINE"), "raw flags last"


def test_entries_reach_both_compiles_of_a_profile() -> None:
    for tools in (GCC, CLANG):
        first, final = compiles(chain(Recipe(pgo=True, flags=("hints-off",)), tools=tools))
        hint = flags.flag("hints-off").spellings["gcc"].c[0]
        assert hint in first.flags.c
        assert hint in final.flags.cxx


def test_what_acts_after_the_counters_shares_a_training() -> None:
    plain, late = (chain(Recipe(pgo=True, flags=names)) for names in ((), ("prefetch-loops", "points-to")))
    assert [stage.key for stage in late[:-1]] == [stage.key for stage in plain[:-1]], (
        "one instrumented build, one profile"
    )
    assert late[-1].key != plain[-1].key
    assert "-fprefetch-loop-arrays" in compiles(late)[-1].flags.c
    early = chain(Recipe(pgo=True, flags=("no-strict-aliasing", "prefetch-loops")))
    counted, final = compiles(early)
    assert counted.key != plain[0].key
    assert "-fno-strict-aliasing" in counted.flags.c
    assert "-fprefetch-loop-arrays" not in counted.flags.c
    assert {"-fno-strict-aliasing", "-fprefetch-loop-arrays"} <= set(final.flags.cxx)


def test_samples_are_of_the_very_code_that_ran() -> None:
    sampled = compiles(chain(Recipe(pgo=True, sampled=True, flags=("no-vectorisation",)), tools=CLANG, lbr=True))
    assert all("-fno-vectorize" in stage.flags.c for stage in sampled)


def test_a_name_and_its_spelling_are_the_same_build() -> None:
    named, raw = chain(Recipe(flags=("points-to",))), chain(Recipe(c=("-fipa-pta",), cxx=("-fipa-pta",)))
    assert named[-1].key == raw[-1].key
    assert chain(Recipe(flags=("O3",)))[-1].key == chain(Recipe(level="-O3"))[-1].key
    assert chain(Recipe(flags=("points-to",)))[-1].key != chain(Recipe())[-1].key


def test_a_build_for_this_processor_is_named_by_it() -> None:
    result = spell(Recipe(target="native"), GCC, HASWELL, "v")
    assert result.c == ("-march=native",)
    assert result.host[0] == "some Haswell"
    assert "avx2" in result.host
    assert spell(Recipe(target="native"), GCC, ARM, "v").host != result.host
    assert spell(Recipe(target="haswell"), GCC, HASWELL, "v").host == ()


def test_clang_does_not_warn_of_this_very_processor() -> None:
    """A warning of each file would have configure scripts believe that no flag works."""
    quiet = ("-Wno-unknown-warning-option", "-Wno-invalid-feature-combination")
    assert spell(Recipe(target="native"), CLANG, HASWELL, "v").c == ("-march=native", *quiet)
    assert spell(Recipe(target="haswell"), CLANG, HASWELL, "v").c == ("-march=haswell",)


@pytest.mark.parametrize(
    ("recipe", "tools", "processor", "says"),
    [
        (Recipe(flags=("pont-to",)), GCC, HASWELL, "unknown flag 'pont-to' (did you mean 'points-to'?)"),
        (
            Recipe(flags=("points-to",)),
            CLANG,
            HASWELL,
            "flag 'points-to' is not for clang-19: its points-to analysis across functions was taken out of LLVM",
        ),
        (
            Recipe(flags=("fortify-3",)),
            replace(GCC, name="gcc-11", release="11.1.0"),
            HASWELL,
            "flag 'fortify-3' needs gcc-12 or newer, found gcc-11",
        ),
        (Recipe(flags=("cet",)), GCC, ARM, "flag 'cet' is for x86_64, this host is aarch64"),
        (Recipe(target="neoverse-n1"), GCC, HASWELL, "target 'neoverse-n1' is for aarch64, this host is x86_64"),
        (Recipe(target="znver5"), GCC, HASWELL, "target 'znver5' needs gcc-14 or newer, found gcc-12"),
        (
            Recipe(target="x86-64-v4"),
            GCC,
            HASWELL,
            "target 'x86-64-v4': this host (some Haswell) lacks avx512bw avx512cd avx512dq avx512f avx512vl: a server",
        ),
        (Recipe(flags=("O2", "O3")), GCC, HASWELL, "flag 'O3' contradicts 'O2'"),
        (
            Recipe(flags=("identical-code-folding",), linker="bfd"),
            CLANG,
            HASWELL,
            "linker = 'bfd' contradicts a flag that needs lld; leave one out",
        ),
    ],
)
def test_what_cannot_be_is_one_line_before_any_build(
    recipe: Recipe, tools: object, processor: Processor, says: str
) -> None:
    with pytest.raises(UserError) as caught:
        spell(recipe, tools, processor, "variant v")  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"variant v: {says}")
    assert "\n" not in str(caught.value)
    elsewhere = any(word in says for word in ("or newer", "this host"))
    assert isinstance(caught.value, UnavailableError) is elsewhere, "what another host could do leaves out one variant"


def test_lld_for_an_entry_that_needs_it() -> None:
    with pytest.raises(UserError, match=r"variant v: clang-19: .*lld-19"):
        chain(Recipe(flags=("identical-code-folding",)), tools=replace(CLANG, linker=None))


def test_every_variant_of_the_catalogue_can_be_said() -> None:
    """On a processor that has everything, with the toolchain that it asks for."""
    everything = Processor("x86_64", "dream", frozenset().union(*(target.needs for target in flags.targets().values())))
    for variant in load.variants().values():
        tools = CLANG if variant.recipe.toolchain == "clang" else GCC
        recipe, _ = fitted(variant.recipe, tools, everything, lambda *_: True)
        spell(recipe, tools, everything, variant.name)


def test_processors_as_linux_describes_them() -> None:
    x86 = read_processor(
        "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu sse2 avx2\n\nprocessor\t: 1\n", "x86_64"
    )
    assert x86 == Processor("x86_64", "AMD EPYC", frozenset({"fpu", "sse2", "avx2"}))
    arm = read_processor("Features\t: fp asimd atomics\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "aarch64")
    assert arm == Processor("aarch64", "0x41/0xd0c", frozenset({"fp", "asimd", "atomics"}))
    assert flags.target("x86-64").runs_on(x86)
    assert not flags.target("armv8-a").runs_on(x86)
