"""Which candidate of a run is recommended, whatever the kind of run; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.report.analysis.ranking import winner

if TYPE_CHECKING:
    from burnish.report.result import Result


def taken(result: Result) -> str | None:
    """The candidate to take: the winner, or the build that a bundled study recommends; None if there is none.

    A series of patches recommends no build, and a bundled study with several series has no single one.
    """
    if result.patched is not None:
        return None
    if result.shipped is None:
        return winner(result)
    advised = [advice for advice in result.shipped.advised if advice.row]
    if len(advised) != 1:
        return None
    lines = (line for line in result.shipped.lines if (line.series, line.row) == (advised[0].series, advised[0].row))
    return next((line.candidate for line in lines if line.candidate), None)
