"""Which cells have their next starts together: candidates that share a baseline, so that it is measured once; pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from burnish.bench.pairs import Contestant
from burnish.model.cell import Role
from burnish.model.condition import DISK
from burnish.model.workload import Design
from burnish.study.cells import Cell

TAKING_TURNS = 2
"""Candidates of a start at most where sides take turns. They need no cores of their own, but each is a server with a
copy of the data, and the more there are, the longer is a round, in which the host may change."""


@dataclass(frozen=True)
class Sharing:
    """How candidates share a baseline.

    Attributes:
        core_sets: of duets, one for each side (`topology.sharing_core_sets`); two: candidates share none.
    """

    core_sets: tuple[frozenset[int], ...]

    def most(self, cell: Cell) -> int:
        """Candidates of a start of this cell at most.

        Only claims share: a canary and a confirmation are read as one who measures two servers would.
        """
        if cell.role is not Role.CLAIM:
            return 1
        return len(self.core_sets) - 1 if cell.design is Design.DUET else TAKING_TURNS

    def sets_of(self, cell: Cell, sides: int, usual: Sequence[frozenset[int]]) -> Sequence[frozenset[int]]:
        """The core sets of a start: all claims of a study, and their canaries, have sets of one size.

        Args:
            cell: one of the start's.
            sides: how many sides it has.
            usual: those of starts that are not shared.
        """
        sized = cell.design is Design.DUET and cell.role in (Role.CLAIM, Role.CANARY)
        return self.core_sets[:sides] if sized else usual


def together(
    cells: Sequence[Cell],
    sharing: Sharing | None,
    sides: Mapping[str, Contestant],
    apart: Collection[str] = (),
) -> list[list[Cell]]:
    """The cells by start, in their order; those of one start have one load, design and placement.

    Args:
        cells: those that want a start.
        sharing: how candidates share a baseline; None: each has its own.
        sides: the candidates by label. Where data are not on Burnish's disk there is room for two sides' only.
        apart: labels of candidates that failed beside others: each is measured with a baseline of its own.
    """
    starts: list[list[Cell]] = []
    for cell in cells:
        alone = sharing is None or cell.label in apart or sides[cell.label].condition.place != DISK
        most = 1 if alone or sharing is None else sharing.most(cell)
        fitting = next((start for start in starts if most > len(start) and _joins(cell, start, apart)), None)
        if fitting is None:
            starts.append([cell])
        else:
            fitting.append(cell)
    return starts


def _joins(cell: Cell, start: Sequence[Cell], apart: Collection[str]) -> bool:
    taken = {other.label for other in start}
    return start[0].manner == cell.manner and cell.label not in taken and not taken & set(apart)
