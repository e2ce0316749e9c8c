"""Replicates: what is built, what of it is measured, and how starts take them in turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import InfrastructureError
from burnish.model.condition import Condition
from burnish.model.recipe import Recipe, Variant
from burnish.program.built import Built
from burnish.statistics.replicates import by_replicate
from burnish.study.builds.make import Made
from burnish.study.trials.replicates import Factors, expand, fresh, gathered
from burnish.study.workshop.launching import HUGE_HEAP, all_launched

BASELINE = Variant("baseline", Recipe(), "as shipped")
PROFILED = Variant("gcc-pgo", Recipe(pgo=True), "with a profile")


def made(variant: Variant, failure: str | None = None) -> Made:
    built = None if failure else Built(variant.name, Path("/x"), Path("/x/server"), variant.name)
    return Made(variant, built=built, failure=failure, notes=["a note"])


def test_without_a_factor_nothing_changes() -> None:
    assert expand([BASELINE, PROFILED], Factors()) == [BASELINE, PROFILED]
    only = made(PROFILED)
    assert gathered(PROFILED, [only], baseline=False) == (only, ())


def test_each_replicate_has_a_layout_and_a_training_of_its_own() -> None:
    every = expand([BASELINE, PROFILED], Factors(layouts=3, trainings=3))
    assert [variant.name for variant in every[:3]] == ["baseline#1", "baseline#2", "baseline#3"]
    assert [variant.recipe.layout for variant in every] == [1, 2, 3, 1, 2, 3]
    assert [variant.recipe.training_seed for variant in every] == [0, 0, 0, 1, 2, 3], "the baseline has no training"


def test_a_factor_with_fewer_levels_goes_round() -> None:
    every = expand([PROFILED], Factors(layouts=4, trainings=2))
    assert [(v.recipe.layout, v.recipe.training_seed) for v in every] == [(1, 1), (2, 2), (3, 1), (4, 2)]


def test_a_variant_with_a_failing_replicate_is_not_measured() -> None:
    factors = Factors(layouts=3)
    every = expand([BASELINE, PROFILED], factors)
    results = [made(variant, "failed its gate" if variant.name == "gcc-pgo#2" else None) for variant in every]
    base, builds = gathered(BASELINE, results[:3], baseline=True)
    assert [built.name for built in builds] == ["baseline#1", "baseline#2", "baseline#3"]
    assert base.built is builds[0]
    assert base.notes == ["a note"]
    profiled, none = gathered(PROFILED, results[3:], baseline=False)
    assert profiled.built is None
    assert profiled.failure == "gcc-pgo#2: failed its gate"
    assert none == ()

    results[1] = made(every[1], "failed its gate")
    with pytest.raises(InfrastructureError, match="baseline#2: failed its gate"):
        gathered(BASELINE, results[:3], baseline=True)


def test_each_is_launched_as_its_side_is() -> None:
    """Without this every start ran on the usual malloc, and its record had the one that was asked for."""
    builds = {name: tuple(Built(f"{name}#{number}", Path(), Path(), name) for number in (1, 2)) for name in "xy"}
    found = all_launched(builds, {"x": Condition(heap_pages="huge"), "y": Condition()})
    assert [dict(built.environment) for built in found["x"]] == [{"GLIBC_TUNABLES": HUGE_HEAP}] * 2
    assert found["y"] == builds["y"]


def test_starts_take_the_replicates_in_turn() -> None:
    builds = {"x": tuple(Built(name, Path(), Path(), name) for name in "abc")}
    assert [built.name for start in range(5) if (built := fresh(builds, "x", start))] == list("abcab")
    assert fresh(builds, "y", 0) is None
    assert by_replicate([0.1, 0.2, 0.3, 0.4, 0.5], 3) == [[0.1, 0.4], [0.2, 0.5], [0.3]]
    assert by_replicate([0.1], 3) == [[0.1]]
