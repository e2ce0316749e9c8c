"""Builds of one home used in another: nothing is made twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.paths import Home
from burnish.record.events.builds import GateRun, StageDone
from burnish.record.events.trials import StartBegun
from burnish.study.kept import sharing
from burnish.study.request.options import Options
from planned import plan
from studying import FAR, events, killed_at

pytest.importorskip("fsspec", reason="fsspec is not installed")


def test_a_second_host_builds_and_tests_nothing(
    tuned_home: Path, burnish_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far, own = tmp_path / "far", tmp_path / "own.toml"
    own.write_text(FAR)
    shared = sharing.shared_store(Home(tuned_home), str(far), None, print)
    assert shared is not None
    assert all(there for _, there in sharing.push(shared, []))
    burnish_home.mkdir()
    options = Options(recipes=own, variants=("baseline", "speed400"), artefacts=str(far))
    assert all(step.cached for step in plan(Home(burnish_home), "fake", options).building)
    assert not (burnish_home / "store/builds").exists(), "a plan fetches nothing"
    monkeypatch.setenv("BURNISH_ARTEFACTS", str(far))
    killed_at(StartBegun, ["tune", "fake", "--yes", "--recipes", own, "--variant", "baseline,speed400"])
    assert events(burnish_home, StageDone) == []
    assert [gate.cached for gate in events(burnish_home, GateRun)] == [True, True]
