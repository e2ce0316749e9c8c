"""What engines and builds get to work with: recorded processes, progress, a place for logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from burnish.base.process import Completed

if TYPE_CHECKING:
    pass


class Workbench(Protocol):
    """What engines get to work with: recorded processes, progress, a place for logs."""

    def run(
        self,
        what: str,
        argv: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin_file: Path | None = None,
        timeout: float | None = None,
        on_line: Callable[[str], None] | None = None,
        log: Path | None = None,
    ) -> Completed:
        """Runs a program to its end, logged and recorded; does not raise on failure (`Completed.check`)."""

    def say(self, text: str) -> None:
        """A line that stays: something the user should know."""

    def live(self, text: str, share: float = 0.0) -> None:
        """A line that the next one replaces: progress, live throughput.

        Args:
            text: the line.
            share: how much of the step is done, 0 to 1; 0: unknown.
        """

    def log_path(self, name: str) -> Path:
        """A file in the study's log folder."""
