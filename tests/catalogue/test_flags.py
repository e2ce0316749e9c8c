"""The flag catalogue: what it says is accepted by the compilers that it names, does what it says, and is said well."""

from __future__ import annotations

import os
import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.base.processor import this_processor
from burnish.builds.stages import INSTRUMENT
from burnish.catalogue import edge, flags, load
from burnish.catalogue.flags import LEVEL, Flag
from burnish.model.recipe import Marks, Recipe
from burnish.toolchain.toolchains import Toolchain, find_toolchains

C = """
#include <string.h>
int two(int x) { char b[20]; memset(b, 0, sizeof b); return __builtin_expect(x > 3, 1) ? (int)strlen(b) : x; }
"""
CXX = """
extern "C" int two(int);
struct A { virtual int f(int x) { return two(x); } virtual ~A() {} };
int main(int argc, char **) { A a; A *b = &a; return b->f(argc) - argc; }
"""


LOOPS = """
#include <stdio.h>
#include <string.h>
static double m[40][40], n[40][40], o[40][40];
static int sorted[500];
static const char *words[] = {"select", "insert", "update", "delete", "commit", "begin"};
void product(int size) {
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++)
      for (int k = 0; k < size; k++) o[i][j] += m[i][k] * n[k][j];
}
int order(int *a, int count, int down) {
  int swaps = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j + 1 < count - i; j++)
      if (down ? a[j] < a[j + 1] : a[j] > a[j + 1]) { int t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; swaps++; }
  return swaps;
}
unsigned hash(const char *s, unsigned h) { while (*s) h = h * 31 + (unsigned char)*s++; return h; }
int split(const int *a, int count, int middle) {
  int sum = 0;
  for (int i = 0; i < count; i++) if (i < middle) sum += a[i]; else sum -= 2 * a[i];
  return sum;
}
int main(int argc, char **argv) {
  unsigned h = 7;
  for (int i = 0; i < 40; i++) for (int j = 0; j < 40; j++) m[i][j] = i + j, n[i][j] = i - j;
  product(39 + argc);
  for (int i = 0; i < 500; i++) sorted[i] = (i * 7919) % 503;
  int swaps = order(sorted, 500, argc > 1) + split(sorted, 500, 123);
  for (int i = 0; i < 5000; i++) h = hash(words[i % 6], h) % 1000003;
  char copy[300]; memset(copy, (int)h, sizeof copy);
  for (int i = 0; i < 300; i++) swaps += copy[i] > 3;
  return printf("%d %u %g %s\\n", swaps, h, o[3][4], argv[0]) < 0;
}
"""


def here(entries: Iterable[Flag], toolchain: Toolchain) -> list[Flag]:
    """The entries that this toolchain has on this machine."""
    machine = this_processor().architecture
    return [
        entry
        for entry in entries
        if toolchain.family in entry.spellings
        and toolchain.major >= entry.spellings[toolchain.family].since
        and (not entry.architecture or machine in entry.architecture)
    ]


def compatible(entries: Sequence[Flag]) -> list[list[Flag]]:
    """Groups whose entries do not contradict each other, so that a whole group is one compile."""
    groups: list[list[Flag]] = []
    for entry in entries:
        for group in groups:
            if not any(
                (entry.choice and entry.choice == other.choice)
                or entry.name in other.excludes
                or other.name in entry.excludes
                for other in group
            ):
                group.append(entry)
                break
        else:
            groups.append([entry])
    return groups


def said(toolchain: Toolchain, entries: Sequence[Flag], place: Path) -> str:
    """What the compilers have against these entries; nothing, as it should be."""
    each = [entry.spellings[toolchain.family] for entry in entries]
    c, cxx, link = ([flag for one in each for flag in getattr(one, kind)] for kind in ("c", "cxx", "link"))
    if lto := [flag for one in each for flag in one.lto]:
        c, cxx, link = (["-flto=thin", *kind] for kind in (c, cxx, ["-fuse-ld=lld", *lto, *link]))
    (place / "a.c").write_text(C)
    (place / "b.cc").write_text(CXX)
    usual = ["-O2", "-Wall", "-Werror"]
    commands: list[list[str | Path]] = [
        [toolchain.cc, *usual, *c, "-c", "a.c"],
        [toolchain.cxx, *usual, *cxx, "-c", "b.cc"],
        # Build systems give the link the compile flags too, and ask whether the compiler has something against it.
        [toolchain.cxx, *usual, *cxx, *link, "a.o", "b.o", "-o", "p"],
    ]
    if counting := [flag for one in each for flag in one.counting]:
        commands.append([toolchain.cxx, *usual, *INSTRUMENT, *counting, "-c", "b.cc", "-o", "counting.o"])
    for command in commands:
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode or done.stderr:
            return f"{' '.join(map(str, command))}: {done.stderr}"
    return ""


@pytest.mark.parametrize("toolchain", find_toolchains(), ids=lambda toolchain: toolchain.name)
def test_every_entry_is_accepted_by_the_toolchains_that_it_names(toolchain: Toolchain, tmp_path: Path) -> None:
    """An entry alone where its group is refused: a contradiction that the catalogue should know is a failure too."""
    entries = here(flags.flags().values(), toolchain)
    assert len(entries) > 60
    # What speaks to a link with LTO is tried in one.
    of_lto = [entry for entry in entries if entry.spellings[toolchain.family].lto]
    for group in (*compatible([entry for entry in entries if entry not in of_lto]), *compatible(of_lto)):
        refused = said(toolchain, group, tmp_path)
        if refused:
            alone = {entry.name: said(toolchain, [entry], tmp_path) for entry in group}
            pytest.fail(str({name: why for name, why in alone.items() if why} or refused))


def counted(toolchain: Toolchain, added: Sequence[str], place: Path) -> str:
    """What a program with loops of all kinds counts, built with these flags, as the family's tool prints it."""
    (place / "loops.c").write_text(LOOPS)
    for old in place.glob("loops.*[!c]"):
        old.unlink()
    steps: list[list[str | Path]] = [
        [toolchain.cc, "-O2", *added, "-fprofile-generate", "-frandom-seed=0", "-c", "loops.c"],
        [toolchain.cc, "-fprofile-generate", "loops.o", "-o", "loops.x"],
        ["./loops.x"],
    ]
    if toolchain.family == "gcc":
        assert toolchain.gcov_dump is not None
        steps += [[toolchain.gcov_dump, "-l", "loops.gcda"]]
    else:
        assert toolchain.profdata is not None
        steps += [
            [toolchain.profdata, "merge", "loops.profraw", "-o", "loops.profdata"],
            [toolchain.profdata, "show", "--all-functions", "--counts", "loops.profdata"],
        ]
    for step in steps:
        done = subprocess.run(
            step,
            cwd=place,
            env={**os.environ, "LLVM_PROFILE_FILE": "loops.profraw"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, (step, done.stderr)
    return "\n".join(line for line in done.stdout.splitlines() if "stamp" not in line and "SUMMARY" not in line)


@pytest.mark.parametrize("toolchain", find_toolchains(), ids=lambda toolchain: toolchain.name)
def test_what_acts_after_the_counters_counts_the_same(toolchain: Toolchain, tmp_path: Path) -> None:
    """Else a build would be given the profile of a program that it is not."""
    if not toolchain.has_profile_runtime:
        pytest.skip(f"{toolchain.name} has no profile runtime here")
    plain = counted(toolchain, (), tmp_path)
    assert len(plain.splitlines()) > 20
    assert counted(toolchain, (), tmp_path) == plain
    assert counted(toolchain, ["-fno-inline"], tmp_path) != plain, "what acts before them is seen"
    late = [
        entry for entry in here(flags.flags().values(), toolchain) if entry.spellings[toolchain.family].after_counters
    ]
    assert len(late) >= 5
    for group in compatible(late):
        added = [flag for entry in group for flag in entry.spellings[toolchain.family].c]
        assert counted(toolchain, added, tmp_path) == plain, [entry.name for entry in group]


def test_no_entry_is_for_nobody() -> None:
    for entry in flags.flags().values():
        assert entry.spellings, entry.name


def test_the_catalogue_says_all_that_the_issue_lists() -> None:
    """A word of each kind of flag that people turn, found by the search that people have."""
    for word in (
        "fast-math",
        "subnormals",
        "frame pointer",
        "unroll",
        "prefetch",
        "-fstrict-aliasing",
        "-fipa-pta",
        "inline",
        "-fno-builtin",
        "libmvec",
        "__builtin_expect",
        "-Wmisexpect",
        "-ffunction-sections",
        "-fPIC",
        "-fno-plt",
        "interposition",
        "-fvisibility",
        "-falign-functions",
        "vectoris",
        "-fPIE",
        "-fno-stack-protector",
        "FORTIFY",
        "relro",
        "-Wl,-z,now",
        "-fcf-protection",
        "-fmerge-constants",
        "-fno-math-errno",
    ):
        assert flags.search(flags.flags().values(), [word]), word
    assert {"O0", "O1", "O2", "O3", "Os", "Ofast"} <= {e.name for e in flags.flags().values() if e.choice == LEVEL}


@pytest.mark.parametrize("toolchain", find_toolchains(), ids=lambda toolchain: toolchain.name)
@pytest.mark.parametrize(("suffix", "source"), [("c", ""), ("cc", "extern ")])
def test_hints_off_takes_hints_out(toolchain: Toolchain, suffix: str, source: str, tmp_path: Path) -> None:
    """The code is that of the same source without hints, and not the one with them."""
    hinted, plain = tmp_path / f"hinted.{suffix}", tmp_path / f"plain.{suffix}"
    text = source + "int a(int); int b(int); int f(int x) {{ if ({}) return a(x); return b(x * 7); }}\n"
    both = [text.format(f"__builtin_expect((x > 3) != 0, {likely})").replace("f(", f"f{likely}(") for likely in (0, 1)]
    hinted.write_text("".join(both))
    plain.write_text("".join(text.format("x > 3").replace("f(", f"f{number}(") for number in (0, 1)))
    spelling = flags.flag("hints-off").spellings[toolchain.family]
    program = toolchain.cc if suffix == "c" else toolchain.cxx

    def code(path: Path, *more: str) -> str:
        command: list[str | Path] = [program, "-O2", "-Werror", *more, "-S", "-o", "-", path]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return "\n".join(line for line in done.stdout.splitlines() if ".file" not in line)

    without = code(plain)
    given = spelling.c if suffix == "c" else spelling.cxx
    assert code(hinted, *given) == without
    assert code(hinted) != without


def test_targets_are_known_to_the_compilers(toolchains: list[Toolchain], tmp_path: Path) -> None:
    """clang knows both architectures; gcc this machine's."""
    (tmp_path / "a.c").write_text("int f(int *p) { return __atomic_fetch_add(p, 1, 0); }\n")
    machine = this_processor().architecture
    for toolchain in toolchains:
        for target in flags.targets().values():
            architecture = target.architecture or machine
            foreign = architecture != machine
            if toolchain.major < target.since[toolchain.family] or (foreign and toolchain.family == "gcc"):
                continue
            cross = [f"--target={architecture}-linux-gnu"] if foreign else []
            asked = [*cross, *target.flags, *target.quiet(toolchain.family)]
            said_here = [*asked, "-Werror", "-O2", "-S", "-o", "/dev/null", "a.c"]
            command: list[str | Path] = [toolchain.cc, *said_here]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
            assert done.returncode == 0, f"{toolchain.name}: {target.name}: {done.stderr}"


def test_needs_add_up() -> None:
    known = flags.targets()
    assert known["x86-64"].needs < known["x86-64-v2"].needs < known["x86-64-v3"].needs < known["x86-64-v4"].needs
    assert {"avx2", "popcnt", "avx512vl", "adx"} <= known["skylake-server"].needs
    assert {"atomics", "crc32"} <= known["neoverse-n1"].needs
    assert not known["tune-znver3"].needs


def test_marks_of_entries_and_targets() -> None:
    assert flags.marks(Recipe()) == Marks()
    assert flags.marks(Recipe(hardening=False)) == Marks(weakens_security=True)
    assert flags.marks(Recipe(flags=("Ofast", "no-pie"))) == Marks(changes_results=True, weakens_security=True)
    assert flags.marks(Recipe(target="x86-64-v2")) == Marks(narrows_portability=True)
    assert flags.marks(Recipe(target="tune-native")) == Marks()
    assert flags.marks(Recipe(target="x86-64-v3")).words == ("changes results", "narrows portability")
    assert not flags.marks(Recipe(target="x86-64-v3", flags=("fp-contract-off",))).changes_results


def test_marks_of_raw_flags_that_say_the_same() -> None:
    assert flags.marks(Recipe(c=("-fno-stack-protector",))).weakens_security
    assert flags.marks(Recipe(level="-Ofast")).changes_results
    assert flags.marks(Recipe(cxx=("-march=haswell",))).narrows_portability
    assert flags.marks(Recipe(link=("-Wl,-z,norelro",))).weakens_security
    assert flags.marks(Recipe(c=("-U_FORTIFY_SOURCE",))).weakens_security
    assert not flags.marks(Recipe(c=("-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3")))
    assert not flags.marks(Recipe(c=("-funroll-loops",), link=("-lm",)))


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        (Recipe(flags=("unrol-loops",)), "unknown flag 'unrol-loops' (did you mean 'unroll-loops'?); `burnish flags`"),
        (Recipe(target="haswel"), "unknown target 'haswel' (did you mean 'haswell'?); there are: "),
        (Recipe(flags=("O3", "O2")), "flag 'O2' contradicts 'O3' (one level at a time); leave one out"),
        (Recipe(flags=("O3",), level="-O2"), "flag 'O3' contradicts \"level = '-O2'\" (one level at a time)"),
        (Recipe(flags=("cet", "no-cet")), "flag 'no-cet' contradicts 'cet'"),
        (Recipe(flags=("fast-math", "strict-math")), "flag 'strict-math' contradicts 'fast-math'; leave one out"),
        (Recipe(flags=("strict-math", "Ofast")), "flag 'Ofast' contradicts 'strict-math'; leave one out"),
        (Recipe(flags=("points-to", "points-to")), "flag 'points-to' is named twice"),
        (Recipe(flags=("check-hints",)), "flag 'check-hints' does something only with a profile; add pgo = true"),
    ],
)
def test_what_no_toolchain_could_follow_is_refused_in_one_line(recipe: Recipe, says: str) -> None:
    with pytest.raises(UserError) as caught:
        flags.check(recipe, "variant v")
    assert str(caught.value).startswith(f"variant v: {says}")
    assert "\n" not in str(caught.value)


def test_a_wrong_name_is_found_when_the_file_is_read(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[mine]\nreason = "A reason that is long enough."\nrecipe = { flags = ["point-to"] }\n')
    with pytest.raises(UserError, match=r"^own.toml: mine: unknown flag 'point-to' \(did you mean 'points-to'\?\)"):
        load.read_variants(own)


GOOD = 'does = "Something that one can see."\nreason = "A reason that is long enough to be one."\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"[x]\n{GOOD}", "x: say both, or gcc and clang"),
        (f'[x]\n{GOOD}gcc = {{ compile = ["-g"] }}\n', "x: say both, or gcc and clang"),
        (f'[x]\n{GOOD}both = {{ compile = ["-g"] }}\ngcc = "none"\n', "x: say both, or gcc and clang"),
        (f"[x]\n{GOOD}both = {{ since = 3 }}\n", "x: both: give flags: compile, c, cxx, link, counting or lto"),
        (f'[x]\n{GOOD}both = {{ compile = ["-g"] }}\nchoise = "a"\n', "'choise' (did you mean 'choice'?)"),
        (f'[x]\n{GOOD}both = {{ compile = ["-g"] }}\nexcludes = ["y"]\n', "x: excludes 'y'"),
        ('[x]\ndoes = "Something that one can see."\nboth = { compile = ["-g"] }\n', "x: reason: field required"),
    ],
)
def test_a_wrong_entry_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str) -> None:
    (tmp_path / "flags").mkdir()
    (tmp_path / "flags" / "some.toml").write_text(text)
    monkeypatch.setattr(flags, "ROOT", tmp_path)
    with pytest.raises(UserError) as caught:
        flags.flags.__wrapped__()
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_stands_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "flags").mkdir()
    for name in ("a", "b"):
        (tmp_path / "flags" / f"{name}.toml").write_text(f'[x]\n{GOOD}both = {{ compile = ["-g"] }}\n')
    monkeypatch.setattr(flags, "ROOT", tmp_path)
    with pytest.raises(UserError, match=r"^b.toml: x: is in a.toml too"):
        flags.flags.__wrapped__()


def test_search_takes_all_words_of_any_part() -> None:
    every = flags.flags().values()
    assert [entry.name for entry in flags.search(every, ["unroll-count", "CLANG"])] == []
    assert "unroll-loops-twice" in {entry.name for entry in flags.search(every, ["max-unroll-times"])}
    assert {entry.name for entry in flags.search(every, ["weakens"])} >= {"no-pie", "no-fortify"}
    assert len(flags.search(every, [])) == len(flags.flags())


def test_files_are_read_by_topic() -> None:
    names = {path.stem for path in (edge.ROOT / "flags").glob("*.toml")}
    assert {entry.topic for entry in flags.flags().values()} == names
    count = sum(len(tomllib.loads(path.read_text())) for path in (edge.ROOT / "flags").glob("*.toml"))
    assert count == len(flags.flags())
