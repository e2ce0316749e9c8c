"""Placement: which cores servers and clients have, as asked for, as an identity, and as measured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.base.paths import home
from burnish.bench.host import read_host
from burnish.catalogue import load
from burnish.catalogue.bundled import files as studies
from burnish.model.cell import CellId, Role
from burnish.model.workload import Design, Placement
from burnish.record.events.bundled import ConfirmationBegun
from burnish.record.events.trials import StartBegun, TrialsPlanned
from burnish.record.events.verdicts import VerdictReached
from burnish.report.analysis.ranking import winner
from burnish.study.bundled.expansion import expand
from burnish.study.comparison import Comparison
from burnish.study.constructors.bundled import bundled_study
from burnish.study.constructors.calibrate import calibrate_study
from burnish.study.constructors.tune import tune_study
from burnish.study.planning import confirming, trials_ahead
from burnish.study.request.options import Options
from burnish.study.request.placing import Placing, placing
from burnish.study.request.selection import Asked
from burnish.study.study import Confirmation
from studying import OWN, burnish, events, summary, text

MIX = load.workload(load.engine("fake"), "fake_mix")


def options(**asked: object) -> Options:
    return Options(workloads=("fake_mix",), variants=("gcc-o3",), **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "design", "placement", "identity"),
    [
        ({}, None, None, ""),
        ({"design": "duet"}, "duet", "shared", ""),
        ({"design": "solo"}, "solo", "apart", ""),
        ({"placement": "shared"}, "duet", "shared", ""),
        ({"placement": "apart"}, "interleaved", "apart", ""),
        ({"placement": "whole"}, "interleaved", "whole", "whole"),
        ({"placement": "whole", "design": "solo"}, "solo", "whole", "whole"),
    ],
)
def test_design_and_placement_imply_each_other(
    asked: dict[str, str], design: str | None, placement: str | None, identity: str
) -> None:
    found = placing(Options(**asked))  # type: ignore[arg-type]
    assert (found.design, found.placement, found.identity) == (design, placement, identity)


@pytest.mark.parametrize(
    ("design", "placement", "other"),
    [
        ("duet", "whole", "interleaved or solo"),
        ("duet", "apart", "interleaved or solo"),
        ("solo", "shared", "duet"),
        ("interleaved", "shared", "duet"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(design: str, placement: str, other: str) -> None:
    child = burnish("plan", "fake", "--design", design, "--placement", placement)
    _, err = text(child)
    assert child.returncode == 2
    assert err.count("\n") == 1
    assert f"--design {design} --placement {placement}: " in err
    assert f"give {other}, or leave --design out" in err


def test_a_placement_is_part_of_the_identity_only_where_the_design_does_not_imply_it() -> None:
    plain, apart, whole = (
        tune_study("fake", options(**asked)).definition
        for asked in ({"design": "interleaved"}, {"placement": "apart"}, {"placement": "whole"})
    )
    assert plain.digest == apart.digest != whole.digest
    assert "placement" not in plain.as_dict(), "as in runs from before there was a choice"
    assert whole.as_dict()["placement"] == "whole"


def test_a_cell_has_the_placement_that_is_named_or_the_loads_own_or_the_designs() -> None:
    def cell(**more: object) -> tuple[str, str]:
        made = replace(Comparison("r", "", "", "w", None, "baseline", "gcc", workload=MIX), **more).cell  # type: ignore[arg-type]
        assert made is not None
        return str(made.design), str(made.placement)

    whole = replace(MIX, design=Design.INTERLEAVED, placement=Placement.WHOLE)
    assert cell() == ("duet", "shared")
    assert cell(versus=("transport=tcp",)) == ("interleaved", "apart")
    assert cell(placement=Placement.WHOLE) == ("interleaved", "whole")
    assert cell(workload=whole) == ("interleaved", "whole")
    assert cell(workload=whole, design=Design.DUET) == ("duet", "shared"), "a duet that was asked for"
    assert cell(workload=whole, placement=Placement.APART) == ("interleaved", "apart")


def test_a_cell_is_told_by_its_placement_where_cells_of_a_study_may_differ_in_it() -> None:
    one = Comparison("r", "", "", "w", None, "baseline", "gcc", workload=MIX, placement=Placement.WHOLE)
    assert one.cell_id.placement == "", "all cells of such a study have it"
    row = replace(one, own_base=True)
    assert row.cell_id.name == "baseline, whole: gcc / fake_mix"
    assert replace(row, placement=None).cell_id.name == "baseline: gcc / fake_mix"
    assert replace(row, placement=Placement.SHARED).cell_id.placement == ""
    assert row.cell is not None
    assert row.cell.canary.id.placement == "whole", "A/A starts are of the same placement"


def test_a_workloads_file_and_a_studys_refuse_what_does_not_go_together(tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(
        'title = "odd"\nreason = "A study that must be refused, with the reason."\nengine = "fake"\n'
        '[loads.mix]\nreason = "Any load that the engine has."\non = { fake = "fake_mix" }\n'
        '[row.r]\ntitle = "a row"\nreason = "Has a design and a placement at once."\nloads = ["mix"]\n'
        'design = "duet"\nplacement = "whole"\n'
    )
    with pytest.raises(UserError, match=r"odd\.toml: row r: design duet and placement whole don't go together"):
        studies.read(path)


def test_the_shipped_rows_about_contention_are_measured_on_all_cores() -> None:
    table = expand(studies.study("arm-2020"), load.engine("mariadb"))
    cells = {(each.row, each.load): each.cell for each in table.comparisons if each.cell is not None}
    found = {key: (str(cell.design), str(cell.placement), cell.id.placement) for key, cell in cells.items()}
    for key in (("sched-getcpu", "oltp_read_only"), ("all-read-only", "read_only")):
        assert found[key] == ("interleaved", "whole", "whole")
    assert found["my-convert-wide", "oltp_read_only"] == ("duet", "shared", "")


def test_suns_ladder_can_be_asked_for_on_all_cores() -> None:
    asked = Asked(rows=("unroll",), series=("gcc", "gcc-whole"), threads=(1, 2, 8, 32))
    study = bundled_study("sun-2008", "fake", asked, Options())
    cells = [
        each.cell
        for each in study.comparisons
        if each.row == "unroll" and each.reading == "options" and each.cell and each.series in ("gcc", "gcc-whole")
    ]
    assert {cell.workload.threads for cell in cells} >= {1, 2, 8, 32}
    assert {str(cell.placement) for cell in cells} == {"shared", "whole"}
    assert len({cell.id for cell in cells}) == len(cells), "the same builds, but cells of their own"


def test_a_bundled_study_in_the_placement_that_was_asked_for() -> None:
    row = Comparison("r", "", "", "w", None, "baseline", "gcc", workload=MIX, own_base=True)
    condition = replace(row, versus=("transport=tcp",))
    assert row.as_asked(Placing()) == row
    whole = condition.as_asked(placing(Options(placement="whole"))).cell
    assert whole is not None
    assert (whole.design, whole.placement) == (Design.INTERLEAVED, Placement.WHOLE)
    shared = condition.as_asked(placing(Options(placement="shared"))).cell
    assert shared is not None
    assert shared.design is Design.INTERLEAVED, "conditions are not compared in a duet"
    for asked in ({}, {"placement": "whole"}, {"placement": "apart"}, {"placement": "shared"}):
        definition = tune_study("fake", options(**asked)).definition
        assert definition.placing == placing(options(**asked)), "what is added later is placed alike"


def test_a_calibration_is_of_one_placement() -> None:
    study = calibrate_study("fake", (Design.DUET, Design.SOLO), options(placement="whole"), twin_cores=True)
    cells = [each.cell for each in study.comparisons if each.against_itself and each.cell]
    assert [(cell.design, cell.placement) for cell in cells] == [(Design.SOLO, Placement.WHOLE)]
    assert cells[0].id.name == "solo, whole: A/A / fake_mix"
    with pytest.raises(UserError, match="--design duet --placement whole: they don't go together"):
        calibrate_study("fake", (Design.DUET,), options(placement="whole"), twin_cores=True)


def test_what_is_measured_again_and_where() -> None:
    study = tune_study("fake", options())
    cell = study.comparisons[0].cell
    assert cell is not None
    assert confirming.is_due(study.confirmation, 1, [cell]), "found in a duet"
    fresh = confirming.again(cell, study.confirmation, "")
    assert fresh.id == CellId("gcc-o3", "fake_mix", Role.CONFIRMATION, placement="apart")
    assert fresh.name == "again, apart: gcc-o3 / fake_mix"
    assert (fresh.design, fresh.placement, fresh.headline) == (Design.INTERLEAVED, Placement.APART, cell.headline)
    for asked in ({"design": "duet"}, {"placement": "whole"}, {"design": "interleaved"}):
        study = tune_study("fake", options(**asked))
        cell = study.comparisons[0].cell
        assert cell is not None
        assert not confirming.is_due(study.confirmation, 3, [cell])
        assert confirming.is_due(study.confirmation, 4, [cell]), "the best of many"
        again = confirming.again(cell, study.confirmation, "")
        assert (again.design, again.placement, again.id.placement) == (cell.design, cell.placement, ""), "as asked for"
    assert not confirming.is_due(Confirmation(more_than=None), 9, [cell])


def test_a_plan_has_the_cores_and_what_the_winner_costs_again() -> None:
    study = tune_study("fake", options())
    first, again = trials_ahead.steps(study, options(), study.comparisons)
    assert first.title == "trials of 1 cell"
    assert again.title == "the winner again: 1 cell, 8 starts each, server and clients apart"
    assert again.seconds.value > first.seconds.value / 2
    assert read_host(programs=False).cores_allowed
    whole = tune_study("fake", options(placement="whole"))
    (only,) = trials_ahead.steps(whole, options(placement="whole"), whole.comparisons)
    cores = len(read_host(programs=False).cores_allowed)
    assert only.title.startswith("trials of 1 cell (whole: server and clients on ")
    assert int(only.title.split(" on ")[1].split()[0]) <= cores


def test_an_older_record_has_the_placement_of_its_design() -> None:
    cell = CellId("gcc", "w")
    assert StartBegun(cell, 1).placed is Placement.SHARED
    assert StartBegun(cell, 1, design="solo").placed is Placement.APART
    reached = VerdictReached(cell, "interleaved", "throughput", "transaction", "faster", "", {}, 4)
    assert (reached.placement, reached.placed) == (None, Placement.APART)
    assert replace(reached, placement="whole").placed is Placement.WHOLE


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    return path


@pytest.mark.measures
def test_a_winner_of_a_duet_is_measured_again_apart_and_these_figures_are_quoted(burnish_home: Path, own: Path) -> None:
    child = burnish("tune", "fake", "--variant", "speed130", "--recipes", own, "--starts", "3", "--pairs", "2")
    out, err = text(child)
    assert child.returncode == 0, err
    assert "speed130 is faster: measured again on 3 fresh starts, server and clients apart" in err
    result = summary(burnish_home)
    ((found,), (again,)) = result.rows, result.confirmations
    assert (found.design, found.placement, found.headline) == ("duet", "shared", "capacity")
    assert (again.design, again.placement, again.headline, again.starts) == ("interleaved", "apart", "capacity", 3)
    assert again.ratio is not None
    assert 1.25 < again.ratio.ratio < 1.35
    begun = [each for each in events(burnish_home, StartBegun) if each.cell.role is Role.CONFIRMATION]
    assert {(each.design, each.placement) for each in begun} == {("interleaved", "apart")}
    assert [each.starts for each in events(burnish_home, ConfirmationBegun)] == [3]
    out, _ = text(burnish("show", "--full"))
    said = " ".join(out.split())
    figures = f"{again.ratio.ratio:.3f} [{again.ratio.low:.3f}, {again.ratio.high:.3f}]"
    assert f"speed130 is fastest: {figures} times baseline's capacity on fake_mix, with a server on cores" in said
    assert "placement shared: each server shares its cores with its clients" in said
    assert "speed130 again, with a server on cores of its own, ratios to baseline" in said
    assert max(map(len, out.splitlines())) <= 80
    shown = json.loads(text(burnish("show", "--json"))[0])
    assert [row["placement"] for row in (*shown["rows"], *shown["confirmations"])] == ["shared", "apart"]
    assert shown["contest"]["placements"] == {"fake_mix": "shared"}
    assert set(shown["contest"]["timings"]) == {"duet", "interleaved"}


@pytest.mark.measures
def test_whole_is_measured_recorded_and_said(burnish_home: Path, own: Path) -> None:
    words = ["--variant", "speed130", "--recipes", str(own), "--starts", "3", "--pairs", "1", "--placement", "whole"]
    child = burnish("tune", "fake", *words)
    _out, err = text(child)
    assert child.returncode == 0, err
    result = summary(burnish_home)
    (row,) = result.rows
    assert (row.design, row.placement, row.headline) == ("interleaved", "whole", "capacity")
    assert row.ratio is not None
    assert 1.2 < row.ratio.ratio < 1.4
    assert not result.confirmations, "as asked for, and not picked from many"
    assert {each.placement for each in events(burnish_home, StartBegun)} == {"whole"}
    assert events(burnish_home, TrialsPlanned)[-1].placements == {"fake_mix": "whole"}
    said = " ".join(text(burnish("show", "--full"))[0].split())
    assert "placement whole: one side at a time under load, server and clients on all cores together" in said
    assert "times baseline's capacity on fake_mix, with server and clients on all cores together." in said
    assert result.definition["placement"] == "whole"
    assert home().root == burnish_home


@pytest.mark.measures
def test_of_a_tie_the_one_that_is_recommended_is_measured_again(burnish_home: Path, tmp_path: Path) -> None:
    path = tmp_path / "tied.toml"
    path.write_text(
        '[more]\nreason = "Two changes, and no faster."\nrecipe = { level = "-O3", c = ["-DFAKE_SPEED=130"] }\n'
        '[plain]\nreason = "One change, for the same gain."\nrecipe = { c = ["-DFAKE_SPEED=130"] }\n'
    )
    child = burnish("tune", "fake", "--recipes", path, "--variant", "more,plain", "--starts", "3", "--pairs", "1")
    _, err = text(child)
    assert child.returncode == 0, err
    result = summary(burnish_home)
    assert [row.candidate for row in result.confirmations] == ["plain"] == [winner(result)], err
