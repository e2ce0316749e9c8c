"""The fake engine tells the truth about its speed, and every fault that can be planted in it is seen."""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import SimpleNamespace

import pytest

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError
from burnish.catalogue import load
from burnish.engines.contract import MARKER, BuildJob, Side, SideSpec, Tick
from burnish.engines.fake import engine as fake
from burnish.engines.fake import gate
from burnish.engines.fake.engine import FakeEngine
from burnish.model.condition import Condition
from burnish.model.recipe import Flags
from burnish.program.built import Built
from burnish.toolchain.toolchains import Toolchain
from conftest import FAKE_SOURCE, BuildFake, FakeBench

CORES = frozenset(os.sched_getaffinity(0))
ALIKE = frozenset({min(CORES)})


class Starter:
    """Makes sides with data and folders of their own, and stops them all."""

    def __init__(self, engine: FakeEngine, place: Path, bench: FakeBench) -> None:
        self.engine, self.place, self.bench = engine, place, bench
        self.sides: list[Side] = []

    def __call__(
        self,
        built: Built,
        *,
        workload: str = "fake_mix",
        cores: frozenset[int] = CORES,
        environment: tuple[tuple[str, str], ...] = (),
        settings: tuple[tuple[str, str], ...] = (),
        **parameters: str,
    ) -> Side:
        load_ = load.workload(self.engine.spec, workload)
        load_ = replace(load_, parameters=tuple((dict(load_.parameters) | parameters).items()))
        folder, data = (self.place / f"{kind}{len(self.sides)}" for kind in ("side", "data"))
        folder.mkdir()
        data.mkdir()
        self.engine.create_dataset(built, built, load_, data, self.bench)
        spec = SideSpec(
            label=f"side {len(self.sides)}",
            built=built,
            condition=Condition(settings=settings),
            workload=load_,
            data=data,
            folder=folder,
            seed=7,
            cores=cores,
            environment=environment,
        )
        side = self.engine.side(spec)
        self.sides.append(side)
        return side


@pytest.fixture
def start(fake_engine: FakeEngine, tmp_path: Path, bench: FakeBench) -> Iterator[Starter]:
    starter = Starter(fake_engine, tmp_path, bench)
    yield starter
    for side in starter.sides:
        side.stop()


def ticks_of(side: Side, count: int, answers: int = 0) -> list[Tick]:
    """Its first ticks: at least so many, and until so many requests were answered, however long that takes here."""
    found: list[Tick] = []
    deadline = time.monotonic() + 60
    while (len(found) < count or found[-1].done < answers) and time.monotonic() < deadline and side.trouble() is None:
        found += side.ticks()
        time.sleep(0.01)
    return found


def trouble_of(side: Side) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (found := side.trouble()) is not None:
            return found
        time.sleep(0.02)
    return ""


def job_for(toolchain: Toolchain, place: Path, bench: FakeBench, **changes: object) -> BuildJob:
    place.mkdir()
    job = BuildJob(
        source=FAKE_SOURCE,
        place=place,
        toolchain=toolchain,
        flags=Flags(c=("-O2",), cxx=(), link=()),
        features=load.engine("fake").features["full"],
        options=(),
        hardening=True,
        with_tools=True,
        relocations=False,
        jobs=1,
        bench=bench,
    )
    return replace(job, **changes)  # type: ignore[arg-type]


MOST_ROUNDS = 30


def costs(*sides: Side) -> list[float]:
    """Server CPU seconds of a request of each side: of a few hundred more, all sides at once."""
    begun = [ticks_of(side, 1)[-1] for side in sides]
    ended = [ticks_of(side, 1, int(first.done) + 250)[-1] for side, first in zip(sides, begun, strict=True)]
    return [
        (last.server_cpu - first.server_cpu) / (last.done - first.done)
        for first, last in zip(begun, ended, strict=True)
    ]


def cost_ratio(one: Side, other: Side, truth: float, tolerance: float) -> float:
    """How many times as much a request costs on one side as on the other: the median of some rounds.

    There are more of them until it is within the relative tolerance of the truth, or they are enough to say that it is
    not: what else a machine does is not the same on both sides in a single one. Both are on one core (`ALIKE`), where
    whatever slows it down meets them by turns of milliseconds.
    """
    for side in (one, other):
        side.boot()
        side.load()
    found: list[float] = []
    while len(found) < MOST_ROUNDS:
        first, second = costs(one, other)
        found.append(first / second)
        if math.isclose(median(found), truth, rel_tol=tolerance):
            break
    for side in (one, other):
        side.stop()
    return median(found)


def test_the_true_ratio_is_what_the_flag_says(start: Starter, build_fake: BuildFake) -> None:
    sides = (start(build_fake(*flags), cores=ALIKE) for flags in ((), ("-DFAKE_SPEED=130",)))
    ratio = cost_ratio(*sides, truth=1.30, tolerance=0.05)
    assert math.isclose(ratio, 1.30, rel_tol=0.05)


def test_speed_is_the_same_at_every_level_and_compiler(start: Starter, build_fake: BuildFake, clang: Toolchain) -> None:
    for other in (build_fake("-O0"), build_fake("-O3", toolchain=clang)):
        sides = (start(built, cores=ALIKE) for built in (build_fake(), other))
        assert math.isclose(cost_ratio(*sides, truth=1.0, tolerance=0.05), 1.0, rel_tol=0.05)


def test_the_condition_changes_the_work(start: Starter, build_fake: BuildFake) -> None:
    heavy, usual = (
        start(build_fake(), cores=ALIKE, settings=(("work_percent", percent),)) for percent in ("300", "100")
    )
    assert math.isclose(cost_ratio(heavy, usual, 3.0, 0.1), 3.0, rel_tol=0.1)


def test_ticks_are_cumulative_and_have_latencies(start: Starter, build_fake: BuildFake) -> None:
    side = start(build_fake())
    side.boot()
    assert side.ticks() == []
    before = time.monotonic()
    side.load()
    found = ticks_of(side, 6, 40)
    deadline = time.monotonic() + 60
    while not any(tick.latency["max"] for tick in found) and time.monotonic() < deadline:
        found += ticks_of(side, 1)  # a tick that came late has none
    for a, b in pairwise(found):
        assert b.at > a.at
        assert b.done >= a.done
        assert b.server_cpu >= a.server_cpu
        assert b.client_cpu >= a.client_cpu
    last = found[-1]
    assert last.errors == 0
    latency = next(tick.latency for tick in reversed(found) if tick.latency["max"])
    assert 0 < latency["p50"] <= latency["p95"] <= latency["p99"] <= latency["max"]
    # CLOCK_MONOTONIC, as ours; and the server's own clock, not the load's.
    assert before <= found[0].at <= last.at <= time.monotonic()
    assert last.server_cpu > last.client_cpu


def test_processes_are_on_their_cores_and_gone_after_stop(start: Starter, build_fake: BuildFake) -> None:
    core = frozenset({min(CORES)})
    side = start(build_fake(), cores=core)
    side.boot()
    side.load()
    ticks_of(side, 3, 100)  # each of its connections had many
    pids = [*side.server_pids(), *side.client_pids()]
    assert len(pids) == 2
    for pid in pids:
        threads = [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
        assert len(threads) >= side.spec.workload.threads
        assert {os.sched_getaffinity(thread) == core for thread in threads} == {True}
    side.stop()
    side.stop()
    assert side.server_pids() == side.client_pids() == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert side.trouble() is None


def test_only_the_writing_load_changes_its_data(start: Starter, build_fake: BuildFake) -> None:
    prints = {}
    for workload in ("fake_mix", "fake_write"):
        side = start(build_fake(), workload=workload)
        side.boot()
        before = side.fingerprint()
        side.load()
        assert ticks_of(side, 4, 100)[-1].errors == 0  # of four connections, each of which writes every tenth time
        side.stop()
        prints[workload] = (before, side.fingerprint())
    assert prints["fake_mix"][0] == prints["fake_mix"][1] == prints["fake_write"][0]
    assert prints["fake_write"][1] != prints["fake_write"][0]


def test_a_crash_under_load_is_told(start: Starter, build_fake: BuildFake) -> None:
    side = start(build_fake("-DFAKE_CRASH_AFTER=200"))
    side.boot()
    side.load()
    assert trouble_of(side) == "the server was ended by signal 6"
    assert side.server_pids() == []


@pytest.mark.parametrize(
    ("said", "trouble", "waits"),
    [
        ("the server closed the connection", "the server was ended by signal 6", [fake.ENDING_S]),
        ("no answer for 60 s", "the load ended with exit code 1: load: no answer for 60 s", []),
    ],
)
def test_a_server_that_its_load_has_lost_is_waited_for_until_it_is_seen_dead(
    start: Starter, build_fake: BuildFake, said: str, trouble: str, waits: list[float]
) -> None:
    """It closes its connections before that, and may have to wait for a core in between."""

    class Dying:
        returncode: int | None = None

        def poll(self) -> int | None:
            return self.returncode

        def wait(self, patience: float) -> None:
            waited.append(patience)
            self.returncode = -6

    waited: list[float] = []
    side = start(build_fake())
    assert isinstance(side, fake.FakeSide)
    side._server, side._load = Dying(), SimpleNamespace(poll=lambda: 1)  # type: ignore[assignment]
    side._load_log.write_text(f"load: {said}\n")
    assert (side.trouble(), waited) == (trouble, waits)
    side._server = side._load = None


def test_a_hang_under_load_is_told_and_the_server_killed(
    start: Starter, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake, "PATIENCE_S", 0.3)
    side = start(build_fake("-DFAKE_HANG_AFTER=200"), timeout_s="0.5")
    side.boot()
    side.load()
    assert "no answer for 0.5 s" in trouble_of(side)
    (pid,) = side.server_pids()
    side.stop()
    assert not Path(f"/proc/{pid}").exists()


def test_errors_are_counted(start: Starter, build_fake: BuildFake) -> None:
    side = start(build_fake("-DFAKE_ERRORS_EVERY=10"))
    side.boot()
    side.load()
    last = ticks_of(side, 5, 200)[-1]
    assert math.isclose(last.errors, last.done / 9, rel_tol=0.1, abs_tol=1.0), "a tick may end between two"


def test_a_server_that_does_not_start_shows_its_log(start: Starter, build_fake: BuildFake) -> None:
    side = start(build_fake())
    (side.spec.data / fake.DATA_FILE).unlink()
    with pytest.raises(InfrastructureError) as caught:
        side.boot()
    assert "ended with exit code 1 while starting" in str(caught.value)
    assert "No such file" in caught.value.explain()


def test_a_folder_that_is_not_ours_is_refused(start: Starter, build_fake: BuildFake) -> None:
    side = start(build_fake())
    (side.spec.data / MARKER).unlink()
    with pytest.raises(InfrastructureError, match="not a data folder of Burnish"):
        side.boot()
    assert side.server_pids() == []


@pytest.mark.parametrize(
    ("setting", "message"),
    [(("work_percant", "5"), "did you mean 'work_percent'"), (("work_percent", "x"), "found 'x'")],
)
def test_settings_are_checked(start: Starter, build_fake: BuildFake, setting: tuple[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        start(build_fake(), settings=(setting,))


def test_the_gate_passes_a_right_build_by_either_compiler(
    fake_engine: FakeEngine, build_fake: BuildFake, clang: Toolchain, tmp_path: Path, bench: FakeBench
) -> None:
    for toolchain in (None, clang):
        built = build_fake(toolchain=toolchain)
        place = tmp_path / f"gate-{built.name}"
        place.mkdir()
        report = fake_engine.gate(built, built, place, bench)
        assert report.failures == ()
        assert report.passed
        assert (report.tests, report.skipped) == (len(fake_engine.spec.gate_tests), 0)
        assert len(report.build_id) == 40
        assert report.build_id == fake_engine.identity(built, bench).build_id


@pytest.mark.parametrize(
    ("flag", "test"),
    [
        ("-DFAKE_WRONG", "answers"),
        ("-DFAKE_ERRORS_EVERY=5", "answers"),
        ("-DFAKE_CRASH_AFTER=30", "ordering"),
        ("-DFAKE_HANG_AFTER=30", "ordering"),
    ],
)
def test_the_gate_names_the_test_that_failed(
    start: Starter, build_fake: BuildFake, monkeypatch: pytest.MonkeyPatch, flag: str, test: str
) -> None:
    find = gate._TESTS[test]

    def impatient(subject: gate._Subject) -> str:
        """Only where it hangs: what comes before that has a minute."""
        monkeypatch.setattr(gate, "ANSWER_S", 1.0)
        return find(subject)

    if "HANG" in flag:
        monkeypatch.setitem(gate._TESTS, test, impatient)
    place = start.place / "gate"
    place.mkdir()
    built = build_fake(flag)
    report = start.engine.gate(built, built, place, start.bench)
    assert not report.passed
    failures = dict(report.failures)
    assert next(iter(failures)) == test
    if flag == "-DFAKE_WRONG":
        assert list(failures) == ["answers"]
        assert "expected 'a " in failures["answers"]


def test_the_gate_asks_only_what_it_is_told(
    fake_engine: FakeEngine, build_fake: BuildFake, tmp_path: Path, bench: FakeBench
) -> None:
    place = tmp_path / "gate"
    place.mkdir()
    wrong = build_fake("-DFAKE_WRONG")
    report = fake_engine.gate(wrong, wrong, place, bench, ("starts", "survives"))
    assert (report.passed, report.tests) == (True, 2)


def test_the_gate_skips_what_a_feature_set_leaves_out(
    fake_engine: FakeEngine, build_fake: BuildFake, tmp_path: Path, bench: FakeBench
) -> None:
    place = tmp_path / "gate"
    place.mkdir()
    report = fake_engine.gate(build_fake(features="trimmed"), build_fake(), place, bench)
    assert (report.passed, report.skipped) == (True, 1)


def test_known_answers() -> None:
    # FNV-1a, 64 bits, of "foobar": RFC 9923, test vectors.
    assert gate.checksum("f", b"oobar") == "85944171f73967e8"


def test_identity_tells_versions_and_features_apart(
    fake_engine: FakeEngine, build_fake: BuildFake, bench: FakeBench
) -> None:
    one = fake_engine.identity(build_fake(), bench)
    other = fake_engine.identity(build_fake("-DFAKE_RELEASE=3", features="trimmed"), bench)
    assert (one.version, one.features) == ("1.0", (("extras", "ON"),))
    assert (other.version, other.features) == ("1.3", (("extras", "OFF"),))
    assert one.build_id != other.build_id


def test_an_existing_program_is_taken_or_refused(
    fake_engine: FakeEngine, build_fake: BuildFake, start: Starter, tmp_path: Path
) -> None:
    place = tmp_path / "installed"
    shutil.copytree(build_fake().server.parent, place)
    built = fake_engine.existing(place / "server")
    side = start(built)
    side.boot()
    side.load()
    assert ticks_of(side, 3, 1)[-1].done > 0
    for program, message in [
        (Path("/bin/true"), "no program of the fake engine"),
        (tmp_path / "nowhere", "no such file"),
    ]:
        with pytest.raises(UserError, match=message):
            fake_engine.existing(program)
    (place / "load").unlink()
    with pytest.raises(UserError, match="load program is not beside it"):
        fake_engine.existing(place / "server")


def test_a_broken_build_fails_with_its_log(
    gcc: Toolchain, fake_engine: FakeEngine, tmp_path: Path, bench: FakeBench
) -> None:
    job = job_for(gcc, tmp_path / "place", bench, options=(("FAKE_BROKEN", "ON"),))
    with pytest.raises(InfrastructureError, match=r"compile server\.c") as caught:
        fake_engine.build(job)
    assert "meant not to compile" in caught.value.explain()


def test_an_unknown_option_is_refused(
    gcc: Toolchain, fake_engine: FakeEngine, tmp_path: Path, bench: FakeBench
) -> None:
    job = job_for(gcc, tmp_path / "place", bench, options=(("FAKE_SPED", "1"),))
    with pytest.raises(UserError, match="did you mean 'FAKE_SPEED'"):
        fake_engine.build(job)


def test_objects_are_read_back_with_their_real_commands(
    gcc: Toolchain, fake_engine: FakeEngine, tmp_path: Path, bench: FakeBench
) -> None:
    options = (("FAKE_EXTRAS", "OFF"), ("append_flags", "-O1 -fno-inline"))
    job = job_for(gcc, tmp_path / "place", bench, options=options, relocations=True)
    fake_engine.build(job)
    ran = [done.argv for what, done in bench.commands if what.startswith("compile ")]
    objects = fake_engine.objects(job)
    assert [item.command for item in objects] == ran
    assert {Path(item.source).name for item in objects} == set(fake.SOURCES)
    for item in objects:
        assert (job.place / item.path).is_file()
        assert item.command.index("-O1") > item.command.index("-O2")
        assert "-DFAKE_EXTRAS=0" in item.command  # the recipe's option wins over the feature set's
        assert "-DFAKE_EXTRAS=1" not in item.command
    assert ".rela.text" in process.capture(["readelf", "-SW", job.place / "bin" / "server"])


def test_the_load_program_is_the_same_for_all_variants(build_fake: BuildFake, clang: Toolchain) -> None:
    builds = [build_fake(), build_fake("-O3", "-DFAKE_SPEED=130"), build_fake(toolchain=clang)]
    assert len({(built.server.parent / "load").read_bytes() for built in builds}) == 1


def test_a_profile_is_written_at_the_end(
    start: Starter, build_fake: BuildFake, clang: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under load, by both compilers, where the environment says, with the functions that must be in it."""
    monkeypatch.setattr(fake, "PATIENCE_S", 60.0)
    flags = ("-fprofile-generate", "-fprofile-update=atomic")
    raw = tmp_path / "raw"
    by_clang = start(build_fake(*flags, toolchain=clang), environment=(("LLVM_PROFILE_FILE", f"{raw}/%p.profraw"),))
    by_gcc = start(build_fake(*flags), environment=(("GCOV_PREFIX", str(raw)),))
    for side in (by_clang, by_gcc):
        side.boot()
        side.load()
        ticks_of(side, 3, 40)
        side.stop()
    assert {path.stem for path in raw.rglob("*.gcda")} == {"server", "fake_serve", "fake_work"}
    (profile,) = raw.glob("*.profraw")
    if clang.profdata is None:
        pytest.skip("no llvm-profdata on this machine")
    merged = tmp_path / "merged.profdata"
    process.run([clang.profdata, "merge", profile, "-o", merged]).check("merging")
    shown = process.capture([clang.profdata, "show", "--all-functions", merged])
    for name in start.engine.spec.covered:
        assert f"  {name}:" in shown


def test_what_the_catalogue_says_fits_the_engine(fake_engine: FakeEngine) -> None:
    spec = fake_engine.spec
    assert spec.hidden
    assert spec.debian_package is None
    for name in (*spec.workloads, *(step[0] for step in spec.training)):
        assert load.workload(spec, name).engine == "fake"
    assert set(spec.gate_tests) == set(gate._TESTS)
    assert all((FAKE_SOURCE / name).is_file() for name in (*fake.SOURCES, "load.c", "fake.h"))
