"""What a record says, as values and sentences, from events made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import pytest

from burnish.base.errors import UserError
from burnish.record.events.verdicts import Interval
from burnish.report.analysis.ceilings import bars, ceilings
from burnish.report.analysis.ranking import winner
from burnish.report.fold import fold
from burnish.report.hosts import host_line
from burnish.report.render.json import text
from burnish.report.sections.conclusion import sentences
from burnish.report.values import runs as values
from drawn import markdown, printed
from reported import HOST, Events, event, ratio, verdict


def test_a_study_that_has_just_begun() -> None:
    found = fold(Events("baseline", "one").made)
    assert (found.name, found.verb, found.engine, found.baseline) == ("fake-tune-1", "tune", "fake", "baseline")
    assert (found.rows, found.ended, found.runs, found.host) == ((), None, 0, "unknown host")
    assert [build.variant for build in found.builds] == ["baseline", "one"]
    assert {build.gate for build in found.builds} == {"not tested"}
    assert sentences(found) == []


def test_a_record_without_a_study() -> None:
    for events in ([], [event(1, "", "run", {"host": HOST})]):
        with pytest.raises(UserError, match=r"^this record holds no study"):
            fold(events)


@pytest.mark.parametrize("kind", ["faster", "slower", "equivalent", "undecided", "invalid"])
def test_every_kind_of_verdict_is_a_row(kind: str) -> None:
    value = None if kind == "invalid" else ratio(1.2)
    events = Events("baseline", "one").run().contest("one / w").add("verdict", **verdict("one / w", kind, value))
    (row,) = fold(events.made).rows
    assert (row.candidate, row.workload, row.verdict) == ("one", "w", kind)
    assert row.of("capacity") == row.ratio == (Interval(**value) if value else None)
    assert (row.starts, row.invalid_starts, row.reason, row.unit) == (6, 1, f"{kind}: because", "transaction")


@pytest.mark.parametrize(("design", "more", "shown"), [
    ("duet", {}, True), ("interleaved", {}, False), ("interleaved", {"left_out": 0.1}, True), ("solo", {}, True),
])  # fmt: skip
def test_response_times_with_the_waits_for_the_others_turns_are_not_told(
    design: str, more: dict[str, float], shown: bool
) -> None:
    """Those of older records, where sides take turns: `left_out` is recorded since such requests are left out."""
    body = verdict("one / w", "faster", ratio(1.2)) | {"design": design}
    for side in body["sides"].values():
        side["latency"] |= more
    (row,) = fold(Events("baseline", "one").run().contest("one / w").add("verdict", **body).made).rows
    side = row.sides["one"]
    assert side is not None
    assert ("p95" in side.latency) == shown


def test_an_unfinished_cell_is_running_with_its_valid_starts() -> None:
    events = Events("baseline", "one").run().contest("one / w", "one / v")
    for number, invalid in enumerate((None, "a reason", None), 1):
        events.add("start", cell="one / w", start=number)
        events.add("start_done", cell="one / w", start=number, invalid=invalid)
    events.add("start", cell="one / w", start=4)
    one, other = fold(events.made).rows
    assert (one.verdict, one.starts, one.ratio) == ("running", 2, None)
    assert (other.verdict, other.starts) == ("running", 0)
    assert sentences(fold(events.made)) == []


def test_what_was_said_last_holds() -> None:
    """A study that was resumed says some things again."""
    events = Events("baseline", "one").run().run(kernel="6.2").contest("one / w").contest("one / w", "one / v")
    events.add("verdict", **verdict("one / w", "faster", ratio(1.3)))
    found = fold(events.made)
    assert found.runs == 2
    assert "Linux 6.2" in found.host
    assert [row.verdict for row in found.rows] == ["faster", "running"]


def test_what_became_of_each_variant() -> None:
    events = Events("baseline", "pgo", "wrong", "missing", "failed").run()
    about = {"toolchain": "gcc-12", "seconds": 61.2, "server_bytes": 2_500_000}
    identity = {"version": "1.0", "build_id": "0123456789abcdef", "features": []}
    events.add("build", variant="baseline", key="k1", about=about, identity=identity)
    events.add("gate", variant="baseline", report={"passed": True, "tests": 7, "skipped": 0, "failures": []})
    clang = {**about, "toolchain": "clang-19", "bolt": "clang-19", "audit": "9 of 12 functions with a profile"}
    events.add("build", variant="pgo", key="k2", about=clang, identity=identity)
    events.add("gate", variant="pgo", report={"passed": True, "tests": 6, "skipped": 1, "failures": []})
    events.add("build", variant="wrong", key="k3", about=about, identity=identity)
    failures = [["answers", "no"], ["ordering", "no"], ["writes", "no"], ["ends", "no"]]
    events.add("gate", variant="wrong", report={"passed": False, "tests": 7, "skipped": 0, "failures": failures})
    events.add("variant_missing", variant="missing", why="no compiler 'gcc-99'")
    events.add("variant", variant="baseline", reason="what is shipped", weakens_security=False, failure=None, notes=[])
    notes = ["-O3 was cancelled by a later flag in 2 of 3 objects (a.c)"]
    events.add("variant", variant="pgo", reason="a profile", weakens_security=True, failure=None, notes=notes)
    events.add("variant", variant="failed", reason="x", weakens_security=False, failure="build failed: x", notes=[])
    baseline, pgo, wrong, missing, failed = fold(events.made).builds
    assert (baseline.toolchain, baseline.seconds, baseline.server_bytes) == ("gcc-12", 61.2, 2_500_000)
    assert (baseline.gate, baseline.identity, baseline.failure) == ("passed 7", "1.0 0123456789ab", None)
    assert (pgo.toolchain, pgo.gate, pgo.weakens_security) == ("clang-19 + BOLT", "passed 6, 1 skipped", True)
    assert pgo.notes == (*notes, "profile: 9 of 12 functions with a profile")
    assert wrong.gate == "failed: answers, ordering, writes", "the first three"
    assert (missing.failure, missing.gate, missing.toolchain) == ("no compiler 'gcc-99'", "not tested", "")
    assert failed.failure == "build failed: x"


def test_what_another_sitting_has_built_is_not_missing() -> None:
    events = Events("baseline", "m32").run()
    events.add("variant_missing", variant="m32", why="needs 32-bit libraries that are not here")
    events.run().add("build", variant="m32", key="k", about={"toolchain": "gcc-12"}, identity={})
    events.add("gate", variant="m32", report={"passed": True, "tests": 7, "skipped": 0, "failures": []})
    program = {"machine": "i386", "bits": 32, "code": "c", "data": "d", "sizes": {}, "symbols": True}
    program |= {"needed": ["libc.so.6"], "versions": [["GLIBC", "2.34"]]}
    events.add("evidence", variant="m32", tried={}, program=program, needs={"level": "x86-64", "beyond": []})
    build = fold(events.made).builds[1]
    assert (build.gate, build.failure) == ("passed 7", None)
    assert build.needs == "32 bit, x86-64, glibc 2.34"


def test_a_comparison_of_two_programs() -> None:
    events = Events("/usr/sbin/a", "/opt/b", verb="compare").run()
    for path in ("/usr/sbin/a", "/opt/b"):
        identity = {"version": "1.0", "build_id": "", "features": []}
        events.add("program", variant=path, path=path, key="k", identity=identity)
    events.add("difference", found=["version: 1.0 against 1.1"])
    events.contest("/opt/b / w").add("verdict", **verdict("/opt/b / w", "faster", ratio(1.4), baseline="/usr/sbin/a"))
    found = fold(events.made)
    assert (found.baseline, found.source) == ("/usr/sbin/a", "existing server programs")
    assert found.differences == ("version: 1.0 against 1.1",)
    assert (found.rows[0].candidate, found.rows[0].workload) == ("/opt/b", "w")
    assert {build.gate for build in found.builds} == {"not built here"}
    assert found.builds[0].identity == "1.0"


def decided(**cells: tuple[str, Mapping[str, float] | None]) -> Events:
    """Cells by name (one__w is one / w) with verdict and capacity."""
    named = {cell.replace("__", " / "): value for cell, value in cells.items()}
    order = dict.fromkeys(cell.split(" / ")[0] for cell in named)
    events = Events("baseline", *order).run().contest(*named)
    for cell, (kind, value) in named.items():
        events.add("verdict", **verdict(cell, kind, value))
    return events


def test_the_winner_is_faster_everywhere_by_the_geometric_mean() -> None:
    found = fold(
        decided(
            a__w=("faster", ratio(1.10)),
            a__v=("faster", ratio(1.60)),
            b__w=("faster", ratio(1.30)),
            b__v=("faster", ratio(1.30)),
            c__w=("faster", ratio(9.00)),
            c__v=("undecided", ratio(9.00)),
        ).made
    )
    assert winner(found) == "a", "1.327 against 1.300; the arithmetic mean says the same, c is not decided"
    assert sentences(found)[0] == (
        "a is fastest: 1.100 [1.089, 1.111] times baseline's capacity on w, 1.600 [1.584, 1.616] on v."
    )
    assert sentences(found)[1] == "It is proved to be faster than b, the next, by +2.0 [+1.0, +3.1] %."
    assert len(sentences(found)) == 6, "the explanation is the winner's: two loads, and the ceiling on each"


@pytest.mark.parametrize("kind", ["slower", "equivalent", "undecided", "invalid"])
def test_no_winner(kind: str) -> None:
    value = None if kind == "invalid" else ratio(0.99)
    found = fold(decided(a__w=(kind, value)).made)
    assert winner(found) is None
    assert sentences(found)[0] == "No candidate is faster than baseline on every workload."


def test_nobody_has_won_while_one_is_running() -> None:
    events = decided(a__w=("slower", ratio(0.9)))
    events.contest("a / w", "a / v")
    assert not any("No candidate" in sentence for sentence in sentences(fold(events.made)))


def test_the_explanation_says_what_no_compiler_reaches() -> None:
    found = fold(decided(a__w=("faster", ratio(1.25))).made)
    assert sentences(found)[1] == (
        "w: a uses 80 µs of server CPU per transaction, baseline 100 µs; p95 1.5 ms instead of 2 ms."
    )
    assert sentences(found)[2] == (
        "w: 40 % of baseline's 100 µs per transaction is kernel time, which no compile option reaches: 2.5x at most; "
        "a is at 1.25x and has saved 33 % of the time that a compiler could save (`burnish why` shows how much of that "
        "is libraries')."
    )


def test_the_ceiling_is_drawn_below_the_sentences() -> None:
    found = fold(decided(a__w=("faster", ratio(1.25)), b__w=("slower", ratio(0.9))).made)
    bar = "░" * 12 + "▒" * 24 + "█" * 24
    assert f"w: a\n{bar}\n" in printed(found)
    assert bar in markdown(found)
    nothing = fold(decided(a__w=("invalid", None)).made)
    assert bars(nothing, None).bars == ()


def test_a_gate_says_what_it_was_not_asked() -> None:
    events = Events("baseline", "one").run()
    for variant, away in (("baseline", {}), ("one", {"left_out": ["a.b", "a.c"]})):
        report = {"passed": True, "tests": 20, "skipped": 1, "failures": [], **away}
        events.add("gate", variant=variant, report=report)
    assert [build.gate for build in fold(events.made).builds] == [
        "passed 20, 1 skipped",
        "passed 20, 1 skipped, 2 left out",
    ]


def test_conditions_have_no_ceiling_of_compile_options() -> None:
    found = fold(decided(a__w=("slower", ratio(0.84))).made)
    conditions = replace(found, contest={**found.contest, "versus": {"transport": "tls"}})
    assert ceilings(found, None)
    assert ceilings(conditions, None) == []
    assert len(sentences(found)) == len(sentences(conditions)) + 1


def test_where_none_won_everywhere_each_load_has_its_best() -> None:
    found = fold(decided(a__w=("slower", ratio(0.9)), b__w=("undecided", ratio(1.0))).made)
    assert [each.winner for each in ceilings(found, None)] == ["a"]


def test_the_headline_may_be_throughput() -> None:
    events = Events("baseline", "a").run().contest("a / w")
    body = verdict("a / w", "faster", ratio(1.2)) | {"throughput": ratio(1.5), "headline": "throughput"}
    found = fold(events.add("verdict", **body).made)
    assert sentences(found)[0].startswith("a is fastest: 1.500 [1.485, 1.515] times baseline's throughput on w.")


def test_the_host_in_one_line() -> None:
    assert host_line(HOST) == "A CPU, 2 cores, 24 GiB, Linux 6.1, Debian 12, hypervisor kvm, THP madvise"
    assert "unknown memory" in host_line({**HOST, "memory_bytes": None})


def test_a_summary_is_plain_values_for_json() -> None:
    found = fold(decided(a__w=("faster", ratio(1.25)), b__w=("invalid", None)).made)
    plain: dict[str, Any] = json.loads(text(values.run(found)))
    assert plain["sentences"] == sentences(found)
    only_where_there_are_some = {"deployment", "searched", "pending", "quotients"}
    concluded = {"sentences", "suites", "ranking", "nothing_measured"}
    assert plain.keys() - concluded == asdict(found).keys() - only_where_there_are_some


def test_it_is_a_function_of_the_events_alone() -> None:
    made = decided(a__w=("faster", ratio(1.25))).made
    assert fold(iter(made)) == fold(made)
