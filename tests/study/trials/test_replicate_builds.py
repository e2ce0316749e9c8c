"""Replicates: what is built, what of it is measured, and how starts take them in turn."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from burnish.base.errors import InfrastructureError
from burnish.bench.pairs import Contestant
from burnish.model.cell import AA, CellId
from burnish.model.condition import Condition
from burnish.model.recipe import Recipe, Variant
from burnish.program.built import Built
from burnish.record.events.trials import StartDone
from burnish.statistics.replicates import by_replicate
from burnish.study.builds.make import Made
from burnish.study.trials.replicates import Factors, expand, fresh, gathered, program
from burnish.study.trials.superseded import superseded
from burnish.study.trials.trials import Trials
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


def test_all_replicates_together_are_the_program_of_a_sides_starts() -> None:
    def builds(*programs: str) -> dict[str, tuple[Built, ...]]:
        return {"x": tuple(Built("x#", Path(), Path(), "key", program=each) for each in programs)}

    single = Built("x", Path(), Path(), "key", program="single")
    assert program({}, "x", single) == "single"
    of_gcc_12 = program(builds("a", "b", "c"), "x", single)
    assert of_gcc_12
    assert of_gcc_12 == program(builds("a", "b", "c"), "x", single)
    assert of_gcc_12 not in {program(builds(*each), "x", single) for each in ("abd", "acb", "ab")}
    assert program(builds("a", "", "c"), "x", single) == "", "one is not known"


def test_starts_of_another_compiler_are_not_pooled_with_later_ones(tmp_path: Path) -> None:
    """A run with replicates is interrupted, the compiler is upgraded, and the same command goes on."""

    def trials(compiler: str) -> Trials:
        builds = {
            label: tuple(
                Built(f"{label}#{number}", Path(), Path(), "key", program=f"{label}#{number} by {compiler}")
                for number in (1, 2, 3)
            )
            for label in ("baseline", "one")
        }
        base, one = (Contestant(label, builds[label][0], Condition()) for label in builds)
        nothing = cast("Any", None)
        return Trials(
            nothing, nothing, nothing, base, {"one": one}, {}, [], {}, tmp_path, 1, replicates=builds
        )  # fmt: skip

    def start(number: int, compiler: str, candidate: str) -> StartDone:
        cell = CellId(candidate, "w")
        found = trials(compiler)._programs(cast("Any", SimpleNamespace(id=cell, label=candidate)))
        assert found is not None
        return StartDone(cell, number, None, True, 1.0, "data", {"capacity": 0.1}, programs=found)

    for candidate in ("one", AA):
        starts = [start(number, "gcc 12" if number < 4 else "gcc 14", candidate) for number in range(1, 7)]
        assert superseded(starts) == {(CellId(candidate, "w"), number): (True, True) for number in (1, 2, 3)}
        assert superseded(starts[3:]) == {}
