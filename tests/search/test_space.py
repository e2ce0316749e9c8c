"""Spaces as data: size, what is allowed, what is near; the catalogue's own."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import cast

import pytest

from burnish.base.errors import UserError
from burnish.builds.stages import BOLT_OPTIONS
from burnish.catalogue import load
from burnish.catalogue.bundled.overlays import overlaid
from burnish.catalogue.flags import flag
from burnish.catalogue.space import MARKS, read_space, space_file
from burnish.model.family import Family
from burnish.model.recipe import Recipe
from burnish.model.workload import OWN_TESTS
from burnish.search.space import Choice, Forbidden, Point, Space, Step
from burnish.toolchain.linking import neutral
from burnish.toolchain.spelling import counting
from burnish.toolchain.toolchains import Toolchain

BOLT = Space(
    (
        Choice("compiler", ("gcc", "clang"), marks={"clang": ("narrows portability",)}),
        Choice("lto", ("none", "thin", "full")),
        Choice("bolt", ("no", "yes"), Step.RELINK),
        Choice("order", ("hfsort", "cdsort"), Step.REWRITE),
        Choice("split", ("two", "three"), Step.REWRITE),
        Choice("alone", ("off", "on")),
    ),
    (
        Forbidden({"lto": ("thin",), "compiler": ("gcc",)}, "ThinLTO is clang's"),
        Forbidden({"order": ("cdsort",), "bolt": ("no",)}, "an option of BOLT"),
        Forbidden({"split": ("three",), "order": ("hfsort",)}, "needs the other order"),
    ),
    {"best": Point((("compiler", "clang"), ("lto", "thin"), ("bolt", "yes")))},
)


def counted(space: Space) -> int:
    """The size, by looking at every point."""
    levels = [[(choice.name, level) for level in choice.levels] for choice in space.choices]
    return sum(space.broken(space.point(dict(each))) is None for each in product(*levels))


def test_the_size_is_that_of_all_allowed_points() -> None:
    assert BOLT.size == counted(BOLT) == 5 * 4 * 2


def test_a_change_takes_back_what_it_does_not_go_with() -> None:
    split = BOLT.point({"bolt": "yes", "order": "cdsort", "split": "three"})
    assert BOLT.changed(split, {"bolt": "no"}) == Point(), "both options need it, one through the other"
    assert BOLT.changed(Point(), {"order": "cdsort"}) == Point(), "the option gives way: only BOLT's absence forbids it"
    thin = BOLT.rungs["best"]
    assert BOLT.changed(thin, {"compiler": "gcc"}).settings == (("bolt", "yes"),)


def test_the_dearest_of_changed_steps_counts() -> None:
    best = BOLT.rungs["best"]
    assert BOLT.step(best, BOLT.changed(best, {"order": "cdsort"})) is Step.REWRITE
    assert BOLT.step(best, Point()) is Step.COMPILE
    assert BOLT.step(best, best) is None


def test_marks_are_left_out_with_what_needs_them_unless_allowed() -> None:
    kept = BOLT.unmarked(())
    assert kept.left_out == {"compiler=clang": "narrows portability"}
    assert not kept.rungs
    assert "compiler" not in {choice.name for choice in kept.choices}
    assert kept.size == counted(kept) == 2 * 4 * 2, "without clang there is no ThinLTO"
    assert BOLT.unmarked(["narrows portability"]).size == BOLT.size


def test_rules_name_levels_that_exist() -> None:
    with pytest.raises(UserError, match=r"there is no bolt=maybe; levels of bolt are no, yes"):
        Space(BOLT.choices, (Forbidden({"bolt": ("maybe",)}),))
    with pytest.raises(UserError, match=r"the baseline is forbidden by its own rule: nothing"):
        Space(BOLT.choices, (Forbidden({"bolt": ("no",)}, "nothing"),))


# --- The catalogue's own ---


def test_known_good_builds_are_the_ladders_own_variants() -> None:
    file = space_file()
    assert file.space.rungs
    for name, point in file.space.rungs.items():
        assert file.recipe(point) == load.variant(name).recipe


def test_options_of_bolt_replace_those_of_the_same_name() -> None:
    file = space_file()
    assert file.bolt_defaults == BOLT_OPTIONS
    point = file.space.changed(file.space.rungs["clang-pgo-thinlto-bolt"], {"bolt-functions": "cdsort"})
    options = file.recipe(point).bolt_options
    assert "-reorder-functions=cdsort" in options
    assert "-reorder-functions=hfsort" not in options
    assert len(options) == len(BOLT_OPTIONS)


def test_every_level_can_be_tried_somewhere_and_makes_a_recipe() -> None:
    file = space_file()
    for choice in file.space.choices:
        for level in choice.levels[1:]:
            known = [*file.space.rungs.values(), Point()]
            near = [file.space.changed(point, {choice.name: level}) for point in known]
            assert any((choice.name, level) in point.settings for point in near), (choice.name, level)
            assert file.recipe(file.space.point({choice.name: level})) != load.variant("baseline").recipe


def test_virtual_calls_are_a_matter_of_servers_in_cxx() -> None:
    for engine, cxx in {"mariadb": True, "mysql": True, "postgresql": False, "sqlite": False}.items():
        names = {choice.name for choice in space_file().for_engine(load.engine(engine)).choices}
        assert ({"classes", "virtual-calls"} <= names) is cxx, engine
        assert ({"classes", "virtual-calls"} & names == set()) is not cxx, engine


def test_a_choice_may_be_for_some_engines() -> None:
    reason = "A choice of a test, long enough to be a reason."
    common = {
        "reason": reason,
        "step": "compile",
        "expected": 1.0,
        "levels": {"no": {}, "yes": {"flags": ["unique-names"]}},
    }
    own = read_space(
        {"choice": {"all": common, "some": common | {"engines": ["sqlite"]}, "classes": common | {"language": "C++"}}},
        "own.toml",
    )
    found = {name: [one.name for one in own.for_engine(load.engine(name)).choices] for name in ("sqlite", "mysql")}
    assert found == {"sqlite": ["all", "some"], "mysql": ["all", "classes"]}


def test_weaker_security_is_tried_only_where_a_user_allows_it() -> None:
    file = space_file()
    assert file.for_engine(load.engine("mariadb")).left_out["hardening=off"] == "weakens security"
    allowed = file.for_engine(load.engine("mariadb"), MARKS)
    assert not allowed.left_out
    assert file.variant(allowed.point({"hardening": "off"}), "bare").marks.weakens_security


def test_a_flag_brings_what_its_own_entry_says() -> None:
    found = read_space(
        {
            "bolt_defaults": [],
            "choice": {
                "compiler": entry(gcc={}, clang={"toolchain": "clang"}),
                "profile": entry(none={}, trained={"pgo": True}),
                "gcse": entry(on={}, off={"flags": ["no-gcse"]}),
            },
        },
        "mine.toml",
    )
    (rule,) = found.space.forbidden
    assert rule.together == {"gcse": ("off",), "compiler": ("clang",)}


def test_flags_that_contradict_each_other_are_not_tried_together() -> None:
    space = space_file().space
    fine = dict(space.rungs["clang-pgo-thinlto"].settings) | {"inline-threshold": "highest"}
    assert space.broken(space.point(fine)) is None
    rule = space.broken(space.point(fine | {"inlining": "generous"}))
    assert rule is not None
    assert "one inlining at a time" in rule.reason


@pytest.mark.parametrize("family", ["gcc", "clang"])
def test_a_step_is_what_must_be_made_again(family: Family) -> None:
    """A cheaper step than `compile` is only right where the instrumented build stays as it is, and its training."""
    file = space_file()
    base = Recipe(toolchain=family, pgo=True, lto="thin" if family == "clang" else "none")
    toolchain = cast("Toolchain", SimpleNamespace(family=family))

    def instrumented(recipe: Recipe) -> Recipe:
        early = replace(recipe, training=(), bolt=False, bolt_options=(), partial_training=False)
        return counting(neutral(early), toolchain)

    for choice in file.space.choices:
        for level in choice.levels[1:]:
            recipe = overlaid(base, file.overlays[choice.name, level], choice.name)
            if any(family in flag(name).absent for name in recipe.flags):
                continue
            where = f"{choice.name}={level}"
            if choice.step < Step.COMPILE:
                assert instrumented(recipe) == instrumented(base), where
            if choice.step < Step.TRAIN:
                assert recipe.training == base.training, where
            if choice.step is Step.TRAIN:
                assert recipe.training != base.training, where
            if choice.step < Step.OPTIMISE:
                assert (recipe.lto, recipe.partial_training) == (base.lto, base.partial_training), where
                assert not any(flag(name).spellings[family].c for name in recipe.flags), where
            if choice.step is Step.REWRITE:
                assert recipe == replace(base, bolt_options=recipe.bolt_options), where


# --- Training ---


def test_training_is_on_the_loads_that_are_searched_for_by_their_weights() -> None:
    mariadb = load.engine("mariadb")
    file = space_file().trained_on(mariadb, {"mine.lua#ab12@own": 3.0, "oltp_insert": 1.0})
    pgo = file.space.rungs["clang-pgo-thinlto"]

    def trained(level: str) -> dict[str, float]:
        return dict(file.recipe(file.space.changed(pgo, {"training": level})).training)

    assert trained("measured") == {"mine.lua#ab12@own": 0.75, "oltp_insert": 0.25}
    assert trained("own-tests") == {OWN_TESTS: 1.0}
    broad = trained("broad")
    assert broad.keys() == {"mine.lua#ab12@own", "oltp_insert", *(name for name, _ in mariadb.training)}
    assert broad["mine.lua#ab12@own"] == pytest.approx(0.375)
    assert sum(trained("measured-and-tests").values()) == pytest.approx(1.0, abs=0.002)


def test_trainings_that_are_the_same_are_tried_once() -> None:
    fake = replace(load.engine("fake"), gate_tests=())
    levels = {choice.name: choice.levels for choice in space_file().trained_on(fake, {"fake_mix": 1.0}).space.choices}
    assert "training" not in levels, "its one load is what it trains on anyway, and it has no tests"
    both = space_file().trained_on(load.engine("sqlite"), dict(load.engine("sqlite").training))
    assert "measured" not in both.space.choice("training").levels
    assert "broad" not in both.space.choice("training").levels


def entry(**levels: object) -> dict[str, object]:
    return {"reason": "a reason that is long enough", "step": "compile", "expected": 1.0, "levels": levels}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": "link"}, r"mine.toml: choice.x.step: input should be 'compile', 'train', 'optimise'"),
        ({"reason": ""}, r"mine.toml: choice.x.reason"),
        ({"levels": {"a": {"pgo": True}, "b": {}}}, r"x: the first level is the usual one and changes nothing"),
    ],
)
def test_entries_that_are_wrong(change: dict[str, object], message: str) -> None:
    choices = {
        "compiler": entry(gcc={}, clang={"toolchain": "clang"}),
        "profile": entry(none={}, trained={"pgo": True}),
    }
    with pytest.raises(UserError, match=message):
        read_space({"choice": {**choices, "x": {**entry(a={}, b={}), **change}}}, "mine.toml")


def test_a_file_of_ones_own_needs_choices_and_nothing_else() -> None:
    with pytest.raises(UserError, match=r"mine.toml: the space is empty: it has no \[choice.NAME\]"):
        read_space({}, "mine.toml")
    plt = entry(all={}, hot={"bolt_options": ["-plt=hot"]})
    mine = read_space({"choice": {"bolt": entry(no={}, yes={"bolt": True}), "plt": plt}}, "mine.toml")
    options = mine.recipe(mine.space.point({"bolt": "yes", "plt": "hot"})).bolt_options
    assert options == (*space_file().bolt_defaults, "-plt=hot"), "BOLT's usual options need not be repeated"
