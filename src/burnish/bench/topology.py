"""Core sets for a duet: two disjoint, symmetric sets of cores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from burnish.bench.host import HostFacts

_Core = tuple[int, ...]


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
    allowed = frozenset(facts.cores_allowed) & frozenset(facts.cores_online)
    cores = [usable for group in facts.physical_cores if (usable := tuple(c for c in group if c in allowed))]
    best: tuple[list[_Core], list[_Core]] = ([], [])
    for node in facts.numa_nodes:
        halves = _halves([core for core in cores if set(core) <= set(node)], facts)
        if len(halves[0]) > len(best[0]):
            best = halves
    if not best[0]:  # one core per node: then the two sides have to be on two nodes
        best = _halves(cores, facts)
    if not best[0]:
        return None
    left, right = (frozenset(cpu for core in side for cpu in core) for side in best)
    return left, right


def _halves(cores: Iterable[_Core], facts: HostFacts) -> tuple[list[_Core], list[_Core]]:
    """Physical cores split evenly: whole caches first, then halves of those without a counterpart."""
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
    for similar in twins.values():
        for first, second in zip(similar[0::2], similar[1::2], strict=False):
            left += first
            right += second
        if len(similar) % 2:
            kinds: dict[tuple[int, int], list[_Core]] = defaultdict(list)
            for core in similar[-1]:
                kinds[kind(core)].append(core)
            for cores_of_kind in kinds.values():
                half = len(cores_of_kind) // 2
                left += cores_of_kind[:half]
                right += cores_of_kind[half : 2 * half]
    return left, right
