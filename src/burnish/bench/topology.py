"""Core sets for a duet: disjoint, symmetric sets of cores, one for each side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from burnish.bench.host import HostFacts

_Core = tuple[int, ...]

MOST_SIDES = 4
"""Sides of a start at most: each is a server with a copy of the data."""

CORES_OF_SHARING = 4
"""Physical cores that each side must still have where more than two share a start: a server with fewer waits less for
its own locks than the same server on half of the host."""


def duet_core_sets(facts: HostFacts) -> tuple[frozenset[int], frozenset[int]] | None:
    """Two disjoint sets of CPU numbers of the same shape, one for each side of a duet.

    * SMT siblings stay on one side: two servers on one physical core would share its execution units.
    * Both sides are on one memory node, the one with most cores: the sides swap cores within a pair, and a server
      moved to another node would be measured with remote memory.
    * Within the node, caches of the same size go one to each side; the cores of a cache without a counterpart are
      split, so that both sides have the same share of it.
    * Cores are only paired with cores of the same speed and thread count; an odd core stays idle.

    Returns:
        The two sets, of equal size; None if this process may not use two physical cores of the same kind.
    """
    found = _core_sets(facts, 2)
    return None if found is None else (found[0], found[1])


def sharing_core_sets(facts: HostFacts) -> tuple[frozenset[int], ...]:
    """Core sets for duets in which several candidates share a baseline, as many as `MOST_SIDES` at most.

    Each has `CORES_OF_SHARING` physical cores or more; they are split as those of `duet_core_sets` are.

    Returns:
        Three sets or more; empty if the host has too few cores for that.
    """
    cores = {cpu: group for group in facts.physical_cores for cpu in group}
    for sides in range(MOST_SIDES, 2, -1):
        found = _core_sets(facts, sides)
        if found is not None and len({cores[cpu] for cpu in found[0]}) >= CORES_OF_SHARING:
            return found
    return ()


def _core_sets(facts: HostFacts, sides: int) -> tuple[frozenset[int], ...] | None:
    """So many sets, by the rules of `duet_core_sets`; None if there are too few cores of the same kind."""
    allowed = frozenset(facts.cores_allowed) & frozenset(facts.cores_online)
    cores = [usable for group in facts.physical_cores if (usable := tuple(c for c in group if c in allowed))]
    best: list[list[_Core]] = [[]]
    for node in facts.numa_nodes:
        parts = _parts([core for core in cores if set(core) <= set(node)], facts, sides)
        if len(parts[0]) > len(best[0]):
            best = parts
    if not best[0]:  # one core per node: then the sides have to be on several nodes
        best = _parts(cores, facts, sides)
    if not best[0]:
        return None
    return tuple(frozenset(cpu for core in side for cpu in core) for side in best)


def _parts(cores: Iterable[_Core], facts: HostFacts, sides: int) -> list[list[_Core]]:
    """Physical cores split evenly: whole caches first, then parts of those without enough counterparts."""
    cache_of = {cpu: number for number, group in enumerate(facts.l3_groups) for cpu in group}
    speed = dict(facts.capacities)
    caches: dict[int | None, list[_Core]] = defaultdict(list)
    for core in sorted(cores):
        caches[cache_of.get(core[0])].append(core)

    def kind(core: _Core) -> tuple[int, int]:
        return len(core), speed.get(core[0], 0)

    twins: dict[tuple[tuple[int, int], ...], list[list[_Core]]] = defaultdict(list)
    for members in caches.values():
        twins[tuple(sorted(kind(core) for core in members))].append(members)
    parts: list[list[_Core]] = [[] for _ in range(sides)]
    for similar in twins.values():
        whole = len(similar) - len(similar) % sides
        for number, members in enumerate(similar[:whole]):
            parts[number % sides] += members
        for members in similar[whole:]:
            kinds: dict[tuple[int, int], list[_Core]] = defaultdict(list)
            for core in members:
                kinds[kind(core)].append(core)
            for cores_of_kind in kinds.values():
                size = len(cores_of_kind) // sides
                for number in range(sides):
                    parts[number] += cores_of_kind[number * size : (number + 1) * size]
    return parts
