"""The finished starts of a cell, read from the record: the input of verdicts."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.base.errors import UserError
from burnish.bench.host import UNKNOWN
from burnish.model.cell import CellId
from burnish.record.events import Event
from burnish.record.events.study import RecordsMerged, SessionBegun
from burnish.record.events.trials import PairRead, StartBegun, StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.statistics.verdicts import Judgement, Kind, invalid
from burnish.study.cells import Cell
from burnish.study.trials.superseded import counted

INVALID_STARTS = 3
"""With this many invalid starts, and at least half as many as valid ones, a cell is invalid (see `given_up`)."""

FRESH_STARTS = 8
"""Starts of a winner's cell that is measured again, where a study names no other number."""

_FIGURES = re.compile(r"(?<![\w.-])\d[\d.,]*")
"""Figures in a sentence, not those in the name of a build."""


def fresh_starts(asked: int, cap: int) -> int:
    """Number of starts of a cell that is measured again.

    Args:
        asked: how many the study names.
        cap: the rule's maximum for a cell, which is one for each pair of replicates.
    """
    return max(2, min(asked, cap))


@dataclass(frozen=True)
class Starts:
    """A cell's finished starts.

    Attributes:
        readings: for each valid start, the log-ratio of each quantity.
        invalid: reasons of the invalid ones, first those that are spent.
        disturbed: number of those for which the host was disturbed from outside.
        spent: number of those that an earlier verdict was about: the cell is measured again since.
        pairs: the valid pairs of the valid starts, as recorded.
        pair_ratios: for each valid start, by quantity the log-ratios of its valid pairs.
        invalid_pairs: number of invalid pairs in valid starts.
        unsettled: number of valid starts whose rate never became steady.
        hardware: of each valid start, events per transaction by side.
        seconds: wall time of each valid start.
    """

    readings: list[Mapping[str, float]]
    invalid: list[str]
    disturbed: int
    pairs: list[PairRead]
    pair_ratios: list[Mapping[str, tuple[float, ...]]]
    invalid_pairs: int
    unsettled: int
    hardware: list[Mapping[str, Mapping[str, float]]]
    seconds: list[float]
    spent: int = 0

    @property
    def valid(self) -> int:
        """How many starts are valid."""
        return len(self.readings)

    @property
    def invalid_judgement(self) -> Judgement | None:
        """The judgement if too many were invalid, those aside that an earlier verdict was about; else None."""
        return invalid_cell(self.invalid[self.spent :], self.valid, self.disturbed - self.spent)

    def costs(self, label: str) -> tuple[float, ...]:
        """Of each valid start, the logarithm of a side's CPU seconds per transaction; empty if one is not known."""
        spent: dict[int, tuple[float, float]] = {}
        for pair in self.pairs:
            if (side := pair.sides.get(label)) is not None:
                cpu, done = spent.get(pair.start, (0.0, 0.0))
                spent[pair.start] = cpu + side.server_cpu, done + side.done
        known = [(cpu, done) for _, (cpu, done) in sorted(spent.items()) if cpu > 0.0 and done > 0.0]
        return tuple(math.log(cpu / done) for cpu, done in known) if len(known) == self.valid else ()

    def of(self, quantity: str) -> list[float]:
        """Log-ratios of a quantity, of the starts that read it."""
        return [reading[quantity] for reading in self.readings if quantity in reading]


class BegunOtherwiseError(UserError):
    """A run's earlier starts were taken in another way than the next ones would be: of every build, not of one."""


def begun_with_other(record: Record, what: str, was: str, now: str) -> BegunOtherwiseError:
    """The error that says what has changed since a run's earlier starts were taken."""
    return BegunOtherwiseError(
        f"{record.folder.name}: {what} was {was} when its earlier starts were taken, and is {now} now; --fresh begins "
        "a new run; the version of Burnish and the number of cores that began this one resume it"
    )


def check_designs(record: Record, cells: Iterable[Cell]) -> None:
    """Refuses cells that were begun in another design or placement.

    These come from another version of Burnish, or from another number of cores.

    Raises:
        BegunOtherwiseError: names the first such cell; starts of two designs are not a sample of one quantity.
    """
    for cell in cells:
        begun = record.last(StartBegun, cell=cell.id)
        if begun is None:
            continue
        if begun.event.design != cell.design:
            raise begun_with_other(record, f"the design of {cell.name}", str(begun.event.design), cell.design)
        if begun.event.placement not in (None, cell.placement):
            raise begun_with_other(record, f"the placement of {cell.name}", begun.event.placed, cell.placement)


def check_machine(record: Record, machine: str, processor: str) -> None:
    """Refuses to resume a run whose starts were taken on another machine, or on another processor in this one.

    Machines without an id, and those of merged records and of Burnish 0.1, which knew them by another
    digest, are not compared.

    Args:
        record: the run's.
        machine: this one (`burnish.bench.host.HostFacts.machine`).
        processor: its model, for people.

    Raises:
        BegunOtherwiseError: names both; the sittings of two hosts are not those of one.
    """
    if record.last(StartBegun) is None or record.last(RecordsMerged) is not None:
        return
    known = [
        session.event.host
        for session in record.events(SessionBegun)
        if session.event.seed is not None and session.event.host.get("machine", UNKNOWN) != UNKNOWN
    ]
    if not known or machine in (UNKNOWN, known[-1]["machine"]):
        return
    was = known[-1].get("cpu_model", UNKNOWN)
    # The firmware's id is root's to read; others have the one that Burnish keeps.
    alike = ", or by root here and now by another user, or the reverse" if was == processor else ""
    raise BegunOtherwiseError(
        f"{record.folder.name}: its earlier starts were taken on another machine ({was}) than this one ({processor})"
        f"{alike}; resume it as then, or begin a new run here with --fresh: `burnish record merge` puts the runs of "
        "both together"
    )


def cell_starts(record: Record, cell: CellId, *, pairs: bool = False, last: int | None = None) -> Starts:
    """The finished starts of a cell that count, from its record alone; one without a closing event is ignored.

    Args:
        record: the study's.
        cell: the cell.
        pairs: whether the pairs are read too, which takes longer; otherwise `Starts.pairs` is empty.
        last: number of valid starts at its end that are read, with the invalid ones among them; None: all.
    """
    kinds: tuple[type[StartDone | PairRead], ...] = (StartDone, PairRead) if pairs else (StartDone,)
    found = counted(record.events(*kinds, cell=cell))
    events = [recorded.event for recorded in found]
    if last is not None:
        valid = [event.start for event in events if isinstance(event, StartDone) and event.invalid is None]
        events = [event for event in events if event.start >= (valid[-last:] or [0])[0]]
    before = record.last(VerdictReached, cell=cell)
    if before is None or before.event.verdict != Kind.INVALID:
        return starts_of(events)
    earlier = (one.event for one in found if one.number < before.number)
    spent = sum(isinstance(event, StartDone) and event.invalid is not None for event in earlier)
    return replace(starts_of(events), spent=spent)


def starts_of(events: Iterable[Event]) -> Starts:
    """The finished starts from the events of one cell: its `StartDone` and, if present, its `PairRead`."""
    all_events = list(events)
    closed = {event.start: event for event in all_events if isinstance(event, StartDone)}
    valid = {number: event for number, event in closed.items() if event.invalid is None}
    read = [event for event in all_events if isinstance(event, PairRead) and event.start in valid]
    bad = sorted((event for event in closed.values() if event.invalid is not None), key=lambda bad: not bad.spent)
    return Starts(
        readings=[event.readings for event in valid.values()],
        invalid=[event.invalid for event in bad if event.invalid is not None],
        disturbed=sum(event.disturbed is True for event in bad),
        pairs=[event for event in read if event.invalid is None],
        pair_ratios=[event.pair_ratios or {} for event in valid.values()],
        invalid_pairs=sum(event.invalid is not None for event in read),
        unsettled=sum(not event.settled for event in valid.values()),
        hardware=[event.hardware for event in valid.values() if event.hardware],
        seconds=[event.seconds for event in valid.values()],
        spent=sum(event.spent is True for event in bad),
    )


def given_up(invalid: int, disturbed: int, valid: int) -> bool:
    """Whether a cell has too many invalid starts: three, and at least half as many as valid ones.

    Those for which the host was disturbed from outside count half: a quieter minute follows a noisy one, but a server
    that crashes does it again.

    Args:
        invalid: number of invalid starts.
        disturbed: number of these for which the host was disturbed from outside.
        valid: number of valid starts.
    """
    return invalid >= INVALID_STARTS and 2 * invalid - disturbed >= valid


def disturbed_alone(starts: Iterable[StartDone]) -> bool:
    """Whether too many starts were invalid, all of them as the host was disturbed from outside."""
    bad = [start for start in starts if start.invalid is not None]
    return len(bad) >= INVALID_STARTS and all(start.disturbed is True for start in bad)


def invalid_cell(reasons: Sequence[str], valid: int, disturbed: int = 0) -> Judgement | None:
    """The judgement of a cell with too many invalid starts; None if they are few enough to be repeated.

    It reports the most frequent reason; reasons that differ only in their figures count as one.

    Args:
        reasons: why starts were invalid, one each.
        valid: number of valid starts.
        disturbed: number of reasons that disturbed the host from outside.
    """
    if not given_up(len(reasons), disturbed, valid):
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


def canary_sd(record: Record, cell: Cell) -> float:
    """Spread of the log-ratios of the study's canaries of the cell's workload; infinite below two.

    The fast lane must not look before canaries have shown that the host is as quiet as it was when it was calibrated.

    Args:
        record: the study's.
        cell: a claim, or the confirmation of one.
    """
    sd = spread_about_zero(cell_starts(record, cell.canary.id).of(cell.headline))
    return math.inf if sd is None else sd
