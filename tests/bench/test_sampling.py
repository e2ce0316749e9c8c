"""What this host lets us sample, and one recording: with a perf of our own that refuses what it is told to."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError
from burnish.bench.counters import usage
from burnish.bench.sampling import Ability, Sampling, Stacks, find_ability, find_perf, read
from burnish.why.samples import parse_flat, parse_stacks

MakePerf = Callable[[str], Path]


@pytest.fixture
def perf(tmp_path: Path) -> MakePerf:
    """A perf that notes what it was asked and then does what `body` says."""

    def make(body: str) -> Path:
        program = tmp_path / "perf"
        program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n{body}\n')
        program.chmod(0o755)
        return program

    return make


def test_a_host_with_a_pmu_gives_cycles_and_branch_records(perf: MakePerf) -> None:
    assert find_ability(perf("exit 0"), pmu=True, lbr=True) == Ability("cycles:P", by_core=True, lbr=True)


def test_without_a_pmu_the_clock_is_sampled_and_it_says_so(perf: MakePerf) -> None:
    result = find_ability(perf("exit 0"), pmu=False, lbr=False)
    assert result == Ability("cpu-clock", by_core=True)
    (message,) = result.blind(Stacks.LBR, names_kernel=True)[:1]
    assert message.startswith("no PMU here")


def test_without_permission_for_cores_processes_are_sampled(perf: MakePerf) -> None:
    result = find_ability(perf('case "$*" in *-a*) exit 1;; esac; exit 0'), pmu=False, lbr=False)
    assert result == Ability("cpu-clock", by_core=False)
    assert any("sampled by process" in said for said in result.blind(Stacks.NONE, names_kernel=True))


def test_without_permission_for_the_kernel_user_time_is_sampled(perf: MakePerf) -> None:
    result = find_ability(perf('case "$*" in *:u*) exit 0;; esac; exit 1'), pmu=True, lbr=True)
    assert result == Ability("cycles:u", by_core=False, lbr=True)
    assert not result.kernel
    message = " ".join(result.blind(Stacks.POINTERS, names_kernel=False))
    assert "one lump" in message
    assert "kptr_restrict" not in message
    assert "frame pointers" in message


def test_no_permission_names_the_sysctl_and_the_capability(perf: MakePerf) -> None:
    with pytest.raises(UserError, match=r"kernel\.perf_event_paranoid = 4") as caught:
        find_ability(perf("echo No permission to enable cpu-clock event.; exit 255"), pmu=False, lbr=False, paranoid=4)
    message = str(caught.value)
    assert "CAP_PERFMON" in message
    assert "No permission to enable" in message
    assert "\n" not in message


def test_a_timer_samples_more_seldom_than_a_counter() -> None:
    """In a virtual machine each of its samples is a trip to the hypervisor, 70 to 100 us of a core."""
    clock, counter = Ability("cpu-clock:u", by_core=True), Ability("cycles:P", by_core=True)
    assert clock.frequency(Stacks.POINTERS) * 100e-6 < 0.02
    assert clock.frequency(Stacks.POINTERS) < counter.frequency(Stacks.POINTERS)
    for item in (clock, counter):
        assert item.frequency(Stacks.DWARF) <= item.frequency(Stacks.NONE), "a copy of the stack costs more"


def test_no_perf_names_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.base.system.find_programs", dict.fromkeys)
    with pytest.raises(UserError, match=r"apt-get install --no-install-recommends linux-perf"):
        find_perf()


RECORD = r"""
for word in "$@"; do
  case "$word" in
    --control=fifo:*) fifos=${word#--control=fifo:}; control=${fifos%,*}; answer=${fifos#*,};;
    *.data) data=$word;;
  esac
done
trap 'echo recorded > "$data"; exit 0' INT
exec 3<> "$control"
while :; do
  read order <&3 || continue
  echo "$order" >> "$data.orders"
  echo ack > "$answer"
done
"""


def test_a_recording_begins_when_perf_is_ready_and_is_whole_at_its_end(perf: MakePerf, tmp_path: Path) -> None:
    child = process.start(["sleep", "60"])
    try:
        while not Path(f"/proc/{child.pid}/exe").resolve().name.startswith("sleep"):
            time.sleep(0.01)  # it begins as the programs that set what it has
        ability = Ability("cpu-clock", by_core=True)
        sampling = Sampling(
            perf(RECORD), ability, Stacks.POINTERS, {"a": (child.pid,)}, {1, 0}, tmp_path / "x.data", 99
        )
        sampling.begin()
        sampling.pause()
        sampling.resume()
        result = sampling.end()
    finally:
        process.stop(child)
    assert result.file.read_text() == "recorded\n"
    assert (tmp_path / "x.data.orders").read_text().split() == ["enable", "disable", "enable"]
    assert result.pids == {"a": (child.pid,)}
    assert result.frequency == 99
    assert any(mapping.path.endswith("/sleep") for mapping in result.mappings[child.pid])
    asked = (tmp_path / "asked").read_text().split()
    assert asked[0] == "record"
    assert asked[asked.index("-C") + 1] == "0,1"
    assert asked[asked.index("-F") + 1] == "99"
    assert asked[asked.index("--call-graph") + 1] == "fp"
    assert "-p" not in asked


def test_by_process_and_with_copies_of_the_stack(perf: MakePerf, tmp_path: Path) -> None:
    ability = Ability("cpu-clock:u", by_core=False)
    sampling = Sampling(perf(RECORD), ability, Stacks.DWARF, {"a": (1,), "b": (2,)}, {0}, tmp_path / "x.data")
    sampling.begin()
    result = sampling.end()
    asked = (tmp_path / "asked").read_text().split()
    assert asked[asked.index("-p") + 1] == "1,2"
    assert asked[asked.index("--call-graph") + 1] == "dwarf,8192"
    assert asked[asked.index("-F") + 1] == str(result.frequency) == str(ability.frequency(Stacks.DWARF))
    assert "-C" not in asked


def test_a_perf_that_does_not_begin(perf: MakePerf, tmp_path: Path) -> None:
    ability = Ability("cpu-clock", by_core=True)
    sampling = Sampling(perf("echo no memory; exit 1"), ability, Stacks.NONE, {"a": (1,)}, {0}, tmp_path / "x.data")
    with pytest.raises(InfrastructureError, match="no answer to 'enable'") as caught:
        sampling.begin()
    assert "no memory" in caught.value.explain()


def burnt(pid: int, seconds: float) -> None:
    """Waits until a process has had so much more of a core, however long that takes here."""
    end = usage([pid]).user + seconds
    while usage([pid]).user < end:
        time.sleep(0.01)


def test_the_real_perf_samples_a_busy_process_where_it_may(tmp_path: Path) -> None:
    try:
        program = find_perf()
        ability = find_ability(program, pmu=False, lbr=False)
    except UserError as error:
        pytest.skip(str(error))
    child = process.start(["sh", "-c", "while :; do :; done"])
    try:
        every, stacks = os.sched_getaffinity(0), Stacks.POINTERS
        sampling = Sampling(program, ability, stacks, {"a": (child.pid,)}, every, tmp_path / "x.data", 499)
        sampling.begin()
        burnt(child.pid, 0.25)
        sampling.pause()
        burnt(child.pid, 1.5)
        sampling.resume()
        burnt(child.pid, 0.25)
        recorded = sampling.end()
        every_second = usage([child.pid]).user
    finally:
        process.stop(child)
    log = tmp_path / "script.log"
    flat = parse_flat(read(program, recorded, stacks=False, log=log))
    assert 10 < flat[child.pid].count < 0.6 * 499 * every_second, "none while it paused"
    assert set(flat) == {child.pid}
    result = parse_stacks(read(program, recorded, stacks=True, log=log))
    assert result[child.pid].weights.total() == flat[child.pid].total
