"""What to take and what it gives, in words: the first thing that a reader wants to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from burnish.model.cell import Role as CellRole
from burnish.model.quantity import BY_NAME
from burnish.report.analysis import marks, outcome, suites
from burnish.report.analysis.placed import named, quoted
from burnish.report.analysis.ranking import Ranking, everywhere, ranking, why_taken
from burnish.report.analysis.verdict import NO_EFFECT, RUNNING
from burnish.report.answer.words import change, precise, span
from burnish.report.document import Points, Role, Section, Span
from burnish.report.quantities import is_latency
from burnish.report.words import plural

if TYPE_CHECKING:
    from burnish.report.result import Result, Row
    from burnish.statistics.means import Ratio
    from burnish.statistics.rivals import Rival

_NAMED = 3
"""Ties up to this number are each named with their difference."""


def section(result: Result) -> Section:
    """The answer in one sentence, then ties and what marks hold back."""
    first, *others = sentences(result)
    return Section("answer", (Points((Span(first, Role.STRONG), *map(Span, others))),))


def sentences(result: Result) -> list[str]:
    """The answer, then ties and what marks hold back."""
    if outcome.nothing_measured(result):
        return [outcome.sentence(result)]
    open_cells = sum(row.verdict == RUNNING for row in result.rows)
    unfinished = [] if result.ended else [_unfinished(result, open_cells)]
    if not result.rows:
        return unfinished or ["Nothing was compared."]
    ranked = ranking(result)
    if ranked is not None:
        return [*_take(result, ranked), *unfinished]
    if open_cells:
        return unfinished
    candidates = dict.fromkeys(row.candidate for row in result.rows)
    one = len(candidates) == 1 and not (result.searched and everywhere(result))
    return [*(_one(result) if one else _none(result)), *unfinished]


def _unfinished(result: Result, open_cells: int) -> str:
    if not result.rows:
        return f"Not finished: nothing is measured yet{_made(result)}; the same command resumes."
    done = len(result.rows) - open_cells
    decided = f"{done} of {plural(len(result.rows), 'cell')} decided"
    missing = " and ".join(pending.words for pending in result.pending)
    if not open_cells:
        decided += f", but {missing or 'what follows them'} {'are' if missing else 'is'} not complete"
    return f"Not finished: {decided}; the same command resumes."


def _made(result: Result) -> str:
    """How many of a `tune`'s builds are made, in brackets; '' in a search, which decides how many as it goes."""
    if result.verb != "tune" or result.searched:
        return ""
    return f" ({sum(build.built for build in result.builds)} of {plural(len(result.builds), 'build')} made)"


def _take(result: Result, ranked: Ranking) -> list[str]:
    where = named(result, ranked.take)
    lines = [f"Take {_named(result, ranked.take)}: {gain(quoted(result, ranked.take))}{f', {where}' if where else ''}."]
    lines += _unproved(result, ranked.take)
    if len(ranked.tied) > 1:
        lines.append(_ties(result, ranked))
    ahead = [rival for rival in ranked.marked if rival.ratio.ratio < 1]
    lines += [_ahead(result, rival, ranked.best) for rival in ahead]
    marked = marks.by_variant(result)
    plain = next((rival.candidate for rival in ranked.rivals if rival.candidate not in marked), None)
    if ranked.take in marked and plain is not None:
        lines.append(f"Without such a mark take {plain}: {gain(quoted(result, plain))}.")
    return lines


def _unproved(result: Result, name: str) -> list[str]:
    """On which loads the fresh starts that are quoted do not prove a gain by themselves."""
    fresh = [row for row in quoted(result, name) if row.role == CellRole.CONFIRMATION]
    if result.searched:  # on a load that is only guarded no gain is asked for
        fresh = [row for row in fresh if row.workload in result.searched[0].weights]
    open_ones = [row.workload for row in fresh if row.verdict != "faster"]
    where = f" on {', '.join(open_ones)}" if len(open_ones) < len(fresh) else ""
    found = "; those that found it do" if name in everywhere(result) else ""
    return [f"Its fresh starts do not prove a gain by themselves{where}{found}."] if open_ones else []


def _named(result: Result, name: str) -> str:
    marked = marks.by_variant(result).get(name)
    return f"{name} ({', '.join(marked.words)})" if marked else name


def _ties(result: Result, ranked: Ranking) -> str:
    """Which others are as fast, as far as could be measured, and why this one is taken."""
    others = [name for name in ranked.tied if name != ranked.take]
    layout = any(rival.tie == "layout" for rival in ranked.rivals if rival.tied)
    why = "no more apart than code layout alone can do" if layout else "no difference is proved"
    return f"Tied with it: {', '.join(others)} ({why}); {ranked.take} is {why_taken(result, ranked)}."


def _ahead(result: Result, rival: Rival, best: str) -> str:
    """A marked build that would be faster."""
    return f"{_named(result, rival.candidate)} would do {100 * (1 / rival.ratio.ratio - 1):.1f} % more than {best}."


def _none(result: Result) -> list[str]:
    names = ", ".join(_named(result, name) for name in everywhere(result))
    if result.searched is not None and names:
        why = outcome.not_announced(result)
        return [f"Keep {result.baseline}: {why}.", f"Faster by the starts that found it: {names}."]
    lines = [f"Keep {result.baseline}: no build is proved to be faster on every load."]
    return [*lines, f"Faster, but with marks that were not asked for: {names}."] if names else lines


def _one(result: Result) -> list[str]:
    """Of a single candidate that is not faster on every load."""
    name, verdicts = _named(result, result.rows[0].candidate), {row.verdict for row in result.rows}
    if verdicts == {NO_EFFECT}:
        return [f"No difference: {name} is the same machine code as {result.baseline}."]
    if verdicts == {"equivalent"}:
        return [f"No difference: {name} does as much work as {result.baseline}, within ±1 %."]
    if verdicts == {"slower"}:
        return [f"Keep {result.baseline}: {name} is slower, {gain(list(result.rows))}."]
    return [f"Keep {result.baseline}: {name} is not proved to be faster on every load."]


def gain(rows: Sequence[Row]) -> str:
    """What a candidate gives, in words: ``13 to 15 % less server CPU for the same queries``."""
    by_headline: dict[str, list[Ratio]] = {}
    for headline, ratio in _of_loads(rows):
        by_headline.setdefault(headline, []).append(ratio)
    work = "the same queries" if {row.unit for row in rows} == {"transaction"} else "the same work"
    parts = [_gain(headline, ratios, work) for headline, ratios in by_headline.items()]
    return "; ".join(parts) or "no figure"


def _of_loads(rows: Sequence[Row]) -> list[tuple[str, Ratio]]:
    """(headline, ratio) of each load; the tests of a suite count as one, with their mean."""
    suite = suites.members(rows)
    single = [(row.headline, row.ratio) for row in rows if row.workload not in suite]
    headlines = {suite[row.workload]: row.headline for row in rows if row.workload in suite}
    means = [
        (headlines[whole.suite], whole.means.get(headlines[whole.suite]))
        for whole in suites.wholes([row for row in rows if row.workload in suite])
    ]
    return [(headline, ratio) for headline, ratio in (*single, *means) if ratio is not None]


def _gain(headline: str, ratios: Sequence[Ratio], work: str) -> str:
    if headline == "capacity":
        saved = [100.0 * (1.0 - 1.0 / ratio.ratio) for ratio in ratios]
        if max(saved) < 0:
            return _mixed([-value for value in saved], "more", f"server CPU for {work}")
        return _mixed(saved, "less", f"server CPU for {work}")
    if is_latency(headline):
        saved = [100.0 * (1.0 - 1.0 / ratio.ratio) for ratio in ratios]
        title = BY_NAME[headline].title
        if max(saved) < 0:
            return _mixed([-value for value in saved], "longer", title)
        return _mixed(saved, "shorter", title)
    done = "queries per second" if work == "the same queries" else "work per second"
    gained = [100.0 * (ratio.ratio - 1.0) for ratio in ratios]
    if max(gained) < 0:
        return _mixed([-value for value in gained], "fewer" if done.startswith("queries") else "less", done)
    return _mixed(gained, "more", done)


def _mixed(values: Sequence[float], word: str, what: str) -> str:
    return f"{span(values, digits=precise(values))} % {word} {what}"


def again(rows: Sequence[Row]) -> str:
    """The figures of rows that were measured again, in one line: ``+18.2 ±3.6 on a, +14.9 ±2.8 on b``."""
    return ", ".join(f"{change(row.ratio)} on {row.workload}" for row in rows)
