"""What the profile tools and the compilers really print is what is read: made here with the tools themselves."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from burnish.base import process
from burnish.builds.stages import BOLT_OPTIONS, CLANG_SAY, GCC_USE, INSTRUMENT
from burnish.profiles import audit
from burnish.profiles.audit import Coverage, ObjectCounts
from burnish.toolchain.toolchains import Toolchain

C_SOURCE = """
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline)) int local(int x) { int s = 0; for (int i = 0; i < x; i++) s += (i & 3) ? i : -i;
  return s; }
__attribute__((noinline)) int busy(int x) { int s = 0;
  for (int i = 0; i < 1000; i++) if ((i ^ x) & 5) s += local(i & 15); else s -= i;
  return s; }
__attribute__((noinline)) int warm(int x) { return x > 3 ? x * 2 : x - 1; }
__attribute__((noinline)) int never(int x) { return x > 3 ? x * 2 : x - 1; }
int idle(int x);
int main(int argc, char **argv) { int n = 1000, s = 0; for (int i = 0; i < n; i++) s += busy(i);
  s += warm(n); if (argc > 1) s += never(n) + idle(n); printf("%d\\n", s); return argv == 0; }
"""
BUSY_CHANGED = ("if ((i ^ x) & 5)", "if (i == 500) s += 2; else if ((i ^ x) & 5)")
WARM_CHANGED = ("warm(int x) { return", "warm(int x) { if (x == 7) return 1; return")
IDLE_SOURCE = """
static __attribute__((noinline)) int local(int x) { return x > 5 ? x : 5; }
int idle(int x) { return x > 3 ? local(x) : x - 1; }
"""
CXX_SOURCE = """
#include <cstdio>
namespace eng {
struct T { int v; int work(int x); };
__attribute__((noinline)) int T::work(int x) { int s = v; for (int i = 0; i < x; i++) s ^= i * 3; return s; }
static __attribute__((noinline)) int helper(int x) { return x > 2 ? x : -x; }
template <class U> __attribute__((noinline)) U same(U a) { return a > 2 ? a * 2 : a - 1; }
}
int main() { eng::T t{1}; int s = 0;
  for (int i = 0; i < 1000; i++) s += t.work(i & 63) + eng::helper(i) + eng::same(i);
  std::printf("%d\\n", s); }
"""
WORK_CHANGED = ("int s = v;", 'int s = v; if (x == 9) std::puts("nine");')


def tool(*words: str | Path, cwd: Path, **env: str) -> str:
    done = process.run(words, cwd=cwd, env=env, timeout=120)
    assert done.ok, done.output
    return done.output


def changed(source: str, change: tuple[str, str]) -> str:
    assert source.count(change[0]) == 1
    return source.replace(*change)


def fresh(folder: Path, *copied: Path, **sources: str) -> Path:
    """An empty folder with these sources (a_c is a.c) and copies of these files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in sources.items():
        (folder / name.replace("_", ".")).write_text(text)
    for path in copied:
        shutil.copy(path, folder)
    return folder


@dataclass(frozen=True)
class Trained:
    """A trained pair of programs: in `folder` the C one of a.c and idle.c, and the C++ one of b.cc."""

    folder: Path
    toolchain: Toolchain

    def compile(self, folder: Path, name: str, flags: Sequence[str], **env: str) -> str:
        """Compiles `folder`/`name` as cmake does, and returns what the compiler says."""
        compiler = self.toolchain.cc if name.endswith(".c") else self.toolchain.cxx
        return tool(compiler, "-O2", *flags, "-c", name, "-o", f"{name}.o", cwd=folder, **env)


def train(toolchain: Toolchain, folder: Path) -> Trained:
    trained = Trained(fresh(folder, a_c=C_SOURCE, idle_c=IDLE_SOURCE, b_cc=CXX_SOURCE), toolchain)
    for name in ("a.c", "idle.c", "b.cc"):
        trained.compile(folder, name, INSTRUMENT)
    tool(toolchain.cc, INSTRUMENT[0], "a.c.o", "idle.c.o", "-o", "a", cwd=folder)
    tool(toolchain.cxx, INSTRUMENT[0], "b.cc.o", "-o", "b", cwd=folder)
    for name in ("a", "b"):
        tool(folder / name, cwd=folder, LLVM_PROFILE_FILE=f"{name}-%4m.profraw")
    return trained


@pytest.fixture(scope="module")
def by_clang(clang: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    if clang.profdata is None or not clang.has_profile_runtime:
        pytest.skip("clang without its profile tools")
    trained = train(clang, tmp_path_factory.mktemp("clang"))
    for name in ("a", "b"):
        raw = sorted(trained.folder.glob(f"{name}-*.profraw"))
        tool(clang.profdata, "merge", "-o", f"{name}.profdata", *raw, cwd=trained.folder)
    return trained


@pytest.fixture(scope="module")
def by_gcc(gcc: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    if gcc.gcov_dump is None or not gcc.has_profile_runtime:
        pytest.skip("gcc without its profile tools")
    return train(gcc, tmp_path_factory.mktemp("gcc"))


# clang


def clang_coverage(trained: Trained, name: str, *covered: str) -> Coverage:
    data, program = trained.folder / f"{name}.profdata", str(trained.toolchain.profdata)
    shown = tool(program, "show", "--all-functions", "--counts", data, cwd=trained.folder)
    summary = tool(program, "show", "--detailed-summary", data, cwd=trained.folder)
    return audit.read_clang(shown, summary, covered)


def clang_says(trained: Trained, folder: Path, name: str = "a.c", *flags: str) -> str:
    data = trained.folder / ("a.profdata" if name.endswith(".c") else "b.profdata")
    return trained.compile(folder, name, [f"-fprofile-use={data}", *CLANG_SAY, *flags])


def test_clang_profile_of_c(by_clang: Trained) -> None:
    found = clang_coverage(by_clang, "a", "busy", "local", "main", "never", "idle", "warm", "war", "arm")
    assert found.functions == 7, "a.c's five, and two of idle.c, one of them with the name of one of a.c"
    assert found.counted == 4
    assert found.hot == {"busy", "a.c;local"}, "what makes 99 % of all counts, local ones with their file"
    assert found.missing == ("never", "idle", "war", "arm")


def test_clang_profile_of_cxx(by_clang: Trained) -> None:
    found = clang_coverage(by_clang, "b", "work", "helper", "same", "main", "T", "eng", "wor", "ork", "elper")
    assert found.missing == ("wor", "ork", "elper"), "a name in a mangled one is whole"
    assert "_ZN3eng1T4workEi" in found.hot
    assert "b.cc;_ZN3engL6helperEi" in found.hot


def test_a_profile_that_nothing_ran_for_is_empty(by_clang: Trained, tmp_path: Path) -> None:
    shown = "Counters:\n  f:\n    Hash: 0x1\n    Counters: 2\n    Block counts: [0, 0]\nFunctions shown: 1\n"
    found = audit.read_clang(shown, "", ["f"])
    assert (found.functions, found.counted, found.hot, found.missing) == (1, 0, frozenset(), ("f",))


def test_clang_is_silent_when_the_profile_fits(by_clang: Trained) -> None:
    hot = clang_coverage(by_clang, "a").hot
    for flags in ((), ("-flto=thin",), ("-Wall", "-Werror")):
        log = clang_says(by_clang, by_clang.folder, "a.c", *flags)
        found = audit.audit_clang(log, hot)
        assert (found.unmatched, found.all_mismatched, found.all_absent) == (0, 0, 0), log
        assert found.acceptable
        assert found.hot == 2


@pytest.mark.parametrize("flags", [(), ("-flto=thin",), ("-Werror",)])
def test_clang_names_a_hot_function_that_changed(by_clang: Trained, tmp_path: Path, flags: tuple[str, ...]) -> None:
    folder = fresh(tmp_path / "use", a_c=changed(C_SOURCE, BUSY_CHANGED))
    log = clang_says(by_clang, folder, "a.c", *flags)
    found = audit.audit_clang(log, clang_coverage(by_clang, "a").hot)
    assert found.mismatched == ("busy",)
    assert found.absent == ()
    assert found.share == 0.5
    assert not found.acceptable
    assert "2 hot functions, 1 mismatching, 0 missing (50.0%" in found.summary


def test_clang_tells_cold_ones_apart(by_clang: Trained, tmp_path: Path) -> None:
    added = "static __attribute__((noinline, used)) int added(int x) { return x > 3 ? x : 3; }\n"
    folder = fresh(tmp_path / "use", a_c=changed(C_SOURCE, WARM_CHANGED) + added)
    found = audit.audit_clang(clang_says(by_clang, folder), clang_coverage(by_clang, "a").hot)
    assert (found.mismatched, found.absent) == ((), ())
    assert (found.all_mismatched, found.all_absent) == (1, 1)
    assert found.acceptable
    assert found.summary == "2 hot functions, 0 mismatching, 0 missing (0.0%; cold ones: 1 mismatching, 1 missing)"


def test_clang_names_a_mangled_one(by_clang: Trained, tmp_path: Path) -> None:
    folder = fresh(tmp_path / "use", b_cc=changed(CXX_SOURCE, WORK_CHANGED))
    found = audit.audit_clang(clang_says(by_clang, folder, "b.cc"), clang_coverage(by_clang, "b").hot)
    assert found.mismatched == ("_ZN3eng1T4workEi",)


def test_clang_misses_local_functions_when_the_source_has_moved(by_clang: Trained, tmp_path: Path) -> None:
    """LLVM names a local function with the path of its file: a profile trained elsewhere does not know it."""
    fresh(tmp_path / "moved", a_c=C_SOURCE)
    found = audit.audit_clang(clang_says(by_clang, tmp_path, "moved/a.c"), clang_coverage(by_clang, "a").hot)
    assert found.absent == ("local",)
    assert not found.acceptable


def test_clang_does_not_take_a_cold_function_for_a_hot_namesake(by_clang: Trained, tmp_path: Path) -> None:
    unlinked = "static __attribute__((noinline, used)) int local(int x) { return x > 5 ? x : 5; }\n"
    folder = fresh(tmp_path / "use", c_c=unlinked)
    found = audit.audit_clang(clang_says(by_clang, folder, "c.c"), clang_coverage(by_clang, "a").hot)
    assert (found.absent, found.all_absent) == ((), 1)


def test_clang_flags_do_not_disturb_a_link(by_clang: Trained) -> None:
    """Build systems that look for 'argument unused' would take any flag that they ask about as refused."""
    data = by_clang.folder / "a.profdata"
    flags = [f"-fprofile-use={data}", *CLANG_SAY]
    said = tool(by_clang.toolchain.cc, *flags, "a.c.o", "idle.c.o", INSTRUMENT[0], "-o", "x", cwd=by_clang.folder)
    assert "unused" not in said


def test_llvm_before_17_put_a_colon_between_file_and_function() -> None:
    assert audit.plain_name("a.c:f") == audit.plain_name("a.c;f") == audit.plain_name("f") == "f"
    assert audit.plain_name("dir/a.cpp:_ZL1fv") == "_ZL1fv"
    log = "warning: a.c: No profile data available for function f Hash = 7 [-Wbackend-plugin]"
    assert audit.audit_clang(log, frozenset({"a.c:f"})).absent == ("f",)


# gcc


def gcc_counts(trained: Trained) -> dict[str, ObjectCounts]:
    dump = str(trained.toolchain.gcov_dump)
    return {
        f"src/{path.name}": audit.read_gcov_dump(tool(dump, "-l", path, cwd=trained.folder))
        for path in trained.folder.glob("*.gcda")
    }


def gcc_says(trained: Trained, folder: Path, name: str = "a.c", *flags: str, **env: str) -> str:
    return trained.compile(folder, name, [*GCC_USE, *flags], **env)


def test_gcc_counts_of_real_gcda_files(by_gcc: Trained) -> None:
    counts = gcc_counts(by_gcc)
    assert set(counts) == {"src/a.c.gcda", "src/idle.c.gcda", "src/b.cc.gcda"}
    assert counts["src/a.c.gcda"].functions == 4, "main, busy, warm and local; never did not run"
    assert 5_000_000 < counts["src/a.c.gcda"].total < 20_000_000, "arcs only: 1000 calls of 1000 rounds"
    assert counts["src/idle.c.gcda"] == ObjectCounts(0, 0)
    ran = counts["src/a.c.gcda"].ran
    assert {audit.gcov_ident(name) for name in ("main", "busy", "warm")} < ran
    assert audit.gcov_ident("never") not in ran
    assert audit.gcov_ident("_ZN3eng1T4workEi") in counts["src/b.cc.gcda"].ran


def test_gcc_counts_go_on_over_lines(by_gcc: Trained, tmp_path: Path) -> None:
    """Eight counts to a line: those on further lines count too."""
    cases = " ".join(f"case {n}: once(); break;" for n in range(20))
    switch = f"for (int n = 0; n < 20; n++) switch (n) {{ {cases} }}"
    folder = fresh(tmp_path / "wide", w_c=f"void once(void) {{}}\nint main(void) {{ {switch} return 0; }}\n")
    tool(by_gcc.toolchain.cc, "-O0", *INSTRUMENT, "w.c", "-o", "w", cwd=folder)
    tool(folder / "w", cwd=folder)
    (data,) = folder.glob("*.gcda")
    text = tool(str(by_gcc.toolchain.gcov_dump), "-l", data, cwd=folder)
    numbers = [line.rpartition(":")[2].split() for line in text.splitlines() if re.search(r":\s+\d+: [\d ]+$", line)]
    assert max(map(len, numbers)) == 8
    counters = [int(count) for count in re.findall(r"COUNTERS arcs (\d+) counts", text)]
    assert max(counters) > 16, "main has an arc for each case"
    everything = sum(int(word) for words in numbers for word in words)
    times = 2  # when main and once were first called, counted too by time_profiler
    assert audit.read_gcov_dump(text).total == everything - sum(range(1, times + 1))


def test_gcc_profile_covers(by_gcc: Trained) -> None:
    counts = gcc_counts(by_gcc)
    listed = [
        tool("nm", "--defined-only", "--extern-only", by_gcc.folder / name, cwd=by_gcc.folder) for name in ("a", "b")
    ]
    symbols = [line.split()[-1] for line in "\n".join(listed).splitlines()]
    covered = ["busy", "work", "never", "idle", "local", "helper", "nowhere"]
    found = audit.read_gcc(counts, covered, symbols)
    assert found.missing == ("never", "idle"), "local ones can't be told by a .gcda and are not asked for"
    assert found.hot == {"src/a.c.gcda"}, "the object that makes 99 % of all counts"
    assert (found.functions, found.counted) == (3, 2)


def test_gcc_is_silent_when_the_profile_fits(by_gcc: Trained) -> None:
    counts = gcc_counts(by_gcc)
    for flags in ((), ("-flto",), ("-Wall", "-Werror")):
        log = gcc_says(by_gcc, by_gcc.folder, "a.c", *flags)
        found = audit.audit_gcc(log, counts, frozenset({"src/a.c.gcda"}))
        assert (found.unmatched, found.all_mismatched, found.all_absent) == (0, 0, 0), log
        assert (found.hot, found.acceptable) == (4, True)


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
@pytest.mark.parametrize("flags", [(), ("-flto",), ("-Werror",)])
def test_gcc_names_a_hot_function_that_changed(
    by_gcc: Trained, tmp_path: Path, flags: tuple[str, ...], locale: str
) -> None:
    folder = fresh(tmp_path / "use", by_gcc.folder / "a.c.gcda", a_c=changed(C_SOURCE, BUSY_CHANGED))
    log = gcc_says(by_gcc, folder, "a.c", *flags, LC_ALL=locale)
    found = audit.audit_gcc(log, gcc_counts(by_gcc), frozenset({"src/a.c.gcda"}))
    assert found.mismatched == ("busy",), "once, though gcc says it of every kind of counter"
    assert found.share == 0.25
    assert not found.acceptable
    cold = audit.audit_gcc(log, gcc_counts(by_gcc), frozenset({"src/b.cc.gcda"}))
    assert (cold.mismatched, cold.all_mismatched) == ((), 1), "in another object it is cold"


def test_gcc_names_a_function_in_its_own_form(by_gcc: Trained, tmp_path: Path) -> None:
    folder = fresh(tmp_path / "use", by_gcc.folder / "b.cc.gcda", b_cc=changed(CXX_SOURCE, WORK_CHANGED))
    found = audit.audit_gcc(gcc_says(by_gcc, folder, "b.cc"), gcc_counts(by_gcc), frozenset({"src/b.cc.gcda"}))
    assert "int eng::T::work(int)" in found.mismatched


def test_gcc_names_a_function_without_a_profile(by_gcc: Trained, tmp_path: Path) -> None:
    added = "static __attribute__((noinline, used)) int added(int x) { return x > 3 ? x : 3; }\n"
    folder = fresh(tmp_path / "use", by_gcc.folder / "a.c.gcda", a_c=C_SOURCE + added)
    found = audit.audit_gcc(gcc_says(by_gcc, folder), gcc_counts(by_gcc), frozenset({"src/a.c.gcda"}))
    assert (found.absent, found.unmatched) == (("added",), 1)


@pytest.mark.parametrize("flags", [(), ("-Werror",)])
def test_gcc_object_without_its_gcda(by_gcc: Trained, tmp_path: Path, flags: tuple[str, ...]) -> None:
    folder = fresh(tmp_path / "build/src", a_c=C_SOURCE, idle_c=IDLE_SOURCE)
    log = gcc_says(by_gcc, folder, "a.c", *flags) + gcc_says(by_gcc, folder, "idle.c", *flags)
    found = audit.audit_gcc(log, gcc_counts(by_gcc), frozenset({"src/a.c.gcda"}))
    assert found.absent == ("src/a.c.gcda",)
    assert (found.unmatched, found.hot) == (4, 4), "none of its functions is matched"
    assert found.all_absent == 2
    assert not found.acceptable


def test_gcc_hot_objects_are_told_by_whole_path_and_source() -> None:
    counts = {"src/a.gcda": ObjectCounts(5, 100), "lib/c.cc.gcda": ObjectCounts(5, 100)}
    lost = "a.c:1:1: warning: '/p/othersrc/a.gcda' profile count data file not found [-Wmissing-profile]\n"
    assert audit.audit_gcc(lost, counts, frozenset(counts)).absent == ()
    text = ":3:5: warning: the control flow of function 'f' does not match its profile data (counter 'arcs')\n"
    for file, hot in (("/s/a.c", 1), ("/s/c.cc", 1), ("/s/c.c", 0), ("/s/a.h", 0), ("/s/other.c", 0)):
        found = audit.audit_gcc(file + text, counts, frozenset(counts))
        assert len(found.mismatched) == hot, file
        assert found.all_mismatched == 1


# BOLT


@dataclass(frozen=True)
class Bolted:
    folder: Path
    toolchain: Toolchain
    data: Path

    def link(self, name: str, source: str) -> Path:
        """Links a program for BOLT, as a recipe does."""
        (self.folder / f"{name}.c").write_text(source + IDLE_SOURCE.replace("local", "local2"))
        program = self.folder / name
        flags = ("-O2", "-fno-reorder-blocks-and-partition", "-Wl,--emit-relocs")
        tool(self.toolchain.cc, *flags, f"{name}.c", "-o", program, cwd=self.folder)
        return program

    def optimise(self, program: Path) -> str:
        words = (str(self.toolchain.bolt), program, "-o", f"{program}.bolt", f"-data={self.data}", *BOLT_OPTIONS)
        return tool(*words, cwd=self.folder)


@pytest.fixture(scope="module")
def by_bolt(gcc: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Bolted:
    if gcc.bolt is None or not gcc.bolt_can_instrument:
        pytest.skip("no BOLT that can instrument")
    folder = tmp_path_factory.mktemp("bolt")
    bolted = Bolted(folder, gcc, folder / "raw.fdata")
    program = bolted.link("a", C_SOURCE)
    instrument = ("-instrument", f"-instrumentation-file={folder / 'raw'}", "-instrumentation-file-append-pid")
    tool(gcc.bolt, program, "-o", folder / "a.inst", *instrument, cwd=folder)
    tool(folder / "a.inst", cwd=folder)
    (written,) = folder.glob("raw.*")
    written.rename(bolted.data)
    return bolted


def test_bolt_counts_the_functions_that_it_found(by_bolt: Bolted) -> None:
    said = by_bolt.optimise(by_bolt.folder / "a")
    have, of, stale = audit.read_bolt(said)
    assert 4 <= have < of, said
    assert stale == 0
    before, after = (tool(by_bolt.folder / name, cwd=by_bolt.folder) for name in ("a", "a.bolt"))
    assert before == after


def test_bolt_counts_stale_functions(by_bolt: Bolted) -> None:
    have, of, stale = audit.read_bolt(by_bolt.optimise(by_bolt.link("stale", changed(C_SOURCE, BUSY_CHANGED))))
    assert 4 <= have < of
    assert stale >= 1


def test_bolt_said_nothing() -> None:
    assert audit.read_bolt("BOLT-ERROR: no\n") == (0, 0, 0)
    many = "BOLT-WARNING: 12 (3.1% of all profiled) functions have invalid (possibly stale) profile.\n"
    assert audit.read_bolt(many)[2] == 12


def test_names_behind_which_bolt_and_compilers_put_something() -> None:
    assert audit.lacking(["f"], ["f/1"]) == ()
    assert audit.lacking(["f"], ["f.cold", "g"]) == ()
    assert audit.lacking(["f"], ["f_more", "gf", "11f_and_more"]) == ("f",)
    assert audit.lacking(["work"], ["_ZN14work_somewhereEv"]) == ("work",)


# second rounds, and what is hot in a profile but not in the build

FIRST = "warning: o.c: function control flow change detected (hash mismatch) other Hash = 238984482966880379 up to 3"
SECOND = (
    "ld.lld: warning: o.o: no profile data available for function busy.llvm.13547 Hash = 2277602157043793664 up to 0"
)


def test_the_second_rounds_functions_are_asked_for_by_their_own_names() -> None:
    log = f"{FIRST}\n{SECOND}\n"
    hot, again = frozenset({"a", "b"}), frozenset({"a.c;busy", "other", "cold.llvm.99"})
    found = audit.audit_clang(log, hot, again)
    assert found.hot == 5
    assert found.absent == ("busy",), "ThinLTO's suffix and the file before a local name are not the function's name"
    assert found.mismatched == (), "other is hot in the second round only, its mismatch was the first one's"
    assert (found.all_mismatched, found.all_absent) == (1, 1)
    assert not found.acceptable
    promoted = audit.audit_clang(log, hot, frozenset({"busy.llvm.777"}))
    assert promoted.absent == ("busy",), "whatever hash it was renamed after"


def test_hot_local_functions_of_files_that_are_not_built_are_stale() -> None:
    hot = frozenset({"/old/src/a.c;f", "gone.c;g", "public"})
    found = audit.audit_clang("", hot, sources=frozenset({"a.c", "b.c"}))
    assert found.stale == ("g",)
    assert not found.acceptable
    assert ", 1 stale (" in found.summary
    assert audit.audit_clang("", hot).acceptable, "where the sources are not known nothing is said"


def test_hot_objects_that_are_not_built_are_stale() -> None:
    objects = {"sql/a.cc.gcda": ObjectCounts(30, 100), "gone.gcda": ObjectCounts(10, 100)}
    found = audit.audit_gcc("", objects, frozenset(objects), frozenset({"sql/a.cc.o", "b.o"}))
    assert found.stale == ("gone.gcda",)
    assert found.share == pytest.approx(10 / 40)
