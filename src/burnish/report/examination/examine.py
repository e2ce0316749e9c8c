"""The examination of this machine: what it has and lacks for building and for measuring; a function of its facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.bench.host import HostFacts
from burnish.model.family import FAMILIES
from burnish.report.examination import building, measuring
from burnish.report.examination.finding import Finding, program
from burnish.toolchain.link_parts import Offer
from burnish.toolchain.toolchains import Toolchain


def examine(
    facts: HostFacts,
    toolchains: Sequence[Toolchain],
    programs: Mapping[str, Path | None],
    disk_needed: Mapping[str, int] | None = None,
    offers: Sequence[Offer] = (),
    network: Mapping[str, str | None] | None = None,
    newest_clang: Sequence[str] = (),
    home: str = "",
) -> list[Finding]:
    """All findings about this machine, first for building, then for measuring.

    Args:
        facts: from `burnish.bench.host.read_host`, called with the folder where the work is done.
        toolchains: from `burnish.toolchain.toolchains.find_toolchains`.
        programs: from `burnish.base.system.find_programs(PROGRAMS)`.
        disk_needed: bytes that a complete study of each engine takes, by engine.
        offers: from `burnish.toolchain.link_parts.offers`.
        network: from `burnish.base.netns.offers`; None: not examined.
        newest_clang: from `burnish.base.system.newest`, of the group ``clang-newest``.
        home: why Burnish's folder cannot be used, as `burnish.base.paths.home` says it; '' if it can. The free space of
            `facts` is another folder's then, and is not examined.
    """
    return [
        *(building.compiler(family, toolchains) for family in FAMILIES),
        *building.newer_clang(toolchains, newest_clang),
        building.linkers(toolchains, programs),
        *(building.offer(part) for part in offers),
        building.bolt(toolchains, facts),
        program("cmake, ninja", ("cmake", "ninja", "make"), programs, "servers cannot be built"),
        program("dpkg-dev", ("dpkg-buildflags",), programs, "Debian's own build flags are not known"),
        program("ccache", ("ccache",), programs, "every build starts from nothing"),
        program("sysbench", ("sysbench",), programs, "no load for database servers: no training, no trials"),
        *([measuring.network(network), measuring.loopback()] if network else []),
        *measuring.counters(facts, programs),
        *measuring.frequency(facts),
        measuring.smt(facts),
        measuring.thp(facts),
        measuring.memory(facts),
        measuring.folder(home) if home else measuring.disk(facts, disk_needed or {}),
        measuring.duet(facts),
        measuring.load(facts),
    ]
