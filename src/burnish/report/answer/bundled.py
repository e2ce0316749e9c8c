"""A bundled study in short: what it recommends, whether the published claims still hold, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from burnish.report.analysis import marks, outcome
from burnish.report.answer import headed
from burnish.report.answer.facts import listed
from burnish.report.answer.words import VERDICTS, change
from burnish.report.bundled.advice import Advice, apart, letters
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.compose import dropping, points, role_of, row
from burnish.report.document import Column, Heading, Points, Role, Section, Span, Table
from burnish.report.sections.bundled import cells, reasons
from burnish.report.words import plural, some, star_note

if TYPE_CHECKING:
    from burnish.report.result import Result

MOST = 24
"""Most lines of the table; the whole report has the others."""

TABLES = 3
"""Most matrices of rows by threads."""


def sections(result: Result, table: StudyTable) -> list[Section]:
    """Title, sentences, table, noise."""
    heading = headed.section(result, f"{headed.source(result)}: {table.title}")
    if result.nothing_measured:
        return [heading, Section("answer", (points([outcome.sentence(result)]),))]
    first, *others = sentences(table)
    answer = Section("answer", (Points((Span(first, Role.STRONG), *map(Span, others))),))
    facts = [*_corrected(table), *(("noise", text) for text in noise(table))]
    return [heading, answer, *_tables(table), listed("facts", facts)]


def sentences(table: StudyTable) -> list[str]:
    """Recommendations, how many published claims still hold, controls, how much was measured."""
    return [
        *map(_advice, table.advised),
        *table.answers[:1],
        *([table.controls.sentence] if table.controls else []),
        _counts(table),
    ]


def _advice(advice: Advice) -> str:
    """A recommendation without its figures at each number of threads."""
    if not advice.row:
        return advice.words
    head, over, _ = advice.words.partition(" over the baseline")
    tied = f"; tied with {', '.join(advice.tied)}" if advice.tied else ""
    return f"{head}{over}{tied}."


def _counts(table: StudyTable) -> str:
    done = sum(bool(line.verdict) or line.identical for line in table.lines)
    text = f"{done} of {plural(len(table.lines), 'cell')} measured"
    can = sum(line.last == "open" for line in table.lines)
    return f"{text}; {can} still can be." if can else f"{text}."


def _tables(table: StudyTable) -> list[Section]:
    """The matrices over threads, those with most verdicts; without any, a line for each cell."""
    matrices = [section for section in cells.sections(table) if section.key == "ladder"]
    if not matrices:
        return [_each(table)]
    shown = matrices[:TABLES]
    # The legend is the same below each matrix: it stands below the last one.
    brief = [Section(section.key, section.blocks[:2]) for section in shown[:-1]]
    left = len(matrices) - len(shown)
    more = f"{plural(left, 'more table')} in the whole report: {', '.join(map(_title, matrices[TABLES:]))}"
    return [*brief, shown[-1], *([Section("more", (points([more]),))] if left else [])]


def _title(section: Section) -> str:
    return next(block.text for block in section.blocks if isinstance(block, Heading))


def _each(table: StudyTable) -> Section:
    """A line for each cell that was measured: published, here, whether it holds."""
    lines = [line for line in table.lines if line.verdict or line.identical]
    left = len(lines) - MOST
    several = len({line.series for line in lines}) > 1
    hosts = apart([line] for line in lines)
    loads = len({line.load for line in lines}) > 1
    body = [_cells(line, several=several, loads=loads, hosts=hosts) for line in lines[:MOST]]
    head = ("", *(("on",) if hosts else ()), "published", "here %", "verdict", "holds?")
    columns = tuple(Column(name, right=name in ("published", "here %"), whole=bool(name)) for name in head)
    named = Table("matrix", dropping(columns, "on", "published"), tuple(row(*texts) for texts in body))
    legend = marks.legend(line.marks for line in lines[:MOST])
    rest = [f"{plural(left, 'more cell')} in the whole report"] if left > 0 else []
    more = points([*rest, *star_note(line.interval for line in lines[:MOST])])
    return Section("matrix", (named, *([legend] if legend else []), more))


def _cells(line: Line, *, several: bool, loads: bool, hosts: bool) -> Sequence[str | Span]:
    name = ", ".join(filter(None, (line.series if several else "", line.row, _load(line) if loads else "")))
    verdict = VERDICTS.get(line.last, line.last)
    return (
        Span(name, marks=marks.letters(line.marks)),
        *((letters([line]),) if hosts else ()),
        line.published if line.published_unit else "-",
        _here(line),
        Span(verdict, role_of(line.last)),
        line.holds,
    )


def _load(line: Line) -> str:
    return line.test.rpartition("=")[2] if line.test else line.load


def _here(line: Line) -> str:
    if line.interval is None:
        return line.measured.partition(" (")[0] or "-"
    return change(line.interval)


def _corrected(table: StudyTable) -> list[tuple[str, str]]:
    """Which cells of the table above are decided by themselves only."""
    names = cells.names_of(table)
    lost = [names[line.key] for line in reasons.undecided_together(table)]
    return [("corrected", f"undecided once all comparisons count together: {some(lost)}")] if lost else []


def noise(table: StudyTable) -> list[str]:
    """How far a build was from itself; nothing if that was not measured."""
    if not table.canaries:
        return []
    worst = 100.0 * max(abs(ratio - 1.0) for ratio in table.canaries)
    starts = plural(len(table.canaries), "start")
    return [f"a build against itself: {starts}, of which one deviates by {worst:.1f} %"]
