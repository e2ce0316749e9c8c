"""What the examination says of good, poor and virtual machines, and how it is shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from burnish.bench.host import UNKNOWN, HostFacts, read_host
from burnish.report.examination import examine as doctor
from burnish.report.examination.finding import PROGRAMS, Finding
from burnish.report.render import json as renderer
from burnish.report.sections.doctor import document
from burnish.report.values.kept import findings as values
from burnish.toolchain.link_parts import Offer
from burnish.toolchain.toolchains import Toolchain
from drawn import drawn

EVERYTHING: dict[str, Path | None] = {name: Path("/usr/bin") / name for name in PROGRAMS}


def toolchain(family: str, **changes: Any) -> Toolchain:
    tool = Path("/usr/bin/tool")
    clang = family == "clang"
    whole = Toolchain(
        name=f"{family}-19",
        family="clang" if clang else "gcc",
        version="19.1.7",
        identity="19.1.7",
        release="19.1.7",
        cc=tool,
        cxx=tool,
        ar=tool,
        ranlib=tool,
        linker=tool if clang else None,
        profdata=tool if clang else None,
        gcov_dump=None if clang else tool,
        bolt=tool,
        bolt_version="19.1.7",
        merge_fdata=tool,
        has_profile_runtime=True,
        bolt_can_instrument=True,
    )
    return replace(whole, **changes)


BOTH = (toolchain("gcc"), toolchain("clang"))


@pytest.fixture
def facts() -> HostFacts:
    """A bare-metal host with nothing to complain about."""
    return replace(
        read_host(programs=False),
        cores_online=(0, 1, 2, 3),
        cores_allowed=(0, 1, 2, 3),
        cpu_quota=None,
        smt="off",
        physical_cores=((0,), (1,), (2,), (3,)),
        l3_groups=((0, 1, 2, 3),),
        numa_nodes=((0, 1, 2, 3),),
        capacities=(),
        hypervisor="none",
        memory_bytes=16 << 30,
        memory_available_bytes=12 << 30,
        memory_limit_bytes=None,
        swap_bytes=0,
        governor="performance",
        turbo="off",
        thp="madvise",
        pmu=True,
        lbr=True,
        perf_event_paranoid=1,
        disk_free_bytes=100 << 30,
        load_average=(0.1, 0.1, 0.1),
    )


def examine(facts: HostFacts, toolchains: Sequence[Toolchain] = BOTH, **programs: Path | None) -> dict[str, Finding]:
    found = doctor.examine(facts, toolchains, EVERYTHING | programs, {"mariadb": 10 << 30})
    assert len({finding.name for finding in found}) == len(found)
    for finding in found:
        assert finding.state != "lack" or (finding.consequence and finding.fix), finding
    return {finding.name: finding for finding in found}


def test_a_good_machine_lacks_nothing(facts: HostFacts) -> None:
    found = examine(facts)
    assert {finding.state for finding in found.values()} == {"ok"}
    assert {"gcc", "clang", "linkers", "BOLT", "cmake, ninja", "ccache", "sysbench", "perf, PMU"} <= found.keys()
    assert {"LBR", "governor", "turbo", "SMT", "THP", "memory", "disk", "cores for duet"} <= found.keys()
    assert found["cores for duet"].found == "0,1 against 2,3"


def test_a_home_that_cannot_be_made_is_a_finding(facts: HostFacts) -> None:
    why = "/proc/a; b: cannot make Burnish's folder (No such file or directory); name another one in BURNISH_HOME"
    found = {finding.name: finding for finding in doctor.examine(facts, BOTH, EVERYTHING, home=why)}
    assert found["home"].state == "lack"
    assert found["home"].found == "/proc/a; b: cannot make Burnish's folder (No such file or directory)"
    assert found["home"].fix == "name another one in BURNISH_HOME"
    assert "disk" not in found, "the free space is of another folder"


def test_nothing_installed(facts: HostFacts) -> None:
    found = doctor.examine(facts, [], {})
    lacking = {finding.name: finding for finding in found if finding.state == "lack"}
    assert lacking.keys() == {
        "gcc",
        "clang",
        "linkers",
        "BOLT",
        "cmake, ninja",
        "dpkg-dev",
        "ccache",
        "sysbench",
    }
    assert all("apt-get install" in finding.fix for finding in lacking.values())
    assert all(finding.consequence for finding in lacking.values())
    assert "cmake ninja-build make" in lacking["cmake, ninja"].fix


@pytest.mark.parametrize(
    ("changes", "name", "package"),
    [
        ({"linker": None}, "linkers", "lld-19"),
        ({"has_profile_runtime": False}, "clang", "libclang-rt-19-dev"),
        ({"profdata": None, "ar": None}, "clang", "llvm-19"),
        ({"bolt": None, "merge_fdata": None}, "BOLT", "bolt-19 libbolt-19-dev"),
    ],
)
def test_an_incomplete_clang(facts: HostFacts, changes: dict[str, Any], name: str, package: str) -> None:
    found = examine(facts, [BOTH[0], toolchain("clang", **changes)])
    assert [finding.name for finding in found.values() if finding.state == "lack"] == [name]
    assert found[name].fix.endswith(package)
    assert found[name].fix.count("apt-get") == 1


def test_bolt_without_its_runtime_is_a_lack_only_without_lbr(facts: HostFacts) -> None:
    chains = [BOTH[0], toolchain("clang", bolt_can_instrument=False)]
    assert examine(facts, chains)["BOLT"].state == "ok"
    poor = examine(replace(facts, lbr=False), chains)["BOLT"]
    assert poor.state == "lack"
    assert poor.fix.endswith("libbolt-19-dev")


def test_a_virtual_machine_without_counters_gets_one_line(facts: HostFacts) -> None:
    guest = replace(facts, hypervisor="KVM", pmu=False, lbr=False, governor=UNKNOWN, turbo=UNKNOWN)
    found = examine(guest)
    about = [finding for name, finding in found.items() if "PMU" in name or "LBR" in name]
    assert len(about) == 1
    assert about[0].state == "note"
    assert "KVM" in about[0].found
    assert len([line for line in rendered(list(found.values())) if "PMU" in line or "KVM" in line]) == 1


def test_counters_on_bare_metal(facts: HostFacts) -> None:
    closed = examine(replace(facts, pmu=False, lbr=False, perf_event_paranoid=3))["perf, PMU, LBR"]
    assert closed.fix == "sudo sysctl kernel.perf_event_paranoid=1"
    no_lbr = examine(replace(facts, lbr=False))["LBR"]
    assert "instruments" in no_lbr.consequence
    assert examine(facts, perf=None)["perf, PMU, LBR"].fix.endswith("linux-perf")


@pytest.mark.parametrize(
    ("changes", "name", "state", "words"),
    [
        ({"governor": "powersave"}, "governor", "lack", "performance"),
        ({"turbo": "on"}, "turbo", "note", "boost"),
        ({"thp": "always"}, "THP", "note", "transparent_hugepage"),
        ({"memory_available_bytes": 1 << 30}, "memory", "lack", "3.0 GiB"),
        ({"memory_limit_bytes": 1 << 30}, "memory", "lack", "3.0 GiB"),
        ({"disk_free_bytes": 5 << 30}, "disk", "lack", "clean"),
        ({"disk_free_bytes": 1 << 30}, "disk", "lack", "clean"),
        ({"cores_allowed": (2,)}, "cores for duet", "lack", "two cores"),
        ({"cpu_quota": 1.5}, "cores for duet", "lack", "quota"),
        ({"physical_cores": ((0, 1), (2, 3))}, "SMT", "note", ""),
        ({"load_average": (3.0, 1.0, 1.0)}, "load", "note", "wait"),
    ],
)
def test_one_thing_wrong(facts: HostFacts, changes: dict[str, Any], name: str, state: str, words: str) -> None:
    found = examine(replace(facts, **changes))
    assert [finding.name for finding in found.values() if finding.state != "ok"] == [name]
    assert found[name].state == state
    assert found[name].consequence
    assert words in found[name].fix


def test_a_study_that_does_not_fit_is_named(facts: HostFacts) -> None:
    assert "mariadb (10.0 GiB)" in examine(replace(facts, disk_free_bytes=5 << 30))["disk"].consequence


def test_unknown_everywhere_is_no_error(facts: HostFacts) -> None:
    blank = replace(
        facts,
        memory_bytes=None,
        memory_available_bytes=None,
        swap_bytes=None,
        disk_free_bytes=None,
        thp=UNKNOWN,
        hypervisor=UNKNOWN,
        pmu=None,
        lbr=None,
        perf_event_paranoid=None,
        load_average=(),
    )
    assert all(finding.state in ("ok", "note") for finding in examine(blank).values())


def rendered(findings: Sequence[Finding], width: int = 80) -> list[str]:
    return drawn(document(findings), width).splitlines()


def test_the_table_fits_80_columns_and_loses_nothing(facts: HostFacts) -> None:
    findings = doctor.examine(facts, [], {}, {"mariadb": 1 << 40})
    lines = rendered(findings)
    assert max(len(line) for line in lines) <= 80
    shown = " ".join(" ".join(lines).split())
    for finding in findings:
        assert finding.name in shown
        for word in (finding.fix + " " + finding.consequence).split():
            assert word in shown


def test_json(facts: HostFacts) -> None:
    findings = doctor.examine(facts, BOTH, EVERYTHING)
    content = json.loads(renderer.text(values(findings, facts)))
    assert content["findings"][0] == {
        "name": "gcc",
        "state": "ok",
        "found": "gcc-19 (19.1.7)",
        "consequence": "",
        "fix": "",
    }
    assert content["host"]["cores_online"] == [0, 1, 2, 3]
    assert "host" not in values(findings)


def test_linkers_that_variants_may_ask_for_are_named(facts: HostFacts) -> None:
    found = examine(facts, mold=None)["linkers"]
    assert (found.state, found.consequence) == ("note", "variants that ask for mold are left out")
    assert "apt-get install" in found.fix
    assert "mold" in found.fix


def test_a_newer_clang_of_the_distribution_is_a_note(facts: HostFacts) -> None:
    packages = ["clang-22", "lld-22", "bolt-22"]

    def newest(toolchains: Sequence[Toolchain], packages: Sequence[str]) -> Finding | None:
        found = doctor.examine(facts, toolchains, EVERYTHING, newest_clang=packages)
        return next((one for one in found if one.name == "newest clang"), None)

    note = newest(BOTH, packages)
    assert note is not None
    assert (note.state, note.found) == ("note", "clang-22 is in the package lists, clang-19 is installed")
    assert note.fix.endswith("clang-22 lld-22 bolt-22")
    bare = newest(BOTH[:1], packages)
    assert bare is not None
    assert bare.found == "clang-22 is in the package lists, no clang is installed"
    assert newest(BOTH, ["clang-19", "lld-19"]) is None
    assert newest((*BOTH[:1], toolchain("clang", name="clang-22", release="22.1.8")), packages) is None
    assert newest(BOTH, []) is None, "without package lists nothing is known"


def test_what_links_could_have_more_of_is_a_note(facts: HostFacts) -> None:
    offers = [
        Offer("allocators", ("libc", "jemalloc"), ("mimalloc",), ("libmimalloc2.0",)),
        Offer("32-bit programs", ("gcc-12",), ()),
    ]
    found = {each.name: each for each in doctor.examine(facts, BOTH, EVERYTHING, None, offers)}
    assert found["allocators"].state == "note"
    assert "mimalloc" in found["allocators"].consequence
    assert found["allocators"].fix.endswith("libmimalloc2.0")
    assert (found["32-bit programs"].state, found["32-bit programs"].found) == ("ok", "gcc-12")


def test_a_load_on_another_host_is_a_line_with_what_it_lacks(facts: HostFacts) -> None:
    def told(offers: dict[str, str | None]) -> Finding:
        found = doctor.examine(facts, BOTH, EVERYTHING, network=offers)
        return next(finding for finding in found if finding.name == "another host")

    assert told({"transport=remote": None, "rate=": None}) == Finding("another host", "ok", "transport=remote, rate=")
    lacks = told({"transport=remote": None, "delay=": "no netem: ...; leave delay= out"})
    assert (lacks.state, lacks.found) == ("note", "transport=remote")
    assert lacks.consequence == "no netem: ...; leave delay= out"
    assert told({"transport=remote": "no namespaces: run as root"}).found == "none"
    every = doctor.examine(facts, BOTH, EVERYTHING, network={"transport=remote": None})
    assert "no password is asked" in next(each for each in every if each.name == "loopback").consequence
