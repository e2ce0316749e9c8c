"""What a `why` says, as blocks that are drawn for a terminal of 80 columns or as Markdown; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.why.attribution import Part, Row, explaining, objects
from burnish.why.cachegrind import EVENTS
from burnish.why.ceiling import LEGEND
from burnish.why.explanation import Explanation

NAME_WIDTH = 40
"""Characters of a function's name in the tables; longer ones lose their middle."""

MOST = 6
"""Most rows of the tables beside the main one."""


@dataclass(frozen=True)
class Block:
    """A part of the report: a table, lines below it, or both.

    Attributes:
        title: its heading.
        head: the table's columns; empty without a table.
        rows: the table's cells.
        lines: what is said below.
        drawn: whether the lines are a drawing, which must keep its spaces.
    """

    title: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    lines: tuple[str, ...] = ()
    drawn: bool = False


def blocks(told: Explanation) -> list[Block]:
    """The whole report, in order."""
    found = [
        _total(told),
        _ceiling(told),
        _functions(told),
        _kernel(told),
        _objects(told),
        _text(told),
        _counters(told),
        _simulated(told),
        _method(told),
    ]
    return [block for block in found if block is not None]


def short(name: str, width: int = NAME_WIDTH) -> str:
    """A name that fits: a long one without its middle, as both ends tell more."""
    if len(name) <= width:
        return name
    front = (width - 1) // 2
    return f"{name[:front]}…{name[len(name) - (width - 1 - front) :]}"


def scale(total: float) -> tuple[str, Callable[[float], str]]:
    """The unit in which a build's costs are told, and how a cost is written in it."""
    unit, size = next(((u, s) for u, s in (("ms", 1e-3), ("us", 1e-6)) if total >= 9 * s), ("ns", 1e-9))
    places = 1 if total / size >= 1000 else 2 if total / size >= 100 else 3
    return unit, lambda seconds: f"{seconds / size:,.{places}f}"


def signed(write: Callable[[float], str], seconds: float) -> str:
    """A difference of costs, with its sign."""
    return ("+" if seconds > 0 else "") + write(seconds)


def _total(told: Explanation) -> Block:
    unit, write = scale(told.before.cpu)
    one, other = told.before, told.after
    ratio = one.cpu / other.cpu
    return Block(
        f"{told.workload}: why {other.label} differs from {one.label}",
        lines=(
            f"server CPU a {told.unit}: {write(one.cpu)} {unit} before ({one.label}),",
            f"{write(other.cpu)} {unit} after ({other.label}): {signed(write, other.cpu - one.cpu)} {unit},",
            f"capacity x {ratio:.3f} while sampled",
            "(no verdict: `burnish compare` gives one, without sampling)",
        ),
    )


def _ceiling(told: Explanation) -> Block:
    ceiling = told.ceiling
    return Block("The ceiling", lines=(ceiling.sentence(), ceiling.bar(), LEGEND), drawn=True)


def _functions(told: Explanation) -> Block:
    unit, write = scale(told.before.cpu)
    every = told.rows
    shown = explaining(every)
    sure = [row for row in every if row.certain and row.part is not Part.KERNEL]
    moved, all_moved = (sum(abs(row.difference) for row in each) for each in (shown, sure))
    net = sum(row.difference for row in shown)
    lines = []
    if shown:
        lines.append(
            f"these {len(shown)} make up {moved / all_moved:.0%} of what changed beyond chance outside of the kernel "
            f"({signed(write, net)} {unit} together); --json has all"
        )
    else:
        lines.append("no function outside of the kernel differs by more than the chance of sampling")
    lines += [_GROUPING[told.method["grouping"]]] if shown else []
    lines += [
        f"  {short(row.name)}: {', '.join(short(inner) for inner in told.folded[row.name][:2])}"
        for row in shown[:MOST]
        if row.name in told.folded
    ]
    if any(row.note == "gone" for row in shown):
        lines.append(f"gone: {told.after.label} has no function of that name (inlined into its callers, or dropped)")
    if any(row.note == "new" for row in shown):
        lines.append(f"new: {told.before.label} has none (inlined into its callers there, or made by the compiler)")
    head = ("function", "before", "after", "diff", "±", "") if shown else ()
    return Block(f"Functions, {unit} of server CPU a {told.unit}", head, _rows(shown, write, noted=True), tuple(lines))


_GROUPING = {
    "source": "inlined functions are told apart, as the source has them (debug information)",
    "callers": "a function that either build inlines is counted with its caller, in both; the heaviest such:",
    "names": "by name only: a function that one build inlines is seen in the other alone",
}


def _rows(rows: Sequence[Row], write: Callable[[float], str], *, noted: bool = False) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            short(row.name),
            write(row.before),
            write(row.after),
            signed(write, row.difference),
            write(2 * row.error),
            *([row.note] if noted else []),
        )
        for row in rows
    )


def _kernel(told: Explanation) -> Block | None:
    unit, write = scale(told.before.cpu)
    shown = explaining(told.rows, Part.KERNEL)[:MOST]
    if not shown:
        return None
    head = ("kernel function", "before", "after", "diff", "±")
    return Block(f"The kernel apart, {unit} a {told.unit}", head, _rows(shown, write))


def _objects(told: Explanation) -> Block:
    unit, write = scale(told.before.cpu)
    every = objects(told.before, told.after)
    head = ("program, library", "before", "after", "diff", "±")
    return Block(f"Whose code, {unit} a {told.unit}", head, _rows(every[:MOST], write))


def _text(told: Explanation) -> Block:
    one, other = (told.texts[each.label] for each in (told.before, told.after))

    def row(title: str, value: Callable[[Mapping[str, Any]], str]) -> tuple[str, str, str]:
        return title, value(one), value(other)

    def kilobytes(count: float) -> str:
        return f"{count / 1024:,.0f} KiB"

    rows = [
        row("code", lambda text: kilobytes(text["code"])),
        row("of it moved away as cold", lambda text: kilobytes(text["cold"])),
        row("functions", lambda text: f"{text['functions']:,}"),
    ]
    for share in one["hot_bytes"]:
        said = f"{float(share):.0%} of its samples: "
        rows.append(row(f"{said}size of the pieces", lambda text, s=share: kilobytes(text["hot_bytes"][s])))  # type: ignore[misc]
        rows.append(row(f"{said}number of pieces", lambda text, s=share: f"{text['hot_pieces'][s]:,}"))  # type: ignore[misc]
        rows.append(row(f"{said}pages of 4 KiB", lambda text, s=share: f"{text['hot_pages'][s]:,}"))  # type: ignore[misc]
    rows.append(row("pages that any sample fell on", lambda text: f"{text['pages']:,}"))
    gone, new = told.method["functions_gone"], told.method["functions_new"]
    return Block(
        "What the build changed",
        ("the server's own code", "before", "after"),
        tuple(rows),
        (f"{gone:,} functions are gone (inlined everywhere, or dropped), {new:,} are new",),
    )


def _counters(told: Explanation) -> Block | None:
    rows = []
    for source, form in ((told.hardware, "{:,.4g}"), (told.slots, "{:.1%}")):
        one, other = (source.get(each.label, {}) for each in (told.before, told.after))
        rows += [(name, form.format(one[name]), form.format(other[name])) for name in one if name in other]
    if not rows:
        return None
    return Block(f"Counted by the processor, a {told.unit}", ("event", "before", "after"), tuple(rows))


def _simulated(told: Explanation) -> Block | None:
    one, other = (told.simulated.get(each.label) for each in (told.before, told.after))
    if one is None or other is None:
        return None
    rows = [
        (title, *_counted(one["totals"], other["totals"], event))
        for event, title in EVENTS.items()
        if event in one["totals"] and event in other["totals"]
    ]
    misses = {
        name: (one["functions"].get(name, {}).get("I1mr", 0), other["functions"].get(name, {}).get("I1mr", 0))
        for name in {*one["functions"], *other["functions"]}
    }
    most = sorted(misses.items(), key=lambda item: (-abs(item[1][1] - item[1][0]), item[0]))[:MOST]
    named = ", ".join(f"{short(name, 30)} {before:,} to {after:,}" for name, (before, after) in most[:4])
    return Block(
        f"In a simulated processor (cachegrind), one {told.unit}",
        ("event", "before", "after", "ratio"),
        tuple(rows),
        (f"instruction cache misses that changed most: {named}",),
    )


def _counted(one: Mapping[str, int], other: Mapping[str, int], event: str) -> tuple[str, str, str]:
    before, after = one[event], other[event]
    return f"{before:,}", f"{after:,}", f"{after / before:.3f}" if before else "-"


def _method(told: Explanation) -> Block:
    method = told.method
    where = "both sides' cores" if method["by_core"] else "both servers"
    sampling = (
        f"{method['event']} on {where}, {method['frequency']} samples a second, {method['seconds']:g} s under load "
        f"({method['design']}): {told.before.samples:,} and {told.after.samples:,} samples in the servers; "
        f"perf itself took {method['perf_cpu']:.1%} of a core; ± is twice the standard error of sampling"
    )
    lines = [
        sampling,
        *told.blind,
        *told.notes,
        f"flame graphs in the study's folder: {', '.join(told.pictures)}",
    ]
    return Block("How it was seen, and what can't be", lines=tuple(lines))
