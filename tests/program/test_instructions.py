"""What code needs of a processor: levels, what is chosen at run time, what can't be told."""

from __future__ import annotations

import platform
import struct
import subprocess
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue.instructions import Dispatched, demanded, processors
from burnish.catalogue.instructions import instructions as catalogue
from burnish.program import instructions
from burnish.program.instructions import Needs
from burnish.toolchain.toolchains import Toolchain

SOURCE = """
int NAME(const unsigned char *text, int size)
{
	int sum = 0;
	for (int n = 0; n < size; n++)
		sum += text[n] * 3;
	return sum + __builtin_popcount(size);
}
int main(int c, char **v) { return NAME((const unsigned char *)v[0], c); }
"""
CHOSEN = SOURCE.replace("NAME", "count_avx2").replace("int count", '__attribute__((target("avx2"))) int count')

x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="compiles for x86-64")


def scan(folder: Path, gcc: Toolchain, *flags: str, name: str = "count") -> Needs:
    (folder / "a.c").write_text(SOURCE)
    command = [gcc.cc, "-O3", "-fno-inline", f"-DNAME={name}", *flags, "a.c", "-o", "a"]
    subprocess.run(command, cwd=folder, check=True)
    return instructions.scan(folder / "a", catalogue())


@x86
@pytest.mark.parametrize(
    ("flags", "level"),
    [
        ((), "x86-64"),
        (("-mpopcnt",), "x86-64-v2"),
        (("-march=x86-64-v3",), "x86-64-v3"),
        (("-march=x86-64-v4", "-mprefer-vector-width=512"), "x86-64-v4"),
    ],
)
def test_level_that_the_code_needs(tmp_path: Path, gcc: Toolchain, flags: tuple[str, ...], level: str) -> None:
    needs = scan(tmp_path, gcc, *flags)
    assert needs.level == level
    assert bool(needs.because) == (level != "x86-64")
    assert needs.functions >= 3


@x86
def test_the_lowest_bit_by_rep_bsf_needs_no_new_processor(tmp_path: Path, gcc: Toolchain) -> None:
    assembled(tmp_path, gcc, "rep bsf %edi,%eax")
    assert b"\xf3\x0f\xbc" in (tmp_path / "a").read_bytes()  # tzcnt where there is one
    assert instructions.scan(tmp_path / "a", catalogue()).level == "x86-64"


def assembled(folder: Path, gcc: Toolchain, instruction: str) -> None:
    """A program whose main is this instruction."""
    (folder / "a.s").write_text(f".globl main\n.type main,@function\nmain: {instruction}\nret\n.size main,.-main\n")
    subprocess.run([gcc.cc, "a.s", "-o", "a"], cwd=folder, check=True)


@x86
def test_functions_chosen_at_run_time_do_not_count(tmp_path: Path, gcc: Toolchain) -> None:
    needs = scan(tmp_path, gcc, name="count_avx2")
    assert needs.level == "x86-64"
    (tmp_path / "b.c").write_text(CHOSEN)
    subprocess.run([gcc.cc, "-O3", "b.c", "-fno-inline", "-o", "b"], cwd=tmp_path, check=True)
    needs = instructions.scan(tmp_path / "b", catalogue())
    assert needs.level == "x86-64"
    assert "AVX2" in {use.extension for use in needs.dispatched}
    assert all(use.example == "count_avx2" for use in needs.dispatched)


@x86
def test_extensions_outside_of_levels_are_told_beside(tmp_path: Path, gcc: Toolchain) -> None:
    assembled(tmp_path, gcc, "aesenc %xmm0,%xmm1")
    needs = instructions.scan(tmp_path / "a", catalogue())
    assert (needs.level, needs.beyond) == ("x86-64", ("AES",))
    assert needs.because[0].example == "main"


@x86
def test_without_symbols_everything_counts_and_that_is_said(tmp_path: Path, gcc: Toolchain) -> None:
    (tmp_path / "b.c").write_text(CHOSEN)
    subprocess.run([gcc.cc, "-O3", "b.c", "-fno-inline", "-o", "b"], cwd=tmp_path, check=True)
    subprocess.run(["objcopy", "--only-keep-debug", "b", "b.debug"], cwd=tmp_path, check=True)
    subprocess.run(["strip", "b"], cwd=tmp_path, check=True)
    bare = instructions.scan(tmp_path / "b", catalogue())
    assert (bare.level, bare.functions) == ("x86-64-v3", 0)
    assert "no symbols" in bare.note
    kept = instructions.scan(tmp_path / "b", catalogue(), tmp_path / "b.debug")
    assert (kept.level, kept.note) == ("x86-64", "")


@x86
def test_static_glibc_chooses_at_run_time(tmp_path: Path, gcc: Toolchain) -> None:
    needs = scan(tmp_path, gcc, "-static")
    assert (needs.level, needs.beyond) == ("x86-64", ())
    assert {"AVX2", "AVX512VL"} <= {use.extension for use in needs.dispatched}


ARM = {"ldadd w0, w1, [x2]": 0xB8200041, "crc32cx w0, w1, x2": 0x9AC25C20, "add w0, w1, w2": 0x0B020020}


@pytest.mark.parametrize(
    ("words", "name", "level", "beyond"),
    [
        (["add w0, w1, w2"], "f", "armv8-a", ()),
        (["ldadd w0, w1, [x2]"], "f", "armv8.1-a", ()),
        (["ldadd w0, w1, [x2]"], "__aarch64_ldadd4_relax", "armv8-a", ()),
        (["crc32cx w0, w1, x2"], "f", "armv8-a", ("crc",)),
        (["crc32cx w0, w1, x2"], "my_crc32c_aarch64", "armv8-a", ()),
    ],
)
def test_aarch64(tmp_path: Path, words: list[str], name: str, level: str, beyond: tuple[str, ...]) -> None:
    code = b"".join(struct.pack("<I", ARM[word]) for word in words)
    program = tmp_path / "arm"
    program.write_bytes(arm_program(code, name))
    needs = instructions.scan(program, catalogue())
    assert (needs.level, needs.beyond) == (level, beyond)


def arm_program(code: bytes, name: str) -> bytes:
    """The smallest ELF file of aarch64 with one function."""
    names = b"\0.text\0.symtab\0.strtab\0"
    strings = b"\0" + name.encode() + b"\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0x1000, len(code))
    parts, at = [], 64
    for content in (code, symbols, strings, names):
        parts.append((at, len(content)))
        at += len(content)
    header = struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 2, 183, 1, 0x1000, 0, at, 0, 64, 0, 0, 64, 5, 4)
    table = bytes(64)
    for (place, size), (title, kind, flags, address, link, entry) in zip(
        parts,
        [(1, 1, 6, 0x1000, 0, 0), (7, 2, 0, 0, 3, 24), (15, 3, 0, 0, 0, 0), (15, 3, 0, 0, 0, 0)],
        strict=True,
    ):
        table += struct.pack("<IIQQQQIIQQ", title, kind, flags, address, place, size, link, 0, 1, entry)
    return header + code + symbols + strings + names + table


def test_names_that_are_chosen_and_names_that_are_not() -> None:
    chosen = instructions._Chosen(catalogue().dispatched)
    for name in (
        "crc32c_3way", "_ZL10align_to_8mRmRPKh", "get_cpu_features",
        "crc32c_sse42", "_ZL12crc32_avx512jPKcmRK9crc32_tab", "crcr32_calc_pclmulqdq.constprop.0",
        "_ZL14os_have_avx512v", "__memcpy_avx_unaligned_erms", "__strlen_evex512", "sha256_block_data_order_shaext",
        "_dl_runtime_resolve_xsavec", "ChaCha20_8x", "aesni_gcm_encrypt", "__sin_fma4", "_ZL15pmem_clflushoptPKvm",
    ):  # fmt: skip
        assert name in chosen, name
    for name in (
        "main", "sqlite3VdbeExec", "_Z16dispatch_command19enum_server_commandP3THDPcjb", "my_strnncollsp_utf8mb4_bin",
        "crc32c_slow", "ha_commit_trans", "page_format", "row_search_mvcc", "_ZN9bmi_scale3runEv",
    ):  # fmt: skip
        assert name not in chosen, name


def test_every_entry_has_a_reason_and_each_extension_one_place() -> None:
    data = catalogue()
    levels = [extension for level in data.levels.values() for extension in level.extensions]
    assert len(levels) == len(set(levels))
    assert not set(levels) & data.harmless_extensions
    assert list(data.levels) == ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"]
    for rule in (*data.dispatched, *data.arm_dispatched):
        assert isinstance(rule, Dispatched)
        assert len(rule.reason) > 20
    assert all(
        processor.level in data.levels or processor.level.startswith("arm") for processor in processors().values()
    )


@x86
def test_every_extension_is_one_that_the_decoder_knows() -> None:
    iced = pytest.importorskip("iced_x86")
    known = set(instructions._constants(iced.CpuidFeature).values())
    data = catalogue()
    assert data.harmless_extensions <= known
    assert {extension for level in data.levels.values() for extension in level.extensions} <= known
    assert data.harmless_instructions <= set(instructions._constants(iced.Mnemonic).values())


def test_demands_name_a_level_or_a_processor() -> None:
    assert demanded("x86-64-v2") == ("x86-64-v2", None)
    level, processor = demanded("Nehalem")
    assert (level, processor and processor.model) == ("x86-64-v2", "Nehalem")
    with pytest.raises(UserError, match="did you mean 'Haswell'"):
        demanded("Hasswell")
