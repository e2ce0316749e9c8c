"""Small differences of a flag or a patch are tested by other link orders of both sides, unless asked not to."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from burnish.base.paths import home
from burnish.model.cell import CellId, Role
from burnish.record.events.builds import VariantSettled
from burnish.record.events.bundled import LayoutsBegun
from burnish.record.events.trials import StartBegun
from burnish.record.events.verdicts import VerdictReached
from burnish.statistics import replicates
from burnish.statistics.verdicts import Kind
from burnish.study import runner
from burnish.study.cells import Cell
from burnish.study.constructors.patch import Asked, patch_study
from burnish.study.constructors.tune import tune_study
from burnish.study.request.options import Options
from burnish.study.workshop.relinking import Judged, is_due, relinked
from patchfiles import FASTER, write
from studying import burnish, events, text

QUICK = Options(precision=None, starts=3, pairs=1, design="duet", yes=True)


def test_what_is_small_and_proved_is_tested() -> None:
    study = tune_study("fake", Options(variants=("strip-all",)))
    comparison, *_ = study.comparisons
    assert comparison.workload is not None
    cell = Cell(CellId("strip-all", comparison.workload.name), comparison.workload)
    claim = Judged(comparison, cell)
    two = {cell.id: math.log(1.02)}
    assert is_due(study, claim, Kind.FASTER, two)
    assert is_due(study, claim, Kind.SLOWER, {cell.id: math.log(0.98)})
    assert not is_due(study, claim, Kind.UNDECIDED, two)
    assert not is_due(study, claim, Kind.EQUIVALENT, two)
    assert not is_due(study, claim, None, two)
    assert not is_due(study, claim, Kind.FASTER, {cell.id: math.log(1.05)})
    for other in (
        replace(comparison, control=True),
        replace(comparison, release=True),
        replace(comparison, versus=("transport=tcp",)),
        replace(comparison, candidate="/usr/sbin/program"),
        replace(comparison, candidate="baseline"),
    ):
        assert not is_due(study, Judged(other, cell), Kind.FASTER, two)


def test_when_it_is_the_default() -> None:
    assert tune_study("fake", Options()).layouts == replicates.LAYOUTS
    assert tune_study("fake", Options(layouts=0)).layouts == 0
    assert tune_study("fake", Options(layouts=6)).layouts == 0, "every verdict is by layouts already"


def test_its_cell_is_another() -> None:
    comparison, *_ = tune_study("fake", Options(variants=("strip-all",))).comparisons
    assert comparison.cell is not None
    cell = relinked(comparison.cell)
    assert cell.id.role is Role.LAYOUTS
    assert cell.name == f"other layouts: {comparison.cell.name}"


@pytest.mark.measures
def test_a_patch_of_a_small_effect(burnish_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The patch's true effect is large, so that its verdict is sure; what counts as small is set above it.

    Killed when it has begun, it is finished by the next call, though every claim has its verdict.
    """
    monkeypatch.setattr(replicates, "LAYOUT_BOUND", 20.0)
    monkeypatch.setattr("burnish.study.trials.timing.LAYOUTS", 3)
    asked = Asked("fake", tuple(map(str, write(tmp_path, fast=FASTER))))

    def run() -> None:
        study = patch_study(home(), asked, QUICK, Console(stderr=True), None)
        runner.run(home(), study, QUICK, Console(stderr=True), None)

    with monkeypatch.context() as broken:
        broken.setattr("burnish.study.workshop.relinking._decide", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run()
    (begun,) = events(burnish_home, LayoutsBegun)
    assert begun.cell not in [event.cell for event in events(burnish_home, VerdictReached)]
    run()
    assert events(burnish_home, LayoutsBegun) == [begun]
    assert (begun.comparison.row, begun.layouts) == ("fast", 3)
    verdict = next(event for event in events(burnish_home, VerdictReached) if event.cell == begun.cell)
    assert verdict.starts == 3
    pairs = [tuple(start.builds.values()) for start in events(burnish_home, StartBegun) if start.cell == begun.cell]
    claims = [start for start in events(burnish_home, StartBegun) if start.cell.role is Role.CLAIM]
    claimed = [tuple(start.builds.values()) for start in claims]
    assert len({key for pair in pairs for key in pair}) == 6, "a fresh pair of links for each start"
    assert not {key for pair in pairs for key in pair} & {key for pair in claimed for key in pair}
    settled = [event.variant for event in events(burnish_home, VariantSettled)]
    assert len(settled) == len(set(settled)), "the variants' own facts stay those of their own builds"
    found = json.loads(text(burnish("show", "--json"))[0])
    (again,) = found["relinked"]
    assert (again["candidate"], again["starts"], again["role"]) == ("fast", 3, "layouts")
    assert again["capacity"]["ratio"] > 1.1
    assert "fast" not in [row["candidate"] for row in found["rows"][1:]], "it is no row of its own"
    shown = " ".join(text(burnish("show", "--full"))[0].split())
    assert "with 3 link orders of both sides" in shown
    assert "about these two binaries only:" not in shown
