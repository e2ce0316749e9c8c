"""What a study of patches says of each, from its record alone."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from burnish.record.events.study import StudyBegun
from burnish.report.analysis.effects import Effect, against, effect
from burnish.report.fold import fold
from burnish.report.sections import patches
from burnish.report.sections.conclusion import sentences
from burnish.report.values import runs as values
from drawn import markdown, printed
from reported import Events, ratio, verdict

CACHE = {"hits": 1197, "misses": 3, "passed": 0}


def interval(value: float, half: float = 0.005, level: float = 0.95) -> dict[str, float]:
    return {"ratio": value, "low": value * math.exp(-half), "high": value * math.exp(half), "level": level}


def study(
    members: dict[str, list[str]],
    builds: list[tuple[str, str, str, list[str]]],
    ratios: dict[str, tuple[str, dict[str, float] | None]],
    *,
    same: tuple[str, ...] = (),
    failed: dict[str, str] | None = None,
    reverted: bool = False,
) -> Events:
    """A study's events.

    Args:
        members: by patch, those that it needs.
        builds: variant, kind, patch, patches.
        ratios: by measured variant, verdict and ratio.
        same: variants whose code is the unpatched tree's.
        failed: by variant, why it was not measured.
        reverted: whether all patches are taken out.
    """
    events = Events("unpatched", *(each[0] for each in builds), verb="patch").run()
    begun = events.made[0].event
    assert isinstance(begun, StudyBegun)
    assert isinstance(begun.definition, dict)
    begun.definition["workloads"] = ["load"]
    events.add("source", origin="folder x", digest="abc", note="")
    events.add(
        "series",
        recipe="gcc-o3",
        members=[
            {"name": name, "origin": f"{name}.patch", "reverted": reverted, "sha256": "0", "needs": needs}
            for name, needs in members.items()
        ],
        builds=[
            {"variant": variant, "kind": kind, "patch": patch, "patches": names, "also": []}
            for variant, kind, patch, names in builds
        ],
        left_out=[],
    )
    about = {"toolchain": "gcc-12", "seconds": 7.0, "server_bytes": 31_400_000, "cache": CACHE}
    for name in ("unpatched", *(each[0] for each in builds)):
        events.add("build", variant=name, key="k", about=about, identity={})
        if name not in same:
            events.add("gate", variant=name, report={"passed": True, "tests": 222, "skipped": 3, "failures": []})
        why = (failed or {}).get(name)
        events.add("variant", variant=name, failure=why, same=name in same, notes=[])
    events.contest(*(f"{name} / load" for name in ratios))
    for name, (kind, value) in ratios.items():
        events.add("verdict", **verdict(f"{name} / load", kind, value, baseline="unpatched"))
    return events


THREE = [
    ("a", "alone", "a", ["a"]),
    ("b", "alone", "b", ["b"]),
    ("c", "alone", "c", ["c"]),
    ("all", "all", "", ["a", "b", "c"]),
    ("all-but-a", "all but it", "a", ["b", "c"]),
    ("all-but-b", "all but it", "b", ["a", "c"]),
    ("all-but-c", "all but it", "c", ["a", "b"]),
]


def three() -> Events:
    """a helps, b costs, c changes no code."""
    events = study(
        {"a": [], "b": [], "c": []},
        THREE,
        {
            "a": ("faster", interval(1.05)),
            "b": ("slower", interval(0.98)),
            "all": ("faster", interval(1.029)),
            "all-but-a": ("slower", interval(0.98)),
            "all-but-b": ("faster", interval(1.05)),
        },
        same=("c",),
    )
    return events.add("twin", variant="all-but-c", of="all")


def said(events: Events) -> list[str]:
    summary = fold(events.made)
    assert values.run(summary)["sentences"] == sentences(summary)
    return sentences(summary)


def test_a_sentence_for_each_patch() -> None:
    everything, a, b, c = said(three())
    assert everything == "All 3: help load by 2.9 % [2.4, 3.4] together."
    assert a == "a: helps load by 5.0 % [4.5, 5.5] alone; on top of the others it adds 5.0 % [4.3, 5.7] to load."
    assert b.startswith("b: slows load down by 2.0 % [1.5, 2.5] alone; on top of the others it takes 2.0 % [")
    assert c == (
        "c: changes no machine code here alone: identical code; leaving it out of all costs nothing on load "
        "(0 %, the same program)."
    )


def test_what_makes_no_difference_and_what_is_open() -> None:
    builds = [("a", "alone", "a", ["a"]), ("b", "alone", "b", ["b"]), ("all", "all", "", ["a", "b"])]
    values = {
        "a": ("equivalent", interval(0.999, 0.003, 0.90)),
        "b": ("undecided", interval(1.01, 0.02)),
        "all": ("undecided", interval(1.01, 0.02)),
    }
    _, a, b = said(study({"a": [], "b": []}, builds, values))
    assert a.startswith("a: makes no difference to load alone (-0.1 % [")
    assert "undecided whether it adds anything to load on top of the others (0.0 % [" in a
    assert b.startswith("b: undecided on load alone (1.0 % [-1.0, 3.0])")
    values["all"] = ("faster", interval(1.011, 0.001))
    values["b"] = ("faster", interval(1.01, 0.001))
    _, a, _ = said(study({"a": [], "b": []}, builds, values))
    assert a.endswith("leaving it out of all costs nothing on load (0.1 % [0.0, 0.2]).")


def test_a_patch_that_needs_another_is_held_against_it() -> None:
    builds = [("a", "alone", "a", ["a"]), ("all", "all", "", ["a", "b"])]
    values = {"a": ("faster", interval(1.05)), "all": ("faster", interval(1.155))}
    _, a, b = said(study({"a": [], "b": ["a"]}, builds, values))
    assert a == "a: helps load by 5.0 % [4.5, 5.5] alone.", "nothing is left without it to hold it against"
    assert b == (
        "b: helps load by 15.5 % [14.9, 16.1] with a (which it needs); on top of these it adds 10.0 % [9.2, 10.8] "
        "to load."
    )


def test_what_is_known_from_the_same_programs_is_said_once() -> None:
    """b needs a; c changes no code: what b adds to a is what it adds to a and c."""
    builds = [
        ("a", "alone", "a", ["a"]),
        ("b", "with needs", "b", ["a", "b"]),
        ("c", "alone", "c", ["c"]),
        ("all", "all", "", ["a", "b", "c"]),
        ("all-but-b", "all but it", "b", ["a", "c"]),
    ]
    values = {"a": ("faster", interval(1.05)), "b": ("faster", interval(1.155))}
    events = study({"a": [], "b": ["a"], "c": []}, builds, values, same=("c",))
    events.add("twin", variant="all", of="b").add("twin", variant="all-but-b", of="a")
    b = next(line for line in said(events) if line.startswith("b:"))
    assert b.count("adds") == 1
    assert "on top of these it adds 10.0 %" in b


def test_a_build_that_failed_and_a_trial_that_was_invalid() -> None:
    builds = [("a", "alone", "a", ["a"]), ("b", "alone", "b", ["b"]), ("all", "all", "", ["a", "b"])]
    events = study(
        {"a": [], "b": []}, builds, {"b": ("invalid", None), "all": ("running", None)}, failed={"a": "build failed: x"}
    )
    everything, a, b = said(events)
    assert a == "a: not measured alone: build failed: x."
    assert b == "b: no valid trial on load alone (invalid: because)."
    assert "not decided yet" in everything
    cells = {row[0]: row for row in patches.table(fold(events.made), "load")}
    assert cells["a"][2] == "failed"


def test_the_table_has_a_row_for_every_build_at_80_columns() -> None:
    summary = fold(three().made)
    text = printed(summary)
    assert max(map(len, text.splitlines())) <= 80
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "patch build verdict ratio gate compiled" in lines
    assert "a alone faster 1.050 [1.045, 1.055] passed 3 of 1200" in lines
    assert "c alone identical code - same 3 of 1200" in lines
    assert "all 3 together faster 1.029 [1.024, 1.034] passed 3 of 1200" in lines
    assert "c all but it faster (=) 1.029 [1.024, 1.034] passed 3 of 1200" in lines
    joined = " ".join(text.split())
    assert "(=) all-but-c is the same program as all, to the byte: measured once" in joined
    assert "(unpatched: 3 of 1200)" in joined
    assert "every row is built as gcc-o3, plus patches" in joined
    shown = markdown(summary)
    assert "| c | alone | identical code | - | same | 3 of 1200 |" in shown
    assert "* a: helps load by" in shown


def test_longest_names_fold() -> None:
    name = "01-a-subject-of-a-commit-that-is-rather-long-indeed"
    events = study({name: []}, [(name, "alone", name, [name])], {name: ("equivalent", interval(11.4, 0.1, 0.9))})
    summary = fold(events.made)
    lines = printed(summary).splitlines()
    assert max(map(len, lines)) <= 80
    assert any("11.400 [10.315, 12.599]*" in line for line in lines)
    assert "no room at this width for: gate, compiled" in lines
    assert any("11.400 [10.315, 12.599]* passed" in line for line in printed(summary, 120).splitlines())


def test_values_for_machines() -> None:
    events = three().add(
        "symbols",
        variant="a",
        workload="load",
        study="fake-why-1",
        unit="transaction",
        cpu=[5e-5, 4e-5],
        functions=[
            {"part": "own", "name": "crc32c", "before": 2e-5, "after": 1e-5, "difference": -1e-5, "error": 1e-6}
            | {"certain": True, "note": "gone"}
        ],
    )
    events.add("symbols", variant="b", workload="load", failure="perf may not sample here")
    found = json.loads(json.dumps(values.run(fold(events.made))))["patched"]
    assert found["recipe"] == "gcc-o3"
    adds = {each["patch"]: each for each in found["adds"]}
    assert adds["a"]["to_the_others"]["ratio"] == pytest.approx(1.029 / 0.98)
    assert adds["c"]["to_the_others"]["exact"] is True
    assert adds["a"]["to_what_it_needs"]["ratio"] == pytest.approx(1.05), "it needs nothing: against the unpatched tree"
    assert [each["compiled"] for each in found["builds"]] == [[3, 1200]] * 7
    text = " ".join(printed(fold(events.made)).split())
    assert "a on load: functions, µs per transaction" in text
    assert "crc32c 20.000 10.000 -10.000 2.000 gone" in text
    assert "burnish show fake-why-1" in text
    assert "b on load: no samples perf may not sample here" in text


def test_other_studies_have_no_series() -> None:
    summary = fold(Events("baseline", "one").run().made)
    assert summary.patched is None
    assert values.run(summary)["patched"] is None


def test_effects_add_up_on_the_logarithmic_scale() -> None:
    one, other = Effect(1.10, 1.08, 1.12), Effect(1.05, 1.04, 1.06)
    between = against(one, other)
    assert between.ratio == pytest.approx(1.10 / 1.05)
    width = math.log(between.high / between.low)
    assert width == pytest.approx(math.hypot(math.log(1.12 / 1.08), math.log(1.06 / 1.04)))
    assert between.size == between.words
    assert Effect(0.98, 0.97, 0.99).size == "2.0 % [1.0, 3.0]"


def test_an_interval_at_another_level_is_widened() -> None:
    events = study({"a": []}, [("a", "alone", "a", ["a"])], {"a": ("equivalent", ratio(1.0, level=0.90))})
    (row,) = fold(events.made).rows
    found: Any = effect(row)
    assert found.high > 1.01
    assert found.low < 0.99


def test_a_patch_that_adds_nothing_to_what_it_needs_is_said_of_these() -> None:
    builds = [("a", "alone", "a", ["a"]), ("all", "all", "", ["a", "b"])]
    values = {"a": ("faster", interval(1.05, 0.001)), "all": ("faster", interval(1.0505, 0.001))}
    b = said(study({"a": [], "b": ["a"]}, builds, values))[-1]
    assert "; on top of these it adds nothing to load (0.0 % [" in b
    assert "of all costs nothing" not in b
