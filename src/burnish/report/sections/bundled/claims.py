"""A bundled study as answers to what was published: what still holds, what is not alike, what is not replicated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from burnish.base.reasons import by_reason
from burnish.catalogue.bundled.likeness import AS_PUBLISHED, DIFFERENT, KINDS, STAND_IN
from burnish.report.analysis.verdict import IDENTICAL
from burnish.report.bundled.answers import claimed
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.compose import points, section
from burnish.report.compose import row as row_of
from burnish.report.document import Column, Points, Role, Row, Section, Span, Table
from burnish.report.words import plural

MARKS = {AS_PUBLISHED: "=", STAND_IN: "~", DIFFERENT: "#"}
"""Short marks of how a row relates to what was published, behind the published figure."""

LIKENESS = "likeness"
HOLDS = "holds?"
"""Heads of the columns."""

LEGEND = f"published: {', '.join(f'{MARKS[kind]} {kind}' for kind in KINDS)} (reasons below)"

FEW = 3
"""Up to this many rows are named, even if they are all."""

TITLE = "Does it still hold?"


def published(line: Line) -> str:
    """The published figure with the short mark of its likeness."""
    return f"{line.published} {MARKS[line.likeness]}" if line.likeness in MARKS else line.published


def top(table: StudyTable) -> list[Section]:
    """How many claims still hold; and, where no row has several numbers of threads, each in words."""
    if not table.answers:
        return []
    groups = claimed(table.lines)
    ladder = any(len({line.threads for line in table.lines if line.row == group[0].row}) > 1 for group in groups)
    told = [group for group in groups if any(line.holds for line in group)]
    rows = [_row(table, line, several=len(told) > 1) for group in told for line in group if line.holds]
    blocks = [points(table.answers)]
    if rows and not ladder:
        return [section("claims", TITLE, blocks[0], _grid(rows), points([LEGEND]))]
    return [section("claims", TITLE, *blocks)]


def _grid(rows: Iterable[Row]) -> Table:
    columns = (
        Column("what it is"),
        Column("published %", right=True, whole=True),
        Column("here %", right=True, whole=True),
        Column(HOLDS, right=True, whole=True),
    )
    return Table("claims", columns, tuple(rows))


def _row(table: StudyTable, line: Line, *, several: bool) -> Row:
    title = table.rows.get(line.row, {}).get("title") or line.row
    what = ", ".join(filter(None, (line.series, title, line.test.rpartition("=")[2] if several else "")))
    here = IDENTICAL if line.identical else line.measured or "-"
    return row_of(what, published(line), here, Span(line.holds, _role(line.holds)))


def _role(holds: str) -> Role:
    return {"yes": Role.OK, "reversed": Role.LACK}.get(holds, Role.PLAIN)


def legend(lines: Sequence[Line]) -> list[str]:
    """The note that explains the marks; empty without any."""
    return [LEGEND] if any(line.likeness for line in lines) else []


def reasons(lines: Sequence[Line]) -> Points | None:
    """What is not as published, one sentence for all rows of a table that share it; None if all is."""
    texts = unlike((line.row, why) for line in lines if line.figure is not None for why in line.unlike)
    return points(texts) if texts else None


def unlike(given: Iterable[tuple[str, str]]) -> list[str]:
    """A sentence for each reason, with all rows that it applies to.

    Args:
        given: (row, what is not as published in it), in order.
    """
    every = list(given)
    rows = {row for row, _ in every}
    return [
        f"not as published in {'all of these rows' if len(names) == len(rows) > FEW else ', '.join(names)}: {why}"
        for why, names in by_reason(every).items()
    ]


def missing(table: StudyTable) -> list[Section]:
    """What the published tables have without any counterpart: a count, and in full reports each with its reason."""
    parts = table.not_replicated
    if not parts:
        return []
    count = points([f"{plural(len(parts), 'part')} of the published tables {_has(len(parts))} no counterpart here"])
    listed = points((f"{part['title']}: {part['reason']}" for part in parts), detail=True)
    return [section("not-replicated", "Published, and not replicated", count, listed)]


def _has(count: int) -> str:
    return "has" if count == 1 else "have"
