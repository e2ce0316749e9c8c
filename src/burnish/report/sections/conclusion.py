"""What a run says in sentences: what won, by how much, and what no compiler can reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.report.analysis import marks, outcome, suites
from burnish.report.analysis.ceilings import bars, ceilings
from burnish.report.analysis.outcome import nothing_measured
from burnish.report.analysis.ranking import Ranking, everywhere, ranking, winner
from burnish.report.document import Heading, Points, Role, Section, Span
from burnish.report.sections import patch_sentences
from burnish.report.words import interval_words, inverse, microseconds, milliseconds, per_cent, plural, spaced

if TYPE_CHECKING:
    from burnish.record.events.verdicts import SideSummary
    from burnish.report.result import Result, Row
    from burnish.statistics.means import Ratio


def section(said: list[str]) -> Section:
    """Sentences, the first of which is the answer."""
    items = tuple(Span(spaced(text), Role.PLAIN if number else Role.STRONG) for number, text in enumerate(said))
    return Section("conclusion", (Heading("What it says"), Points(items)))


def ceiling(result: Result) -> Section:
    """The ceiling on each load as a bar."""
    return Section("ceiling", (bars(result, winner(result)),))


def sentences(result: Result) -> list[str]:
    """What won, by how much, why, and what no compiler can reach; of patches, what each does."""
    if nothing_measured(result):
        return [outcome.sentence(result)]
    if result.patched is not None:
        return patch_sentences.sentences(result)
    if result.shipped is not None:
        return list(result.shipped.advice)
    found = ranking(result)
    take = found.take if found else None
    return [
        *(_verdict(result, found) if found else _no_winner(result)),
        *_again(result),
        *_costs(result, take),
        *(each.sentence() for each in ceilings(result, take)),
    ]


def _no_winner(result: Result) -> list[str]:
    if not result.rows or any(row.verdict == "running" for row in result.rows):
        return []
    marked = ", ".join(_named(result, name) for name in everywhere(result))
    but = f"; with marks that were not asked for: {marked}" if marked else ""
    return [f"No candidate is faster than {result.baseline} on every workload{but}."]


def _verdict(result: Result, found: Ranking) -> list[str]:
    """Which build to take, how fast it is, and how far that is proved against the others."""
    name, figures = _named(result, found.take), _figures(result, found.take)
    ahead = [rival for rival in found.marked if rival.ratio.ratio < 1]
    alone = " without marks" if ahead else ""
    if len(found.tied) > 1:
        names = ", ".join(_named(result, each) for each in found.tied)
        simpler = "simpler" if len(found.tied) == 2 else "simplest"
        said = [f"Tied{alone}: {names}; take {name}, the {simpler} one: {figures}."]
    elif alone:
        said = [f"Fastest{alone}: {name}, {figures}."]
    else:
        said = [f"{name} is fastest: {figures}."]
    said += [_against(found.best, rival.candidate, rival.ratio, rival.tie) for rival in found.rivals if rival.tied]
    if len(found.tied) == 1 and found.rivals:
        behind = found.rivals[0]
        said.append(f"It is proved to be faster than {behind.candidate}, the next, by {per_cent(behind.ratio)} %.")
    said += [_against(_named(result, rival.candidate), found.best, inverse(rival.ratio), rival.tie) for rival in ahead]
    return said + _unmarked(result, found)


_TIES = {
    "": "",
    "noise": ", so no difference is proved",
    "layout": ", no more than code layout alone can do",
}


def _against(one: str, other: str, ratio: Ratio, tie: str) -> str:
    return f"{one} against {other}: {per_cent(ratio)} % over all loads{_TIES[tie]}."


def _unmarked(result: Result, found: Ranking) -> list[str]:
    """The fastest candidate without marks, where the one to take has some."""
    marked = marks.by_variant(result)
    plain = next((rival.candidate for rival in found.rivals if rival.candidate not in marked), None)
    if found.take not in marked or plain is None:
        return []
    return [f"Fastest without marks: {plain}, {_figures(result, plain)}."]


def _named(result: Result, name: str) -> str:
    """A candidate with its marks in words: ``gcc-unhardened (weakens security)``."""
    found = marks.by_variant(result).get(name)
    return f"{name} ({', '.join(found.words)})" if found else name


def _figures(result: Result, name: str) -> str:
    """How many times the baseline's the candidate's headline is on each load."""
    parts, before = [], ""
    for headline, ratio, load in _won(result, name):
        of = f" times {result.baseline}'s {headline}" if headline != before else ""
        parts.append(f"{interval_words(ratio)}{of} on {load}")
        before = headline
    return ", ".join(parts)


def _again(result: Result) -> list[str]:
    """How fast the best was when it was measured again."""
    if not result.confirmations:
        return []
    first = result.confirmations[0]
    again = ", ".join(f"{interval_words(row.ratio)} on {row.workload}" for row in result.confirmations)
    fresh = f"{first.candidate} was measured again on {plural(first.starts, 'fresh start')}"
    return [f"{fresh}, as the best of many looks better than it is: {again}. Quote these figures."]


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


def _cost(baseline: str, row: Row, base: SideSummary, mine: SideSummary) -> str:
    before, after = base.server_cpu_per_transaction, mine.server_cpu_per_transaction
    text = (
        f"{row.workload}: {row.candidate} uses {microseconds(after)} of server CPU per {row.unit}, "
        f"{baseline} {microseconds(before)}"
    )
    if "p95" in base.latency and "p95" in mine.latency:
        text += f"; p95 {milliseconds(mine.latency['p95'])} instead of {milliseconds(base.latency['p95'])}"
    if row.per_minute:
        text += f"; {_pace(mine, row.unit)} instead of {_pace(base, row.unit)}"
    return text + "."


def _won(result: Result, best: str) -> list[tuple[str, Ratio | None, str]]:
    """(headline, ratio, load) of the winner's loads; of a suite the mean of its tests."""
    mine = [row for row in result.rows if row.candidate == best]
    suite, wholes = suites.members(mine), {whole.suite: whole for whole in suites.wholes(mine)}
    found: dict[str, tuple[str, Ratio | None, str]] = {}
    for row in mine:
        name = suite.get(row.workload, row.workload)
        ratio: Ratio | None = row.ratio
        load = name
        if row.workload in suite:
            whole = wholes[name]
            ratio = whole.means.get(row.headline)
            load = f"{name} (geometric mean of {whole.tests} tests)"
        found.setdefault(name, (row.headline, ratio, load))
    return list(found.values())


def _pace(side: SideSummary, unit: str) -> str:
    mean = f" at a mean response of {milliseconds(side.latency['mean'])}" if "mean" in side.latency else ""
    return f"{60 * side.throughput:,.0f} {unit}s per minute{mean}"
