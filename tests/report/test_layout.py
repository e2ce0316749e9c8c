"""Tables and prose at any width: names stay whole, columns go in their order, paths can be copied."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.catalogue import load
from burnish.report.analysis.ceilings import LEGEND
from burnish.report.compose import grid, row
from burnish.report.document import Bar, Bars, Cell, Column, Document, Entry, Paragraph, Role, Section, Span, Table
from burnish.report.fold import fold
from burnish.report.render.layout import BAR_WIDTH, fit, size, wrap
from burnish.report.render.layout import NAMES as NAMES_WIDTH
from burnish.report.render.layout import drawn as bars
from drawn import drawn, printed
from reported import Events, ratio, verdict

PATH = "/home/somebody/work/mariadb/source/wsrep-lib/src/allowlist_service_v1.cpp"
NAMES = ("gcc-pgo", "clang-pgo-thinlto-bolt", "gcc-unhardened")


def text(table: Table, width: int) -> list[str]:
    return ["".join(span.text for span in line) for line in fit(table, width).lines]


def run() -> Events:
    events = Events("baseline", *NAMES).run().contest(*(f"{name} / oltp_update_non_index" for name in NAMES))
    for name in NAMES:
        events.add("build", variant=name, key="k", about={"toolchain": "clang-19", "seconds": 1062.0}, identity={})
        events.add("variant", variant=name, failure=None, notes=[f"cancelled in 863 objects ({PATH})"])
        events.add("verdict", **verdict(f"{name} / oltp_update_non_index", "undecided", ratio(1.1)))
    return events


@pytest.mark.parametrize("width", [40, 60, 72, 80])
def test_names_and_verdicts_are_whole_at_any_width(width: int) -> None:
    lines = printed(fold(run().made), width).splitlines()
    for name in NAMES:
        assert any(re.match(rf"{name} +undecided\b", line) for line in lines), name
    assert all(size(line) <= width or PATH in line for line in lines)
    assert any(f"({PATH})" in line for line in lines), "a path is never broken"


@pytest.mark.parametrize(
    ("width", "dropped"),
    [(90, ()), (80, ("starts",)), (72, ("throughput", "starts")), (40, ("capacity", "throughput", "starts"))],
)
def test_columns_go_from_the_right_and_that_is_said(width: int, dropped: tuple[str, ...]) -> None:
    lines = printed(fold(run().made), width).splitlines()
    (head,) = (line for line in lines if line.startswith("variant "))
    assert head.split() == [
        name for name in ("variant", "verdict", "capacity", "throughput", "starts") if name not in dropped
    ]
    note = " ".join(lines[-2:])
    assert all(name in note for name in dropped)
    assert ("no room at this width" in note) == bool(dropped)


def test_a_grid_leaves_out_its_last_columns_but_keeps_two() -> None:
    table = grid("sizes", ("build", "code", "data", "file"), [("a-long-name", "1,000", "2,000", "3,000")])
    assert text(table, 30) == ["build        code  data  file", "a-long-name 1,000 2,000 3,000"]
    assert text(table, 28) == ["build        code  data", "a-long-name 1,000 2,000"]
    assert text(table, 18) == ["build        code", "a-long-name 1,000"]
    assert text(table, 14)[0].split() == ["build", "code"], "two are never left out"


def test_a_declared_order_is_kept() -> None:
    table = grid("cells", ("row", "on", "published", "verdict"), [("name", "A", "+5.8", "faster")], drop=("published",))
    assert text(table, 16) == ["row  on verdict", "name  A  faster"]


def test_text_columns_are_broken_between_words() -> None:
    needs = "x86-64, glibc 2.34, GLIBCXX 3.4.30"
    table = Table("builds", (Column("build"), Column("needs")), (row("baseline", needs),))
    assert text(table, 30) == ["build    needs", "baseline x86-64, glibc 2.34,", "         GLIBCXX 3.4.30"]
    assert text(table, 80)[1] == f"baseline {needs}"


def test_a_name_that_has_no_room_at_all_is_broken_where_a_part_of_it_ends() -> None:
    table = grid("verdicts", ("variant", "verdict"), [("/opt/somewhere/bin/mariadbd", "faster")])
    assert text(table, 26) == ["variant            verdict", "/opt/somewhere/     faster", "bin/mariadbd"]


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("mariadb-tune-20261122-183001", ["mariadb-", "tune-", "20261122", "-183001"]),
        ("run 20261122-183001", ["run", "20261122", "-183001"]),
        ("abcdefgh- ijk", ["abcdefg", "h- ijk"]),
        ("one two-three", ["one two-", "three"]),
    ],
)
def test_a_broken_name_gets_no_blank_and_no_sign_is_alone(name: str, pieces: list[str]) -> None:
    table = Table("runs", (Column("run"),), (row(name),), headed=False)
    assert text(table, 8) == pieces


def test_lines_of_a_cell_stay_under_each_other() -> None:
    cell = Cell((Span("4 cores"), Span("fix: nothing to do", Role.FIX)))
    table = Table("findings", (Column("", whole=True), Column("")), (row("SMT", cell),), headed=False, gap=2)
    assert text(table, 20) == ["SMT  4 cores", "     fix: nothing to", "     do"]


def test_prose_is_broken_between_words_and_keeps_its_indentation() -> None:
    assert wrap("one two  three", 8) == ["one two", "three"]
    assert wrap("  f: one two", 9) == ["  f: one", "two"]
    assert wrap("", 8) == [""]
    assert wrap("one\n  two", 8) == ["one", "  two"]
    assert wrap(f"see ({PATH}) there", 20) == ["see", f"({PATH})", "there"]
    assert wrap("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


def test_wide_signs_count_twice() -> None:
    assert size("日本") == 4
    assert size("±µ░é") == 4
    assert size("e\u0301") == 1


def test_entries_are_indented_and_no_line_ends_in_space() -> None:
    entry = Entry("name", " (weakens security)", ("a reason of several words",), ("detail",))
    shown = drawn(Document("entries", (Section("entries", (entry, Paragraph(Span("x")))),)), 20)
    assert shown.splitlines() == [
        "name (weakens",
        "security)",
        "    a reason of",
        "    several words",
        "    detail",
        "x",
    ]


@given(st.lists(st.floats(0.001, 1), min_size=4, max_size=4), st.integers(1, 200))
def test_a_bar_is_always_as_wide(shares: list[float], width: int) -> None:
    block = Bars(LEGEND, (Bar("w: winner", tuple(share / sum(shares) for share in shares)),))
    label, bar, legend = bars(block, width)
    assert len(bar) == min(BAR_WIDTH, width)
    assert (label, legend) == ("w: winner", "░ saved  ▒ still the server's own  ▓ libraries  █ kernel")
    assert bars(Bars(LEGEND, (Bar("", (0.3, 0.3, 0.15, 0.25)),)), 20)[0] == "░" * 6 + "▒" * 6 + "▓" * 3 + "█" * 5
    assert bars(Bars(LEGEND, ()), 20) == []


def test_no_variant_of_the_catalogue_is_broken() -> None:
    assert max(map(len, load.variants())) <= NAMES_WIDTH
