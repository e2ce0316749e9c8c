"""What of a study is run: by name, by threads, within a budget; and what that leaves out is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.base.durations import budget_of, budget_text
from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.bundled import files as studies
from burnish.study.bundled.expansion import expand
from burnish.study.planning.costs import Forecast, Need, UnitCost, within
from burnish.study.planning.plan import Plan
from burnish.study.request.selection import Asked, Selection, by_name
from burnish.study.study import Study
from shipping import expanded


def sun() -> Study:
    return expanded("sun-2008", "fake")


@pytest.mark.parametrize(
    ("text", "seconds"), [("2h", 7200), ("90m", 5400), ("1h30m", 5400), ("90min", 5400), ("45s", 45), ("1.5h", 5400)]
)
def test_budgets(text: str, seconds: float) -> None:
    assert budget_of(text) == seconds
    assert budget_of(budget_text(seconds)) == seconds
    assert budget_of(None) is None


@pytest.mark.parametrize("text", ["", "2", "h", "two hours", "2d"])
def test_budgets_that_are_none(text: str) -> None:
    with pytest.raises(UserError, match="give hours and minutes"):
        budget_of(text)


def test_a_cell_is_told_by_what_it_has() -> None:
    one, other = (
        next(each for each in expand(studies.study(name), load.engine("fake")).comparisons if each.workload)
        for name in ("sun-2008", "arm-2020")
    )
    for cell in (one, other):
        assert "/" not in cell.title
        assert ", ," not in cell.title
        assert cell.title.split(", ") == [word for word in cell.key.split(" / ") if word.strip()]
    assert other.title.startswith("crc32c-hardware, ")


def test_conditions_are_read_one_side_at_a_time_under_load() -> None:
    table = expand(studies.study("mysql-manual"), load.engine("mariadb"))
    cells = {each.row: each.cell for each in table.comparisons if each.cell is not None}
    found = {row: (str(cell.design), cell.headline) for row, cell in cells.items()}
    assert found["tls"] == found["thread-library"] == ("interleaved", "throughput")
    assert found["arch-flags"] == ("duet", "capacity")


def test_the_first_delivery_is_run_when_nothing_is_asked() -> None:
    found = by_name(sun(), Asked())
    assert {each.series for each in found.chosen} == {"gcc"}
    assert {each.threads for each in found.chosen} == {1, 4, 16, 64}
    assert len(found.chosen) + len(found.cut) == len(sun().comparisons), "what is left out is said"
    assert "not asked for: --series clang brings it" in found.cut.values()
    assert "not asked for: --threads 8 brings it" in found.cut.values()


def test_what_has_a_reason_in_place_of_builds_takes_no_other_ones_verdict() -> None:
    # The reading of a second compiler, where there is none, once showed the A/A of the baseline as its own.
    found = [each for each in sun().comparisons if each.reading == "compiler" and each.row == "fbo"]
    assert {each.series for each in found} >= {"gcc", "clang"}
    for each in found:
        assert "--second-compiler names another" in str(each.reason)
        assert each.cell is None
        assert not each.control
    tried = {each.cell.name for each in sun().comparisons if each.cell is not None and each.row == "baseline"}
    assert any("baseline again" in name for name in tried)


def test_all_of_it_and_parts_of_it() -> None:
    assert not by_name(sun(), Asked(everything=True)).cut
    some = by_name(sun(), Asked(rows=("unroll",), threads=(8,)))
    assert {(each.row, each.threads, each.series) for each in some.chosen} == {("unroll", 8, "gcc")}
    assert "left out by --row" in some.cut.values()


def test_names_that_are_not_there_are_told_together() -> None:
    with pytest.raises(UserError) as raised:
        by_name(sun(), Asked(rows=("unrol",), series=("clnag",)))
    assert "unknown row of sun-2008 'unrol' (did you mean 'unroll'?)" in str(raised.value)
    assert "unknown series of sun-2008 'clnag' (did you mean 'clang'?)" in str(raised.value)


def test_a_ladder_for_a_study_without_one_is_refused() -> None:
    with pytest.raises(UserError, match="--threads: no row of mysql-manual has a ladder of threads; leave it out"):
        by_name(expanded("mysql-manual", "fake"), Asked(threads=(4,)))


def costs(*seconds: float) -> tuple[Selection, Forecast]:
    chosen = [each for each in by_name(sun(), Asked(threads=(4,))).chosen if each.reason is None]
    units = list(dict.fromkeys(each.unit for each in chosen))[: len(seconds)]
    mine = tuple(each for each in chosen if each.unit in units)
    each_cost = tuple(UnitCost(unit, 2, 0.0, spent, 0.0) for unit, spent in zip(units, seconds, strict=True))
    return Selection(mine), Forecast(Plan("fake", "", ()), each_cost, {})


def test_a_budget_takes_rows_in_order_as_long_as_they_fit() -> None:
    selection, found = costs(600, 3000, 600)
    kept = within(selection, found, 1500)
    assert {each.unit for each in kept.chosen} == {found.costs[0].unit, found.costs[2].unit}
    assert set(kept.cut.values()) == {"cut by --budget: its row needs about 50 min"}
    assert within(selection, found, None) is selection


def test_a_budget_too_small_for_one_row_says_what_one_needs() -> None:
    selection, found = costs(600, 3000)
    with pytest.raises(UserError, match=r"--budget 5 min 00 s: too small for one row: .* needs about 10 min"):
        within(selection, found, 300)


def test_what_several_rows_need_is_paid_by_the_first_that_is_run() -> None:
    """Cut the row that was to pay for it, and the next one has to; alone, too, it would not fit."""
    selection, found = costs(0, 0, 0)
    shared, own = Need("compile", 600.0, 0.0, 5.0), Need("cell", 0.0, 3000.0)
    needs = ((shared, own), (shared, Need("other", 60.0)), (shared, Need("third", 0.0, 60.0)))
    found = replace(found, costs=tuple(replace(c, needs=n) for c, n in zip(found.costs, needs, strict=True)))
    first, second, third = (cost.unit for cost in found.costs)
    assert [cost.seconds for cost in found.of([first, second, third]).costs] == [3600, 60, 60]
    kept = within(selection, found, 720)
    assert {each.unit for each in kept.chosen} == {second, third}
    assert [cost.seconds for cost in found.of([second, third]).costs] == [3600, 660, 60]
    assert [cost.kept for cost in found.of([second, third]).costs] == [5, 5, 0]
    with pytest.raises(UserError, match="needs about 11 min"):
        within(Selection(kept.chosen), replace(found, costs=found.costs[:2]), 650)


def test_what_fits_whole_is_the_selection_itself() -> None:
    selection, found = costs(600, 3000)
    assert within(selection, found, 3600) is selection
    assert within(selection, found, 3599) is not selection
