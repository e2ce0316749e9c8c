"""A study on a disk that is full, with a build that has changed and a record that is cut off: a sample of
benchmarks/faults, whose table is docs/results/faults.md."""

from __future__ import annotations

import io
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest
from rich.console import Console

from burnish.base import paths, temporary
from burnish.base.errors import HostError
from burnish.engines.contract import GateReport
from burnish.record.events.builds import BuildMade, BuildsPlanned, GateRun, StageDone
from burnish.record.events.trials import StartDone
from burnish.record.record import FILE, Record
from burnish.record.store import Store
from burnish.study import needs, runner
from burnish.study.constructors.tune import tune_study
from burnish.study.request.options import Options
from studying import OWN, events, study, summary

KIB = 1024


@pytest.fixture
def small_disk(burnish_home: Path) -> Iterator[Path]:
    """The home on a file system of its own, with room for the first build and little more."""
    burnish_home.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={300 * KIB}", "burnish-test", burnish_home], check=False
    )
    if mounted.returncode:
        pytest.skip("this process may not mount")
    yield burnish_home
    subprocess.run(["umount", "-l", burnish_home], check=True)


@pytest.mark.measures
def test_a_full_disk_a_changed_build_and_a_cut_record_are_survived(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "check_disk", lambda *_: None)
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    options = Options(recipes=own, variants=("baseline", "speed130"), starts=2, pairs=1, design="duet", yes=True)
    said = io.StringIO()

    def run() -> None:
        runner.run(paths.home(), tune_study("fake", options), options, Console(file=said, width=200), None)

    with pytest.raises(HostError) as caught:
        run()
    name = study(small_disk).name
    assert "No space left on device" in str(caught.value) or "full" in str(caught.value)
    assert f" of {name}; once that is put right, the same command goes on" in caught.value.kept
    subprocess.run(["mount", "-o", f"remount,size={16 << 20}", small_disk], check=True)
    builds = sorted((small_disk / "store/builds").glob("*/bin/server"))
    assert builds, "it was not full before the first build"
    assert events(small_disk, BuildMade) or events(small_disk, StageDone)
    # A test result of a program that was made again since, and came out otherwise.
    (planned, *_) = events(small_disk, BuildsPlanned)
    key = next(step.key for step in planned.steps if step.kind == "gate" and "baseline" in step.variants)
    report = GateReport(passed=True, tests=7, skipped=0, failures=(), build_id="another", seconds=1.0)
    Store(small_disk / "store").begin("gates", key)
    Store(small_disk / "store").admit("gates", key, {"build": "", "report": asdict(report)})
    with builds[0].open("r+b") as file:
        file.seek(5000)
        file.write(b"!?")
    record = study(small_disk) / FILE
    record.write_bytes(record.read_bytes()[:-3000])
    said.truncate(0)
    run()
    words = " ".join(said.getvalue().split())
    assert f"{builds[0].parents[1]}: bin/server has changed since it was made; not used" in words
    assert f"{name}: its record is damaged; goes on after the " in words
    result = summary(small_disk)
    assert [(row.candidate, row.starts) for row in result.rows] == [("speed130", 2)]
    assert {(build.variant, build.failure) for build in result.builds} == {("baseline", None), ("speed130", None)}
    tested = [event for event in events(small_disk, GateRun) if event.build.variant == "baseline"]
    assert not tested[-1].cached
    starts = Counter((each.cell, each.start) for each in events(small_disk, StartDone))
    assert set(starts.values()) == {1}
    with closing(Record(study(small_disk))) as whole:
        whole.check()
    assert not list((small_disk / "scratch").rglob("*"))
    assert not list((small_disk / "store").rglob(".partial*"))
    assert not list(temporary.folder().iterdir())
