"""Remarks are about what one should know: what is usual is left out, what many have in common is said once."""

from __future__ import annotations

from typing import Any

import pytest

from burnish.record.events.verdicts import Interval
from burnish.report.fold import fold
from burnish.report.sections import repeated
from burnish.report.sections.remarks import lines
from burnish.report.sections.repeated import Open, merged
from drawn import markdown, printed
from reported import Events, bounded, ratio, verdict

FLAG = "-fstack-protector-strong was cancelled by a later flag in 863 of 863 objects (/w/source/a/one.cpp)"


def run(*variants: str, **body: Any) -> Events:
    """Every variant faster on w."""
    events = Events("baseline", *variants).run().contest(*(f"{name} / w" for name in variants))
    for name in variants:
        events.add("verdict", **verdict(f"{name} / w", "faster", ratio(1.2)) | body)
    return events


def test_what_all_builds_have_in_common_is_said_once() -> None:
    every = ["baseline", "a", "b"]
    assert merged([(name, FLAG) for name in every], every, "build") == [f"in all 3 builds: {FLAG}"]
    assert merged([(name, FLAG) for name in every], [*every, "c"], "build") == [f"in all builds but c: {FLAG}"]
    assert merged([(name, FLAG) for name in every[:2]], [*every, "c"], "build") == [f"baseline, a: {FLAG}"]
    assert merged([("a", "one"), ("b", "other"), ("a", "other")], every, "build") == ["a: one", "b, a: other"]


def test_the_file_at_the_end_is_an_example() -> None:
    other = FLAG.replace("one.cpp", "other.cpp")
    assert merged([("a", FLAG), ("b", other)], ["a", "b", "c"], "build") == [f"a, b: {FLAG}"]


def test_libraries_of_a_build_are_one_line() -> None:
    notes = [("static", f"differs from baseline: library {name}: linked against absent") for name in ("a.so", "b.so")]
    assert merged(notes, ["static"], "build") == [
        "static: differs from baseline: libraries a.so, b.so: linked against absent"
    ]
    assert merged(notes[:1], ["static"], "build") == [
        "static: differs from baseline: library a.so: linked against absent"
    ]


def test_undecided_cells_are_one_line_unless_they_are_few() -> None:
    reason = "undecided: after 8 starts the interval still includes 1; with this spread some 13 starts would tell ±1 %"
    cells = [Open(f"{name} on w", reason, bounded(1.0)) for name in "abc"]
    assert repeated.undecided(cells[:2]) == [f"a on w: {reason}", f"b on w: {reason}"]
    (line,) = repeated.undecided(cells)
    assert line == (
        "undecided, as the interval includes 1 (in brackets: how many would decide): "
        "a on w ±1 % (13 starts); b on w ±1 % (13 starts); c on w ±1 % (13 starts)"
    )
    unknown = Open("d on w", "undecided so far", Interval(1.0, 0.0, float("inf"), 0.95))
    assert repeated.undecided([*cells, unknown])[0].endswith("; d on w")
    assert repeated.undecided([]) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"unsettled": 1, "starts": 8}, None),
        ({"unsettled": 3, "starts": 8}, "a on w: 3 of 8 starts did not settle"),
        ({"unsettled": 1, "starts": 1}, "a on w: 1 of 1 start did not settle"),
        ({"invalid_pairs": 1, "starts": 8}, None),
        ({"invalid_pairs": 3, "starts": 8}, "a on w: 3 of 24 pairs excluded"),
    ],
)
def test_what_is_usual_is_left_out(body: dict[str, Any], said: str | None) -> None:
    found = [line for line in lines(fold(run("a", **body).made)) if "settle" in line or "excluded" in line]
    assert found == ([said] if said else [])


def test_the_same_of_all_cells_is_one_line() -> None:
    assert "in all 3 cells: 3 of 6 starts did not settle" in lines(fold(run("a", "b", "c", unsettled=3).made))


def test_what_the_head_says_already_is_not_said_again() -> None:
    events = run("a").add("difference", found=["version: 1.0 against 1.1"])
    events.add("variant", variant="a", failure=None, notes=["differs from baseline: version: 1.0 against 1.1", "other"])
    found = lines(fold(events.made))
    assert "a: other" in found
    assert not any("version" in line for line in found)


def test_a_verdict_that_correction_has_changed_says_what_it_was() -> None:
    events = run("a", "b")
    label = "claim, one of 2 (Holm)"
    cells = {
        f"{name} / w": {"verdict": kind, "p": 0.04, "adjusted_p": 0.08, "adjusted_equivalence_p": 1.0, "label": label}
        for name, kind in (("a", "undecided"), ("b", "faster"))
    }
    found = lines(fold(events.add("family", explore=False, cells=cells).made))
    assert f"a on w: by itself faster; {label}" in found
    assert not any(line.startswith(("b on w", "a on w: faster")) for line in found)
    assert any("corrected for 2 comparisons (family-wise, Holm); largest adjusted p 0.08" in line for line in found)


def test_a_failure_that_names_files_is_told_below_the_table() -> None:
    why = "build failed: compile server.c: /w/source/fake.h:22:2: error: no (log: logs/build.log)"
    events = run("a").add("variant", variant="a", failure=why, notes=[])
    events.add("variant", variant="baseline", failure="left out: no clang", notes=[])
    result = fold(events.made)
    text = markdown(result)
    assert "| a | - | - | - | build failed |" in text
    assert "| baseline | - | - | - | left out: no clang |" in text
    assert f"* a: {why}" in text
    assert "/w/source/fake.h:22:2:" in printed(result, 40).split(), "whole at any width"
