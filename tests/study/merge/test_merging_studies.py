"""Records of studies that ship, put together: pieces by rows, by threads, by host; one table of the cells of all."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from burnish.base.errors import UserError
from burnish.cli.common import app
from burnish.record import exchange
from burnish.record.events import Event, Recorded
from burnish.record.events.study import SessionBegun
from burnish.record.events.trials import TrialsPlanned
from burnish.record.events.verdicts import FamilyJudged, Interval, VerdictReached
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.fold import fold
from burnish.report.words import per_cent
from burnish.study.merge.merging import merge
from drawn import markdown
from pieces import Piece, of
from reported import comparison
from shipping import Run, quick

RNG = np.random.default_rng(5)
FAST = [float(value) for value in RNG.normal(0.10, 0.002, 8)]
SLOW = [float(value) for value in RNG.normal(-0.20, 0.003, 8)]
NAMES = ("tls", "unroll", "native", "memory")


def of_row(row: str, **more: Any) -> dict[str, Any]:
    return comparison(row, **more)


class StudyPiece(Piece):
    """A record of a study that ships, of which these rows were asked for."""

    def __init__(self, study: str, on: str, day: int, *rows: str, **asked: Any) -> None:
        defaults = {"verb": "a-study", "variants": ["baseline"], "explore": True, "recipes": {"rows": "abcd"}}
        super().__init__(study, on, day, **(defaults | asked))
        self.rows = rows
        self.contest(designs={"w": "duet"}, headlines={}, cells=[])

    def table(self, **more: Any) -> StudyPiece:
        rest = {f" / {name} /  / w / ": "left out by --rows" for name in NAMES if name not in self.rows}
        body = {
            "study": "a-study",
            "title": "A study",
            "reason": "of a test",
            "sources": [],
            "recommends": False,
            "rows": {name: {"title": name, "reason": "because of a test"} for name in NAMES},
            "readings": {"": {"title": "", "reason": ""}},
            "series": {"": ""},
            "builds": ["baseline", *self.rows],
            "comparisons": [of_row(name) for name in NAMES],
            "cut": rest,
        }
        self.add("shipped", **(body | more))
        return self

    def row(self, name: str, readings: Sequence[float], *, said: str | None = None) -> StudyPiece:
        """A row's starts; with its verdict where one is named."""
        cell = f"baseline: {name} / w"
        self.add("tried", key=f" / {name} /  / w / ", cell=cell)
        self.starts(readings, cell)
        if said is not None:
            self.verdict(said, cell, starts=len(readings))
        return self


def first() -> StudyPiece:
    piece = StudyPiece("fake-a-study-1", "one", 1, "unroll", "tls").table()
    return piece.row("unroll", FAST, said="faster").row("tls", SLOW, said="slower")


def second() -> StudyPiece:
    piece = StudyPiece("fake-a-study-2", "other", 2, "unroll", "native").table()
    return piece.row("unroll", [2 * value for value in FAST], said="faster").row("native", FAST[:3])


def bytes_of(events: Sequence[Recorded[Event]]) -> bytes:
    return exchange.as_text(events).encode()


def merged(*pieces: Piece | Sequence[Recorded[Event]]) -> tuple[Recorded[Event], ...]:
    return merge([(f"r{n}", p.made if isinstance(p, Piece) else p) for n, p in enumerate(pieces, 1)]).events


def table_of(events: Sequence[Recorded[Event]]) -> StudyTable:
    found = fold(events).shipped
    assert found is not None
    return found


def by_row(found: StudyTable) -> Mapping[str, Line]:
    return {line.row: line for line in found.lines}


def refused(*pieces: Piece) -> str:
    with pytest.raises(UserError) as caught:
        merged(*pieces)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_table_has_the_cells_of_all() -> None:
    found = by_row(table_of(merged(first(), second())))
    assert list(found) == list(NAMES), "in the file's order"
    assert {row: line.verdict for row, line in found.items()} == {
        "tls": "slower",
        "unroll": "faster",
        "native": "faster",
        "memory": "",
    }
    assert found["memory"].reason == "left out by --rows"
    assert found["native"].reason == "faster: the whole interval lies above 1 after 3 starts in 1 sitting"


def test_a_cell_of_both_has_the_host_as_a_block() -> None:
    line = by_row(table_of(merged(first(), second())))["unroll"]
    assert line.starts == 16
    assert line.interval is not None
    assert line.interval.ratio == pytest.approx(np.exp(1.5 * np.mean(FAST)))
    assert "on each of these hosts" in line.reason
    assert [(host.host, host.starts) for host in line.hosts] == [("A", 8), ("B", 8)]
    assert line.hosts_differ


def test_a_cell_of_one_study_is_taken_as_it_is() -> None:
    """The verdict on its sitting is the one that it had there, which may lean on its host's calibration."""
    line = by_row(table_of(merged(first(), second())))["tls"]
    assert line.sitting is not None
    assert line.sitting.intervals["capacity"] == Interval(1.1, 1.09, 1.11, 0.95)
    assert (line.sitting.verdict, line.sitting.reason, line.starts) == ("slower", "slower: because", 8)
    assert [host.host for host in line.hosts] == ["A"]


def test_a_verdict_of_other_starts_is_said_anew() -> None:
    """A record of one host, and the same one resumed elsewhere: the verdict of the first half counts no more."""
    again = StudyPiece("fake-a-study-3", "one", 3, "tls").table().row("tls", SLOW[:4])
    line = by_row(table_of(merged(first(), again)))["tls"]
    assert line.starts == 12
    assert line.interval is not None
    assert line.interval.ratio < 0.9
    assert line.hosts == (), "one host only"


def test_the_report_says_which_host_measured_what() -> None:
    summary = fold(merged(first(), second()))
    said = markdown(summary)
    assert "## Merged records" in said
    assert "merged from fake-a-study-1 (16 starts on A), fake-a-study-2 (11 starts on B)" in said
    mine, its = (per_cent(host.interval) for host in by_row(table_of(merged(first(), second())))["unroll"].hosts)
    noise = "0 % of the spread between hosts is noise (Q test: p 0)"
    assert f"* unroll: A {mine} % (8 starts), B {its} % (8 starts); {noise}; THE HOSTS DIFFER" in said
    assert "* measured on A alone: tls" in said
    assert "* measured on B alone: native" in said
    assert "host: A: CPU of one, 2 cores" in said
    assert "Merged records" not in markdown(fold(first().made))


def test_neither_order_nor_steps_change_a_byte() -> None:
    third = StudyPiece("fake-a-study-3", "third", 3, "tls", "native").table()
    third.row("tls", SLOW).row("native", FAST, said="faster")
    third.add("measured", key=" / memory /  / w / ", value=300.0, base=200.0, unit="MB", words="300 MB", note="peak")
    pieces = (first(), second(), third)
    at_once = {bytes_of(merged(*order)) for order in itertools.permutations(pieces)}
    assert len(at_once) == 1
    (expected,) = at_once
    assert bytes_of(merged(merged(pieces[0], pieces[1]), pieces[2])) == expected
    assert bytes_of(merged(pieces[2], merged(pieces[1], pieces[0]))) == expected
    assert bytes_of(merged(merged(pieces[2], pieces[1]), merged(pieces[1], pieces[0]))) == expected
    assert bytes_of(merged(list(exchange.compact(pieces[0].made)), pieces[1], pieces[2], pieces[0])) == expected


def test_canaries_of_tagged_cells_have_no_verdict() -> None:
    piece = first()
    piece.starts([0.001, -0.002], "baseline: A/A / w")
    events = merged(piece, second())
    assert not [each for each in of(events, VerdictReached) if each.cell.is_canary]
    assert table_of(events).canaries == pytest.approx((np.exp(0.001), np.exp(-0.002)))


def test_cells_are_one_family_and_those_of_a_search_are_not_in_it() -> None:
    searched = searching("fake-a-study-1", "one", 1, [(0.5, 0.5)])
    (family,) = of(merged(searched, first_named("fake-a-study-9")), FamilyJudged)
    assert family.explore is True
    assert {each.cell.name for each in family.cells} == {"baseline: unroll / w", "baseline: tls / w"}


def first_named(study: str) -> StudyPiece:
    piece = StudyPiece(study, "one", 1, "unroll", "tls").table()
    return piece.row("unroll", FAST, said="faster").row("tls", SLOW, said="slower")


def test_figures_without_an_interval_are_a_mean_over_hosts() -> None:
    key = " / memory /  / w / "
    pieces = [
        first().add("measured", key=key, value=300.0, base=200.0, unit="MB", words="300 MB (as usual 200)", note="peak")
    ]
    pieces.append(second())
    pieces[1].add("measured", key=key, value=310.0, base=220.0, unit="MB", words="310 MB (as usual 220)", note="peak")
    line = by_row(table_of(merged(*pieces)))["memory"]
    assert line.measured == "305 MB (as usual 210)"
    assert line.reason == (
        "mean of these hosts: A 300 MB (as usual 200), B 310 MB (as usual 220); read off the compiles, so it has no "
        "interval"
    )
    alone = by_row(table_of(merged(pieces[0], second())))["memory"]
    assert (alone.measured, alone.reason) == ("300 MB (as usual 200)", "peak")
    assert [host.host for host in alone.hosts] == ["A"]


def test_a_record_of_figures_alone_is_a_piece() -> None:
    piece = StudyPiece("fake-a-study-2", "other", 2, "memory").table()
    piece.made = [each for each in piece.made if not isinstance(each.event, TrialsPlanned)]
    piece.add("measured", key=" / memory /  / w / ", value=300.0, base=200.0, unit="MB", words="300 MB", note="peak")
    found = merge([("r1", first().made), ("r2", piece.made)])
    assert (found.hosts, found.starts) == (2, 16)
    assert by_row(table_of(found.events))["memory"].measured == "300 MB"


def searching(study: str, on: str, day: int, weights: Sequence[tuple[float, float]]) -> StudyPiece:
    piece = StudyPiece(study, on, day).table()
    for number, (x, y) in enumerate(weights, 1):
        name = f"weights-{x:g}-{y:g}"
        cells = {role: f"baseline: {name} / {role}" for role in ("x", "y")}
        for role, cell in cells.items():
            piece.add("tried", key=f" / {name} /  / {role} / ", cell=cell)
            piece.starts([value + day / 100 for value in FAST], cell)
            piece.verdict("faster", cell, starts=8)
        values = {"ratio": 1.1, "low": 1.09, "high": 1.11, "level": 0.95}
        piece.add(
            "robust", round=number, weights={"x": x, "y": y}, intervals=dict.fromkeys(cells, values), cells=cells,
            robust=True, delta=0.01, rounds=5, alone={},
        )  # fmt: skip
    return piece


def test_searches_for_weights_share_the_rounds_of_equal_weights() -> None:
    """The first weights are the same everywhere; what follows from a host's figures is that host's."""
    events = merged(
        searching("s1", "one", 1, [(0.5, 0.5), (0.3, 0.7)]), searching("s2", "other", 2, [(0.5, 0.5), (0.6, 0.4)])
    )
    rounds = table_of(events).extra["robust"]
    assert [(each["round"], each["weights"]["x"], each["on"]) for each in rounds] == [
        (1, 0.5, ["A", "B"]),
        (2, 0.3, ["A"]),
        (2, 0.6, ["B"]),
    ]
    assert rounds[0]["intervals"]["x"]["ratio"] == pytest.approx(np.exp(np.mean(FAST) + 0.015))
    assert rounds[1]["intervals"]["x"]["ratio"] == 1.1
    said = markdown(fold(events))
    assert "| 2 A | 0.30 | 0.70 |" in said
    assert "| 1 A+B | 0.50 | 0.50 |" in said


def test_seconds_and_profiles_are_told_by_host() -> None:
    pieces = [first(), second()]
    for piece, rate in zip(pieces, (1000.0, 3000.0), strict=True):
        seconds = [{"second": n, "rate": rate, "p95": 0.001} for n in (1, 2)]
        piece.add("timeline", build="unroll", row="unroll", workload="w", seconds=seconds)
        hot = [["f", 0.5]]
        piece.add("profile_facts", variant="unroll", training=[["w", 1.0]], functions=9, counted=5, hot=2, hottest=hot)
    said = markdown(fold(merged(*pieces)))
    assert "## Throughput by the second, w, on A" in said
    assert "## Throughput by the second, w, on B" in said
    assert "* unroll (A): trained on w" in said
    assert "* unroll (B): trained on w" in said


def test_threads_of_both_are_in_the_ladder() -> None:
    pieces = []
    for day, step in ((1, 4), (2, 1)):
        key = f" / unroll /  / w / {step}"
        cell = f"baseline: unroll / w:threads={step}"
        made = [of_row("unroll", threads=n, cell=f"baseline: unroll / w:threads={n}") for n in (1, 2, 4)]
        cut = {each["key"]: f"not asked for: --threads {each['threads']} brings it" for each in made}
        del cut[key]
        piece = StudyPiece(f"s{day}", "one", day).table(comparisons=made, cut=cut)
        piece.add("tried", key=key, cell=cell)
        piece.starts(FAST, cell)
        pieces.append(piece.verdict("faster", cell, starts=8))
    found = table_of(merged(*pieces))
    assert [
        (line.threads, line.verdict, line.sitting.reason if line.sitting else line.reason) for line in found.lines
    ] == [
        (1, "faster", "faster: because"),
        (2, "", "not asked for: --threads 2 brings it"),
        (4, "faster", "faster: because"),
    ]
    assert "% at threads" in markdown(fold(merged(*pieces)))


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"verb": "b-study"}, 'study is "a-study" in the one, "b-study" in the other'),
        ({"recipes": {"rows": "ffff"}}, 'what the study\'s file asks for is "abcd" in the one, "ffff" in the other'),
        ({"starts": 9}, "starts is not there in the one, 9 in the other"),
        ({"conditions": ["transport=tls"]}, "conditions is not there in the one"),
    ],
)
def test_another_study_is_refused(other: dict[str, Any], says: str) -> None:
    piece = StudyPiece("s2", "b", 2, "unroll", **other).table().row("unroll", FAST)
    text = refused(first(), piece)
    assert text.startswith("merge: r1 and r2 are not of one plan: ")
    assert says in text


def test_other_series_and_another_release_are_refused_by_name() -> None:
    other = StudyPiece("s2", "b", 2, "unroll").table(series={"": "", "clang": "the other compiler"})
    assert 'its series.clang is not there in the one, "there" in the other' in refused(
        first(), other.row("unroll", FAST)
    )
    patch = {"patch": "p", "bugs": [], "does": "", "published": "", "today": "", "micro": [], "shows": ""}
    patches = {"unroll": {**patch, "direction": "applied"}}
    machines = [
        StudyPiece(f"s{day}", f"h{day}", day).table(architecture=name, patches=patches).row("unroll", FAST)
        for day, name in ((1, "x86_64"), (2, "aarch64"))
    ]
    assert 'architecture is "x86_64" in the one, "aarch64" in the other' in refused(*machines)
    pieces = [first(), second()]
    for piece, version in zip(pieces, ("10.11.6", "11.4.2"), strict=True):
        piece.add("source", origin="x", digest=version, version=version, note="")
    assert 'the engine\'s release is "10.11.6" in the one, "11.4.2" in the other' in refused(*pieces)


def test_what_two_records_alone_have_is_compared_with_each_other_too() -> None:
    pieces = [first()]
    for day, compiler in ((2, "gcc 12.2"), (3, "gcc 13.1")):
        piece = StudyPiece(f"s{day}", "b", day, "native").table()
        about = {"toolchain_version": compiler}
        pieces.append(piece.add("build", variant="native", key="k", about=about, identity={}).row("native", FAST))  # type: ignore[attr-defined]
    assert 'compiler.native is "gcc 12.2" in the one, "gcc 13.1" in the other' in refused(*pieces)


def test_another_program_in_one_cell_is_refused() -> None:
    pieces = []
    for day, build in ((1, "11111111"), (2, "22222222")):
        piece = StudyPiece(f"s{day}", f"host{day}", day, "native").table()
        piece.add("tried", key=" / native /  / w / ", cell=f"baseline: native {build} / w")
        pieces.append(piece.starts(FAST, f"baseline: native {build} / w"))
    text = refused(*pieces)
    assert "different programs in one cell: 'baseline: native 11111111 / w' in the one" in text
    assert "--release" in text


def run_elsewhere(run: Run, monkeypatch: pytest.MonkeyPatch, home: Path, name: str, *rows: str, **more: Any) -> Path:
    """The study's folder, of a home of its own: another host's."""
    monkeypatch.setenv("BURNISH_HOME", str(home))
    _, folder = run(name, *rows, **more)
    return folder


def exported(folder: Path, target: Path, machine: str | None = None) -> Path:
    """The record as a file; as if it had been made on another machine, where one is named."""
    events = list(exchange.compact(exchange.study_events(folder)))
    if machine is not None:
        events = [
            replace(each, event=replace(each.event, host={**each.event.host, "machine": machine}))
            if isinstance(each.event, SessionBegun)
            else each
            for each in events
        ]
    exchange.write(target, events)
    return target


def call(*words: str | Path) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "80", "TERM": "dumb"})
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


@pytest.mark.measures
def test_pieces_of_the_manual_on_two_hosts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run, exported, merged, imported, rendered and checked; the same study goes on by itself after that."""
    run = quick(monkeypatch)
    here = tmp_path / "here"
    begun = run_elsewhere(run, monkeypatch, here, "mysql-manual", "dynamic-link", "tls")
    alone = by_row(table_of(exchange.study_events(begun)))
    one = exported(begun, tmp_path / "one.jsonl.xz")
    other = run_elsewhere(run, monkeypatch, tmp_path / "there", "mysql-manual", "dynamic-link", "log-bin")
    other = exported(other, tmp_path / "other.jsonl.xz", "another-machine")
    results = tmp_path / "results"
    results.mkdir()
    both = results / "both.jsonl.xz"
    call("record", "merge", one, other, "-o", both)
    found = by_row(table_of(exchange.read_events(both)))
    assert [host.host for host in found["dynamic-link"].hosts] == ["A", "B"]
    assert found["dynamic-link"].starts == 4
    assert found["tls"].interval == alone["tls"].interval, "of one host: as it is"
    assert [host.host for host in found["tls"].hosts] == ["A"]
    assert found["tls"].quantity == "throughput"
    assert [host.host for host in found["log-bin"].hosts] == ["B"]
    assert all(line.verdict or line.reason for line in found.values())
    call("record", "render", results)
    assert "measured on B alone: log-bin" in (results / "both.md").read_text()
    assert json.loads(call("record", "render", results, "--check", "--json"))["different"] == []
    monkeypatch.setenv("BURNISH_HOME", str(here))
    call("record", "import", both)
    said = call("show", both, "--full")
    assert max(map(len, said.splitlines())) <= 80
    _, folder = run("mysql-manual", "tls")
    assert folder == begun, "a merged record is not resumed, and does not end the study that it was made from"
