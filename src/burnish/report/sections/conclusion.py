"""What a run says in sentences: what won, by how much, and what no compiler can reach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from burnish.report import suites
from burnish.report.ceilings import bars, ceilings
from burnish.report.document import Heading, Points, Role, Section, Span
from burnish.report.ranking import winner
from burnish.report.sections import patch_sentences
from burnish.report.words import interval_words, microseconds, milliseconds, plural

if TYPE_CHECKING:
    from burnish.report.result import Result, Row


def section(said: list[str]) -> Section:
    """Sentences, the first of which is the answer."""
    items = tuple(Span(text, Role.PLAIN if number else Role.STRONG) for number, text in enumerate(said))
    return Section("conclusion", (Heading("What it says", only="markdown"), Points(items)))


def ceiling(result: Result) -> Section:
    """The ceiling on each load as a bar."""
    return Section("ceiling", (bars(result, winner(result)),))


def sentences(result: Result) -> list[str]:
    """What won, by how much, why, and what no compiler can reach; of patches, what each does."""
    if result.patched is not None:
        return patch_sentences.sentences(result)
    if result.shipped is not None:
        return list(result.shipped.advice)
    best = winner(result)
    return [*_verdict(result, best), *_costs(result, best), *(each.sentence() for each in ceilings(result, best))]


def _verdict(result: Result, best: str | None) -> list[str]:
    """Which build is the fastest, and how fast it was when it was measured again."""
    if best is None:
        if result.rows and all(row.verdict != "running" for row in result.rows):
            return [f"No candidate is faster than {result.baseline} on every workload."]
        return []
    won = _won(result, best)
    parts = [
        f"{'' if n and won[n - 1][0] == headline else f'{headline} '}{interval_words(ratio)} on {load}"
        for n, (headline, ratio, load) in enumerate(won)
    ]
    said = [f"Fastest: {best}, {', '.join(parts)} times {result.baseline}'s."]
    again = [f"{interval_words(row.ratio)} on {row.workload}" for row in result.confirmations]
    if again:
        said.append(
            f"Measured again on {plural(result.confirmations[0].starts, 'fresh start')}, as the best of many looks "
            f"better than it is: {', '.join(again)}. Quote these figures."
        )
    return said


def _costs(result: Result, best: str | None) -> list[str]:
    """CPU time and latency of a transaction, of the winner or, without one, of all."""
    said = []
    of_suites = suites.members(result.rows)  # their tables tell what a pass takes
    for row in result.rows:
        base, mine = row.sides.get(result.baseline), row.sides.get(row.candidate)
        if row.candidate != (best or row.candidate) or not base or not mine or row.workload in of_suites:
            continue
        said.append(_cost(result.baseline, row, base, mine))
    return said


def _cost(baseline: str, row: Row, base: Mapping[str, Any], mine: Mapping[str, Any]) -> str:
    before, after = base["server_cpu_per_transaction"], mine["server_cpu_per_transaction"]
    text = (
        f"{row.workload}: {row.candidate} uses {microseconds(after)} of server CPU per {row.unit}, "
        f"{baseline} {microseconds(before)}"
    )
    if "p95" in base["latency"] and "p95" in mine["latency"]:
        text += f"; p95 {milliseconds(mine['latency']['p95'])} instead of {milliseconds(base['latency']['p95'])}"
    if row.per_minute:
        text += f"; {_pace(mine, row.unit)} instead of {_pace(base, row.unit)}"
    return text + "."


def _won(result: Result, best: str) -> list[tuple[str, Mapping[str, float] | None, str]]:
    """(headline, ratio, load) of the winner's loads; of a suite the mean of its tests."""
    mine = [row for row in result.rows if row.candidate == best]
    suite, wholes = suites.members(mine), {whole.suite: whole for whole in suites.wholes(mine)}
    found: dict[str, tuple[str, Mapping[str, float] | None, str]] = {}
    for row in mine:
        name = suite.get(row.workload, row.workload)
        ratio, load = row.ratio, name
        if row.workload in suite:
            whole = wholes[name]
            ratio = whole.capacity if row.headline == "capacity" else whole.throughput
            load = f"{name} (geometric mean of {whole.tests} tests)"
        found.setdefault(name, (row.headline, ratio, load))
    return list(found.values())


def _pace(side: Mapping[str, Any], unit: str) -> str:
    mean = f" at a mean response of {milliseconds(side['latency']['mean'])}" if "mean" in side["latency"] else ""
    return f"{60 * side['throughput']:,.0f} {unit}s per minute{mean}"
