"""What the servers of a start say of themselves, and in what they differ: only their programs should."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reported:
    """What a server says of itself at the end of a start.

    Attributes:
        settings: the value of each of its settings, by name.
        work: number of statements that it has answered since the load began.
        counted: other counters of what it did for them, by name.
        places: folders of its own, of which the other servers have others.
    """

    settings: Mapping[str, str] = field(default_factory=dict)
    work: int = 0
    counted: Mapping[str, int] = field(default_factory=dict)
    places: Sequence[str] = ()

    def rates(self) -> dict[str, float]:
        """Its counters for each statement; empty if it answered none."""
        return {name: count / self.work for name, count in self.counted.items()} if self.work > 0 else {}

    def moved(self, value: str) -> str:
        """A setting's value, as it would be in any other place."""
        for place in sorted(self.places, key=len, reverse=True):
            value = value.replace(place, "…")
        return value


def compared(sides: Mapping[str, Reported]) -> tuple[int, dict[str, dict[str, str]]]:
    """The number of settings that are alike on all sides, and the others by name and side.

    Values are alike too if they differ in a side's own folders alone. A setting that a side lacks has no value there.
    """
    alike, others = 0, {}
    for name in dict.fromkeys(name for reported in sides.values() for name in reported.settings):
        values = {label: reported.settings[name] for label, reported in sides.items() if name in reported.settings}
        moved = {sides[label].moved(value) for label, value in values.items()}
        if len(values) == len(sides) and (len(set(values.values())) == 1 or len(moved) == 1):
            alike += 1
        else:
            others[name] = values
    return alike, others
