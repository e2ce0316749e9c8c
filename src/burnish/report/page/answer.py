"""The first screen of a page: what to take, compared with what, on what host, how sure, at what cost."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from burnish.base.durations import duration
from burnish.report.analysis import marks
from burnish.report.analysis.placed import named, quoted
from burnish.report.analysis.ranking import ranking
from burnish.report.answer import bundled, onward
from burnish.report.answer import take as short
from burnish.report.answer.facts import noise
from burnish.report.bundled.table import Line
from burnish.report.compose import role_of
from burnish.report.document import Block, Facts, Paragraph, Points, Role, Section, Span
from burnish.report.page.details import Details
from burnish.report.quantities import percentile
from burnish.report.sections import calibration, conclusion, why
from burnish.report.words import milliseconds, per_cent, plural, spaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burnish.report.result import BuildRow, Result, Row
    from burnish.statistics.means import Ratio

MORE = {
    "capacity": "more work per second of server CPU",
    "throughput": "more work per second",
}
"""What a larger ratio of a quantity means to a user."""

_MOST = 4
"""Loads of which the first screen names every figure; the rest is in the tables below."""


def title(result: Result, details: Details) -> str:
    """What was compared, in a line."""
    version = details.source.version.partition("-")[0].rpartition(":")[2] if details.source else ""
    name = " ".join(filter(None, (result.engine, version)))
    if result.shipped is not None:
        return f"{result.shipped.title} ({name})"
    rows = {row.candidate for row in result.rows}
    loads = {row.workload for row in result.rows}
    if result.verb == "calibrate":
        return f"{name}: noise of this host"
    if not rows:
        return f"{name}: {result.verb}"
    what = "patched builds" if result.patched is not None else "candidates"
    counted = plural(len(rows), what.removesuffix("s"))
    return f"{name}: {counted} against {result.baseline}, {plural(len(loads), 'load')}"


def section(result: Result, details: Details) -> Section:
    """The answer, and what it rests on."""
    if result.verb in ("why", "calibrate"):
        return _looked(result, details)
    claims = result.shipped.answers[:1] if result.shipped is not None else ()
    sentences = [*claims, *conclusion.sentences(result)]
    own = result.patched is None and result.shipped is None
    ranked = ranking(result) if own else None
    take = ranked.take if ranked else None
    advised = _advised(result)
    kept = short.sentences(result)[:1] if own and sentences else sentences[:1]
    first = _sentence(result, take) if take else advised or next(iter(kept), _counted(result))
    rest = sentences if take or advised else sentences[1:]
    blocks: list[Block] = [Paragraph(Span(spaced(first), Role.STRONG))]
    facts = [
        *_take(result, take),
        *_found(result),
        *_compared(result, take),
        *_host(result, details),
        *_sure(result, take),
        *_cost(result, take),
        *_checked(result, take),
        *_next(result, take),
    ]
    more = tuple(Span(spaced(text)) for text in rest[:3])
    return Section("answer", (*blocks, _facts(facts), Points(more)))


def _looked(result: Result, details: Details) -> Section:
    """The answer of a run that compares nothing: what a unit of work costs, or how to measure on this host."""
    found = [why.total(result.explanation)] if result.explanation is not None else calibration.uses(result)
    first, *others = found or [_counted(result)]
    return Section(
        "answer",
        (
            Paragraph(Span(spaced(first), Role.STRONG)),
            _facts(_host(result, details)),
            Points(tuple(Span(spaced(text)) for text in others[:_MOST])),
        ),
    )


def _facts(items: Sequence[tuple[str, tuple[Span, ...]]]) -> Facts:
    return Facts(tuple(items), first=True)


def _sentence(result: Result, take: str) -> str:
    """What to take, and what it gives in words."""
    rows = [row for row in quoted(result, take) if row.ratio]
    parts: list[str] = []
    before = ""
    for row in rows[:_MOST]:
        gain = 100 * ((row.ratio.ratio if row.ratio else 1.0) - 1)
        what = f" {MORE.get(row.headline, f'better {row.headline}')}" if row.headline != before else ""
        parts.append(f"{gain:.{0 if gain >= 10 else 1}f} %{what} on {row.workload}")
        before = row.headline
    more = f", and on {plural(len(rows) - _MOST, 'more load')}" if len(rows) > _MOST else ""
    where = named(result, take)
    return f"Take {take}: {', '.join(parts)}{more}{f', {where}' if where else ''}."


def _advised(result: Result) -> str:
    """What a bundled study recommends, by series; '' without a recommendation."""
    parts = []
    for advice in result.shipped.advised if result.shipped else ():
        if advice.row:
            tied = f", tied with {plural(len(advice.tied), 'other')}" if advice.tied else ""
            parts.append(f"{f'{advice.series}: ' if advice.series else ''}take {advice.row}{tied}")
    text = "; ".join(parts)
    return f"{text}." if text else ""


def _counted(result: Result) -> str:
    """How far a run without a conclusion has come."""
    if result.shipped is None:
        return "There is no verdict yet."
    measured = sum(line.interval is not None for line in result.shipped.lines)
    return f"{measured} of {plural(len(result.shipped.lines), 'comparison')} were measured here."


def _found(result: Result) -> list[tuple[str, tuple[Span, ...]]]:
    """Of a bundled study, how many comparisons have which verdict."""
    if result.shipped is None:
        return []
    counts = Counter(line.last for line in result.shipped.lines)
    return [("Comparisons", tuple(Span(f"{word}: {count:,}", role_of(word)) for word, count in counts.most_common()))]


def _build(result: Result, name: str | None) -> BuildRow | None:
    return next((build for build in result.builds if build.variant == name), None)


def _lines(*texts: str) -> tuple[Span, ...]:
    return tuple(Span(text) for text in texts if text)


def _take(result: Result, take: str | None) -> list[tuple[str, tuple[Span, ...]]]:
    build = _build(result, take)
    if build is None:
        return []
    words = marks.of_build(build).words
    warned = (Span(f"beware: {', '.join(words)}", Role.LACK),) if words else ()
    return [("Take", (Span(build.variant, Role.STRONG), *_lines(build.toolchain), *warned))]


def _compared(result: Result, take: str | None) -> list[tuple[str, tuple[Span, ...]]]:
    base = _build(result, result.baseline)
    others = len({row.candidate for row in result.rows} - {take})
    beside = f"and {plural(others, 'other candidate')}" if others and take else ""
    made = base.toolchain or base.identity if base else ""
    return [("Compared with", (Span(result.baseline, Role.STRONG), *_lines(made, beside, result.source)))]


def _host(result: Result, details: Details) -> list[tuple[str, tuple[Span, ...]]]:
    lines = []
    for letter, host in list(details.hosts.items())[:_MOST]:
        cores = plural(len(host.get("cores_allowed") or ()), "core")
        lines.append(f"{letter}: " * bool(letter) + f"{host.get('cpu_model', 'unknown processor')}, {cores}")
        lines.append(", ".join(filter(None, (str(host.get("distribution", "")), f"Linux {host.get('kernel', '')}"))))
    when = result.begun[:10] + (f" to {result.ended[:10]}" if result.ended and result.ended[:10] > result.begun else "")
    state = "" if result.ended else "not finished: what follows is so far"
    return [("On", _lines(*(lines or [result.host]), when, state))]


def _sure(result: Result, take: str | None) -> list[tuple[str, tuple[Span, ...]]]:
    """Both intervals of what is recommended, and what the host does to equal programs."""
    chosen = _rows(result, take)
    several = len({row.candidate for row in chosen}) > 1
    lines = [f"{f'{row.candidate}, ' * several}{row.workload}: {_both(row.ratio, row)}" for row in chosen]
    lines += _of_advised(result) or _of_claims(result)
    lines += bundled.noise(result.shipped) if result.shipped else filter(None, [noise(result)])
    lines += [f"FORCED: the host's calibration failed for {name}" for name in result.forced]
    return [("How sure", _lines(*lines))] if lines else []


def _rows(result: Result, take: str | None) -> list[Row]:
    """The rows of what is taken, or the first ones where nothing is."""
    rows = quoted(result, take) if take else () if result.shipped else result.rows
    return [row for row in rows if row.ratio][:_MOST]


def _of_advised(result: Result) -> list[str]:
    """The same of what a bundled study recommends, the first lines of each series."""
    table = result.shipped
    found = []
    for advice in table.advised if table else ():
        lines = [
            line
            for line in (table.lines if table else ())
            if (line.series, line.row) == (advice.series, advice.row) and line.interval
        ]
        found += [_of_line(line) for line in lines[:_MOST]]
    return found


def _of_claims(result: Result) -> list[str]:
    """The same of the published claims, where nothing is recommended."""
    lines = [line for line in (result.shipped.lines if result.shipped else ()) if line.holds and line.interval]
    return [_of_line(line) for line in lines[:_MOST]]


def _of_line(line: Line) -> str:
    at = f"{line.threads} threads" if line.threads else ""
    what = ", ".join(filter(None, (line.series, line.row, line.load, at)))
    return f"{what}: {_both(line.interval, line)}"


def _both(ratio: Ratio | None, row: Row | Line) -> str:
    """A ratio with the interval for another sitting, and that of its own."""
    assert ratio is not None  # noqa: S101 - chosen so
    text = f"{per_cent(ratio)} % in another sitting"
    name = row.quantity if isinstance(row, Line) else row.headline
    inner = row.sitting.intervals.get(name) if row.sitting else None
    text += f", [{100 * (inner.low - 1):+.1f}, {100 * (inner.high - 1):+.1f}] in this one" if inner else ""
    return f"{text}; {plural(row.starts, 'start')}"


def _cost(result: Result, take: str | None) -> list[tuple[str, tuple[Span, ...]]]:
    """Latency, build time, size, needs."""
    build, base = _build(result, take), _build(result, result.baseline)
    lines = []
    for row in _rows(result, take):
        before, after = row.sides.get(result.baseline), row.sides.get(row.candidate)
        of = percentile(row.headline)
        if before and after and of in before.latency and of in after.latency:
            latency = f"{milliseconds(before.latency[of])} → {milliseconds(after.latency[of])}"
            lines.append(f"{of} {latency} on {row.workload}{f' ({row.candidate})' if not take else ''}")
    lines += _compiled(build, base)
    if build and base and build.server_bytes and base.server_bytes:
        lines.append(f"program {base.server_bytes / 1e6:.1f} → {build.server_bytes / 1e6:.1f} MB")
    if build and build.needs != "-":
        lines.append(f"needs {build.needs}")
    return [("What it costs", _lines(*lines))] if lines else []


def _compiled(build: BuildRow | None, base: BuildRow | None) -> list[str]:
    """What the compile cost, beside the baseline's; of older records, how long the last stage took."""
    before, after = (one.costs.get("cpu_seconds") if one else None for one in (base, build))
    if before and after:
        beside = ", training not counted" if build and build.trained else ""
        return [f"compile {duration(before)} → {duration(after)} of CPU{beside}"]
    if build and build.seconds is not None:
        return [f"last stage of the build {duration(build.seconds)}"]
    return []


def _checked(result: Result, take: str | None) -> list[tuple[str, tuple[Span, ...]]]:
    build = _build(result, take)
    if build is None or not build.built:
        return []
    safe = "" if build.weakens_security else "hardening as the baseline's"
    features = "" if result.features in ("", "-") else f"feature set {result.features}, as the baseline's"
    return [("Checked", _lines(f"server's own tests: {build.gate}", safe, features))]


def _next(result: Result, take: str | None) -> list[tuple[str, tuple[Span, ...]]]:
    build = _build(result, take)
    if build is None or not build.built:
        return []
    command = onward.REPRODUCE.format(take=shlex.quote(build.variant), run=shlex.quote(result.name))
    return [("Make it again", _lines(command, "or the script it writes, without burnish"))]
