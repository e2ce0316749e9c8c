"""Counter files of gcc added up: as libgcov itself does when a program runs several times."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from burnish.base import process
from burnish.base.errors import UserError
from burnish.toolchain import gcda
from burnish.toolchain.toolchains import Toolchain

SOURCE = """
#include <stdlib.h>
typedef int (*F)(int);
static int one(int x) { return x + 1; }
static int two(int x) { return x > 9 ? x : 2; }
static int three(int x) { return x / 3; }
__attribute__((noinline)) int call(F f, int x, int d) { return f(x) / d + x % d; }
__attribute__((noinline)) int rarely(int x) { return x > 3 ? x * 2 : 1; }
int main(int argc, char **argv) { F all[] = {one, two, three}; int s = 0, n = atoi(argv[1]);
  for (int i = 0; i < n; i++) s += call(all[i % 7 ? 1 : i % 3], i, n % 5 + 1);
  if (n > 500) s += rarely(n);
  return s == 42; }
"""


@pytest.fixture(scope="module")
def program(gcc: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if gcc.gcov_dump is None or not gcc.has_profile_runtime:
        pytest.skip("gcc without its profile tools")
    folder = tmp_path_factory.mktemp("gcda")
    (folder / "p.c").write_text(SOURCE)
    for words in (["-c", "p.c", "-o", "p.o"], ["p.o", "-o", "p"]):
        done = process.run([gcc.cc, "-O2", "-fprofile-generate", "-fprofile-update=atomic", *words], cwd=folder)
        assert done.ok, done.output
    return folder / "p"


def counters(program: Path, *runs: int) -> bytes:
    """What the program leaves when it has run with these numbers, one after the other."""
    path = program.with_name("p.gcda")
    path.unlink(missing_ok=True)
    for number in runs:
        process.run([program, str(number)], cwd=program.parent)
    return path.read_bytes()


def dumped(gcc: Toolchain, data: bytes, folder: Path) -> list[str]:
    """gcov-dump's words, without what differs by where the file lies."""
    path = folder / "p.gcda"
    path.write_bytes(data)
    dump = process.capture([str(gcc.gcov_dump), "-l", path])
    assert "FUNCTION" in dump
    return [line.partition(":")[2] for line in dump.splitlines()]


def test_what_is_read_is_written(program: Path, gcc: Toolchain, tmp_path: Path) -> None:
    data = counters(program, 1000)
    content = gcda.read(data)
    assert {3, 4} & {kind for kinds in content.functions.values() for kind in kinds}, "lists of values are in it"
    assert gcda.write(content) == data


@pytest.mark.parametrize(("runs", "weights"), [([400, 1000], [1, 1]), ([1000, 30], [2, 3]), ([7], [3])])
def test_a_sum_is_what_so_many_runs_leave(
    program: Path, gcc: Toolchain, tmp_path: Path, runs: list[int], weights: list[int]
) -> None:
    parts = [(gcda.read(counters(program, run)), weight) for run, weight in zip(runs, weights, strict=True)]
    repeated = [run for run, weight in zip(runs, weights, strict=True) for _ in range(weight)]
    truth, ours = gcda.read(counters(program, *repeated)), gcda.added(parts)
    assert ours.runs == truth.runs == len(repeated)
    assert ours.functions.keys() == truth.functions.keys()
    for place, kinds in truth.functions.items():
        for kind, values in kinds.items():
            own = ours.functions[place][kind]
            if kind in (3, 4):
                assert gcda._lists(own) == gcda._lists(values)
            else:
                assert own == values
    assert dumped(gcc, gcda.write(ours), tmp_path)


def test_more_values_than_libgcov_tracks() -> None:
    one = [10, 2, 5, 6, 7, 4]
    other = [330, 33, *(word for value in range(100, 133) for word in (value, 10))]
    assert gcda._top_values(one, other, 1)[:2] == [-340, 32], "a negative total: some values were dropped"
    assert gcda._top_values([-3, 0], [4, 1, 9, 4], 2) == [-11, 1, 9, 8], "and it stays negative"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda data: b"\x7fELF" + data[4:], "not a counter file of gcc"),
        (lambda data: data[:70], "cut off in the middle"),
    ],
)
def test_what_is_no_counter_file(program: Path, damage: object, says: str) -> None:
    with pytest.raises(UserError, match=says):
        gcda.read(damage(counters(program, 5)))  # type: ignore[operator]


def test_counters_of_two_compilations(program: Path) -> None:
    data = counters(program, 5)
    other = data[:8] + struct.pack("<I", 1) + data[12:]
    with pytest.raises(UserError, match="different compilations of an object"):
        gcda.added([(gcda.read(data), 1), (gcda.read(other), 1)])
