from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from burnish.catalogue import load
from burnish.run.conditions import groups, loads_under
from burnish.run.holding import cell_for
from burnish.run.setting import Options
from burnish.study.conditions import condition_of
from burnish.study.model import Condition, Design

BUSY = load.workload(load.engine("mariadb"), "oltp_read_only")


@pytest.mark.parametrize(
    ("words", "saturated"),
    [
        ([[]], True),
        ([["transport=remote"]], True),
        ([["transport=tls"], ["transport=tls"]], True),
        ([["transport=remote,rate=100mbit"]], False),
        ([["transport=remote,delay=1ms"]] * 2, False),
        ([[], ["transport=tls"]], False),
    ],
)
def test_a_server_may_wait_for_a_slow_network_and_between_two_conditions(
    words: list[list[str]], saturated: bool
) -> None:
    pair = [condition_of(each) for each in words]
    (found,) = loads_under([BUSY], pair)
    assert found.saturated is saturated
    assert found.name == BUSY.name


def test_each_transport_brings_its_packages() -> None:
    assert groups(Options()) == []
    assert groups(Options(settings=("transport=remote",), versus=("transport=tls",))) == ["remote", "tls"]
    assert condition_of(["transport=remote"]) == Condition(transport="remote")


@pytest.mark.parametrize(
    ("options", "design", "headline"),
    [
        (Options(), "duet", "capacity"),
        (Options(versus=("transport=tls",)), "interleaved", "throughput"),
        (Options(versus=("transport=tls",), design="solo"), "solo", "throughput"),
    ],
)
def test_a_condition_is_measured_alone_under_load(options: Options, design: str, headline: str) -> None:
    setting: Any = SimpleNamespace(options=options, twin_cores=True)
    found = cell_for(setting, "candidate", BUSY)
    assert (found.design, found.headline) == (Design(design), headline)
