"""What the tables leave open: notes on builds and cells, on the family of verdicts, on noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.model.recipe import Marks
from burnish.report import evidence, suites
from burnish.report.document import Section, points
from burnish.report.sections import merged, noise
from burnish.report.words import EQUIVALENCE_NOTE
from burnish.statistics.replicates import layout_caveat

if TYPE_CHECKING:
    from burnish.report.result import Result, Row


def section(result: Result) -> Section:
    """All remarks, right below the builds."""
    return Section("remarks", (points(lines(result)),), joined=True)


def lines(result: Result) -> list[str]:
    """Cancelled flags, audits, weaker security, reasons of invalid cells, joint claims, canaries."""
    found = []
    for build in result.builds:
        marks = Marks(build.changes_results, build.narrows_portability, build.weakens_security)
        if marks:
            found.append(f"{build.variant}: {', '.join(marks.words)}")
        found += [f"{build.variant}: {note}" for note in build.notes]
    found += [whole.sentence(result.baseline) for whole in suites.wholes(result.rows)]
    found += evidence.unrecorded({build.variant: build.costs for build in result.builds})
    for row in result.rows:
        found += _of_cell(result, row)
    if result.replicates:
        found.append(
            f"each start has a fresh pair of builds ({result.replicates} of each variant): verdicts are about the "
            "recipes, not about one binary of each"
        )
    found += _family(result)
    found += [*merged.lines(result), *noise.canary_lines(result)]
    if any(row.verdict == "equivalent" for row in result.rows):
        found.append(EQUIVALENCE_NOTE)
    return found


def _of_cell(result: Result, row: Row) -> list[str]:
    """What must be known of one verdict."""
    about = f"{row.candidate} on {row.workload}"
    found = []
    if row.verdict in ("invalid", "undecided"):
        found.append(f"{about}: {row.reason}")
    if row.invalid_pairs or row.unsettled:
        found.append(f"{about}: {row.invalid_pairs} pairs excluded, {row.unsettled} starts never became steady")
    if row.together and row.together["verdict"] != row.verdict:
        found.append(f"{about}: {row.together['label']}")
    caveat = layout_caveat(row.ratio["ratio"]) if _linked_once(result, row) and row.ratio else None
    if caveat and row.verdict in ("faster", "slower"):
        found.append(f"{about}: {caveat}")
    return found


def _linked_once(result: Result, row: Row) -> bool:
    """Whether a row stands for a recipe of which there was one binary only."""
    return result.verb in ("tune", "patch") and not result.replicates and row.ratio is not None


def _family(result: Result) -> list[str]:
    """How the cells were claimed together."""
    claims = [row.together for row in result.rows if row.together]
    if len(claims) < 2:
        return []
    how = "looked through (Benjamini-Hochberg)" if result.definition.get("explore") else "claimed together (Holm)"
    worst = max(claim["adjusted_p"] for claim in claims)
    return [f"{len(claims)} cells {how}: largest adjusted p {worst:.2g}; --json has the joint intervals"]
