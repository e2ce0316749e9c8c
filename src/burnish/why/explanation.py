"""What the record of a `why` says, as values: profiles, code, ceiling, counters; a pure function of its events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.record.by_type import ByType
from burnish.record.codec import plain
from burnish.record.events.study import StudyFinished
from burnish.record.events.why import BuildSampled, BuildSimulated, WhyExplained
from burnish.why.attribution import Part, Profile, Row, explaining, objects, profile_from, rows
from burnish.why.ceiling import Ceiling


@dataclass(frozen=True)
class Explanation:
    """Why one build takes less CPU time than another on a load.

    Attributes:
        workload: the load.
        unit: what is counted.
        before: the first build's profile, by the functions that its symbol table has (in builds with debug
            information: that its source has).
        after: the second's.
        compared: both profiles as they are set beside each other: with the time of functions that one of the builds
            inlines in their callers, where call stacks tell these.
        folded: by function, the heaviest of those whose time was put into it so.
        only_before: its functions that the second build's symbol table lacks.
        only_after: likewise, of the second build.
        texts: by label, what each build is as machine code (`burnish.why.text.Text`).
        method: event, frequency, seconds, how callers were found, whether inlined functions are told apart.
        blind: what the samples can't show, a sentence each.
        pictures: names of the flame graphs in the study's folder.
        hardware: by label, events per transaction; empty without a PMU.
        slots: by label, shares of the processor's slots (top-down level 1); empty without.
        simulated: by label, events of one unit and of its functions in a simulated processor; empty without.
        notes: what went otherwise than planned.
    """

    workload: str
    unit: str
    before: Profile
    after: Profile
    compared: tuple[Profile, Profile]
    folded: Mapping[str, Sequence[str]]
    only_before: frozenset[str]
    only_after: frozenset[str]
    texts: Mapping[str, Mapping[str, Any]]
    method: Mapping[str, Any]
    blind: tuple[str, ...]
    pictures: tuple[str, ...]
    hardware: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    slots: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    simulated: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Row]:
        """Every function, before and after, the largest difference first."""
        return rows(*self.compared, self.only_before, self.only_after)

    @property
    def ceiling(self) -> Ceiling:
        """How far a compiler could go on this load."""
        parts = self.before.parts()
        return Ceiling(
            workload=self.workload,
            unit=self.unit,
            baseline=self.before.label,
            winner=self.after.label,
            total=self.before.cpu,
            kernel=parts[Part.KERNEL],
            libraries=parts[Part.LIBC] + parts[Part.LIBRARY],
            after=self.after.cpu,
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for --json; times are CPU seconds per transaction."""
        every = self.rows
        ceiling = self.ceiling
        return {
            "workload": self.workload,
            "unit": self.unit,
            "cpu": {each.label: each.cpu for each in (self.before, self.after)},
            "samples": {each.label: each.samples for each in (self.before, self.after)},
            "heaviest": {
                each.label: [[function.name, each.cost(function)] for function in each.heaviest()]
                for each in (self.before, self.after)
            },
            "functions": [row.as_dict() for row in every],
            "explaining": [row.as_dict() for row in explaining(every)],
            "kernel": [row.as_dict() for row in explaining(every, Part.KERNEL)],
            "folded": {name: list(inner) for name, inner in self.folded.items()},
            "objects": [row.as_dict() for row in objects(self.before, self.after)],
            "ceiling": {"ratio": ceiling.ratio, "reached": ceiling.reached, "way": ceiling.way},
            "text": {label: dict(text) for label, text in self.texts.items()},
            "method": dict(self.method),
            "blind": list(self.blind),
            "pictures": list(self.pictures),
            "hardware": dict(self.hardware),
            "slots": dict(self.slots),
            "simulated": dict(self.simulated),
            "notes": list(self.notes),
        }


def explanation(by: ByType) -> Explanation | None:
    """From a record's events; None for one that was not finished, which says nothing."""
    found = by.last(WhyExplained)
    if found is None or StudyFinished not in by:
        return None
    sampled = {each.label: each for each in by.of(BuildSampled)}
    one, other = (sampled[label] for label in found.labels)
    return Explanation(
        workload=found.workload,
        unit=found.unit,
        before=profile_from(one.profile),
        after=profile_from(other.profile),
        compared=(profile_from(one.compared), profile_from(other.compared)),
        folded=found.folded,
        only_before=frozenset(found.only_before),
        only_after=frozenset(found.only_after),
        texts={label: plain(sampled[label].text) for label in found.labels},
        method=plain(found.method),
        blind=found.blind,
        pictures=found.pictures,
        hardware=found.hardware,
        slots=found.slots,
        simulated={each.label: plain(each) for each in by.of(BuildSimulated)},
        notes=found.notes,
    )
