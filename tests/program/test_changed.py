"""Which functions a patch changes, wherever the linker has put them."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from burnish.program import changed
from burnish.program.changed import Changed
from burnish.toolchain.toolchains import Toolchain

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="compiles for x86-64")

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
FIRST
int table[1000];
double scale = 2;
static const char *const words[] = { "one", "two", "three" };
__attribute__((noinline)) int add(int a, int b) { return a + b; }
__attribute__((noinline)) int take(int a, int b) { return a - b; }
__attribute__((noinline)) int choose(int n)
{
	switch (n) {
	case 0: return table[3];
	case 1: return (int)strlen(words[n]);
	case 2: return atoi("22");
	case 3: return table[n] + add(n, 4);
	case 4: return puts("a text of some length");
	case 5: return take(n, table[5]);
	}
	return 0;
}
__attribute__((noinline)) double grow(double x) { return x * scale + 1.5; }
static int (*which)(int, int) = add;
int main(int c, char **v) { return which(choose(c), (int)grow(c)) + add(atoi(v[0]), CALL(c, 1)); }
"""


def build(folder: Path, gcc: Toolchain, name: str, source: str, *flags: str) -> Path:
    (folder / f"{name}.c").write_text(source.replace("FIRST", "").replace("CALL", "take"))
    subprocess.run([gcc.cc, "-O2", *flags, f"{name}.c", "-o", name], cwd=folder, check=True)
    return folder / name


@pytest.fixture(params=[("-fPIE", "-pie"), ("-fno-pie", "-no-pie"), ("-fPIE", "-pie", "-fno-plt")], ids=" ".join)
def flags(request: pytest.FixtureRequest) -> tuple[str, ...]:
    chosen: tuple[str, ...] = request.param
    return chosen


def against(folder: Path, gcc: Toolchain, flags: tuple[str, ...], source: str) -> Changed:
    one, other = build(folder, gcc, "one", SOURCE, *flags), build(folder, gcc, "other", source, *flags)
    assert one.read_bytes() != other.read_bytes()
    result = changed.compare(one, other)
    assert result.note == ""
    assert result.functions >= 6
    return result


def test_what_was_only_moved_does_not_differ(tmp_path: Path, gcc: Toolchain, flags: tuple[str, ...]) -> None:
    """A function, an imported one, a text and data in front of all others: every address is another."""
    first = 'double before[77]; int front(const char *s) { before[3] = atof(s); return printf("in front of %s", s); }'
    result = against(tmp_path, gcc, flags, SOURCE.replace("FIRST", first))
    assert result.differ == result.gone == ()
    assert result.new == ("front",)


@pytest.mark.parametrize(
    ("old", "new", "function"),
    [
        ("return a + b", "return a + 3 * b", "add"),
        ("table[3]", "table[4]", "choose"),
        ("add(n, 4)", "take(n, 4)", "choose"),
        ("+ 1.5", "+ 2.5", "grow"),
        ("a text of some length", "a text of same length", "choose"),
        ("puts(", "system(", "choose"),  # from elsewhere, each by a stub or a slot of its own
        ("CALL", "add", "main"),
    ],
)
def test_what_does_something_else_differs(
    tmp_path: Path, gcc: Toolchain, flags: tuple[str, ...], old: str, new: str, function: str
) -> None:
    assert SOURCE.count(old) == 1
    result = against(tmp_path, gcc, flags, SOURCE.replace(old, new))
    assert result.differ == (function,)
    assert result.new == result.gone == ()


def test_several_functions_of_one_name_are_held_against_each_other_together(tmp_path: Path, gcc: Toolchain) -> None:
    """Two files have a function of that name each; in which order they are linked is nobody's business."""
    text = "static __attribute__((noinline)) int same(int a) { return a * %d; }\nint %s(int a) { return same(a); }\n"
    for number, name in ((3, "three"), (5, "five"), (7, "seven")):
        (tmp_path / f"{name}.c").write_text(text % (number, name if name != "seven" else "five"))
    (tmp_path / "main.c").write_text(
        "int three(int), five(int);\nint main(int c, char **v) { return three(five(c)); }\n"
    )
    programs = {}
    for program, files in {
        "one": ("three.c", "five.c"),
        "swapped": ("five.c", "three.c"),
        "other": ("three.c", "seven.c"),
    }.items():
        subprocess.run([gcc.cc, "-O2", "main.c", *files, "-o", program], cwd=tmp_path, check=True)
        programs[program] = tmp_path / program
    assert changed.compare(programs["one"], programs["swapped"]).differ == ()
    assert changed.compare(programs["one"], programs["other"]).differ == ("same",)


def test_without_symbols_or_on_other_machines_it_says_why_not(tmp_path: Path, gcc: Toolchain) -> None:
    one = build(tmp_path, gcc, "one", SOURCE)
    bare = build(tmp_path, gcc, "bare", SOURCE, "-s")
    assert changed.compare(one, bare).note == "no symbols: functions can't be told apart"
    arm = tmp_path / "arm"
    content = bytearray(one.read_bytes())
    content[18:20] = (183).to_bytes(2, "little")  # EM_AARCH64
    arm.write_bytes(content)
    assert changed.compare(arm, arm).note == "functions are compared on x86, not on aarch64"


def test_symbols_that_were_taken_out_are_read_where_they_are_kept(tmp_path: Path, gcc: Toolchain) -> None:
    one, other = (
        build(tmp_path, gcc, "one", SOURCE),
        build(tmp_path, gcc, "other", SOURCE.replace("a + b", "a + 9 * b")),
    )
    beside = {}
    for program in (one, other):
        symbols = program.with_name(f"{program.name}.debug")
        subprocess.run(["objcopy", "--only-keep-debug", program, symbols], check=True)
        subprocess.run(["strip", program], check=True)
        beside[program] = symbols
    assert changed.compare(one, other, beside).differ == ("add",)
