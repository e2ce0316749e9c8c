"""Of thousands of lines the one that says why: real output of compilers, linkers and build systems."""

from __future__ import annotations

import pytest

from burnish.toolchain.failures import first_error, last_command

GCC = """\
[1/3] Building C object sql/a.c.o
In file included from a.c:1:
a.h:3:1: warning: 'f' defined but not used [-Wunused-function]
\x1b[01m\x1b[Ka.c:4:2:\x1b[m\x1b[K \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[K#error "no"
    4 | #error "no"
a.c:9:1: error: unknown type name 'x'
ninja: build stopped: subcommand failed.
"""
CMAKE = """\
-- Performing Test have_C__Werror - Failed
-- Could NOT find Foo (missing: error_handler)
CMake Error at cmake/ssl.cmake:12 (MESSAGE):
  Cannot find system libraries for SSL.  Use WITH_SSL=bundled
  to enable it

Call Stack (most recent call first):
  CMakeLists.txt:440 (MYSQL_CHECK_SSL)
-- Configuring incomplete, errors occurred!
"""
LD = """\
FAILED: sql/mariadbd
: && /usr/bin/c++ -O2 -Wl,--error-limit=0 sql/main.o -o sql/mariadbd && :
/usr/bin/ld: sql/main.o: in function `main':
main.cc:(.text.startup+0x5): undefined reference to `start_me'
/usr/bin/ld: main.cc:(.text.startup+0xf): undefined reference to `stop_me'
collect2: error: ld returned 1 exit status
ninja: build stopped: subcommand failed.
"""

LLD = """\
ld.lld: error: undefined symbol: f
>>> referenced by a.c
clang: error: linker command failed with exit code 1 (use -v to see invocation)
"""

SAMPLES = [
    (GCC, 'a.c:4:2: error: #error "no"'),
    (
        CMAKE,
        "CMake Error: cmake/ssl.cmake:12: Cannot find system libraries for SSL.  Use WITH_SSL=bundled to enable it",
    ),
    (LD, "main.cc:(.text.startup+0x5): undefined reference to `start_me'"),
    (LLD, "ld.lld: error: undefined symbol: f"),
    (
        "cc1plus: some warnings being treated as errors\nmake: *** [a.mk:1: a.o] Error 1\n",
        "make: *** [a.mk:1: a.o] Error 1",
    ),
    ("CMake Error: CMake was unable to find Ninja.\n", "CMake Error: CMake was unable to find Ninja."),
    ("x\n0 errors, 0 warnings\n", None),
]
ALONE = """\
/usr/bin/ld: cannot find -lfoo: No such file or directory
gcc: error: unrecognized command-line option ‘-fsyn’; did you mean ‘-fsync’?
clang-19: error: unknown argument: '-fpeel'
cc1: error: bad value ‘zen9’ for ‘-march=’ switch
a.c:1:10: fatal error: none.h: No such file or directory
/tmp/cc1.s:12: Error: no such instruction: `vfoo'
lto1: fatal error: bytecode stream in file 'a.o' generated with LTO version 12.0
g++: fatal error: Killed signal terminated program cc1plus
/usr/bin/ld: a.o: relocation R_X86_64_32 against `.rodata' can not be used when making a PIE object
a.c:2:1: internal compiler error: Segmentation fault
BOLT-ERROR: input is stripped
LLVM ERROR: Cannot select: 0x55
mold: fatal: unknown command line option: --x
ninja: error: loading 'build.ninja': No such file or directory
/bin/sh: 1: bison: not found
fatal error: error in backend: IO failure on output stream: No space left on device
"""


@pytest.mark.parametrize(("text", "line"), SAMPLES)
def test_first_error_line_of_real_output(text: str, line: str | None) -> None:
    assert first_error(text) == line


@pytest.mark.parametrize("line", ALONE.splitlines())
def test_a_cause_wins_over_what_follows_from_it(line: str) -> None:
    text = f"[3/9] Building C object a.o\nFAILED: a.o\n{line}\ncollect2: error: ld returned 1 exit status\n"
    assert first_error(text) == line


def test_warnings_that_name_errors_are_none() -> None:
    text = "a.c:1:1: warning: unused [-Wunused]\ncc1: note: unrecognized '-Wno-error=x' may have been intended\n"
    assert first_error(text) is None


def test_of_a_log_with_several_runs_only_the_last_command_counts() -> None:
    text = "$ cc -c a.c\na.c:1:1: error: old\n$ cc -c b.c\nb.c:1:1: error: new\n"
    assert first_error(last_command(text)) == "b.c:1:1: error: new"
    assert last_command("no command at all") == "no command at all"


def test_a_line_of_a_whole_page_is_cut() -> None:
    result = first_error("x.cc:1:1: error: " + "template " * 200)
    assert result is not None
    assert len(result) == 300
