"""Finding compilers: in trees made of scripts that answer like them, and on this machine."""

from __future__ import annotations

import dataclasses
import platform
from pathlib import Path

import pytest

import chains
from burnish.base import system
from burnish.base.errors import UserError
from burnish.toolchain import toolchains
from burnish.toolchain.toolchains import Toolchain, choose, find_toolchains, lacks


@dataclasses.dataclass(frozen=True)
class Tree:
    """A /usr of one's own: ``bin`` on PATH, ``lib`` with the llvm folders."""

    root: Path

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    def program(self, path: str, says: str = "") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{says}\n")
        file.chmod(0o755)
        return file

    def gcc(self, version: str, folder: str = "bin", libgcov: bool = True) -> None:
        major = version.partition(".")[0]
        library = self.root / folder / f"libgcov-{major}.a"
        self.program(
            f"{folder}/gcc-{major}",
            f'case $1 in --version) echo "gcc-{major} (Debian {version}-1) {version}";;\n'
            f" -print-file-name=*) echo {library if libgcov else 'libgcov.a'};; esac",
        )
        library.touch()
        for tool in ("g++", "gcc-ar", "gcc-ranlib", "gcov-dump"):
            self.program(f"{folder}/{tool}-{major}")

    def clang(self, version: str, *, parts: tuple[str, ...] = ("lld", "llvm", "rt", "bolt", "boltrt")) -> None:
        """Laid out as Debian does: everything in lib/llvm-N/bin, and links of versioned names in bin."""
        major = version.partition(".")[0]
        home = f"lib/llvm-{major}"
        resource = self.root / home / "lib/clang" / major
        names = ["clang", "clang++"]
        names += ["ld.lld"] if "lld" in parts else []
        names += ["llvm-ar", "llvm-ranlib", "llvm-profdata"] if "llvm" in parts else []
        names += ["llvm-bolt", "merge-fdata"] if "bolt" in parts else []
        for name in names:
            self.program(
                f"{home}/bin/{name}",
                f'case $1 in --version) echo "Debian clang version {version} (3~deb12u1)";;\n'
                f" -print-resource-dir) echo {resource};; esac",
            )
            self.bin.mkdir(exist_ok=True)
            (self.bin / f"{name}-{major}").symlink_to(self.root / home / "bin" / name)
        runtime = resource / f"lib/linux/libclang_rt.profile-{platform.machine()}.a"
        runtime.parent.mkdir(parents=True)
        if "rt" in parts:
            runtime.touch()
        if "boltrt" in parts:
            (self.root / home / "lib/libbolt_rt_instr.a").touch()

    def find(self, path: str | None = None) -> list[Toolchain]:
        return find_toolchains(path or str(self.bin), self.root / "lib")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_each_is_found_once_newest_first_in_its_family(tree: Tree) -> None:
    for version in ("14.0.6", "22.1.0", "9.0.1"):
        tree.clang(version)
    for version in ("9.5.0", "12.2.0"):
        tree.gcc(version)
    (tree.bin / "gcc").symlink_to("gcc-12")
    (tree.bin / "clang").symlink_to("clang-14")
    (tree.root / "usr").symlink_to(tree.bin)  # merged /usr: one folder under two names
    result = tree.find(f"{tree.bin}:{tree.root}/usr")
    assert [item.name for item in result] == ["gcc-12", "gcc-9", "clang-22", "clang-14", "clang-9"]
    assert [item.release for item in result[:2]] == ["12.2.0", "9.5.0"]
    assert all(not lacks(item) for item in result)


def test_a_clang_uses_the_tools_of_its_own_folder(tree: Tree) -> None:
    tree.clang("19.1.7")
    tree.clang("14.0.6")
    home = tree.root / "lib/llvm-19/bin"
    result = choose("clang", tree.find())
    assert (result.cc, result.cxx, result.linker) == (home / "clang", home / "clang++", home / "ld.lld")
    assert (result.profdata, result.ar, result.bolt) == (
        home / "llvm-profdata",
        home / "llvm-ar",
        home / "llvm-bolt",
    )
    assert result.merge_fdata == home / "merge-fdata"
    assert result.version == "Debian clang version 19.1.7 (3~deb12u1)"


def test_two_of_one_release_by_hand_are_told_apart_by_what_they_are(tree: Tree) -> None:
    """As with a patch that its version line says nothing of; the distribution's own have its revision there."""
    for folder in ("bin", "other"):
        tree.gcc("12.2.0", folder)
    tree.program("other/cc1plus", "patched")
    line = "gcc (Debian 12.2.0-1) 12.2.0"
    tree.program(
        "other/gcc-12",
        f'case $1 in --version) echo "gcc-12 (Debian 12.2.0-1) 12.2.0";; -print-prog-name=cc1plus) echo '
        f"{tree.root}/other/cc1plus;; esac",
    )
    both = tree.find(f"{tree.bin}:{tree.root}/other")
    assert [(item.name, item.version) for item in both] == [("gcc-12", line), ("gcc-12.2.0", line)]
    before = both[1].identity
    assert both[0].identity != before
    assert all(item.identity.startswith(f"{line}, programs ") for item in both)
    tree.program("other/cc1plus", "patched once more")
    assert choose(str(tree.root / "other/gcc-12"), both).identity not in (before, both[0].identity)


def test_gccs_bolt_is_known_by_its_own_version(tree: Tree) -> None:
    tree.gcc("12.2.0")
    assert [item.bolt_version for item in tree.find()] == [""]
    tree.program("bin/llvm-bolt", "printf 'LLVM (http://llvm.org/):\\n  LLVM version 16.0.6\\n'")
    tree.clang("19.1.7")
    gcc, clang = tree.find()
    assert (gcc.bolt_version, clang.bolt_version) == ("LLVM version 16.0.6", clang.identity)


def test_a_clang_outside_path_is_found(tree: Tree) -> None:
    tree.clang("19.1.7")
    assert [item.name for item in tree.find("/nonexistent")] == ["clang-19"]


@pytest.mark.parametrize(
    ("without", "parts", "package"),
    [
        ("lld", ["linker"], "lld-19"),
        ("llvm", ["ar", "profdata"], "llvm-19"),
        ("rt", ["has_profile_runtime"], "libclang-rt-19-dev"),
        ("bolt", ["bolt", "merge_fdata"], "bolt-19"),
        ("boltrt", ["bolt_can_instrument"], "libbolt-19-dev"),
    ],
)
def test_a_clang_without_a_part_is_still_one_and_says_what_that_costs(
    tree: Tree, without: str, parts: list[str], package: str
) -> None:
    every = ("lld", "llvm", "rt", "bolt", "boltrt")
    tree.clang("19.1.7", parts=tuple(part for part in every if part != without))
    (result,) = tree.find()
    missing = [lack for lack in lacks(result) if lack.part in parts]
    assert [lack.part for lack in missing] == parts
    assert not any(getattr(result, part) for part in parts)
    for lack in missing:
        assert lack.fix.endswith(f" {package}")
        assert "missing" in str(lack)


def test_a_gcc_takes_tools_of_its_own_version_and_the_newest_bolt(tree: Tree) -> None:
    tree.gcc("12.2.0")
    tree.gcc("13.1.0")
    tree.clang("14.0.6")
    tree.clang("19.1.7")
    (tree.bin / "gcov-dump").symlink_to("gcov-dump-13")
    result = choose("gcc-12", tree.find())
    assert result.cxx == tree.bin / "g++-12"
    assert result.gcov_dump == tree.bin / "gcov-dump-12"
    assert result.bolt == tree.root / "lib/llvm-19/bin/llvm-bolt"
    assert result.bolt_can_instrument
    assert result.version == "gcc (Debian 12.2.0-1) 12.2.0"
    assert result.major == 12


def test_a_gcc_without_its_own_cxx_compiler_is_no_toolchain(tree: Tree) -> None:
    tree.gcc("12.2.0")
    tree.gcc("13.1.0")
    (tree.bin / "g++-13").unlink()
    (tree.bin / "g++").symlink_to("g++-12")
    assert [item.name for item in tree.find()] == ["gcc-12"]


def test_a_gcc_without_its_profile_runtime(tree: Tree) -> None:
    tree.gcc("12.2.0", libgcov=False)
    (result,) = tree.find()
    assert [lack.part for lack in lacks(result)] == ["has_profile_runtime"]


def test_links_of_ccache_are_no_compilers(tree: Tree) -> None:
    ccache = tree.program("bin/ccache", 'echo "gcc-12 (Debian 12.2.0-1) 12.2.0"')
    tree.program("lib/ccache/g++-12")
    (tree.root / "lib/ccache/gcc-12").symlink_to(ccache)
    assert tree.find(f"{tree.root}/lib/ccache") == []


def test_two_releases_of_one_major_are_told_apart(tree: Tree) -> None:
    tree.gcc("12.2.0")
    tree.gcc("12.4.0", folder="opt")
    result = tree.find(f"{tree.bin}:{tree.root}/opt")
    assert {item.name for item in result} == {"gcc-12", "gcc-12.4.0"}
    assert choose("gcc-12", result).release == "12.2.0"
    assert choose("gcc-12.4.0", result).cc == tree.root / "opt/gcc-12"


def test_programs_that_do_not_answer_like_compilers_are_passed_over(tree: Tree) -> None:
    tree.program("bin/gcc-7", "exit 1")
    (tree.program("bin/clang-3")).write_bytes(b"\x7fELF nonsense")
    assert tree.find() == []


def test_choosing_what_is_not_there(tree: Tree) -> None:
    tree.gcc("12.2.0")
    result = tree.find()
    with pytest.raises(UserError, match=r"no compiler 'clang-22'.*there are: gcc-12;.*clang-22 lld-22"):
        choose("clang-22", result)
    offered = " ".join(system.packages("clang"))
    with pytest.raises(UserError, match=rf"no compiler 'clang'.*{offered}"):
        choose("clang", result)
    with pytest.raises(UserError, match=r"unknown compiler 'gc-12'.*did you mean 'gcc-12'"):
        choose("gc-12", result)
    with pytest.raises(UserError, match="/bin/true: not a gcc or clang"):
        choose("/bin/true", result)
    with pytest.raises(UserError, match="there are: none"):
        choose("gcc", [])


def test_bolts_packages_are_those_of_the_compiler_or_of_the_bolt_that_is_here() -> None:
    place = Path("/usr/lib/llvm-16/bin/llvm-bolt")
    assert toolchains.bolt_packages(chains.toolchain("clang", 20)) == ("bolt-20", "libbolt-20-dev")
    assert toolchains.bolt_packages(dataclasses.replace(chains.GCC, bolt=place)) == ("bolt-16", "libbolt-16-dev")
    assert toolchains.bolt_packages(dataclasses.replace(chains.GCC, bolt=None)) == system.packages("bolt")


def test_choosing_by_path(tree: Tree) -> None:
    tree.clang("19.1.7")
    assert choose(str(tree.bin / "clang-19"), []) == tree.find()[0]


def test_every_part_of_the_catalogue_is_a_field() -> None:
    fields = {field.name for field in dataclasses.fields(Toolchain)}
    for family in toolchains.FAMILIES:
        assert toolchains.packages_for(family, 19)
        assert toolchains._families()[family].parts.keys() <= fields


def test_this_machines_compilers_are_programs(toolchains: list[Toolchain]) -> None:
    for toolchain in toolchains:
        programs = [toolchain.cc, toolchain.cxx, toolchain.ar, toolchain.linker, toolchain.profdata, toolchain.bolt]
        assert all(program.is_file() for program in programs if program is not None), toolchain
