"""Which of the gate's tests a build is asked: all, but for those of what its own options take out of the server."""

from __future__ import annotations

import pytest
from test_plan import chain

from burnish.catalogue import load
from burnish.model.recipe import Recipe
from burnish.study.builds.resolving import asked_of, gate_key, untested_by

SPEC = load.engine("mariadb")


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(options=(("WITH_EXTRA_CHARSETS", "none"),)),
        Recipe(options=(("WITH_EXTRA_CHARSETS", "none"),), strip="all"),
    ],
)
def test_tests_of_what_an_option_takes_out_are_not_asked_for(recipe: Recipe) -> None:
    fewer, usual = chain("v", recipe, SPEC), chain("v", Recipe(), SPEC)
    (found,) = untested_by(SPEC, fewer)
    assert found.option == "WITH_EXTRA_CHARSETS=none"
    assert "main.ps" in found.tests
    assert set(asked_of(SPEC, fewer)) == set(SPEC.gate_tests) - set(found.tests)
    assert asked_of(SPEC, usual) == SPEC.gate_tests, "every other build is asked everything"
    assert untested_by(SPEC, usual) == []
    assert gate_key(SPEC, fewer) != gate_key(SPEC, usual)


def test_another_value_of_the_option_is_asked_everything() -> None:
    recipe = Recipe(options=(("WITH_EXTRA_CHARSETS", "complex"),))
    assert asked_of(SPEC, chain("v", recipe, SPEC)) == SPEC.gate_tests
