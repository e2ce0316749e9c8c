"""What a start is made of and what it leaves: the sides that are asked for, the pairs that were read, how it went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from burnish.bench import quantities, readings
from burnish.bench.counters import Usage
from burnish.bench.readings import Reading
from burnish.model.condition import Condition
from burnish.program.built import Built


class Trouble(Exception):
    """A side died, hung or erred: the start is invalid for this reason."""


@dataclass(frozen=True)
class Contestant:
    """A side of every start of a cell: a build under a condition, with its name in the record."""

    label: str
    built: Built
    condition: Condition


_OF_A_TURN = ("seconds", "done", "server_cpu", "client_cpu", "steps")
"""What is recorded of each turn."""


@dataclass(frozen=True)
class Pair:
    """One pair as it was read.

    Attributes:
        turns: for each turn, the reading of each side by label.
        places: turns in a round of places: 2 in a duet, 1 where one side at a time is under load.
        usage: by label, what the server used while the pair was read.
        busy: by label, the share of its cores that the server was busy for, 0 to 1 (in a duet with its load).
        steal: share of CPU time stolen by the hypervisor, 0 to 1, of the core that lost most.
        core_busy: busy share of each core, by number, over the pair.
        invalid: why it counts for nothing, or None.
    """

    turns: tuple[Mapping[str, Reading], ...]
    places: int
    usage: Mapping[str, Usage]
    busy: Mapping[str, float]
    steal: float
    core_busy: Mapping[int, float]
    invalid: str | None

    def total(self, label: str) -> Reading:
        """A side's turns together."""
        return readings.total([turn[label] for turn in self.turns])

    def ratio(self, baseline: str, candidate: str) -> readings.PairRatio:
        """Log-ratios of two of the sides."""
        return readings.pair_ratio(
            [turn[baseline] for turn in self.turns], [turn[candidate] for turn in self.turns], self.places
        )

    def ratios(self, baseline: str, candidate: str) -> dict[str, float]:
        """Log-ratios of two of the sides, by quantity; above 0 where the candidate is better."""
        return quantities.ratios(
            [turn[baseline] for turn in self.turns],
            [turn[candidate] for turn in self.turns],
            self.places,
            {"baseline": self.usage.get(baseline), "candidate": self.usage.get(candidate)},
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record: all of each side's turns together, and each turn's few that ratios need."""
        labels = list(self.turns[0])
        return {
            "sides": {label: self.total(label).as_dict() for label in labels},
            "turns": {
                label: [[round(getattr(turn[label], name), 6) for name in _OF_A_TURN] for turn in self.turns]
                for label in labels
            },
            "places": self.places,
            "usage": {label: asdict(used) for label, used in self.usage.items()},
            "busy": {label: round(share, 4) for label, share in self.busy.items()},
            "steal": self.steal,
            "core_busy": {str(core): share for core, share in self.core_busy.items()},
            "invalid": self.invalid,
        }


@dataclass(frozen=True)
class StartResult:
    """One start as it went.

    Attributes:
        slots: by label: first core set, data copy, place in the launch order.
        warmup_s: how long it was warmed up, the longest of its sides.
        settled: whether the rate was steady when the first pair began, on all sides.
        pairs: the pairs that were read.
        fingerprint: digest of the data, the same on all sides.
        invalid: why the whole start counts for nothing, or None.
        seconds: wall time of the start.
        launched: by label, command line, peak memory and code on huge pages (bytes) of each process of the side's
            server and load.
        hardware: by label, events per transaction as the processor counted them; empty without a PMU.
        facts: by label, how the side was deployed, as it found out itself (cipher).
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

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record; pairs are recorded one by one as they come."""
        values = {key: value for key, value in vars(self).items() if key != "pairs"}
        return {**values, "pairs": len(self.pairs)}


def joined(parts: Sequence[Pair]) -> Pair:
    """One pair of sides that were read one after the other."""
    return Pair(
        turns=tuple(
            {label: reading for turn in together for label, reading in turn.items()}
            for together in zip(*(part.turns for part in parts), strict=True)
        ),
        places=1,
        usage={label: used for part in parts for label, used in part.usage.items()},
        busy={label: share for part in parts for label, share in part.busy.items()},
        steal=max(part.steal for part in parts),
        core_busy=parts[0].core_busy,
        invalid=next((part.invalid for part in parts if part.invalid), None),
    )
