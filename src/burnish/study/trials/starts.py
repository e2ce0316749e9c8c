"""The finished starts of a cell, read back from the record: what verdicts are made from."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from burnish.base.errors import UserError
from burnish.record.record import Event, Record
from burnish.statistics.verdicts import Judgement, invalid
from burnish.study.cells import AA, Cell, Role

INVALID_STARTS = 3
"""So many invalid starts, and at least half as many as valid ones, make a cell invalid instead of being repeated."""

_FIGURES = re.compile(r"(?<![\w.-])\d[\d.,]*")
"""Figures in a sentence, not those in the name of a build."""


@dataclass(frozen=True)
class Starts:
    """A cell's finished starts.

    Attributes:
        capacity: log-ratio of each valid start.
        throughput: likewise.
        invalid: reasons of the invalid ones.
        pairs: the valid pairs of the valid starts, as recorded.
        pair_ratios: for each valid start, the log-ratios of its valid pairs, (capacity, throughput) each.
        invalid_pairs: pairs of valid starts that count for nothing.
        unsettled: valid starts whose rate never was steady.
        hardware: of each valid start, events per transaction by side.
        seconds: wall time of each valid start.
    """

    capacity: list[float]
    throughput: list[float]
    invalid: list[str]
    pairs: list[Mapping[str, Any]]
    pair_ratios: list[list[tuple[float, float]]]
    invalid_pairs: int
    unsettled: int
    hardware: list[Mapping[str, Mapping[str, float]]]
    seconds: list[float]

    def of(self, quantity: str) -> list[float]:
        """Log-ratios of ``capacity`` or ``throughput``."""
        return self.capacity if quantity == "capacity" else self.throughput


def begun_otherwise(record: Record, what: str, was: str, now: str) -> UserError:
    """The error of a study whose earlier starts were taken otherwise than the next ones would be."""
    return UserError(
        f"{record.folder.name}: {what} was {was} when its earlier starts were taken, and is {now} now; --fresh begins "
        "a study anew; with the version of Burnish and the number of cores that began this one it goes on"
    )


def check_designs(record: Record, cells: Iterable[Cell]) -> None:
    """Refuses cells that were begun in another design.

    Another version of Burnish may have chosen it, or the same one where it had more cores or fewer.

    Raises:
        UserError: names the first; starts of two designs are no sample of one thing.
    """
    for cell in cells:
        begun = record.last("start", cell=cell.name)
        if begun is not None and begun.body["design"] != cell.design:
            raise begun_otherwise(record, f"the design of {cell.name}", begun.body["design"], cell.design)


def cell_starts(record: Record, cell: str, *, pairs: bool = False) -> Starts:
    """The finished starts of a cell, from its record alone; what has no closing event counts for nothing.

    Args:
        record: the study's.
        cell: the cell's name.
        pairs: whether the pairs are read too, which takes longer; without, `Starts.pairs` is empty.
    """
    kinds = ("start_done", "pair") if pairs else ("start_done",)
    return starts_of(record.events(*kinds, cell=cell))


def starts_of(events: Iterable[Event]) -> Starts:
    """The finished starts among events of one cell: its ``start_done`` and, where they are wanted, its ``pair``."""
    every = list(events)
    closed = {event.body["start"]: event.body for event in every if event.kind == "start_done"}
    valid = {number: body for number, body in closed.items() if body["invalid"] is None}
    read = [event.body for event in every if event.kind == "pair" and event.body["start"] in valid]
    return Starts(
        capacity=[body["capacity"] for body in valid.values()],
        throughput=[body["throughput"] for body in valid.values()],
        invalid=[body["invalid"] for body in closed.values() if body["invalid"] is not None],
        pairs=[body for body in read if body["invalid"] is None],
        pair_ratios=[[(c, t) for c, t in body["pair_ratios"]] for body in valid.values()],
        invalid_pairs=sum(body["invalid"] is not None for body in read),
        unsettled=sum(not body["settled"] for body in valid.values()),
        hardware=[body["hardware"] for body in valid.values() if body["hardware"]],
        seconds=[body["seconds"] for body in valid.values()],
    )


def spoilt(reasons: Sequence[str], valid: int) -> Judgement | None:
    """The judgement of a cell of which too many starts were invalid; None where they are few enough to be repeated.

    Of the commonest reason the first is told; reasons that differ in their figures alone are one.

    Args:
        reasons: why starts were invalid, one each.
        valid: how many were not.
    """
    if len(reasons) < INVALID_STARTS or 2 * len(reasons) < valid:
        return None
    alike = [_FIGURES.sub("", reason) for reason in reasons]
    common, count = Counter(alike).most_common(1)[0]
    reason = reasons[alike.index(common)]
    return invalid(f"{len(reasons)} starts were invalid, {count} of them: {reason}", valid)


def spread_about_zero(readings: Sequence[float]) -> float | None:
    """Standard deviation of A/A readings, whose mean is known to be 0; None below two."""
    if len(readings) < 2:
        return None
    return math.sqrt(statistics.fmean(value * value for value in readings))


def canary_sd(record: Record, cell: Cell) -> float | None:
    """Spread of the log-ratios of the study's canaries of the cell's workload; None below two.

    Args:
        record: the study's.
        cell: a claim, or the confirmation of one.
    """
    canary = replace(cell, candidate=AA, tag="" if cell.role is Role.CONFIRMATION else cell.tag)
    return spread_about_zero(cell_starts(record, canary.name).of(cell.headline))
