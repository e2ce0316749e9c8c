"""Records of studies that were run in pieces, made by hand with the readings that a test wants."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from burnish.record import exchange, lines
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.trials import StartBegun
from burnish.statistics.sequential import Rule
from reported import HOST, event

CELL = "one / w"
RULE = Rule(cap=12)


E = TypeVar("E", bound=Event)


def of(events: Iterable[Recorded[Event]], kind: type[E]) -> list[E]:
    """The events of a type."""
    return ByType(events).of(kind)


def packed(events: Iterable[Recorded[Event]]) -> bytes:
    """Events as a page holds them."""
    return lines.pack(map(exchange.line_of, events), lines.USUAL, lines.QUICK)


def host(name: str) -> dict[str, Any]:
    """Facts of a host of that name."""
    return {**HOST, "cpu_model": f"CPU of {name}", "cores_online": [0, 1], "machine": name}


def definition(**other: Any) -> dict[str, Any]:
    asked = {
        "verb": "tune",
        "engine": "fake",
        "variants": ["baseline", "one"],
        "workloads": ["w"],
        "features": "full",
        "source": "shipped",
        "precision": None,
        "max_starts": 12,
        "explore": False,
        "seed": 1,
        "recipes": {"baseline": {"level": None}, "one": {"level": "-O3"}},
    }
    return asked | other


def contest(**other: Any) -> dict[str, Any]:
    found = {
        "designs": {"w": "duet"},
        "headlines": {"w": "capacity"},
        "cells": [CELL],
        "rule": asdict(RULE),
        "timings": {"duet": {"pairs": 3, "turns": 4, "settle": 0.1, "window": 0.4, "warmup": 1.0}},
        "condition": {"threads": None, "settings": []},
        "core_sets": [[0], [1]],
        "calibrations": [],
        "forced": [],
        "replicates": {},
    }
    return found | other


def side(rate: float, cpu: float) -> dict[str, Any]:
    return {
        "seconds": 1.0,
        "done": rate,
        "errors": 0,
        "server_cpu": rate * cpu,
        "client_cpu": 0.1,
        "latency": {"p95": 0.002},
        "cores": [0, 1],
    }


def pair(cell: str, start: int, number: int, ratio: float) -> dict[str, Any]:
    """A pair's body; `ratio` is a log-ratio."""
    labels = ("baseline", cell.rpartition(": ")[2].partition(" / ")[0])
    used = {"user": 0.7, "system": 0.3, "waits": 5, "preemptions": 6, "minor_faults": 7, "major_faults": 0}
    return {
        "cell": cell,
        "start": start,
        "pair": number,
        "sides": {labels[0]: side(1000.0, 1e-3), labels[1]: side(1000.0 * math.exp(ratio), 1e-3 / math.exp(ratio))},
        "turns": {label: [[0.5, 500.0, 0.5, 0.05]] * 2 for label in labels},
        "places": 2,
        "usage": {label: {**used, "rss_bytes": 1 << 20} for label in labels},
        "busy": dict.fromkeys(labels, 0.99),
        "steal": 0.0,
        "core_busy": {"0": 1.0, "1": 1.0},
        "invalid": None,
    }


class Piece:
    """The events of one study in their order, a minute each."""

    def __init__(self, study: str = "fake-tune-1", on: str = "here", day: int = 1, **asked: Any) -> None:
        self.made: list[Recorded[Event]] = []
        self.day = day
        self.add("study", name=study, digest="d", burnish="0.1.0", definition=definition(**asked))
        self.add("run", host=host(on), resumed=False)
        self.add("source", origin="shipped", digest="abc", note="")
        for variant in ("baseline", "one"):
            about = {"toolchain": "gcc-12", "toolchain_version": "gcc 12.2", "seconds": 3.0 + day, "server_bytes": 999}
            self.add("command", what="compile", argv=["gcc"], seconds=1.0, log=f"{variant}.log")
            self.add("build", variant=variant, key=f"{variant}-key", about=about, identity={}, stages=[])
            self.add("gate", variant=variant, report={"passed": True, "tests": 3, "skipped": 0, "failures": []})
            self.add("variant", variant=variant, failure=None, same=False, notes=[], weakens_security=False)

    def add(self, kind: str, /, **body: Any) -> Piece:
        at = f"2026-01-{self.day:02d}T{len(self.made) // 60:02d}:{len(self.made) % 60:02d}:00Z"
        self.made.append(event(len(self.made) + 1, at, kind, json.loads(json.dumps(body))))
        return self

    def contest(self, **other: Any) -> Piece:
        return self.add("contest", **contest(**other))

    def starts(
        self, readings: Sequence[float], cell: str = CELL, *, invalid: str | None = None, disturbed: bool | None = None
    ) -> Piece:
        """Finished starts with these log-ratios."""
        for reading in readings:
            number = sum(isinstance(e.event, StartBegun) and e.event.cell.name == cell for e in self.made) + 1
            self.add("start", cell=cell, start=number, design="duet", copy_seconds=0.1, seed=f"1/{cell}")
            if invalid is None:
                self.add("pair", **pair(cell, number, 1, reading))
            values = {"capacity": reading, "throughput": reading / 2, "pair_ratios": [[reading, reading / 2]]}
            launched = {"baseline": [{"argv": ["server", f"--{number}"], "peak_rss_bytes": number, "role": "server"}]}
            self.add(
                "start_done",
                cell=cell,
                workload=cell.rpartition(" / ")[2],
                start=number,
                invalid=invalid,
                disturbed=disturbed,
                fingerprint="f",
                hardware={},
                launched=launched,
                seconds=10.0,
                settled=True,
                **(values if invalid is None else {}),
            )
        return self

    def verdict(self, kind: str = "faster", cell: str = CELL, **other: Any) -> Piece:
        candidate, _, workload = cell.rpartition(": ")[2].rpartition(" / ")
        body: Mapping[str, Any] = {
            "role": "claim",
            "candidate": candidate,
            "workload": workload,
            "design": "duet",
            "headline": "capacity",
            "unit": "transaction",
            "per_minute": False,
            "verdict": kind,
            "reason": f"{kind}: because",
            "capacity": {"ratio": 1.1, "low": 1.09, "high": 1.11, "level": 0.95},
            "throughput": None,
            "starts": 3,
            "invalid_starts": 0,
            "invalid_pairs": 0,
            "unsettled": 0,
            "sensitivity": [],
            "sides": {},
        }
        return self.add("verdict", cell=cell, **(dict(body) | other))

    def finish(self) -> Piece:
        return self.add("finished")


def whole(study: str, on: str, day: int, readings: Sequence[float], **asked: Any) -> Piece:
    """A finished study of one cell."""
    return Piece(study, on, day, **asked).contest().starts(readings).verdict().finish()
