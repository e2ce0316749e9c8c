"""Figures to quote: a winner's from servers with cores of their own, with the ceiling of that placement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from burnish.record.events.searches import SearchEnded
from burnish.report.analysis import placed
from burnish.report.analysis.ceilings import ceilings
from burnish.report.answer import facts, matrix, take
from burnish.report.document import Document
from burnish.report.fold import fold
from burnish.report.result import Result
from burnish.report.sections import heading
from burnish.report.sections.conclusion import sentences
from drawn import drawn, printed
from reported import Events, comparison, key, ratio, side, verdict


def reached(cell: str, value: float, kernel: float, cpu: float = 8e-5, **more: Any) -> dict[str, Any]:
    """A verdict whose baseline spends 100 µs of CPU per transaction, a share of it in the kernel."""
    candidate = cell.rpartition(" / ")[0].rpartition(": ")[2]
    sides = {"baseline": side(1e-4, 0.002), candidate: side(cpu, 0.0015)}
    body = verdict(cell, "faster", ratio(value))
    return {**body, "sides": {name: {**one, "kernel_share": kernel} for name, one in sides.items()}, **more}


APART: dict[str, Any] = {"design": "interleaved", "placement": "apart"}


def run(*again: dict[str, Any], loads: tuple[str, ...] = ("w",), **contest: Any) -> Result:
    """A finished tune whose candidate was found in a duet; `again`: verdicts of its fresh starts."""
    events = Events("baseline", "fast").run()
    planned = {"placements": dict.fromkeys(loads, "shared")} | contest
    events.contest(*(f"fast / {load}" for load in loads), **planned)
    for load in loads:
        events.add("verdict", **reached(f"fast / {load}", 1.34, 0.13, placement="shared"))
    for body in again:
        events.add("verdict", **body)
    return fold(events.add("finished").made)


def test_the_winners_figures_are_those_of_a_server_on_cores_of_its_own() -> None:
    result = run(reached("again: fast / w", 1.27, 0.35, **APART))
    first, second, *_ = sentences(result)
    assert first == (
        "fast is fastest: 1.270 [1.257, 1.283] times baseline's capacity on w, with a server on cores of its own."
    )
    assert second == (
        "Quote these figures: fast was measured again for them on 6 fresh starts (throughput 1.270 [1.257, 1.283] on "
        "w). In the duet, which found it, each server shares its cores with its clients: capacity 1.340 "
        "[1.327, 1.353] on w."
    )


def test_fresh_starts_that_prove_nothing_are_said_beside_what_to_take() -> None:
    sure, open_one = (reached(f"again: fast / {load}", 1.27, 0.35, **APART) for load in ("v", "w"))
    open_one |= {"verdict": "undecided"}
    said = take.sentences(run(sure, open_one, loads=("v", "w")))
    assert said[1] == "Its fresh starts do not prove a gain by themselves on w; those that found it do."
    said = take.sentences(run(open_one))
    assert said[1] == "Its fresh starts do not prove a gain by themselves; those that found it do."
    assert not any("prove a gain" in text for text in take.sentences(run(sure, loads=("v",))))


def test_a_ceiling_is_that_of_the_placement_whose_figures_are_quoted() -> None:
    (duet,) = ceilings(run(), "fast")
    (apart,) = ceilings(run(reached("again: fast / w", 1.27, 0.35, 7.5e-5, **APART)), "fast")
    assert (duet.kernel, duet.after, duet.where) == (pytest.approx(1.3e-5), 8e-5, "")
    assert (apart.kernel, apart.after) == (pytest.approx(3.5e-5), 7.5e-5)
    assert apart.way == pytest.approx(25 / 65), "of what is not kernel time in that placement"
    assert apart.sentence().startswith("w, with a server on cores of its own: 35 % of baseline's 100 µs")


def test_costs_and_latency_are_those_of_the_placement_too() -> None:
    result = run(reached("again: fast / w", 1.27, 0.35, 7.5e-5, **APART))
    (said,) = (text for text in sentences(result) if "of server CPU per transaction" in text)
    assert said.startswith("w, with a server on cores of its own: fast uses 75 µs")


def test_a_table_has_them_beside_the_duets() -> None:
    shown = printed(run(reached("again: fast / w", 1.27, 0.35, **APART)))
    assert "fast again, with a server on cores of its own, ratios to baseline" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "again" not in printed(run())


def test_figures_of_two_placements_are_not_mixed() -> None:
    """A budget may end before all loads of the winner are measured again."""
    result = run(reached("again: fast / w", 1.27, 0.35, **APART), loads=("w", "v"))
    first, second, *_ = sentences(result)
    assert first.startswith("fast is fastest: 1.340 [1.327, 1.353] times baseline's capacity on w, 1.340")
    assert second == (
        "fast was measured again on 6 fresh starts, with a server on cores of its own, on some of the loads: capacity "
        "1.270 [1.257, 1.283] on w. Quote these figures."
    )
    assert {ceiling.where for ceiling in ceilings(result, "fast")} == {""}
    assert [part for part in facts.sure(result) if "again" in part] == ["fast, measured again on 6 starts"]


def test_fresh_starts_that_tell_nothing_are_said_and_not_quoted() -> None:
    """Where the host gave too many of them no time."""
    events = Events("baseline", "fast").run()
    events.contest("fast / w", "fast / v", placements={"w": "shared", "v": "apart"})
    events.add("verdict", **reached("fast / w", 1.34, 0.13, placement="shared"))
    events.add("verdict", **reached("fast / v", 1.2, 0.4, **APART))
    lost = {"verdict": "invalid", "reason": "invalid: 3 starts were invalid", "capacity": None, "throughput": None}
    events.add("verdict", **(reached("again: fast / w", 1.27, 0.35, **APART) | lost))
    events.add("verdict", **reached("again: fast / v", 1.21, 0.4, **APART))
    result = fold(events.add("finished").made)
    first, second, third, *_ = sentences(result)
    assert first.startswith("fast is fastest: 1.340 [1.327, 1.353] times baseline's capacity on w, 1.200")
    assert second == (
        "fast was measured again on 6 fresh starts on some of the loads, as the best of many looks better than it is: "
        "1.210 [1.198, 1.222] on v. Quote these figures."
    )
    assert third == "fast's fresh starts on w tell nothing: 3 starts were invalid."
    assert "unknown" not in " ".join(sentences(result))
    of_a_search = placed.to_quote(replace(result, searched=cast(SearchEnded, object())))
    assert {row.workload for row in of_a_search if row.ratio is None} == set()


def test_a_load_that_was_apart_before_is_confirmed_beside_the_others() -> None:
    events = Events("baseline", "fast").run()
    events.contest("fast / w", "fast / v", placements={"w": "shared", "v": "apart"})
    events.add("verdict", **reached("fast / w", 1.34, 0.13, placement="shared"))
    events.add("verdict", **reached("fast / v", 1.2, 0.4, **APART))
    events.add("verdict", **reached("again: fast / w", 1.27, 0.35, **APART))
    events.add("verdict", **reached("again: fast / v", 1.21, 0.4, **APART))
    result = fold(events.add("finished").made)
    assert placed.complete(result, "fast")
    first, second, *_ = sentences(result)
    assert "1.270 [1.257, 1.283]" in first
    assert "1.210 [1.198, 1.222]" in first
    assert second.endswith("capacity 1.340 [1.327, 1.353] on w.")


def test_a_confirmation_in_the_same_placement_is_said_as_before() -> None:
    result = run(reached("again: fast / w", 1.32, 0.13, placement="shared"))
    assert placed.elsewhere(result) == ()
    first, second, *_ = sentences(result)
    assert "times baseline's capacity on w." in first
    assert second.startswith("fast was measured again on 6 fresh starts, as the best of many looks better than it is")


def test_the_heading_says_the_placement_of_newer_records() -> None:
    words = " ".join(heading.lines(run()))
    assert "placement shared: each server shares its cores with its clients, beside the other side" in words
    assert "(cores shared)" in words
    older = " ".join(heading.lines(run(placements={})))
    assert "placement" not in older
    apart = " ".join(heading.lines(run(placements={"w": "apart"})))
    assert "placement apart: one side at a time under load" in apart
    assert "(cores shared)" not in apart
    several = heading.lines(run(loads=("w", "v"), placements={"w": "shared", "v": "whole"}))
    assert [line.rpartition(" (")[2] for line in several if line.startswith("placement")] == ["w)", "v)"]


def bundled(placement: str, again: dict[str, Any] | None = None) -> Result:
    """A bundled study that recommends, with two faster rows; `again`: what the best one's fresh starts were."""
    events = Events("baseline", verb="a-study").run()
    events.add(
        "shipped",
        study="a-study",
        title="A study",
        reason="of a test",
        sources=["mysql-manual"],
        recommends=True,
        rows={row: {"title": row, "reason": "because of a test"} for row in ("fast", "slow")},
        readings={"": {"title": "", "reason": ""}},
        series={"": ""},
        builds=["baseline", "fast", "slow"],
        comparisons=[comparison("fast"), comparison("slow")],
        cut={},
    )
    events.contest("baseline: fast / w", "baseline: slow / w", placements={"w": placement})
    for row, value in (("fast", 1.34), ("slow", 1.1)):
        events.add("verdict", **reached(f"baseline: {row} / w", value, 0.13, placement=placement))
    if again is not None:
        cell = "again, baseline: fast / w"
        events.add("again", key=key("fast"), cell=cell)
        events.add("verdict", **{**reached("fast / w", 1.27, 0.35, **again), "cell": cell, "role": "confirmation"})
    return fold(events.made)


def test_a_bundled_study_quotes_the_best_rows_fresh_starts_with_their_placement() -> None:
    said = " ".join(sentences(bundled("shared", APART)))
    where = "with a server on cores of its own"
    assert f"so measured again on fresh starts, {where}: +27.0 [+25.7, +28.3], the figures to quote" in said
    alike = " ".join(sentences(bundled("shared", {"placement": "shared"})))
    assert "measured again on fresh starts: +27.0" in alike


def test_rows_on_all_cores_are_named_and_have_their_throughput_beside_capacity() -> None:
    shown = printed(bundled("whole"))
    said = " ".join(shown.split())
    assert "placement whole, with server and clients on all cores together: fast, slow" in said
    assert "interleaved" not in said or "on cores [0, 1]" in said
    assert "A study: also measured, change in per cent" in said
    assert "fast +34.0 [+32.7, +35.3]" in said
    assert max(map(len, shown.splitlines())) <= 80
    plain = " ".join(printed(bundled("shared")).split())
    assert "also measured" not in plain
    assert "placement whole" not in plain


def rivals(*again: dict[str, Any], ratios: tuple[float, float] = (1.34, 1.2), **contest: Any) -> Result:
    """A finished tune with two candidates, of which each was the best in one of two sittings."""
    names = ("fast", "other")
    events = Events("baseline", *names).run()
    events.contest(*(f"{name} / w" for name in names), **({"placements": {"w": "shared"}} | contest))
    for name, value in zip(names, ratios, strict=True):
        events.add("verdict", **reached(f"{name} / w", value, 0.13, placement="shared"))
    for body in again:
        events.add("verdict", **body)
    return fold(events.add("finished").made)


@pytest.mark.parametrize(("ratios", "best", "second"), [((1.34, 1.2), "fast", "other"), ((1.2, 1.34), "other", "fast")])
def test_fresh_starts_of_two_candidates_are_not_one_candidates_figures(
    ratios: tuple[float, float], best: str, second: str
) -> None:
    """The best of the first sitting need not be the best of the second."""
    figures = {"fast": (1.27, "1.270 [1.257, 1.283]"), "other": (1.15, "1.150 [1.138, 1.161]")}
    again = [reached(f"again: {name} / w", value, 0.13, placement="shared") for name, (value, _) in figures.items()]
    result = rivals(*again, ratios=ratios)
    said = [text for text in sentences(result) if "measured again" in text]
    first, *others = said
    assert first == (
        f"{best} was measured again on 6 fresh starts, as the best of many looks better than it is: "
        f"{figures[best][1]} on w. Quote these figures."
    )
    assert others == [
        f"{second} was measured again on 6 fresh starts as well: {figures[second][1]} on w.",
    ]
    one = replace(result, confirmations=tuple(row for row in result.confirmations if row.candidate == best))
    assert [part for part in facts.sure(one) if "again" in part] == ["best of 2, measured again on 6 starts"]
    assert [part for part in facts.sure(result) if "measured again" in part] == [
        f"{best}, best of 2, measured again on 6 starts",
        f"{second}, measured again on 6 starts",
    ]
    table = [" ".join(line.split()) for line in drawn(Document("", (matrix.section(result),))).splitlines()]
    assert sum(line.startswith("measured again, to quote") for line in table) == 1
    assert sum(line.startswith("measured again") for line in table) == 2


def test_fresh_starts_elsewhere_have_a_table_for_each_candidate() -> None:
    again = [reached(f"again: {name} / w", value, 0.35, **APART) for name, value in (("other", 1.15), ("fast", 1.27))]
    result = rivals(*again)
    shown = printed(result)
    for name in ("fast", "other"):
        assert shown.count(f"{name} again, with a server on cores of its own, ratios to baseline") == 1
    said = [text for text in sentences(result) if "was measured again" in text]
    assert said[0].startswith("Quote these figures: fast was measured again for them on 6 fresh starts")
    fresh = "other was measured again on 6 fresh starts, with a server on cores of its own"
    assert said[1:] == [f"{fresh}: capacity 1.150 [1.138, 1.161] on w."]


def test_a_candidate_that_was_measured_again_on_some_loads_keeps_no_other_from_being_quoted() -> None:
    events = Events("baseline", "fast", "other").run()
    cells = [f"{name} / {load}" for name in ("fast", "other") for load in ("v", "w")]
    events.contest(*cells, placements={"v": "shared", "w": "shared"})
    for cell in cells:
        events.add("verdict", **reached(cell, 1.34 if "fast" in cell else 1.2, 0.13, placement="shared"))
    for cell in (*cells[:2], cells[2]):
        events.add("verdict", **reached(f"again: {cell}", 1.27, 0.35, **APART))
    result = fold(events.add("finished").made)
    assert [row.placement for row in placed.quoted(result, "fast")] == ["apart", "apart"]
    assert [row.placement for row in placed.quoted(result, "other")] == ["shared", "shared"]
    assert placed.complete(result, "fast")
    assert not placed.complete(result, "other")
