"""A study that ships whose record was put together from several: which host measured what and says what; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.report import merged
from burnish.report.study_blocks import names_of
from burnish.report.study_table import Block, Line, StudyTable, per_cent

if TYPE_CHECKING:
    from burnish.report.summary import Summary


def blocks(table: StudyTable, summary: Summary) -> list[Block]:
    """What it was put together from, and of each cell what each host says by itself; empty for any other record."""
    if summary.merged is None:
        return []
    names = names_of(table)
    several = [line for line in table.lines if len(line.hosts) > 1]
    said = [*merged.origins(summary.merged), *(_by_host(line, names[line.key]) for line in several)]
    alone: dict[str, list[str]] = {}
    for line in table.lines:
        if len(line.hosts) == 1:
            alone.setdefault(line.hosts[0]["host"], []).append(names[line.key])
    said += [f"measured on {host} alone: {'; '.join(each)}" for host, each in sorted(alone.items())]
    return [Block("What was put together", lines=tuple(said))]


def _by_host(line: Line, name: str) -> str:
    """One cell's figures by host."""
    if line.interval is None:
        return f"{name}: {line.reason}"
    parts = [
        f"{each['host']} {per_cent(each['interval']) if each['interval'] else 'unknown'} % ({each['starts']} starts)"
        for each in line.hosts
    ]
    return f"{name}: {', '.join(parts)}{merged.APART if line.hosts_differ else ''}"
