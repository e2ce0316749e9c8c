"""What this machine measures with: counters, clock, cores, memory, disk, network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from burnish.base.system import install_command
from burnish.bench.host import UNKNOWN, HostFacts
from burnish.bench.topology import duet_core_sets
from burnish.report.examination.finding import PACKAGES, Finding

_GIB = 1 << 30
_DISK_LOW = 2 * _GIB
"""Below this not even SQLite's study fits: sources, and five builds with profiles of some 100 MB each."""
_MEMORY_LOW = 3 * _GIB
"""Below this, two servers with their data and two compilers of some 1 GB each (LTO links) do not fit."""
_LOAD_HIGH = 0.5
"""Runnable tasks per core above which other work is clearly running."""


def network(offers: Mapping[str, str | None]) -> Finding:
    """Loads from another host: what is possible, and why the rest is not."""
    possible = ", ".join(name for name, why in offers.items() if why is None) or "none"
    reasons = "; ".join(why for why in offers.values() if why is not None)
    if reasons:
        return Finding("another host", "note", possible, reasons)
    return Finding("another host", "ok", possible)


def loopback() -> Finding:
    """Who else can connect to a server that is being measured."""
    consequence = "while a server is measured over it (transport=tcp, tls) no password is asked: all can read its data"
    return Finding("loopback", "note", "shared by all users", consequence, "transport=remote, whose network is its own")


def counters(facts: HostFacts, programs: Mapping[str, Path | None]) -> list[Finding]:
    """perf, PMU and LBR: a single finding if there are no counters, as in many virtual machines."""
    name = "perf, PMU, LBR"
    instead = "BOLT instruments instead of sampling branches"
    if not programs.get("perf"):
        return [Finding(name, "note", "no perf", f"no counters; {instead}", install_command([PACKAGES["perf"]]))]
    if facts.pmu:
        lbr = Finding("LBR", "ok", "branch records") if facts.lbr else Finding("LBR", "note", "none", instead)
        return [Finding("perf, PMU", "ok", str(programs["perf"])), lbr]
    if facts.hypervisor not in ("none", UNKNOWN):
        return [Finding(name, "note", f"no counters in this {facts.hypervisor} guest: BOLT instruments")]
    paranoid = facts.perf_event_paranoid
    fix = "sudo sysctl kernel.perf_event_paranoid=1" if paranoid is not None and paranoid > 1 else ""
    return [Finding(name, "note", f"no counters (perf_event_paranoid {paranoid})", instead, fix)]


def frequency(facts: HostFacts) -> list[Finding]:
    """Whether the clock frequency is steady."""
    if facts.governor == UNKNOWN and facts.turbo == UNKNOWN:
        unseen = "not shown by this machine"
        return [Finding("governor, turbo", "note", unseen, "clock changes cannot be seen; duet meets both sides alike")]
    steady = facts.governor in ("performance", UNKNOWN)
    governor = Finding("governor", "ok", facts.governor)
    if not steady:
        consequence = "the clock follows the load: wider intervals, more pairs for the same certainty"
        fix = "sudo cpupower frequency-set -g performance"
        governor = Finding("governor", "lack", facts.governor, consequence, fix)
    turbo = Finding("turbo", "ok", facts.turbo)
    if facts.turbo == "on":
        consequence = "the clock depends on heat and neighbours; duet meets both sides alike"
        cpus = "/sys/devices/system/cpu"
        fix = f"echo 0 | sudo tee {cpus}/cpufreq/boost (Intel: echo 1 to {cpus}/intel_pstate/no_turbo)"
        turbo = Finding("turbo", "note", "on", consequence, fix)
    return [governor, turbo]


def smt(facts: HostFacts) -> Finding:
    """Whether hardware threads share the units of a core."""
    threads = max((len(core) for core in facts.physical_cores), default=1)
    cores = f"{len(facts.physical_cores)} cores, {len(facts.cores_online)} threads"
    if threads > 1:
        return Finding("SMT", "note", cores, "siblings share a core's units; duet keeps them on one side")
    return Finding("SMT", "ok", f"{cores} ({facts.smt})")


def thp(facts: HostFacts) -> Finding:
    """Transparent huge pages."""
    if facts.thp == "always":
        consequence = "large pages come and go by themselves and change a server's speed between starts"
        fix = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        return Finding("THP", "note", facts.thp, consequence, fix)
    return Finding("THP", "ok" if facts.thp != UNKNOWN else "note", facts.thp)


def memory(facts: HostFacts) -> Finding:
    """Whether two servers, or two links, fit."""
    if facts.memory_available_bytes is None:
        return Finding("memory", "note", UNKNOWN)
    free = min(facts.memory_available_bytes, facts.memory_limit_bytes or facts.memory_available_bytes)
    shown = f"{_size(free)} available of {_size(facts.memory_bytes)}, swap {_size(facts.swap_bytes)}"
    if free < _MEMORY_LOW:
        consequence = "two servers, or two LTO links, may not fit: builds fail and trials swap"
        return Finding("memory", "lack", shown, consequence, f"free some: {_size(_MEMORY_LOW)} at the least")
    return Finding("memory", "ok", shown)


def folder(why: str) -> Finding:
    """Burnish's folder that cannot be used.

    Args:
        why: the reason, then, after the last semicolon, what to do.
    """
    found, _, fix = why.rpartition("; ")
    return Finding("home", "lack", found, "nothing can be built, measured or kept", fix)


def disk(facts: HostFacts, needed: Mapping[str, int]) -> Finding:
    """Whether there is room for a complete run of each engine."""
    free = facts.disk_free_bytes
    if free is None:
        return Finding("disk", "note", UNKNOWN)
    short = [f"{engine} ({_size(size)})" for engine, size in needed.items() if size > free]
    if short or free < _DISK_LOW:
        consequence = f"no room for a study of {', '.join(short) or 'anything'}"
        fix = "./burnish clean, or another folder in BURNISH_HOME"
        return Finding("disk", "lack", f"{_size(free)} free", consequence, fix)
    return Finding("disk", "ok", f"{_size(free)} free")


def duet(facts: HostFacts) -> Finding:
    """The cores of both sides in the duet design."""
    sets = duet_core_sets(facts)
    if sets is None:
        consequence = "no duet: sides are interleaved, which takes some 25 times the bench time for the same interval"
        allowed = f"{len(facts.cores_allowed)} core(s) for this process"
        return Finding(
            "cores for duet", "lack", allowed, consequence, "a machine, or an affinity, with two cores or more"
        )
    left, right = (",".join(str(cpu) for cpu in sorted(side)) for side in sets)
    shown = f"{left} against {right}"
    if facts.cpu_quota is not None and facts.cpu_quota < sum(len(side) for side in sets):
        consequence = "the container is throttled during a trial"
        return Finding(
            "cores for duet",
            "lack",
            f"{shown}; CPU quota {facts.cpu_quota:g}",
            consequence,
            "run without a CPU quota",
        )
    return Finding("cores for duet", "ok", shown)


def load(facts: HostFacts) -> Finding:
    """Whether other work is running on this machine."""
    shown = " ".join(f"{value:g}" for value in facts.load_average) or UNKNOWN
    if facts.load_average and facts.load_average[0] > _LOAD_HIGH * len(facts.cores_online):
        return Finding("load", "note", shown, "other work runs here now and widens the intervals", "wait for it to end")
    return Finding("load", "ok", shown)


def _size(count: int | None) -> str:
    return UNKNOWN if count is None else f"{count / _GIB:.1f} GiB"
