"""The report of a `why`: readable at 80 columns, complete, and nothing from a run that was not finished."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from burnish.report.fold import fold
from burnish.report.result import Result
from burnish.report.sections.why import NO_RESULT
from burnish.report.values import runs as values
from burnish.report.words import scale, short
from burnish.why.attribution import profile
from burnish.why.cachegrind import RECORDED
from burnish.why.samples import KERNEL
from drawn import markdown, printed
from reported import event

SERVER, LIBC = "/srv/mariadbd", "/usr/lib/x86_64-linux-gnu/libc.so.6"
LONG = "std::_Rb_tree<unsigned long, std::pair<unsigned long const, buf_page_t*>, std::less<unsigned long>>::find"
TEXT: dict[str, Any] = {
    "code": 9_608_365,
    "cold": 333_591,
    "functions": 30_503,
    "hot_bytes": {"0.9": 400_000, "0.99": 500_000},
    "hot_pieces": {"0.9": 372, "0.99": 769},
    "hot_pages": {"0.9": 203, "0.99": 372},
    "pages": 433,
    "samples": 10_000,
}


def side(label: str, cpu: float, own: int, other: int) -> dict[str, Any]:
    weights = [(SERVER, LONG, own), (SERVER, "f", 500), (LIBC, "memcpy", 100), ("[vdso]", "[vdso]", 10)]
    found = profile(label, cpu, 10_000, [*weights, (KERNEL, "send", other)], SERVER).as_dict()
    return {"label": label, "profile": found, "compared": found, "text": TEXT}


EXPLAINED: dict[str, Any] = {
    "labels": ["baseline", "clang-pgo-thinlto"],
    "workload": "oltp_read_only",
    "unit": "transaction",
    "only_before": [],
    "only_after": [],
    "folded": {LONG: ["one", "two", "three"]},
    "method": {
        "event": "cpu-clock",
        "by_core": True,
        "frequency": 499,
        "seconds": 40.0,
        "stacks": "fp",
        "design": "duet",
        "grouping": "callers",
        "functions_gone": 1005,
        "functions_new": 2121,
        "perf_cpu": 0.009,
    },
    "blind": ["no PMU here: the CPU clock is sampled"],
    "pictures": ["flame-before.svg", "flame-after.svg", "flame-difference.svg"],
    "hardware": {"baseline": {"cycles": 1e6}, "clang-pgo-thinlto": {"cycles": 9e5}},
    "slots": {"baseline": {"retiring": 0.25}, "clang-pgo-thinlto": {"retiring": 0.31}},
    "notes": [],
}
SIMULATED = {"totals": {"Ir": 200, "I1mr": 10, "Bc": 0}, "functions": {"f": {"I1mr": 4}}}


def told(*, finished: bool = True, **changes: Any) -> Result:
    definition = {"verb": "why", "engine": "mariadb", "variants": ["a", "b"], "features": "core"}
    events: list[tuple[str, dict[str, Any]]] = [
        ("study", {"name": "s", "definition": definition}),
        ("program", {"variant": "baseline", "path": "/a", "key": "1", "identity": {}}),
        ("program", {"variant": "clang-pgo-thinlto", "path": "/b", "key": "2", "identity": {}}),
        ("profiled", side("baseline", 325e-6, 2000, 1000)),
        ("profiled", side("clang-pgo-thinlto", 283e-6, 1000, 1000)),
        ("simulated", {"label": "baseline", **SIMULATED}),
        ("simulated", {"label": "clang-pgo-thinlto", **SIMULATED}),
        ("explained", EXPLAINED | changes),
        *([("finished", dict[str, Any]())] if finished else []),
    ]
    return fold(event(n, "2026-11-21T00:00:00Z", kind, body) for n, (kind, body) in enumerate(events, 1))


def lines_of(summary: Result) -> list[str]:
    return printed(summary).splitlines()


def test_the_report_fits_80_columns_and_says_everything() -> None:
    lines = lines_of(told())
    assert all(len(line) <= 80 for line in lines)
    text = "\n".join(lines)
    for title in (
        "oltp_read_only: why clang-pgo-thinlto differs from baseline",
        "The ceiling",
        "Functions, µs of server CPU per transaction",
        "By program and library, µs per transaction",
        "What the build changed",
        "Counted by the processor, per transaction",
        "In a simulated processor (cachegrind), one transaction",
        "How this was measured, and its limits",
    ):
        assert title in text
    row = next(line for line in lines if line.startswith("std::_Rb_tree"))
    assert "…" in row, "a long name loses its middle, the figures stay whole"
    assert len(row.split()) >= 5
    assert any(line.startswith("[vdso]") for line in lines), "brackets are no markup"
    assert "░" in text
    assert "█" in text
    assert "no PMU here" in text
    assert "one, two" in text
    assert "three" not in text
    assert "retiring" in text
    assert "flame-difference.svg" in text


def test_a_function_that_is_cut_off_on_one_side_has_no_misses_of_zero() -> None:
    """A record has the functions with most misses of each build; the others have misses too."""
    rare = {f"f{number:02}": {"I1mr": 1000 - number} for number in range(RECORDED)}
    one = {"totals": {"I1mr": 50_000}, "functions": rare | {"gone_below": {"I1mr": 990}}}
    other = {
        "totals": {"I1mr": 40_000},
        "functions": {f"g{number:02}": {"I1mr": 900} for number in range(RECORDED - 1)},
    }
    other["functions"]["f01"] = {"I1mr": 500}
    summary = told()
    assert summary.explanation is not None
    why = replace(summary.explanation, simulated={"baseline": one, "clang-pgo-thinlto": other})
    text = " ".join(printed(replace(summary, explanation=why)).split())
    assert "misses that changed most: f01 999 to 500" in text
    assert "gone_below" not in text


def test_markdown_has_the_same_and_keeps_the_bar() -> None:
    text = markdown(told())
    assert "## Functions, µs of server CPU per transaction" in text
    assert "| function | before | after | diff | ± |" in text
    assert "\n```\n░" in text


def test_a_why_that_was_not_finished_says_nothing() -> None:
    assert told(finished=False).explanation is None
    assert NO_RESULT in lines_of(told(finished=False))
    assert NO_RESULT in markdown(told(finished=False))


def test_values_for_machines() -> None:
    explained = values.run(told())["explanation"]
    assert explained["cpu"] == {"baseline": 325e-6, "clang-pgo-thinlto": 283e-6}
    functions = {row["name"]: row for row in explained["functions"]}
    assert functions["f"]["part"] == "own"
    assert sum(row["before"] for row in explained["functions"]) == pytest.approx(325e-6)
    assert explained["ceiling"]["reached"] == pytest.approx(325 / 283)
    assert [name for name, _ in explained["heaviest"]["baseline"]][:2] == [LONG, "f"]


def test_nothing_that_differs_is_said_plainly() -> None:
    same = side("clang-pgo-thinlto", 325e-6, 2000, 1000)
    definition = {"verb": "why", "engine": "mariadb", "variants": ["a", "b"], "features": "core"}
    bodies = [
        ("study", {"name": "s", "definition": definition}),
        ("profiled", side("baseline", 325e-6, 2000, 1000)),
        ("profiled", same),
        ("explained", EXPLAINED | {"hardware": {}, "slots": {}}),
        ("finished", {}),
    ]
    lines = lines_of(fold(event(n, "", kind, body) for n, (kind, body) in enumerate(bodies, 1)))
    assert any("no function outside of the kernel differs" in line for line in lines)
    assert not any("Counted by the processor" in line for line in lines)


def test_names_and_units() -> None:
    assert short("abc") == "abc"
    assert len(short("x" * 100)) == 40
    assert short("a" * 50 + "z").endswith("z")
    assert [scale(total)[0] for total in (60e-3, 325e-6, 9.87e-6, 5e-6)] == ["ms", "µs", "µs", "ns"]
    assert scale(325e-6)[1](3.21e-6) == "3.21"


def test_it_says_where_the_servers_were() -> None:
    method = EXPLAINED["method"]
    shown = " ".join(printed(told(method={**method, "design": "solo", "placement": "apart"})).split())
    assert "placement apart: one side at a time under load, server and clients on cores of their own" in shown
    assert "placement" not in printed(told()), "older records don't say"
