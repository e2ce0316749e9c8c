"""`burnish doctor`: what this machine has and lacks, what follows from it, and the command that mends it.

`examine` is a pure function of facts read elsewhere; `as_table` and `as_json` render what it found.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rich.table import Table
from rich.text import Text

from burnish.base.system import group, install_command
from burnish.bench.host import UNKNOWN, HostFacts
from burnish.bench.topology import duet_core_sets
from burnish.model.family import FAMILIES, Family
from burnish.toolchain.link_parts import Offer
from burnish.toolchain.toolchains import Lack, Toolchain, lacks

State = Literal["ok", "lack", "note"]

_PACKAGES = {
    "cmake": "cmake",
    "ninja": "ninja-build",
    "make": "make",
    "dpkg-buildflags": "dpkg-dev",
    "ccache": "ccache",
    "sysbench": "sysbench",
    "perf": "linux-perf",
    "ld.bfd": "binutils",
}
"""The Debian package of each program that has a finding of its own."""

_LINKERS = ("ld.bfd", "ld.gold", "mold")

PROGRAMS = tuple(dict.fromkeys([*_PACKAGES, *_LINKERS]))
"""The programs whose places `examine` wants to know (`burnish.base.system.find_programs`)."""

_GIB = 1 << 30
_DISK_LOW = 2 * _GIB
"""Below it not even SQLite's study fits: sources, and five builds with profiles of some 100 MB each."""
_MEMORY_LOW = 3 * _GIB
"""Two servers with their data and two compilers of some 1 GB each (LTO links) do not fit below it."""
_LOAD_HIGH = 0.5
"""Runnable tasks a core, above which other work is clearly going on."""


@dataclass(frozen=True)
class Finding:
    """One line of the examination.

    Attributes:
        name: what was looked at.
        state: ``ok``; ``lack``: something can't be done or will be worse; ``note``: good to know.
        found: what is there.
        consequence: what follows from it; empty when nothing does.
        mend: the command, or the words, that change it; empty when there is nothing to do.
    """

    name: str
    state: State
    found: str
    consequence: str = ""
    mend: str = ""


def examine(
    facts: HostFacts,
    toolchains: Sequence[Toolchain],
    programs: Mapping[str, Path | None],
    disk_needed: Mapping[str, int] | None = None,
    offers: Sequence[Offer] = (),
    network: Mapping[str, str | None] | None = None,
) -> list[Finding]:
    """All findings about this machine, what builds first, then what measures.

    Args:
        facts: from `burnish.bench.host.read_host`, its folder the one where the work is done.
        toolchains: from `burnish.toolchain.toolchains.find_toolchains`.
        programs: from `burnish.base.system.find_programs(PROGRAMS)`.
        disk_needed: bytes that a whole study of each engine takes, by engine.
        offers: from `burnish.toolchain.link_parts.offers`.
        network: from `burnish.base.netns.offers`; None: not looked at.
    """
    return [
        *(_compiler(family, toolchains) for family in FAMILIES),
        _linkers(toolchains, programs),
        *(_offer(each) for each in offers),
        _bolt(toolchains, facts),
        _program("cmake, ninja", ("cmake", "ninja", "make"), programs, "servers cannot be built"),
        _program("dpkg-dev", ("dpkg-buildflags",), programs, "Debian's own build flags are not known"),
        _program("ccache", ("ccache",), programs, "every build starts from nothing"),
        _program("sysbench", ("sysbench",), programs, "no load for database servers: no training, no trials"),
        *([_network(network), _loopback()] if network else []),
        *_counters(facts, programs),
        *_frequency(facts),
        _smt(facts),
        _thp(facts),
        _memory(facts),
        _disk(facts, disk_needed or {}),
        _duet(facts),
        _load(facts),
    ]


def _lacking(name: str, found: str, missing: Sequence[Lack]) -> Finding:
    """A finding from parts that are missing: their consequences, and every command once."""
    return Finding(
        name,
        "lack",
        found,
        "; ".join(dict.fromkeys(each.consequence for each in missing)),
        " && ".join(dict.fromkeys(each.mend for each in missing)),
    )


def _compiler(family: Family, toolchains: Sequence[Toolchain]) -> Finding:
    mine = [each for each in toolchains if each.family == family]
    if not mine:
        consequence = (
            "no baseline: nothing can be built"
            if family == "gcc"
            else "the clang variants are missing from every study"
        )
        mend = install_command(group(family).packages)
        return Finding(family, "lack", "none", consequence, mend)
    found = ", ".join(f"{each.name} ({each.release})" for each in mine)
    # Linker and BOLT have rows of their own; the newest compiler is the one that is used.
    missing = [
        lack for lack in lacks(mine[0]) if lack.part not in ("linker", "bolt", "merge_fdata", "bolt_can_instrument")
    ]
    return _lacking(family, found, missing) if missing else Finding(family, "ok", found)


def _linkers(toolchains: Sequence[Toolchain], programs: Mapping[str, Path | None]) -> Finding:
    found = [name for name in _LINKERS if programs.get(name)]
    found += [f"lld of {each.name}" for each in toolchains if each.linker]
    shown = ", ".join(found) or "none"
    missing = [lack for each in _newest(toolchains, "clang") for lack in lacks(each) if lack.part == "linker"]
    if not programs.get("ld.bfd"):
        missing.append(Lack("linker", "gcc cannot link", install_command([_PACKAGES["ld.bfd"]])))
    if missing:
        return _lacking("linkers", shown, missing)
    absent = [name for name in _LINKERS if not programs.get(name)]
    if absent:
        consequence = f"variants that ask for {', '.join(absent)} are left out"
        return Finding("linkers", "note", shown, consequence, install_command(group("linkers").packages))
    return Finding("linkers", "ok", shown)


def _offer(offer: Offer) -> Finding:
    found = ", ".join(offer.found) or "none"
    if not offer.missing:
        return Finding(offer.name, "ok", found)
    consequence = f"variants that ask for more are left out (not here: {', '.join(offer.missing)})"
    return Finding(offer.name, "note", found, consequence, install_command(offer.packages) if offer.packages else "")


def _newest(toolchains: Sequence[Toolchain], family: Family) -> list[Toolchain]:
    return [each for each in toolchains if each.family == family][:1]


def _bolt(toolchains: Sequence[Toolchain], facts: HostFacts) -> Finding:
    newest = _newest(toolchains, "clang")
    if not newest:
        mend = install_command(group("bolt").packages)
        return Finding("BOLT", "lack", "no clang to go with it", "the variants with BOLT are missing", mend)
    missing = [lack for lack in lacks(newest[0]) if lack.part in ("bolt", "merge_fdata", "bolt_can_instrument")]
    if newest[0].bolt is None:
        packages = [name.format(major=newest[0].major) for name in ("bolt-{major}", "libbolt-{major}-dev")]
        return Finding("BOLT", "lack", "none", "the variants with BOLT are missing", install_command(packages))
    if missing and not (facts.lbr and newest[0].merge_fdata):
        return _lacking("BOLT", str(newest[0].bolt), missing)
    return Finding("BOLT", "ok", str(newest[0].bolt))


def _program(name: str, needed: Sequence[str], programs: Mapping[str, Path | None], consequence: str) -> Finding:
    missing = [each for each in needed if not programs.get(each)]
    if not missing:
        return Finding(name, "ok", ", ".join(str(programs[each]) for each in needed))
    mend = install_command(_PACKAGES[each] for each in missing)
    return Finding(name, "lack", f"no {', '.join(missing)}", consequence, mend)


def _network(offers: Mapping[str, str | None]) -> Finding:
    """A load on another host: which of it can be had, the reason of each that can't."""
    found = ", ".join(name for name, why in offers.items() if why is None) or "none"
    reasons = "; ".join(why for why in offers.values() if why is not None)
    if reasons:
        return Finding("another host", "note", found, reasons)
    return Finding("another host", "ok", found)


def _loopback() -> Finding:
    consequence = "while a server is measured over it (transport=tcp, tls) no password is asked: all can read its data"
    return Finding("loopback", "note", "shared by all users", consequence, "transport=remote, whose network is its own")


def _counters(facts: HostFacts, programs: Mapping[str, Path | None]) -> list[Finding]:
    """perf, PMU and LBR: one line where a virtual machine passes no counters on."""
    name = "perf, PMU, LBR"
    instead = "BOLT instruments instead of sampling branches"
    if not programs.get("perf"):
        return [Finding(name, "note", "no perf", f"no counters; {instead}", install_command([_PACKAGES["perf"]]))]
    if facts.pmu:
        lbr = Finding("LBR", "ok", "branch records") if facts.lbr else Finding("LBR", "note", "none", instead)
        return [Finding("perf, PMU", "ok", str(programs["perf"])), lbr]
    if facts.hypervisor not in ("none", UNKNOWN):
        return [Finding(name, "note", f"no counters in this {facts.hypervisor} guest: BOLT instruments")]
    paranoid = facts.perf_event_paranoid
    mend = "sudo sysctl kernel.perf_event_paranoid=1" if paranoid is not None and paranoid > 1 else ""
    return [Finding(name, "note", f"no counters (perf_event_paranoid {paranoid})", instead, mend)]


def _frequency(facts: HostFacts) -> list[Finding]:
    if facts.governor == UNKNOWN and facts.turbo == UNKNOWN:
        found = "not shown by this machine"
        return [Finding("governor, turbo", "note", found, "clock changes cannot be seen; duet meets both sides alike")]
    steady = facts.governor in ("performance", UNKNOWN)
    governor = Finding("governor", "ok", facts.governor)
    if not steady:
        consequence = "the clock follows the load: wider intervals, more pairs for the same certainty"
        mend = "sudo cpupower frequency-set -g performance"
        governor = Finding("governor", "lack", facts.governor, consequence, mend)
    turbo = Finding("turbo", "ok", facts.turbo)
    if facts.turbo == "on":
        consequence = "the clock depends on heat and neighbours; duet meets both sides alike"
        cpus = "/sys/devices/system/cpu"
        mend = f"echo 0 | sudo tee {cpus}/cpufreq/boost (Intel: echo 1 to {cpus}/intel_pstate/no_turbo)"
        turbo = Finding("turbo", "note", "on", consequence, mend)
    return [governor, turbo]


def _smt(facts: HostFacts) -> Finding:
    threads = max((len(core) for core in facts.physical_cores), default=1)
    cores = f"{len(facts.physical_cores)} cores, {len(facts.cores_online)} threads"
    if threads > 1:
        return Finding("SMT", "note", cores, "siblings share a core's units; duet keeps them on one side")
    return Finding("SMT", "ok", f"{cores} ({facts.smt})")


def _thp(facts: HostFacts) -> Finding:
    if facts.thp == "always":
        consequence = "large pages come and go by themselves and change a server's speed between starts"
        mend = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        return Finding("THP", "note", facts.thp, consequence, mend)
    return Finding("THP", "ok" if facts.thp != UNKNOWN else "note", facts.thp)


def _memory(facts: HostFacts) -> Finding:
    if facts.memory_available_bytes is None:
        return Finding("memory", "note", UNKNOWN)
    free = min(facts.memory_available_bytes, facts.memory_limit_bytes or facts.memory_available_bytes)
    found = f"{_size(free)} available of {_size(facts.memory_bytes)}, swap {_size(facts.swap_bytes)}"
    if free < _MEMORY_LOW:
        consequence = "two servers, or two LTO links, may not fit: builds fail and trials swap"
        return Finding("memory", "lack", found, consequence, f"free some: {_size(_MEMORY_LOW)} at the least")
    return Finding("memory", "ok", found)


def _disk(facts: HostFacts, needed: Mapping[str, int]) -> Finding:
    free = facts.disk_free_bytes
    if free is None:
        return Finding("disk", "note", UNKNOWN)
    short = [f"{engine} ({_size(size)})" for engine, size in needed.items() if size > free]
    if short or free < _DISK_LOW:
        consequence = f"no room for a study of {', '.join(short) or 'anything'}"
        mend = "./burnish clean, or another folder in BURNISH_HOME"
        return Finding("disk", "lack", f"{_size(free)} free", consequence, mend)
    return Finding("disk", "ok", f"{_size(free)} free")


def _duet(facts: HostFacts) -> Finding:
    sets = duet_core_sets(facts)
    if sets is None:
        consequence = "no duet: sides are interleaved, which takes some 25 times the bench time for the same interval"
        found = f"{len(facts.cores_allowed)} core(s) for this process"
        return Finding(
            "cores for duet", "lack", found, consequence, "a machine, or an affinity, with two cores or more"
        )
    left, right = (",".join(str(cpu) for cpu in sorted(side)) for side in sets)
    found = f"{left} against {right}"
    if facts.cpu_quota is not None and facts.cpu_quota < sum(len(side) for side in sets):
        consequence = "the container is throttled in the midst of a trial"
        return Finding(
            "cores for duet",
            "lack",
            f"{found}; CPU quota {facts.cpu_quota:g}",
            consequence,
            "run without a CPU quota",
        )
    return Finding("cores for duet", "ok", found)


def _load(facts: HostFacts) -> Finding:
    shown = " ".join(f"{value:g}" for value in facts.load_average) or UNKNOWN
    if facts.load_average and facts.load_average[0] > _LOAD_HIGH * len(facts.cores_online):
        return Finding("load", "note", shown, "other work runs here now and widens the intervals", "wait for it to end")
    return Finding("load", "ok", shown)


def _size(count: int | None) -> str:
    return UNKNOWN if count is None else f"{count / _GIB:.1f} GiB"


_MARKS: dict[State, tuple[str, str]] = {
    "ok": ("ok", "green"),
    "lack": ("lack", "bold red"),
    "note": ("note", "yellow"),
}


def as_table(findings: Sequence[Finding]) -> Table:
    """The findings for a terminal of 80 columns or more; consequence and mend under what was found."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        mark, style = _MARKS[finding.state]
        text = Text(finding.found)
        if finding.consequence:
            text.append(f"\n{finding.consequence}", style="dim")
        if finding.mend:
            text.append(f"\nmend: {finding.mend}", style="cyan")
        table.add_row(Text(mark, style=style), finding.name, text)
    return table


def as_json(findings: Sequence[Finding], facts: HostFacts | None = None) -> str:
    """The findings as JSON, with the host's facts when given."""
    content: dict[str, object] = {"findings": [asdict(finding) for finding in findings]}
    if facts is not None:
        content["host"] = facts.as_record()
    return json.dumps(content, indent=2, default=str)
