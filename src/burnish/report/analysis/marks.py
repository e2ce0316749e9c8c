"""Marks beside the names of builds: weaker security, different results, narrower portability; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from burnish.model.recipe import Marks
from burnish.report.compose import points
from burnish.report.document import Points

if TYPE_CHECKING:
    from burnish.report.result import BuildRow, Result

LETTERS = {"changes results": "R", "narrows portability": "P", "weakens security": "S"}
"""The letter of each mark in tables."""


def of_build(build: BuildRow) -> Marks:
    """A build's marks."""
    return Marks(build.changes_results, build.narrows_portability, build.weakens_security)


def withheld(marks: Marks) -> tuple[str, ...]:
    """The marks for which a build is packaged only if forced: those of what it does, not of where it runs."""
    return tuple(word for word in marks.words if word != "narrows portability")


def by_variant(result: Result) -> Mapping[str, Marks]:
    """The marks of every build that has any."""
    builds = {build.variant: of_build(build) for build in result.builds}
    return {variant: marks for variant, marks in builds.items() if marks}


def letters(marks: Marks | None) -> str:
    """Marks as letters, ``RS``; '' without any."""
    return "".join(LETTERS[word] for word in marks.words) if marks else ""


def legend(shown: Iterable[Marks | None]) -> Points | None:
    """What the letters in a table mean; None if there are none."""
    words = dict.fromkeys(word for marks in shown if marks for word in marks.words)
    if not words:
        return None
    return points([", ".join(f"!{LETTERS[word]} {word}" for word in LETTERS if word in words)])
