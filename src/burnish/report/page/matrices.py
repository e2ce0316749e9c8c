"""Many ratios together: variants by loads, steps, training by loads, threads, published beside measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from burnish.model.quantity import BY_NAME
from burnish.report.analysis import marks
from burnish.report.analysis.ranking import winner
from burnish.report.answer.words import change
from burnish.report.compose import grid, role_of, section
from burnish.report.document import Block, Cell, Column, Figure, Paragraph, Row, Section, Span, Table
from burnish.report.page.cells import Shown, point
from burnish.report.page.details import Details
from burnish.report.page.figures.shapes import Heat, Lines, Pair, Pairs, Point, Run, Step, Waterfall, by_figure
from burnish.report.words import milliseconds
from burnish.statistics.means import quotient

if TYPE_CHECKING:
    from burnish.report.result import Result

_AGAIN = " again"


def loads(result: Result, cells: list[Shown]) -> list[Section]:
    """A row for each candidate, a column for each load, in per cent; of several loads or candidates."""
    chosen = [cell for cell in cells if not cell.name.startswith(f"{cell.candidate}{_AGAIN}")]
    columns = list(dict.fromkeys(cell.workload for cell in chosen))
    names = list(dict.fromkeys(cell.candidate for cell in chosen))
    if result.shipped is not None or len(names) < 2:
        return []
    at = {(cell.candidate, cell.workload): cell for cell in chosen}
    marked = marks.by_variant(result)
    rows = tuple(
        Row(
            (
                Cell((Span(name, marks=marks.letters(marked.get(name))),)),
                *(_cell(at.get((name, load))) for load in columns),
            )
        )
        for name in names
    )
    heads = (Column("candidate"), *(Column(load, whole=True) for load in columns))
    quantities = ", ".join(dict.fromkeys(cell.quantity for cell in chosen))
    title = f"Candidates and loads: {quantities}, change in per cent to {result.baseline}"
    return [section("loads", title, Table("loads", heads, rows), marks.legend(marked.values()))]


def _cell(cell: Shown | None) -> Cell:
    if cell is None or cell.interval is None:
        return Cell((Span("-"),))
    return Cell((Span(_ratio(cell)), Span(cell.verdict, role_of(cell.verdict))))


def steps(result: Result, cells: list[Shown]) -> list[Section]:
    """What each step adds, for the longest series of variants that build on each other."""
    recipes: Mapping[str, Mapping[str, Any]] = result.definition.get("recipes") or {}
    base = recipes.get(result.baseline)
    if base is None or result.patched is not None:
        return []
    groups = dict.fromkeys((cell.workload, cell.quantity) for cell in cells)
    figures: list[Block] = []
    for load, quantity in groups:
        ratios = {
            cell.candidate: cell.interval
            for cell in cells
            if (cell.workload, cell.quantity, cell.name) == (load, quantity, cell.candidate) and point(cell.interval)
        }
        changes = {name: _changes(recipes[name], base) for name in ratios if name in recipes}
        chain = _chain(changes, winner(result))
        if len(chain) < 2:
            continue
        drawn, before = [], ""
        for name in chain:
            ratio = ratios[name]
            assert ratio is not None  # noqa: S101 - `point` was asked
            step = ratio if not before else quotient(ratio, ratios[before] or ratio)
            drawn.append(
                Step(name if not before else f"+ {_added(name, before)}", Point(step.ratio, step.low, step.high))
            )
            before = name
        title = BY_NAME[quantity].title if quantity in BY_NAME else quantity
        figures.append(Figure(f"What each step adds on {load}", Waterfall(title, tuple(drawn))))
    if not figures:
        return []
    what = "Each bar begins where the one above it ends; the line is the step's own 95 % interval, hatched if it has 0."
    return [section("steps", "What each step adds", Paragraph(Span(what)), *figures)]


def _added(name: str, before: str) -> str:
    """``bolt`` for clang-pgo-bolt after clang-pgo; the whole name if it does not begin so."""
    return name.removeprefix(f"{before}-")


def _changes(recipe: Mapping[str, Any], base: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """How a recipe differs from the baseline's; of lists, each entry that this one lacks."""
    found = set()
    for key, value in recipe.items():
        known = base.get(key)
        if value == known:
            continue
        parts: Iterable[Any] = value if isinstance(value, (list, tuple)) else [value]
        has = known if isinstance(known, (list, tuple)) else ()
        found |= {(key, str(part)) for part in parts if part not in has}
    return frozenset(found)


def _chain(changes: Mapping[str, frozenset[tuple[str, str]]], last: str | None) -> list[str]:
    """The longest series of names each of whose changes include those before it; through `last` if it can be."""
    best: dict[str, list[str]] = {}
    for name in sorted(changes, key=lambda name: len(changes[name])):
        before = [best[other] for other in best if changes[other] < changes[name]]
        best[name] = [*max(before, key=len, default=[]), name]
    through = [chain for chain in best.values() if last in chain]
    return max(through if any(len(chain) > 1 for chain in through) else best.values(), key=len, default=[])


def training(result: Result, cells: list[Shown]) -> list[Section]:
    """What was trained on by what was measured on; of at least two trainings."""
    trained = {build.variant: ", ".join(build.trained) for build in result.builds if build.trained}
    chosen = [cell for cell in cells if cell.candidate in trained and point(cell.interval)]
    names = list(dict.fromkeys(cell.candidate for cell in chosen))
    columns = list(dict.fromkeys(cell.workload for cell in chosen))
    if len({trained[name] for name in names}) < 2 or len(columns) < 2:
        return []
    at: dict[tuple[str, str], Shown] = {}
    for cell in chosen:
        at.setdefault((cell.candidate, cell.workload), cell)
    several = len({trained[name] for name in names}) < len(names)
    heads = [f"{trained[name]} ({name})" if several else trained[name] for name in names]
    found = [[at.get((name, load)) for load in columns] for name in names]
    ratios = tuple(tuple(cell.interval.ratio if cell and cell.interval else None for cell in row) for row in found)
    own = tuple(
        (down, across)
        for down, name in enumerate(names)
        for across, load in enumerate(columns)
        if load.partition(":")[0] in trained[name].split(", ")
    )
    table = grid(
        "training",
        ("trained on", *columns),
        [[head, *(_ratio(cell) for cell in row)] for head, row in zip(heads, found, strict=True)],
    )
    figure = Figure(
        "Change in per cent to each build's base, by training and load",
        Heat("trained on", "measured on", tuple(heads), tuple(columns), ratios, own),
    )
    what = (
        "Rows: what a build was trained on; columns: what it was measured on. Framed: its own training, its best case."
    )
    return [section("training", "Trained on, measured on", Paragraph(Span(what)), figure, table)]


def _ratio(cell: Shown | None) -> str:
    if cell is None or cell.interval is None:
        return "-"
    return change(cell.interval)


def threads(result: Result, details: Details, cells: list[Shown]) -> list[Section]:
    """Ratios over numbers of client threads, and p95 of both sides where it is known."""
    runs: dict[tuple[str, str], list[Shown]] = {}
    for cell in cells:
        if cell.threads is not None and point(cell.interval) and _AGAIN not in cell.name:
            runs.setdefault((cell.group if result.shipped else cell.workload.partition(":")[0], _row(cell)), []).append(
                cell
            )
    runs = {key: found for key, found in runs.items() if len({cell.threads for cell in found}) > 1}
    blocks: list[Block] = []
    for group in dict.fromkeys(group for group, _ in runs):
        lines = tuple(
            Run(name, tuple(_at(cell) for cell in sorted(found, key=lambda cell: cell.threads or 0)))
            for (of, name), found in runs.items()
            if of == group
        )
        quantity = next(found[0].quantity for (of, _), found in runs.items() if of == group)
        blocks += [
            Figure(f"{group}: {quantity} over client threads", Lines("client threads", quantity, part))
            for part in by_figure(lines)
        ]
    latency = _latency(result, details)
    if latency is not None:
        blocks.append(latency)
    return [section("threads", "Over client threads", *blocks)] if blocks else []


def _row(cell: Shown) -> str:
    """A cell's name without its threads."""
    return cell.name.removesuffix(f", {cell.threads}") if cell.key else cell.candidate


def _at(cell: Shown) -> tuple[float, float, float, float]:
    interval = cell.interval
    assert interval is not None  # noqa: S101 - `point` was asked
    return (float(cell.threads or 0), interval.ratio, interval.low, interval.high)


def _latency(result: Result, details: Details) -> Table | None:
    """p95 of both sides by threads; None unless a candidate was measured on a load with several numbers of threads."""
    rows: list[tuple[str, ...]] = []
    for row in result.rows:
        number = details.threads.get(row.workload)
        base, own = row.sides.get(result.baseline), row.sides.get(row.candidate)
        if number is not None and base and own and "p95" in base.latency and "p95" in own.latency:
            load = row.workload.partition(":")[0]
            p95 = (milliseconds(base.latency["p95"]), milliseconds(own.latency["p95"]))
            rows.append((row.candidate, load, str(number), *p95))
    counts = Counter((candidate, load) for candidate, load, _ in dict.fromkeys(row[:3] for row in rows))
    rows = [row for row in rows if counts[row[0], row[1]] > 1]
    if not rows:
        return None
    return grid("latency", ("candidate", "load", "threads", "p95, baseline", "p95, candidate"), rows)


def published(result: Result, details: Details, cells: list[Shown]) -> list[Section]:
    """Published figures beside measured ones."""
    rows: dict[str, list[Pair]] = {}
    for cell in cells:
        measured, known = point(cell.interval), details.published.get(cell.key)
        if cell.key and measured is not None and known is not None:
            rows.setdefault(cell.group, []).append(Pair(cell.name, known, cell.mark, measured))
    figures = [
        Figure(f"{group}: published and measured", Pairs("speed", tuple(chosen[begin : begin + 70])))
        for group, chosen in rows.items()
        for begin in range(0, len(chosen), 70)
    ]
    return [section("published", "Published and measured", *figures)] if figures and result.shipped else []
