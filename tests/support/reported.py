"""Events of a study, made by hand, for the tests of reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.record.codec import decode
from burnish.record.events import Event, Recorded
from burnish.record.events.verdicts import Interval

HOST: dict[str, Any] = {
    "cpu_model": "A CPU",
    "cores_allowed": [0, 1],
    "memory_bytes": 24 << 30,
    "kernel": "6.1",
    "distribution": "Debian 12",
    "hypervisor": "kvm",
    "thp": "madvise",
}


WHOLE: dict[str, dict[str, Any]] = {
    "source": {"name": "fake", "version": "1", "digest": "d", "origin": "shipped"},
    "build": {"key": "k", "about": {}, "identity": {}, "stages": []},
    "gate": {"key": "k", "cached": False},
    "program": {"path": "/p", "key": "k"},
    "evidence": {"key": "k", "tried": {}},
    "changed": {"of": "baseline"},
    "start": {"start": 1},
    "start_done": {"workload": "w", "start": 1, "invalid": None, "settled": True, "seconds": 10.0, "fingerprint": "f"},
    "measured": {"value": 1.0, "base": 1.0, "unit": "MB", "note": ""},
    "profile_facts": {
        "name": "",
        "key": "p",
        "engine": "fake",
        "kind": "gcc",
        "made": "trained",
        "source": None,
        "build": None,
        "toolchain": None,
        "seed": 0,
        "second_round": 0,
        "size": 1,
    },
}
"""What an event of a kind has beside what a test is about."""


def event(number: int, at: str, kind: str, body: Mapping[str, Any]) -> Recorded[Event]:
    """An event by its kind and values in format 1, with all that it must have beside them."""
    return Recorded(number, at, decode(kind, {**WHOLE.get(kind, {}), **body}, 1, where=f"event {number}"))


def ratio(value: float, level: float = 0.95) -> dict[str, float]:
    """A ratio with an interval of ±1 %."""
    return {"ratio": value, "low": value * 0.99, "high": value * 1.01, "level": level}


def bounded(value: float, level: float = 0.95) -> Interval:
    """The same as a recorded value."""
    return Interval(**ratio(value, level))


def side(cpu: float, p95: float) -> dict[str, Any]:
    return {
        "throughput": 1000.0,
        "server_cpu_per_transaction": cpu,
        "kernel_share": 0.4,
        "latency": {"p95": p95},
        "client_cpu_per_transaction": 2e-5,
    }


def key(row: str, *, series: str = "", reading: str = "", load: str = "w", threads: Any = "", test: str = "") -> str:
    """The key of a comparison, on the load w."""
    words = [series, row, reading, load, str(threads or "")]
    return " / ".join([*words, test] if test else words)


def comparison(row: str, **more: Any) -> dict[str, Any]:
    """The body of one comparison of a bundled study, on the load w."""
    place = {name: more[name] for name in ("series", "reading", "load", "threads", "test") if name in more}
    return {
        "key": key(row, **place),
        "row": row,
        "series": "",
        "reading": "",
        "load": "w",
        "threads": None,
        "test": "",
        "workload": "w",
        "cell": f"baseline: {row} / w",
        "base": "baseline",
        "candidate": row,
        "quantity": "capacity",
        "control": False,
        "measure": None,
        "published": None,
        "published_words": "-",
        "reason": None,
        "final": False,
        **more,
    }


def verdict(
    cell: str, kind: str, value: Mapping[str, float] | None, *, reason: str = "", baseline: str = "baseline"
) -> dict[str, Any]:
    """The body of a verdict, as a contest records it."""
    candidate, _, workload = cell.rpartition(" / ")
    sides = {baseline: side(1e-4, 0.002), candidate: side(8e-5, 0.0015)}
    return {
        "cell": cell,
        "candidate": candidate,
        "workload": workload,
        "unit": "transaction",
        "verdict": kind,
        "reason": reason or f"{kind}: because",
        "capacity": value,
        "throughput": value,
        "starts": 6,
        "invalid_starts": 1,
        "design": "duet",
        "headline": "capacity",
        "role": "claim",
        "sensitivity": [],
        "invalid_pairs": 0,
        "unsettled": 0,
        "sides": sides if value else dict.fromkeys(sides),
    }


class Events:
    """The events of one study in their order."""

    def __init__(self, *variants: str, verb: str = "tune", **asked: Any) -> None:
        self.made: list[Recorded[Event]] = []
        definition = {"verb": verb, "engine": "fake", "variants": list(variants), "features": "full"} | asked
        self.add("study", name=f"fake-{verb}-1", definition=definition)

    def add(self, kind: str, /, **body: Any) -> Events:
        self.made.append(event(len(self.made) + 1, "2026-01-02T03:04:05Z", kind, body))
        return self

    def run(self, **host: Any) -> Events:
        return self.add("run", host=HOST | host, resumed=False)

    def contest(self, *cells: str, precision: float | None = 0.01, cap: int = 20, **more: Any) -> Events:
        loads = dict.fromkeys(cell.rpartition(" / ")[2] for cell in cells)
        return self.add(
            "contest",
            designs=dict.fromkeys(loads, "duet"),
            headlines=dict.fromkeys(loads, "capacity"),
            cells=list(cells),
            rule={"precision": precision, "cap": cap},
            timing={"pairs": 3, "window": 2.0, "settle": 1.0, "warmup": 3.0, "turns": 4},
            core_sets=[[0], [1]],
            **({"calibrations": [], "forced": []} | more),
        )
