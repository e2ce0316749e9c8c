"""Deployment: choices that were measured on the recommended build, and those that were taken together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.model.cell import CellId
from burnish.record.events.base import Event


@dataclass(frozen=True)
class DeploymentTried(Event):
    """A deployment choice was measured on a build, against the build's usual deployment; or why it was not.

    Attributes:
        choice: its name in the catalogue, or the user's own setting.
        build: name of the build.
        words: the condition's words.
        does: what it does.
        costs: what it may cost besides speed; '' if nothing is known.
        cells: its cells by load; empty if it was not measured.
        failure: why it was not measured; None if it was.
    """

    choice: str
    build: str
    words: tuple[str, ...]
    does: str = ""
    costs: str = ""
    cells: Mapping[str, CellId] = field(default_factory=dict)
    failure: str | None = None


@dataclass(frozen=True)
class StartsLimited(Event):
    """How many starts cells of a search's deployment take at most, so that its budget lasts to the end; before them.

    Attributes:
        cells: the cells, one for each load.
        cap: maximum number of valid starts of each.
    """

    cells: tuple[CellId, ...]
    cap: int


@dataclass(frozen=True)
class DeploymentTaken(Event):
    """The choices that gained, measured together.

    Attributes:
        build: name of the build.
        choices: their names, the best first.
        words: the words of all of them.
        cells: by load, the build so deployed against the build as usual.
        both: by load, the build so deployed against the baseline as usual; empty if the build is the baseline.
        failure: why they were not measured together, or not against the baseline; None if they were.
    """

    build: str
    choices: tuple[str, ...]
    words: tuple[str, ...]
    cells: Mapping[str, CellId]
    both: Mapping[str, CellId] = field(default_factory=dict)
    failure: str | None = None
