"""What a pair is compared with by what its workload says of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.bench.readings import Reading
from burnish.bench.watch import Flaw, unlike_declared
from burnish.model.workload import Workload


def why(flaw: Flaw | None) -> str:
    return flaw.why if flaw else ""


@pytest.mark.parametrize(
    ("cores", "says"),
    [(0.98, "got 62% of its cores, though they were busy for 98%"), (0.65, "the client is the bottleneck")],
)
def test_who_keeps_a_server_from_being_busy(cores: float, says: str) -> None:
    workload = Workload("w", "fake", "a load that fills its server", "p", saturated=True, threads=4)
    sides = {"baseline": Reading(2.0, 10, 0, 1.0, 0.1, cores=(3,))}
    assert says in why(unlike_declared(workload, sides, {"baseline": 0.62}, {}, cores, 1))
    assert unlike_declared(workload, sides, {"baseline": 0.95}, {}, cores, 1) is None


def test_too_few_clients_for_the_cores_make_no_pair_invalid() -> None:
    """Four clients can't fill sixteen cores: a host that large is not to blame, and the load is named beforehand."""
    workload = Workload("w", "fake", "a load that fills its server", "p", saturated=True, threads=4)
    sides = {"baseline": Reading(2.0, 10, 0, 1.0, 0.1, cores=tuple(range(16)))}
    assert unlike_declared(workload, sides, {"baseline": 0.25}, {}, 0.3, 16) is None
    full = replace(workload, threads=64)
    assert "the client is the bottleneck" in why(unlike_declared(full, sides, {"baseline": 0.25}, {}, 0.3, 16))


def test_a_side_that_finished_no_transaction_has_no_figures() -> None:
    """It may have answered statements, which are what its ratio would be made of."""
    workload = Workload("w", "fake", "long transactions", "p")
    busy = Reading(2.0, 0, 0, 1.0, 0.1, steps=4000)
    sides = {"baseline": replace(busy, done=3), "other": busy}
    flaw = unlike_declared(workload, sides, {}, {}, 1.0, 1)
    assert why(flaw).startswith("other finished no transaction; take fewer")
    assert flaw is not None
    assert flaw.sides == ("other",)
    assert unlike_declared(workload, {**sides, "other": replace(busy, done=1)}, {}, {}, 1.0, 1) is None


def test_the_sides_that_make_a_pair_invalid_are_told() -> None:
    """Excluded pairs are counted by side: a build that spoils its pairs is measured by the others."""
    workload = Workload("w", "fake", "data in memory", "p", saturated=True, in_memory=True, threads=4)
    sides = {name: Reading(2.0, 10, 0, 1.0, 0.1, cores=(3,)) for name in ("baseline", "other")}
    both = unlike_declared(workload, sides, {"baseline": 0.62, "other": 0.7}, {}, 0.98, 1)
    one = unlike_declared(workload, sides, {"baseline": 0.95, "other": 0.7}, {}, 0.98, 1)
    cold = unlike_declared(workload, sides, {"baseline": 0.95, "other": 0.95}, {"baseline": 0, "other": 9}, 0.98, 1)
    assert [flaw.sides for flaw in (both, one, cold) if flaw] == [("baseline", "other"), ("other",), ("other",)]
