"""From the recordings of a `why` to its events: profiles, facts about the builds' code, flame graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.base.errors import InfrastructureError
from burnish.bench import sampling
from burnish.bench.pairs import Pair
from burnish.bench.sampling import Ability, Recorded, Stacks
from burnish.model.workload import Design, Placement, Workload
from burnish.program import machine_code
from burnish.program.built import Built
from burnish.program.machine_code import Code
from burnish.record.codec import plain, value_of
from burnish.record.events.why import (
    BuildSampled,
    CodeFacts,
    SampleProfile,
    SamplingMethod,
    WhyExplained,
)
from burnish.study.session import Session
from burnish.why import alignment, flame, samples, stacks, text
from burnish.why.attribution import Profile, profile
from burnish.why.ceiling import cpu_words
from burnish.why.samples import KERNEL, UNKNOWN, Flat, merged

STACKED = 2
"""Number of the pair whose samples have copies of the stack, where callers are found so: not the last one, to which a
load whose unit of work takes long may not get."""


@dataclass(frozen=True)
class Sampled:
    """Two builds under load, sampled.

    Attributes:
        builts: by label, the baseline first.
        perf: the program.
        ability: what was sampled.
        stacks: how callers were found.
        design: how the sides shared the host.
        placement: which cores servers and clients had.
        pairs: as they were read.
        recorded: perf's recordings.
        hardware: by label, events per transaction.
        slots: by label, shares of the processor's slots.
    """

    builts: Mapping[str, Built]
    perf: Path
    ability: Ability
    stacks: Stacks
    design: Design
    placement: Placement
    pairs: Sequence[Pair]
    recorded: Sequence[Recorded]
    hardware: Mapping[str, Mapping[str, float]]
    slots: Mapping[str, Mapping[str, float]]

    def of(self, label: str, *, callers: bool) -> list[Recorded]:
        """A side's recordings: those that its profile is made from, or those with call stacks."""
        recordings = [recording for recording in self.recorded if label in recording.pids]
        separate = self.stacks is Stacks.DWARF
        return [recording for recording in recordings if not separate or (recording.stacks is Stacks.DWARF) == callers]

    @property
    def profiled(self) -> Sequence[Pair]:
        """The pairs that the profiles are made from."""
        if self.stacks is not Stacks.DWARF:
            return self.pairs
        return [pair for number, pair in enumerate(self.pairs, 1) if number != STACKED]

    def cpu(self, label: str) -> float:
        """A side's server CPU seconds per transaction."""
        sides = [pair.total(label) for pair in self.profiled]
        done = sum(side.done for side in sides)
        if done == 0:
            raise InfrastructureError(f"{label}: no transaction was finished while it was sampled; try a quieter hour")
        return sum(side.server_cpu for side in sides) / done

    def user_share(self, label: str) -> float | None:
        """Share of that CPU time outside the kernel, from /proc; None if the kernel was sampled too."""
        if self.ability.kernel:
            return None
        used = [pair.usage[label] for pair in self.profiled]
        spent = sum(usage.user + usage.system for usage in used)
        return sum(usage.user for usage in used) / spent if spent > 0 else 1.0


def evaluate(
    session: Session,
    workload: Workload,
    sampled: Sampled,
    codes: Mapping[str, Code],
    simulate: Callable[[Mapping[str, Built]], Sequence[str]],
) -> None:
    """Reads the samples and records the results; readers use them only once the last event, ``explained``, is there.

    Args:
        session: the study's.
        workload: the load.
        sampled: both builds under load.
        codes: both builds as machine code, by label.
        simulate: records what both builds do on a simulated processor; returns what went wrong.
    """
    one, other = sampled.builts
    log = session.bench.log_path("perf-script.log")
    with session.bench.step("reading the samples", "why-samples", counts=False):
        flats = {label: _flat(sampled, label, log) for label in sampled.builts}
        profiles = {label: _profile(sampled, label, codes[label], flats[label]) for label in sampled.builts}
        sides = _sides(sampled, codes, log)
        aligned = alignment.align(*sides)
        pictures = _draw(session.record.folder, workload, sampled, sides, aligned)
    compared = _comparable(sampled, codes, profiles, flats, aligned)
    for label, code in codes.items():
        hits = samples.offsets(flats[label], str(code.path), _mappings(sampled, label))
        session.record.append(
            BuildSampled(
                label=label,
                profile=value_of(SampleProfile, plain(profiles[label].as_dict())),
                compared=value_of(SampleProfile, plain(compared[label].as_dict())),
                text=value_of(CodeFacts, plain(text.measure(code.program, hits).as_dict())),
            )
        )
    gone = codes[one].functions - codes[other].functions
    new = codes[other].functions - codes[one].functions
    doubts = [pair.invalid for pair in sampled.pairs if pair.invalid]
    notes = [f"{len(doubts)} of {len(sampled.pairs)} pairs would not count in a trial: {doubts[0]}"] if doubts else []
    notes += simulate(sampled.builts)
    places = [place for flat in flats.values() for place in flat.weights]
    named = any(place.object == KERNEL and place.function != UNKNOWN for place in places)
    met = {function.name for profile in profiles.values() for function in profile.shares}
    grouping = _grouping(sampled, codes)
    seconds = sum(recording.seconds for recording in sampled.recorded)
    session.record.append(
        WhyExplained(
            labels=(one, other),
            workload=workload.name,
            unit=workload.unit,
            only_before=tuple(sorted(gone & met)) if grouping != "source" else (),
            only_after=tuple(sorted(new & met)) if grouping != "source" else (),
            folded={name: tuple(names) for name, names in _largest(aligned.folded).items()}
            if grouping == "callers"
            else {},
            method=SamplingMethod(
                event=sampled.ability.event,
                by_core=sampled.ability.by_core,
                frequency=sampled.recorded[0].frequency,
                seconds=round(seconds, 1),
                stacks=str(sampled.stacks),
                design=str(sampled.design),
                grouping=grouping,
                functions_gone=len(gone),
                functions_new=len(new),
                perf_cpu=sum(recording.perf_cpu for recording in sampled.recorded) / seconds,
                placement=str(sampled.placement),
            ),
            blind=(*sampled.ability.blind(sampled.stacks, names_kernel=named), *_lost(codes, grouping)),
            pictures=tuple(pictures),
            hardware=sampled.hardware,
            slots=sampled.slots,
            notes=tuple(notes),
        )
    )


def _flat(sampled: Sampled, label: str, log: Path) -> Flat:
    flat_sum = Flat(Counter(), 0)
    for recorded in sampled.of(label, callers=False):
        output = sampling.read(sampled.perf, recorded, stacks=False, log=log, pids=recorded.pids[label])
        for flat in samples.parse_flat(output).values():
            flat_sum = flat_sum + flat
    if flat_sum.count == 0:
        raise InfrastructureError(f"perf has no sample of {label}: it was idle, or perf lost them all")
    return flat_sum


def _mappings(sampled: Sampled, label: str) -> list[samples.Mapping]:
    recorded = sampled.of(label, callers=False)[0]
    return [mapping for pid in recorded.pids[label] for mapping in recorded.mappings[pid]]


def _profile(sampled: Sampled, label: str, code: Code, flat: Flat) -> Profile:
    """The side's profile, with inlined functions listed separately where debug information allows."""
    program, mappings = str(code.path), _mappings(sampled, label)
    named: dict[int, str] = {}
    if code.program.debug:
        named = machine_code.inlined(code, samples.offsets(flat, program, mappings))
    weights = []
    for place, weight in flat.weights.items():
        name = merged(place.function)
        if place.object == program and (code.program.debug or name == UNKNOWN):
            offset = samples.offset_of(place.address, program, mappings)
            if offset is not None:
                name = named.get(offset, name) if name != UNKNOWN else text.page_name(offset)
        weights.append((place.object, name, weight))
    return profile(label, sampled.cpu(label), flat.count, weights, program, sampled.user_share(label))


def _sides(sampled: Sampled, codes: Mapping[str, Code], log: Path) -> list[stacks.Side]:
    """Both builds' call stacks."""
    sides = []
    for label, code in codes.items():
        stacked = samples.Stacked(Counter(), 0)
        for recorded in sampled.of(label, callers=True):
            output = sampling.read(sampled.perf, recorded, stacks=True, log=log, pids=recorded.pids[label])
            for part in samples.parse_stacks(output).values():
                stacked = stacked + part
        sides.append(stacks.Side(stacked.weights, str(code.path), sampled.cpu(label), stacked.count))
    return sides


def _compared(sampled: Sampled, label: str, side: stacks.Side, count: int) -> Profile:
    """A build's profile by the last function of each aligned stack, by which the two builds are compared."""
    weights = [(stack[-1].object, stack[-1].function, events) for stack, events in side.stacks.items()]
    return profile(label, side.cpu, count, weights, side.program, sampled.user_share(label))


def _draw(
    folder: Path, workload: Workload, sampled: Sampled, sides: Sequence[stacks.Side], aligned: alignment.Aligned
) -> list[str]:
    """Flame graphs of each build and of their difference, and the stacks themselves; returns the files' names."""
    labels = list(sampled.builts)
    load = f"{workload.name}, CPU time a {workload.unit}; call stacks: {_WAYS[sampled.stacks]}"
    names = ("flame-before.svg", "flame-after.svg", "flame-difference.svg")
    for name, label, side in zip(names, labels, sides, strict=False):
        drawn, what = _drawn(sampled, label, side)
        total = f"{label}: {cpu_words(drawn.cpu)}{what} a {workload.unit}"
        (folder / name).write_text(flame.graph(stacks.tree(drawn), total, load))
        (folder / name).with_suffix(".folded").write_text(stacks.lines(side.stacks))
    aligned_sides = zip(labels, (aligned.before, aligned.after), strict=True)
    (one, what), (other, _) = (_drawn(sampled, label, side) for label, side in aligned_sides)
    title = f"from {labels[0]} ({cpu_words(one.cpu)}) to {labels[1]} ({cpu_words(other.cpu)}{what} a {workload.unit})"
    (folder / names[-1]).write_text(flame.difference(stacks.tree(one, other), title, load))
    return list(names)


def _drawn(sampled: Sampled, label: str, side: stacks.Side) -> tuple[stacks.Side, str]:
    """A side for a picture, and what its CPU time is of: where the kernel is not sampled, user code's alone."""
    share = sampled.user_share(label)
    return (side, "") if share is None else (replace(side, cpu=side.cpu * share), " in user code")


_WAYS = {
    Stacks.LBR: "branch records",
    Stacks.POINTERS: "frame pointers",
    Stacks.DWARF: "copies of the stack",
    Stacks.NONE: "none",
}


def _grouping(sampled: Sampled, codes: Mapping[str, Code]) -> str:
    """How the time of inlined functions is attributed.

    Returns:
        ``source``: by debug information, to the function in the source; ``callers``: by call stacks, to the caller;
        ``names``: not separately.
    """
    if all(code.program.debug for code in codes.values()):
        return "source"
    by_name = not any(code.program.stripped for code in codes.values())
    return "callers" if by_name and sampled.stacks in (Stacks.LBR, Stacks.POINTERS) else "names"


def _comparable(
    sampled: Sampled,
    codes: Mapping[str, Code],
    profiles: Mapping[str, Profile],
    flats: Mapping[str, Flat],
    aligned: alignment.Aligned,
) -> Mapping[str, Profile]:
    """The profiles by which the builds are compared: unchanged, unless call stacks must compensate for inlining."""
    if _grouping(sampled, codes) != "callers":
        return profiles
    sides = zip(codes, (aligned.before, aligned.after), strict=True)
    return {label: _compared(sampled, label, side, flats[label].count) for label, side in sides}


def _largest(folded: Mapping[str, Mapping[str, float]], most: int = 4) -> dict[str, tuple[str, ...]]:
    """By function, the names of the functions folded into it, the heaviest first."""
    return {name: tuple(sorted(counts, key=lambda inner: -counts[inner])[:most]) for name, counts in folded.items()}


def _lost(codes: Mapping[str, Code], grouping: str) -> list[str]:
    """What is missing from the profiles without symbols or debug information."""
    reasons = [
        f"{label} is stripped: its own functions are told by pages of its file only, which can't be set beside "
        "another build's; keep the symbols (strip --strip-debug), or put their .debug file beside it"
        for label, code in codes.items()
        if code.program.stripped
    ]
    if grouping == "names" and not reasons:
        reasons.append(
            "no debug information in both builds: the time of an inlined function is its caller's, and a function that "
            "one build inlines seems to vanish (parts and copies that compilers make of one are put together by name)"
        )
    return reasons
