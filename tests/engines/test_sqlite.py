"""The SQLite engine: its loop on stand-ins for SQLite's programs, its gate's logic, and (real) SQLite itself."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from burnish.base.errors import InfrastructureError, UserError
from burnish.catalogue import load
from burnish.catalogue.instructions import processors
from burnish.engines.contract import BuildJob, SideSpec, Tick, Workload
from burnish.engines.sqlite import engine as sqlite
from burnish.engines.sqlite import gate
from burnish.engines.sqlite.engine import Sqlite
from burnish.engines.sqlite.gate import CheckResult
from burnish.engines.sqlite.side import SqliteSide, data_options, program_arguments
from burnish.engines.testing import EngineContract, Made, make_build
from burnish.engines.testing.base import FLAG
from burnish.model.condition import Condition
from burnish.program import emulation
from burnish.program.built import Built
from burnish.source import sources
from burnish.toolchain.link_parts import find_parts
from burnish.toolchain.linking import linked
from burnish.toolchain.toolchains import Toolchain
from conftest import FakeBench
from sqlite_builds import SPEC, build, job_for

SOURCE_VARIABLE = "BURNISH_SQLITE_SOURCE"
"""Names an unpacked source tree for the tests with real SQLite; Debian's is fetched otherwise."""

STAND_IN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static void at_end(void) { fclose(fopen("profile", "w")); }
int speedtest1_main(int argc, char **argv) { /* 10 ms of CPU; fails at its third call when it is told to */
  static int calls;
  struct timespec t;
  if (calls++ == 0) atexit(at_end);
  if (strcmp(argv[argc - 2], "a,b") != 0) return 3;
  *strchr(argv[argc - 2], ',') = 0;
  printf("unit %d\\n", calls);
  if (strcmp(argv[1], "--fail") == 0 && calls == 3) { printf("ERROR: the third\\n"); exit(1); }
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  double end = t.tv_sec + t.tv_nsec * 1e-9 + 0.01;
  do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); while (t.tv_sec + t.tv_nsec * 1e-9 < end);
  return 0;
}
int kvtest_main(int argc, char **argv) { return argc > 99 && argv; }
int shell_main(int argc, char **argv) { return argc > 99 && argv; }
int fuzzcheck_main(int argc, char **argv) { return argc > 99 && argv; }
const char *sqlite3_libversion(void) { return "9.9"; }
const char *sqlite3_sourceid(void) { return "source"; }
const char *sqlite3_compileoption_get(int i) { return i == 0 ? "COMPILER=cc-1" : i == 1 ? "THREADSAFE=1" : 0; }
sqlite3_vfs *sqlite3_vfs_find(const char *name) { (void)name; return NULL; }
int sqlite3_shutdown(void) { return 0; }
"""

STAND_IN_HEADER = """
typedef long long sqlite3_int64;
typedef struct sqlite3_vfs sqlite3_vfs;
struct sqlite3_vfs { sqlite3_vfs *pNext; int (*xCurrentTimeInt64)(sqlite3_vfs *, sqlite3_int64 *); };
enum { SQLITE_OK = 0 };
const char *sqlite3_libversion(void);
const char *sqlite3_sourceid(void);
const char *sqlite3_compileoption_get(int);
sqlite3_vfs *sqlite3_vfs_find(const char *);
int sqlite3_shutdown(void);
"""


@pytest.fixture
def engine() -> Sqlite:
    return Sqlite(SPEC)


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory, gcc: Toolchain) -> Built:
    """The loop, linked with programs whose behaviour is known."""
    folder = tmp_path_factory.mktemp("stand-in")
    (folder / "sqlite3.h").write_text(STAND_IN_HEADER)
    (folder / "stand_in.c").write_text(f'#include "sqlite3.h"\n{STAND_IN}')
    loop = Path(sqlite.__file__).with_name(sqlite.LOOP)
    argv: list[str | Path] = [
        gcc.cc,
        "-Wall",
        "-Wextra",
        "-Werror",
        "-D_GNU_SOURCE",
        f"-I{folder}",
        loop,
        folder / "stand_in.c",
    ]
    subprocess.run([*argv, "-Wl,--build-id=sha1", "-o", folder / "program"], check=True)
    return Built("stand-in", folder, folder / "program", "stand-in")


MakeSide = Callable[..., SqliteSide]


@pytest.fixture
def make_side(stand_in: Built, tmp_path: Path) -> Iterator[MakeSide]:
    made: list[SqliteSide] = []

    def make(*settings: tuple[str, str], built: Built = stand_in, workload: str = "speedtest1") -> SqliteSide:
        folder, data = tmp_path / f"side{len(made)}", tmp_path / f"data{len(made)}"
        folder.mkdir()
        data.mkdir()
        chosen = load.workload(SPEC, workload)
        if built is stand_in:  # its programs take options of their own
            chosen = replace(chosen, parameters=(("testset", "a,b"),))
        spec = SideSpec(
            label="side",
            built=built,
            condition=Condition(settings=settings),
            workload=chosen,
            data=data,
            folder=folder,
            seed=1,
            cores=frozenset(os.sched_getaffinity(0)),
        )
        if settings:  # in front, where the stand-in looks
            pairs = (*settings, *chosen.parameters)
            spec = replace(spec, condition=Condition(), workload=replace(chosen, parameters=pairs))
        made.append(SqliteSide(spec))
        return made[-1]

    yield make
    for side in made:
        side.stop()


def collect(side: SqliteSide, count: int) -> list[Tick]:
    found: list[Tick] = []
    deadline = time.monotonic() + 120
    while len(found) < count and side.trouble() is None and time.monotonic() < deadline:
        found += side.ticks()
        time.sleep(0.01)
    return found + side.ticks()


def test_units_are_counted_with_their_cpu_time(make_side: MakeSide) -> None:
    side = make_side()
    side.boot()
    assert collect(side, 0) == [] == side.ticks()  # paused until load()
    assert len(side.server_pids()) == 1
    side.load()
    ticks = collect(side, 10)
    assert [tick.done for tick in ticks] == list(range(1, len(ticks) + 1))
    for before, after in pairwise(ticks):
        assert after.at > before.at
        assert after.server_cpu - before.server_cpu >= 0.01  # a unit is 10 ms of CPU, whatever it waits
    spent = [after.server_cpu - before.server_cpu for before, after in pairwise(ticks)]
    assert median(spent) < 0.02  # of a single one the hypervisor may have a part
    assert side.trouble() is None


def test_stop_lets_the_unit_finish_and_profiles_be_written(make_side: MakeSide) -> None:
    side = make_side()
    side.boot()
    side.load()
    collect(side, 2)
    process = side._process
    side.stop()
    side.stop()
    assert process is not None
    assert process.returncode == 0
    assert (side.spec.folder / "profile").is_file()  # made at exit, as profiles are
    assert side.server_pids() == []
    assert side.trouble() is None


def test_stop_before_load(make_side: MakeSide) -> None:
    side = make_side()
    side.boot()
    process = side._process
    side.stop()
    assert side.server_pids() == []
    assert process is not None
    assert process.returncode == 0, "it ended by itself, not for want of patience"


def test_a_failed_unit_is_trouble_with_its_last_words(make_side: MakeSide) -> None:
    side = make_side(("fail", "ON"))
    side.boot()
    side.load()
    assert collect(side, 9)[-1].done == 2
    assert "ended with exit code 1: ERROR: the third" in (side.trouble() or "")


def test_a_program_that_does_not_start_is_an_error(make_side: MakeSide, stand_in: Built) -> None:
    side = make_side(built=replace(stand_in, server=Path("/bin/false")))
    with pytest.raises(InfrastructureError, match="ended with exit code 1"):
        side.boot()


def test_missing_data_are_an_error(make_side: MakeSide, stand_in: Built) -> None:
    with pytest.raises(InfrastructureError, match=r"data are missing \(.*kv\.db\)"):
        make_side(built=replace(stand_in), workload="kvtest").boot()


def test_arguments(make_side: MakeSide, stand_in: Built) -> None:
    other = replace(stand_in)  # not the stand-in's own options
    side = make_side(built=other, workload="kvtest")
    data = str(side.spec.data / "kv.db")
    assert program_arguments(side.spec) == ["kvtest", "run", data, "--random", "--count", "120000"]
    assert data_options(side.spec.workload) == ["--count", "2000", "--size", "1000", "--variance", "200"]
    spec = make_side(built=other).spec
    condition = Condition(settings=(("memdb", "OFF"), ("size", "7")))
    database = str(spec.data / "speedtest1.db")
    assert program_arguments(replace(spec, condition=condition)) == [
        *("speedtest1", "--size", "7", "--testset", "main", database)
    ]


def test_threads_are_refused(make_side: MakeSide) -> None:
    with pytest.raises(UserError, match="has one; leave threads out"):
        SqliteSide(replace((spec := make_side().spec), workload=replace(spec.workload, threads=4)))


def test_later_versions_have_later_objects(tmp_path: Path) -> None:
    names = [name for name, _ in sqlite.objects_of(tmp_path)]
    assert "ext/misc/randomjson.c" not in names
    (tmp_path / "ext/misc").mkdir(parents=True)
    (tmp_path / "ext/misc/randomjson.c").touch()
    assert [name for name, _ in sqlite.objects_of(tmp_path)] == [*names, "ext/misc/randomjson.c"]


def test_identity_leaves_the_compiler_out(engine: Sqlite, stand_in: Built, bench: FakeBench) -> None:
    found = engine.identity(stand_in, bench)
    assert (found.version, found.features) == ("9.9", (("THREADSAFE", "1"),))
    assert len(found.build_id) == 40


def test_existing_programs(engine: Sqlite, stand_in: Built, tmp_path: Path) -> None:
    assert engine.existing(stand_in.server).server == stand_in.server
    with pytest.raises(UserError, match="no such file"):
        engine.existing(tmp_path / "none")
    with pytest.raises(UserError, match="no program of SQLite; name a bin/burnish-sqlite"):
        engine.existing(Path("/bin/true"))


def test_definitions(gcc: Toolchain, tmp_path: Path, bench: FakeBench) -> None:
    job = job_for(gcc, tmp_path, tmp_path / "place", bench)
    options = (("SQLITE_SOUNDEX", "OFF"), ("SQLITE_MAX_ATTACHED", "20"), ("SQLITE_SECURE_DELETE", "FAST"))
    words = sqlite._defines(replace(job, options=options))
    assert "-DSQLITE_THREADSAFE=1" in words
    assert {"-DSQLITE_MAX_ATTACHED=20", "-DSQLITE_SECURE_DELETE=FAST", "-DSQLITE_ENABLE_FTS5"} <= set(words)
    assert not any("SOUNDEX" in word for word in words)
    for name, value in (("WITH_SSL", "ON"), ("SQLITE_X", "1; rm")):
        with pytest.raises(UserError, match=f"option {name}"):
            sqlite._defines(replace(job, options=((name, value),)))


def test_the_amalgamation_alone_is_refused(engine: Sqlite, gcc: Toolchain, tmp_path: Path, bench: FakeBench) -> None:
    (tmp_path / "sqlite3.c").touch()
    with pytest.raises(UserError, match="not SQLite's full source tree"):
        engine.build(job_for(gcc, tmp_path, tmp_path / "place", bench))


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 40), reason="the script asks for newer SQL")
def test_known_answers_hold_in_another_build_of_sqlite() -> None:
    sql = gate.answers_sql()
    known = gate.known_answers(sql)
    assert len(known) == sql.count("; -- = ") > 60
    database = sqlite3.connect(":memory:", isolation_level=None)
    got, statement = {}, ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if not sqlite3.complete_statement(statement):
            continue
        for name, *values in database.execute(statement):
            got[name] = "|".join("" if value is None else shown(value) for value in values)
        statement = ""
    assert got == known


def shown(value: object) -> str:
    """As the shell shows it."""
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.15g}"
    return text.replace("e", ".0e") if "e" in text and "." not in text else text if "." in text else f"{text}.0"


def test_every_check_of_the_catalogue_has_a_command() -> None:
    for name in SPEC.gate_tests:
        assert gate._commands(name, Path("/program"), {}, Path("/data"))
    with pytest.raises(InfrastructureError, match="unknown check 'smoke'"):
        gate._commands("smoke", Path("/program"), {}, Path("/data"))
    assert gate.fuzz_data(("answers", "trace-4", "fuzz-12", "fuzz-4")) == ["fuzzdata4.db", "fuzzdata12.db"]


def test_judgement() -> None:
    said = {
        "answers": CheckResult("count: expected 1, got 2", ""),
        "speedtest1-main": CheckResult(None, "abc"),
        "trace-4": CheckResult(None, "abc"),
        "fuzz-8": CheckResult(None, ""),
    }
    same = {"answers": "", "speedtest1-main": "abc", "trace-4": "abc", "fuzz-8": ""}
    other = same | {"speedtest1-main": "def", "trace-4": "def"}

    def names(expected: dict[str, str], comparable: bool) -> tuple[list[str], int]:
        failures, skipped = gate.judge(said, expected, comparable=comparable)
        return [name for name, _ in failures], skipped

    assert names(same, True) == (["answers"], 0)
    assert names(other, True) == (["answers", "speedtest1-main", "trace-4"], 0)
    assert names(other, False) == (["answers", "speedtest1-main"], 1)  # other features, other traces


def test_another_word_size_is_judged_by_what_does_not_follow_from_it() -> None:
    baseline = {"trace-4": CheckResult(None, "abc", "xyz"), "fuzz-8": CheckResult(None, "")}
    expected = gate.expectations(baseline)

    def judged(said: dict[str, CheckResult], expected: dict[str, str], same_word: bool) -> tuple[list[str], int]:
        failures, skipped = gate.judge(said, expected, comparable=True, same_word=same_word)
        return [name for name, _ in failures], skipped

    assert judged(baseline, expected, True) == ([], 0)
    narrow = baseline | {"trace-4": CheckResult(None, "def", "xyz")}
    assert judged(narrow, expected, True) == (["trace-4"], 0)
    assert judged(narrow, expected, False) == ([], 0)
    assert judged(baseline | {"trace-4": CheckResult(None, "def", "uvw")}, expected, False) == (["trace-4"], 0)
    older = {"trace-4": "abc", "fuzz-8": ""}
    assert judged(narrow, older, False) == ([], 1), "a baseline that was built before it was kept apart"


def test_a_trace_is_read_with_and_without_what_follows_from_the_word_size(tmp_path: Path, bench: FakeBench) -> None:
    said = {}
    for spill in (483, 489):
        place = tmp_path / str(spill)
        place.mkdir()
        program = place / "program"
        program.write_text(f"#!/bin/sh\necho row; echo 'cache_spill = INT {spill}'; echo 0.1 seconds\n")
        program.chmod(0o755)
        said[spill] = gate.run_checks(program, {}, ("trace-4",), tmp_path, place, bench)["trace-4"]
    assert said[483].result != said[489].result
    assert said[483].portable == said[489].portable != said[483].result


@pytest.mark.parametrize(
    ("name", "output", "code", "failure"),
    [
        ("fuzz-8", "crash", "139", "ended with exit code 139: crash"),
        ("fuzz-8", "", "137", "took more than 120 s"),
        ("speedtest1-main", "no hash here", "0", "no verification hash"),
        ("kvtest", "integrity-check: ok\nintegrity-check: row 1 missing\n", "0", "said ok; row 1 missing"),
        ("answers", "count|1000|500500|1|1000|250250.0\nless|10\n", "0", "less: expected 9, got 10"),
        ("answers", "Error: near line 3: no such table\n", "1", "count: no answer: Error: near line 3"),
    ],
)
def test_what_a_check_said(name: str, output: str, code: str, failure: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.out").write_text(output)
    (tmp_path / f"{name}.exit").write_text(f"{code}\n")
    assert failure in (gate._read(name, tmp_path).failure or "")


def test_a_build_without_the_gates_data_is_refused(
    engine: Sqlite, stand_in: Built, tmp_path: Path, bench: FakeBench
) -> None:
    with pytest.raises(InfrastructureError, match="without the gate's data"):
        engine.gate(stand_in, stand_in, tmp_path / "gate", bench)


# Real SQLite, at -O1 to be quick.


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    named = os.environ.get(SOURCE_VARIABLE)
    if named:
        return Path(named)
    folder = tmp_path_factory.mktemp("source")
    request = sources.SourceRequest("sqlite", sources.DebianSource("sqlite3"))
    found = sources.resolve(request, cache=folder / "cache", say=print)
    return sources.unpack(found, request, cache=folder / "cache", place=folder / "tree")


@pytest.fixture(scope="session")
def source(tree: Path) -> Path:
    return tree


@pytest.fixture(scope="session")
def real_made(tree: Path, gcc: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Made:
    place = tmp_path_factory.mktemp("sqlite")
    job = job_for(gcc, tree, place / "build", FakeBench(place / "logs"))
    flags = replace(job.flags, c=(*job.flags.c, FLAG))
    return make_build(Sqlite(SPEC), replace(job, with_tools=True, flags=flags), place / "real")


@pytest.fixture(scope="session")
def real(real_made: Made) -> Built:
    return real_made.built


@pytest.mark.real
class TestRealSqlite(EngineContract):
    """What every engine must do, on the one build of these tests."""

    name = "sqlite"
    cheap = False

    @pytest.fixture(scope="class")
    @classmethod
    def source(cls, tree: Path) -> Path:
        return tree

    @pytest.fixture(scope="class")
    @classmethod
    def made(cls, real_made: Made) -> Made:
        return real_made

    @pytest.fixture(scope="class")
    @classmethod
    def job(cls, real_made: Made) -> BuildJob:
        return real_made.job

    @pytest.fixture(scope="class")
    @classmethod
    def workload(cls) -> Workload:
        return load.workload(SPEC, "kvtest")


@pytest.mark.real
def test_real_sqlite_passes_its_gate(engine: Sqlite, real: Built, tmp_path: Path, bench: FakeBench) -> None:
    report = engine.gate(real, real, tmp_path / "gate", bench)
    assert report.passed, report.failures
    assert report.tests == len(SPEC.gate_tests)
    assert report.build_id == engine.identity(real, bench).build_id


@pytest.mark.real
def test_real_sqlite_answers_here_and_on_an_old_processor(
    engine: Sqlite, real: Built, tmp_path: Path, bench: FakeBench
) -> None:
    found = emulation.find()
    launchers = [()] if found is None else [(), found.launcher(processors()["Nehalem"])]
    for number, launcher in enumerate(launchers):
        place = tmp_path / str(number)
        place.mkdir()
        assert engine.answers(real, place, bench, launcher) is None


@pytest.mark.real
def test_real_sqlite_has_the_features_of_debian(engine: Sqlite, real: Built, bench: FakeBench) -> None:
    names = {name for name, _ in engine.identity(real, bench).features}
    asked = {name.removeprefix("SQLITE_") for name, _ in SPEC.features["debian"].options}
    # Two are not among what compile_options can tell, and one has been always on since 3.38.
    assert asked - names <= {"ALLOW_ROWID_IN_VIEW", "ENABLE_JSON1"}


@pytest.mark.real
@pytest.mark.parametrize("workload", [name for owner, name in load.workloads() if owner == "sqlite"])
def test_real_sqlite_runs_every_workload(
    engine: Sqlite, real: Built, make_side: MakeSide, bench: FakeBench, workload: str
) -> None:
    side = make_side(built=real, workload=workload)
    engine.create_dataset(real, real, side.spec.workload, side.spec.data, bench)
    side.boot()
    before = side.fingerprint()
    assert bool(before) == (side.spec.workload.dataset != "none")
    side.load()
    ticks = collect(side, 5)
    side.stop()
    assert ticks[-1].done >= 5
    assert side.fingerprint() == before  # none of them writes to its data


@pytest.mark.real
def test_a_planted_wrong_comparison_fails_the_gate(
    engine: Sqlite, source: Path, real: Built, gcc: Toolchain, tmp_path: Path, bench: FakeBench
) -> None:
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    for path in [*source.iterdir(), *(source / "src").iterdir()]:
        target = tree / path.relative_to(source)
        if not target.exists():
            target.symlink_to(path)
    file = tree / "src" / "vdbeaux.c"
    text = file.read_text(encoding="latin-1")
    right, wrong = "    if( x<r ) return -1;", "    if( x<=r ) return -1;"  # an integer against a real
    assert text.count(right) == 1
    file.unlink()
    file.write_text(text.replace(right, wrong), encoding="latin-1")
    job = job_for(gcc, tree, tmp_path / "build", bench)
    planted = build(engine, replace(job, flags=replace(job.flags, c=(*job.flags.c, "-O0"))), tmp_path / "planted")
    # The check that sees it without the baseline's results.
    report = engine.gate(planted, real, tmp_path / "gate", bench, tests=["answers"])
    assert not report.passed
    assert "answers" in dict(report.failures)


@pytest.mark.real
def test_a_32_bit_sqlite_answers_as_the_baseline_does(
    engine: Sqlite, source: Path, real: Built, gcc: Toolchain, tmp_path: Path, bench: FakeBench, make_side: MakeSide
) -> None:
    recipe = load.variant("m32").recipe
    parts = find_parts(recipe, gcc, SPEC)
    if 32 not in parts.words:
        pytest.skip("no 32-bit libraries on this machine")
    job = job_for(gcc, source, tmp_path / "build", bench)
    given = replace(job.flags, c=(*job.flags.c, *recipe.c))
    narrow = build(engine, replace(job, flags=linked(given, recipe, gcc, parts, "link")), tmp_path / "m32")
    assert narrow.server.read_bytes()[4] == 1, "ELFCLASS32"
    report = engine.gate(narrow, real, tmp_path / "gate", bench)
    assert report.passed, report.failures
    assert report.tests == len(SPEC.gate_tests), "traces too: every row of every statement"
    side = make_side(built=narrow)
    side.boot()
    side.load()
    assert collect(side, 3)[-1].done >= 3
    side.stop()
