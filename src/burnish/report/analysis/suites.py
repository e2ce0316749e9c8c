"""What a suite of tests says as a whole: each test's time, and the geometric mean of its tests' ratios; pure.

A suite's tests are cells of their own (``sql_bench:tests=ATIS``), measured one after the other and so independent of
each other.
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
"""Head of the table of a suite's times: wall time and the server's CPU time, each beside the baseline's."""

_TEST = re.compile(r"(?P<joint>[:,])tests=(?P<test>[^,+]+)(?=,|$)")


@dataclass(frozen=True)
class Whole:
    """A candidate on all tests of a suite.

    Attributes:
        suite: the suite, with the parameters that all of its tests share.
        candidate: whose.
        tests: number of tests that have a ratio.
        missing: tests that have none, by name.
        means: by quantity that a verdict can be about, the geometric mean of the tests' ratios, or None.
    """

    suite: str
    candidate: str
    tests: int
    missing: tuple[str, ...]
    means: Mapping[str, Ratio | None]

    def sentence(self, baseline: str) -> str:
        """What it says, in a sentence."""
        told = [f"{name} {interval_words(mean)}" for name, mean in self.means.items() if mean is not None]
        without = f"; without {', '.join(self.missing)}" if self.missing else ""
        return (
            f"{self.suite}: geometric mean of {plural(self.tests, 'test')}, {self.candidate} against {baseline}: "
            f"{', '.join(told)}{without}."
        )


def split(workload: str) -> tuple[str, str] | None:
    """(suite, test) of a load that is a test of a suite, else None."""
    match = _TEST.search(workload)
    if match is None:
        return None
    before, after = workload[: match.start()], workload[match.end() :]
    return (before + match["joint"] + after.lstrip(",")).rstrip(":,"), match["test"]


def members(rows: Iterable[Row]) -> dict[str, str]:
    """By load, the suite that it is a test of; of suites of which there are two tests or more."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        part = split(row.workload)
        if part is not None:
            found.setdefault(part[0], {})[row.workload] = None
    return {load: suite for suite, loads in found.items() if len(loads) > 1 for load in loads}


def tables(rows: Sequence[Row]) -> list[tuple[str, str, list[tuple[str, Row]]]]:
    """(load, head of the first column, [(what stands there, row)]) of every table of verdicts, in the rows' order.

    A load has a table of candidates; a suite has one for each candidate, of its tests.
    """
    of = members(rows)
    found: dict[tuple[str, str], list[tuple[str, Row]]] = {}
    for row in rows:
        part = split(row.workload)
        suite = part is not None and row.workload in of
        key = (f"{part[0]}, {row.candidate}", "test") if part is not None and suite else (row.workload, "variant")
        found.setdefault(key, []).append((part[1] if part is not None and suite else row.candidate, row))
    return [(*key, each) for key, each in found.items()]


def wholes(rows: Iterable[Row]) -> list[Whole]:
    """Every candidate on every suite of which there are two tests or more."""
    found: dict[tuple[str, str], list[tuple[str, Row]]] = {}
    for row in rows:
        part = split(row.workload)
        if part is not None:
            found.setdefault((part[0], row.candidate), []).append((part[1], row))
    return [_whole(*key, members) for key, members in found.items() if len(members) > 1]


def _whole(suite: str, candidate: str, members: Sequence[tuple[str, Row]]) -> Whole:
    headlines = [quantity.name for quantity in HEADLINES]
    read = {test: ratios for test, row in members if all(ratios := [row.of(name) for name in headlines])}
    return Whole(
        suite=suite,
        candidate=candidate,
        tests=len(read),
        missing=tuple(test for test, _ in members if test not in read),
        means={
            name: geometric_mean([ratio for ratios in read.values() if (ratio := ratios[number])])
            for number, name in enumerate(headlines)
        },
    )


def times(summary: Result) -> list[tuple[str, list[tuple[str, ...]]]]:
    """(title, rows of `TABLE`) of each candidate on each suite: what a pass takes."""
    found = []
    for whole in wholes(summary.rows):
        rows = []
        for row in summary.rows:
            part = split(row.workload)
            mine, base = row.sides.get(row.candidate), row.sides.get(summary.baseline)
            if part is None or part[0] != whole.suite or row.candidate != whole.candidate or not (mine and base):
                continue
            cells = (1 / mine.throughput, 1 / base.throughput)
            spent = (mine.server_cpu_per_transaction, base.server_cpu_per_transaction)
            rows.append((part[1], *(f"{seconds:.3f}" for seconds in (*cells, *spent))))
        found.append((f"{whole.suite}: time of a pass, {whole.candidate} and {summary.baseline}", rows))
    return found
