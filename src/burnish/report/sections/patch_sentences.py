"""A series of patches in sentences: what all do together, what each does alone, and what is lost without each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from burnish.report.analysis.effects import Effect, Series, effect
from burnish.report.analysis.placed import WITH, elsewhere
from burnish.report.analysis.verdict import IDENTICAL

if TYPE_CHECKING:
    from burnish.report.result import Result


def sentences(result: Result) -> list[str]:
    """One for all patches together, then one for each: what it does alone, and what is lost without it."""
    series = Series.of(result)
    names = series.names
    lines = []
    if len(names) > 1:
        clauses = _alone(series, names, "together", plural=True)
        lines.append(f"All {len(names)}: {', '.join(clauses)}.")
    lines += [f"{member['name']}: {'; '.join(_about(series, member, names))}." for member in series.patched.members]
    moved = elsewhere(result)
    lines += [
        f"{row.candidate} was measured again on {row.starts} fresh starts of {row.workload}, {WITH[row.placement]}: "
        f"{again.words}; these are the figures to quote."
        for row in moved
        if (again := effect(row)) is not None
    ]
    lines += [
        f"{row.candidate} was the best of many and was measured again on {row.starts} fresh starts on {row.workload}: "
        f"{again.words}; these are the figures to quote."
        for row in result.confirmations
        if row not in moved
        if (again := effect(row)) is not None
    ]
    return lines


def _about(series: Series, member: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The parts of the sentence on one patch."""
    name, needs = member["name"], member["needs"]
    parts = _alone(series, [*needs, name], f"with {', '.join(needs)} (which it needs)" if needs else "alone")
    steps = [([*needs, name], list(needs), "these", "it")] if needs else []
    dependants = series.dependants(name)
    rest = [other for other in names if other != name and other not in dependants]
    already_said = bool(needs) and series.programs([*needs, name], needs) == series.programs(names, rest)
    if rest and not already_said:
        steps.append((list(names), rest, "the others", " and ".join(("it", *dependants))))
    for patches, less, over, who in steps:
        added = {workload: series.added(patches, less, workload) for workload in series.workloads}
        parts += [_added(gain, series.delta, load, over, who) for load, gain in added.items() if gain is not None]
    return parts


def _alone(series: Series, patches: Sequence[str], how: str, *, plural: bool = False) -> list[str]:
    """What a set of patches does on each load."""
    variant = series.variant(patches)
    build = series.build(variant) if variant else None
    if variant is None:
        return [f"not built {how}"]
    if build is not None and build.failure:
        return [f"not measured {how}: {build.failure}"]
    if build is not None and build.same:
        return [f"{'change' if plural else 'changes'} no machine code here {how}: {IDENTICAL}"]
    clauses = []
    for workload in series.workloads:
        row = series.row(variant, workload)
        now = effect(row) if row else None
        if row is None or row.verdict == "running":
            clauses.append(f"not decided yet on {workload} {how}")
        elif now is None or row.verdict == "invalid":
            clauses.append(f"no valid trial on {workload} {how} ({row.reason})")
        else:
            clauses.append(_verdict(row.verdict, now, workload, how, "" if plural else "s"))
    return clauses


def _verdict(verdict: str, now: Effect, workload: str, how: str, ending: str) -> str:
    if verdict == "faster":
        return f"help{ending} {workload} by {now.size} {how}"
    if verdict == "slower":
        return f"slow{ending} {workload} down by {now.size} {how}"
    if verdict == "equivalent":
        return f"make{ending} no difference to {workload} {how} ({now.words})"
    return f"undecided on {workload} {how} ({now.words})"


def _added(added: Effect, delta: float, workload: str, over: str, who: str) -> str:
    """What one patch, or several, add to others, in words.

    Args:
        added: how much.
        delta: margin of equivalence; within it of 1, an effect counts as nothing.
        workload: the load.
        over: what it is added to.
        who: what is added.
    """
    ending = "s" if who == "it" else ""
    if added.low > 1:
        return f"on top of {over} {who} add{ending} {added.size} to {workload}"
    if added.high < 1:
        return f"on top of {over} {who} take{ending} {added.size} from {workload}"
    if added.low > 1 / (1 + delta) and added.high < 1 + delta:
        if over == "these":  # of those that it needs alone, not of all
            return f"on top of {over} {who} add{ending} nothing to {workload} ({added.words})"
        return f"leaving {who} out of all costs nothing on {workload} ({added.words})"
    return f"undecided whether {who} add{ending} anything to {workload} on top of {over} ({added.words})"
