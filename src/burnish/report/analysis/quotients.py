"""How candidates of a run compare with one another, by load; pure."""

from __future__ import annotations

from itertools import permutations

from burnish.model.cell import Role
from burnish.record.events.verdicts import Interval, VerdictReached
from burnish.statistics.verdicts import Kind
from burnish.study.trials.repeated import Repeated


def quotients(told: Repeated) -> dict[str, dict[str, dict[str, Interval]]]:
    """By candidate, by other candidate, by load: how many times the first is the second.

    Of claims that are faster than their baseline, which is what is recommended; only where both were measured in the
    same sittings.
    """
    kinds = told.kinds
    faster = [
        verdict.cell
        for verdict in told.by.of(VerdictReached)
        if verdict.cell.role is Role.CLAIM and kinds.get(verdict.cell, verdict.verdict) == Kind.FASTER
    ]
    result: dict[str, dict[str, dict[str, Interval]]] = {}
    for one, other in permutations(dict.fromkeys(faster), 2):
        if one.workload == other.workload and (found := told.quotient(one, other)) is not None:
            result.setdefault(one.label, {}).setdefault(other.label, {})[one.workload] = found
    return result
