"""The builds of a run: compilers, times, gates, needs; and what their programs' parts weigh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.base.durations import duration
from burnish.report import evidence, marks
from burnish.report.document import Column, Heading, Medium, Paragraph, Section, Span, Table, dropping, grid, row

if TYPE_CHECKING:
    from burnish.report.result import BuildRow, Result

COLUMNS = ("build", "compiler", "time", "size", "gate", "needs")
_FIGURES = ("time", "size")
SIZES_TITLE = "MB of each program's parts; peak MB of its heaviest object and its link; CPU time of its build"


def section(result: Result, *, only: Medium | None = None) -> Section:
    """What became of each variant."""
    # Older records hold no facts of the builds' programs.
    names = COLUMNS if any(build.evidence for build in result.builds) else COLUMNS[:-1]
    columns = tuple(Column(name, right=name in _FIGURES, whole=name in _FIGURES) for name in names)
    rows = tuple(row(_name(build), *cells(build)[1 : len(columns)]) for build in result.builds)
    columns = dropping(columns, "needs", "size", "time", "compiler")
    return Section("builds", (Heading("Builds", only="markdown"), Table("builds", columns, rows, only=only)))


def _name(build: BuildRow) -> Span:
    return Span(build.variant, marks=marks.letters(marks.of_build(build)))


def cells(build: BuildRow) -> tuple[str, ...]:
    """A variant's cells of the table of builds."""
    size = f"{build.server_bytes / 1e6:.1f} MB" if build.server_bytes else "-"
    time = duration(build.seconds) if build.seconds is not None else "-"
    compiler = build.toolchain or build.identity or "-"
    return build.variant, compiler, time, size, failure(build) or build.gate, build.needs


def failure(build: BuildRow) -> str:
    """Why it was not measured, as there is room for in a table: what names files is told below it; '' if it was."""
    told = build.failure or ""
    return told.partition(":")[0] if "/" in told else told


def sizes(result: Result) -> Section:
    """What the programs' parts weigh, and the memory and CPU time of their making; empty for older records."""
    rows = [
        evidence.size_cells(build.variant, build.evidence, build.costs) for build in result.builds if build.evidence
    ]
    if not rows:
        return Section("sizes", ())
    return Section("sizes", (Paragraph(Span(SIZES_TITLE)), grid("sizes", evidence.SIZES, rows)))
