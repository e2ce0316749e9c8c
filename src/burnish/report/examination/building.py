"""What this machine builds with: compilers, linkers, parts of links, BOLT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.base import system
from burnish.base.system import install_command
from burnish.bench.host import HostFacts
from burnish.model.family import Family
from burnish.report.examination.finding import LINKERS, PACKAGES, Finding, lacking
from burnish.toolchain.link_parts import Offer
from burnish.toolchain.toolchains import Lack, Toolchain, bolt_packages, lacks


def compiler(family: Family, toolchains: Sequence[Toolchain]) -> Finding:
    """The compilers of a family, and what the newest lacks, which is the one that is used."""
    members = [toolchain for toolchain in toolchains if toolchain.family == family]
    if not members:
        consequence = (
            "no baseline: nothing can be built"
            if family == "gcc"
            else "the clang variants are missing from every study"
        )
        fix = install_command(system.packages(family))
        return Finding(family, "lack", "none", consequence, fix)
    shown = ", ".join(f"{member.name} ({member.release})" for member in members)
    # Linker and BOLT have rows of their own.
    missing = [
        lack for lack in lacks(members[0]) if lack.part not in ("linker", "bolt", "merge_fdata", "bolt_can_instrument")
    ]
    return lacking(family, shown, missing) if missing else Finding(family, "ok", shown)


def newer_clang(toolchains: Sequence[Toolchain], packages: Sequence[str]) -> list[Finding]:
    """Says that the distribution has a newer clang than the newest of this machine, which variants would take.

    Args:
        toolchains: this machine's.
        packages: of the newest clang that the package lists have whole, the compiler's own first; empty: not known.
    """
    if not packages:
        return []
    here = _newest(toolchains, "clang")
    offered = int(packages[0].rpartition("-")[2])
    if here and here[0].major >= offered:
        return []
    found = f"{packages[0]} is in the package lists, {here[0].name if here else 'no clang'} is installed"
    consequence = "variants and searches take the newest clang that is installed, with its own lld and BOLT"
    return [Finding("newest clang", "note", found, consequence, install_command(packages))]


def linkers(toolchains: Sequence[Toolchain], programs: Mapping[str, Path | None]) -> Finding:
    """The linkers, and which variants are left out because some are missing."""
    present = [name for name in LINKERS if programs.get(name)]
    present += [f"lld of {toolchain.name}" for toolchain in toolchains if toolchain.linker]
    shown = ", ".join(present) or "none"
    missing = [lack for clang in _newest(toolchains, "clang") for lack in lacks(clang) if lack.part == "linker"]
    if not programs.get("ld.bfd"):
        missing.append(Lack("linker", "gcc cannot link", install_command([PACKAGES["ld.bfd"]])))
    if missing:
        return lacking("linkers", shown, missing)
    absent = [name for name in LINKERS if not programs.get(name)]
    if absent:
        consequence = f"variants that ask for {', '.join(absent)} are left out"
        clang = next((toolchain.major for toolchain in _newest(toolchains, "clang")), None)
        return Finding("linkers", "note", shown, consequence, install_command(system.packages("linkers", clang)))
    return Finding("linkers", "ok", shown)


def offer(part: Offer) -> Finding:
    """Parts that builds can be linked with, such as allocators."""
    present = ", ".join(part.found) or "none"
    if not part.missing:
        return Finding(part.name, "ok", present)
    consequence = f"variants that ask for more are left out (not here: {', '.join(part.missing)})"
    return Finding(part.name, "note", present, consequence, install_command(part.packages) if part.packages else "")


def bolt(toolchains: Sequence[Toolchain], facts: HostFacts) -> Finding:
    """BOLT of the newest clang; its runtime is not needed if the processor records branches."""
    newest = _newest(toolchains, "clang")
    if not newest:
        fix = install_command(system.packages("bolt"))
        return Finding("BOLT", "lack", "no clang of the same version", "the variants with BOLT are missing", fix)
    missing = [lack for lack in lacks(newest[0]) if lack.part in ("bolt", "merge_fdata", "bolt_can_instrument")]
    if newest[0].bolt is None:
        fix = install_command(bolt_packages(newest[0]))
        return Finding("BOLT", "lack", "none", "the variants with BOLT are missing", fix)
    if missing and not (facts.lbr and newest[0].merge_fdata):
        return lacking("BOLT", str(newest[0].bolt), missing)
    return Finding("BOLT", "ok", str(newest[0].bolt))


def _newest(toolchains: Sequence[Toolchain], family: Family) -> list[Toolchain]:
    return [toolchain for toolchain in toolchains if toolchain.family == family][:1]
