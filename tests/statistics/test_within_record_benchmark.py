"""`benchmarks/sittings.py --of`: one record's sittings at their mean cost, by the slope of all other records."""

from __future__ import annotations

import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmark_scripts import benchmark_script
from burnish.model.sittings import Moment, SpreadKind

SLOPE = 0.2
"""Of log-ratio for each unit of log cost, planted."""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return benchmark_script("sittings")


def comparison(script: ModuleType, name: str, seed: int, *, follows: bool = True) -> Any:
    """Six sittings, whose costs differ by 10 %, and whose ratios go with them, or move by themselves."""
    chance = random.Random(seed)

    def sitting() -> Any:
        common, own = chance.gauss(0, 0.1), chance.gauss(0, 0.02)
        starts = []
        for _ in range(8):
            cost = common + chance.gauss(0, 0.1)
            reading = 0.3 + (SLOPE * cost if follows else own) + chance.gauss(0, 0.002)
            starts.append(script.Start(Moment(0.0, 1.0, ""), reading, 1.0, True, SpreadKind.PROFILED, cost))
        return script.Sitting(starts)

    key = ("base", name, "load")
    return script.Comparison(name, key, True, SpreadKind.PROFILED, [sitting() for _ in range(6)])


def said(script: ModuleType, every: list[Any], capsys: pytest.CaptureFixture[str]) -> str:
    script.print_record(every, Path("own.jsonl.xz"), "capacity")
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("follows", [True, False])
def test_what_goes_with_the_cost_is_taken_out_and_nothing_else(
    script: ModuleType, follows: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = comparison(script, "own", 1, follows=follows)
    others = [comparison(script, name, seed) for seed, name in enumerate(("one", "two"), 2)]
    monkeypatch.setattr(script, "starts_of", lambda *_: {own.key: None})
    found = said(script, [own, *others], capsys)
    assert found.startswith("own.jsonl.xz: 1 comparison with a profile in 6 sittings differ by ")
    before, after = (float(part.split()[0]) for part in found.split(" by ")[1:3])
    assert before > 1.0
    assert (after < 0.4) if follows else (after > 1.0)
    assert float(found.rpartition("starts, ")[2].split()[0]) == pytest.approx(SLOPE, abs=0.01)


def test_a_record_by_itself_has_no_slope_of_others(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = comparison(script, "own", 1)
    monkeypatch.setattr(script, "starts_of", lambda *_: {own.key: None})
    assert "none of its comparisons" in said(script, [own], capsys)
