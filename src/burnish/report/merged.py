"""What a reader must know of a record that was put together from several; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from burnish.report.summary import Row, Summary


def lines(summary: Summary) -> list[str]:
    """What it was put together from, and of each cell what each host says by itself; empty for any other record."""
    if summary.merged is None:
        return []
    studies = ", ".join(
        f"{each['study']} ({each['starts']} starts on {each['host']})" for each in summary.merged["studies"]
    )
    told = [f"merged from {studies}"]
    if len(summary.merged["hosts"]) > 1:
        told.append("each host is a block and counts once; ratios are taken within a start (docs/METHODOLOGY.md)")
    return told + [_by_host(row) for row in (*summary.rows, *summary.confirmations) if row.hosts]


def _by_host(row: Row) -> str:
    parts = ", ".join(f"{each['host']} {_words(each['interval'])} ({each['starts']} starts)" for each in row.hosts)
    apart = "; THE HOSTS DIFFER: their mean is no host's ratio" if row.hosts_differ else ""
    return f"{row.candidate} on {row.workload}, {row.headline} by host: {parts}{apart}"


def _words(value: Mapping[str, Any] | None) -> str:
    return "unknown" if value is None else f"{value['ratio']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"
