"""Remarks on the tables: notes on builds and cells, on joint verdicts, on noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from burnish.model.cell import AA
from burnish.report import evidence
from burnish.report.analysis import checks, layout_caveat, marks, suites
from burnish.report.compose import points
from burnish.report.document import Section
from burnish.report.sections import builds, calibration, merged, repeated
from burnish.report.sections.repeated import Open
from burnish.report.words import plural, star_note

if TYPE_CHECKING:
    from burnish.report.result import Result, Row


EXCLUDED = 0.1
"""Largest share of excluded pairs of a cell that needs no remark."""

UNSETTLED = 0.25
"""Largest share of unsettled starts of a cell that needs no remark."""


def section(result: Result) -> Section:
    """All remarks, directly below the builds."""
    return Section("remarks", (points(lines(result)),), joined=True)


def lines(result: Result) -> list[str]:
    """Cancelled flags, audits, weaker security, reasons of invalid cells, joint claims, noise; each one once."""
    texts = repeated.merged(_of_builds(result), [build.variant for build in result.builds], "build")
    texts += [suite.sentence(result.baseline) for suite in suites.wholes(result.rows)]
    texts += evidence.unrecorded({build.variant: build.costs for build in result.builds})
    texts += [f"{_cell(row)}: {row.reason}" for row in result.rows if row.verdict == "invalid"]
    texts += repeated.undecided(
        [Open(_cell(row), row.reason, row.ratio) for row in result.rows if row.verdict == "undecided" and not row.alone]
    )
    texts += repeated.merged(_of_cells(result), [_cell(row) for row in result.rows], "cell")
    texts += checks.concentration(row.checks for row in result.rows if row.candidate != AA)
    texts += repeated.two_binaries([(_cell(row), layout_caveat.of_row(result, row)) for row in result.rows])
    texts += [f"{_cell(row)}: {again}" for row in result.rows if (again := layout_caveat.row_again(result, row))]
    if result.replicates:
        texts.append(
            f"each start has a fresh pair of builds ({result.replicates} of each variant): verdicts are about the "
            "recipes, not about one binary of each"
        )
    texts += _family(result)
    texts += [*merged.lines(result), *calibration.canary_lines(result)]
    return [*texts, *star_note(one.interval for row in result.rows for one in row.quantities.values())]


def _cell(row: Row) -> str:
    return f"{row.candidate} on {row.workload}"


def _of_builds(result: Result) -> Iterator[tuple[str, str]]:
    """Notes on builds, except those that the report's heading already contains."""
    known = {f"differs from {result.baseline}: {line}" for line in result.differences}
    for build in result.builds:
        build_marks = marks.of_build(build)
        if build_marks:
            yield build.variant, ", ".join(build_marks.words)
        if build.failure and builds.failure(build) != build.failure:
            yield build.variant, build.failure
        yield from ((build.variant, note) for note in build.notes if note not in known)


def _of_cells(result: Result) -> Iterator[tuple[str, str]]:
    """Notes on cells: excluded pairs, unsettled starts, faults, totals, drift, verdicts changed by the correction."""
    for row in result.rows:
        pairs = row.starts * _pairs(result, row)
        if row.invalid_pairs > EXCLUDED * pairs:
            yield _cell(row), f"{row.invalid_pairs} of {plural(pairs, 'pair')} excluded"
        if row.unsettled > UNSETTLED * row.starts:
            yield _cell(row), f"{row.unsettled} of {plural(row.starts, 'start')} did not settle"
        yield from ((_cell(row), sentence) for sentence in checks.sentences(row.checks))
        if row.sitting and row.sitting.contrary:
            yield _cell(row), row.sitting.contradiction
        if row.alone and row.together:
            yield _cell(row), f"by itself {row.alone}; {row.together.label}"


def _pairs(result: Result, row: Row) -> int:
    """Pairs of a start of this cell."""
    timings: Mapping[str, Mapping[str, Any]] = result.contest.get("timings", {})
    return int(timings[row.design]["pairs"]) if row.design in timings else 1


def _family(result: Result) -> list[str]:
    """How verdicts were corrected for multiple comparisons."""
    claims = [row.together for row in result.rows if row.together]
    if len(claims) < 2:
        return []
    explored = result.definition.get("explore")
    how = "false discovery rate, Benjamini-Hochberg" if explored else "family-wise, Holm"
    worst = max(claim.adjusted_p for claim in claims)
    counted = f"verdicts are corrected for {len(claims)} comparisons ({how})"
    return [f"{counted}; largest adjusted p {worst:.2g}; --json has the joint intervals"]
