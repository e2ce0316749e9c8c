"""What an examination of this machine found."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.report.compose import row
from burnish.report.document import Cell, Column, Document, Role, Section, Span, Table
from burnish.report.examination.finding import Finding


def document(findings: Sequence[Finding]) -> Document:
    """A row for each finding, with its consequence and its fix below it."""
    columns = (Column("", whole=True), Column("", whole=True), Column(""))
    rows = tuple(
        row(Span(finding.state, Role(finding.state)), finding.name, _description(finding)) for finding in findings
    )
    return Document("this machine", (Section("findings", (Table("findings", columns, rows, headed=False, gap=2),)),))


def _description(finding: Finding) -> Cell:
    lines = [Span(finding.found)]
    if finding.consequence:
        lines.append(Span(finding.consequence, Role.ASIDE))
    if finding.fix:
        lines.append(Span(f"fix: {finding.fix}", Role.FIX))
    return Cell(tuple(lines))
