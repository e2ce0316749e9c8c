"""A bundled study beside its tables: why cells have no verdict, which are doubtful, and the overall conclusion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.base.reasons import by_reason
from burnish.report.analysis import checks, layout_caveat
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.compose import points, section
from burnish.report.document import Section
from burnish.report.sections import repeated
from burnish.report.sections.bundled.cells import loads_of, names_of
from burnish.report.sections.repeated import Open
from burnish.report.words import percent, plural

if TYPE_CHECKING:
    from burnish.report.result import Result


def missing(table: StudyTable) -> list[Section]:
    """Rows without a verdict; empty if all have one."""
    lines = _reasons(table)
    return [section("reasons", "Rows without a verdict, and why", points(lines))] if lines else []


def doubtful(table: StudyTable) -> list[Section]:
    """Cells that are undecided, invalid or only a figure; empty if there are none."""
    lines = _doubtful(table)
    return [section("words", "Cells that are undecided, invalid, or only a figure", points(lines))] if lines else []


def small(result: Result, table: StudyTable) -> list[Section]:
    """Verdicts on recipes whose difference may come from the code layout of the two binaries alone."""
    names = names_of(table)
    lines = repeated.two_binaries([(names[line.key], layout_caveat.of_line(result, line)) for line in table.lines])
    lines += [f"{names[line.key]}: {again}" for line in table.lines if (again := layout_caveat.line_again(line))]
    return [section("layout", "Small differences", points(lines))] if lines else []


def beside(table: StudyTable) -> list[Section]:
    """What starts show beside their ratios: faults by side, totals, drift; empty if all is as it should be."""
    names = names_of(table)
    cells = {line.cell: line for line in reversed(table.lines) if line.cell}  # several lines may be about one cell
    lines = list(reversed(cells.values()))
    notes = [(names[line.key], sentence) for line in lines for sentence in checks.sentences(line.checks)]
    notes += [(names[line.key], line.sitting.contradiction) for line in lines if line.sitting and line.sitting.contrary]
    texts = repeated.merged(notes, [names[line.key] for line in lines], "cell")
    texts += checks.concentration(line.checks for line in lines if not line.control)
    return [section("checks", "What the starts show beside their ratios", points(texts))] if texts else []


def conclusion(table: StudyTable) -> Section:
    """The study's overall conclusion."""
    return section("conclusion", "What it says", points(_conclusion(table)))


def _doubtful(table: StudyTable) -> list[str]:
    """A sentence for each cell that is undecided, invalid or only a figure."""
    names = names_of(table)
    plain = [f"{names[line.key]}: {line.reason}" for line in table.lines if line.verdict in ("invalid", "measured")]
    return plain + repeated.undecided(
        [Open(names[line.key], line.reason, line.interval) for line in table.lines if line.verdict == "undecided"]
    )


def _conclusion(table: StudyTable) -> list[str]:
    names = names_of(table)
    changed = [f"{names[line.key]}: alone {line.verdict}" for line in undecided_together(table)]
    lines = [*table.advice]
    if changed:
        lines.append(f"Corrected for all comparisons (Benjamini-Hochberg), these are undecided: {'; '.join(changed)}.")
    if table.canaries:
        worst = max(abs(ratio - 1.0) for ratio in table.canaries)
        lines.append(
            f"Noise: {plural(len(table.canaries), 'start')} of a build against itself; a single one deviates by up to "
            f"{percent(worst, 1)}."
        )
    return [*lines, _counts(table)]


def undecided_together(table: StudyTable) -> list[Line]:
    """Lines whose verdict does not survive the correction for all comparisons."""
    return [line for line in table.lines if line.together == "undecided"]


def _counts(table: StudyTable) -> str:
    """How many cells have a verdict, and how many of the others can have one."""
    done = sum(bool(line.verdict) for line in table.lines)
    possible = sum(line.last == "open" for line in table.lines)
    never = len(table.lines) - done - possible
    parts = [f"{done} of {plural(len(table.lines), 'cell')} have a verdict or figure"]
    parts += [f"{possible} can still be measured"] if possible else []
    parts += [f"{never} cannot, for the reasons above"] if never else []
    return f"{'; '.join(parts)}."


def _reasons(table: StudyTable) -> list[str]:
    """Why lines have no verdict; one line for each reason, with all rows that share it."""
    without = {line.key: line for line in table.lines if not line.verdict}
    loads = loads_of(table.lines)
    sentences = []
    for reason, keys in by_reason((key, line.reason) for key, line in without.items()).items():
        lines = [without[key] for key in keys]
        names = [
            ", ".join(filter(None, row))
            + (f" on {' and '.join(row_loads)}" if len(row_loads) < len(loads[row]) else "")
            for row, row_loads in loads_of(lines).items()
        ]
        steps = sorted({line.threads for line in lines if line.threads is not None})
        few = len(names) <= 4
        subject = "; ".join(names) if few else plural(len(names), "row")
        at = f" at {', '.join(map(str, steps))} threads" if steps and few else ""
        sentences.append(f"{subject}{at}: {reason}")
    return sentences
