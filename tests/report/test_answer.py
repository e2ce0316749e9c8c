"""The short report: the answer first, a line for each variant, on one screen of 80 columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from burnish.model.cell import Role
from burnish.record.events.searches import SearchBegun, SearchEnded
from burnish.report.analysis import outcome
from burnish.report.analysis.deployed import Deployed, Tried
from burnish.report.analysis.loads import over_loads
from burnish.report.answer import onward
from burnish.report.answer.around import Around
from burnish.report.answer.facts import noise
from burnish.report.answer.words import change
from burnish.report.committed import result_of_file
from burnish.report.contents import answer, document
from burnish.report.fold import fold
from burnish.report.quantities import Measured, compared
from burnish.report.render import terminal
from burnish.report.result import Canary, Result
from burnish.report.sections.verdicts import spared
from burnish.report.values import runs
from burnish.statistics.intervals import Interval
from drawn import drawn
from reported import Events, ratio, verdict

RESULTS = Path(__file__).parents[2] / "docs" / "results"
RECORDS = sorted(path.name.removesuffix(".jsonl.xz") for path in RESULTS.glob("*.jsonl.xz"))
FILE = "/home/dba/.local/share/burnish/store/builds/0a2882e4fddd3606/sql/mariadbd"
RECIPES = {"baseline": {"bolt": False}, "plain": {"bolt": False}, "bolted": {"bolt": True}}


SEARCH = SearchBegun("default", 7200.0, 1, "", 28, 71_884_800, {}, 10.0, 600.0, 10.0, {"read": 1.0})


def tuned(
    verdicts: Mapping[str, Mapping[str, tuple[str, float | None]]], *, ended: bool = True, **about: Mapping[str, Any]
) -> Result:
    """A tune: by candidate and load the verdict with its ratio; `about`: facts of a variant by its name."""
    events = Events("baseline", *verdicts, recipes=RECIPES).run()
    events.add("source", origin="Debian source package fake 1.0-1 (bookworm)", digest="abc", note="")
    for name in ("baseline", *verdicts):
        facts = {"failure": None, "notes": [], "weakens_security": False, **about.get(name, {})}
        if not facts["failure"]:
            events.add("build", variant=name, key="k", about={"toolchain": "gcc-12", "seconds": 1.0}, identity={})
            events.add("gate", variant=name, report={"passed": True, "tests": 222, "skipped": 0, "failures": []})
        events.add("variant", variant=name, **facts)
    cells = [f"{name} / {load}" for name, loads in verdicts.items() for load in loads]
    events.contest(*cells)
    for name, loads in verdicts.items():
        for load, (kind, value) in loads.items():
            if kind != "running":
                events.add("verdict", **verdict(f"{name} / {load}", kind, ratio(value) if value else None))
    return fold((events.add("finished") if ended else events).made)


def printed(
    result: Result, file: str = FILE, verbs: tuple[str, ...] = ("show", "reproduce"), width: int = 80, pull: str = ""
) -> str:
    return drawn(answer(result, Around(result.name, file, 40_000_000, verbs, pull)), width)


def flat(text: str) -> str:
    return " ".join(text.split())


TWO = {
    "slow": {"read": ("slower", 0.9), "write": ("undecided", 1.0)},
    "plain": {"read": ("faster", 1.25), "write": ("faster", 1.15)},
    "bolted": {"read": ("faster", 1.252), "write": ("faster", 1.151)},
}


def test_the_answer_comes_first_and_ties_are_said() -> None:
    lines = printed(tuned(TWO)).splitlines()
    assert lines[0] == "fake 1.0-1 (bookworm): 3 builds against baseline, 2 loads"
    assert lines[1] == "A CPU, 2 cores, 2 Jan 2026"
    assert lines[3] == "Take plain: 13 to 20 % less server CPU for the same queries."
    assert "Tied with it: bolted (no difference is proved); plain is the simpler one." in flat("\n".join(lines))


def test_a_line_for_each_variant_loads_as_columns_the_best_first() -> None:
    text = printed(tuned(TWO))
    head, *rows = text.split("% more work per CPU second")[1].splitlines()
    assert head.split() == ["read", "write"]
    assert [row.split() for row in rows[:3]] == [
        ["plain", "take", "+25.0", "±1.2", "faster", "+15.0", "±1.2", "faster"],
        ["bolted", "tied", "+25.2", "±1.3", "faster", "+15.1", "±1.2", "faster"],
        ["slow", "-10.0", "±0.9", "slower", "+0.0", "±1.0", "?"],
    ]
    assert "? too close to call" in text


def test_facts_file_and_next_commands() -> None:
    notes = ["differs from baseline: library z: linked against absent"]
    text = printed(tuned(TWO, slow={"weakens_security": True, "notes": notes}))
    assert re.search(r"^slow +! security ", text, re.MULTILINE)
    assert "p95 read 2 -> 1.5 ms, write 2 -> 1.5 ms" in flat(text)
    assert "every build passed 222 tests" in text
    assert "features and hardening as baseline's but for slow (libraries and security)" in flat(text)
    both = tuned(TWO, slow={"notes": [*notes, "differs from baseline: partitions: active against absent"]})
    assert "features and hardening as baseline's but for slow (features and libraries)" in flat(printed(both))
    otherwise = tuned(TWO, slow={"notes": ["configured otherwise than baseline: HAVE_FORK undefined instead of 1"]})
    assert "features and hardening as baseline's but for slow (configuration)" in flat(printed(otherwise))
    each = {name: {"notes": ["configured otherwise than baseline: HAVE_FORK"]} for name in ("plain", "bolted", "slow")}
    assert "features and hardening as baseline's but for all other builds (configuration)" in flat(
        printed(tuned(TWO, **each))
    )
    assert f"file     {FILE}\n" in text, "the size has no room beside it"
    assert text.splitlines()[-2:] == [
        "next     burnish reproduce plain --run fake-tune-1  # a script that rebuilds it",
        "         burnish show fake-tune-1 --full            # all of it",
    ]


def test_a_response_time_whose_own_verdict_decides_nothing_is_marked() -> None:
    result = tuned(TWO)
    rows = [
        replace(one, quantities={**one.quantities, "p95": Measured(one.ratio, kind)})
        for one in result.rows
        for kind in ("undecided" if one.workload == "read" else "faster",)
    ]
    text = flat(printed(replace(result, rows=tuple(rows))))
    assert "p95 read 2 -> 1.5 ms ?, write 2 -> 1.5 ms (? too close to call)" in text


def test_an_unfinished_run_says_how_it_is_resumed() -> None:
    result = tuned(TWO)
    for verbs, first in (({"resume", "show"}, "burnish resume here"), ({"show"}, "burnish show here --full")):
        assert onward.commands(result, Around("here", verbs=verbs, resumes=True), None)[0][0] == first
    assert "resume" not in str(onward.commands(result, Around("here", verbs={"resume", "show"}), None))


def test_only_verbs_that_there_are_are_named() -> None:
    result = tuned(TWO)
    assert "burnish reproduce" not in printed(result, verbs=("show",))
    text = printed(result, verbs=("show", "install", "package", "report", "reproduce"))
    for call in ("install fake-tune-1 --variant plain", "package fake-tune-1 --variant plain"):
        assert f"burnish {call}" in text
    assert "burnish report fake-tune-1 -o fake.html" in text
    assert "reproduce" not in text, "two ways to use it are enough"
    gone = printed(result, file="")
    assert "file     not on this machine" in gone
    assert "reproduce" not in gone, "it needs the build"
    pull = "burnish store pull 0a1b2c --artefacts /net/burnish"
    assert f"next     {pull}  # fetches its build\n" in printed(result, file="", pull=pull)
    assert pull not in printed(result, pull=pull), "it is here"


def test_a_build_that_is_faster_but_marked_is_said_and_not_taken() -> None:
    verdicts = {"plain": {"w": ("faster", 1.1)}, "unsafe": {"w": ("faster", 1.2)}}
    text = flat(printed(tuned(verdicts, unsafe={"weakens_security": True, "named": False})))
    assert "Take plain: 9 % less server CPU" in text
    assert "unsafe (weakens security) would do 9.1 % more than plain." in text
    named = flat(printed(tuned(verdicts, unsafe={"weakens_security": True})))
    assert "Take unsafe (weakens security): 17 % less" in named
    assert "Without such a mark take plain: 9 % less server CPU" in named


@pytest.mark.parametrize(
    ("about", "packed"),
    [({}, True), ({"narrows_portability": True}, True), ({"weakens_security": True}, False)],
)
def test_no_command_is_named_that_refuses_the_build(about: Mapping[str, Any], packed: bool) -> None:
    result = tuned({"one": {"w": ("faster", 1.2)}}, one=about)
    text = printed(result, verbs=("show", "install", "package", "reproduce"))
    assert ("burnish install" in text, "burnish package" in text) == (packed, packed)
    assert ("burnish reproduce one --run fake-tune-1" in text) is not packed


@pytest.mark.parametrize(
    ("loads", "says"),
    [
        ({"a": ("undecided", 1.01), "b": ("faster", 1.1)}, "Keep baseline: one is not proved to be faster on every"),
        ({"a": ("equivalent", 1.001)}, "No difference: one does as much work as baseline, within ±1 %."),
        ({"a": ("slower", 0.8), "b": ("slower", 0.9)}, "Keep baseline: one is slower, 11 to 25 % more server CPU"),
    ],
)
def test_without_a_winner_the_baseline_is_kept(loads: Mapping[str, tuple[str, float]], says: str) -> None:
    assert says in flat(printed(tuned({"one": loads})))


def test_what_is_not_finished_or_not_measured_is_said() -> None:
    verdicts = {"one": {"w": ("faster", 1.1)}, "two": {"w": ("running", None)}}
    text = printed(tuned(verdicts, ended=False, gone={}))
    assert "Not finished: 1 of 2 cells decided; the same command resumes." in flat(text)
    failed = tuned({"one": {"w": ("faster", 1.1)}, "lost": {}}, lost={"failure": "no compiler 'x'"})
    assert "lost: not measured: no compiler 'x'" in printed(failed)
    assert "Nothing could be compared: lost: no compiler 'x'." in flat(
        printed(tuned({"lost": {}}, lost={"failure": "no compiler 'x'"}))
    )


def test_a_run_without_cells_says_that_nothing_is_measured_yet() -> None:
    events = Events("baseline", "one", "two", recipes=RECIPES).run()
    events.add("build", variant="baseline", key="k", about={"toolchain": "gcc-12", "seconds": 1.0}, identity={})
    events.add("gate", variant="baseline", report={"passed": True, "tests": 198, "skipped": 0, "failures": []})
    result = fold(events.made)
    text = flat(printed(result))
    assert "Not finished: nothing is measured yet (1 of 3 builds made); the same command resumes." in text
    assert "checked" not in text
    assert "What it says" not in drawn(document(result), full=True)
    searching = replace(result, searched=(SEARCH, None))
    assert "Not finished: nothing is measured yet; the same command resumes." in flat(printed(searching))


def test_an_unfinished_calibration_says_how_it_is_resumed_and_has_no_empty_table() -> None:
    result = fold(Events("baseline", verb="calibrate").run().made)
    text = drawn(answer(result, Around("here", verbs={"resume", "show"}, resumes=True)))
    assert "Not finished: no load is calibrated yet; the same command resumes." in flat(text)
    assert "burnish resume here" in text
    assert "sd pair" not in text


def test_builds_that_failed_for_one_reason_are_one_line() -> None:
    names = [f"search-{number:02}" for number in range(1, 10)]
    failures = {name: {"failure": f"build failed: x.c: no (log: /logs/build-{name}.log)"} for name in names}
    text = flat(printed(tuned({"one": {"w": ("faster", 1.1)}} | {name: {} for name in names}, **failures)))
    few = "search-01, search-02, search-03, search-04, search-05 and 4 more"
    assert f"{few}: not measured: build failed" in text


def test_one_start_of_the_baseline_against_itself_is_one_figure() -> None:
    result = tuned(TWO)
    one, two = (replace(result, canaries=(Canary("read", ratios, 0),)) for ratios in ((1.011,), (1.011, 0.99)))
    assert noise(one) == "baseline against itself: +1.1 % in 1 start"
    assert noise(two) == "baseline against itself: -1.0 to +1.1 % in 2 starts"


def test_many_loads_have_signs_and_many_variants_share_lines() -> None:
    loads = {f"read:threads={number}": ("faster", 1.1) for number in (1, 4, 16, 64)}
    many = {f"v{number}": dict.fromkeys(loads, ("undecided", 1.0)) for number in range(20)}
    text = printed(tuned({"fast": loads, **many}))
    assert re.search(r"^fast +take +\+10\.0 \+ +\+10\.0 \+ +\+10\.0 \+ +\+10\.0 \+$", text, re.MULTILINE)
    assert "at read:threads=" in flat(text)
    assert "+ faster, - slower, = equal, ? not decided" in text
    assert "no difference from baseline proved: v0, v1," in flat(text)
    assert not re.search(r"^v\d+ +[+-]", text, re.MULTILINE)


def test_five_loads_of_one_kind_have_short_heads_and_one_line_of_legend() -> None:
    loads = ("oltp_read_only", "oltp_read_write", "oltp_update_index", "oltp_delete")
    result = tuned({name: dict.fromkeys(loads, ("faster", 1.2)) for name in ("one", "two")})
    of = {"oltp_read_only": "capacity"}
    rows = tuple(replace(row, headline=of.get(row.workload, "throughput")) for row in result.rows)
    text = printed(replace(result, rows=rows))
    head = text.split("% more work")[1].splitlines()
    assert head[0].split() == ["read_only", "read_", "update_", "delete"]
    assert head[1].split() == ["write", "index"]
    assert "capacity on read_only, throughput on the others" in flat(text)
    few = printed(replace(result, rows=tuple(row for row in rows if row.workload != loads[-1])))
    assert "capacity on read_only, throughput on read_write, update_index" in flat(few)


def test_what_a_search_dropped_is_not_said_to_be_like_the_baseline() -> None:
    """It has two or three starts, which say nothing of a build by themselves."""
    loads = {f"read:threads={number}": ("faster", 1.1) for number in (1, 4)}
    many = {f"v{number:02}": dict.fromkeys(loads, ("undecided", 1.4)) for number in range(20)}
    result = tuned({"fast": loads, **many})
    starts = [replace(one, starts=2 + (one.candidate == "v03")) for one in result.rows]
    text = flat(printed(replace(result, rows=tuple(starts), searched=(SEARCH, None))))
    assert "the search went on without (2 to 3 starts each): v00, v01," in text
    assert "no difference" not in text


def test_what_a_search_measured_again_has_a_line_whatever_its_first_starts_say() -> None:
    loads = {f"read:threads={number}": ("undecided", 1.4) for number in (1, 4)}
    result = tuned({f"v{number:02}": loads for number in range(20)})
    fresh = [replace(row, role=Role.CONFIRMATION, verdict="faster") for row in result.rows if row.candidate == "v02"]
    ended = SearchEnded("v02", "v02", (), 20, 0, "", (), (), {}, 0.0, 100.0)
    text = printed(replace(result, confirmations=tuple(fresh), searched=(replace(SEARCH, weights=loads), ended)))
    assert flat(text).startswith("fake 1.0-1 (bookworm)")
    assert "Take v02" in text
    assert re.search(r"^v02 +take", text, re.MULTILINE)
    assert "measured again, to quote" in text
    left = flat(text).partition("the search went on without")[2]
    assert "v01, v03" in left


def test_on_a_guarded_load_no_gain_is_missed() -> None:
    result = tuned({"one": {"read": ("faster", 1.4), "write": ("undecided", 1.0)}})
    fresh = [replace(row, role=Role.CONFIRMATION) for row in result.rows]
    ended = SearchEnded("one", "one", (), 1, 0, "", (), (), {}, 0.0, 100.0)
    text = flat(printed(replace(result, confirmations=tuple(fresh), searched=(SEARCH, ended))))
    assert "Take one" in text
    assert "do not prove a gain" not in text


def test_a_build_that_may_lose_on_a_guarded_load_is_not_said_to_be_no_faster() -> None:
    result = tuned({"one": {"read": ("faster", 1.4)}, "two": {"read": ("undecided", 1.0)}})
    ended = SearchEnded(None, "one", ("write",), 2, 0, "", (), (), {}, 0.0, 100.0, {"lto": "thin"})
    for report in (
        printed(replace(result, searched=(SEARCH, ended))),
        drawn(document(replace(result, searched=(SEARCH, ended))), 80),
    ):
        text = flat(report)
        assert "it is not excluded that one is slower on write, which is guarded" in text
        assert "not shown to be faster" not in text
    assert outcome.guarded(replace(ended, slower_on=("a", "b"))).endswith("slower on a, b, which are guarded")


@pytest.mark.parametrize(
    ("loads", "cells"),
    [
        (("oltp_point_select", "oltp_read_only"), r"\+10\.0 ±\d\.\d faster +\+10\.0 ±"),
        (tuple("abcde"), r"(\+10\.0 \+ *){5}$"),
    ],
)
def test_ways_to_deploy_fit_a_terminal(loads: tuple[str, ...], cells: str) -> None:
    """Ratios with intervals and words of two loads did not: the second one was left out."""
    result = tuned({"one": dict.fromkeys(loads, ("faster", 1.1))})
    tried = Tried("no-performance-schema", "", "", {row.workload: row for row in result.rows}, None)
    text = printed(replace(result, deployment=Deployed("one", (tried,))))
    assert "no room" not in text
    assert "deployment of one, per cent to its usual one" in flat(text)
    assert re.search(rf"^no-performance-schema +{cells}", text, re.MULTILINE)


def test_many_builds_that_are_not_faster_everywhere_are_not_said_to_be() -> None:
    both = {"read": ("faster", 1.4), "write": ("faster", 1.3)}
    one = {"read": ("faster", 1.2), "write": ("undecided", 1.0)}
    text = flat(printed(tuned({**{f"b{n}": both for n in range(7)}, **{f"o{n}": one for n in range(7)}})))
    assert re.search(r"faster as well: b\d, b\d ", text)
    assert re.search(r"faster on a load, not proved on others: o\d, (o\d, ){5}o\d", text)


def test_why_a_deployment_was_not_measured_together_is_said_and_a_value() -> None:
    result = deployed(("w",))
    assert result.deployment is not None
    found = replace(result.deployment, together=None, both=None, failure="no large pages")
    result = replace(result, deployment=found)
    assert "large-pages: faster by itself; together not measured: no large pages" in flat(printed(result))
    assert runs.run(result)["deployment"]["failure"] == "no large pages"


def deployed(loads: tuple[str, ...]) -> Result:
    """A build that was deployed with one choice, on these loads."""
    result = tuned({"one": dict.fromkeys(loads, ("faster", 1.1))})
    rows = {row.workload: row for row in result.rows}
    tried = Tried("large-pages", "", "", rows, None)
    found = Deployed("one", (tried,), ("large-pages",), ("large_pages=ON",), rows, rows, done=True)
    return replace(result, deployment=found)


def test_what_is_deployed_has_a_sentence_for_each_of_two_loads_and_a_table_for_more() -> None:
    few, many = (flat(printed(deployed(loads))) for loads in (("db_a", "db_b"), ("db_a", "db_b", "db_c")))
    figure = r"1\.100 \[[\d., ]+\]"
    assert re.search(rf"db_a: the build {figure}, the deployment {figure}, both {figure} times baseline's", few)
    assert "geometric mean" not in few
    assert re.search(rf" a {figure} {figure} {figure} b {figure}", many)  # names without what all begin with
    assert re.search(rf"geometric mean {figure} {figure} {figure} measured, times baseline's capacity", many)
    assert "the deployment, times that of one as usual" in many


def test_a_load_without_a_figure_of_both_leaves_the_mean_open() -> None:
    result = deployed(("db_a", "db_b", "db_c"))
    assert result.deployment is not None
    assert result.deployment.both is not None
    without = {load: row for load, row in result.deployment.both.items() if load != "db_b"}
    text = printed(replace(result, deployment=replace(result.deployment, both=without)))
    assert re.search(r"^b +1\.100 .* -$", text, re.MULTILINE)
    assert re.search(r"^geometric mean +1\.100 .* -$", text, re.MULTILINE)


def test_three_loads_and_more_have_a_mean() -> None:
    loads = {"a": ("faster", 1.1), "b": ("faster", 1.2)}
    assert "geometric" not in printed(tuned({"one": loads, "two": loads}))
    result = tuned({"one": {**loads, "c": ("faster", 1.3)}, "two": {**loads, "c": ("invalid", None)}})
    mean = f"{(1.1 * 1.2 * 1.3) ** (1 / 3):.3f}"
    assert f"mean one, geometric of 3 loads: {mean} [" in flat(printed(result))
    assert [(one.candidate, one.again) for one in over_loads(result)] == [("one", False)]  # of two, a load has none
    whole = drawn(document(result), 80)
    assert "geometric mean of 3 loads, ratios to baseline" in whole
    assert re.search(rf"^one +{mean} \[", whole, re.MULTILINE)


def test_tests_of_a_suite_are_one_column() -> None:
    tests = {f"sql_bench:tests={name}": ("faster", 1.1) for name in ("ATIS", "create", "insert")}
    text = printed(tuned({"one": tests}))
    assert re.search(r"^one +take +\+10\.0 ±\d\.\d 3 of 3 tests faster$", text, re.MULTILINE)
    assert "Take one: 9 % less server CPU" in flat(text)


@pytest.mark.parametrize("name", RECORDS)
def test_every_committed_record_fits_a_screen_or_two(name: str) -> None:
    result = result_of_file(RESULTS / f"{name}.jsonl.xz")
    lines = printed(result).splitlines()
    copied = [line for line in lines if re.match(r"(file|next|) {5,}", line)]
    assert max(len(line) for line in lines if line not in copied) <= 80
    if result.verb in ("tune", "compare"):
        loads = len({one.workload for one in result.rows})  # beyond two, heads of three lines, and a line for each
        more = len(list(result.deployment.tried)) + 6 + 3 * max(0, loads - 2) if result.deployment else 0
        assert len(lines) <= (32 if result.searched is None else 52) + more  # a search says what it found and left
    elif result.verb != "why":
        assert len(lines) <= 66


def test_of_many_that_are_faster_the_first_have_lines() -> None:
    lines = printed(result_of_file(RESULTS / "sqlite-grid-zen5.jsonl.xz")).splitlines()
    assert sum(re.match(r"grid-\d+ .* faster$", line) is not None for line in lines) == 5
    assert "faster as well: grid-110111, grid-110011, grid-111111, grid-110101, grid-101100" in lines
    assert "and 9 more" in lines


def test_it_narrows_without_losing_names() -> None:
    for width in (40, 60, 72):
        text = "\n".join(
            "".join(span.text for span in line) for line in terminal.lines(answer(tuned(TWO), _at()), width)
        )
        for name in TWO:
            assert re.search(rf"^{name}\b", text, re.MULTILINE), width


def _at() -> Around:
    return Around("run", FILE, 1, ("show",))


@pytest.mark.parametrize(
    ("low", "middle", "high", "shown"),
    [
        (0.636, 0.802, 1.011, "-19.8 ±20.9"),
        (0.99, 1.25, 1.58, "+25.0 ±26.0"),
        (1.01, 1.25, 1.55, "+25.0 ±24.0"),
        (0.645, 0.802, 0.997, "-19.8 ±19.5"),
    ],
)
def test_what_stands_beside_a_change_does_not_contradict_its_verdict(
    low: float, middle: float, high: float, shown: str
) -> None:
    """It reaches to no change exactly where the interval does, although that is symmetric in logarithms only."""
    assert change(Interval(middle, low, high, 0.95)) == shown


def test_the_readme_shows_what_is_printed() -> None:
    place = "docs/results/mariadb-ladder.jsonl.xz"
    document = answer(result_of_file(RESULTS.parents[1] / place), Around(place, verbs={"show", "report", "package"}))
    lines = ["".join(span.text for span in line).rstrip() for line in terminal.lines(document, 80)]
    assert "```\n" + "\n".join(lines) + "\n```\n" in (RESULTS.parents[1] / "README.md").read_text()


@pytest.mark.parametrize("headline", ["capacity", "throughput", "p99"])
def test_what_verdicts_are_about_is_the_last_column_to_go(headline: str) -> None:
    rows = [replace(row, headline=headline) for row in tuned({"one": {"w": ("faster", 1.1)}}).rows]
    measured = compared([headline])
    order = spared(rows, measured)
    assert order[-1] == next(one.title for one in measured if one.name == headline)
    assert sorted(order) == sorted(one.title for one in measured)
