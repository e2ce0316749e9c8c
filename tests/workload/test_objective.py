"""What a search is for, in a user's words."""

from __future__ import annotations

import pytest

from burnish.base.errors import UserError
from burnish.workload.objective import Aim, aim_of


def test_quantities_and_rates() -> None:
    assert aim_of(None) == Aim()
    assert aim_of("throughput") == Aim("throughput")
    assert aim_of("capacity@250") == Aim("capacity", "250")
    assert aim_of("p99@400") == Aim("p99", "400")


def test_a_rate_is_a_parameter_of_each_load() -> None:
    aim = Aim("p95", "400")
    assert aim.load("oltp_insert") == "oltp_insert:rate=400"
    assert aim.load("oltp_insert:tables=4") == "oltp_insert:tables=4,rate=400"
    assert Aim("capacity").load("oltp_insert") == "oltp_insert"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("speed", r"--objective speed: there is no such quantity; give capacity, throughput, or .*p99@RATE"),
        ("rss", r"there is no such quantity"),
        ("throughput@400", r"at a fixed rate every build has the same throughput"),
        ("p95", r"a full server's response time only says how many wait for it"),
        ("p95@0", r"'0' is no rate; .* as in p95@400"),
        ("p95@many", r"'many' is no rate"),
    ],
)
def test_requests_that_are_wrong(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        aim_of(text)
