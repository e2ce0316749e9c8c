"""The search for weights and the second by second, as pure functions; both analyses on the fake engine."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.base.paths import home
from burnish.catalogue.bundled.files import study as bundled_file
from burnish.engines.contract import Tick
from burnish.engines.fake.engine import trained_speed
from burnish.record.events.bundled import SearchStopped
from burnish.record.events.verdicts import Interval
from burnish.record.record import Record
from burnish.report.bundled.table import StudyTable
from burnish.study.constructors import bundled
from burnish.study.constructors.bundled import bundled_study
from burnish.study.extras import extras
from burnish.study.extras.timeline import by_second
from burnish.study.extras.weights import LEAST, equal_weights, is_robust, next_weights, worst
from burnish.study.planning.study_plan import plan_of
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name
from shipping import quick, shown

RATIOS = st.dictionaries(st.sampled_from("abcde"), st.floats(0.5, 2.0), min_size=2)


@given(RATIOS)
def test_weights_shift_towards_what_gained_least(ratios: dict[str, float]) -> None:
    before = equal_weights(tuple(ratios))
    after = next_weights(before, ratios)
    assert sum(after.values()) == pytest.approx(1.0, abs=0.005)
    assert min(after.values()) > LEAST / 2
    low, high = min(ratios, key=lambda k: ratios[k]), max(ratios, key=lambda k: ratios[k])
    assert after[low] >= after[high]


def test_repeated_rounds_find_weights_under_which_nothing_is_cold() -> None:
    """On the fake engine's truth, from weights that leave one kind of request cold."""
    weights = {"low": 0.98, "high": 0.01, "write": 0.01}
    for _ in range(8):
        ratios = {role: trained_speed(weight) / 100 for role, weight in weights.items()}
        if min(ratios.values()) >= 1:
            break
        weights = next_weights(weights, ratios)
    assert min(trained_speed(weight) for weight in weights.values()) > 100


def test_robust_is_proved_by_every_interval() -> None:
    good, near, bad = (Interval(value, value - 0.005, value + 0.005, 0.95) for value in (1.1, 0.999, 0.99))
    assert is_robust({"a": good, "b": near}, 0.01)
    assert not is_robust({"a": good, "b": bad}, 0.01)
    assert worst({"a": good, "b": bad}) == "b"


def test_seconds_from_ticks() -> None:
    ticks = [Tick(at=10 + n / 10, done=100.0 * n, errors=0, server_cpu=0.0, client_cpu=0.0, latency={"p95": 0.002})
             for n in range(41)]  # fmt: skip
    found = by_second(ticks, 11.0, 3)
    assert [round(each["rate"]) for each in found] == [1000, 1000, 1000]
    assert [each["second"] for each in found] == [1, 2, 3]
    assert {each["p95"] for each in found} == {0.002}
    assert len(by_second(ticks, 11.0, 20)) == 3, "a second that the load has not reached is left out"
    assert by_second([], 0.0, 3) == []


def test_a_search_without_loads_on_an_engine_is_left_out_of_the_plan() -> None:
    study = bundled_study("train-robust", "postgresql", Asked(), Options())
    why = "postgresql has no load for point_select, which the row is trained on"
    for budget in (None, 3600.0):
        plan = plan_of(home(), study, by_name(study, Asked()), Options(budget=budget))
        assert plan.lines == ["no cell left to measure", f"left out: search for weights of 3 loads: {why}"]


def test_a_search_without_loads_on_an_engine_compiles_nothing(
    monkeypatch: pytest.MonkeyPatch, burnish_home: Path
) -> None:
    own = bundled_file("train-robust")
    loads = {role: replace(entry, named={"mariadb": "oltp_point_select"}) for role, entry in own.loads.items()}
    monkeypatch.setattr(bundled, "bundled_file", lambda _: replace(own, loads=loads))
    _, folder = quick(monkeypatch)("train-robust")
    assert not list(burnish_home.glob("store/builds/*"))
    with closing(Record(folder)) as record:
        stopped = record.last(SearchStopped)
    assert stopped is not None
    assert stopped.event.why == "fake has no load for point_select, which the row is trained on"


def ratios(found: StudyTable) -> dict[tuple[str, str], float]:
    return {(line.row, line.load): line.interval.ratio for line in found.lines if line.interval}


@pytest.mark.measures
def test_train_robust_on_the_fake_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    found, folder = quick(monkeypatch)("train-robust")
    at = ratios(found)
    assert all(value > 1.05 for value in at.values()), "each is trained on its own load"
    rounds = found.extra.get("robust", ())
    assert rounds, found.extra.get("robust_left") or shown(folder)
    assert set(rounds[0]["weights"]) == {"point_select", "read_write", "analytical"}
    assert all(each["ratio"] > 1.0 for each in rounds[-1]["intervals"].values())
    said = " ".join(shown(folder).split())
    assert "Search for weights" in said
    assert said.count("the mix compared with that") == 3


@pytest.mark.measures
def test_pgo_on_the_fake_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """In two sittings: in the first there is time for the rows only."""
    run = quick(monkeypatch)
    rows = ("instrumented", "pgo", "trained-on-point-select")
    with monkeypatch.context() as short:
        short.setattr(extras.Allowance, "why_not", lambda *_: "cut by --budget: no time for it")
        found, begun = run("pgo", *rows)
    assert {each["name"] for each in found.extra["extras"][-1]["left"]} == {"timeline", "profiles"}
    assert "timeline" not in found.extra
    said = " ".join(shown(begun).split())
    assert "Left out beyond the table throughput by the second of 3 builds: cut by --budget: no time for it" in said
    found, folder = run("pgo", *rows)
    assert folder == begun
    assert found.extra["extras"][-1]["left"] == []
    at = {(line.row, line.load): line for line in found.lines if line.series == "gcc"}
    assert at["pgo", "point_select"].published == "+43.6"
    assert at["instrumented", "point_select"].verdict
    values = ratios(found)
    assert values["pgo", "point_select"] > 1.1
    assert values["trained-on-point-select", "point_select"] > 1.1
    assert values["trained-on-point-select", "analytical"] < values["trained-on-point-select", "point_select"]
    assert "no load" in at["trained-on-point-select", "checksum"].reason
    assert {event["row"] for event in found.extra["timeline"]} == {"original", "instrumented", "pgo"}
    assert all(event["seconds"] for event in found.extra["timeline"])
    assert any("fake_work" in name for each in found.extra["profile_facts"] for name, _ in each["hottest"])
    said = shown(folder)
    assert "trained on (rows), tested on (columns)" in said
    assert "Throughput by the second, fake_low:threads=16" in said
    assert "Left out beyond the table" not in said
    assert max(map(len, said.splitlines())) <= 80
