"""Programs read by binutils: a small one of our own, with and without symbols, debug information, frame pointers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.program.machine_code import demangle, inlined, read_code, separate_symbols
from burnish.toolchain.toolchains import Toolchain

SOURCE = """
static inline __attribute__((always_inline)) int square(int x) { return x * x; }
__attribute__((noinline)) int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += square(i) ^ s; return s; }
"""
MAIN = "int work(int); int main(int c, char **v) { (void)v; return work(c * 1000) & 1; }\n"
FILLER = "".join(
    f"int filler{n}(int *p) {{ int a = work(p[0]), b = work(p[1] + a), c = work(p[2] ^ b), d = work(p[{n + 3}]); "
    f"p[0] = work(a * b + {n}); p[1] = work(c * d); return a ^ b ^ c ^ d ^ work(p[0] - p[1]); }}\n"
    for n in range(8)
)

Compile = Callable[..., Path]


@pytest.fixture
def compiled(tmp_path: Path, gcc: Toolchain) -> Compile:
    def make(name: str, *flags: str) -> Path:
        source = tmp_path / "a.c"
        source.write_text(SOURCE + FILLER + MAIN)
        program = tmp_path / name
        subprocess.run([gcc.cc, "-O2", "-Wl,--build-id=sha1", *flags, source, "-o", program], check=True)
        return program

    return make


def test_functions_and_whether_they_keep_frame_pointers(compiled: Compile) -> None:
    plain = read_code(compiled("plain", "-fomit-frame-pointer"))
    assert {"work", "main", "filler3"} <= plain.functions
    assert not plain.program.stripped
    assert not plain.program.debug
    assert not plain.frame_pointers
    assert read_code(compiled("kept", "-fno-omit-frame-pointer")).frame_pointers


def test_an_inlined_function_is_named_where_debug_information_tells(compiled: Compile) -> None:
    code = read_code(compiled("debug", "-g"))
    assert code.program.debug
    work = next(symbol for symbol in code.program.symbols if symbol.name == "work")
    section = next(section for section in code.program.sections if section.name == ".text")
    begin = work.address - section.address + section.offset
    result = inlined(code, range(begin, begin + work.size))
    assert set(result.values()) == {"work", "square"}
    assert inlined(code, []) == {}


def test_a_stripped_program_and_its_symbols_beside_it(compiled: Compile, tmp_path: Path) -> None:
    program = compiled("whole", "-g")
    beside = tmp_path / "program.debug"
    shutil.copyfile(program, beside)
    stripped = tmp_path / "program"
    subprocess.run(["strip", "-s", program, "-o", stripped], check=True)
    code = read_code(stripped)
    assert code.program.stripped
    assert "work" not in code.functions
    subprocess.run(["objcopy", f"--add-gnu-debuglink={beside}", stripped], check=True)
    assert separate_symbols(stripped) == beside
    result = read_code(stripped)
    assert not result.program.stripped
    assert "work" in result.functions
    assert result.symbols == beside


def test_names_without_parameters() -> None:
    assert demangle(["_ZN4Item3fixEv", "main", "_ZL3fooi"]) == {
        "_ZN4Item3fixEv": "Item::fix",
        "main": "main",
        "_ZL3fooi": "foo",
    }
    assert demangle([]) == {}


def test_without_binutils_names_stay_the_linkers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert demangle(["_ZN4Item3fixEv"]) == {"_ZN4Item3fixEv": "_ZN4Item3fixEv"}
