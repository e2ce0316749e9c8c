"""clang's warnings of wrong branch hints, as text and from a real profile."""

from __future__ import annotations

import subprocess
from pathlib import Path

from burnish.catalogue import flags
from burnish.toolchain.hints import FLAG, WrongHint, notes, read_hints
from burnish.toolchain.toolchains import Toolchain

SAYS = (
    "{}: warning: potential performance regression from use of __builtin_expect(): annotation was correct on {} of "
    "profiled executions [-Wmisexpect]\n"
)
SOURCE = """
#define likely(x) __builtin_expect((x) != 0, 1)
static volatile int sink;
__attribute__((noinline)) int f(int x) {
  if (likely(x > 900))
    sink = 1;
  if (likely(x >= 0))
    sink = 2;
  return x;
}
int main(void) { int s = 0; for (int i = 0; i < 1000; i++) s += f(i); return s == 0; }
"""


def test_hints_are_read_worst_first_and_once() -> None:
    log = (
        "[1/3] Building C object\n"
        + SAYS.format("/s/a.c:6:7", "9.90% (99 / 1000)")
        + "    6 |   if (likely(x))\n      |       ^~~~\n"
        + SAYS.format("/s/inline.h:3:9", "10.00% (500 / 5000)")
        + SAYS.format("/s/inline.h:3:9", "10.00% (500 / 5000)")
        + SAYS.format("/s/inline.h:3:9", "50.00% (100 / 200)")
        + "a.c:9:1: warning: unused variable 'x' [-Wunused-variable]\n"
        + "3 warnings generated.\n"
    )
    assert read_hints(log) == (WrongHint("/s/inline.h", 3, 600, 5200), WrongHint("/s/a.c", 6, 99, 1000))
    assert read_hints("") == ()


def test_a_note_names_the_worst() -> None:
    assert notes([]) == []
    hints: list[list[object]] = [["/w/source/sql/a.cc", 12, 250, 1000], ["b.h", 3, 1, 10]]
    assert notes(hints, shown=1) == [
        "2 branch hints contradict the profile, the most often wrong: source/sql/a.cc:12 held in 25.0 % of 1,000"
    ]


def test_clang_says_which_hint_was_wrong(clang: Toolchain, tmp_path: Path) -> None:
    assert clang.profdata is not None
    (tmp_path / "m.c").write_text(SOURCE)

    def run(*command: object) -> str:
        words = [str(word) for word in command]
        environment = {"LLVM_PROFILE_FILE": "m.profraw", "PATH": "/usr/bin:/bin"}
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, env=environment, check=True)
        return done.stderr

    run(clang.cc, "-O2", "-fprofile-generate", "m.c", "-o", "m")
    run(tmp_path / "m")
    run(clang.profdata, "merge", "m.profraw", "-o", "m.profdata")
    given = flags.flag("check-hints").spellings["clang"].c
    assert FLAG in given
    log = run(clang.cc, "-O2", "-g", "-fprofile-use=m.profdata", *given, "-c", "m.c")
    assert read_hints(log) == (WrongHint("m.c", 5, 99, 1000),), "and the one that holds is not told of"
