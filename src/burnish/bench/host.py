"""Facts about this host: its hardware and system, what a trial may use, and what could disturb it.

A fact that can't be read is ``"unknown"`` (text) or None (numbers, booleans); reading never raises.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from burnish.base import process
from burnish.bench.identity import machine_id

UNKNOWN = "unknown"
_UNLIMITED = 1 << 60
"""cgroup v1 shows "no limit" as a number of this order."""

CoreGroups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class HostFacts:
    """One host, as seen by this process.

    Attributes:
        cpu_model: the processor's name.
        cpu_signature: its family, model and stepping, as numbers; hypervisors often hide part of the name.
        architecture: as the kernel names it, ``x86_64``.
        microcode: revision of the first core.
        cores_online: CPU numbers that are online.
        cores_allowed: those of them that this process may use (affinity, cpuset).
        cpu_quota: limit of the cgroups (v1 or v2) on CPU time, in cores; None without a limit.
        smt: ``on``, ``off``, ``notsupported``, ``forceoff``.
        physical_cores: groups of CPU numbers that share one physical core.
        l3_groups: groups that share a last-level cache.
        numa_nodes: groups that share a memory node.
        capacities: relative speed of each core if the kernel reports it, as (CPU number, capacity).
        kernel: release of the running kernel.
        distribution: name and version.
        hypervisor: ``none``, or the hypervisor's name.
        memory_bytes: main memory.
        memory_available_bytes: memory available to new programs without swapping.
        memory_limit_bytes: limit of the cgroups; None without a limit.
        swap_bytes: swap space.
        governor: the frequency governors in use.
        turbo: ``on`` or ``off``.
        thp: current mode of transparent huge pages.
        thp_defrag: its defragmentation mode.
        aslr: 0 (off), 1 or 2 (full).
        clocksource: the kernel's clock source.
        perf_event_paranoid: the kernel's limit on who may count events.
        pmu: whether hardware counters can be read (``perf stat -e instructions`` counts).
        lbr: whether branch records can be sampled (``perf record -j any`` works).
        disk_free_bytes: free space where the work is done.
        load_average: of 1, 5 and 15 minutes, in runnable tasks.
        machine: identifies this machine (`burnish.bench.identity`); in records of version 0.1, a digest of the
            image's machine id and host name, which many machines may share.
        boot: identifies the time since the kernel was started: a digest of its boot id.
    """

    cpu_model: str
    cpu_signature: str
    architecture: str
    microcode: str
    cores_online: tuple[int, ...]
    cores_allowed: tuple[int, ...]
    cpu_quota: float | None
    smt: str
    physical_cores: CoreGroups
    l3_groups: CoreGroups
    numa_nodes: CoreGroups
    capacities: tuple[tuple[int, int], ...]
    kernel: str
    distribution: str
    hypervisor: str
    memory_bytes: int | None
    memory_available_bytes: int | None
    memory_limit_bytes: int | None
    swap_bytes: int | None
    governor: str
    turbo: str
    thp: str
    thp_defrag: str
    aslr: int | None
    clocksource: str
    perf_event_paranoid: int | None
    pmu: bool | None
    lbr: bool | None
    disk_free_bytes: int | None
    load_average: tuple[float, ...]
    machine: str = UNKNOWN
    boot: str = ""

    def as_record(self) -> dict[str, Any]:
        """Plain values for JSON, in the order above; None if a number is not known or not limited."""
        return asdict(self)


def read_host(
    folder: Path | None = None,
    *,
    root: Path = Path("/"),
    allowed: Iterable[int] | None = None,
    programs: bool = True,
    home: Path | None = None,
) -> HostFacts:
    """Reads all facts; takes some 0.2 s, most of it for perf.

    Args:
        folder: working folder, for its free space; default: the current folder.
        root: the folder that contains ``sys``, ``proc`` and ``etc``.
        allowed: CPU numbers that this process may use; default: its affinity.
        programs: whether to run perf and lscpu; otherwise the facts from them are unknown.
        home: Burnish's home, which has the machine's id if its firmware has none; None: it is then unknown.
    """
    cpus = root / "sys/devices/system/cpu"
    online = parse_cpu_list(_read(cpus / "online")) or tuple(range(os.cpu_count() or 1))
    memory = _meminfo(root)
    pmu, lbr = _perf_abilities() if programs else (None, None)
    model = _cpuinfo(root, "model name", "Model", "CPU part")
    signature = "/".join(_cpuinfo(root, key) for key in ("cpu family", "model", "stepping"))
    return HostFacts(
        cpu_model=model,
        cpu_signature=signature,
        architecture=platform.machine(),
        microcode=_cpuinfo(root, "microcode"),
        cores_online=online,
        cores_allowed=tuple(sorted(os.sched_getaffinity(0) if allowed is None else allowed)),
        cpu_quota=_cpu_quota(root),
        smt=_read(cpus / "smt/control") or UNKNOWN,
        physical_cores=_shared(online, lambda cpu: cpus / f"cpu{cpu}/topology/thread_siblings_list"),
        l3_groups=_shared(online, lambda cpu: _last_cache(cpus / f"cpu{cpu}/cache")),
        numa_nodes=_numa_nodes(root, online),
        capacities=_capacities(root, online),
        kernel=_read(root / "proc/sys/kernel/osrelease") or UNKNOWN,
        distribution=_distribution(root),
        hypervisor=_hypervisor(root, programs),
        memory_bytes=memory.get("MemTotal"),
        memory_available_bytes=memory.get("MemAvailable"),
        memory_limit_bytes=_memory_limit(root),
        swap_bytes=memory.get("SwapTotal"),
        governor=_governors(cpus, online),
        turbo=_turbo(cpus),
        thp=_chosen(root / "sys/kernel/mm/transparent_hugepage/enabled"),
        thp_defrag=_chosen(root / "sys/kernel/mm/transparent_hugepage/defrag"),
        aslr=_number(root / "proc/sys/kernel/randomize_va_space"),
        clocksource=_read(root / "sys/devices/system/clocksource/clocksource0/current_clocksource") or UNKNOWN,
        perf_event_paranoid=_number(root / "proc/sys/kernel/perf_event_paranoid"),
        pmu=pmu,
        lbr=lbr,
        disk_free_bytes=_disk_free(folder or Path.cwd()),
        load_average=tuple(float(word) for word in re.findall(r"\d+\.\d+", _read(root / "proc/loadavg"))[:3]),
        machine=machine_id(root, home, f"{model} {signature}"),
        boot=boot_now(root),
    )


def boot_now(root: Path = Path("/")) -> str:
    """Digest of the kernel's boot id, which is another one after each boot; '' if it can't be read."""
    words = _read(root / "proc/sys/kernel/random/boot_id")
    return hashlib.sha256(f"burnish {words}".encode()).hexdigest()[:16] if words else ""


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes available to new programs without swapping, within the limit of the cgroups; None if unknown."""
    limits = [value for value in (_meminfo(root).get("MemAvailable"), _memory_limit(root)) if value is not None]
    return min(limits, default=None)


def memory_with_swap(root: Path = Path("/")) -> int | None:
    """Bytes that programs may take before one is killed: what is available and the free swap, as the cgroups allow."""
    memory = available_memory(root)
    swap = [value for value in (_meminfo(root).get("SwapFree"), _swap_limit(root)) if value is not None]
    return None if memory is None else memory + min(swap, default=0)


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """Parses the kernel's list notation: ``0-2,5`` is (0, 1, 2, 5); empty if the text is not a list."""
    cpus: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if match is None:
            return ()
        cpus.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(cpus))


def _read(path: Path) -> str:
    """A file's text without surrounding whitespace; empty if it can't be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _read(path)
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def _chosen(path: Path) -> str:
    """The word in brackets, with which the kernel marks the current mode."""
    match = re.search(r"\[(.+?)\]", _read(path))
    return match[1] if match else UNKNOWN


def _cpuinfo(root: Path, *keys: str) -> str:
    text = _read(root / "proc/cpuinfo")
    for key in keys:
        match = re.search(rf"^{key}\s*:\s*(.+)$", text, re.MULTILINE)
        if match:
            return match[1].strip()
    return UNKNOWN


def _meminfo(root: Path) -> dict[str, int]:
    lines = re.findall(r"^(\w+):\s+(\d+) kB$", _read(root / "proc/meminfo"), re.MULTILINE)
    return {name: int(value) * 1024 for name, value in lines}


def _shared(online: Iterable[int], file: Any) -> CoreGroups:
    """Groups of CPUs as listed in each CPU's file; a CPU without a file is a group of its own."""
    groups = {parse_cpu_list(_read(file(cpu))) or (cpu,) for cpu in online}
    return tuple(sorted(groups))


def _last_cache(caches: Path) -> Path:
    """The file that lists the CPUs that share the last-level cache, which has the highest level."""
    levels = [(_number(entry / "level") or 0, entry) for entry in caches.glob("index*")]
    return max(levels)[1] / "shared_cpu_list" if levels else caches / "none"


def _numa_nodes(root: Path, online: tuple[int, ...]) -> CoreGroups:
    nodes = [
        parse_cpu_list(_read(entry / "cpulist")) for entry in (root / "sys/devices/system/node").glob("node[0-9]*")
    ]
    return tuple(sorted(node for node in nodes if node)) or (online,)


def _governors(cpus: Path, online: Iterable[int]) -> str:
    governors = {_read(cpus / f"cpu{cpu}/cpufreq/scaling_governor") for cpu in online} - {""}
    return ", ".join(sorted(governors)) or UNKNOWN


def _turbo(cpus: Path) -> str:
    disabled = _number(cpus / "intel_pstate/no_turbo")
    boost = _number(cpus / "cpufreq/boost") if disabled is None else 1 - disabled
    return UNKNOWN if boost is None else ("on" if boost else "off")


def _distribution(root: Path) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', _read(root / "etc/os-release"), re.MULTILINE)
    return match[1] if match else UNKNOWN


def _hypervisor(root: Path, programs: bool) -> str:
    if programs:
        vendor = re.search(r"^Hypervisor vendor:\s*(.+)$", process.capture(["lscpu"], timeout=20), re.MULTILINE)
        if vendor:
            return vendor[1].strip()
    product = _read(root / "sys/class/dmi/id/product_name")
    flags = _cpuinfo(root, "flags").split()
    if "hypervisor" in flags:
        return _read(root / "sys/hypervisor/type") or product or "yes, of unknown kind"
    return "none" if flags and flags != [UNKNOWN] else UNKNOWN


def _cgroup_folders(root: Path, controllers: tuple[str, ...]) -> list[Path]:
    """Folders whose limits apply to this process: its cgroup and all its parents, v2 and v1."""
    base = root / "sys/fs/cgroup"
    folders = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, names, own_path = [*line.split(":", 2), "", ""][:3]
        if not names:
            places = [base, base / "unified"]
        elif set(names.split(",")) & set(controllers):
            places = [base / names, *(base / name for name in names.split(","))]
        else:
            continue
        # In a container the path may be the host's; the container's cgroup is then at the top of the mount.
        relative = Path(own_path.lstrip("/"))
        folders += [place / part for place in places for part in (relative, *relative.parents)]
    return list(dict.fromkeys(folders))


def _cpu_quota(root: Path) -> float | None:
    limits = []
    for folder in _cgroup_folders(root, ("cpu",)):
        match = re.fullmatch(r"(\d+) (\d+)", _read(folder / "cpu.max"))
        if match:
            limits.append(int(match[1]) / int(match[2]))
        quota, period = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
        if quota is not None and period and quota > 0:
            limits.append(quota / period)
    return min(limits, default=None)


def throttled(root: Path = Path("/")) -> int:
    """How often the quota of this process's cgroups has held up what runs in them; 0 where there is none."""
    folders = {folder.resolve() for folder in _cgroup_folders(root, ("cpu",))}  # cpu and cpu,cpuacct can be one
    stats = (_read(folder / "cpu.stat") for folder in folders)
    return sum(int(match[1]) for stat in stats if (match := re.search(r"^nr_throttled (\d+)$", stat, re.MULTILINE)))


def _capacities(root: Path, online: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Relative speeds of cores, where the kernel tells them apart.

    ARM's kernels say how fast each is. x86's say which are the fast ones of a processor of two kinds, by its counters'
    devices (``cpu_core``, ``cpu_atom``): 2 and 1 stand for these, and are no measure.
    """
    cpus = root / "sys/devices/system/cpu"
    known = [(cpu, _number(cpus / f"cpu{cpu}/cpu_capacity")) for cpu in online]
    if not any(value is not None for _, value in known):
        fast, slow = (
            set(parse_cpu_list(_read(root / f"sys/devices/{kind}/cpus"))) for kind in ("cpu_core", "cpu_atom")
        )
        known = [(cpu, 2 if cpu in fast else 1) for cpu in online] if fast and slow else []
    return tuple((cpu, value) for cpu, value in known if value is not None)


def _memory_limit(root: Path) -> int | None:
    limits = [
        value
        for folder in _cgroup_folders(root, ("memory",))
        for name in ("memory.max", "memory.limit_in_bytes")
        if (value := _number(folder / name)) is not None and value < _UNLIMITED
    ]
    return min(limits, default=None)


def _swap_limit(root: Path) -> int | None:
    limits = [_number(folder / "memory.swap.max") for folder in _cgroup_folders(root, ("memory",))]
    return min((limit for limit in limits if limit is not None), default=None)


def _disk_free(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _perf_abilities() -> tuple[bool | None, bool | None]:
    """(PMU, LBR): tested, because neither the CPU's model nor the kernel's tables show what a VM exposes."""
    if shutil.which("perf") is None:
        return None, None
    counted = process.capture(["perf", "stat", "-x", ",", "-e", "instructions:u", "true"], timeout=20)
    pmu = re.search(r"^\d+,,\S*instructions", counted, re.MULTILINE) is not None
    if not pmu:
        return False, False
    branches = ["perf", "record", "-q", "-e", "cycles:u", "-j", "any,u", "-o", os.devnull, "true"]
    return True, process.run(branches, timeout=20).ok
