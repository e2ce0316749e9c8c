"""The result of a `why` as values: profiles, code, ceiling, counters; a pure function of its record's events."""

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
        before: the first build's profile, by the functions of its symbol table (with debug information: of its
            source).
        after: the second build's profile.
        compared: both profiles, made comparable: the time of functions that only one of the builds inlines is added
            to their callers, if call stacks show them.
        folded: by function, the largest of the functions whose time was added to it.
        only_before: functions of the first build that are missing in the second build's symbol table.
        only_after: functions of the second build that are missing in the first build's symbol table.
        texts: by label, facts about each build's machine code (`burnish.why.text.Text`).
        method: event, frequency, seconds, how call stacks were unwound, how inlined functions are attributed.
        blind: limits of the samples, one sentence each.
        pictures: names of the flame graphs in the study's folder.
        hardware: by label, events per transaction; empty without a PMU.
        slots: by label, shares of the processor's slots (top-down level 1); empty without a PMU.
        simulated: by label, events on a simulated processor (`BuildSimulated`); may be empty.
        notes: deviations from the plan.
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
        """The ceiling of compiler options on this load."""
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
        all_rows = self.rows
        ceiling = self.ceiling
        return {
            "workload": self.workload,
            "unit": self.unit,
            "cpu": {profile.label: profile.cpu for profile in (self.before, self.after)},
            "samples": {profile.label: profile.samples for profile in (self.before, self.after)},
            "heaviest": {
                profile.label: [[function.name, profile.cost(function)] for function in profile.heaviest()]
                for profile in (self.before, self.after)
            },
            "functions": [row.as_dict() for row in all_rows],
            "explaining": [row.as_dict() for row in explaining(all_rows)],
            "kernel": [row.as_dict() for row in explaining(all_rows, Part.KERNEL)],
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
    """The explanation from a record's events; None for a study that was not finished."""
    explained = by.last(WhyExplained)
    if explained is None or StudyFinished not in by:
        return None
    sampled = {event.label: event for event in by.of(BuildSampled)}
    before, after = (sampled[label] for label in explained.labels)
    return Explanation(
        workload=explained.workload,
        unit=explained.unit,
        before=profile_from(before.profile),
        after=profile_from(after.profile),
        compared=(profile_from(before.compared), profile_from(after.compared)),
        folded=explained.folded,
        only_before=frozenset(explained.only_before),
        only_after=frozenset(explained.only_after),
        texts={label: plain(sampled[label].text) for label in explained.labels},
        method=plain(explained.method),
        blind=explained.blind,
        pictures=explained.pictures,
        hardware=explained.hardware,
        slots=explained.slots,
        simulated={event.label: plain(event) for event in by.of(BuildSimulated)},
        notes=explained.notes,
    )
