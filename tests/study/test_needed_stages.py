"""A build whose profiles are there is not made again, whatever became of the build that wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from burnish.builds.sharing import kept_as
from burnish.model.recipe import Recipe, Variant
from burnish.record.store import Store
from burnish.study.builds.make import Maker
from burnish.study.builds.resolving import Chain
from chains import CLANG
from chains import chain as made_of


@pytest.mark.parametrize(
    ("gone", "made"),
    [
        ({"instrumented", "BOLT instrumentation", "BOLT"}, ["BOLT"]),
        ({"instrumented", "training", "with profile"}, ["instrumented", "training", "with profile"]),
        ({"instrumented", "training"}, []),
        ({"instrumented", "training", "BOLT instrumentation", "BOLT training"}, []),
        ({"instrumented", "with profile"}, ["with profile"]),
    ],
)
def test_what_only_a_training_ran_is_made_for_a_training_alone(
    gone: set[str], made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe(toolchain="clang", pgo=True, bolt=True)
    chain = Chain(Variant("both", recipe, "a reason that is long enough"), made_of(recipe, "both", tools=CLANG))
    store = Store(tmp_path)
    for stage in chain.stages:
        if stage.title not in gone:
            store.begin(kept_as(stage), stage.key)
            store.admit(kept_as(stage), stage.key, {})
    anything = cast(Any, None)
    maker = Maker(anything, anything, store, anything, anything, frozenset(), tmp_path, {}, "1")
    done: list[str] = []
    monkeypatch.setattr(maker, "_make_stage", lambda stage, name: done.append(stage.title))
    monkeypatch.setattr(maker, "_say_late", lambda *_: None)
    maker.make_up_to(chain.stages[-1], chain)
    assert done == made
