"""A search for response times at a rate, from start to end: measured, judged and reported by what was asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest
from typer.testing import CliRunner

from burnish.cli.common import app
from burnish.engines.contract import Tick
from burnish.engines.fake.engine import FakeSide
from burnish.model.cell import Role
from burnish.model.workload import Design, Placement
from burnish.record.events.searches import SearchEnded, SearchTold
from burnish.record.events.trials import StartDone
from burnish.record.events.verdicts import VerdictReached
from drawn import markdown
from spaces import rung, speed, written
from studying import events, summary

SPACE = (speed(fast=400), rung("fast", "Known to be the best.", speed="fast"))
LOAD = "fake_mix:rate=40"


@pytest.fixture
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Response times without waiting: the CPU time of a request, which nothing else on the host lengthens."""
    read = FakeSide.ticks
    before = WeakKeyDictionary[FakeSide, Tick]()

    def ticks(side: FakeSide) -> list[Tick]:
        return [timed(side, tick) for tick in read(side)]

    def timed(side: FakeSide, tick: Tick) -> Tick:
        last = before.setdefault(side, tick)
        if tick.done == last.done:
            return tick
        before[side] = tick
        return replace(
            tick, latency=dict.fromkeys(tick.latency, (tick.server_cpu - last.server_cpu) / (tick.done - last.done))
        )

    monkeypatch.setattr(FakeSide, "ticks", ticks)


@pytest.mark.measures
@pytest.mark.usefixtures("undisturbed")
def test_a_search_for_response_times_is_about_them_from_start_to_end(burnish_home: Path, tmp_path: Path) -> None:
    space = written(tmp_path / "space.toml", *SPACE)
    words = ["tune", "fake", "--space", str(space), "--strategy", "ladder", "--objective", "p99@40"]
    done = CliRunner().invoke(app, [*words, "--max-starts", "3", "--pairs", "2"])
    assert done.exit_code == 0, done.output
    told = events(burnish_home, SearchTold)
    assert [(step.stage, step.fresh, step.failed) for step in told] == [("ladder", False, ""), ("confirm", True, "")]
    taken = [start.readings["p99"] for start in events(burnish_home, StartDone) if start.cell.role is Role.CLAIM]
    assert told[0].readings == {LOAD: tuple(taken)}
    (ended,) = events(burnish_home, SearchEnded)
    assert ended.winner == "fast"
    (on,) = ended.loads
    assert on.load == LOAD
    assert on.ratio == pytest.approx(4.0, rel=0.4)
    verdicts = events(burnish_home, VerdictReached)
    assert [verdict.cell.role for verdict in verdicts] == [Role.CLAIM, Role.CONFIRMATION]
    for verdict in verdicts:
        assert (verdict.headline, verdict.design, verdict.placement) == ("p99", Design.SOLO, Placement.APART)
        assert verdict.ratios["p99"] is not None
        base = verdict.sides["baseline"]
        assert base is not None
        assert base.throughput < 200.0, "a baseline without a rate does some 460 a second"
    assert "shorter p99 latency" in done.output
    assert "per second" not in done.output, "at a rate every build has the same"
    result = summary(burnish_home)
    said = markdown(result)
    assert "for the best p99@40" in said
    assert "| variant | verdict | p99 latency | capacity | throughput |" in said
    assert "times shorter p99 latency than baseline on fake_mix:rate=40" in said
    for row in (*result.rows, *result.confirmations):
        assert row.sitting is not None
        assert row.sitting.intervals["p99"] is not None


@pytest.mark.measures
def test_starts_without_the_response_time_that_is_asked_for_are_none(
    burnish_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at so low a rate that no request ends in some turn."""
    read = FakeSide.ticks
    monkeypatch.setattr(FakeSide, "ticks", lambda side: [replace(tick, latency={}) for tick in read(side)])
    space = written(tmp_path / "space.toml", *SPACE)
    words = ["tune", "fake", "--space", str(space), "--strategy", "ladder", "--objective", "p99@40"]
    done = CliRunner().invoke(app, [*words, "--max-starts", "3", "--pairs", "1"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    starts = events(burnish_home, StartDone)
    why = "no p99 latency could be read: no request ended in one of its turns; a higher rate gives one"
    assert {start.invalid for start in starts} == {why}
    assert not any(start.readings for start in starts)
    (told,) = events(burnish_home, SearchTold)
    assert why in told.failed
    assert not told.readings
    (ended,) = events(burnish_home, SearchEnded)
    assert ended.winner is None
