"""The codec: values as declared, in words where they are not; what a newer Burnish wrote."""

from __future__ import annotations

import math
from typing import Any

import pytest

from burnish.base.errors import UserError
from burnish.model.cell import CellId
from burnish.model.workload import Timing, Workload
from burnish.record import codec
from burnish.record.events import Unknown
from burnish.record.events.study import SessionBegun
from burnish.record.events.trials import StartDone, StoppingRule, TrialsPlanned
from burnish.record.events.verdicts import Interval, VerdictReached

PART = Workload("part", "fake", "why", "sum", (("rows", "3"),))
MIX = Workload("mix", "fake", "why", "sum", parts=((PART, 2), (PART, 1)), mixing="in_turn")
PLANNED = TrialsPlanned(
    (CellId("one", "mix", given=("x=1",)),),
    StoppingRule(cap=12, looks=(3, 12)),
    ((0,), (1, 2)),
    timings={"duet": Timing(0.1, 0.4, 1.0)},
    workloads={"mix": MIX},
)


def test_values_within_values_come_back() -> None:
    kind, body = codec.encode(PLANNED)
    assert body["workloads"]["mix"]["parts"][0][0]["name"] == "part"
    assert "condition" not in body, "what is None by default is left out"
    assert codec.decode(kind, body) == PLANNED


def verdict(**values: Any) -> dict[str, Any]:
    event = VerdictReached(CellId("one", "w"), "duet", "capacity", "unit", "faster", "so", {"capacity": None}, 3)
    return codec.encode(event)[1] | values


def test_a_figure_that_is_not_finite_is_null() -> None:
    event = VerdictReached(
        CellId("one", "w"), "duet", "capacity", "unit", "open", "", {"p95": Interval(math.nan, 0, math.inf, 0.9)}, 1
    )
    kind, body = codec.encode(event)
    assert body["ratios"]["p95"] == {"ratio": None, "low": 0, "high": None, "level": 0.9}
    result = codec.decode(kind, body)
    assert isinstance(result, VerdictReached)
    assert math.isnan(result.ratios["p95"].high)  # type: ignore[union-attr]
    assert codec.encode(result) == (kind, body)


@pytest.mark.parametrize(
    ("kind", "values", "says"),
    [
        ("verdict_reached", verdict(p99=1), "verdict_reached, p99: is not known to this Burnish; "),
        ("verdict_reached", verdict(starts="3"), "verdict_reached, starts: is '3', not a whole number; "),
        ("verdict_reached", verdict(starts=True), "verdict_reached, starts: is True, not a whole number; "),
        ("verdict_reached", verdict(kept=1), "verdict_reached, kept: is 1, not true or false; "),
        ("verdict_reached", verdict(reason=None), "verdict_reached, reason: is None, not text; "),
        ("verdict_reached", verdict(hosts={}), "verdict_reached, hosts: is {}, not a list; "),
        ("verdict_reached", verdict(ratios=[]), "verdict_reached, ratios: is [], not values by name; "),
        ("verdict_reached", verdict(cell="one / w"), "verdict_reached, cell: is 'one / w', not values by name; "),
        (
            "verdict_reached",
            verdict(cell={"candidate": "one", "workload": "w", "role": "king"}),
            "verdict_reached, cell.role: is 'king', not one of claim, canary, confirmation, layouts, deployment; ",
        ),
        (
            "verdict_reached",
            verdict(ratios={"capacity": {"ratio": 1.0, "low": "x", "high": 1, "level": 1}}),
            "verdict_reached, ratios.capacity.low: is 'x', not a number; ",
        ),
        ("session_begun", {}, "session_begun, host: is missing; "),
        ("program_found", {"build": {"variant": "a"}, "path": "p", "key": "k", "identity": {"features": [["a"]]}}, ""),
        ("pair", {"cell": 7}, "pair: not as Burnish wrote it in format 1 (AttributeError: "),
    ],
)
def test_what_is_not_as_declared_is_named_in_one_line(kind: str, values: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError) as caught:
        codec.decode(kind, values, 1 if kind == "pair" else codec.FORMAT, where="some.jsonl: event 7")
    assert str(caught.value).startswith(f"some.jsonl: event 7: {says}")
    assert "\n" not in str(caught.value)


def test_a_kind_that_is_yet_to_come_is_carried() -> None:
    event = codec.decode("energy_read", {"joules": 3})
    assert event == Unknown("energy_read", {"joules": 3})
    assert codec.encode(event) == ("energy_read", {"joules": 3})


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(UserError, match=r"^event 3: an event in format 3; this Burnish reads formats 1 to 2: "):
        codec.decode("session_begun", {"host": {}}, 3, where="event 3")
    assert codec.decode("run", {"host": {}, "resumed": True}, 1) == SessionBegun({}, resumed=True)


def test_plain_values_become_declared_ones() -> None:
    done = codec.value_of(StartDone, codec.encode(StartDone(CellId("a", "w"), 1, None, True, 2.0, "f"))[1])
    assert done.cell == CellId("a", "w")
    with pytest.raises(ValueError, match=r"^Interval.low: is missing$"):
        codec.value_of(Interval, {"ratio": 1.0, "high": 1.0, "level": 0.9})


def test_what_json_has_no_value_for_is_refused() -> None:
    with pytest.raises(TypeError, match="object can't be recorded"):
        codec.plain(SessionBegun({"host": object()}))


@pytest.mark.parametrize(
    ("verdict", "reason", "within"),
    [
        ("faster", "faster, and within ±1 %: the whole interval lies above 1 after 6 starts", 0.01),
        ("slower", "slower, and within ±0.5 % on hosts like these: the whole interval lies below 1", 0.005),
        ("faster", "faster: the whole interval lies above 1 after 6 starts", None),
        ("equivalent", "equivalent: the whole 90 % interval lies within ±1 % after 6 starts", None),
    ],
)
def test_a_verdict_from_before_it_said_how_small_the_difference_is(
    verdict: str, reason: str, within: float | None
) -> None:
    """Of either format: the sentence has it."""
    ratio = {"ratio": 1.005, "low": 1.001, "high": 1.009, "level": 0.95}
    shared = {"unit": "transaction", "verdict": verdict, "reason": reason, "starts": 6}
    second = {"cell": {"candidate": "one", "workload": "w"}, "design": "duet", "headline": "capacity"}
    events = (
        codec.decode("verdict", {"cell": "one / w", "capacity": ratio, "throughput": ratio, **shared}, 1),
        codec.decode("verdict_reached", {**second, "ratios": {"capacity": ratio}, **shared}, 2),
    )
    for event in events:
        assert isinstance(event, VerdictReached)
        assert event.within == within
        kind, values = codec.encode(event)
        assert codec.decode(kind, values) == event


def test_a_verdict_that_says_how_small_is_taken_at_its_word() -> None:
    body = {"cell": {"candidate": "one", "workload": "w"}, "design": "duet", "headline": "capacity", "ratios": {}}
    body |= {"unit": "transaction", "verdict": "faster", "reason": "faster, and within ±1 %", "starts": 6}
    event = codec.decode("verdict_reached", body | {"within": 0.012})
    assert isinstance(event, VerdictReached)
    assert event.within == 0.012
