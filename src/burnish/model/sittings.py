"""Sittings: starts of a cell that are close in time, on one boot of one host, belong together; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

GAP_S = 1800.0
"""Time without a start of the cell after which a new sitting begins, in seconds. Within 0.3 h the ratio of two builds
does not move, after an hour it moves by its full spread (docs/BIAS.md, "One hour")."""


@dataclass(frozen=True)
class Schedule:
    """In how many sittings a study is measured.

    Attributes:
        count: number of sittings in which every cell is to have starts.
        apart: least time between two sittings of a cell, in seconds.
    """

    count: int = 1
    apart: float = 7200.0


@dataclass(frozen=True)
class Spread:
    """How far the ratio of the same two builds moves between sittings.

    Attributes:
        sd: standard deviation between sittings, of log-ratios.
        df: its degrees of freedom; infinite if it is known exactly.
        source: where it is from, in words.
    """

    sd: float
    df: float
    source: str


class SpreadKind(StrEnum):
    """Kinds of comparison, by what is known of how far their ratios move between sittings.

    * ``profiled``: a side's build has a profile (PGO, BOLT) that the other's has not;
    * ``alike``: a duet, and both have the same profile, or none;
    * ``committing``: sides take turns on a load that changes its data and commits, and none is known to have a profile
      that the other has not.
    """

    PROFILED = "profiled"
    ALIKE = "alike"
    COMMITTING = "committing"


@dataclass(frozen=True)
class Spreads:
    """How far ratios move between sittings, by kind of comparison (`SpreadKind`).

    Attributes:
        profiled: of that kind.
        alike: of that kind.
        committing: of that kind.
    """

    profiled: Spread
    alike: Spread
    committing: Spread

    @classmethod
    def of_all(cls, spread: Spread) -> Spreads:
        """One figure for every kind."""
        return cls(spread, spread, spread)

    def of(self, kind: SpreadKind) -> Spread:
        """That of a kind."""
        match kind:
            case SpreadKind.PROFILED:
                return self.profiled
            case SpreadKind.ALIKE:
                return self.alike
            case SpreadKind.COMMITTING:
                return self.committing


@dataclass(frozen=True)
class Moment:
    """When a start was taken.

    Attributes:
        begun: seconds since 1970, UTC.
        ended: the same.
        boot: identifies the host's boot; '' if it is not known.
    """

    begun: float
    ended: float
    boot: str = ""


def sittings_of(moments: Sequence[Moment]) -> list[int]:
    """The number of each start's sitting, from 0: a gap of half an hour or a reboot begins a new one.

    Args:
        moments: starts of one cell on one host, in order of time.
    """
    numbers: list[int] = []
    before: Moment | None = None
    for moment in moments:
        number = numbers[-1] if numbers else 0
        if before is not None:
            rebooted = bool(before.boot and moment.boot and before.boot != moment.boot)
            number += moment.begun - before.ended >= GAP_S or rebooted
        numbers.append(number)
        before = moment
    return numbers
