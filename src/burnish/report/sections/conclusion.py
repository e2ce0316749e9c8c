"""A run's conclusion in sentences: what won, by how much, and what no compiler can improve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.model.workload import Placement
from burnish.report.analysis import marks, outcome, suites
from burnish.report.analysis.ceilings import bars, ceilings
from burnish.report.analysis.outcome import nothing_measured
from burnish.report.analysis.placed import (
    WITH,
    again_to_quote,
    by_candidate,
    complete,
    confirmed,
    elsewhere,
    moved,
    named,
    quoted,
    to_quote,
)
from burnish.report.analysis.ranking import Ranking, everywhere, ranking, why_taken, winner
from burnish.report.document import Heading, Points, Role, Section, Span
from burnish.report.quantities import percentile, times
from burnish.report.sections import patch_sentences
from burnish.report.words import interval_words, inverse, microseconds, milliseconds, per_cent, plural, spaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burnish.record.events.verdicts import SideSummary
    from burnish.report.result import Result, Row
    from burnish.statistics.means import Ratio


def section(texts: list[str]) -> Section:
    """Sentences, the first of which is the answer; empty without any."""
    items = tuple(Span(spaced(text), Role.PLAIN if number else Role.STRONG) for number, text in enumerate(texts))
    return Section("conclusion", (Heading("What it says"), Points(items)) if items else ())


def ceiling(result: Result) -> Section:
    """The ceiling on each load as a bar."""
    return Section("ceiling", (bars(result, winner(result)),))


def sentences(result: Result) -> list[str]:
    """What won, by how much, why, and what no compiler can improve; for patches, what each does."""
    if nothing_measured(result):
        return [outcome.sentence(result)]
    if result.patched is not None:
        return patch_sentences.sentences(result)
    if result.shipped is not None:
        return list(result.shipped.advice)
    ranked = ranking(result)
    take = ranked.take if ranked else None
    return [
        *(_verdict(result, ranked) if ranked else _no_winner(result)),
        *_again(result),
        *_costs(result, take),
        *(bound.sentence() for bound in ceilings(result, take)),
    ]


def _no_winner(result: Result) -> list[str]:
    if not result.rows or any(row.verdict == "running" for row in result.rows):
        return []
    marked = ", ".join(_named(result, name) for name in everywhere(result))
    if result.searched is not None and marked:
        return [
            f"No build is announced: {outcome.not_announced(result)}. Faster by the starts that found it: {marked}."
        ]
    but = f"; with marks that were not asked for: {marked}" if marked else ""
    return [f"No candidate is faster than {result.baseline} on every workload{but}."]


def _verdict(result: Result, ranked: Ranking) -> list[str]:
    """Which build to take, how fast it is, and which of the others it is proved to be faster than."""
    name, figures = _named(result, ranked.take), _figures(result, ranked.take)
    ahead = [rival for rival in ranked.marked if rival.ratio.ratio < 1]
    alone = " without marks" if ahead else ""
    if len(ranked.tied) > 1:
        names = ", ".join(_named(result, tied) for tied in ranked.tied)
        lines = [f"Tied{alone}: {names}; take {name}, {why_taken(result, ranked)}: {figures}."]
    elif alone:
        lines = [f"Fastest{alone}: {name}, {figures}."]
    else:
        lines = [f"{name} is fastest: {figures}."]
    lines += [_against(ranked.best, rival.candidate, rival.ratio, rival.tie) for rival in ranked.rivals if rival.tied]
    if len(ranked.tied) == 1 and ranked.rivals:
        behind = ranked.rivals[0]
        lines.append(f"It is proved to be faster than {behind.candidate}, the next, by {per_cent(behind.ratio)} %.")
    lines += [
        _against(_named(result, rival.candidate), ranked.best, inverse(rival.ratio), rival.tie) for rival in ahead
    ]
    return lines + _unmarked(result, ranked)


_TIES = {
    "": "",
    "noise": ", so no difference is proved",
    "layout": ", no more than code layout alone can do",
}


def _against(one: str, other: str, ratio: Ratio, tie: str) -> str:
    return f"{one} against {other}: {per_cent(ratio)} % over all loads{_TIES[tie]}."


def _unmarked(result: Result, ranked: Ranking) -> list[str]:
    """The fastest candidate without marks, if the recommended one has marks."""
    marked = marks.by_variant(result)
    plain = next((rival.candidate for rival in ranked.rivals if rival.candidate not in marked), None)
    if ranked.take not in marked or plain is None:
        return []
    return [f"Fastest without marks: {plain}, {_figures(result, plain)}."]


def _named(result: Result, name: str) -> str:
    """A candidate with its marks in words: ``gcc-unhardened (weakens security)``."""
    marked = marks.by_variant(result).get(name)
    return f"{name} ({', '.join(marked.words)})" if marked else name


def _figures(result: Result, name: str) -> str:
    """The candidate's headline quantity as a multiple of the baseline's, on each load."""
    parts, before = [], ""
    for headline, ratio, load in _won(result, name):
        of = f" {times(result.baseline, headline)}" if headline != before else ""
        parts.append(f"{interval_words(ratio)}{of} on {load}")
        before = headline
    return ", ".join(filter(None, (*parts, named(result, name))))


def _again(result: Result) -> list[str]:
    """How fast the best was when it was measured again."""
    lost = [row for row in result.confirmations if row.ratio is None]
    return [
        *(_confirmed(result, rows) for rows in by_candidate(result, confirmed(result)).values()),
        *(
            f"{row.candidate}'s fresh starts on {row.workload} tell nothing: {row.reason.removeprefix('invalid: ')}."
            for row in lost
        ),
    ]


def _confirmed(result: Result, rows: Sequence[Row]) -> str:
    """The same, by the fresh starts of one candidate's loads."""
    first = rows[0]
    quote = first.candidate == again_to_quote(result)
    if moved := [row for row in elsewhere(result) if row.candidate == first.candidate]:
        return _in_the_duet(result, moved, quote=quote)
    again = ", ".join(f"{interval_words(row.ratio)} on {row.workload}" for row in rows)
    fresh = f"{first.candidate} was measured again on {plural(first.starts, 'fresh start')}"
    if len(rows) < sum(row.candidate == first.candidate for row in result.confirmations):
        fresh = f"{fresh} on some of the loads"
    if not quote:
        return f"{fresh} as well: {again}."
    return f"{fresh}, as the best of many looks better than it is: {again}. Quote these figures."


def _in_the_duet(result: Result, rows: Sequence[Row], *, quote: bool) -> str:
    """What a candidate's figures come from, and what it was where it was found."""
    first = rows[0]
    starts = plural(first.starts, "fresh start")
    again = f"{first.candidate} was measured again for them on {starts}"
    figures = [f"{interval_words(row.ratio)} on {row.workload}" for row in rows]
    whole = complete(result, first.candidate)
    if not whole or not quote:
        return (
            f"{first.candidate} was measured again on {starts}, {WITH[first.placement]}"
            f"{'' if whole else ', on some of the loads'}: {first.headline} {', '.join(figures)}."
            f"{' Quote these figures.' if quote else ''}"
        )
    more = [f"{interval_words(row.of('throughput'))} on {row.workload}" for row in rows if row.headline != "throughput"]
    also = f" (throughput {', '.join(more)})" if more else ""
    found = {row.workload: row for row in result.rows if row.candidate == first.candidate}
    duet = [load for load, row in found.items() if row.placement == Placement.SHARED]
    before = ", ".join(f"{interval_words(found[load].ratio)} on {load}" for load in duet)
    return (
        f"Quote these figures: {again}{also}. In the duet, which found it, each server shares its cores with its "
        f"clients: {found[duet[0]].headline} {before}."
    )


def _costs(result: Result, best: str | None) -> list[str]:
    """CPU time and latency of a transaction: of the winner, or of all candidates if there is none."""
    lines = []
    of_suites = suites.members(result.rows)  # their tables say how long a pass takes
    for row in to_quote(result):
        base, candidate = row.sides.get(result.baseline), row.sides.get(row.candidate)
        if row.candidate != (best or row.candidate) or not base or not candidate or row.workload in of_suites:
            continue
        lines.append(_cost(result.baseline, row, base, candidate, moved(result, row)))
    return lines


def _cost(baseline: str, row: Row, base: SideSummary, candidate: SideSummary, where: str) -> str:
    before, after = base.server_cpu_per_transaction, candidate.server_cpu_per_transaction
    load = ", ".join(filter(None, (row.workload, where)))
    text = (
        f"{load}: {row.candidate} uses {microseconds(after)} of server CPU per {row.unit}, "
        f"{baseline} {microseconds(before)}"
    )
    of = percentile(row.headline)
    if of in base.latency and of in candidate.latency:
        text += f"; {of} {milliseconds(candidate.latency[of])} instead of {milliseconds(base.latency[of])}"
    if row.per_minute:
        text += f"; {_pace(candidate, row.unit)} instead of {_pace(base, row.unit)}"
    return text + "."


def _won(result: Result, best: str) -> list[tuple[str, Ratio | None, str]]:
    """(headline, ratio, load) for each of the winner's loads; for a suite, the mean of its tests."""
    rows = quoted(result, best)
    suite, summaries = suites.members(rows), {summary.suite: summary for summary in suites.wholes(rows)}
    by_load: dict[str, tuple[str, Ratio | None, str]] = {}
    for row in rows:
        name = suite.get(row.workload, row.workload)
        ratio: Ratio | None = row.ratio
        load = name
        if row.workload in suite:
            summary = summaries[name]
            ratio = summary.means.get(row.headline)
            load = f"{name} (geometric mean of {summary.tests} tests)"
        by_load.setdefault(name, (row.headline, ratio, load))
    return list(by_load.values())


def _pace(side: SideSummary, unit: str) -> str:
    mean = f" at a mean response of {milliseconds(side.latency['mean'])}" if "mean" in side.latency else ""
    return f"{60 * side.throughput:,.0f} {unit}s per minute{mean}"
