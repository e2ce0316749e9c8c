"""Which of the gate's tests a build is asked: all, but for those of what its own options take out of the server."""

from __future__ import annotations

import pytest
from test_plan import GCC, PACKAGE, variant

from burnish.build.recipes import Stage, stages
from burnish.catalogue import load
from burnish.run.making import asked_of, gate_key, untested_by
from burnish.study.model import Recipe

SPEC = load.engine("mariadb")


def chain(recipe: Recipe) -> tuple[Stage, ...]:
    return stages(
        variant("v", recipe),
        spec=SPEC,
        source="source",
        toolchain=GCC,
        package=PACKAGE,
        features=SPEC.default_features,
        with_tools=False,
        bolt=None,
        profile_place="/work/p.profdata",
    )


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(options=(("WITH_EXTRA_CHARSETS", "none"),)),
        Recipe(options=(("WITH_EXTRA_CHARSETS", "none"),), strip="all"),
    ],
)
def test_tests_of_what_an_option_takes_out_are_not_asked_for(recipe: Recipe) -> None:
    fewer, usual = chain(recipe), chain(Recipe())
    (found,) = untested_by(SPEC, fewer)
    assert found.option == "WITH_EXTRA_CHARSETS=none"
    assert "main.ps" in found.tests
    assert set(asked_of(SPEC, fewer)) == set(SPEC.gate_tests) - set(found.tests)
    assert asked_of(SPEC, usual) == SPEC.gate_tests, "every other build is asked everything"
    assert untested_by(SPEC, usual) == []
    assert gate_key(SPEC, fewer) != gate_key(SPEC, usual)


def test_another_value_of_the_option_is_asked_everything() -> None:
    assert asked_of(SPEC, chain(Recipe(options=(("WITH_EXTRA_CHARSETS", "complex"),)))) == SPEC.gate_tests
