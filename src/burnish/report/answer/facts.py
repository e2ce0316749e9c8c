"""The short report's facts: p95, what was checked, noise, how sure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from burnish.model.quantity import BY_NAME
from burnish.report.analysis import layout_caveat, marks, suites
from burnish.report.analysis.loads import over_loads
from burnish.report.analysis.placed import by_candidate, quoted
from burnish.report.analysis.ranking import everywhere, ranking
from burnish.report.analysis.taken import taken
from burnish.report.answer.words import VERDICTS, half, precise, short_loads, span
from burnish.report.compose import row
from burnish.report.document import Column, Role, Section, Span, Table
from burnish.report.quantities import percentile
from burnish.report.sections.calibration import canary_lines
from burnish.report.words import interval_words, milliseconds, plural, some

if TYPE_CHECKING:
    from burnish.report.result import BuildRow, Result
    from burnish.study.trials.repeated import Sitting

_NAMED = 3
_OPEN = VERDICTS["undecided"]
_LOUD = "NOISIER THAN CALIBRATED"


def section(result: Result) -> Section:
    """A line for each fact, after its name."""
    facts = (
        ("mean", mean(result)),
        (percentile(result.rows[0].headline if result.rows else ""), latency(result)),
        ("checked", checked(result)),
        ("noise", noise(result)),
        ("how sure", "; ".join(sure(result))),
    )
    return listed("facts", [(name, text) for name, text in facts if text])


def listed(key: str, facts: Sequence[tuple[str, str]]) -> Section:
    """Facts below each other, each after its name."""
    columns = (Column("", whole=True), Column(""))
    rows = tuple(row(Span(name.ljust(8), Role.ASIDE), text) for name, text in facts)
    return Section(key, (Table("facts", columns, rows, headed=False, gap=1),) if rows else ())


def mean(result: Result) -> str:
    """The recommended candidate over all loads, by the figures to quote."""
    found = [one for one in over_loads(result) if one.candidate == _about(result)]
    if not found:
        return ""
    of = found[-1]
    ratios = [f"{interval_words(ratio)} in {BY_NAME[name].title}" for name, ratio in of.means.items()]
    return f"{of.candidate}, geometric of {of.loads} loads: {', '.join(ratios)}"


def _about(result: Result) -> str:
    """The recommended candidate, or the only one; '' where there are several and none is recommended."""
    candidates = list(dict.fromkeys(one.candidate for one in result.rows))
    return taken(result) or (candidates[0] if len(candidates) == 1 else "")


def latency(result: Result) -> str:
    """The response time of the recommended candidate on each load: a percentile, see `percentile`.

    One whose own verdict is that nothing is decided is marked; records that have no verdict of it say nothing.
    """
    name = _about(result)
    of_suites = suites.members(result.rows)
    rows = [one for one in quoted(result, name) if one.workload not in of_suites]
    called, parts = short_loads([one.workload for one in rows]), []
    for one in rows:
        base, own = one.sides.get(result.baseline), one.sides.get(name)
        of = percentile(one.headline)
        if base and own and of in base.latency and of in own.latency:
            verdict = one.verdict if of == one.headline else one.quantities[of].verdict if of in one.quantities else ""
            open_ = f" {_OPEN}" if verdict == "undecided" else ""
            parts.append(f"{called[one.workload]} {_change(base.latency[of], own.latency[of])}{open_}")
    more = f" and {plural(len(parts) - _NAMED, 'load')} more" if len(parts) > _NAMED else ""
    shown = ", ".join(parts[:_NAMED])
    return f"{shown}{more}{f' ({_OPEN} too close to call)' if f' {_OPEN}' in shown else ''}"


def _change(before: float, after: float) -> str:
    """``6.76 -> 5.57 ms``; both units if they differ."""
    was, is_now = milliseconds(before), milliseconds(after)
    same = was.split()[-1] == is_now.split()[-1]
    return f"{was.split()[0] if same else was} -> {is_now}"


def checked(result: Result) -> str:
    """Tests, features, hardening, portability; for existing programs, how they differ; '' without candidates."""
    if not result.rows:
        return ""
    built = [build for build in result.builds if build.built and not build.same]
    parts = [] if built else _differences(result)
    if built:
        parts += [*_gates(built), *_alike(result, built)]
        needing = next((build for build in built if build.variant == taken(result)), None)
        if needing is not None and needing.needs != "-":
            parts.append(f"{needing.variant} needs {needing.needs}")
    return "; ".join(parts)


def _differences(result: Result) -> list[str]:
    """How two existing programs differ: their versions in full, the rest by name."""
    names = [line.partition(":")[0] for line in result.differences]
    version = next((line for line in result.differences if line.startswith("version:")), "")
    rest = [name for name in names if name != "version"]
    texts = [f"DIFFERENT VERSIONS, {version.removeprefix('version: ')}"] if version else []
    return [*texts, *([f"they differ in {', '.join(rest)}"] if rest else [])]


def _gates(built: Sequence[BuildRow]) -> list[str]:
    passed = [build for build in built if build.gate.startswith("passed")]
    others = [f"{build.variant}: {build.gate}" for build in built if build not in passed and not build.failure]
    texts = []
    if passed:
        numbers = [int(found[1]) for build in passed if (found := re.match(r"passed (\d+)", build.gate))]
        who = "every build" if len(passed) == len(built) else plural(len(passed), "build")
        texts.append(f"{who} passed {span(numbers)} tests" if numbers else f"{who} passed its tests")
    return texts + (others if len(others) <= _NAMED else [f"{plural(len(others), 'build')} not tested"])


def _alike(result: Result, built: Sequence[BuildRow]) -> list[str]:
    """Whether features and hardening are the baseline's, but for whose; and who has other libraries or settings."""
    differs, configured = (f"{words} {result.baseline}" for words in ("differs from", "configured otherwise than"))
    marked = marks.by_variant(result)
    except_in: dict[str, list[str]] = {}
    for build in built:
        differing = [note.removeprefix(f"{differs}: ") for note in build.notes if note.startswith(differs)]
        own = [
            *(["features"] if any(not note.startswith("library ") for note in differing) else []),
            *(["libraries"] if any(note.startswith("library ") for note in differing) else []),
            *(["configuration"] if any(note.startswith(configured) for note in build.notes) else []),
            *(["security"] if build.variant in marked and "weakens security" in marked[build.variant].words else []),
        ]
        if own:
            except_in.setdefault(" and ".join(own), []).append(build.variant)
    others = sum(build.variant != result.baseline for build in built)
    who = {what: "all other builds" if len(names) == others > 2 else some(names) for what, names in except_in.items()}
    but = ", ".join(f"{names} ({what})" for what, names in who.items())
    return [f"features and hardening as {result.baseline}'s{f' but for {but}' if but else ''}"]


def noise(result: Result) -> str:
    """How far the baseline was from itself."""
    ratios = [ratio for canary in result.canaries for ratio in canary.ratios]
    if not ratios:
        return ""
    low, high = (f"{100.0 * (end - 1.0):+.1f}" for end in (min(ratios), max(ratios)))
    ends = low if len(ratios) == 1 else f"{low} to {high}"
    text = f"{result.baseline} against itself: {ends} % in {plural(len(ratios), 'start')}"
    return f"{text}; {_LOUD}" if any(_LOUD in line for line in canary_lines(result)) else text


def sure(result: Result) -> list[str]:
    """Sittings, the winner measured again, differences no larger than those of code layout."""
    parts = []
    about = [(one.sitting, one.headline) for one in result.rows if one.sitting is not None]
    if about:
        within = [half(value) for sitting, name in about if (value := sitting.intervals.get(name)) is not None]
        parts.append(_sittings([sitting for sitting, _ in about], [value for value in within if math.isfinite(value)]))
    of = len(dict.fromkeys(one.candidate for one in result.rows))
    best = f", best of {of}" if of > 1 else ""
    again = by_candidate(result, result.confirmations)
    if len(again) == 1 and of > 1 and taken(result) in again:  # named by the first sentence
        (rows,) = again.values()
        parts.append(f"best of {of}, measured again on {plural(rows[0].starts, 'start')}")
        again = {}
    for name, rows in again.items():
        parts.append(f"{name}{best}, measured again on {plural(rows[0].starts, 'start')}")
        best = ""
    ranked = ranking(result)
    rivals = {rival.candidate for rival in ranked.rivals if rival.tied} if ranked else set()
    small = [one for one in result.rows if layout_caveat.of_row(result, one) and one.candidate not in rivals]
    if small and any(one.candidate in everywhere(result) for one in small):
        names = ", ".join(dict.fromkeys(one.candidate for one in small))
        parts.append(f"{names}: differences within ±3 % can be code layout alone (--layouts 6 tells)")
    return parts


def _sittings(sittings: Sequence[Sitting], within: Sequence[float]) -> str:
    """How many sittings there were, how sure each alone is, and what is assumed of others."""
    most = max(sitting.sittings for sitting in sittings)
    alone = f", by itself ±{span(within, digits=precise(within))} %" if within and most == 1 else ""
    if any(sitting.assumed for sitting in sittings):
        return f"{plural(most, 'sitting')}{alone}; others are assumed to differ as usual (--sittings 3 tells)"
    return f"{plural(most, 'sitting')}{alone}"
