"""A bundled study's tables: published and measured figures, cell by cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from burnish.model.quantity import BY_NAME, HEADLINES
from burnish.model.workload import Placement
from burnish.report.analysis import marks, suites
from burnish.report.analysis.placed import WITH
from burnish.report.bundled.advice import NO_COMPARISON, apart, letters
from burnish.report.bundled.table import OPEN, Line, StudyTable
from burnish.report.compose import grid, points, role_of, section
from burnish.report.document import Points, Section, Span, Table
from burnish.report.sections import quantities
from burnish.report.sections.bundled import claims, patches
from burnish.report.sections.bundled.claims import HOLDS, LIKENESS
from burnish.report.sections.verdicts import SITTING
from burnish.report.words import half_width, plural, star_note

_MARKS = {"faster": "+", "slower": "-", "equivalent": "=", "undecided": "?", "invalid": "!", "measured": ""}


def sections(table: StudyTable) -> list[Section]:
    """A table for each series and reading, or a line that says why there is none."""
    result = []
    for part in dict.fromkeys(_part(line) for line in table.lines):
        lines = [line for line in table.lines if _part(line) == part]
        result += [_not_asked_for(table, lines)] if _is_open(lines) else _tables(table, lines)
    return result


def _is_open(lines: Sequence[Line]) -> bool:
    """Whether no cell of a table was requested, so that one line for each reason replaces it."""
    if len(lines) == 1 or any(line.last != "open" for line in lines):
        return False
    reasons = {line.reason for line in lines}
    return len(reasons) == 1 or OPEN not in reasons


def _not_asked_for(table: StudyTable, lines: Sequence[Line]) -> Section:
    reasons = Counter(line.reason for line in lines)
    return section(
        "cells", _title(table, lines), points(f"{plural(count, 'cell')}: {why}" for why, count in reasons.items())
    )


def _part(line: Line) -> tuple[str, str, bool]:
    """What the lines of one table have in common: series, reading, and whether each is about one patch."""
    return line.series, line.reading, bool(line.shows)


def of_series(series: str, title: str) -> str:
    """A title, after the name of its series if the study has several."""
    return f"{series}: {title}" if series else title


def _title(table: StudyTable, lines: Sequence[Line]) -> str:
    """The heading of lines of one table."""
    series, reading, patched = _part(lines[0])
    title = table.readings.get(reading, {}).get("title") or table.title
    if table.patches:
        title = f"{title}: {'patch by patch' if patched else 'the whole set'}"
    return of_series(series, title)


def names_of(table: StudyTable) -> dict[str, str]:
    """For each line, by its key, a name that is unique in its table."""
    loads = loads_of(table.lines)
    return {line.key: _name(line, several=len(loads[_row(line)]) > 1) for line in table.lines}


def _name(line: Line, *, several: bool) -> str:
    load = line.load if several and not line.test else ""
    steps = f"{line.threads}" if line.threads else ""
    return ", ".join(filter(None, (*_row(line), load, steps, _test(line))))


def _row(line: Line) -> tuple[str, str, str]:
    """What lines of one row have in common."""
    return line.series, line.row, line.reading


def loads_of(lines: Iterable[Line]) -> dict[tuple[str, str, str], list[str]]:
    """The loads of each row among these lines, in order."""
    by_row: dict[tuple[str, str, str], dict[str, None]] = {}
    for line in lines:
        by_row.setdefault(_row(line), {})[line.load] = None
    return {row: list(loads) for row, loads in by_row.items()}


def _tables(table: StudyTable, lines: Sequence[Line]) -> list[Section]:
    """The cells of one series and reading: with several thread counts a matrix first, then each cell."""
    title = _title(table, lines)
    matrix = _ladder(lines)
    also = _also_measured(lines, title)
    if matrix is None:
        return [_each_cell(table, lines, title), *also]
    return [section("ladder", title, *matrix), _each_cell(table, lines, f"{title}: each cell"), *also]


def _also_measured(lines: Sequence[Line], title: str) -> list[Section]:
    """Further quantities measured on the same starts."""
    several = _several(lines)
    rows = []
    for line in lines:
        name = ", ".join(filter(None, (_where(line, several), plural(line.threads, "thread") if line.threads else "")))
        rows += [(Span(name, marks=marks.letters(line.marks)), line.quantities)] if line.quantities else []
    # Waiting for a lock takes no CPU time: with several cores for a server throughput may show what capacity does not.
    compared = {line.quantity for line in lines if line.placement == Placement.WHOLE}
    beside = [quantity for quantity in HEADLINES if compared - {quantity.name}]
    return quantities.sections(f"{title}: also measured, change in per cent", "row", rows, beside=beside)


def _ladder(lines: Sequence[Line]) -> tuple[Table, Points] | None:
    """A matrix of the rows that were asked for by client threads, with its legend; None below two counts."""
    steps = sorted({line.threads for line in lines if line.threads is not None and line.verdict})
    if len(steps) < 2:
        return None
    hosts = apart([line] for line in lines)
    rows = dict.fromkeys(line.row for line in lines if line.threads is not None and not line.cut)
    at = {(line.row, line.threads): line for line in lines}
    on = {row: (letters(line for line in lines if line.row == row),) if hosts else () for row in rows}
    marked = {line.row: marks.letters(line.marks) for line in lines}
    cells = [
        (Span(row, marks=marked[row]), *on[row], *(_compact(at.get((row, step))) for step in steps)) for row in rows
    ]
    head = ("% at threads", *(("on",) if hosts else ()), *(str(step) for step in steps))
    legend = ("+ faster, - slower, = equivalent, ? undecided, ! invalid; · none", *_quantities(lines))
    return grid("ladder", head, cells), points((*legend, NO_COMPARISON) if hosts else legend)


def _quantities(lines: Sequence[Line]) -> list[str]:
    """Where the ratios of one table are of different quantities: which rows' are not of the one that most are of."""
    of: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.interval is not None:
            of.setdefault(line.quantity, {})[line.row] = None
    if len(of) < 2:
        return []
    usual = max(of, key=lambda name: len(of[name]))
    others = [f"in {BY_NAME[name].title}: {', '.join(rows)}" for name, rows in of.items() if name != usual]
    return [f"{'; '.join(others)}; all others in {BY_NAME[usual].title}"]


def _each_cell(table: StudyTable, lines: Sequence[Line], title: str) -> Section:
    """Published and measured figures, cell by cell."""
    patched = any(line.shows for line in lines)
    hosts = apart([line] for line in lines)
    wide = any(line.threads is not None for line in lines)
    beside = any(line.sitting for line in lines)
    alike = any(line.likeness for line in lines)
    told = any(line.holds for line in lines)
    head = (
        "row",
        *(("on",) if hosts else ()),
        *(("thr",) if wide else ()),
        *(("here",) if patched else ()),
        "published %",
        "measured here %",
        *((SITTING,) if beside else ()),
        *((LIKENESS,) if alike else ()),
        *((HOLDS,) if told else ()),
        "verdict",
    )
    several = _several(lines)
    asked = [line for line in lines if not line.cut]
    rows = [
        (
            Span(_where(line, several) + (" (A/A)" if line.control else ""), marks=marks.letters(line.marks)),
            *((letters([line]),) if hosts else ()),
            *((str(line.threads or ""),) if wide else ()),
            *((line.shows,) if patched else ()),
            claims.published(line),
            line.measured or "-",
            *((half_width(line.sitting.intervals.get(line.quantity)) if line.sitting else "-",) if beside else ()),
            *((line.likeness or "-",) if alike else ()),
            *((line.holds or "-",) if told else ()),
            Span(line.last, role_of(line.last)),
        )
        for line in lines
        if line.verdict or line.settled or not _same_reason(lines, line)
    ]
    notes = points(
        (
            *star_note(line.interval for line in lines),
            *claims.legend(asked),
            *patches.legend(table, lines),
            *_repeats_above(table, lines),
            *_quantities(lines),
            *_whole(lines, several),
        )
    )
    legend = marks.legend(line.marks for line in lines)
    cells = grid("cells", head, rows, drop=(SITTING, LIKENESS, "here", HOLDS, "published %", "on"))
    return section("cells", title, cells, legend, notes, claims.reasons(asked))


def _whole(lines: Sequence[Line], several: bool) -> list[str]:
    """Which cells were measured with server and clients on all cores."""
    names = dict.fromkeys(_where(line, several) for line in lines if line.placement == Placement.WHOLE)
    return [f"placement whole, {WITH[Placement.WHOLE]}: {', '.join(names)}"] if names else []


def _several(lines: Sequence[Line]) -> bool:
    """Whether the lines of one table cover several loads."""
    return len({line.load for line in lines if line.load and (line.verdict or line.identical)}) > 1


def _repeats_above(table: StudyTable, lines: Sequence[Line]) -> list[str]:
    """Which rows use the same starts as an earlier line, so that nobody counts them as independent evidence."""
    first: dict[str, Line] = {}
    for line in table.lines:
        first.setdefault(line.cell, line)
    notes: dict[str, None] = {}
    for line in lines:
        before = first[line.cell]
        if line.cell and before is not line:
            where = _where(before, False) if _part(before) == _part(line) else f"'{_title(table, [before])}'"
            notes[f"{_where(line, False)}: the same starts as in {where}, not measured a second time"] = None
    return list(notes)


def _where(line: Line, several: bool) -> str:
    """The row, with the load if rows have several, or with the suite's test."""
    return ", ".join(filter(None, (line.row, line.load if several and not line.test else "", _test(line))))


def _test(line: Line) -> str:
    """The test's own name, where the load is a suite."""
    part = suites.split(f":{line.test}")
    return part[1] if part else line.test


def _same_reason(lines: Sequence[Line], line: Line) -> bool:
    """Whether a line is open for a reason that many lines share; such lines are summarised below the table."""
    return line.last == "open" and sum(other.reason == line.reason for other in lines) > 3


def _compact(line: Line | None) -> str:
    if line is None or not line.verdict:
        return "·"
    if line.interval is None:
        return _MARKS[line.verdict]
    return f"{100.0 * (line.interval.ratio - 1.0):+.1f} {_MARKS[line.verdict]}"
