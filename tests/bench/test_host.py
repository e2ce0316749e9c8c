"""Facts about hosts, read from trees that look like /sys and /proc of other machines, and from this one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.bench import host
from burnish.bench.host import HostFacts, parse_cpu_list, read_host
from burnish.bench.topology import duet_core_sets, sharing_core_sets


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """Two nodes of four SMT cores each, one L3 a node, a cgroup v1 quota, turbo on."""
    cpus = "sys/devices/system/cpu"
    files = {
        f"{cpus}/online": "0-15",
        f"{cpus}/smt/control": "on",
        f"{cpus}/intel_pstate/no_turbo": "0",
        "sys/devices/system/node/node0/cpulist": "0-3,8-11",
        "sys/devices/system/node/node1/cpulist": "4-7,12-15",
        "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
        "sys/kernel/mm/transparent_hugepage/defrag": "always defer [madvise] never",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
        "sys/class/dmi/id/product_name": "Standard PC",
        "proc/cpuinfo": "model name\t: A CPU @ 2 GHz\nmicrocode\t: 0x2b\nflags\t\t: fpu sse hypervisor",
        "proc/meminfo": "MemTotal:  1024 kB\nMemAvailable: 512 kB\nSwapTotal: 0 kB",
        "proc/loadavg": "0.50 1.25 2.00 1/100 42",
        "proc/self/cgroup": "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/",
        "sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "250000",
        "sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us": "100000",
        "sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us": "-1",
        "sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us": "100000",
        "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/memory/docker/memory.limit_in_bytes": "4096",
        "proc/sys/kernel/randomize_va_space": "2",
        "proc/sys/kernel/perf_event_paranoid": "-1",
        "proc/sys/kernel/osrelease": "6.1.0",
        "etc/os-release": 'NAME="x"\nPRETTY_NAME="Debian GNU/Linux 12"',
    }
    for cpu in range(16):
        node = "0-3,8-11" if cpu % 8 < 4 else "4-7,12-15"
        files |= {
            f"{cpus}/cpu{cpu}/topology/thread_siblings_list": f"{cpu % 8},{cpu % 8 + 8}",
            f"{cpus}/cpu{cpu}/cache/index0/level": "1",
            f"{cpus}/cpu{cpu}/cache/index0/shared_cpu_list": f"{cpu % 8},{cpu % 8 + 8}",
            f"{cpus}/cpu{cpu}/cache/index3/level": "3",
            f"{cpus}/cpu{cpu}/cache/index3/shared_cpu_list": node,
            f"{cpus}/cpu{cpu}/cpufreq/scaling_governor": "powersave",
        }
    write(tmp_path, files)
    return tmp_path


def facts_of(root: Path, allowed: range = range(16)) -> HostFacts:
    return read_host(root, root=root, allowed=allowed, programs=False)


def test_swap_counts_as_memory_as_far_as_the_cgroups_allow_it(tmp_path: Path) -> None:
    assert host.memory_with_swap(tmp_path) is None
    write(tmp_path, {"proc/meminfo": "MemAvailable: 512 kB\nSwapFree: 256 kB", "proc/self/cgroup": "0::/unit"})
    assert host.memory_with_swap(tmp_path) == 768 * 1024
    write(tmp_path, {"sys/fs/cgroup/unit/memory.max": str(100 * 1024)})
    assert host.memory_with_swap(tmp_path) == 356 * 1024
    write(tmp_path, {"sys/fs/cgroup/unit/memory.swap.max": "0"})
    assert host.memory_with_swap(tmp_path) == 100 * 1024


def test_everything_that_the_kernel_shows_is_read(server: Path) -> None:
    facts = facts_of(server, range(4))
    assert facts.cpu_model == "A CPU @ 2 GHz"
    assert facts.microcode == "0x2b"
    assert facts.cores_online == tuple(range(16))
    assert facts.cores_allowed == (0, 1, 2, 3)
    assert facts.cpu_quota == 2.5
    assert facts.memory_limit_bytes == 4096
    assert facts.smt == "on"
    assert facts.physical_cores[:2] == ((0, 8), (1, 9))
    assert facts.l3_groups == facts.numa_nodes == ((0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15))
    assert (facts.governor, facts.turbo) == ("powersave", "on")
    assert (facts.thp, facts.thp_defrag, facts.aslr) == ("always", "madvise", 2)
    assert (facts.memory_bytes, facts.memory_available_bytes, facts.swap_bytes) == (1 << 20, 1 << 19, 0)
    assert (facts.kernel, facts.distribution) == ("6.1.0", "Debian GNU/Linux 12")
    assert facts.hypervisor == "Standard PC"
    assert (facts.clocksource, facts.perf_event_paranoid) == ("tsc", -1)
    assert facts.load_average == (0.5, 1.25, 2.0)
    assert facts.disk_free_bytes
    json.dumps(facts.as_record())


def test_what_cannot_be_read_is_unknown_and_never_an_error(tmp_path: Path) -> None:
    facts = read_host(tmp_path / "gone", root=tmp_path, allowed=[0, 1], programs=False)
    texts = (facts.cpu_model, facts.smt, facts.governor, facts.turbo, facts.thp, facts.hypervisor, facts.kernel)
    assert set(texts) == {host.UNKNOWN}
    numbers = (facts.memory_bytes, facts.aslr, facts.pmu, facts.lbr, facts.disk_free_bytes, facts.cpu_quota)
    assert set(numbers) == {None}
    assert facts.load_average == ()
    assert facts.physical_cores == tuple((cpu,) for cpu in facts.cores_online)


def test_nonsense_in_the_files_is_unknown(server: Path) -> None:
    for path in server.rglob("*"):
        if path.is_file():
            path.write_bytes(b"\xff\x00 nonsense [\n")
    facts = facts_of(server)
    assert facts.thp == host.UNKNOWN
    assert facts.memory_bytes is None


def test_how_often_a_quota_held_us_up(tmp_path: Path) -> None:
    assert host.throttled(tmp_path) == 0
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/slice/unit",
            "sys/fs/cgroup/slice/unit/cpu.stat": "usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 7\n",
            "sys/fs/cgroup/slice/cpu.stat": "nr_periods 2\nnr_throttled 1\n",
        },
    )
    assert host.throttled(tmp_path) == 4


def test_cores_of_two_kinds_on_x86(tmp_path: Path) -> None:
    cpus = {"sys/devices/system/cpu/online": "0-3"}
    write(tmp_path, cpus)
    assert facts_of(tmp_path).capacities == ()
    write(tmp_path, {**cpus, "sys/devices/cpu_core/cpus": "0-1", "sys/devices/cpu_atom/cpus": "2-3"})
    assert facts_of(tmp_path).capacities == ((0, 2), (1, 2), (2, 1), (3, 1))
    write(tmp_path, {f"sys/devices/system/cpu/cpu{cpu}/cpu_capacity": "1024" for cpu in range(4)})
    assert facts_of(tmp_path).capacities == tuple((cpu, 1024) for cpu in range(4)), "what the kernel measured wins"


def test_quota_and_limit_of_cgroup_v2(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/slice/unit",
            "sys/fs/cgroup/slice/unit/cpu.max": "max 100000",
            "sys/fs/cgroup/slice/cpu.max": "150000 100000",
            "sys/fs/cgroup/slice/unit/memory.max": "8192",
            "sys/fs/cgroup/slice/memory.max": "max",
        },
    )
    facts = facts_of(tmp_path)
    assert facts.cpu_quota == 1.5
    assert facts.memory_limit_bytes == 8192


@pytest.mark.parametrize(
    ("files", "turbo"),
    [
        ({"intel_pstate/no_turbo": "1"}, "off"),
        ({"cpufreq/boost": "1"}, "on"),
        ({"cpufreq/boost": "0"}, "off"),
    ],
)
def test_turbo_of_both_kinds_of_driver(tmp_path: Path, files: dict[str, str], turbo: str) -> None:
    write(tmp_path, {f"sys/devices/system/cpu/{name}": text for name, text in files.items()})
    assert facts_of(tmp_path).turbo == turbo


def test_cpu_lists() -> None:
    assert parse_cpu_list("0-2,5") == (0, 1, 2, 5)
    assert parse_cpu_list("3") == (3,)
    assert parse_cpu_list("") == parse_cpu_list("0-") == parse_cpu_list("none") == ()


@pytest.mark.parametrize(
    ("counted", "pmu", "lbr"),
    [("123,,instructions:u,1,100.00,,", True, True), ("<not supported>,,instructions:u,0,100.00,,", False, False)],
)
def test_counters_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: str, pmu: bool, lbr: bool
) -> None:
    perf = tmp_path / "perf"
    perf.write_text(f"#!/bin/sh\n[ $1 != stat ] || echo '{counted}' >&2\n")
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    facts = read_host(tmp_path)
    assert (facts.pmu, facts.lbr) == (pmu, lbr)
    perf.unlink()
    assert read_host(tmp_path).pmu is None


def test_this_host() -> None:
    facts = read_host()
    assert facts.cores_allowed
    assert facts.memory_bytes
    assert facts.kernel != host.UNKNOWN


def machine(
    facts: HostFacts,
    cores: str,
    l3: str | None = None,
    nodes: str | None = None,
    allowed: str | None = None,
    capacities: tuple[tuple[int, int], ...] = (),
) -> HostFacts:
    """A host from lists of groups: ``0,1 2,3`` is two groups of two."""

    def groups(text: str) -> tuple[tuple[int, ...], ...]:
        return tuple(parse_cpu_list(group) for group in text.split())

    physical = groups(cores)
    every = tuple(sorted(cpu for core in physical for cpu in core))
    return replace(
        facts,
        cores_online=every,
        cores_allowed=parse_cpu_list(allowed) if allowed else every,
        physical_cores=physical,
        l3_groups=groups(l3) if l3 else (every,),
        numa_nodes=groups(nodes) if nodes else (every,),
        capacities=capacities,
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # two cores, no SMT: one each
        ({"cores": "0 1"}, ("0", "1")),
        # one physical core with two threads: no duet
        ({"cores": "0,1"}, None),
        ({"cores": "0"}, None),
        # siblings stay together
        ({"cores": "0,4 1,5 2,6 3,7"}, ("0,1,4,5", "2,3,6,7")),
        # an odd core rests
        ({"cores": "0 1 2"}, ("0", "1")),
        # two caches: one each
        ({"cores": "0 1 2 3", "l3": "0,2 1,3"}, ("0,2", "1,3")),
        # three caches: one each, the third halved
        ({"cores": "0 1 2 3 4 5", "l3": "0,1 2,3 4,5"}, ("0,1,4", "2,3,5")),
        # caches of unlike size have no twin: each is halved
        ({"cores": "0 1 2 3 4 5", "l3": "0,1 2-5"}, ("0,2,3", "1,4,5")),
        # two nodes: both sides on one, so that memory stays near after the swap
        ({"cores": "0 1 2 3", "nodes": "0,1 2,3"}, ("0", "1")),
        # the node with more allowed cores is taken
        ({"cores": "0 1 2 3 4 5", "nodes": "0-2 3-5", "allowed": "0,2-5"}, ("0", "2")),
        ({"cores": "0 1 2 3 4 5 6 7", "nodes": "0-3 4-7", "allowed": "2-7"}, ("4,5", "6,7")),
        # one core a node: one node each
        ({"cores": "0 1", "nodes": "0 1"}, ("0", "1")),
        # allowed cores only; a core of which half is allowed goes with its like
        ({"cores": "0,4 1,5 2,6 3,7", "allowed": "0-3"}, ("0,1", "2,3")),
        ({"cores": "0,4 1,5 2,6", "allowed": "0,1,2,4"}, ("1", "2")),
        ({"cores": "0,4 1,5", "allowed": "0,4"}, None),
        # fast and slow cores: each side gets as many of each
        ({"cores": "0,1 2,3 4 5"}, ("0,1,4", "2,3,5")),
        (
            {"cores": "0 1 2 3", "capacities": ((0, 1024), (1, 512), (2, 512), (3, 1024))},
            ("0,1", "2,3"),
        ),
    ],
)
def test_duet_core_sets(words: dict[str, str], expected: tuple[str, str] | None) -> None:
    facts = machine(read_host(programs=False), **words)  # type: ignore[arg-type]
    result = duet_core_sets(facts)
    if expected is None:
        assert result is None
    else:
        assert result == tuple(frozenset(parse_cpu_list(side)) for side in expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # too few for a third side of four cores
        ({"cores": "0 1"}, ()),
        ({"cores": " ".join(map(str, range(11)))}, ()),
        ({"cores": "0,4 1,5 2,6 3,7 8,9"}, ()),
        # three sides of four cores each, then four
        ({"cores": " ".join(map(str, range(12)))}, ("0-3", "4-7", "8-11")),
        ({"cores": " ".join(map(str, range(19)))}, ("0-3", "4-7", "8-11", "12-15")),
        # a cache for each side; three caches and four sides: each cache is split
        ({"cores": " ".join(map(str, range(16))), "l3": "0-3 4-7 8-11 12-15"}, ("0-3", "4-7", "8-11", "12-15")),
        (
            {"cores": " ".join(map(str, range(24))), "l3": "0-7 8-15 16-23"},
            ("0,1,8,9,16,17", "2,3,10,11,18,19", "4,5,12,13,20,21", "6,7,14,15,22,23"),
        ),
        # all sides on one node, as in a duet of two
        ({"cores": " ".join(map(str, range(24))), "nodes": "0-11 12-23"}, ("0-3", "4-7", "8-11")),
    ],
)
def test_core_sets_of_candidates_that_share_a_baseline(words: dict[str, str], expected: tuple[str, ...]) -> None:
    facts = machine(read_host(programs=False), **words)  # type: ignore[arg-type]
    assert sharing_core_sets(facts) == tuple(frozenset(parse_cpu_list(side)) for side in expected)


def test_duet_on_a_server(server: Path) -> None:
    sets = duet_core_sets(facts_of(server))
    assert sets == (frozenset({0, 1, 8, 9}), frozenset({2, 3, 10, 11}))
