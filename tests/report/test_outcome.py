"""A run that has measured nothing says so and why, and is told apart from one that has."""

from __future__ import annotations

from dataclasses import replace

from test_patch_report import study
from test_study_table import decided, shipped

from burnish.report.fold import fold
from burnish.report.sections.conclusion import sentences
from burnish.report.values import runs as values
from drawn import markdown, printed
from reported import Events, comparison, key, ratio, verdict


def test_all_variants_failed() -> None:
    events = Events("baseline", "wrong", "broken", "missing").run()
    failures = [["answers", "no"]]
    events.add("gate", variant="wrong", report={"passed": False, "tests": 7, "skipped": 0, "failures": failures})
    events.add("variant", variant="broken", failure="build failed: x.c: no", notes=[])
    events.add("variant_missing", variant="missing", why="no compiler 'gcc-99'")
    result = fold(events.add("finished").made)
    assert result.nothing_measured
    reasons = "wrong: failed: answers; broken: build failed: x.c: no; missing: no compiler 'gcc-99'"
    said = f"Nothing could be compared: {reasons}."
    assert sentences(result) == [said]
    assert said in " ".join(printed(result).split())
    assert f"* {said}" in markdown(result)
    assert values.run(result)["nothing_measured"] is True
    assert values.run(result)["sentences"] == [said]


def test_all_cells_were_invalid() -> None:
    events = Events("baseline", "a", "b").run().contest("a / w", "b / w")
    for name in ("a", "b"):
        events.add("verdict", **verdict(f"{name} / w", "invalid", None, reason="invalid: the server crashed"))
    result = fold(events.add("finished").made)
    assert result.nothing_measured
    assert sentences(result) == ["Nothing could be compared: a on w, b on w: invalid: the server crashed."]


def test_what_fails_for_one_reason_is_said_once() -> None:
    names = [f"search-{number:02}" for number in range(1, 10)]
    events = Events("baseline", "other", *names).run()
    for name in names:
        events.add("variant", variant=name, failure=f"build failed: x.c: no (log: logs/build-{name}.log)", notes=[])
    run = fold(events.add("finished").made)
    reason = "build failed: x.c: no (log: logs/build-search-01.log)"
    few = "search-01, search-02, search-03, search-04, search-05 and 4 more"
    assert sentences(run) == [f"Nothing could be compared: {few}: {reason}."]


def test_what_is_measured_or_known_is_something() -> None:
    one = Events("baseline", "a", "b").run().contest("a / w", "b / w")
    one.add("verdict", **verdict("a / w", "invalid", None)).add("verdict", **verdict("b / w", "undecided", ratio(1.0)))
    assert not fold(one.add("finished").made).nothing_measured
    same = Events("baseline", "a", workloads=["w"]).run()
    same.add("variant", variant="a", failure=None, same=True, notes=[])
    assert not fold(same.add("finished").made).nothing_measured, "identical code is an answer"


def test_a_run_that_was_not_finished_has_not_failed() -> None:
    assert not fold(Events("baseline", "a").run().made).nothing_measured
    assert not fold(Events("baseline", "a").run().contest("a / w").made).nothing_measured


def test_nothing_beside_the_baseline() -> None:
    result = fold(Events("baseline").run().add("finished").made)
    assert sentences(result) == ["Nothing could be compared: there was nothing beside the baseline."]


def test_bundled_studies_patches_calibrations_and_explanations() -> None:
    events = shipped(comparison("one", reason="no equivalent today", final=True), comparison("two"))
    events.add("left", key=key("two"), why="left out: no clang", final=False)
    bundled = fold(events.add("finished").made)
    assert bundled.nothing_measured
    assert "Nothing could be compared: one: no equivalent today; two: left out: no clang." in markdown(bundled)
    assert not fold(decided(events, "two", "faster", 1.1).made).nothing_measured
    patch = study({"a": []}, [("a", "alone", "a", ["a"])], {}, failed={"a": "build failed: x"})
    assert sentences(fold(patch.add("finished").made)) == ["Nothing could be compared: a: build failed: x."]
    calibrated = fold(Events("baseline", verb="calibrate").run().add("finished").made)
    assert calibrated.nothing_measured
    assert "Nothing could be calibrated" in printed(calibrated)
    assert not replace(calibrated, ended=None).nothing_measured
    assert fold(Events("a", "b", verb="why").run().add("finished").made).nothing_measured
