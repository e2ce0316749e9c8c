"""A start's input and result: its sides, its pairs, how it went."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from burnish.base.errors import InfrastructureError
from burnish.bench import quantities, readings
from burnish.bench.counters import Usage
from burnish.bench.readings import Reading
from burnish.engines.reported import Reported
from burnish.model.condition import Condition
from burnish.program.built import Built

_T = TypeVar("_T")

HANGS = "the side hangs"
"""End of the reason of a start in which a side finished nothing; reports count hangs by it."""


class Trouble(Exception):
    """A side died, hung or had errors; the start is invalid for this reason.

    Args:
        why: the reason.
        sides: labels of the sides that it happened to; empty if it is not about one more than the other.
    """

    def __init__(self, why: str, *sides: str) -> None:
        super().__init__(why)
        self.sides = sides


@contextlib.contextmanager
def blamed(label: str) -> Iterator[None]:
    """Makes what fails in it the trouble of a side, so that other candidates of a shared start are not lost with it."""
    try:
        yield
    except InfrastructureError as error:
        raise Trouble(error.explain(), label) from error


@dataclass(frozen=True)
class Contestant:
    """A side of every start of a cell: a build under a condition, with its name in the record."""

    label: str
    built: Built
    condition: Condition


_OF_A_TURN = ("seconds", "done", "server_cpu", "client_cpu", "steps")
"""Fields of a reading that are recorded for each turn."""


@dataclass(frozen=True)
class Pair:
    """One measured pair.

    Attributes:
        turns: for each turn, the reading of each side by label.
        places: turns until each side has been on both halves of the cores: 2 in a duet, otherwise 1.
        usage: by label, resources that the server used during the pair.
        busy: by label, the share of its cores that the server kept busy, 0 to 1 (in a duet including its load).
        steal: share of CPU time stolen by the hypervisor, 0 to 1, of the core that lost most.
        core_busy: busy share of each core, by number, over the pair.
        invalid: why it is invalid, or None.
        at_fault: labels of the sides that the reason is about; empty if it is about the host, or the pair is valid.
        writes: by label, what the server wrote during the pair and had left to write (`Side.writes`).
        disturbed: whether it is invalid because the host was disturbed from outside (`Flaw.passing`).
    """

    turns: tuple[Mapping[str, Reading], ...]
    places: int
    usage: Mapping[str, Usage]
    busy: Mapping[str, float]
    steal: float
    core_busy: Mapping[int, float]
    invalid: str | None
    at_fault: tuple[str, ...] = ()
    writes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    disturbed: bool = False

    def total(self, label: str) -> Reading:
        """The sum of a side's turns."""
        return readings.total([turn[label] for turn in self.turns])

    def ratio(self, baseline: str, candidate: str) -> readings.PairRatio:
        """Log-ratios of two of the sides."""
        return readings.pair_ratio(
            [turn[baseline] for turn in self.turns], [turn[candidate] for turn in self.turns], self.places
        )

    def ratios(self, baseline: str, candidate: str) -> dict[str, float]:
        """Log-ratios of two of the sides, by quantity; above 0 if the candidate is better."""
        return quantities.ratios(
            [turn[baseline] for turn in self.turns],
            [turn[candidate] for turn in self.turns],
            self.places,
            {"baseline": self.usage.get(baseline), "candidate": self.usage.get(candidate)},
        )

    def faster_half(self, baseline: str, candidate: str) -> dict[str, float]:
        """Log-ratios of capacity and throughput over the faster half of each side's turns; see `quantities`."""
        own, other = ([turn[label] for turn in self.turns] for label in (candidate, baseline))
        return quantities.faster_half(other, own, self.places)

    def of(self, labels: Collection[str]) -> Pair:
        """The pair as these of its sides see it."""
        return replace(
            self,
            turns=tuple(_only(turn, labels) for turn in self.turns),
            usage=_only(self.usage, labels),
            busy=_only(self.busy, labels),
            at_fault=tuple(label for label in self.at_fault if label in labels),
            writes=_only(self.writes, labels),
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record: each side's totals, and of each turn the fields needed for ratios."""
        labels = list(self.turns[0])
        return {
            "sides": {label: self.total(label).as_dict() for label in labels},
            "turns": {
                label: [[round(getattr(turn[label], name), 6) for name in _OF_A_TURN] for turn in self.turns]
                for label in labels
            },
            "device": {label: [round(turn[label].device, 4) for turn in self.turns] for label in labels},
            "places": self.places,
            "usage": {label: asdict(used) for label, used in self.usage.items()},
            "busy": {label: round(share, 4) for label, share in self.busy.items()},
            "steal": self.steal,
            "core_busy": {str(core): share for core, share in self.core_busy.items()},
            "invalid": self.invalid,
        }


@dataclass(frozen=True)
class StartResult:
    """The result of one start.

    Attributes:
        slots: by label: first core set, data copy, place in the launch order.
        warmup_s: seconds of warm-up, the longest of its sides.
        settled: whether the rate was steady when the first pair began, on all sides.
        pairs: the measured pairs.
        fingerprint: digest of the data, the same on all sides.
        invalid: why the whole start is invalid, or None.
        at_fault: labels of the sides that died, hung or had errors, if it is invalid for that; else empty.
        seconds: wall time of the start.
        launched: by label, command line, peak memory and code on huge pages (bytes) of each process of the side's
            server and load.
        hardware: by label, hardware events per transaction; empty without a PMU.
        facts: by label, facts about the deployment that the engine reports (cipher).
        reported: by label, what its server said of itself at the end.
    """

    slots: Mapping[str, Mapping[str, Any]]
    warmup_s: float
    settled: bool
    pairs: tuple[Pair, ...]
    fingerprint: str
    invalid: str | None
    seconds: float
    launched: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    hardware: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reported: Mapping[str, Reported] = field(default_factory=dict)
    at_fault: tuple[str, ...] = ()

    @property
    def faulty(self) -> frozenset[str]:
        """Labels of the sides that made it, or any pair of it, invalid."""
        return frozenset([*self.at_fault, *(label for pair in self.pairs for label in pair.at_fault)])

    def of(self, labels: Collection[str]) -> StartResult:
        """The start as these of its sides see it; slots stay as they were drawn among all."""
        return replace(
            self,
            slots=_only(self.slots, labels),
            pairs=tuple(pair.of(labels) for pair in self.pairs),
            launched=_only(self.launched, labels),
            hardware=_only(self.hardware, labels),
            facts=_only(self.facts, labels),
            reported=_only(self.reported, labels),
            at_fault=tuple(label for label in self.at_fault if label in labels),
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record; only the number of pairs, which are recorded separately."""
        values = {key: value for key, value in vars(self).items() if key != "pairs"}
        return {**values, "pairs": len(self.pairs)}


def _only(by_label: Mapping[str, _T], labels: Collection[str]) -> dict[str, _T]:
    return {label: value for label, value in by_label.items() if label in labels}


def joined(parts: Sequence[Pair]) -> Pair:
    """One pair from sides that were measured one after the other."""
    return Pair(
        turns=tuple(
            {label: reading for turn in parts_of_turn for label, reading in turn.items()}
            for parts_of_turn in zip(*(part.turns for part in parts), strict=True)
        ),
        places=1,
        usage={label: used for part in parts for label, used in part.usage.items()},
        busy={label: share for part in parts for label, share in part.busy.items()},
        steal=max(part.steal for part in parts),
        core_busy=parts[0].core_busy,
        invalid=next((part.invalid for part in parts if part.invalid), None),
        at_fault=next((part.at_fault for part in parts if part.invalid), ()),
        writes={label: written for part in parts for label, written in part.writes.items()},
        disturbed=next((part.disturbed for part in parts if part.invalid), False),
    )
