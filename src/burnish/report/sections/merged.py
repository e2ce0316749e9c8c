"""What a reader must know of a record that was merged from several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnish.report.words import interval_words, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from burnish.report.result import Result, Row


def lines(result: Result) -> list[str]:
    """The merged records, and each host's own figures for each cell; empty for any other record."""
    if result.merged is None:
        return []
    return origins(result.merged) + [_by_host(row) for row in (*result.rows, *result.confirmations) if row.hosts]


def origins(record: Mapping[str, Any]) -> list[str]:
    """The records that were merged, and how hosts are weighted."""
    studies = ", ".join(
        f"{study['study']} ({plural(study['starts'], 'start')} on {study['host']})" for study in record["studies"]
    )
    several = len(record["hosts"]) > 1
    block = ["each host counts once, however many starts it has; ratios are taken within a start (docs/METHODOLOGY.md)"]
    return [f"merged from {studies}", *(block if several else [])]


APART = "; THE HOSTS DIFFER: their mean is no host's ratio"


def _by_host(row: Row) -> str:
    parts = ", ".join(
        f"{host.host} {interval_words(host.interval)} ({plural(host.starts, 'start')})" for host in row.hosts
    )
    return f"{row.candidate} on {row.workload}, {row.headline} by host: {parts}{APART if row.hosts_differ else ''}"
