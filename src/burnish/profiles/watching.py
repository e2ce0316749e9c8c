"""The warnings of a compile with a profile as they come: what can't pass the audit any more is ended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from burnish.base.errors import InfrastructureError
from burnish.profiles.audit import Audit

FIRST = 100
"""Number of warnings that are looked at for the first time: a small build is over before."""

MORE = 1.25
"""Growth of their number until they are looked at again, so that all looks together cost some five times the last."""


class Watch:
    """Sees each line of a compile.

    Functions without a profile only get more, and how many are hot is known before: an audit that fails on the warnings
    so far fails in the end, after an hour or two.

    Args:
        judge: audits warnings.
        log: the compile's log, for the error.
    """

    def __init__(self, judge: Callable[[str], Audit], log: Path) -> None:
        self.judge, self.log = judge, log
        self._warnings: dict[str, None] = {}  # in order, each once
        self._next = FIRST

    def see(self, line: str) -> None:
        """Takes a line of the compile's output.

        Raises:
            InfrastructureError: the profile does not fit.
        """
        if "profile" not in line and "mismatch" not in line:
            return
        self._warnings[line] = None
        if len(self._warnings) < self._next:
            return
        self._next = int(MORE * self._next)
        audit = self.judge("\n".join(self._warnings))
        if not audit.acceptable:
            raise unfit(f"{audit.summary} so far, more than is tolerated", audit, self.log)


def unfit(words: str, audit: Audit, log: Path) -> InfrastructureError:
    """The error of a profile that does not fit the build it was used for."""
    worst = ", ".join((*audit.mismatched, *audit.absent, *audit.stale)[:5])
    return InfrastructureError(f"the profile does not fit this build: {words}; first: {worst}", log=log)
