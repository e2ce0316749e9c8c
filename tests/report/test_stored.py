"""Reports say where data were, when a commit was safe, and what of a ratio was the disk's."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from burnish.report.fold import fold
from burnish.report.render.json import text
from burnish.report.result import Result
from burnish.report.sections import heading
from burnish.report.sections.remarks import lines
from burnish.report.values import runs as values
from pieces import CELL, Piece, pair
from reported import Events


def told(**contest: Any) -> list[str]:
    events = Events("baseline", "one").run().contest("one / w", "one / v", **contest)
    return [line for line in heading.lines(fold(events.made)) if "data " in line]


def test_the_design_says_where_data_are_and_when_a_commit_is_safe() -> None:
    assert told(storages={"w": "memory"}, durability={"w": "commit"}) == [
        "durability: flushed at each commit; data in memory: no disk in the figures (w)"
    ]
    assert told(storages={"w": "disk", "v": "disk"}, durability={"w": "second", "v": "commit"}) == [
        "durability: flushed once a second; data on the disk of Burnish's home (w)",
        "durability: flushed at each commit; data on the disk of Burnish's home (v)",
    ]
    assert told(storages={"w": "/mnt/nvme", "v": "/mnt/nvme"}) == ["data in /mnt/nvme (w, v)"]
    assert told() == [], "older records do not say"


def waiting(shares: dict[str, float | None]) -> Result:
    """Starts whose candidate has a tenth more throughput, with this share of the sides' time spent on waiting."""
    piece = Piece()
    piece.contest()
    for start in range(1, 5):
        body = pair(CELL, start, 1, 0.1)
        for label, share in shares.items():
            if share is not None:
                body["sides"][label]["device"] = share * body["sides"][label]["seconds"]
        piece.add("pair", **body)
        told: dict[str, Any] = {"capacity": 0.1, "throughput": 0.1, "pair_ratios": [[0.1, 0.1]]}
        piece.add("start_done", cell=CELL, workload="w", start=start, invalid=None, hardware={}, **told)
    return fold(piece.verdict().finish().made)


def test_a_ratio_without_the_time_of_the_disk_stands_beside_it() -> None:
    found = waiting({"baseline": 0.4, "one": 0.25})
    checks = found.rows[0].checks
    assert checks.device == pytest.approx({"baseline": 0.4, "one": 0.25})
    assert checks.without_device is not None
    assert checks.without_device.ratio == pytest.approx(math.exp(0.1) * 0.6 / 0.75)
    (line,) = [line for line in lines(found) if "disk" in line]
    assert line.startswith("one on w: waited for the disk (baseline 40 %, one 25 % of the time); throughput without")
    assert json.loads(text(values.run(found)))["rows"][0]["checks"]["device"] == {"baseline": 0.4, "one": 0.25}


@pytest.mark.parametrize("share", [0.01, None])
def test_where_nothing_waited_or_it_was_not_recorded_nothing_is_said(share: float | None) -> None:
    found = waiting({"baseline": share, "one": share})
    assert found.rows[0].checks.without_device is None
    assert not any("disk" in line for line in lines(found))
    assert bool(found.rows[0].checks.device) is (share is not None)
