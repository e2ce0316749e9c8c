"""A bundled study whose record was merged from several: which host measured what, and each host's figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from burnish.record.events.verdicts import HostVerdict
from burnish.report.bundled.advice import apart, letters
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.compose import points, section
from burnish.report.document import Section
from burnish.report.sections import merged
from burnish.report.sections.bundled.cells import names_of
from burnish.report.words import per_cent, plural

if TYPE_CHECKING:
    from burnish.report.result import Result


def sections(table: StudyTable, result: Result) -> list[Section]:
    """The merged records, and each host's own figures for each cell; empty for any other record."""
    if result.merged is None:
        return []
    names = names_of(table)
    several = [line for line in table.lines if len(line.hosts) > 1]
    lines = [*merged.origins(result.merged), *(_by_host(line, names[line.key]) for line in several)]
    lines += [f"measured on {host} alone: {'; '.join(cells)}" for host, cells in sorted(_alone(table, names).items())]
    return [section("hosts", "Merged records", points(lines))]


def _alone(table: StudyTable, names: Mapping[str, str]) -> dict[str, list[str]]:
    """What each host alone measured: whole rows, or single cells of rows that it shares with other hosts."""
    rows: dict[str, list[Line]] = {}
    for line in table.lines:
        if line.hosts:
            rows.setdefault(", ".join(filter(None, (line.series, line.row))), []).append(line)
    by_host: dict[str, list[str]] = {}
    for row, lines in rows.items():
        if len(lines[0].hosts) == 1 and not apart([line] for line in lines):
            by_host.setdefault(letters(lines), []).append(row)
            continue
        for line in lines:
            if len(line.hosts) == 1:
                by_host.setdefault(letters([line]), []).append(names[line.key])
    return by_host


def _by_host(line: Line, name: str) -> str:
    """One cell's figures by host."""
    if line.interval is None:
        return f"{name}: {line.reason}"
    parts = []
    for host in line.hosts:
        assert isinstance(host, HostVerdict)  # noqa: S101 - a line with an interval has a verdict
        measured = f"{per_cent(host.interval)} %" if host.interval else "unknown"
        parts.append(f"{host.host} {measured} ({plural(host.starts, 'start')})")
    return f"{name}: {', '.join(parts)}{merged.spread(line.sitting, differ=line.hosts_differ)}"
