"""On which engines a bundled study can be run."""

from __future__ import annotations

import pytest

from burnish.catalogue import load
from burnish.catalogue.bundled import files
from burnish.study.bundled.expansion import engines_of, expand


@pytest.mark.parametrize("name", ["mysql-manual", "arm-2020", "train-robust"])
def test_engines_with_a_comparison_that_can_be_measured_are_named(name: str) -> None:
    study = files.study(name)
    able = {
        engine
        for engine in load.engine_names()
        if any(one.reason is None and not one.control for one in expand(study, load.engine(engine)).comparisons)
    }
    first, *others = engines_of(study)
    assert first == study.engine
    assert {first, *others} == able | {study.engine}
    assert "fake" not in others


def test_a_study_whose_loads_an_engine_has_not_is_not_offered_for_it() -> None:
    assert "mysql" in engines_of(files.study("percona-2026"))
    assert "sqlite" not in engines_of(files.study("percona-2026"))
