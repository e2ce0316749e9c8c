"""Cells and comparisons that a study plans today are those that a record of format 1 names: such a study is resumed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from burnish.catalogue import load
from burnish.catalogue.bundled import files as studies
from burnish.model.cell import CellId, ComparisonId, Role
from burnish.model.workload import Design
from burnish.record.codec import value_of
from burnish.record.upgrade import cell_fields, comparison_fields
from burnish.study.bundled.expansion import expand
from burnish.study.comparison import Comparison
from burnish.study.constructors.calibrate import calibrate_study
from burnish.study.constructors.tune import tune_study
from burnish.study.request.options import Options

PAIRS = [
    (study, engine)
    for study in studies.names()
    for engine in sorted(load.engines())
    if studies.study(study).rows_for(engine)
]


def check(comparisons: Iterable[Comparison], *, bundled: bool = False) -> int:
    """How many cells there are, each of which its name in format 1 says everything of."""
    count = 0
    for comparison in comparisons:
        assert value_of(ComparisonId, comparison_fields(comparison.key)) == comparison.id
        cell = comparison.cell
        if cell is None or cell.id.placement:  # which names in format 1 did not have
            continue
        count += 1
        again = replace(cell.id, role=Role.CONFIRMATION, series=comparison.series if bundled else "")
        release = replace(cell.id, program="0a1b2c3d") if comparison.release else cell.id
        for each in (cell.id, cell.canary.id, release, *([] if cell.id.design else [again])):
            assert value_of(CellId, cell_fields(each.name)) == each
    return count


@pytest.mark.parametrize(("study", "engine"), PAIRS)
def test_of_bundled_studies(study: str, engine: str) -> None:
    comparisons = expand(studies.study(study), load.engine(engine)).comparisons
    placed = [one.cell.id.placement for one in comparisons if one.cell is not None]
    assert check(comparisons, bundled=True) or engine != "mariadb" or (placed and all(placed))


def test_of_the_other_verbs() -> None:
    assert check(tune_study("fake", Options(settings=("x=1",))).comparisons)
    assert check(calibrate_study("fake", list(Design), Options(), twin_cores=True).comparisons)
