"""How MySQL is launched, told from MariaDB, and its test suite's list read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.engines.mysql.engine import MySQL
from burnish.engines.mysql.product import PRODUCT
from burnish.engines.mysql_family import answers, mtr
from burnish.engines.mysql_family import engine as family
from burnish.engines.mysql_family.own_data import databases
from burnish.engines.mysql_family.server import Launch, Server, setting_options
from burnish.engines.mysql_family.side import settings_of
from burnish.engines.mysql_family.tuning import Facts, parse_help, warnings
from burnish.engines.testing import PlainBench
from burnish.model.condition import Condition
from burnish.program.built import Built

SPEC = load.engine("mysql")


def test_the_binary_log_is_off_unless_the_condition_has_it() -> None:
    defaults = PRODUCT.habits.defaults
    assert "--skip_log_bin=ON" in setting_options([], defaults)
    on = setting_options(SPEC.settings.words["binlog"]["on"], defaults)
    assert "--log_bin=binlog" in on
    assert "--skip_log_bin=ON" not in on
    assert not any("performance_schema" in word for word in on), "as shipped"


def test_the_server_gets_each_line_of_a_setting_that_adds_up() -> None:
    """One option of two would watch the instruments of the last line alone."""
    lines = [("performance_schema_instrument", "wait/%=ON"), ("performance_schema_instrument", "stage/%=ON")]
    workload = replace(load.workload(SPEC, SPEC.workloads[0]), settings=(*lines, ("max_connections", "7")))
    options = setting_options(settings_of(workload, Condition()), PRODUCT.habits.defaults)
    assert options[-3:] == [
        "--performance_schema_instrument=wait/%=ON",
        "--performance_schema_instrument=stage/%=ON",
        "--max_connections=7",
    ]
    other = Condition(settings=(("performance_schema_instrument", "memory/%=ON"),))
    options = setting_options(settings_of(workload, other), PRODUCT.habits.defaults)
    assert [word for word in options if "instrument" in word] == ["--performance_schema_instrument=memory/%=ON"]


@pytest.mark.parametrize(
    ("name", "value", "replaced"),
    [
        ("innodb_log_file_size", "4G", ["--loose_innodb_redo_log_capacity=256M"]),
        ("loose_innodb_log_files_in_group", "4", ["--loose_innodb_redo_log_capacity=256M"]),
        ("innodb_dedicated_server", "OFF", []),
        (
            "innodb_dedicated_server",
            "ON",
            ["--innodb_buffer_pool_size=512M", "--loose_innodb_redo_log_capacity=256M"],
        ),
    ],
)
def test_no_default_of_ours_wins_over_what_is_given(name: str, value: str, replaced: list[str]) -> None:
    usual, chosen = (setting_options(given, PRODUCT.habits.defaults) for given in ([], [(name, value)]))
    assert [word for word in usual if word not in chosen] == replaced
    assert chosen[-1] == f"--{name}={value}"


def test_sizes_are_judged_as_the_server_takes_them() -> None:
    writes = load.workload(SPEC, "oltp_update_index")
    asked = {"innodb_redo_log_capacity": str(100 << 20), "innodb_buffer_pool_size": str(8 << 30)}
    assert [line for line in warnings(Facts(asked, writes, 0)) if line.startswith("innodb_redo_log_capacity is 100 MB")]
    older = {"innodb_log_file_size": str(2 << 30), "innodb_log_files_in_group": "2"}
    assert not warnings(Facts({**asked, **older}, writes, 0))
    assert not warnings(Facts({**asked, "innodb_dedicated_server": "TRUE"}, writes, 16 << 30))


def test_the_load_gets_in_by_accounts_and_not_past_all_checks(tmp_path: Path) -> None:
    server = Server(Launch(Path("mysqld"), tmp_path, tmp_path, habits=PRODUCT.habits))
    (option,) = server._way_in()
    assert option == f"--init-file={tmp_path / 'accounts.sql'}"
    lines = (tmp_path / "accounts.sql").read_text().splitlines()
    assert all(line.endswith(";") for line in lines)
    assert lines[0] == "SET SESSION sql_log_bin = 0;", "before anything is changed"
    assert "caching_sha2_password" in lines[2]


def test_each_question_is_one_line_and_has_an_answer(tmp_path: Path) -> None:
    lines = answers.statements(SPEC.folder / "answers.sql", tmp_path).splitlines()
    assert all(line.endswith(";") for line in lines)
    written = {line.rsplit("/", 1)[1].rstrip("';") for line in lines if "outfile" in line}
    assert written == set(PRODUCT.answers)


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ("9.7.2 for Linux on x86_64 (Source distribution)", True),
        ("8.4.8-8 for Linux on x86_64 (Percona Server (GPL), Release 8, Revision 1)", True),
        ("10.11.18-MariaDB for debian-linux-gnu on x86_64 (Debian 12)", False),
        ("3.45.1", False),
    ],
)
def test_a_version_line_tells_whose_it_is(line: str, own: bool) -> None:
    assert MySQL(SPEC).says_its_own(line) is own


@pytest.mark.parametrize(
    ("line", "product"),
    [
        ("9.7.2 for Linux on x86_64 (MySQL Community Server - GPL)", "MySQL"),
        ("9.7.2-4 for Linux on x86_64 ((Debian))", "MySQL"),
        ("8.4.8-8 for Linux on x86_64 (Percona Server (GPL), Release 8, Revision 1)", "Percona Server"),
        ("9.7.2 for Linux on x86_64 (Source distribution)", ""),
    ],
)
def test_a_fork_is_known_by_its_version_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, product: str
) -> None:
    """Percona's programs are not compared with Oracle's; a user's own build of either tree names neither."""
    program = tmp_path / "mysqld"
    program.write_text(f"#!/bin/sh\necho 'mysqld  Ver {line}'\n")
    program.chmod(0o755)
    monkeypatch.setattr(family, "_told_by", lambda *_: {})
    monkeypatch.setattr(family, "build_id", lambda _: "")
    monkeypatch.setattr(family.libraries, "features", lambda _: {})
    found = MySQL(SPEC).identity(Built("mysqld", tmp_path, program, ""), PlainBench(tmp_path))
    assert (found.version, found.product) == (line, product)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"\x7fELF innodb_dedicated_server", None),
        (b"\x7fELF innodb_dedicated_server aria_pagecache_buffer_size", "another server than MySQL's; name a mysqld"),
        (b"#!/bin/sh", "not a program"),
    ],
)
def test_an_existing_program_is_told_by_what_it_holds(tmp_path: Path, content: bytes, error: str | None) -> None:
    messages = tmp_path / "share/english/errmsg.sys"
    messages.parent.mkdir(parents=True)
    messages.touch()
    program = tmp_path / "bin/mysqld"
    program.parent.mkdir()
    program.write_bytes(content)
    if error is None:
        built = MySQL(SPEC).existing(program)
        assert built.options[0] == f"--lc-messages-dir={tmp_path / 'share'}"
        return
    with pytest.raises(UserError, match=error):
        MySQL(SPEC).existing(program)


def test_a_program_of_the_other_server_is_not_mariadbs(tmp_path: Path) -> None:
    from burnish.engines.registry import create

    messages = tmp_path / "share/english/errmsg.sys"
    messages.parent.mkdir(parents=True)
    messages.touch()
    program = tmp_path / "bin/mysqld"
    program.parent.mkdir()
    program.write_bytes(b"\x7fELF innodb_dedicated_server")
    with pytest.raises(UserError, match="another server than MariaDB's; name a mariadbd"):
        create(load.engine("mariadb")).existing(program)


def test_only_wanted_tests_are_kept_and_missing_ones_known(tmp_path: Path) -> None:
    source, build, place = tmp_path / "source", tmp_path / "build", tmp_path / "kept"
    for name in (
        "mysql-test/mysql-test-run.pl", "mysql-test/t/select.test", "mysql-test/r/select.result",
        "mysql-test/t/unwanted.test", "mysql-test/t/select-master.opt", "mysql-test/suite/gis/t/wkt.test",
        "mysql-test/suite/rpl/t/unwanted.test", "mysql-test/suite/rpl/include/x.inc", "scripts/mysql_sys_schema.sql",
    ):  # fmt: skip
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch()
    (build / "scripts").mkdir(parents=True)
    place.mkdir()
    mtr.collect(PRODUCT.suite, source, build, place, ("main.select", "gis.wkt", "main.of_another_version"))
    kept = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    assert kept == {
        "mysql-test/mysql-test-run.pl", "mysql-test/t/select.test", "mysql-test/r/select.result",
        "mysql-test/t/select-master.opt", "mysql-test/suite/gis/t/wkt.test", "mysql-test/suite/rpl/include/x.inc",
        "mysql-test/gate-tests.list", "scripts/mysql_sys_schema.sql",
    }  # fmt: skip
    listed = (place / "mysql-test/gate-tests.list").read_text().splitlines()
    assert listed == ["main.select present", "gis.wkt present", "main.of_another_version absent"]


@pytest.mark.parametrize(
    ("lines", "failures"),
    [
        (["[  1%] main.select_all                         w1  [ pass ]    655"], []),
        (["[ 50%] main.select_all                         w2  [ skipped ]  Test requires x"], []),
        (
            ["[ 50%] main.select_all                         w2  [ fail ]", "mysqltest: Result content mismatch"],
            [("main.select_all", "mysqltest: Result content mismatch")],
        ),
        (["mysql-test-run: *** ERROR: Could not find x"], [("mtr", "Could not find x")]),
    ],
)
def test_its_suites_lines_are_read(lines: list[str], failures: list[tuple[str, str]]) -> None:
    results = mtr.Results()
    for line in lines:
        results.see(line)
    assert results.failures == failures
    assert bool(results.passed) is (not failures and "[ pass ]" in lines[0])
    assert bool(results.skipped) is ("[ skipped ]" in lines[0])


def test_a_small_log_is_told_by_the_name_that_it_has_here() -> None:
    text = "x\nVariables (--variable-name=value)\na\nb\ninnodb-redo-log-capacity 8388608\n"
    text += "innodb-buffer-pool-size 536870912\n\n"
    load_of_writes = load.workload(SPEC, "oltp_update_index")
    found = warnings(Facts(parse_help(text), load_of_writes, 0))
    assert [line for line in found if line.startswith("innodb_redo_log_capacity is 8 MB")]


def test_a_data_folder_without_frm_files_has_its_databases(tmp_path: Path) -> None:
    for name in ("shop/items.ibd", "mysql/x.sdi", "empty/notes"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    assert databases(tmp_path) == ["shop"]


def test_a_test_that_calls_a_program_which_is_not_kept_is_left_out(tmp_path: Path) -> None:
    """8.0's main.default dumps with mysqlpump, for which a stand-in lies there, since mtr dies without."""
    tests = tmp_path / "mysql-test" / "t"
    tests.mkdir(parents=True)
    (tests / "default.test").write_text("--exec $MYSQL_DUMP test\n--exec $MYSQL_PUMP --databases test > pumped.sql\n")
    (tests / "delete.test").write_text("--exec $MYSQL_DUMP test\nDELETE FROM t1;\n")
    (tmp_path / "mysql-test" / mtr.LIST).write_text("main.default present\nmain.delete present\nmain.gone absent\n")
    tools = Built(name="8.0", folder=tmp_path, server=tmp_path / "mysqld", key="0")
    assert mtr.available(PRODUCT.suite, tools, ["main.default", "main.delete", "main.gone"]) == ["main.delete"]
