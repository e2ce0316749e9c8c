"""Whether a run has measured anything, and why not; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.base.errors import cause
from burnish.base.reasons import by_reason
from burnish.report.analysis.pending import DISTURBED
from burnish.report.analysis.verdict import RUNNING
from burnish.report.words import some

if TYPE_CHECKING:
    from burnish.record.events.searches import SearchEnded
    from burnish.report.result import BuildRow, Result


def nothing_measured(result: Result) -> bool:
    """Whether a run that has ended has no valid verdict, no figure and no finding that the code is identical.

    An unfinished run has not failed, as the same command resumes it; one is at its end whose host was disturbed.
    """
    if result.ended is None and not _disturbed(result):
        return False
    if result.verb == "calibrate":
        return not result.calibrations
    if result.verb == "why":
        return result.explanation is None
    if result.shipped is not None:
        return not any(line.verdict not in ("", "invalid") or line.identical for line in result.shipped.lines)
    return all(row.verdict in ("invalid", RUNNING) for row in result.rows)


def sentence(result: Result) -> str:
    """Why nothing could be compared, with every build's and every cell's reason."""
    if result.verb == "calibrate":
        return "Nothing could be calibrated: no start of the baseline against itself was valid."
    causes = [(build.variant, why) for build in result.builds if (why := _why(build))]
    causes += [(f"{row.candidate} on {row.workload}", row.reason) for row in result.rows if row.verdict == "invalid"]
    if result.shipped is not None:
        causes = [(line.row, line.reason) for line in result.shipped.lines]
    # Of those that failed for one reason the first one's log is named.
    in_full = {(name, cause(why)): why for name, why in causes}
    reasons = [f"{some(names)}: {in_full[names[0], why]}" for why, names in by_reason(in_full).items()]
    return (
        f"Nothing could be compared: {'; '.join(reasons) or 'there was nothing beside the baseline'}."
        f"{' The same command measures it again, half an hour after that or later.' if _disturbed(result) else ''}"
    )


def _disturbed(result: Result) -> bool:
    """Whether the host was disturbed, so that cells are measured again in another sitting."""
    return any(pending.role == DISTURBED for pending in result.pending)


def _why(build: BuildRow) -> str:
    """Why a variant could not be measured; '' if it could."""
    return build.failure or (build.gate if build.gate.startswith("failed") else "")


def not_announced(result: Result) -> str:
    """Why a search announces none of the builds that its starts show to be faster, without a full stop."""
    _, ended = result.searched or (None, None)
    if ended is None:
        return "the search is not at its end"
    if ended.finalist is None:
        return "the search measured none again on fresh starts"
    if ended.slower_on:
        return guarded(ended)
    return f"{ended.finalist} was not shown to be faster on fresh starts"


def guarded(ended: SearchEnded) -> str:
    """That a search's finalist may lose on a load that it must not lose on, without a full stop."""
    are = "which is" if len(ended.slower_on) == 1 else "which are"
    return f"it is not excluded that {ended.finalist} is slower on {', '.join(ended.slower_on)}, {are} guarded"
