"""The report of `why`: where a transaction's CPU time goes in both builds, and what a compiler could still save."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from burnish.report.analysis.ceilings import LEGEND
from burnish.report.analysis.placed import lines as placed_lines
from burnish.report.compose import grid, points, section
from burnish.report.document import Bar, Bars, Paragraph, Section, Span
from burnish.report.words import percent, scale, short, signed
from burnish.why.attribution import Part, Row, explaining, objects
from burnish.why.cachegrind import EVENTS, RECORDED, SECOND_LEVEL
from burnish.why.explanation import Explanation

MOST = 6
"""Maximum number of rows in every table except the main one."""

NO_RESULT = "this run was not finished, so it has no result: run it again"

_CHANGE = ("before", "after", "diff", "±")
_DROPPED = ("±", "before", "after")


def sections(explanation: Explanation | None) -> list[Section]:
    """The whole report, in order."""
    if explanation is None:
        return [Section("why", (Paragraph(Span(NO_RESULT)),), joined=True)]
    parts = [
        _total(explanation),
        _ceiling(explanation),
        _functions(explanation),
        _kernel(explanation),
        _objects(explanation),
        _code(explanation),
        _counters(explanation),
        _simulated(explanation),
        _method(explanation),
    ]
    return [part for part in parts if part is not None]


def total(why: Explanation) -> str:
    """What a unit of work costs both builds, in a sentence."""
    unit, write = scale(why.before.cpu)
    one, other = why.before, why.after
    costs = f"{write(one.cpu)} {unit} before ({one.label}), {write(other.cpu)} {unit} after ({other.label})"
    change = f"{signed(write, other.cpu - one.cpu)} {unit}, capacity {one.cpu / other.cpu:.3f}x"
    return f"server CPU per {why.unit}: {costs}: {change}"


def _total(why: Explanation) -> Section:
    lines = [
        total(why),
        "measured while sampling, so no verdict: `burnish compare` gives one",
    ]
    return section("why", f"{why.workload}: why {why.after.label} differs from {why.before.label}", points(lines))


def _ceiling(why: Explanation) -> Section:
    bars = Bars(LEGEND, (Bar("", why.ceiling.shares),))
    return section("ceiling", "The ceiling", Paragraph(Span(why.ceiling.sentence())), bars)


def _functions(why: Explanation) -> Section:
    unit, write = scale(why.before.cpu)
    shown = explaining(why.rows)
    rows = _rows(shown, write, noted=True)
    table = grid("functions", ("function", *_CHANGE, ""), rows, drop=_DROPPED) if shown else None
    lines = _about_functions(why, shown, write, unit)
    return section("functions", f"Functions, {unit} of server CPU per {why.unit}", table, points(lines))


def _about_functions(why: Explanation, shown: Sequence[Row], write: Callable[[float], str], unit: str) -> list[str]:
    """How much of the change the shown functions make up, and how inlined ones were counted."""
    if not shown:
        return ["no function outside of the kernel differs by more than sampling error"]
    sure = [row for row in why.rows if row.certain and row.part is not Part.KERNEL]
    moved, all_moved = (sum(abs(row.difference) for row in rows) for rows in (shown, sure))
    net = sum(row.difference for row in shown)
    these = f"these {len(shown)} account" if len(shown) > 1 else "this one accounts"
    share = (
        f"{these} for {percent(moved / all_moved)} of what changed beyond sampling error outside of "
        f"the kernel ({signed(write, net)} {unit} together); --json has all"
    )
    lines = [share, _GROUPING[why.method["grouping"]]]
    lines += [
        f"  {short(row.name)}: {', '.join(short(inner) for inner in why.folded[row.name][:2])}"
        for row in shown[:MOST]
        if row.name in why.folded
    ]
    if any(row.note == "gone" for row in shown):
        lines.append(f"gone: {why.after.label} has no function of that name (inlined into its callers, or dropped)")
    if any(row.note == "new" for row in shown):
        lines.append(f"new: {why.before.label} has none (inlined into its callers there, or made by the compiler)")
    return lines


_GROUPING = {
    "source": "inlined functions are shown separately, as in the source (debug information)",
    "callers": "a function that either build inlines is counted with its caller, in both; the heaviest such:",
    "names": "by name only: a function that one build inlines is seen in the other alone",
}


def _rows(rows: Sequence[Row], write: Callable[[float], str], *, noted: bool = False) -> list[tuple[str, ...]]:
    return [
        (
            short(row.name),
            write(row.before),
            write(row.after),
            signed(write, row.difference),
            write(2 * row.error),
            *([row.note] if noted else []),
        )
        for row in rows
    ]


def _kernel(why: Explanation) -> Section | None:
    unit, write = scale(why.before.cpu)
    shown = explaining(why.rows, Part.KERNEL)[:MOST]
    if not shown:
        return None
    table = grid("kernel", ("kernel function", *_CHANGE), _rows(shown, write), drop=_DROPPED)
    return section("kernel", f"In the kernel, {unit} per {why.unit}", table)


def _objects(why: Explanation) -> Section:
    unit, write = scale(why.before.cpu)
    rows = _rows(objects(why.before, why.after)[:MOST], write)
    table = grid("objects", ("program, library", *_CHANGE), rows, drop=_DROPPED)
    return section("objects", f"By program and library, {unit} per {why.unit}", table)


def _code(why: Explanation) -> Section:
    one, other = (why.texts[side.label] for side in (why.before, why.after))

    def row(title: str, value: Callable[[Mapping[str, Any]], str]) -> tuple[str, str, str]:
        return title, value(one), value(other)

    def kilobytes(count: float) -> str:
        return f"{count / 1024:,.0f} KiB"

    rows = [
        row("code", lambda text: kilobytes(text["code"])),
        row("of which moved out as cold", lambda text: kilobytes(text["cold"])),
        row("functions", lambda text: f"{text['functions']:,}"),
    ]
    for share in one["hot_bytes"]:
        part = f"{percent(float(share))} of its samples: "
        rows.append(row(f"{part}size of the pieces", lambda text, s=share: kilobytes(text["hot_bytes"][s])))  # type: ignore[misc]
        rows.append(row(f"{part}number of pieces", lambda text, s=share: f"{text['hot_pieces'][s]:,}"))  # type: ignore[misc]
        rows.append(row(f"{part}pages of 4 KiB", lambda text, s=share: f"{text['hot_pages'][s]:,}"))  # type: ignore[misc]
    rows.append(row("pages that any sample fell on", lambda text: f"{text['pages']:,}"))
    gone, new = why.method["functions_gone"], why.method["functions_new"]
    counts = f"{gone:,} functions are gone (inlined everywhere, or dropped), {new:,} are new"
    table = grid("code", ("the server's own code", "before", "after"), rows)
    return section("code", "What the build changed", table, points([counts]))


def _counters(why: Explanation) -> Section | None:
    rows: list[tuple[str, str, str]] = []
    forms: tuple[tuple[Mapping[str, Mapping[str, float]], Callable[[float], str]], ...] = (
        (why.hardware, "{:,.4g}".format),
        (why.slots, lambda share: percent(share, 1)),
    )
    for source, form in forms:
        one, other = (source.get(side.label, {}) for side in (why.before, why.after))
        rows += [(name, form(one[name]), form(other[name])) for name in one if name in other]
    if not rows:
        return None
    table = grid("counters", ("event", "before", "after"), rows)
    return section("counters", f"Counted by the processor, per {why.unit}", table)


def _simulated(why: Explanation) -> Section | None:
    one, other = (why.simulated.get(side.label) for side in (why.before, why.after))
    if one is None or other is None:
        return None
    second = one.get("second_level")
    # A record has not what is as usual: one unit of an embedded engine's load.
    transactions = [float(side.get("transactions", 1.0)) for side in (one, other)]
    sides = [*zip((one, other), transactions, strict=True)]
    rows = []
    for event, title in (SECOND_LEVEL if second else EVENTS).items():
        if event in one["totals"] and event in other["totals"]:
            before, after = (side["totals"][event] / count for side, count in sides)
            rows.append((title, f"{before:,.0f}", f"{after:,.0f}", f"{after / before:.3f}" if before else "-"))
    # A function that is not among those of a full list has misses all the same; how many is not recorded.
    full = [side["functions"] for side in (one, other) if len(side["functions"]) >= RECORDED]
    misses = {
        name: [side["functions"].get(name, {}).get("I1mr", 0) / count for side, count in sides]
        for name in {*one["functions"], *other["functions"]}
        if all(name in functions for functions in full)
    }
    most = sorted(misses.items(), key=lambda item: (-abs(item[1][1] - item[1][0]), item[0]))[:MOST]
    named = ", ".join(f"{short(name, 30)} {before:,.0f} to {after:,.0f}" for name, (before, after) in most[:4])
    notes = [f"instruction cache misses that changed most: {named}"]
    title = f"In a simulated processor (cachegrind), one {why.unit}"
    if transactions != [1.0, 1.0]:
        title = f"In a simulated processor (callgrind), per {why.unit}"
        counts = " and ".join(f"{count:,.0f}" for count in transactions)
        level = f", whose second level has {second / 2**20:g} MiB" if second else ""
        notes.append(f"the server's own code, not the kernel's, on one core{level}; {counts} {why.unit}s")
    table = grid("simulated", ("event", "before", "after", "ratio"), rows, drop=("before", "after"))
    return section("simulated", title, table, points(notes))


def _method(why: Explanation) -> Section:
    method = why.method
    where = "both sides' cores" if method["by_core"] else "both servers"
    sampling = (
        f"{method['event']} on {where}, {method['frequency']} samples a second, {method['seconds']:g} s under load "
        f"({method['design']}): {why.before.samples:,} and {why.after.samples:,} samples in the servers; "
        f"perf itself took {percent(method['perf_cpu'], 1)} of a core; ± is twice the standard error of sampling"
    )
    pictures = f"flame graphs in the run's folder: {', '.join(why.pictures)}"
    # Older records don't say where the servers were.
    placed = placed_lines({placement: ()}) if (placement := method.get("placement")) else []
    lines = [sampling, *placed, *why.blind, *why.notes, pictures]
    return section("method", "How this was measured, and its limits", points(lines))
