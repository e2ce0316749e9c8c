"""The builds of a run: compilers, times, gates, needs; and the sizes of their programs' parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from burnish.base.durations import duration
from burnish.report import evidence
from burnish.report.analysis import marks
from burnish.report.compose import dropping, grid, points, row
from burnish.report.document import Column, Heading, Paragraph, Section, Span, Table

if TYPE_CHECKING:
    from burnish.report.result import BuildRow, Result

COLUMNS = ("build", "compiler", "time", "size", "gate", "needs")
_FIGURES = ("time", "size")
SIZES_TITLE = "MB of each program's parts; peak MB of its heaviest object and its link; CPU time of its build"


def section(result: Result, *, detail: bool = False) -> Section:
    """One row for each variant; `detail` where the study's own rows already say it."""
    # Older records hold no facts of the builds' programs.
    names = COLUMNS if any(build.evidence for build in result.builds) else COLUMNS[:-1]
    columns = tuple(Column(name, right=name in _FIGURES, whole=name in _FIGURES) for name in names)
    rows = tuple(row(_name(build), *cells(build)[1 : len(columns)]) for build in result.builds)
    columns = dropping(columns, "needs", "size", "time", "compiler")
    table = Table("builds", columns, rows, detail=detail)
    return Section("builds", (Heading("Builds", detail=detail), table, points(trained(result), detail=detail)))


def trained(result: Result) -> list[str]:
    """What each profile was trained on, and which builds are measured on a load of their own training."""
    loads: dict[tuple[str, ...], list[str]] = {}
    for build in result.builds:
        if build.trained:
            loads.setdefault(build.trained, []).append(build.variant)
    lines = [f"trained on {', '.join(on)}: {', '.join(names)}" for on, names in loads.items()]
    training = {build.variant: build.trained for build in result.builds}
    own = dict.fromkeys(
        f"{name} on {load}" for name, load in _measured(result) if load.partition(":")[0] in training.get(name, ())
    )
    if own:
        lines.append(f"trained on the load that it is measured on, its best case (docs/BIAS.md): {', '.join(own)}")
    return lines


def _measured(result: Result) -> Iterator[tuple[str, str]]:
    """The build and the load of every cell with a verdict."""
    for row_ in result.rows:
        yield row_.candidate, row_.workload
    for line in result.shipped.lines if result.shipped else ():
        if line.verdict and line.workload:
            yield line.candidate, line.workload


def _name(build: BuildRow) -> Span:
    return Span(build.variant, marks=marks.letters(marks.of_build(build)))


def cells(build: BuildRow) -> tuple[str, ...]:
    """A variant's cells of the table of builds."""
    size = f"{build.server_bytes / 1e6:.1f} MB" if build.server_bytes else "-"
    time = duration(build.seconds) if build.seconds is not None else "-"
    compiler = build.toolchain or build.identity or "-"
    return build.variant, compiler, time, size, failure(build) or build.gate, build.needs


def failure(build: BuildRow) -> str:
    """Why the build was not measured, short enough for a table (messages with paths appear below it); '' if it was."""
    text = build.failure or ""
    return text.partition(":")[0] if "/" in text else text


def sizes(result: Result) -> Section:
    """The sizes of the programs' parts, and the memory and CPU time of each build; empty for older records."""
    rows = [
        evidence.size_cells(build.variant, build.evidence, build.costs) for build in result.builds if build.evidence
    ]
    if not rows:
        return Section("sizes", ())
    return Section("sizes", (Paragraph(Span(SIZES_TITLE)), grid("sizes", evidence.SIZES, rows)))
