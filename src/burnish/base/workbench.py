"""The interface that engines and builds work with: recorded processes, progress, a folder for logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from burnish.base.process import Completed


class Workbench(Protocol):
    """The interface that engines and builds work with: recorded processes, progress, a folder for logs."""

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
        """Prints a permanent line for the user."""

    def live(self, text: str, share: float = 0.0) -> None:
        """Prints a line that the next one replaces: progress, live throughput.

        Args:
            text: the line.
            share: share of the step that is done, 0 to 1; 0: unknown.
        """

    def log_path(self, name: str) -> Path:
        """Path of a file in the study's log folder."""


def output_of(
    bench: Workbench,
    what: str,
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin_file: Path | None = None,
    timeout: float | None = None,
) -> tuple[Completed, list[str]]:
    """Runs a program that says little, through `bench`: how it ended, and its lines."""
    lines: list[str] = []
    done = bench.run(what, argv, cwd=cwd, env=env, stdin_file=stdin_file, timeout=timeout, on_line=lines.append)
    return done, lines
