"""Reports that a person can read at 80 columns, and the same in Markdown."""

from __future__ import annotations

import re

import pytest

from burnish.catalogue import load
from burnish.record.events.verdicts import Interval
from burnish.report.fold import fold
from burnish.report.sections.remarks import lines as remarks
from burnish.report.words import EQUIVALENCE_NOTE, interval
from drawn import markdown
from drawn import printed as shown
from reported import Events, bounded, ratio, verdict

KINDS = {
    "faster": ratio(1.412),
    "slower": ratio(0.912),
    "equivalent": ratio(1.001, level=0.90),
    "undecided": ratio(1.01),
    "invalid": None,
}


MARKED = {"slower": "slower !S"}
"""Its build weakens security, which stands in its rows."""


def everything() -> Events:
    """A study with every kind of verdict, and one cell that is not decided yet."""
    events = Events("baseline", *KINDS, "waiting").run()
    events.add("source", origin="Debian source package fake 1.0-1 (bookworm)", digest="abc", note="")
    about = {"toolchain": "gcc-12", "seconds": 75.0, "server_bytes": 31_400_000}
    for name in ("baseline", *KINDS):
        events.add("build", variant=name, key="k", about=about, identity={})
        events.add("gate", variant=name, report={"passed": True, "tests": 222, "skipped": 3, "failures": []})
        events.add("variant", variant=name, weakens_security=name == "slower", failure=None, notes=["said | once"])
    events.add("variant", variant="waiting", weakens_security=False, failure="left out: no compiler 'x'", notes=[])
    events.contest(*(f"{kind} / {load}" for load in ("read", "write") for kind in KINDS), "waiting / read")
    for workload in ("read", "write"):
        for kind, value in KINDS.items():
            events.add("verdict", **verdict(f"{kind} / {workload}", kind, value))
    return events


def printed(events: Events, width: int = 80, *, terminal: bool = False) -> str:
    return shown(fold(events.made), width, coloured=terminal)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (bounded(1.5), "1.500 [1.485, 1.515]"),
        (bounded(1.5, level=0.9), "1.500 [1.485, 1.515]*"),
        (Interval(1.5, 0.0001, 10_000.0, 0.95), "1.500 [?]"),
    ],
)
def test_interval(value: Interval | None, text: str) -> None:
    assert interval(value) == text


def test_every_verdict_is_printed() -> None:
    text = printed(everything())
    for kind, value in KINDS.items():
        rows = [line.split() for line in text.splitlines() if re.match(rf"{MARKED.get(kind, kind)} +{kind} ", line)]
        assert len(rows) == 2, "one for each workload"
        figures = interval(Interval(**value) if value else None)
        for row in rows:
            assert " ".join(row[row.index(kind, 1) + 1 :]) == f"{figures} {figures} 6 (+1)"
    assert re.search(r"^waiting +running +- +- +0$", text, re.MULTILINE)
    assert "read, ratios to baseline" in text
    assert "write, ratios to baseline" in text
    assert "fake-tune-1 (not finished)" in text
    assert "invalid on read: invalid: because" in text
    assert "undecided on write: undecided: because" in text
    assert "slower: weakens security" in text
    assert "No candidate is faster" not in text, "one is still running"
    assert "(finished 2026-01-02T03:04:05Z)" in " ".join(printed(everything().add("finished")).split())


def test_the_note_on_equivalence_stands_only_where_it_is_needed() -> None:
    assert EQUIVALENCE_NOTE in remarks(fold(everything().made))
    faster = Events("baseline", "a").run().contest("a / w").add("verdict", **verdict("a / w", "faster", ratio(1.2)))
    assert EQUIVALENCE_NOTE not in remarks(fold(faster.made))


def test_a_star_is_explained_though_the_family_leaves_its_cell_open() -> None:
    """By itself it is equivalent, and its interval stays the one that equivalence is read off."""
    narrow = ratio(1.001) | {"level": 0.9}
    events = Events("baseline", "a").run().contest("a / w").add("verdict", **verdict("a / w", "equivalent", narrow))
    label = "claim, one of 2 (Holm)"
    usual = {"p": 0.2, "adjusted_p": 0.4, "adjusted_equivalence_p": 0.08, "label": label}
    cells = {"a / w": {"verdict": "undecided", **usual}}
    result = fold(events.add("family", explore=False, cells=cells).made)
    assert result.rows[0].verdict == "undecided"
    assert EQUIVALENCE_NOTE in remarks(result)


def test_study_that_has_just_begun() -> None:
    text = printed(Events("baseline", "one"))
    assert text.startswith("fake-tune-1 (not finished)\n")
    assert "not tested" in text


def test_a_failed_variant_says_why_in_its_row() -> None:
    (row,) = (line for line in printed(everything()).splitlines() if line.startswith("waiting") and "left" in line)
    assert "left out: no compiler 'x'" in row


@pytest.mark.parametrize("terminal", [False, True])
def test_80_columns(terminal: bool) -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", printed(everything(), terminal=terminal))
    assert max(map(len, text.splitlines())) <= 80


def test_80_columns_with_the_longest_names() -> None:
    """Columns are left out before names are broken; the verdict and what it is about stay whole."""
    longest = max(load.variants(), key=len)
    workload = max((name for _, name in load.workloads()), key=len)
    value = {"ratio": 11.412, "low": 10.398, "high": 12.426, "level": 0.9}
    for name in (longest, "/home/somebody/a/rather/long/path/to/a/server/sql/mariadbd"):
        events = Events("baseline", name).run(cpu_model="A processor with quite a long name of its own, 3.10 GHz")
        about = {"toolchain": "clang-19", "bolt": "clang-19", "seconds": 4000.0, "server_bytes": 131_400_000}
        events.add("build", variant=name, key="k", about={**about, "audit": "x" * 100}, identity={})
        cell = f"{name} / {workload}"
        events.contest(cell).add("verdict", **verdict(cell, "equivalent", value) | {"starts": 20, "invalid_starts": 12})
        lines = printed(events).splitlines()
        assert max(map(len, lines)) <= 80
        (row,) = (line for line in lines if re.search(r"\bequivalent +11", line))
        assert row.count("11.412 [10.398, 12.426]*") == 1, row
        assert "throughput, starts" in lines[-1], "what there is no room for is said"
        (row,) = (line for line in printed(events, 140).splitlines() if re.search(r"\bequivalent +11", line))
        assert row.count("11.412 [10.398, 12.426]*") == 2, row
        assert row.endswith("20 (+12)"), row


def test_markdown() -> None:
    text = markdown(fold(everything().made))
    lines = text.splitlines()
    assert lines[0] == "# fake: tune"
    for workload in ("read", "write"):
        assert f"## {workload}, ratios to baseline" in lines
    for kind, value in KINDS.items():
        figures = interval(Interval(**value) if value else None)
        assert lines.count(f"| {MARKED.get(kind, kind)} | {kind} | {figures} | {figures} | 6 (+1) |") == 2
    assert "| waiting | running | - | - | 0 |" in lines
    assert "| baseline | gcc-12 | 1 min 15 s | 31.4 MB | passed 222, 3 skipped |" in lines
    assert "| waiting | - | - | - | left out: no compiler 'x' |" in lines
    assert "* \\" + EQUIVALENCE_NOTE in lines, "a footnote, not a list in a list"
    assert text.endswith("\n")


def test_markdown_tables_are_whole() -> None:
    """Every row has as many cells as its head, whatever stands in them."""
    events = everything()
    events.add("variant", variant="faster", weakens_security=False, failure="it | broke", notes=[])
    width = 0
    for line in markdown(fold(events.made)).splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        width = width or cells
        assert cells == width, line
    assert "it \\| broke" in markdown(fold(events.made))


def test_reports_are_pure() -> None:
    summary = fold(everything().made)
    assert markdown(summary) == markdown(summary)
    assert printed(everything()) == printed(everything())
