"""What makes a server, as data: commands and files in an empty build folder.

A build performs these steps, and the script that makes it again without Burnish is written from the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.base.errors import InfrastructureError

if TYPE_CHECKING:
    from burnish.engines.build_job import BuildJob


@dataclass(frozen=True)
class Command:
    """A program that is run in the build folder.

    Attributes:
        what: for the log, in a few words.
        argv: program and arguments.
        env: variables beyond the usual environment, as (name, value).
    """

    what: str
    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Text:
    """A file that is written into the build folder: its relative path and its content."""

    path: str
    content: str


Step = Command | Text


def perform(
    steps: Sequence[Step],
    job: BuildJob,
    *,
    doing: str,
    timeout: float,
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Runs commands and writes files in `job.place`, in order.

    Args:
        steps: what to do.
        job: where, and the workbench that records it.
        doing: begins the error of a command that failed ("building SQLite").
        timeout: seconds for each command.
        on_line: called with each line of their output.

    Raises:
        InfrastructureError: a command failed, with its log.
    """
    watching = [one for one in (on_line, job.see) if one is not None]

    def see(line: str) -> None:
        for one in watching:
            one(line)

    for step in steps:
        if isinstance(step, Text):
            write(step, job.place)
            continue
        done = job.bench.run(step.what, step.argv, cwd=job.place, env=dict(step.env), timeout=timeout, on_line=see)
        done.check(f"{doing} ({step.what})")


def write(step: Text, place: Path) -> None:
    """Writes the file of a step below `place`, which it must not leave."""
    target = place / step.path
    if not target.resolve().is_relative_to(place.resolve()):
        raise InfrastructureError(f"{step.path}: a build's files lie in its folder {place}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(step.content)
