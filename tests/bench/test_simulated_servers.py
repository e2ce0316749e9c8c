"""The simulated core: its caches as the kernel describes them, and a server that serves its load in it."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from burnish.base.errors import InfrastructureError, UserError
from burnish.bench import simulation
from burnish.bench.sampling import find_ability, find_perf
from burnish.bench.simulation import Caches, of_this_core
from burnish.catalogue import load
from burnish.engines.fake.engine import FakeEngine
from burnish.study.why import simulation as simulating
from conftest import BuildFake, FakeBench
from studying import burnish, text


def described(folder: Path, size: str, ways: str, kind: str = "Unified", level: str = "2") -> Path:
    """A cache as the kernel describes it, beside one of the first level."""
    for index, values in enumerate([("1", "Data", "32K", "8"), (level, kind, size, ways)]):
        place = folder / f"index{index}"
        place.mkdir(parents=True)
        for name, value in zip(("level", "type", "size", "ways_of_associativity"), values, strict=True):
            (place / name).write_text(f"{value}\n")
        (place / "coherency_line_size").write_text("64\n")
    return folder


def test_the_second_level_is_the_cores_own(tmp_path: Path) -> None:
    found = of_this_core(described(tmp_path / "zen3", "512K", "8"))
    assert found == Caches(second=(524288, 8, 64))
    assert found.options == ["--LL=524288,8,64"]
    assert of_this_core(described(tmp_path / "icelake", "1280K", "20")).second == (1310720, 20, 64)


@pytest.mark.parametrize(
    ("size", "ways", "kind", "level"),
    [
        ("1536K", "8", "Unified", "2"),  # 3,072 sets: valgrind takes powers of two only
        ("", "", "Unified", "2"),
        ("512K", "0", "Unified", "2"),
        ("512K", "8", "Instruction", "2"),
        ("32768K", "16", "Unified", "3"),
    ],
)
def test_what_cannot_be_simulated_is_left_to_valgrind(
    tmp_path: Path, size: str, ways: str, kind: str, level: str
) -> None:
    assert of_this_core(described(tmp_path / "cache", size, ways, kind, level)) == Caches()
    assert of_this_core(tmp_path / "none").options == []


@pytest.mark.parametrize("lives", [True, False])
def test_a_process_that_has_ended_need_not_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, lives: bool
) -> None:
    """A backend may end between the list of processes and valgrind's answer; one that lives has to answer."""
    said = "vgdb error: no FIFO found matching pid 7"
    monkeypatch.setattr(simulation.process, "run", lambda *_, **__: SimpleNamespace(ok=False, output=said))
    processes = iter([[7], [7] if lives else []])
    side: Any = SimpleNamespace(server_pids=lambda: next(processes))
    expected: AbstractContextManager[object] = nullcontext()
    if lives:
        expected = pytest.raises(InfrastructureError, match="no FIFO found")
    with expected:
        simulation._control(side, tmp_path, "dump", "counted")


def test_what_a_servers_log_said_is_kept_where_it_fails(
    bench: FakeBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build_fake: BuildFake, fake_engine: FakeEngine
) -> None:
    """The side's folder, which has the server's log, is gone when the user reads that it ended."""
    bench.logs.mkdir()
    log = tmp_path / "server.log"
    log.write_text("InnoDB: Cannot map innodb_buffer_pool_size_max=8388608m\n")

    def ended(*_: object) -> None:
        raise InfrastructureError("mariadbd: the server ended with exit code 1", log=log)

    monkeypatch.setattr(simulating, "_served", ended)
    monkeypatch.setattr(simulating.needs, "ensure", lambda *_: None)
    monkeypatch.setattr(bench, "step", lambda *_, **__: nullcontext(), raising=False)
    options = SimpleNamespace(options=None, ask=None, seed=1, scratch=tmp_path, core_sets=[frozenset({0})])
    session: Any = SimpleNamespace(bench=bench, engine=fake_engine, **vars(options))
    workload = load.workload(fake_engine.spec, fake_engine.spec.workloads[0])
    notes = simulating.simulate(session, workload, {"one": build_fake()}, lambda _: None, asked=True)
    assert len(notes) == 1
    assert notes[0].startswith("no simulated caches: mariadbd: the server ended with exit code 1 (logs/")
    (kept,) = bench.logs.glob("why-simulation-failed*")
    assert kept.name in notes[0]
    assert "Cannot map innodb_buffer_pool_size_max" in kept.read_text()


@pytest.mark.real
@pytest.mark.timeout(300)
def test_a_server_under_load_is_simulated_when_asked(build_fake: BuildFake, burnish_home: Path) -> None:
    """The faster build does the same with fewer instructions: by as much as it is faster."""
    try:
        find_ability(find_perf(), pmu=False, lbr=False)
    except UserError as error:
        pytest.skip(str(error))
    one, other = build_fake().server, build_fake("-DFAKE_SPEED=200").server
    done = burnish("why", one, other, "--seconds", "2", "--simulate", "--yes", "--json")
    out, err = text(done)
    assert done.returncode == 0, err
    found = json.loads(out)["explanation"]
    assert found["notes"] == []
    sides = list(found["simulated"].values())
    assert all(side["transactions"] >= 1 for side in sides)
    before, after = (side["totals"]["Ir"] / side["transactions"] for side in sides)
    assert 1.5 < before / after < 2.5
    assert all(sum(events["Ir"] for events in side["functions"].values()) <= side["totals"]["Ir"] for side in sides)
