from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.model.condition import Condition
from burnish.model.workload import Design
from burnish.record.events import Event
from burnish.record.events.builds import TuningExamined
from burnish.study.comparison import Comparison
from burnish.study.request import conditions
from burnish.study.request.conditions import examine, groups, loads_under
from burnish.study.request.options import Options
from burnish.study.workshop.workshop import Workshop
from burnish.workload.conditions import condition_of
from conftest import FakeBench

SPEC = load.engine("mariadb")
BUSY = load.workload(SPEC, "oltp_read_only")


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
    assert groups(SPEC, Options()) == []
    assert groups(SPEC, Options(settings=("transport=remote",), versus=("transport=tls",))) == ["remote", "tls"]
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
    session: Any = SimpleNamespace(options=options, twin_cores=True, workloads=[BUSY])
    nothing: Any = None
    comparison = Comparison(
        "row", "", "", BUSY.name, None, "baseline", "candidate", versus=options.versus, workload=BUSY, quantity=None,
        design=Design(options.design) if options.design else None,
    )  # fmt: skip
    found = Workshop(session, nothing, nothing).cell(comparison)
    assert (found.design, found.headline) == (Design(design), headline)


@pytest.mark.parametrize(("cores", "found"), [(1, []), (16, ["oltp_read_only has 8 client threads for a side of 16"])])
def test_what_is_left_undone_is_noted_and_under_strict_refused(cores: int, found: list[str], tmp_path: Path) -> None:
    """What the server's settings leave undone, and what the load does on this host's cores."""
    notes: list[Event] = []
    setting: Any = SimpleNamespace(
        workloads=[BUSY],
        engine=SimpleNamespace(examine=lambda *_: ["general_log is on"]),
        core_sets=(frozenset(range(cores)), frozenset(range(cores, 2 * cores))),
        scratch=tmp_path,
        bench=FakeBench(tmp_path),
        record=SimpleNamespace(append=notes.append),
        options=Options(),
        server_cores=lambda _: cores,
    )
    built: Any = None
    examine(setting, [(built, Condition())], {})
    (noted,) = notes
    assert isinstance(noted, TuningExamined)
    assert [line.partition(" cores,")[0] for line in noted.found] == ["general_log is on", *found]
    setting.options = Options(strict=True)
    with pytest.raises(UserError, match=f"--strict: {1 + len(found)} settings? to fix .*general_log is on"):
        examine(setting, [(built, Condition())], {})


def test_an_allocator_is_installed_with_the_rest_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"jemalloc"}
    monkeypatch.setattr(conditions, "installed_allocator", lambda name: name in there)
    assert "allocators" not in groups(SPEC, Options(settings=("allocator=jemalloc",)))
    assert "allocators" not in groups(SPEC, Options(settings=("allocator=libc",)))
    assert "allocators" in groups(SPEC, Options(settings=("allocator=tcmalloc",)))
    assert "allocators" in groups(SPEC, Options(versus=("allocator=mimalloc",)))
