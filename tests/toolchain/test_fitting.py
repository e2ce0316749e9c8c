"""What a compiler, a BOLT or a machine lacks is replaced by what the catalogue says, and a line says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.base.errors import UserError
from burnish.base.processor import Processor
from burnish.builds.stages import Bolt
from burnish.catalogue import load
from burnish.catalogue.bolt import bolt_options
from burnish.catalogue.flags import Spelling, flag
from burnish.model.recipe import Recipe
from burnish.toolchain import fitting
from burnish.toolchain.bolt_options import binds, fitted, known_options
from burnish.toolchain.spelling import spell
from burnish.toolchain.toolchains import Toolchain
from chains import CLANG, GCC, PACKAGE, chain, compiles

X86 = Processor("x86_64", "some processor", frozenset())
ARM = Processor("aarch64", "0x41/0xd0c", frozenset())

OLD = """
  --icf                             - fold functions with identical code
  --plt=<value>                     - optimize PLT calls
    =none                           -   do not optimize PLT calls
    =hot                            -   optimize executed (hot) PLT calls
  --reorder-functions=<value>       - reorder and cluster functions
    =hfsort                         -   use hfsort algorithm
  --split-strategy=<value>          - strategy used to partition blocks
    =cdsplit                        -   split each function into three
"""
"""Help of a BOLT whose -icf is a switch and that knows no cdsort."""


def yes(_toolchain: Toolchain, _spelling: Spelling) -> bool:
    return True


def no(_toolchain: Toolchain, spelling: Spelling) -> bool:
    return not any("threshold=2500" in word for word in spelling.c)


def test_bolts_options_fall_back_one_by_one() -> None:
    asked = ("-reorder-functions=cdsort", "-icf=safe", "-split-strategy=cdsplit", "-plt=hot", "-own")
    taken, notes = fitted(asked, known_options(OLD), "x86_64", bound=True)
    assert taken == ("-reorder-functions=hfsort", "-icf=1", "-split-strategy=cdsplit", "-plt=hot", "-own")
    assert notes == (
        "BOLT: -reorder-functions=cdsort: not in this BOLT; -reorder-functions=hfsort is taken",
        "BOLT: -icf=safe: not in this BOLT; -icf=1 is taken",
    )
    taken, notes = fitted(asked, known_options(OLD), "aarch64", bound=False)
    assert "-split-strategy=cdsplit" not in taken
    assert "-plt=hot" not in taken
    assert any("for x86_64, this host is aarch64; left out" in note for note in notes)
    assert any("needs a link with -z now" in note for note in notes)


@pytest.mark.parametrize(
    ("link", "bound"),
    [
        ((), False),
        (("-Wl,-z,now",), True),
        (("-Wl,-z,now", "-Wl,-z,lazy"), False),
        (("-Wl,-z,lazy", "-Wl,-z,now"), True),
    ],
)
def test_the_last_flag_of_the_link_decides_when_calls_are_bound(link: tuple[str, ...], bound: bool) -> None:
    assert binds(link) is bound


def test_every_entry_of_bolts_catalogue_is_used_by_a_variant_of_its_own() -> None:
    used = {option for variant in load.variants().values() for option in variant.recipe.bolt_options}
    assert set(bolt_options()) <= used
    rich = load.variant("clang-pgo-thinlto-bolt-rich").recipe.bolt_options
    assert set(bolt_options()) <= set(rich), "the rich set has all of them"


def test_a_flag_falls_back_and_the_recipe_without_one_stays_as_it_is() -> None:
    plain = Recipe(toolchain="clang", flags=("no-plt",))
    assert fitting.fitted(plain, CLANG, X86, no) == (plain, ())
    asked = Recipe(toolchain="clang", pgo=True, lto="thin", flags=("inline-threshold-2500", "unique-names"))
    assert fitting.fitted(asked, CLANG, X86, yes) == (asked, ())
    recipe, (note,) = fitting.fitted(asked, CLANG, X86, no)
    assert recipe.flags == ("inline-threshold-500", "unique-names")
    assert note == "flag inline-threshold-2500: clang-19 does not have it; inline-threshold-500 is taken"


def test_a_flag_without_a_next_best_is_left_out_and_said() -> None:
    asked = Recipe(toolchain="clang", flags=("speculative-devirtualisation",))
    recipe, (note,) = fitting.fitted(asked, CLANG, X86, yes)
    assert recipe.flags == ()
    assert note.endswith("needs clang-22 or newer, found clang-19; left out")
    assert fitting.fitted(replace(asked, toolchain="gcc"), GCC, X86, yes)[1] == (), "spell refuses it"
    recipe, (note,) = fitting.fitted(Recipe(flags=("inline-threshold-500",)), GCC, X86, yes)
    assert recipe.flags == ("inline-generously",)
    assert "counts instructions" in note


def test_what_a_link_with_lto_is_about_is_told_to_lld() -> None:
    link = ("-fuse-ld=lld",)
    thin = Recipe(pgo=True, lto="thin", flags=("inline-threshold-500",), link=link)
    assert "-Wl,-mllvm,-inline-threshold=500" in spell(thin, CLANG, X86, "v").link
    assert spell(replace(thin, lto="none"), CLANG, X86, "v").link == ()
    with pytest.raises(UserError, match="add -fuse-ld=lld"):
        spell(replace(thin, link=()), CLANG, X86, "v")
    with pytest.raises(UserError, match="only with link-time optimisation"):
        spell(Recipe(flags=("import-limit-200",)), CLANG, X86, "v")


def test_what_is_counted_is_said_while_training_alone() -> None:
    tools = replace(CLANG, linker=CLANG.cc)
    usual = Recipe(toolchain="clang", pgo=True, lto="thin", link=("-fuse-ld=lld",))
    word = flag("value-counters-6").spellings["clang"].counting[-1]
    counted, final = compiles(chain(replace(usual, flags=("value-counters-6",)), tools=tools))
    assert word in counted.flags.cxx
    assert word not in final.flags.cxx
    plain, late = (chain(replace(usual, flags=names), tools=tools) for names in ((), ("inline-threshold-500",)))
    assert [stage.key for stage in plain[:-1]] == [stage.key for stage in late[:-1]], "one training"
    assert plain[-1].key != late[-1].key


def test_new_options_change_no_name_of_a_build() -> None:
    """Keys of builds as they were before any of these options existed: users' stores go on."""
    plain = chain(Recipe(toolchain="clang", pgo=True, lto="thin", bolt=True, link=("-fuse-ld=lld",)), tools=CLANG)
    assert plain[-1].key == "759e35ffe62a8a98"
    assert isinstance(plain[-1], Bolt)
    assert PACKAGE.link == ("-Wl,-z,relro",)
