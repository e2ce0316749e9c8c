"""How recipes come by their profiles: what is shared, what is merged, and what is refused before any build."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.builds.stages import BOLT_OPTIONS, Bolt, Stage, stages
from burnish.catalogue import load
from burnish.model.recipe import Recipe, Variant
from burnish.profiles.stages import Kept, Merge, ProfileKind, Train, check_kept, check_training
from burnish.toolchain.link_parts import NOTHING, LinkerProgram, Parts
from burnish.toolchain.toolchains import Toolchain
from chains import CLANG, GCC, PACKAGE, compiles

USUAL = (("a", 6.0), ("b", 3.0))
PGO = Recipe(toolchain="clang", pgo=True)
WEIGHTED = replace(PGO, training=(("a", 2.0), ("c", 1.0)))


def made(
    recipe: Recipe,
    tools: Toolchain = CLANG,
    *,
    bolt: Toolchain = CLANG,
    lbr: bool = False,
    kept: Kept | None = None,
    parts: Parts = NOTHING,
) -> tuple[Stage, ...]:
    return stages(
        Variant("v", recipe, "for a test of stages"),
        spec=load.engine("fake"),
        source="source",
        toolchain=tools,
        package=PACKAGE,
        features="full",
        with_tools=False,
        bolt=bolt,
        profile_place="/work/p",
        training=USUAL,
        lbr=lbr,
        kept=kept,
        parts=parts,
    )


def trains(found: tuple[Stage, ...]) -> list[Train]:
    return [stage for stage in found if isinstance(stage, Train)]


def merges(found: tuple[Stage, ...]) -> list[Merge]:
    return [stage for stage in found if isinstance(stage, Merge)]


def test_a_recipe_without_weights_trains_in_one_run_named_as_ever() -> None:
    (train,) = trains(made(PGO))
    assert train.training == USUAL
    assert train.key == digest_of([train.build, USUAL]), "finished profiles of earlier runs stay valid"
    assert not merges(made(PGO))


def test_weights_are_runs_of_equal_length_and_a_merge() -> None:
    found = made(WEIGHTED)
    runs, (merge,) = trains(found), merges(found)
    assert [run.training for run in runs] == [(("a", 6.0),), (("c", 6.0),)]
    assert merge.parts == ((runs[0].key, 2.0), (runs[1].key, 1.0))
    final = compiles(found)[-1]
    assert final.profile == merge.key
    assert {run.build for run in runs} == {trains(made(PGO))[0].build}, "one instrumented build for all trainings"


def test_a_run_is_shared_by_all_recipes_that_train_on_its_workload() -> None:
    other = made(replace(PGO, lto="thin", training=(("c", 5.0), ("b", 1.0))))
    mine = {run.training: run.key for run in trains(made(WEIGHTED))}
    assert mine[(("c", 6.0),)] in {run.key for run in trains(other)}
    assert merges(other)[0].key != merges(made(WEIGHTED))[0].key


def test_one_workload_needs_no_merge_and_no_weight() -> None:
    one, two = (made(replace(PGO, training=(("c", weight),))) for weight in (1.0, 7.0))
    assert not merges(one)
    assert compiles(one)[-1].key == compiles(two)[-1].key


def test_weights_are_in_the_name() -> None:
    other = replace(WEIGHTED, training=(("a", 3.0), ("c", 1.0)))
    assert [run.key for run in trains(made(other))] == [run.key for run in trains(made(WEIGHTED))]
    assert compiles(made(other))[-1].key != compiles(made(WEIGHTED))[-1].key


@pytest.mark.parametrize("recipe", [PGO, WEIGHTED, Recipe(bolt=True)])
def test_a_seed_is_another_profile_of_the_same_instrumented_build(recipe: Recipe) -> None:
    usual, other = made(recipe), made(replace(recipe, training_seed=3))
    assert usual[0].key == other[0].key
    assert not {run.key for run in trains(usual)} & {run.key for run in trains(other)}
    assert usual[-1].key != other[-1].key
    assert {run.seed for run in trains(other)} == {3}


def test_a_second_round_is_trained_on_the_first_ones_build_with_lto() -> None:
    found = made(replace(PGO, context_sensitive=True, lto="thin"))
    first, second, final = compiles(found)
    one, two = trains(found)
    (both,) = merges(found)
    assert [type(stage).__name__ for stage in found] == ["Compile", "Train", "Compile", "Train", "Merge", "Compile"]
    assert "-flto=thin" not in first.flags.c
    assert second.instrumented
    assert second.profile == one.key
    for flag in ("-fprofile-use=/work/p", "-fcs-profile-generate", "-flto=thin"):
        assert flag in second.flags.c
        assert flag in second.flags.link
    assert two.build == second.key
    assert two.context_sensitive
    assert not one.context_sensitive
    assert both.parts == ((one.key, 1.0), (two.key, 1.0))
    assert final.profile == both.key
    assert not any("profile-generate" in flag for flag in (*final.flags.c, *final.flags.link))
    lld = LinkerProgram("lld", Path("/llvm/bin/ld.lld"), "LLD 19")
    usual, twice = (
        made(replace(PGO, context_sensitive=again, lto="thin", linker="lld"), parts=Parts(linker=lld))
        for again in (False, True)
    )
    assert [compiles(chain)[-1].linking.cached for chain in (usual, twice)] == [True, False], (
        "the cache knows no counts"
    )
    plain = made(replace(PGO, lto="thin"))
    assert (first.key, one.key) == (plain[0].key, plain[1].key), "the first round is everybody's"


def test_layouts_share_both_rounds_of_a_profile() -> None:
    """Its script of sections is laid beside the last link alone."""
    recipe = replace(PGO, context_sensitive=True, lto="thin", linker="lld")
    parts = Parts(linker=LinkerProgram("lld", Path("/llvm/bin/ld.lld"), "LLD 19"))
    usual, other = made(recipe, parts=parts), made(replace(recipe, layout=3), parts=parts)
    assert [stage.key for stage in usual[:-1]] == [stage.key for stage in other[:-1]]
    assert usual[-1].key != other[-1].key
    assert any("shuffle-sections" in flag for flag in compiles(other)[-1].flags.link)
    again = compiles(usual)[1]
    assert again.instrumented
    assert "-fuse-ld=lld" in again.flags.link, "no other linker reads ThinLTO's objects with these flags"


def test_partial_training_is_a_flag_of_the_use_alone() -> None:
    usual, partial = made(Recipe(pgo=True), GCC), made(Recipe(pgo=True, partial_training=True), GCC)
    assert [stage.key for stage in usual[:2]] == [stage.key for stage in partial[:2]]
    assert "-fprofile-partial-training" in compiles(partial)[-1].flags.cxx
    assert usual[-1].key != partial[-1].key


@pytest.mark.parametrize(("tools", "use"), [(CLANG, "-fprofile-sample-use=/work/p"), (GCC, "-fauto-profile=/work/p")])
def test_samples_come_from_an_ordinary_build(tools: Toolchain, use: str) -> None:
    recipe = Recipe(toolchain=tools.family, pgo=True, sampled=True)
    found = made(recipe, tools, lbr=True)
    ordinary, final = compiles(found)
    assert not ordinary.instrumented
    assert not any("generate" in flag for flag in ordinary.flags.c)
    assert ordinary.debug is (tools is GCC), "clang's anchors need no debug sections"
    assert trains(found)[0].sampled
    assert use in final.flags.c
    with pytest.raises(UserError, match=r"gives no branch records .* take counters instead"):
        made(recipe, tools, lbr=False)


def test_bolt_samples_where_the_host_can_and_counts_where_not() -> None:
    counted, sampled = made(Recipe(bolt=True), GCC), made(Recipe(bolt=True), GCC, lbr=True)
    assert [type(stage).__name__ for stage in counted] == ["Compile", "Bolt", "Train", "Bolt"]
    assert [type(stage).__name__ for stage in sampled] == ["Compile", "Train", "Bolt"]
    assert trains(sampled)[0].build == sampled[0].key == counted[0].key


def test_bolt_options_change_the_last_step_alone() -> None:
    usual, blocks = (
        made(Recipe(bolt=True, bolt_options=options), GCC) for options in ((), ("-reorder-blocks=ext-tsp",))
    )
    assert [stage.key for stage in usual[:-1]] == [stage.key for stage in blocks[:-1]]
    last, other = usual[-1], blocks[-1]
    assert isinstance(last, Bolt)
    assert isinstance(other, Bolt)
    assert last.options == BOLT_OPTIONS
    assert other.options == ("-reorder-blocks=ext-tsp",)
    assert last.key != other.key


@pytest.mark.parametrize("tools", [GCC, CLANG])
def test_what_another_bolt_makes_is_another_program(tools: Toolchain) -> None:
    newer = replace(tools, bolt_version="LLVM version 23.1.0")
    usual, other = (made(Recipe(bolt=True), tools, bolt=bolt) for bolt in (tools, newer))
    assert usual[0].key == other[0].key
    assert not {stage.key for stage in usual[1:]} & {stage.key for stage in other[1:]}


@pytest.mark.parametrize(
    ("recipe", "tools", "says"),
    [
        (Recipe(context_sensitive=True), CLANG, "context_sensitive = true says how .* it needs pgo = true"),
        (Recipe(partial_training=True), GCC, "partial_training = true .* needs pgo = true"),
        (Recipe(sampled=True), GCC, "sampled = true .* needs pgo = true"),
        (Recipe(training=(("a", 1.0),)), GCC, "training does nothing without pgo = true or bolt = true"),
        (Recipe(training_seed=1), GCC, "training_seed does nothing without"),
        (Recipe(profile="p"), GCC, "profile does nothing without"),
        (Recipe(bolt_options=("-icf=1",)), GCC, "bolt_options do nothing without bolt = true"),
        (Recipe(pgo=True, context_sensitive=True), GCC, "context_sensitive needs clang, found gcc-12"),
        (Recipe(pgo=True, partial_training=True), CLANG, "partial_training is gcc's .* found clang-19"),
        (Recipe(pgo=True, sampled=True, context_sensitive=True), CLANG, "take one of them"),
        (Recipe(pgo=True, training=(("a", 0.0),)), GCC, "weight of a is 0; give a number above 0"),
        (Recipe(pgo=True, training=(("a", float("nan")),)), GCC, "weight of a is nan"),
        (Recipe(pgo=True, training=(("a", 1.0), ("a", 2.0))), GCC, "names a workload twice"),
        (Recipe(pgo=True, profile="p", training=(("a", 1.0),)), GCC, "profile = 'p' is used instead .* leave training"),
        (Recipe(pgo=True, profile="p", training_seed=2), GCC, "leave training_seed out"),
        (Recipe(pgo=True, bolt=True, profile="p", context_sensitive=True), CLANG, "leave context_sensitive out"),
    ],
)
def test_contradictions_are_one_line(recipe: Recipe, tools: Toolchain, says: str) -> None:
    with pytest.raises(UserError, match=says) as caught:
        check_training(Variant("v", recipe, "a reason"), tools, lbr=True)
    assert str(caught.value).startswith("variant v: ")
    assert "\n" not in str(caught.value)


def test_a_kept_profile_is_used_instead_of_training_one() -> None:
    found = made(replace(PGO, profile="mine"), kept=kept())
    (final,) = compiles(found)
    assert found == (final,)
    assert final.profile == "key"
    assert "-fprofile-use=/work/p" in final.flags.c


def test_a_kept_compiler_profile_leaves_bolt_its_own_training() -> None:
    found = made(replace(PGO, profile="mine", bolt=True, training=(("a", 1.0),)), kept=kept())
    assert [type(stage).__name__ for stage in found] == ["Compile", "Bolt", "Train", "Bolt"]
    mine = made(replace(PGO, bolt=True, profile="mine"), kept=kept(kind="bolt"))
    assert [type(stage).__name__ for stage in mine] == ["Compile", "Train", "Compile", "Bolt"]


def kept(
    kind: ProfileKind = "clang", engine: str = "fake", source: str | None = "source", toolchain: str | None = "clang-19"
) -> Kept:
    return Kept("mine", "key", engine, kind, source, toolchain)


@pytest.mark.parametrize(
    ("profile", "recipe", "tools", "says"),
    [
        (kept(engine="sqlite"), PGO, CLANG, "belongs to sqlite, this is fake"),
        (kept("gcc", toolchain="gcc-12"), PGO, CLANG, "of kind gcc, the recipe .clang-19. uses clang;"),
        (kept(), Recipe(pgo=True), GCC, "of kind clang, the recipe .gcc-12. uses gcc;"),
        (kept("bolt"), PGO, CLANG, "of kind bolt"),
        (kept(), replace(PGO, sampled=True), CLANG, "uses clang-samples;"),
        (kept("gcc", toolchain="gcc-13"), Recipe(pgo=True), GCC, "trained with gcc-13, found gcc-12"),
        (kept(toolchain="clang-22"), PGO, CLANG, "trained with clang-22; clang-19 cannot read a newer format"),
    ],
)
def test_a_profile_that_does_not_belong_is_refused_in_planning(
    profile: Kept, recipe: Recipe, tools: Toolchain, says: str
) -> None:
    with pytest.raises(UserError, match=says) as caught:
        made(replace(recipe, profile="mine"), tools, kept=profile)
    assert str(caught.value).startswith("variant v: profile mine ")


@pytest.mark.parametrize(
    "profile", [kept(), kept(source=None, toolchain=None), kept(toolchain="clang-17"), kept(source="an older one")]
)
def test_a_profile_that_belongs_or_says_nothing_against_it_is_taken(profile: Kept) -> None:
    check_kept(Variant("v", PGO, "a reason"), profile, CLANG, engine="fake")
