"""Core sets for duet: two sides on disjoint cores that are each other's mirror image."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from burnish.bench.host import HostFacts

_Core = tuple[int, ...]


def duet_core_sets(facts: HostFacts) -> tuple[frozenset[int], frozenset[int]] | None:
    """Two disjoint sets of CPU numbers of the same shape, one for each side of a duet.

    * SMT siblings stay on one side: two servers on one physical core would share its units.
    * Both sides are on one memory node, the one with most cores: the sides swap cores within a pair, and a
      server whose memory stays behind on another node would be measured with remote memory.
    * Within it, caches of the same size go one to each side; a cache without a twin is halved, so that
      both sides have the same share of it.
    * Cores of different speed or thread count are only ever paired with their like; an odd core rests.

    Returns:
        The two sets, of equal size; None where this process may use fewer than two physical cores alike.
    """
    allowed = frozenset(facts.cores_allowed) & frozenset(facts.cores_online)
    cores = [usable for group in facts.physical_cores if (usable := tuple(c for c in group if c in allowed))]
    best: tuple[list[_Core], list[_Core]] = ([], [])
    for node in facts.numa_nodes:
        halves = _halves([core for core in cores if set(core) <= set(node)], facts)
        if len(halves[0]) > len(best[0]):
            best = halves
    if not best[0]:  # one core a node: then the two sides can only be on two nodes
        best = _halves(cores, facts)
    if not best[0]:
        return None
    left, right = (frozenset(cpu for core in side for cpu in core) for side in best)
    return left, right


def _halves(cores: Iterable[_Core], facts: HostFacts) -> tuple[list[_Core], list[_Core]]:
    """Physical cores dealt out evenly: whole caches first, then the halves of what has no twin."""
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
    left: list[_Core] = []
    right: list[_Core] = []
    for alike in twins.values():
        for one, other in zip(alike[0::2], alike[1::2], strict=False):
            left += one
            right += other
        if len(alike) % 2:
            kinds: dict[tuple[int, int], list[_Core]] = defaultdict(list)
            for core in alike[-1]:
                kinds[kind(core)].append(core)
            for same in kinds.values():
                half = len(same) // 2
                left += same[:half]
                right += same[half : 2 * half]
    return left, right
