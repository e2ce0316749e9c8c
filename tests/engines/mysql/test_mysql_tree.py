"""Which server a source tree is, and what its cmake is told because of that."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tarfile
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from burnish.base import process
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.builds.stages import Compile
from burnish.catalogue import load
from burnish.cli.common import app
from burnish.engines.contract import BuildJob
from burnish.engines.mysql import cmake, tree
from burnish.engines.mysql.engine import MySQL
from burnish.engines.mysql_family import build
from burnish.engines.testing import PlainBench
from burnish.model.recipe import Flags
from burnish.profiles.stages import Train
from burnish.study.builds.source import check_source
from burnish.study.request.options import Options
from burnish.toolchain.toolchains import Toolchain
from chains import CLANG, GCC, chain

USED = ("-O2", "-fprofile-use", "-fprofile-correction")


def source(place: Path, version: str, *, extra: str = "", file: str = "MYSQL_VERSION") -> Path:
    """The top of a tree, with all that tells which it is."""
    major, minor, patch = version.split(".")
    (place / "sql").mkdir(parents=True)
    (place / "boost").mkdir()
    (place / "sql/mysqld.cc").touch()
    lines = [f"MYSQL_VERSION_MAJOR={major}", f"MYSQL_VERSION_MINOR={minor}", f"MYSQL_VERSION_PATCH={patch}"]
    (place / file).write_text("\n".join([*lines, f"MYSQL_VERSION_EXTRA={extra}", 'MYSQL_VERSION_MATURITY="LTS"', ""]))
    return place


@pytest.fixture
def job(tmp_path: Path, gcc: Toolchain) -> BuildJob:
    place = tmp_path / "build"
    place.mkdir()
    return BuildJob(
        source=source(tmp_path / "source", "9.7.2"),
        place=place,
        toolchain=gcc,
        flags=Flags(c=("-O2",), cxx=("-O2",), link=("-Wl,-z,now",), level="-O2"),
        features=load.engine("mysql").features["core"],
        options=(),
        hardening=True,
        with_tools=False,
        relocations=False,
        jobs=2,
        bench=PlainBench(tmp_path),
    )


def told(job: BuildJob) -> dict[str, str]:
    words = MySQL(load.engine("mysql"))._steps(job)[0].argv
    return dict(word.removeprefix("-D").split("=", 1) for word in words if word.startswith("-D"))


@pytest.mark.parametrize(
    ("version", "extra", "title", "series", "known"),
    [
        ("9.7.2", "", "MySQL 9.7.2", "9.7", True),
        ("8.4.8", "", "MySQL 8.4.8", "8.4", True),
        ("8.0.46", "-37", "MySQL 8.0.46-37", "8.0", True),
        ("9.1.0", "", "MySQL 9.1.0", "9.7", False),
        ("8.2.0", "", "MySQL 8.2.0", "8.4", False),
        ("8.1.0", "", "MySQL 8.1.0", "8.0", False),
        ("10.1.0", "", "MySQL 10.1.0", "9.7", False),
    ],
)
def test_data_go_by_the_version_and_an_unknown_one_takes_the_nearest(
    tmp_path: Path, version: str, extra: str, title: str, series: str, known: bool
) -> None:
    found = tree.read(source(tmp_path / "tree", version, extra=extra))
    assert (found.title, found.series) == (title, series)
    assert (found.note is None) is known
    assert known or f"built with those of {series}" in str(found.note)


def test_an_older_trees_version_file_has_another_name(tmp_path: Path) -> None:
    place = source(tmp_path / "tree", "8.0.20", file="VERSION")
    tree.check(place)
    found = tree.read(place)
    assert dict(found.options)["WITH_BOOST"] == str(place / "boost")


def test_perconas_tree_is_told_to_leave_its_own_engines_out(tmp_path: Path) -> None:
    place = source(tmp_path / "tree", "8.4.8", extra="-8")
    (place / "build-ps").mkdir()
    found = tree.read(place)
    assert found.title == "Percona Server 8.4.8-8"
    assert dict(found.options)["WITH_ROCKSDB"] == "OFF"
    assert "WITH_ROCKSDB" not in dict(tree.read(source(tmp_path / "other", "8.4.8")).options)


def test_perconas_plugins_that_want_packages_or_submodules_are_left_out(job: BuildJob) -> None:
    (job.source / "build-ps").mkdir()
    given = told(job)
    for name in ("PERCONA_AUTHENTICATION_LDAP", "PERCONA_AUTHENTICATION_FIDO", "COMPONENT_KEYRING_KMIP"):
        assert given[f"WITH_{name}"] == "OFF"


def test_each_entry_of_the_versions_has_a_reason() -> None:
    entries = tomllib.loads(Path(tree.__file__).with_name("versions.toml").read_text())
    for entry in (*entries["series"].values(), entries["percona"]):
        assert len(entry["reason"]) > 20
        assert set(entry) == {"reason", "options"}


def test_what_a_versions_cmake_stops_at_is_replaced_in_the_feature_set(job: BuildJob) -> None:
    """The cmake of some trees of 8.0 stops at WITH_FIDO=none, which later ones take."""
    assert told(job)["WITH_FIDO"] == "none"
    old = replace(job, source=source(job.source.parent / "old", "8.0.33"))
    assert told(old)["WITH_FIDO"] == "bundled"
    assert told(replace(old, options=(("WITH_FIDO", "system"),)))["WITH_FIDO"] == "system"


def test_a_tree_without_its_boost_is_refused_in_one_line(job: BuildJob) -> None:
    """As a git revision or the plain tarball of 8.0 is; cmake says it with a page of text."""
    old = replace(job, source=source(job.source.parent / "old", "8.0.46"))
    (old.source / "boost").rmdir()
    says = rf"^MySQL 8\.0\.46: no boost in {old.source}/boost; take the tarball with it, or name it by .* WITH_BOOST$"
    with pytest.raises(UserError, match=says):
        told(old)
    assert told(replace(old, options=(("WITH_BOOST", "/opt/boost"),)))["WITH_BOOST"] == "/opt/boost"
    (job.source / "boost").rmdir()
    assert "WITH_BOOST" not in told(job)


@pytest.mark.parametrize("version", ["8.0.46", "8.4.8"])
def test_no_tree_chooses_its_linker_by_itself(job: BuildJob, version: str) -> None:
    given = told(replace(job, source=source(job.source.parent / "old", version)))
    assert given["USE_LD_LLD"] == "OFF"
    assert version.startswith("8.4") or given["USE_LD_GOLD"] == "OFF"


def test_no_allocator_is_linked_that_the_tree_cannot_give_its_other_builds(job: BuildJob) -> None:
    first = replace(job, first=("-ltcmalloc",))
    lists = job.source / "CMakeLists.txt"
    lists.write_text("OPTION(WITH_JEMALLOC OFF)\n")
    assert "-ltcmalloc" not in shlex.split(told(first)["CMAKE_EXE_LINKER_FLAGS"])
    lists.write_text("OPTION(WITH_JEMALLOC OFF)\nOPTION(WITH_TCMALLOC OFF)\n")
    assert "-ltcmalloc" in shlex.split(told(first)["CMAKE_EXE_LINKER_FLAGS"])


def test_a_tree_is_recognised_whichever_name_its_version_file_has(tmp_path: Path) -> None:
    for name in ("MYSQL_VERSION", "VERSION"):
        place = source(tmp_path / name, "8.0.33", file=name)
        (place / "sql/join_optimizer").mkdir()
        (place / "sql/join_optimizer/join_optimizer.cc").touch()
        assert load.engine_of(place).name == "mysql"


def test_other_trees_are_refused_in_one_line(tmp_path: Path) -> None:
    other = source(tmp_path / "mariadb", "10.11.18", file="VERSION")
    (other / "storage/maria").mkdir(parents=True)
    (other / "storage/maria/ma_open.c").touch()
    with pytest.raises(UserError, match=r"the source of MariaDB, not of MySQL.*burnish tune mariadb"):
        tree.check(other)
    (tmp_path / "nothing").mkdir()
    with pytest.raises(UserError, match=r"no source of MySQL or Percona Server \(no sql/mysqld.cc"):
        tree.check(tmp_path / "nothing")
    built = source(tmp_path / "built", "9.7.2")
    (built / "CMakeCache.txt").touch()
    with pytest.raises(UserError, match=r"it was built in .* give a clean tree"):
        tree.check(built)
    shutil.rmtree(built / "sql")
    with pytest.raises(UserError, match="no source of MySQL"):
        tree.check(built)


def test_a_plan_with_another_servers_tree_is_refused_in_one_line(tmp_path: Path) -> None:
    """As its run is, and before anything is read of the tree."""
    home, mysql = Home(tmp_path / "home"), source(tmp_path / "mysql", "8.4.8")
    with pytest.raises(UserError, match=r"no source of MariaDB .*; `burnish tune mysql` takes MySQL's"):
        check_source(home, load.engine("mariadb"), Options(source=mysql))
    check_source(home, load.engine("mysql"), Options(source=mysql))
    for name in ("mariadb", "mysql", "postgresql", "sqlite", "fake"):
        with pytest.raises(UserError, match=f"^{tmp_path}: "):
            check_source(home, load.engine(name), Options(source=tmp_path))


NEAREST = "MySQL 9.1.0: no data for this version; it is built with those of 9.7, the nearest"


def test_a_tree_is_checked_and_an_unknown_version_told_before_cmake_runs(
    job: BuildJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = MySQL(load.engine("mysql"))
    with pytest.raises(UserError, match="no source of MySQL"):
        engine.build(replace(job, source=tmp_path))
    bench = PlainBench(tmp_path / "logs")
    monkeypatch.setattr(build, "build", lambda job, *_: job.bench.say("cmake"))
    engine.build(replace(job, bench=bench))
    assert bench.said == ["cmake"], "9.7 is known"
    engine.build(replace(job, bench=bench, source=source(tmp_path / "unknown", "9.1.0")))
    assert bench.said[1:] == [NEAREST, "cmake"]


@pytest.mark.parametrize("words", [("plan", "mysql"), ("study", "show", "percona-2026")])
def test_a_plan_says_by_which_versions_data_an_unknown_tree_is_built(
    tmp_path: Path, burnish_home: Path, words: tuple[str, ...]
) -> None:
    for version, said in (("9.1.0", True), ("9.7.2", False)):
        done = CliRunner().invoke(app, [*words, "--source", str(source(tmp_path / version, version)), "--json"])
        assert done.exit_code == 0
        assert (NEAREST in done.stderr.splitlines()) is said
        json.loads(done.stdout)


def test_an_archives_version_is_known_before_it_is_unpacked(tmp_path: Path, burnish_home: Path) -> None:
    source(tmp_path / "mysql-9.1.0", "9.1.0")
    path = tmp_path / "mysql-9.1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(tmp_path / "mysql-9.1.0", "mysql-9.1.0")
    assert check_source(Home(burnish_home), load.engine("mysql"), Options(source=path)) == NEAREST


def test_perconas_archive_is_known_before_it_is_unpacked(tmp_path: Path, burnish_home: Path) -> None:
    place = source(tmp_path / "percona-server-9.1.0-1", "9.1.0", extra="-1")
    (place / "build-ps").mkdir()
    for name in ("build-binary.sh", "percona-server.spec"):
        (place / "build-ps" / name).touch()
    path = tmp_path / "percona-server-9.1.0-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(place, place.name)
    note = NEAREST.replace("MySQL 9.1.0", "Percona Server 9.1.0-1")
    for given in (path, place):
        assert check_source(Home(burnish_home), load.engine("mysql"), Options(source=given)) == note


def test_the_recipes_options_win_over_the_feature_sets_and_the_versions(job: BuildJob) -> None:
    given = told(job)
    assert given["WITH_TCMALLOC"] == "system"
    assert given["WITH_BUILD_ID"] == "OFF", "the link's own flags make one"
    assert given["CMAKE_CXX_FLAGS_RELWITHDEBINFO"] == "-O2 -g1 -DNDEBUG"
    assert "-Wl,--build-id=sha1" in shlex.split(given["CMAKE_EXE_LINKER_FLAGS"])
    assert told(replace(job, options=(("WITH_TCMALLOC", "OFF"),)))["WITH_TCMALLOC"] == "OFF"
    old = source(job.source.parent / "old", "8.0.46")
    boost = (("WITH_BOOST", "/opt/boost"),)
    assert told(replace(job, source=old))["WITH_BOOST"] == str(old / "boost")
    assert told(replace(job, source=old, options=boost))["WITH_BOOST"] == "/opt/boost"


def test_archives_are_found_before_shared_libraries(job: BuildJob) -> None:
    assert "CMAKE_LIBRARY_PATH" not in told(job)
    given = told(replace(job, archives=Path("/work/link")))
    assert given["CMAKE_LIBRARY_PATH"] == "/work/link"
    assert "-L/work/link" in shlex.split(given["CMAKE_EXE_LINKER_FLAGS"])
    assert "-L/work/link" not in shlex.split(given["CMAKE_SHARED_LINKER_FLAGS"])


def test_lld_has_the_allocator_before_the_c_library(job: BuildJob) -> None:
    """Its programs would load tcmalloc, which the tree adds last, and call the C library's malloc."""
    spec, variants = load.engine("mysql"), load.variants()

    def first(name: str, features: str = "core", **options: str) -> tuple[str, ...]:
        recipe = variants[name].recipe
        recipe = replace(recipe, options=tuple(options.items()))
        tools = CLANG if recipe.toolchain == "clang" else GCC
        last = chain(recipe, spec=spec, features=features, tools=tools)[-1]
        return last.linking.first if isinstance(last, Compile) else ()

    assert first("clang-pgo-thinlto") == ("-ltcmalloc",)
    assert first("clang-pgo-thinlto", WITH_TCMALLOC="1") == ("-ltcmalloc",), "as cmake reads it"
    assert first("baseline") == first("gcc-pgo") == (), "gcc's linker names the C library last"
    assert first("clang-pgo-thinlto", "trimmed") == first("clang-pgo-thinlto", WITH_TCMALLOC="OFF") == ()
    assert first("clang-pgo-thinlto", WITH_TCMALLOC="bundled") == (), "it has a target of its own"
    assert first("clang-pgo-thinlto", WITH_TCMALLOC="OFF", WITH_JEMALLOC="ON") == ("-ljemalloc",)
    given = told(replace(job, first=("-ltcmalloc",)))
    assert "-ltcmalloc" in shlex.split(given["CMAKE_EXE_LINKER_FLAGS"])
    assert "-ltcmalloc" not in shlex.split(given["CMAKE_SHARED_LINKER_FLAGS"])


def test_links_wait_for_each_other_in_the_pool_that_its_cmake_leaves(job: BuildJob) -> None:
    assert "CMAKE_JOB_POOL_LINK" not in told(replace(job, link_jobs=2))
    assert told(replace(job, link_jobs=1))["CMAKE_JOB_POOL_LINK"] == "one_job"


@pytest.mark.parametrize(("flag", "what"), [("-static", "fully static"), ("-m32", "32-bit")])
def test_what_cannot_be_built_is_refused_before_anything_is(job: BuildJob, flag: str, what: str) -> None:
    with pytest.raises(UserError, match=f"a {what} MySQL server cannot be built; leave {flag} out"):
        told(replace(job, flags=Flags(c=(), cxx=(), link=(flag,))))


VENDORS = ((cmake.USE, "ON"),)


def test_the_vendors_recipes_share_the_instrumented_build_and_training_of_gccs() -> None:
    spec, variants = load.engine("mysql"), load.variants()
    names = ("gcc-pgo", "mysql-vendor-pgo", "mysql-vendor-pgo-lto")
    chains = [chain(variants[name].recipe, spec=spec, features="core") for name in names]
    counted = [stage for made in chains for stage in made if isinstance(stage, Compile) and stage.instrumented]
    assert len(counted) == 3
    assert len({stage.key for stage in counted}) == 1
    assert not {cmake.USE, "WITH_LTO"} & {name for stage in counted for name, _ in stage.options}
    assert len({stage.key for made in chains for stage in made if isinstance(stage, Train)}) == 1
    final = [made[-1] for made in chains]
    assert len({stage.key for stage in final}) == 3
    assert [stage.options for stage in final if isinstance(stage, Compile)] == [
        (), (*VENDORS, ("WITH_LTO", "OFF")), VENDORS,
    ]  # fmt: skip


def test_an_option_of_the_vendors_stays_where_its_use_of_profiles_is_off() -> None:
    spec, options = load.engine("mysql"), ((cmake.USE, "OFF"), ("WITH_LTO", "ON"))
    assert spec.instrumented_options(options) == options
    assert spec.instrumented_options(((cmake.USE, "on"), ("WITH_ICU", "system"))) == (("WITH_ICU", "system"),)


def test_the_vendors_recipe_uses_the_profile_by_its_own_option(job: BuildJob) -> None:
    using = replace(job, options=VENDORS, flags=Flags(c=USED, cxx=USED, link=()))
    given = told(using)
    assert given[cmake.USE] == "ON"
    assert given["FPROFILE_DIR"] == str(job.place / "profile-data")
    assert "WITH_LTO" not in given, "its cmake turns it on, and that is the row"
    assert told(replace(using, options=(*VENDORS, ("WITH_LTO", "OFF"))))["WITH_LTO"] == "OFF"
    clangs = replace(using, flags=Flags(c=("-fprofile-use=/p/profile",), cxx=(), link=()))
    assert told(clangs)["FPROFILE_DIR"] == "/p/profile"
    with pytest.raises(UserError, match="there is no profile to use; set pgo = true"):
        told(replace(job, options=VENDORS))


@pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja is not installed")
def test_the_vendors_recipe_names_sources_as_the_instrumented_build_does(job: BuildJob, tmp_path: Path) -> None:
    """Its cmake has all compiled by relative names, by which gcc finds no counts of static functions."""
    source, place = tmp_path / "tree", tmp_path / "ninja"
    source.mkdir()
    (source / "a.c").write_text("int main(void) { return 0; }\n")
    launcher = 'set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE "/of/the/tree")'
    lines = ["cmake_minimum_required(VERSION 3.14)", "project(MySQL C)", launcher, "add_executable(a a.c)"]
    (source / "CMakeLists.txt").write_text("\n".join(lines))
    script = told(replace(job, options=VENDORS, flags=Flags(c=USED, cxx=USED, link=())))["CMAKE_PROJECT_INCLUDE"]
    written = []
    for more in ([], [f"-DCMAKE_PROJECT_INCLUDE={script}"]):
        subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", place, *more], check=True, capture_output=True)
        written.append((place / "build.ninja").read_text() + (place / "CMakeFiles/rules.ninja").read_text())
        shutil.rmtree(place)
    assert ["/of/the/tree" in each for each in written] == [True, False]


def test_gcc_finds_the_profile_where_the_vendors_option_has_it_look(job: BuildJob) -> None:
    counts = job.place / "sql/CMakeFiles/sql_main.dir/item.cc.gcda"
    counts.parent.mkdir(parents=True)
    counts.write_bytes(b"gcda")
    using = replace(job, options=VENDORS, flags=Flags(c=USED, cxx=USED, link=()))
    assert not cmake.laying(replace(using, options=()))
    (command,) = cmake.laying(using)
    assert MySQL(load.engine("mysql")).steps(using)[0] == command, "a build's script has it too"
    process.run(command.argv).check("laying the profile")
    (laid,) = (job.place / "profile-data").iterdir()
    assert laid.name == f"{job.place}/sql/CMakeFiles/sql_main.dir/item.cc.gcda".replace("/", "#")
    assert laid.read_bytes() == b"gcda"
    assert laid.stat().st_nlink == 1, "a file system need not have links"
