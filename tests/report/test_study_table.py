"""A study's table from events made by hand: every cell has a verdict or a reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from burnish.record.by_type import ByType
from burnish.record.events.bundled import TablePlanned
from burnish.record.events.verdicts import HostVerdict, Interval
from burnish.report.answer.around import Around
from burnish.report.bundled.advice import advice
from burnish.report.bundled.fold import study_table
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.contents import answer
from burnish.report.document import Section
from burnish.report.fold import fold
from burnish.report.page import cells as page_cells
from burnish.report.page.details import details
from burnish.report.sections.bundled import cells as study_cells
from burnish.report.sections.bundled import hosts, reasons
from burnish.report.sections.bundled.extras import matrices
from burnish.report.sections.conclusion import sentences
from burnish.report.words import per_cent
from burnish.study.trials.repeated import Repeated
from drawn import cells, drawn, head, markdown, points, printed, title
from reported import Events, bounded, comparison, key, ratio, verdict


def shipped(*comparisons: dict[str, Any], cut: dict[str, str] | None = None, recommends: bool = False) -> Events:
    events = Events("baseline", verb="a-study").run()
    rows = {each["row"]: {"title": each["row"], "reason": "because of a test"} for each in comparisons}
    events.add(
        "shipped",
        study="a-study",
        title="A study",
        reason="of a test",
        sources=["mysql-manual"],
        recommends=recommends,
        rows=rows,
        readings={"": {"title": "", "reason": ""}},
        series={"": ""},
        builds=[
            "baseline",
            *dict.fromkeys(each["candidate"] for each in comparisons if each["candidate"] != "release"),
        ],
        comparisons=list(comparisons),
        cut=cut or {},
    )
    return events


def sections(table: StudyTable) -> list[Section]:
    """Its tables, and what stands below them."""
    below = [*reasons.missing(table), *reasons.doubtful(table), reasons.conclusion(table)]
    return [*study_cells.sections(table), *below]


def decided(
    events: Events,
    row: str,
    kind: str,
    value: float,
    *,
    steps: str = "w",
    on: str = "",
    throughput: float | None = None,
) -> Events:
    body = {**verdict(f"{row} / {steps}", kind, ratio(value)), "cell": f"baseline: {row} / {steps}"}
    if throughput is not None:
        body["throughput"] = ratio(throughput)
    if on:
        body |= {"hosts": [{"host": on, "starts": 6, "interval": ratio(value)}], "hosts_differ": False}
    return events.add("verdict", **body)


def text(events: Events) -> str:
    return printed(fold(events.made))


def every_kind() -> Events:
    events = shipped(
        comparison("tls", published_words="-55"),
        comparison("memory", measure="compile-memory", cell=None, published_words="200 MB"),
        comparison("restrict", reason="no equivalent today: none", final=True),
        comparison("clang"),
        comparison("later"),
        comparison("next"),
        cut={key("later"): "cut by --budget: its row needs about 9 min"},
    )
    decided(events, "tls", "slower", 0.5)
    events.add("measured", key=key("memory"), words="310 MB (as usual 250)", note="peak of yy_mariadb.cc.o")
    return events.add("left", key=key("clang"), why="left out: no clang", final=False)


def test_what_is_decided_by_itself_only_is_named_in_short_too() -> None:
    events = shipped(comparison("pgo"), comparison("lto"))
    decided(decided(events, "pgo", "faster", 1.3), "lto", "faster", 1.02)
    usual = {"p": 0.04, "adjusted_p": 0.08, "adjusted_equivalence_p": 1.0, "label": ""}
    final = {"pgo": "faster", "lto": "undecided"}
    cells = {f"baseline: {row} / w": {"verdict": kind, **usual} for row, kind in final.items()}
    result = fold(events.add("family", explore=True, cells=cells).made)
    short = " ".join(drawn(answer(result, Around("run", verbs={"show"})), 80).split())
    assert "corrected undecided once all comparisons count together: lto" in short
    assert [shown.verdict for shown in page_cells.shown(result, details(events.made))] == ["faster", "undecided"]


def test_a_table_of_several_quantities_says_which_row_is_of_which() -> None:
    quantities = {"tls": "throughput", "memory": "capacity", "clang": "capacity"}
    events = shipped(*(comparison(row, quantity=quantity) for row, quantity in quantities.items()))
    decided(events, "memory", "faster", 1.4)
    assert "all others in" not in text(events), "what is not measured has no quantity yet"
    decided(events, "clang", "faster", 1.3)
    assert "all others in" not in text(events)
    decided(events, "tls", "slower", 0.9, throughput=0.5)
    assert "in throughput: tls; all others in capacity" in text(events)


def test_rows_of_several_quantities_on_all_cores_have_both_beside_them() -> None:
    quantities = {"a": "throughput", "b": "capacity"}
    events = shipped(*(comparison(row, quantity=quantity) for row, quantity in quantities.items()))
    for row in quantities:
        body = {**verdict(f"{row} / w", "faster", ratio(1.4)), "cell": f"baseline: {row} / w", "throughput": ratio(1.2)}
        events.add("verdict", **body, placement="whole")
    head = next(line for line in text(events).splitlines() if line.startswith("row") and "capacity" in line)
    assert "throughput" in head


def test_every_cell_has_a_verdict_or_a_reason() -> None:
    table = fold(every_kind().made).shipped
    assert table is not None
    found = {line.row: (line.verdict, line.reason, line.settled) for line in table.lines}
    assert found["tls"] == ("slower", "slower: because", True)
    assert found["memory"] == ("measured", "peak of yy_mariadb.cc.o", True)
    assert found["restrict"] == ("", "no equivalent today: none", True)
    assert found["clang"] == ("", "left out: no clang", False)
    assert found["later"] == ("", "cut by --budget: its row needs about 9 min", False)
    assert found["next"] == ("", "not measured yet", False)
    assert all(line.verdict or line.reason for line in table.lines)


def test_published_stands_beside_measured_and_what_was_cut_below() -> None:
    said = text(every_kind())
    assert "tls" in said
    assert "-55" in said
    assert "-50.0 [-50.5, -49.5]" in said
    assert "later: cut by --budget: its row needs about 9 min" in said
    assert "restrict: no equivalent today: none" in said
    assert "2 of 6 cells have a verdict or figure" in said
    assert max(map(len, said.splitlines())) <= 80
    assert "| tls | -55 | -50.0 [-50.5, -49.5] | slower |" in markdown(fold(every_kind().made))


def test_a_later_verdict_wins_over_an_earlier_reason() -> None:
    table = fold(decided(every_kind(), "clang", "faster", 1.1).made).shipped
    assert table is not None
    (line,) = [line for line in table.lines if line.row == "clang"]
    assert (line.verdict, line.measured) == ("faster", "+10.0 [+8.9, +11.1]")


def test_a_binary_is_found_under_the_name_that_it_was_tried_by() -> None:
    events = shipped(comparison("release"))
    events.add("tried", key=key("release"), cell="baseline: release 12345678 / w")
    decided(events, "release 12345678", "equivalent", 1.0)
    table = fold(events.made).shipped
    assert table is not None
    assert table.lines[0].verdict == "equivalent"


def ladder(kinds: dict[str, tuple[str, float]], on: dict[str, str] | None = None) -> Events:
    made = [
        comparison(row, threads=step, cell=f"baseline: {row} / w:threads={step}") for row in kinds for step in (1, 4)
    ]
    events = shipped(*made, recommends=True)
    for row, (kind, value) in kinds.items():
        for step in (1, 4):
            decided(events, row, kind, value, steps=f"w:threads={step}", on=(on or {}).get(row, ""))
    return events


def test_a_ladder_is_a_table_of_rows_by_threads() -> None:
    said = text(ladder({"unroll": ("faster", 1.05), "native": ("slower", 0.9)}))
    assert "% at threads" in said
    assert "+5.0 +" in said
    assert "-10.0 -" in said


def test_a_ladder_has_the_rows_that_were_asked_for() -> None:
    """One whose build failed is among them, one that --row left out is not, nor what is said of how it is unlike."""
    figure = {"low": 5.0, "high": 5.0, "unit": "%", "note": ""}
    unlike = {"likeness": "stand-in", "published": figure, "published_words": "+5"}
    made = [
        comparison(row, threads=step, cell=f"baseline: {row} / w:threads={step}", unlike=[f"{row} differs"], **unlike)
        for row in ("asked", "failed", "out")
        for step in (1, 4)
    ]
    events = shipped(*made, cut={each["key"]: "left out by --row" for each in made if each["row"] == "out"})
    for step in (1, 4):
        decided(events, "asked", "faster", 1.05, steps=f"w:threads={step}")
    for each in made:
        if each["row"] == "failed":
            events.add("left", key=each["key"], why="failed its gate: some.test", final=False)
    table = fold(events.made).shipped
    assert table is not None
    compact, *_ = sections(table)
    assert [row[0] for row in cells(compact)] == ["asked", "failed"]
    said = text(events)
    assert "asked differs" in said
    assert "out differs" not in said


def test_the_best_row_is_recommended_in_per_cent() -> None:
    events = ladder({"unroll": ("faster", 1.05), "native": ("slower", 0.9), "fbo": ("faster", 1.2)})
    (said,) = sentences(fold(events.made))
    assert said.startswith("build with fbo: +20.0 % over the baseline (+20.0 [+18.8, +21.2] at 1 thread, ")
    assert "looks better than it is" in said
    for step in (1, 4):
        again = f"again, baseline: fbo / w:threads={step}"
        events.add("again", key=key("fbo", threads=step), cell=again)
        events.add("verdict", **{**verdict("fbo / w", "faster", ratio(1.18)), "cell": again, "role": "confirmation"})
    (said,) = sentences(fold(events.made))
    assert "measured again on fresh starts: +18.0 [+16.8, +19.2], +18.0 [+16.8, +19.2], the figures to quote" in said


def test_rows_that_are_tied_are_said_and_are_values() -> None:
    events = ladder({"fbo": ("faster", 1.205), "unroll": ("faster", 1.2), "native": ("faster", 1.05)})
    table = fold(events.made).shipped
    assert table is not None
    (advised,) = table.advised
    assert (advised.row, advised.tied) == ("fbo", ("unroll",))
    words = "; tied with unroll, as no difference is proved: take "
    assert f"{words}fbo, as none of them takes fewer steps to build." in advised.words
    assert table.advice[0] == advised.words
    for name, steps in (("fbo", ("compile", "train", "compile")), ("unroll", ("compile",))):
        stages = [{"key": str(number), "title": title} for number, title in enumerate(steps)]
        events.add("build", variant=name, key=name, about={}, identity={}, stages=stages)
    (said,) = sentences(fold(events.made))
    assert f"{words}unroll, the simpler one." in said


def test_rows_of_the_same_sittings_are_compared_by_what_they_share() -> None:
    events = ladder({"fbo": ("faster", 1.2), "unroll": ("faster", 1.15)})
    table, (planned,) = fold(events.made).shipped, ByType(events.made).of(TablePlanned)
    assert table is not None
    assert table.advised[0].tied == (), "each by itself is known to a per cent"

    def beside(one: Line, other: Line) -> Interval | None:
        wide = (1.04, 0.99, 1.09) if one.row == "fbo" else (0.96, 0.92, 1.01)
        return Interval(*wide, level=0.95) if one.threads == other.threads == 4 else None

    (advised,) = advice(table.lines, {}, planned, {}, beside)
    assert (advised.row, advised.tied) == ("fbo", ()), "proved by the load on one thread"
    (advised,) = advice([line for line in table.lines if line.threads == 4], {}, planned, {}, beside)
    assert (advised.row, advised.tied) == ("fbo", ("unroll",))


def test_starts_that_two_rows_tell_of_are_said_to_be_the_same() -> None:
    cell = "baseline: A/A / w"
    made = [
        comparison("baseline", cell=cell, control=True),
        comparison("debug"),
        comparison("baseline", reading="igen", cell=cell, control=True),
        comparison("debug again", cell="baseline: debug / w"),
    ]
    events = shipped(*made)
    events.add("verdict", **{**verdict("A/A / w", "equivalent", ratio(1.0)), "cell": cell})
    decided(events, "debug", "slower", 0.4)
    table = fold(events.made).shipped
    assert table is not None
    said = [line for line in points(*sections(table)) if "the same starts" in line]
    assert said == [
        "debug again: the same starts as in debug, not measured a second time",
        "baseline: the same starts as in 'A study', not measured a second time",
    ]


def test_what_is_recommended_was_compared_with_the_baseline_in_whatever_reading() -> None:
    """Not a row compared with another row, nor the baseline with a change of source, nor what was not built here."""
    made = [
        comparison("baseline", candidate="baseline again", control=True),
        comparison("baseline", reading="source", cell="baseline: noinline / w"),
        comparison("release"),
        comparison("alias", base="unroll"),
        comparison("unroll"),
        comparison("fbo", reading="feedback"),
        comparison("fbo", reading="igen", base="fbo", cell="fbo: fbo.igen / w"),
        comparison("native", series="clang", base="clang.baseline", cell="baseline: native / w"),
    ]
    events = shipped(*made, recommends=True)
    for row, value in {
        "noinline": 1.5,
        "release": 1.4,
        "alias": 1.3,
        "unroll": 1.1,
        "fbo": 1.2,
        "native": 1.05,
    }.items():
        decided(events, row, "faster", value)
    first, second = sentences(fold(events.made))
    assert first.startswith("build with fbo: +20.0 % over the baseline")
    assert "the best of 2 " in first
    assert second.startswith("clang: build with native: +5.0 % over the baseline")


def test_builds_beside_a_program_that_was_not_built_here_keep_their_gates() -> None:
    events = shipped(comparison("release"))
    events.add("build", variant="baseline", key="k", about={}, identity={})
    events.add("gate", variant="baseline", report={"passed": True, "tests": 7, "skipped": 0, "failures": []})
    events.add("program", variant="release", path="/usr/sbin/a", key="r", identity={})
    gates = {build.variant: build.gate for build in fold(events.made).builds}
    assert gates == {"baseline": "passed 7", "release": "not built here"}


def test_nothing_is_recommended_when_nothing_is_faster() -> None:
    (said,) = sentences(fold(ladder({"native": ("slower", 0.9), "unroll": ("equivalent", 1.0)}).made))
    assert said.startswith("no row is faster than the baseline")
    assert "slower somewhere: native" in said


def test_many_rows_that_were_not_asked_for_are_one_line() -> None:
    made = [comparison(f"row{n}", series="clang") for n in range(6)]
    events = shipped(
        comparison("one"),
        *made,
        cut={key(f"row{n}", series="clang"): "not asked for: --series clang brings it" for n in range(6)},
    )
    found = fold(events.made).shipped
    assert found is not None
    (block,) = [block for block in sections(found) if title(block).startswith("clang")]
    assert points(block) == ["6 cells: not asked for: --series clang brings it"]


def test_a_series_that_nobody_asked_for_is_a_line_for_each_reason() -> None:
    why = {f"row{n}": "left out by --rows" if n < 4 else "not asked for: --series clang brings it" for n in range(6)}
    cut = {key(row, series="clang"): each for row, each in why.items()}
    events = shipped(comparison("one"), *(comparison(row, series="clang") for row in why), cut=cut)
    found = fold(events.made).shipped
    assert found is not None
    (block,) = [block for block in sections(found) if title(block).startswith("clang")]
    assert points(block) == ["4 cells: left out by --rows", "2 cells: not asked for: --series clang brings it"]


def test_a_record_of_another_verb_has_no_table() -> None:
    assert study_table(Repeated(ByType(()), {}), {}) is None
    assert fold(Events("baseline").made).shipped is None


def test_ratios_in_per_cent() -> None:
    assert per_cent(bounded(1.0)) == "+0.0 [-1.0, +1.0]"


def matrix() -> Events:
    cells = {("a", "x"): 1.2, ("a", "y"): 0.9, ("b", "x"): 1.1, ("b", "y"): 1.05}
    events = shipped(*(comparison(row, load=load, cell=f"baseline: {row} / {load}") for row, load in cells))
    for (row, load), value in cells.items():
        decided(events, row, "faster" if value > 1 else "slower", value, steps=load)
    return events


def test_rows_on_several_loads_are_a_matrix_with_the_worst_cell() -> None:
    said = text(matrix())
    assert "trained on (rows), tested on (columns)" in said
    assert "y -10.0" in said
    assert "y +5.0" in said


def test_a_matrix_of_several_hosts_says_whose_row_each_is() -> None:
    table = fold(matrix().made).shipped
    assert table is not None
    (alone,) = matrices(table)
    lines = tuple(replace(line, hosts=(HostVerdict(line.row.upper(), 6),)) for line in table.lines)
    (apart,) = matrices(replace(table, lines=lines))
    assert head(alone) == ("", "x", "y", "worst")
    assert points(alone) == []
    assert head(apart) == ("", "on", "x", "y", "worst")
    assert [row[:2] for row in cells(apart)] == [("a", "A"), ("b", "B")]
    assert points(apart) == ["rows from different hosts cannot be compared with each other"]
    one = tuple(replace(line, hosts=(HostVerdict("A", 6),)) for line in table.lines)
    assert head(matrices(replace(table, lines=one))[0]) == head(alone)


def test_a_ladder_of_several_hosts_says_whose_row_each_is() -> None:
    kinds = {"unroll": ("faster", 1.05), "native": ("slower", 0.9), "fbo": ("slower", 0.9)}
    made = fold(ladder(kinds, {"unroll": "A", "native": "B", "fbo": "B"}).made)
    assert made.shipped is not None
    compact, every, *_ = sections(made.shipped)
    assert head(compact) == ("% at threads", "on", "1", "4")
    assert [row[:2] for row in cells(compact)] == [("unroll", "A"), ("native", "B"), ("fbo", "B")]
    assert "rows from different hosts cannot be compared with each other" in points(compact)
    assert head(every)[:3] == ("row", "on", "thr")
    assert [row[:3] for row in cells(every)[1:3]] == [("unroll", "A", "4"), ("native", "B", "1")]
    (said,) = made.shipped.advice
    assert said.endswith("rows from different hosts cannot be compared with each other.")
    together = replace(made, merged={"hosts": ["A", "B"], "studies": []})
    (block,) = hosts.sections(made.shipped, together)
    assert points(block)[-2:] == ["measured on A alone: unroll", "measured on B alone: native; fbo"]
    lines = tuple(replace(line, hosts=(HostVerdict(f"{line.threads}", 6),)) for line in made.shipped.lines[:2])
    (block,) = hosts.sections(replace(made.shipped, lines=lines), together)
    assert points(block)[-2:] == ["measured on 1 alone: unroll, 1", "measured on 4 alone: unroll, 4"]


def test_a_cell_of_a_row_on_several_loads_is_told_with_its_load() -> None:
    events = shipped(
        *(comparison("a", load=load, cell=f"baseline: a / {load}") for load in "xyz"),
        comparison("b", load="x", cell="baseline: b / x"),
    )
    decided(events, "a", "undecided", 1.0, steps="y")
    decided(events, "b", "undecided", 1.0, steps="x")
    decided(events, "a", "faster", 1.1, steps="x")
    said = points(*sections(fold(events.made).shipped))  # type: ignore[arg-type]
    assert "a, y: undecided: because" in said
    assert "b: undecided: because" in said
    assert "a on z: not measured yet" in said


def test_seconds_profiles_and_weights_are_told() -> None:
    events = matrix()
    for name, rate in (("original", 1000.0), ("pgo", 1400.0)):
        seconds = [{"second": n, "rate": rate + n, "p95": 0.001} for n in (1, 2, 3)]
        events.add("timeline", build=name, row=name, workload="x", seconds=seconds)
    events.add(
        "profile_facts", variant="pgo", training=[["x", 1.0]], functions=200, counted=20, hot=5, hottest=[["f", 0.5]]
    )
    for number, low in ((1, 0.95), (2, 1.0)):
        events.add(
            "robust",
            round=number,
            weights={"x": 0.5, "y": 0.5},
            intervals={"x": ratio(1.1), "y": ratio(low)},
            robust=low >= 1,
            delta=0.01,
            rounds=4,
            alone={"x": "a"},
        )
    said = text(events)
    assert "pgo: █" in said
    assert "+39.9 % over the first" in " ".join(said.split())
    assert "20 of 200 functions counted" in said
    assert "Round 2 is on no load slower" in said
    told = "trained on it alone +20.0 [+18.8, +21.2] %: the mix compared with that -8.3 [-9.6, -7.0] %"
    assert f"x: +10.0 [+8.9, +11.1] % over the baseline; {told}" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 80


def test_a_suite_has_its_tests_and_a_mean_of_them() -> None:
    events = shipped(
        *(
            comparison("debug", test=f"tests={test}", cell=f"baseline: debug / s:tests={test}",
                       published_words="-35")
            for test in ("ATIS", "insert")
        )
    )  # fmt: skip
    for test, value in (("ATIS", 0.5), ("insert", 0.8)):
        decided(events, "debug", "slower", value, steps=f"s:tests={test}")
    said = text(events)
    assert "debug, insert" in said
    assert "-36.8 [" in said, "the geometric mean of both"
    assert "2 of 2" in said
    assert "trained on (rows)" not in said
