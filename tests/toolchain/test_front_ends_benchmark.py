"""benchmarks/front_ends.py: an object made of what clang has read is the one that it compiles directly."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from benchmark_scripts import benchmark_script
from burnish.toolchain import ccache
from burnish.toolchain.toolchains import Toolchain

SOURCE = """
#include <string>
#include <vector>
struct Shape { virtual ~Shape() = default; virtual int area(int of) const = 0; };
struct Square : Shape { int area(int of) const override { return of * of; } };
static int twice(int of) { return of % 7 == 3 ? of / 3 : 2 * of; }
int total(const std::vector<std::string> &names) {
  Square square; const Shape &shape = square; int sum = 0;
  for (const auto &name : names) sum += shape.area(static_cast<int>(name.size())) + twice(sum);
  return sum;
}
"""


@pytest.fixture
def benchmark() -> ModuleType:
    return benchmark_script("front_ends")


def command(clang: Toolchain, place: Path, *flags: str) -> tuple[str, ...]:
    (place / "a.cc").write_text(SOURCE)
    return (str(clang.cxx), "-O2", "-g1", "-DNDEBUG", *flags, "-o", "a.o", "-c", "a.cc")


def test_objects_are_the_same_however_often_a_file_is_read(
    benchmark: ModuleType, clang: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = benchmark.compare("a.o", command(clang, tmp_path, "-fPIC", "-fstack-protector-strong"), tmp_path)
    assert not found.differ
    assert set(found.direct) == set(found.made) == {"instrumented", "ThinLTO"}
    benchmark.report([found], clang.name)
    assert capsys.readouterr().out.endswith("of 1 of 1 files all objects are the same\n")


def test_an_object_that_differs_is_seen(
    benchmark: ModuleType,
    clang: Toolchain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without the level of optimisation the second step makes other code of what the first one read."""
    script = tmp_path / "without-level.sh"
    script.write_text(ccache.READ_ONCE.read_text().replace("-O* | -f*", "-f*"))
    monkeypatch.setattr(ccache, "READ_ONCE", script)
    found = benchmark.compare("a.o", command(clang, tmp_path), tmp_path)
    assert "instrumented" in found.differ
    benchmark.report([found], clang.name)
    said = capsys.readouterr().out
    assert "differs: a.o\n" in said
    assert said.endswith("of 0 of 1 files all objects are the same\n")
