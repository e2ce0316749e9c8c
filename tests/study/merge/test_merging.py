"""Records of one plan put together: the same whatever the order, once each, and refused where they don't fit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnish.base.errors import UserError
from burnish.catalogue.between import shipped
from burnish.model.sittings import Spread, Spreads
from burnish.record import exchange
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import ProgramFound
from burnish.record.events.study import SpreadAssumed, StudyBegun
from burnish.record.events.trials import StartBegun, StartDone, TrialsPlanned
from burnish.record.events.verdicts import FamilyJudged, VerdictReached
from burnish.report.fold import fold
from burnish.report.sections.merged import lines as told
from burnish.report.sections.remarks import lines as remarks
from burnish.statistics.replicates import judge_replicates
from burnish.statistics.sequential import Rule
from burnish.statistics.several_hosts import HostsCell
from burnish.statistics.sittings import SittingCell
from burnish.study.merge.merging import merge
from burnish.study.merge.parts import host_key
from burnish.study.merge.same_plan import first_difference
from burnish.study.trials.cell_readings import CellReadings
from drawn import markdown
from pieces import CELL, Piece, contest, host, of, whole

RNG = np.random.default_rng(3)
QUIET = [float(value) for value in RNG.normal(0.10, 0.002, 8)]
NOISY = [float(value) for value in RNG.normal(0.16, 0.03, 5)]
MONDAY = whole("fake-tune-1", "one", 1, QUIET)
TUESDAY = whole("fake-tune-2", "other", 2, NOISY)
LATER = whole("fake-tune-3", "one", 3, QUIET[:3])


def merged(*pieces: Piece | Sequence[Recorded[Event]]) -> tuple[Recorded[Event], ...]:
    return merge(named(*pieces)).events


def named(*pieces: Piece | Sequence[Recorded[Event]]) -> list[tuple[str, Sequence[Recorded[Event]]]]:
    return [(f"r{n}", piece.made if isinstance(piece, Piece) else piece) for n, piece in enumerate(pieces, 1)]


def refused(*pieces: Piece) -> str:
    with pytest.raises(UserError) as caught:
        merged(*pieces)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def bytes_of(events: Sequence[Recorded[Event]]) -> bytes:
    return exchange.as_text(events).encode()


def test_hosts_are_blocks() -> None:
    found = merge(named(MONDAY, TUESDAY))
    assert (found.hosts, found.starts, found.twice) == (2, 13, 0)
    (row,) = fold(found.events).rows
    spread = shipped("fake").alike
    hosts = {name: SittingCell(CELL, (tuple(starts),), spread) for name, starts in (("A", QUIET), ("B", NOISY))}
    expected = HostsCell(CELL, hosts).judge(Rule(cap=12))
    assert expected.interval is not None
    assert row.ratio is not None
    assert row.ratio.ratio == pytest.approx(math.exp((np.mean(QUIET) + np.mean(NOISY)) / 2))
    assert (row.ratio.low, row.ratio.high) == pytest.approx((expected.interval.low, expected.interval.high))
    assert (row.verdict, row.starts, row.reason) == (str(expected.kind), 13, expected.reason)
    assert [(host.host, host.starts) for host in row.hosts] == [("A", 8), ("B", 5)]
    throughput = row.of("throughput")
    assert throughput is not None
    assert throughput.ratio == pytest.approx(math.sqrt(row.ratio.ratio))


def test_of_what_hosts_assume_of_other_sittings_the_largest_holds() -> None:
    """A host that is known to be rough must not have its verdicts by a quiet one's spread, whichever came last."""
    quiet, rough = Spread(0.001, 20.0, "A"), Spread(0.05, 20.0, "B")
    for first, second in ((quiet, rough), (rough, quiet)):
        pieces = []
        for name, day, spread in (("one", 1, first), ("other", 2, second)):
            events = whole(f"fake-tune-{day}", name, day, QUIET).made
            place = next(n for n, one in enumerate(events) if isinstance(one.event, TrialsPlanned))
            known = Recorded(events[place].number, events[place].at, SpreadAssumed(quiet, spread, quiet))
            pieces.append([*events[:place], known, *events[place:]])
        together = merged(*pieces)
        (planned,) = of(together, TrialsPlanned)
        assert CellReadings(ByType(together), planned).spreads == Spreads(quiet, rough, quiet)


def test_the_order_of_records_changes_no_byte() -> None:
    every = {bytes_of(merged(*order)) for order in itertools.permutations((MONDAY, TUESDAY, LATER))}
    assert len(every) == 1


def test_merging_in_steps_is_merging_at_once() -> None:
    at_once = bytes_of(merged(MONDAY, TUESDAY, LATER))
    assert bytes_of(merged(merged(MONDAY, TUESDAY), LATER)) == at_once
    assert bytes_of(merged(LATER, merged(TUESDAY, MONDAY))) == at_once
    assert bytes_of(merged(merged(LATER, TUESDAY), merged(TUESDAY, MONDAY))) == at_once


def test_the_same_start_is_taken_once() -> None:
    halfway = Piece("fake-tune-1", "one", 1).contest().starts(QUIET[:3])
    found = merge(named(halfway, MONDAY, TUESDAY, MONDAY))
    assert (found.starts, found.twice) == (13, 11)
    assert bytes_of(found.events) == bytes_of(merged(MONDAY, TUESDAY))
    compact = list(exchange.compact(MONDAY.made))
    assert bytes_of(merged(compact, TUESDAY, MONDAY)) == bytes_of(found.events)


def test_sittings_of_one_host_are_one_block() -> None:
    found = merge(named(MONDAY, LATER))
    assert (found.hosts, found.starts) == (1, 11)
    summary = fold(found.events)
    (row,) = summary.rows
    assert row.hosts == ()
    assert row.reason == "faster: the whole interval lies above 1 after 11 starts in 2 sittings"
    assert [other.name for other in row.sensitivity][-1] == "Hodges-Lehmann"
    assert told(summary) == ["merged from fake-tune-1 (8 starts on A), fake-tune-3 (3 starts on A)"]


def test_unfinished_pieces_make_a_verdict_together() -> None:
    pieces = [Piece(f"fake-tune-{n}", "one", n).contest().starts(QUIET[2 * n : 2 * n + 2]) for n in (1, 2)]
    pieces[0].add("start", cell=CELL, start=3, design="duet")  # and was ended in its third start
    (row,) = fold(merged(*pieces)).rows
    assert (row.verdict, row.starts, row.unit, row.invalid_starts) == ("faster", 4, "transaction", 0)


def test_a_start_that_did_not_finish_is_left_behind() -> None:
    cut = Piece("fake-tune-1", "one", 1).contest().starts(QUIET[:2]).add("start", cell=CELL, start=3, design="duet")
    events = merged(cut, TUESDAY)
    assert len(of(events, StartBegun)) == len(of(events, StartDone)) == 7
    assert [each.readings["capacity"] for each in of(events, StartDone)] == [*QUIET[:2], *NOISY]
    assert [event.number for event in events] == list(range(1, len(events) + 1))


def test_the_report_names_hosts_studies_and_what_each_host_says() -> None:
    apart = whole("fake-tune-2", "other", 2, [-value for value in QUIET])
    summary = fold(merged(MONDAY, apart))
    text = " ".join(told(summary))
    assert "merged from fake-tune-1 (8 starts on A), fake-tune-2 (8 starts on B)" in text
    assert "each host counts once" in text
    assert "THE HOSTS DIFFER" in text
    assert set(told(summary)) <= set(remarks(summary))
    assert summary.host.startswith("A: CPU of one, 2 cores")
    assert "; B: CPU of other, 2 cores" in summary.host
    assert summary.ended is not None
    assert summary.name.startswith("fake-tune-merged-")
    assert [build.variant for build in summary.builds] == ["baseline", "one"]
    assert "merged from" in markdown(summary)
    assert "THE HOSTS DIFFER" not in " ".join(told(fold(merged(MONDAY, whole("fake-tune-2", "other", 2, QUIET)))))


def test_sides_are_means_over_hosts() -> None:
    events = merged(MONDAY, TUESDAY)
    (row,) = fold(events).rows
    mine = [math.exp(np.median(values)) for values in (QUIET, NOISY)]
    one, baseline = row.sides["one"], row.sides["baseline"]
    assert one is not None
    assert baseline is not None
    assert one.throughput == pytest.approx(1000 * np.mean(mine))
    assert baseline.latency == {"p95": pytest.approx(0.002)}


def test_canaries_are_all_shown_and_have_no_verdict() -> None:
    pieces = [
        Piece(f"fake-tune-{n}", f"host{n}", n).contest().starts(QUIET[:4]).starts([0.01 * n], "A/A / w") for n in (1, 2)
    ]
    summary = fold(merged(*pieces))
    assert len(summary.rows) == 1
    assert summary.canaries[0].ratios == pytest.approx((math.exp(0.01), math.exp(0.02)))


def test_the_family_is_said_anew_and_confirmations_stay_apart() -> None:
    both = {"cells": [CELL, "two / w"]}
    pieces = []
    for n in (1, 2):
        piece = Piece(f"fake-tune-{n}", f"host{n}", n, variants=["baseline", "one", "two"]).contest(**both)
        piece.starts(QUIET).starts([0.0001 * (-1) ** k * (k + n) for k in range(8)], "two / w")
        piece.verdict().verdict("equivalent", "two / w")
        pieces.append(piece.starts(QUIET, f"again: {CELL}").verdict("faster", f"again: {CELL}", role="confirmation"))
    events = merged(*pieces)
    (family,) = of(events, FamilyJudged)
    assert {each.cell.name: each.verdict for each in family.cells} == {CELL: "faster", "two / w": "equivalent"}
    assert family.cells[0].label == "claim, one of 2 (Holm)"
    summary = fold(events)
    assert [row.candidate for row in summary.rows] == ["one", "two"]
    (again,) = summary.confirmations
    assert (again.candidate, again.starts) == ("one", 16)


def test_invalid_starts_of_all_pieces_count_together() -> None:
    pieces = [
        Piece(f"fake-tune-{n}", f"host{n}", n).contest().starts([0.1]).starts([0.0, 0.0], invalid="swapping")
        for n in (1, 2)
    ]
    (row,) = fold(merged(*pieces)).rows
    assert (row.verdict, row.invalid_starts) == ("invalid", 4)
    assert row.reason == "invalid: 4 starts were invalid, 4 of them: swapping"


def test_a_cell_that_was_measured_again_is_not_made_invalid_by_what_was_before() -> None:
    """Each run left out the starts in which its host was disturbed, as its next sitting had none."""
    pieces = []
    for n in (1, 2):
        piece = Piece(f"fake-tune-{n}", f"host{n}", n).contest()
        piece.starts([0.0] * 3, invalid="the hypervisor took 20% of the CPU", disturbed=True)
        early = [*piece.verdict("invalid", starts=0).made]
        pieces.append((piece.starts(QUIET[:3]).verdict(), early))
    (one, early), (other, _) = pieces
    (row,) = fold(merged(one, other)).rows
    assert (row.verdict, row.starts, row.invalid_starts) == ("faster", 6, 6)
    later = whole("fake-tune-3", "host1", 3, QUIET[3:6])
    at_once = bytes_of(merged(one, other, later))
    assert bytes_of(merged(merged(one, other), later)) == at_once
    assert bytes_of(merged(merged(early, other), one, later)) == at_once, "a record from before the second sitting"
    (row,) = fold(merged(early, whole("fake-tune-4", "host4", 4, QUIET[:2]))).rows
    assert row.verdict == "invalid", "as long as it was not measured again"


def test_what_is_invalid_after_several_good_starts_can_be_written() -> None:
    """Its spread is not a number, which no line of a record may hold."""
    pieces = [
        Piece(f"fake-tune-{n}", "one", n).contest().starts(QUIET[n : n + 2]).starts([0.0, 0.0], invalid="swapping")
        for n in (1, 2)
    ]
    found = merged(*pieces)
    (verdict,) = of(found, VerdictReached)
    assert (verdict.verdict, verdict.starts, verdict.sd_between) == ("invalid", 4, None)
    assert b"swapping" in bytes_of(found)


def test_replicates_are_observations_on_each_host() -> None:
    """Two hosts have an interval that holds both, each as wide as its replicates scatter."""
    keys = {"replicates": {"baseline": ["a", "b", "c"], "one": ["d", "e", "f"]}}
    by = {"one": [0.1, 0.2, 0.3], "other": [0.3, 0.4, 0.5]}
    pieces = [
        Piece(f"fake-tune-{name}", name, day).contest(**keys).starts(by[name])
        for day, name in ((1, "one"), (2, "other"))
    ]
    (row,) = fold(merged(*pieces)).rows
    assert row.starts == 6
    assert row.ratio is not None
    strict = Rule(cap=12).for_family(2)
    one, other = (judge_replicates([[value] for value in by[name]], strict).difference for name in ("one", "other"))
    assert one is not None
    assert other is not None
    assert (row.ratio.low, row.ratio.high) == pytest.approx((one.low, other.high))


def test_programs_are_named_once_with_the_baseline_first() -> None:
    pieces = []
    for day, place in ((1, "/b"), (2, "/a")):
        asked = {"verb": "compare", "variants": [f"{place}/z=22", f"{place}/a=11"]}
        piece = Piece(f"fake-compare-{day}", f"host{day}", day, **asked)
        for name, key in (("z", "22"), ("a", "11")):
            piece.add("program", variant=name, path=f"{place}/{name}", key=key, identity={})
        pieces.append(piece.contest(cells=["a / w"]).starts(QUIET, "a / w"))
    events = merged(*pieces)
    assert [each.build.name for each in of(events, ProgramFound)] == ["z", "a"]
    summary = fold(events)
    assert (summary.baseline, [row.candidate for row in summary.rows]) == ("z", ["a"])
    assert bytes_of(merged(*reversed(pieces))) == bytes_of(events)


PLAN = "; merge records of one plan only"


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (Piece("s2", "b", 2, threads=8).contest(), "threads is not there in the one, 8 in the other"),
        (Piece("s2", "b", 2, workloads=["v"]).contest(), 'workloads is ["w"] in the one, ["v"] in the other'),
        (
            Piece("s2", "b", 2, recipes={"baseline": {}, "one": {"level": "-O2"}}).contest(),
            'recipes.one.level is "-O3" in the one, "-O2" in the other',
        ),
        (Piece("s2", "b", 2).contest(designs={"w": "solo"}), 'designs.w is "duet" in the one, "solo" in the other'),
        (
            Piece("s2", "b", 2).contest(condition={"settings": [["x", "4"]]}),
            'condition.settings is not there in the one, [["x", "4"]] in the other',
        ),
        (Piece("s2", "b", 2).add("source", digest="xyz").contest(), 'source digest is "abc" in the one, "xyz"'),
        (
            Piece("s2", "b", 2)
            .add("build", variant="one", key="k", about={"toolchain_version": "gcc 13.1"}, identity={})
            .contest(),
            'compiler.one is "gcc 12.2" in the one, "gcc 13.1" in the other',
        ),
    ],
)
def test_plans_that_differ_are_refused_by_the_first_difference(other: Piece, says: str) -> None:
    text = refused(MONDAY, other.starts(QUIET))
    assert text.startswith("merge: r1 and r2 are not of one plan: ")
    assert says in text
    assert text.endswith(PLAN)


def test_what_is_no_part_of_the_plan_may_differ() -> None:
    timings = {**contest()["timings"]["duet"], "pairs": 4}
    other = Piece("s2", "b", 2, seed=7, pairs=4, source="/elsewhere", conditions=[])
    other.contest(timings={"duet": timings}, core_sets=[[0, 1], [2, 3]], forced=["w"]).starts(NOISY)
    summary = fold(merged(MONDAY, other))
    assert summary.contest["forced"] == ["w"], "a forced verdict of a part is one of the whole"


def test_a_variant_that_was_not_built_everywhere_is_judged_where_it_was() -> None:
    asked = {"variants": ["baseline", "one", "two"]}
    first = Piece("s1", "a", 1, **asked).contest(cells=[CELL, "two / w"]).starts(QUIET).starts(QUIET, "two / w")
    second = Piece("s2", "b", 2, **asked).add("variant", variant="two", failure="build failed").contest().starts(QUIET)
    rows = fold(merged(first, second)).rows
    assert [(row.candidate, row.starts) for row in rows] == [("one", 16), ("two", 8)]


def test_records_that_disagree_are_refused() -> None:
    changed = whole("fake-tune-1", "one", 1, [*QUIET[:4], 0.5, *QUIET[5:]])
    assert refused(MONDAY, TUESDAY, changed) == (
        "merge: r1 and r3 disagree on start 5 of one / w in study fake-tune-1: other readings under one name; "
        "one of the two files was changed"
    )


def test_one_study_that_was_gone_on_with_on_another_host() -> None:
    """A home that was copied: starts of one number on two hosts are two starts."""
    copied = Piece("fake-tune-1", "one", 1).contest().starts(QUIET[:2])
    here = Piece("fake-tune-1", "one", 1).contest().starts(QUIET[:2]).starts(QUIET[2:4])
    there = copied.add("run", host=host("other"), resumed=True).contest().starts(NOISY[:3])
    found = merge(named(here, there))
    assert (found.hosts, found.starts, found.twice) == (2, 7, 2)


def test_what_cannot_be_merged_is_named() -> None:
    assert refused(MONDAY) == "merge: one record named; name two or more of one plan"
    calibrated = Piece("c", "one", 1, verb="calibrate").contest().starts(QUIET)
    assert refused(MONDAY, calibrated).startswith(
        "r2: the record of a calibrate; those of tune and compare, and of bundled studies, can be merged"
    )
    assert refused(MONDAY, Piece("e").contest()) == "r2: holds no finished start; leave it out"
    odd = Piece("o")
    odd.made = odd.made[1:]
    assert refused(MONDAY, odd).startswith("r2: this record holds no run")
    odd.made = [Recorded(1, "", StudyBegun("x", {}))]
    assert refused(MONDAY, odd).startswith("r2: the record of a None; ")
    old = Piece("old").contest().starts(QUIET)
    old.made = [
        replace(each, event=replace(each.event, pair_ratios=None)) if isinstance(each.event, StartDone) else each
        for each in old.made
    ]
    assert refused(MONDAY, old) == "r2: start 1 of one / w was recorded by an older Burnish, without its ratios"


def test_hosts_are_told_apart_by_what_does_not_change() -> None:
    facts: dict[str, Any] = {**host("one"), "cpu_signature": "6/1/2"}
    assert host_key(facts) == host_key(facts | {"kernel": "7.0", "thp": "never", "memory_bytes": (24 << 30) - 4096})
    assert len({host_key(facts | other) for other in ({}, {"machine": "x"}, {"cpu_signature": "6/1/3"})}) == 3


def test_the_first_difference_is_a_path() -> None:
    assert first_difference({"a": {"b": 1}, "c": 2}, {"c": 3, "a": {"b": 1}}) == ("c", 2, 3)
    assert first_difference({"a": 1}, {"a": 1}) is None
    assert first_difference({}, {"a": {"b": 1}}) == ("a.b", None, 1)
    assert first_difference({}, {"a": {}}) is None


def test_a_merged_record_can_be_carried(tmp_path: Path) -> None:
    events = merged(MONDAY, TUESDAY)
    exchange.write(tmp_path / "both.jsonl.xz", events)
    assert exchange.read_events(tmp_path / "both.jsonl.xz") == events
    assert list(exchange.compact(events)) == list(events)
