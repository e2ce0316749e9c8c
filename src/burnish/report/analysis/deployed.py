"""Deployment choices as a report has them: each with its cells, and those taken together; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burnish.model.cell import CellId
from burnish.record.by_type import ByType
from burnish.record.events.deployment import DeploymentTaken, DeploymentTried

if TYPE_CHECKING:
    from burnish.report.result import Row


@dataclass(frozen=True)
class Tried:
    """A choice.

    Attributes:
        choice: its name.
        does: what it does.
        costs: what it may cost besides speed; '' if nothing is known.
        rows: by load, the build so deployed against the build as usual.
        failure: why it was not measured; None if it was.
    """

    choice: str
    does: str
    costs: str
    rows: Mapping[str, Row]
    failure: str | None


@dataclass(frozen=True)
class Deployed:
    """What was found about a build's deployment.

    Attributes:
        build: the build.
        tried: the choices, in order.
        taken: names of those that gained and were measured together, the best first.
        words: the settings of all of these.
        together: by load, the build with all of them against the build as usual.
        both: by load, the build with all of them against the baseline as usual.
        done: whether it is known which are taken.
        failure: why they were not measured together, or not against the baseline; None if they were.
    """

    build: str
    tried: tuple[Tried, ...]
    taken: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    together: Mapping[str, Row] | None = None
    both: Mapping[str, Row] | None = None
    done: bool = False
    failure: str | None = None


def deployed(by: ByType, row_of: Callable[[CellId], Row | None]) -> Deployed | None:
    """The deployment of the build that was recommended last; None if none was asked for."""
    tried = by.of(DeploymentTried)
    if not tried:
        return None
    build = tried[-1].build

    def rows(cells: Mapping[str, CellId]) -> dict[str, Row]:
        return {load: row for load, cell in cells.items() if (row := row_of(cell)) is not None}

    choices = tuple(
        Tried(event.choice, event.does, event.costs, rows(event.cells), event.failure)
        for event in tried
        if event.build == build
    )
    taken = next((event for event in by.of(DeploymentTaken) if event.build == build), None)
    if taken is None:
        return Deployed(build, choices)
    together, both = rows(taken.cells), rows(taken.both)
    return Deployed(build, choices, taken.choices, taken.words, together, both, done=True, failure=taken.failure)
