"""The result of a suite of tests: the time of each test, and the geometric mean of the tests' ratios; pure.

Each test of a suite is a cell of its own (``sql_bench:tests=ATIS``). They are measured one after the other and so are
independent of each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burnish.model.quantity import HEADLINES
from burnish.report.words import interval_words, plural
from burnish.statistics.means import Ratio, geometric_mean

if TYPE_CHECKING:
    from burnish.report.result import Result, Row

TABLE = ("test", "seconds", "baseline's", "CPU seconds", "baseline's")
"""Head of the table of a suite's times: wall time and the server's CPU time, each followed by the baseline's."""

_TEST = re.compile(r"(?P<joint>[:,])tests=(?P<test>[^,+]+)(?=,|$)")


@dataclass(frozen=True)
class SuiteTotal:
    """A candidate on all tests of a suite.

    Attributes:
        suite: the suite, with the parameters that all of its tests share.
        candidate: its name.
        tests: number of tests that have a ratio.
        missing: tests that have none, by name.
        means: geometric mean of the tests' ratios, or None, by quantity that a verdict can be about.
    """

    suite: str
    candidate: str
    tests: int
    missing: tuple[str, ...]
    means: Mapping[str, Ratio | None]

    def sentence(self, baseline: str) -> str:
        """The means in a sentence."""
        figures = [f"{name} {interval_words(mean)}" for name, mean in self.means.items() if mean is not None]
        without = f"; without {', '.join(self.missing)}" if self.missing else ""
        return (
            f"{self.suite}: geometric mean of {plural(self.tests, 'test')}, {self.candidate} against {baseline}: "
            f"{', '.join(figures)}{without}."
        )


def split(workload: str) -> tuple[str, str] | None:
    """(suite, test) of a load that is a test of a suite; else None."""
    match = _TEST.search(workload)
    if match is None:
        return None
    before, after = workload[: match.start()], workload[match.end() :]
    return (before + match["joint"] + after.lstrip(",")).rstrip(":,"), match["test"]


def members(rows: Iterable[Row]) -> dict[str, str]:
    """The suite of each load that is a test of one, by load; only suites with two tests or more."""
    suites: dict[str, dict[str, None]] = {}
    for row in rows:
        part = split(row.workload)
        if part is not None:
            suites.setdefault(part[0], {})[row.workload] = None
    return {load: suite for suite, loads in suites.items() if len(loads) > 1 for load in loads}


def tables(rows: Sequence[Row]) -> list[tuple[str, str, list[tuple[str, Row]]]]:
    """(load, head of the first column, [(its cell, row)]) of every table of verdicts, in the order of the rows.

    A load has a table of candidates; a suite has one for each candidate, of its tests.
    """
    of = members(rows)
    by_table: dict[tuple[str, str], list[tuple[str, Row]]] = {}
    for row in rows:
        part = split(row.workload)
        suite = part is not None and row.workload in of
        key = (f"{part[0]}, {row.candidate}", "test") if part is not None and suite else (row.workload, "variant")
        by_table.setdefault(key, []).append((part[1] if part is not None and suite else row.candidate, row))
    return [(*key, cells) for key, cells in by_table.items()]


def wholes(rows: Iterable[Row]) -> list[SuiteTotal]:
    """The total of every candidate on every suite with two tests or more."""
    suites: dict[tuple[str, str], list[tuple[str, Row]]] = {}
    for row in rows:
        part = split(row.workload)
        if part is not None:
            suites.setdefault((part[0], row.candidate), []).append((part[1], row))
    return [_on_suite(*key, members) for key, members in suites.items() if len(members) > 1]


def _on_suite(suite: str, candidate: str, members: Sequence[tuple[str, Row]]) -> SuiteTotal:
    headlines = [quantity.name for quantity in HEADLINES]
    measured = {test: ratios for test, row in members if all(ratios := [row.of(name) for name in headlines])}
    return SuiteTotal(
        suite=suite,
        candidate=candidate,
        tests=len(measured),
        missing=tuple(test for test, _ in members if test not in measured),
        means={
            name: geometric_mean([ratio for ratios in measured.values() if (ratio := ratios[number])])
            for number, name in enumerate(headlines)
        },
    )


def times(summary: Result) -> list[tuple[str, list[tuple[str, ...]]]]:
    """(title, rows of `TABLE`) of each candidate on each suite: the time of a pass."""
    titled = []
    for suite in wholes(summary.rows):
        rows = []
        for row in summary.rows:
            part = split(row.workload)
            own, base = row.sides.get(row.candidate), row.sides.get(summary.baseline)
            if part is None or part[0] != suite.suite or row.candidate != suite.candidate or not (own and base):
                continue
            cells = (1 / own.throughput, 1 / base.throughput)
            spent = (own.server_cpu_per_transaction, base.server_cpu_per_transaction)
            rows.append((part[1], *(f"{seconds:.3f}" for seconds in (*cells, *spent))))
        titled.append((f"{suite.suite}: time of a pass, {suite.candidate} and {summary.baseline}", rows))
    return titled
