"""What a reader must know of a record that was merged from several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnish.report.words import interval_words, per_cent, percent, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from burnish.report.result import Result, Row
    from burnish.study.trials.repeated import Sitting


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
    block = [
        (
            "each host counts once, however many starts it has; an interval of two hosts covers the ratio of each, "
            "one of three or more that of hosts like these (docs/METHODOLOGY.md)"
        )
    ]
    return [f"merged from {studies}", *(block if several else [])]


APART = "; THE HOSTS DIFFER: their mean is no host's ratio"


def spread(sitting: Sitting | None, *, differ: bool) -> str:
    """How far hosts differ in a cell, in words that follow the figure of each; '' if nothing is known."""
    apart = APART if differ else ""
    about = sitting.heterogeneity if sitting else None
    if about is None:
        return apart
    noise = f"{percent(1 - about.share)} of the spread between hosts is noise (Q test: p {about.p:.2g})"
    another = f"; another host: {per_cent(about.another)} %" if about.another else ""
    return f"; {noise}{another}{apart}"


def _by_host(row: Row) -> str:
    parts = ", ".join(
        f"{host.host} {interval_words(host.interval)} ({plural(host.starts, 'start')})" for host in row.hosts
    )
    apart = spread(row.sitting, differ=row.hosts_differ)
    return f"{row.candidate} on {row.workload}, {row.headline} by host: {parts}{apart}"
