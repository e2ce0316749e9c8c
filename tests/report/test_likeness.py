"""How a record's lines relate to what was published: as recorded, in older records as today's file says."""

from __future__ import annotations

from dataclasses import replace

from burnish.model.cell import ComparisonId
from burnish.record.events.bundled import PlannedComparison, PublishedFigure, TablePlanned, Titled
from burnish.report.bundled.likeness import OLDER, completed, not_replicated, today
from burnish.report.fold import fold
from drawn import markdown, printed
from reported import Events, comparison, ratio, verdict


def planned(row: str, reading: str, base: str, candidate: str, figure: PublishedFigure) -> PlannedComparison:
    return PlannedComparison(
        id=ComparisonId(row, "gcc", reading, "read_only", 1, ""),
        workload="oltp_read_only:threads=1",
        cell=None,
        base=base,
        candidate=candidate,
        quantity="capacity",
        published=figure,
        published_words="+1",
    )


def table(study: str, *comparisons: PlannedComparison) -> TablePlanned:
    return TablePlanned(
        study=study, title="", reason="", sources=(), recommends=False, rows={}, readings={}, series={}, builds=(),
        comparisons=comparisons, architecture="x86_64",
    )  # fmt: skip


FEEDBACK = planned("fbo", "feedback", "baseline", "gcc.fbo", PublishedFigure(8.8, 8.8))
ALIAS = planned("fbo-alias", "feedback", "baseline", "gcc.fbo-alias", PublishedFigure(7.6, 7.6))


def of(asked: PlannedComparison, study: str = "sun-2008") -> PlannedComparison:
    return completed(asked, today(table(study, asked), "mariadb"))


def test_an_older_record_takes_the_likeness_of_the_same_comparison_today() -> None:
    result = of(FEEDBACK)
    assert result.likeness == "different"
    assert any("published over -fast" in reason for reason in result.unlike)
    assert replace(result, likeness="", unlike=()) == FEEDBACK, "its figures are the record's own"


def test_a_records_own_likeness_wins() -> None:
    own = replace(FEEDBACK, likeness="stand-in", unlike=("Said when it was measured.",))
    assert of(own) == own


def test_a_comparison_with_other_sides_is_not_the_same() -> None:
    for changed in (replace(FEEDBACK, base="gcc.ofast"), replace(FEEDBACK, candidate="gcc.fbo-2")):
        assert (of(changed).likeness, of(changed).unlike) == ("", (OLDER,))


def test_aliasing_taken_away_is_no_answer_to_aliasing_added() -> None:
    result = of(ALIAS)
    assert result.likeness == "different"
    assert "the opposite of what was published" in result.unlike[0]
    assert of(replace(ALIAS, id=replace(ALIAS.id, reading="igen"))).likeness == "different"


def test_a_published_rate_takes_the_place_of_a_share_of_samples() -> None:
    checksum = PlannedComparison(
        id=ComparisonId("crc32-hardware", "", "", "checksum", None, ""),
        workload="checksum", cell=None, base="without-crc32-hardware", candidate="baseline", quantity="capacity",
        published=PublishedFigure(49.46, 8.15, "% of samples"), published_words="49.46 to 8.15", shows="shows",
    )  # fmt: skip
    result = of(checksum, "arm-2020")
    assert (result.published, result.published_words) == (PublishedFigure(50.0, 50.0), "+50")
    assert result.likeness == "stand-in"


def test_a_record_of_no_study_known_here_stays_as_it_is() -> None:
    assert of(FEEDBACK, "a-study") == FEEDBACK


def test_what_is_not_replicated_is_the_records_own_or_todays() -> None:
    old = table("sun-2008", FEEDBACK)
    assert "2, 8 and 32 threads" in [part.title for part in not_replicated(old, today(old, "mariadb"))]
    own = replace(old, not_replicated=(Titled("one part", "for a reason of then"),))
    assert not_replicated(own, today(own, "mariadb")) == own.not_replicated


def study() -> Events:
    """A study with a claim of each likeness, and one that is not measured."""
    figure = {"low": 4.0, "high": 4.0, "unit": "%", "note": ""}
    claimed = {"published": figure, "published_words": "+4"}
    comparisons = [
        comparison("same", **claimed, likeness="as published"),
        comparison("near", **claimed, likeness="stand-in", unlike=["clang in place of a compiler that is gone"]),
        comparison("far", **claimed, likeness="different", unlike=["a pool is no library of threads"]),
        comparison("later", **claimed, likeness="as published"),
    ]
    titles = {"same": "the very same", "near": "another compiler", "far": "threads", "later": "later"}
    events = Events("baseline", verb="a-study").run()
    events.add(
        "shipped", study="a-study", title="A study", reason="of a test", sources=["mysql-manual"], recommends=False,
        rows={row: {"title": title, "reason": "because of a test"} for row, title in titles.items()},
        readings={"": {"title": "", "reason": ""}}, series={"": ""},
        builds=["baseline", *titles], comparisons=comparisons, cut={},
        not_replicated=[{"title": "the other table", "reason": "Nobody has such a machine."}],
    )  # fmt: skip
    for row, kind, value in (("same", "faster", 1.04), ("near", "slower", 0.9), ("far", "faster", 1.04)):
        events.add("verdict", **{**verdict(f"{row} / w", kind, ratio(value)), "cell": f"baseline: {row} / w"})
    return events


def test_the_report_begins_with_how_many_claims_still_hold() -> None:
    result = fold(study().made)
    assert result.shipped is not None
    assert [line.holds for line in result.shipped.lines] == ["yes", "reversed", "undecided", ""]
    said = printed(result)
    lines = said.splitlines()
    assert lines[0] == "Does it still hold?"
    flat = " ".join(said.split())
    assert "1 of 3 published claims still holds here: 1 is reversed, 1 is undecided" in flat
    assert "1 more claim has not been measured." in flat
    assert any(line.startswith("the very same") and line.endswith("yes") and "+4 =" in line for line in lines)
    assert any(line.startswith("another compiler") and line.endswith("reversed") and "+4 ~" in line for line in lines)
    assert "= as published, ~ stand-in, # different" in flat
    assert "not as published in near: clang in place of a compiler that is gone" in flat
    assert "not as published in far: a pool is no library of threads" in flat
    assert max(map(len, lines)) <= 80


def test_what_is_not_replicated_is_a_count_in_a_terminal_and_a_list_in_markdown() -> None:
    result = fold(study().made)
    assert "1 part of the published tables has no counterpart here" in printed(result)
    assert "Nobody has such a machine." not in printed(result)
    plain = markdown(result)
    assert "* the other table: Nobody has such a machine." in plain
    assert "| same | +4 = |" in plain
    assert "| as published | yes |" in plain
