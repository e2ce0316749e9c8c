"""What a pair is held against by what its workload says of itself."""

from __future__ import annotations

import pytest

from burnish.bench.watch import unlike_declared
from burnish.study.model import Workload


@pytest.mark.parametrize(
    ("cores", "says"),
    [(0.98, "got 62% of its cores, though they were busy for 98%"), (0.65, "the client is the bottleneck")],
)
def test_who_keeps_a_server_from_being_busy(cores: float, says: str) -> None:
    workload = Workload("w", "fake", "a load that fills its server", "p", saturated=True)
    assert says in (unlike_declared(workload, {}, {"baseline": 0.62}, {}, cores) or "")
    assert unlike_declared(workload, {}, {"baseline": 0.95}, {}, cores) is None
