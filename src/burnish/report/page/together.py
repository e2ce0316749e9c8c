"""Several runs on one page: side by side, and over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import TYPE_CHECKING

from burnish.report.analysis.verdict import delta_of
from burnish.report.answer import headed
from burnish.report.answer.words import change
from burnish.report.compose import points, role_of, section
from burnish.report.document import (
    Block,
    Cell,
    Column,
    Facts,
    Figure,
    Heading,
    Paragraph,
    Role,
    Row,
    Section,
    Span,
    Table,
)
from burnish.report.page import answer
from burnish.report.page.cells import Shown, point, shown
from burnish.report.page.details import Details
from burnish.report.page.figures.shapes import Forest, Lines, Run, by_figure
from burnish.report.page.forest import MOST
from burnish.report.words import plural

if TYPE_CHECKING:
    from burnish.report.result import Result

_DATED = 10
"""Most runs on an axis that are named by version and day."""

Key = tuple[str, str, str, str]
"""Name of a cell within its group, group, load, quantity: what is the same in several runs."""


@dataclass(frozen=True)
class Lettered:
    """One of several runs.

    Attributes:
        letter: its name on the page.
        result: its result.
        details: its facts.
        cells: its cells by what they are.
    """

    letter: str
    result: Result
    details: Details
    cells: Mapping[Key, Shown]

    @property
    def when(self) -> str:
        """Version and day."""
        version = self.details.source.version if self.details.source else ""
        return " ".join(filter(None, (version.rpartition(":")[2].partition("-")[0], self.result.begun[:10])))

    @property
    def host(self) -> str:
        """The host, short."""
        return headed.host(self.result.host)


def lettered(runs: Sequence[tuple[Result, Details]]) -> list[Lettered]:
    """The runs with their letters and cells."""
    return [
        Lettered(letter(number), result, details, {_key(cell): cell for cell in shown(result, details)})
        for number, (result, details) in enumerate(runs)
    ]


def letter(number: int) -> str:
    """A, B … Z, A2, B2 …"""
    turn, at = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[at] + (str(turn + 1) if turn else "")


def _key(cell: Shown) -> Key:
    return cell.name, cell.group, cell.workload, cell.quantity


def sections(runs: Sequence[Lettered]) -> list[Section]:
    """Which runs there are, what each says, their cells side by side, and over time."""
    names = Facts(
        tuple((run.letter, tuple(map(Span, (run.result.name, run.when, run.host)))) for run in runs), first=True
    )
    hosts = len({run.host for run in runs})
    warned = [f"They are of {hosts} hosts: what looks like a change may be the host."] if hosts > 1 else []
    title = Paragraph(Span(f"{plural(len(runs), 'run')} side by side", Role.STRONG))
    first = [Section("answer", (title, names, points(warned)))]
    common = [key for key in dict.fromkeys(key for run in runs for key in run.cells) if _times(runs, key) > 1]
    if not common:
        return [*first, section("side-by-side", "Side by side", points(["These runs have no cell in common."]))]
    return [*first, _table(runs, common), _forest(runs, common), *_history(runs, common)]


def _times(runs: Sequence[Lettered], key: Key) -> int:
    return sum(key in run.cells for run in runs)


def _table(runs: Sequence[Lettered], keys: Sequence[Key]) -> Section:
    heads = (Column("candidate"), Column("load"), Column("quantity"), *(Column(r.letter, whole=True) for r in runs))
    rows = tuple(
        Row((*(Cell((Span(text),)) for text in (key[0], key[2] or key[1], key[3])), *(_cell(r, key) for r in runs)))
        for key in keys
    )
    title = "Side by side: change in per cent to each run's own baseline"
    return section("side-by-side", title, Table("side-by-side", heads, rows))


def _cell(run: Lettered, key: Key) -> Cell:
    cell = run.cells.get(key)
    if cell is None or cell.interval is None:
        return Cell((Span("-"),))
    return Cell((Span(change(cell.interval)), Span(cell.verdict, role_of(cell.verdict))))


def _forest(runs: Sequence[Lettered], keys: Sequence[Key]) -> Section:
    groups: dict[tuple[str, str], list[tuple[Lettered, Shown]]] = {}
    for key in keys:
        found = [(run, run.cells[key]) for run in runs if key in run.cells]
        groups.setdefault((key[1], key[3]), []).extend(found)
    figures: list[Block] = []
    for (group, quantity), rows in groups.items():
        for begin in range(0, len(rows), MOST):
            drawn = tuple(
                replace(cell.row, label=f"{run.letter}: {cell.row.label}") for run, cell in rows[begin : begin + MOST]
            )
            figures.append(
                Figure(f"{group}: {quantity} of each run", Forest(quantity, drawn, delta_of(runs[0].result.contest)))
            )
    return section("forest", "Every start of each run", *figures)


def _history(runs: Sequence[Lettered], keys: Sequence[Key]) -> list[Section]:
    """The ratios over the runs' dates, for cells that several of them have."""
    order = sorted(runs, key=lambda run: run.result.begun)
    if len({run.when for run in order}) < 2:
        return []
    ticks = tuple((float(number), _tick(run, len(order))) for number, run in enumerate(order))
    groups: dict[tuple[str, str], list[Run]] = {}
    for key in keys:
        places = [
            (float(number), at.ratio, at.low, at.high)
            for number, run in enumerate(order)
            if key in run.cells and (at := point(run.cells[key].interval))
        ]
        if len(places) > 1:
            groups.setdefault((key[1], key[3]), []).append(Run(key[0], tuple(places)))
    figures = [
        Figure(
            f"{group}: {quantity} over versions and dates",
            Lines("version and date", quantity, part, ticks=ticks),
        )
        for (group, quantity), lines in groups.items()
        for part in by_figure(lines)
    ]
    return [section("history", "Over versions and dates", *figures)] if figures else []


def _tick(run: Lettered, of: int) -> str:
    """A run on an axis: its letter over version and day, which stand at the head of the page if there is no room."""
    return "\n".join([run.letter, *(run.when.split() if of <= _DATED else [])])


def own(run: Lettered, sections_of: Sequence[Section]) -> list[Section]:
    """A run's own sections, each heading with its letter."""
    title = Section(f"run-{run.letter}", (Heading(f"{run.letter}: {answer.title(run.result, run.details)}"),))
    return [title, *(_lettered(run.letter, part) for part in sections_of)]


def _lettered(name: str, part: Section) -> Section:
    blocks = tuple(
        replace(block, text=f"{name}: {block.text}") if isinstance(block, Heading) else block for block in part.blocks
    )
    return replace(part, key=f"{name}-{part.key}", blocks=blocks, listed=False)
