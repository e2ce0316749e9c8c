"""Builds as machine code, from what binutils print (excerpts of MariaDB's builds) and where samples fell."""

from __future__ import annotations

import pytest

from burnish.why.cachegrind import Counted, parse
from burnish.why.inlining import parse_addr2line
from burnish.why.text import (
    Symbol,
    bytes_of,
    keeps_frame_pointers,
    measure,
    page_name,
    parse_program,
    parse_sections,
    parse_symbols,
)

SECTIONS = """\
There are 43 section headers, starting at offset 0x29c8c70:

Section Headers:
  [Nr] Name              Type            Address          Off    Size   ES Flg Lk Inf Al
  [ 0]                   NULL            0000000000000000 000000 000000 00      0   0  0
  [ 9] .rela.dyn         RELA            0000000000000163 000163 000011 18   A  4   0  8
  [15] .text             PROGBITS        0000000000c89240 c88240 0003c0 00  AX  0   0 16
  [16] .text.unlikely    PROGBITS        0000000000d00000 cff000 000100 00  AX  0   0  4
  [19] .tbss             NOBITS          0000000001535140 1534140 000068 00 WAT  0   0  8
  [40] .symtab           SYMTAB          0000000000000000 225d980 19d8e0 18     42 50700  8
"""

SYMBOLS = """\
                 U BIO_free
0000000000c89240 0000000000000040 T _ZN4Item3fixEv
0000000000c89240 0000000000000040 W _ZN4Item3fixEvAlias
0000000000c89280 0000000000000100 t row_search_mvcc
0000000000c89380 t asm_without_size
0000000000c893a0 0000000000000020 t row_search_mvcc.cold
0000000000d00000 0000000000000080 t _ZN4Item3fixEv.cold
0000000001535140 0000000000000008 D some_data
0000000001600000 0000000000000008 T not_in_code
"""


def test_sections() -> None:
    result = parse_sections(SECTIONS)
    assert [section.name for section in result] == [".rela.dyn", ".text", ".text.unlikely", ".tbss", ".symtab"]
    text = result[1]
    assert (text.address, text.offset, text.size, text.executable) == (0xC89240, 0xC88240, 0x3C0, True)
    assert not result[3].executable


def test_symbols_are_pieces_of_code_each_address_once() -> None:
    result = parse_symbols(SYMBOLS, parse_sections(SECTIONS))
    assert [(symbol.name, symbol.size) for symbol in result] == [
        ("_ZN4Item3fixEv", 0x40),
        ("row_search_mvcc", 0x100),
        ("asm_without_size", 0x20),
        ("row_search_mvcc.cold", 0x20),
        ("_ZN4Item3fixEv.cold", 0x80),
    ]


def test_a_program() -> None:
    program = parse_program(SECTIONS, SYMBOLS, "")
    assert program.functions == {"_ZN4Item3fixEv", "row_search_mvcc", "asm_without_size"}
    assert not program.stripped
    assert not program.debug
    assert program.address(0xC88240 + 5) == 0xC89245
    assert program.address(0) is None
    assert bytes_of(program.symbols[1], program) == (0xC88280, 16)
    assert bytes_of(Symbol(1, 8, "x"), program) == (0, 0)


def test_a_stripped_program_has_what_it_exports() -> None:
    program = parse_program(SECTIONS, "nm: mariadbd: no symbols\n", SYMBOLS.splitlines()[1] + "\n")
    assert program.stripped
    assert program.functions == {"_ZN4Item3fixEv"}
    assert page_name(0x12345) == "[page 0x12000]"


def test_debug_information_that_bolt_left_behind_does_not_count() -> None:
    debug = "  [30] .debug_info        PROGBITS        0000000000000000 225d980 19d8e0 00      0   0  1\n"
    assert parse_program(SECTIONS + debug, SYMBOLS, "").debug
    bolted = "  [31] .bolt.org.text     PROGBITS        0000000000000000 225d980 19d8e0 00  AX  0   0  1\n"
    assert not parse_program(SECTIONS + debug + bolted, SYMBOLS, "").debug


def test_hot_text_is_the_heaviest_pieces_and_pages() -> None:
    program = parse_program(SECTIONS, SYMBOLS, "")
    hits = {0xC88240: 900, 0xC88280: 80, 0xC88380: 20, 0xCFF000: 1}
    result = measure(program, hits)
    assert result.code == 0x3C0 + 0x100
    assert result.cold == 0x20 + 0x100, "a .cold piece within the cold section is not counted twice"
    assert result.hot_bytes["0.9"] == 0x40 + 0x100, "900 of 1,001 are just too few"
    assert result.hot_pieces == {"0.9": 2, "0.99": 3}
    assert result.hot_pages == {"0.9": 1, "0.99": 1}
    assert result.pages == 2
    assert result.samples == 1001


@pytest.mark.parametrize(
    ("architecture", "code", "kept"),
    [
        ("x86_64", "554889e54157", True),
        ("x86_64", "f30f1efa554889e5", True),
        ("x86_64", "4157415641554154", False),
        ("aarch64", "fd7bbfa9fd030091", True),
        ("aarch64", "3f2303d5fd7bbda9", True),
        ("aarch64", "e00300aa00000014", False),
        ("riscv64", "554889e54157", False),
    ],
)
def test_frame_pointers_are_seen_in_the_first_instructions(architecture: str, code: str, kept: bool) -> None:
    program = parse_program(SECTIONS, SYMBOLS, "")
    read = {program.symbols[1].address: bytes.fromhex(code)}
    assert keeps_frame_pointers(program, read, architecture) is kept
    assert not keeps_frame_pointers(program, {}, architecture)


def test_the_innermost_inlined_function_of_an_address() -> None:
    message = """\
0x0000000000001139
square
/src/a.c:3
work
/src/a.c:9
0x0000000000001150
??
??:0
0x0000000000001160
work
/src/a.c:8 (discriminator 2)
"""
    assert parse_addr2line(message) == {0x1139: "square", 0x1160: "work"}


def test_cachegrinds_file() -> None:
    text = """\
desc: I1 cache:         32768 B, 64 B, 8-way associative
cmd: ./burnish-sqlite speedtest1
events: Ir I1mr ILmr Bc Bcm
fl=sqlite3.c
fn=sqlite3VdbeExec
0 100 5 1 20 2
7 50 1
fn=sqlite3VdbeExec.part.0
0 10 1 0 3 1
fl=???
fn=memcpy
0 40 0 0 4 0
summary: 200 7 1 27 3
"""
    result = parse(text)
    assert result.totals == {"Ir": 200, "I1mr": 7, "ILmr": 1, "Bc": 27, "Bcm": 3}
    assert result.functions["sqlite3VdbeExec"] == {"Ir": 160, "I1mr": 7, "ILmr": 1, "Bc": 23, "Bcm": 3}
    assert list(result.as_dict(most=1)["functions"]) == ["sqlite3VdbeExec"]


def test_callgrinds_file() -> None:
    """Names are numbered when they come first, and what follows ``calls=`` is the callee's, not the caller's."""
    text = """\
desc: Trigger: dump counted

positions: line
events: Ir I1mr DLmr
summary: 168 9 1

ob=(1) /usr/sbin/mysqld
fl=(1) sql/handler.cc
fn=(7) handler::ha_index_read(unsigned char*)
12 100 5 1
cfi=(2)
cob=(2) /usr/lib/libc.so.6
cfn=(8) memcpy
calls=3 0
+2 60 4
-1 8
fn=(8)
* 60 4
"""
    result = parse(text)
    assert result.totals == {"Ir": 168, "I1mr": 9, "DLmr": 1}
    assert result.functions == {
        "handler::ha_index_read(unsigned char*)": {"Ir": 108, "I1mr": 5, "DLmr": 1},
        "memcpy": {"Ir": 60, "I1mr": 4},
    }
    assert parse("") == Counted({}, {})


def test_several_processes_are_one_server() -> None:
    one, other = Counted({"Ir": 5}, {"a": {"Ir": 5}}), Counted({"Ir": 2, "Bc": 1}, {"a": {"Ir": 1}, "b": {"Ir": 1}})
    assert one + other == Counted({"Ir": 7, "Bc": 1}, {"a": {"Ir": 6}, "b": {"Ir": 1}})
