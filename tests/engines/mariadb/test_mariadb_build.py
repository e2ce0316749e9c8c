from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import InfrastructureError
from burnish.builds import effective
from burnish.engines.contract import BuildJob
from burnish.engines.mariadb import cmake
from burnish.engines.mariadb.product import PRODUCT
from burnish.engines.mariadb.system_tables import SCRIPTS
from burnish.engines.mysql_family import build, mtr
from burnish.model.engine import PrecompiledHeaders
from burnish.model.recipe import Flags
from burnish.toolchain import ccache
from burnish.toolchain.toolchains import Toolchain
from mariadb_support import PlainBench, engine

CMAKE = """\
cmake_minimum_required(VERSION 3.13)
project(small C CXX)
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO} -fno-omit-frame-pointer")
add_library(part STATIC part.c)
file(MAKE_DIRECTORY sql)
add_executable(mariadbd sql/main.cc)
target_link_libraries(mariadbd part)
set_target_properties(mariadbd PROPERTIES RUNTIME_OUTPUT_DIRECTORY sql)
add_executable(other sql/other.cc)
foreach(tool %TOOLS%)
  get_filename_component(name ${tool} NAME)
  get_filename_component(folder ${tool} DIRECTORY)
  add_executable(${name} sql/other.cc)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder})
endforeach()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/sql/share/english)
file(WRITE ${CMAKE_BINARY_DIR}/sql/share/english/errmsg.sys "messages")
foreach(script %SCRIPTS%)
  file(WRITE ${CMAKE_BINARY_DIR}/scripts/${script} "generated")
endforeach()
"""
FILES = {
    "sql/main.cc": 'extern "C" int part(); int main() { return part(); }\n',
    "sql/other.cc": "int main() { return 0; }\n",
    "part.c": "int part(void) { return 0; }\n",
    "sql/share/charsets/Index.xml": "<charsets/>\n",
    "scripts/mysql_test_db.sql": "from the source\n",
    "mysql-test/mariadb-test-run.pl": "",
    "mysql-test/lib/My/SafeProcess.pm": "",
    "mysql-test/lib/My/SafeProcess/CMakeLists.txt": "",
    "storage/maria/ma_open.c": "",
    "mysql-test/include/check-testcase.test": "",
    "mysql-test/main/select.test": "",
    "mysql-test/main/select.result": "",
    "mysql-test/main/unwanted.test": "",
    "mysql-test/main/unwanted.result": "",
    "mysql-test/main/select.inc": "",
    "mysql-test/suite/innodb/t/innodb-lock.test": "",
    "mysql-test/suite/innodb/t/unwanted.test": "",
    "mysql-test/suite/innodb/include/helper.test": "",
    "mysql-test/suite/rpl/t/unwanted.test": "",
    "mysql-test/suite/rpl/include/master.inc": "",
    "mysql-test/suite/huge/t/unwanted.test": "",
    "storage/sequence/mysql-test/sequence/simple.test": "",
}
TESTS = ("main.select", "innodb.innodb-lock,16k", "sequence.simple", "main.of_another_version")

MakeJob = Callable[..., BuildJob]


@pytest.fixture
def job(tmp_path: Path, gcc: Toolchain) -> BuildJob:
    """A job for a tree with MariaDB's layout that builds in two seconds."""
    source, place = tmp_path / "source", tmp_path / "place"
    place.mkdir()
    for name, text in FILES.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    tools = " ".join(PRODUCT.suite.programs)
    text = CMAKE.replace("%TOOLS%", tools).replace("%SCRIPTS%", " ".join(SCRIPTS))
    (source / "CMakeLists.txt").write_text(text)
    return BuildJob(
        source=source,
        place=place,
        toolchain=gcc,
        flags=Flags(c=("-O3", "-g", "-DC_ONLY"), cxx=("-O3", "-g"), link=("-Wl,-z,now",), level="-O3"),
        features=engine().spec.features["core"],
        options=(("PLUGIN_SPIDER", "STATIC"),),
        hardening=True,
        with_tools=False,
        relocations=False,
        jobs=2,
        bench=PlainBench(tmp_path),
    )


def made(job: BuildJob, tests: Sequence[str]) -> None:
    """The build, with the parts of the suite that these tests need."""
    build.build(job, PRODUCT, build.steps(job, PRODUCT, cmake.configure_command(job)), tests)


def moved(job: BuildJob, target: Path) -> Path:
    """The kept parts, moved as the builder does it."""
    for path, where in engine().keep(job):
        (target / where).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target / where)
    return target


def options(job: BuildJob) -> dict[str, str]:
    words = cmake.configure_command(job)
    return dict(word.removeprefix("-D").split("=", 1) for word in words if word.startswith("-D"))


def test_flags_go_where_cmake_cannot_cancel_them(job: BuildJob) -> None:
    given = options(job)
    assert given["CMAKE_CXX_FLAGS_RELWITHDEBINFO"] == "-O3 -g1 -DNDEBUG"
    assert options(replace(job, full_debug=True))["CMAKE_C_FLAGS_RELWITHDEBINFO"] == "-O3 -g -DNDEBUG"
    assert given["CMAKE_C_FLAGS"] == "-O3 -g -DC_ONLY"
    assert given["CMAKE_CXX_FLAGS"] == "-O3 -g"
    for kind in ("EXE", "SHARED", "MODULE"):
        assert "-Wl,-z,now" in given[f"CMAKE_{kind}_LINKER_FLAGS"]
        assert "-Wl,--build-id" in given[f"CMAKE_{kind}_LINKER_FLAGS"]


def test_the_recipes_options_win_over_the_feature_sets(job: BuildJob) -> None:
    assert dict(job.features.options)["PLUGIN_SPIDER"] == "NO"
    assert options(job)["PLUGIN_SPIDER"] == "STATIC"
    assert options(job)["PLUGIN_ROCKSDB"] == "NO"


def test_relocations_are_kept_for_bolt_only(job: BuildJob) -> None:
    assert "--emit-relocs" not in options(job)["CMAKE_EXE_LINKER_FLAGS"]
    bolted = options(replace(job, relocations=True))
    assert "-Wl,--emit-relocs" in bolted["CMAKE_EXE_LINKER_FLAGS"]
    assert "--emit-relocs" not in bolted["CMAKE_MODULE_LINKER_FLAGS"]


def test_hardening_and_frame_pointers_follow_the_recipe(job: BuildJob) -> None:
    assert options(job)["SECURITY_HARDENED"] == "ON"
    assert "have_C__fno_omit_frame_pointer" not in options(job)
    bare = replace(
        job,
        hardening=False,
        flags=Flags(c=("-fomit-frame-pointer",), cxx=("-fomit-frame-pointer",), link=()),
    )
    assert options(bare)["SECURITY_HARDENED"] == "OFF"
    assert options(bare)["have_C__fno_omit_frame_pointer"] == "0"
    assert options(bare)["have_CXX__fno_omit_frame_pointer"] == "0"


def test_archives_are_made_by_the_toolchains_own_tools(job: BuildJob) -> None:
    own = replace(job.toolchain, ar=Path("/llvm/llvm-ar"), ranlib=Path("/llvm/llvm-ranlib"))
    given = options(replace(job, toolchain=own))
    assert given["CMAKE_AR"] == "/llvm/llvm-ar"
    assert given["CMAKE_RANLIB"] == "/llvm/llvm-ranlib"


@pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja is not installed")
def test_a_build_moves_into_the_store_and_tells_its_objects(job: BuildJob, tmp_path: Path) -> None:
    made(job, TESTS)
    bench = job.bench
    assert isinstance(bench, PlainBench)
    assert any(text.startswith("step ") and " of " in text for text in bench.shown), "ninja's own counter"

    objects = engine().objects(job)
    assert sorted(Path(item.source).name for item in objects) == ["main.cc", "part.c"], "no tool's object"
    look = effective.examine(objects, ("-O3", "-DC_ONLY"), ("-O3",))
    assert look.levels == (("-O3", 2),)
    assert look.cancelled == ()

    store = moved(job, tmp_path / "store")
    built = engine().built("b", store, "key")
    assert built.server == store / "sql/mariadbd"
    assert built.server.is_file()
    assert f"--lc-messages-dir={store}/sql/share" in built.options
    assert f"--character-sets-dir={store}/sql/share/charsets" in built.options
    assert (store / "scripts" / SCRIPTS[0]).is_file()
    assert not (store / "client").exists()
    lines: list[str] = []
    bench.run("sections", ["readelf", "-nSW", built.server], on_line=lines.append)
    assert any("Build ID" in line for line in lines)
    assert not any(".debug_info" in line for line in lines)


@pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja is not installed")
def test_single_objects_are_made_without_the_rest(job: BuildJob) -> None:
    (made,) = engine().build_objects(job, ["part"])
    assert Path(made.source).name == "part.c"
    assert (job.place / made.path).is_file()
    assert not (job.place / "sql/mariadbd").exists()
    assert len(list(job.place.rglob("*.c*.o"))) == 1, "no object but this one"
    assert engine().build_objects(job, ["nowhere"]) == []


@pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja is not installed")
def test_tools_are_kept_with_the_tests_of_the_list_and_no_others(job: BuildJob, tmp_path: Path) -> None:
    job = replace(job, with_tools=True)
    made(job, TESTS)
    store = moved(job, tmp_path / "store")
    for name in PRODUCT.suite.programs:
        assert (store / name).is_file(), name
    tests = store / "mysql-test"
    assert sorted(path.name for path in (tests / "main").iterdir()) == [
        "select.inc",
        "select.result",
        "select.test",
    ]
    assert (tests / "lib/My/SafeProcess.pm").is_file()
    assert (tests / "include/check-testcase.test").is_file()
    assert [path.name for path in (tests / "suite/innodb/t").iterdir()] == ["innodb-lock.test"]
    assert (tests / "suite/innodb/include/helper.test").is_file()
    assert (tests / "suite/rpl/include/master.inc").is_file()
    assert not (tests / "suite/rpl/t").exists()
    assert not (tests / "suite/huge").exists()
    assert (store / "storage/sequence/mysql-test/sequence/simple.test").is_file()
    assert (store / "scripts/mysql_test_db.sql").read_text() == "from the source\n"
    assert (store / "scripts" / SCRIPTS[0]).read_text() == "generated"
    built = engine().built("tools", store, "key")
    assert mtr.available(PRODUCT.suite, built, TESTS) == list(TESTS[:3])
    with pytest.raises(InfrastructureError, match=r"lacks main\.new"):
        mtr.available(PRODUCT.suite, built, ("main.select", "main.new"))


def test_a_build_that_fails_shows_its_log(job: BuildJob) -> None:
    (job.source / "part.c").write_text("int part(void) { return nothing; }\n")
    with pytest.raises(InfrastructureError, match=r"building MariaDB \(compile\)") as caught:
        made(job, ())
    assert caught.value.log is not None
    assert "nothing" in caught.value.log.read_text()


@pytest.mark.parametrize(
    ("flag", "check"),
    [
        ("-fno-stack-protector", "have_{}__fstack_protector___param_ssp_buffer_size_4"),
        ("-U_FORTIFY_SOURCE", "have_{}__D_FORTIFY_SOURCE_2"),
        ("-fno-pie", "have_{}__pie__fPIC"),
    ],
)
def test_mariadbs_hardening_does_not_cancel_a_part_that_the_recipe_takes_away(
    job: BuildJob, flag: str, check: str
) -> None:
    """The names are those that MariaDB's MY_CHECK_AND_SET_COMPILER_FLAG makes of its flags."""
    given = options(replace(job, flags=Flags(c=(flag,), cxx=(flag,), link=())))
    for language in ("C", "CXX"):
        assert given[check.format(language)] == "0"
        assert check.format(language) not in options(job)


def test_mariadbs_relro_does_not_cancel_lazy_binding(job: BuildJob) -> None:
    check = "HAVE_LINK_FLAG__Wl__z_relro__z_now"
    assert check not in options(job)
    for flag in ("-Wl,-z,lazy", "-Wl,-z,norelro"):
        assert options(replace(job, flags=Flags(c=(), cxx=(), link=("-Wl,-z,now", flag))))[check] == "0"


PARTED = {
    "all.h": "#pragma once\n#include <vector>\n"
    "#ifdef OWN\nstatic const int own = 1;\n#else\nstatic const int own = 0;\n#endif\n",
    "sql/usual.cc": '#include "../all.h"\nint usual() { return own; }\n',
    "sql/defines.cc": '#define OWN\n#include "../all.h"\nint defines() { return own; }\n',
    "sql/begins.cc": '#include <new>\n#include "../all.h"\nint begins() { return own; }\n',
    "sql/reads_less.cc": '#include "../all.h"\nint reads_less() { return own; }\n',
    "sql/late.cc": '#include "../all.h"\n#define LATE own\nint late() { return LATE; }\n',
}


@pytest.fixture
def parted(job: BuildJob) -> BuildJob:
    """The job with a part that has headers to precompile, one of its files generated."""
    for name, text in PARTED.items():
        (job.source / name).write_text(text)
    path = job.source / "CMakeLists.txt"
    text = path.read_text().replace("project(small C CXX)", "project(MySQL C CXX)")
    path.write_text(
        text
        + "file(WRITE ${CMAKE_BINARY_DIR}/made.cc [[#include <vector>\nint made() { return 0; }]])\n"
        + "add_library(parted STATIC sql/usual.cc sql/defines.cc sql/begins.cc sql/late.cc sql/reads_less.cc)\n"
        + "target_sources(parted PRIVATE ${CMAKE_BINARY_DIR}/made.cc)\n"
        + "target_link_libraries(mariadbd parted)\n"
    )
    headers = PrecompiledHeaders("parted", ("all.h",), "For a test.", without=("reads_less.cc",))
    return replace(job, precompiled=(headers, replace(headers, target="nowhere")))


@pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja is not installed")
def test_headers_are_read_once_for_files_that_mean_them_as_they_are(parted: BuildJob) -> None:
    made(parted, TESTS)
    commands = {Path(item.source).name: item.command for item in engine().objects(parted)}
    with_them = {name for name, command in commands.items() if "-include" in command}
    assert set(commands) == {
        "main.cc",
        "part.c",
        "usual.cc",
        "defines.cc",
        "begins.cc",
        "late.cc",
        "made.cc",
        "reads_less.cc",
    }
    assert with_them == {"usual.cc", "late.cc"}
    assert len(list(parted.place.rglob("cmake_pch.hxx.gch"))) == 1


def test_headers_are_read_by_each_file_where_one_is_missing_or_cmake_would_split_its_path(parted: BuildJob) -> None:
    assert options(parted)["BURNISH_PRECOMPILED"].split(";")[0] == f"parted,{parted.source}/all.h"
    split = parted.source.with_name("one,two")
    split.mkdir()
    (split / "all.h").touch()
    assert "BURNISH_PRECOMPILED" not in options(replace(parted, source=split))
    (parted.source / "all.h").unlink()
    assert "BURNISH_PRECOMPILED" not in options(parted)


@pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja is not installed")
@pytest.mark.skipif(shutil.which("ccache") is None, reason="no ccache on this machine")
def test_what_depends_on_precompiled_headers_comes_from_the_cache_while_their_text_is_the_same(
    parted: BuildJob, tmp_path: Path
) -> None:
    def build(**changes: object) -> tuple[int, int]:
        shutil.rmtree(parted.place)
        parted.place.mkdir()
        job = replace(parted, cache=tmp_path / "cache", **changes)  # type: ignore[arg-type]
        made(job, TESTS)
        log = job.cache_log.read_text()
        found = ccache.read_log(log)
        assert found.passed == 0, log
        return found.hits, found.misses

    hits, everything = build()
    assert hits == 0
    assert build() == (everything, 0)
    flags = replace(parted.flags, cxx=("-O3", "-g", "-fprofile-generate", "-fprofile-update=atomic"))
    build(flags=flags)
    assert build(flags=flags) == (everything, 0), "with counters"

    header = parted.source / "all.h"
    header.write_text(header.read_text().replace("own = 0", "own = 2"))
    assert build() == (everything - 4, 4), "not defines.cc, which reads the other half"
    header.write_text(header.read_text() + "#define late_name late\n")
    source = parted.source / "sql/late.cc"
    source.write_text('#include "../all.h"\nint late_name() { return own; }\n')
    build()
    header.write_text(header.read_text().replace("late_name late", "late_name later"))
    assert build() == (everything - 1, 1), "a macro of the header is what one of its readers says"
