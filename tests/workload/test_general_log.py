from __future__ import annotations

import pytest

from burnish.base.errors import UserError
from burnish.workload.sql import general_log

MARIADB = """\
/usr/sbin/mariadbd, Version: 10.11.18-MariaDB (Source). started with:
Tcp port: 0  Unix socket: /run/x.sock
Time\t\t    Id Command\tArgument
261121 16:20:01\t     3 Connect\troot@localhost on shop using Socket
\t\t     3 Query\tset autocommit=1
\t\t     4 Connect\troot@localhost on shop using Socket
\t\t     3 Query\tSELECT a
FROM t WHERE id = 1
\t\t     4 Query\tBEGIN
\t\t     3 Query\tSELECT a
FROM t WHERE id = 1
\t\t     4 Prepare\tUPDATE t SET a = ? WHERE id = ?
261121 16:20:02\t     4 Execute\tUPDATE t SET a = 3 WHERE id = 2
\t\t     3 Query\tSHOW STATUS
\t\t     4 Query\tCOMMIT
\t\t     3 Query\tBEGIN
\t\t     3 Query\tSELECT 'never ended'
\t\t     3 Quit\t
"""
MYSQL = """\
2026-11-21T16:20:01.123456Z\t    8 Query\tSELECT 1
2026-11-21T16:20:01.223456Z\t    8 Quit\t
"""


def test_transactions_of_each_connection_with_how_often_they_came() -> None:
    result = general_log.read(MARIADB.splitlines(keepends=True), "g.log")
    assert [(unit.statements, unit.weight) for unit in result.units] == [
        (("SELECT a\nFROM t WHERE id = 1",), 2.0),
        (("BEGIN", "UPDATE t SET a = 3 WHERE id = 2", "COMMIT"), 1.0),
    ]
    assert result.left_out == {"SET": 1, "SHOW": 1}
    assert result.unfinished == 1
    assert result.databases == ("shop",)


def units_of(*statements: str) -> list[tuple[str, ...]]:
    """The units of a log of one connection."""
    lines = [
        "\t\t     3 Connect\troot@localhost on shop",
        *(f"\t\t     3 Query\t{statement}" for statement in statements),
    ]
    return [unit.statements for unit in general_log.read(lines, "g.log").units]


@pytest.mark.parametrize(
    "off",
    [
        "SET autocommit=0",
        "set @@session.autocommit = OFF",
        "SET NAMES utf8, autocommit=0",
        "SET SESSION autocommit='off'",
    ],
)
def test_without_autocommit_a_transaction_begins_by_itself(off: str) -> None:
    result = units_of(
        off, "UPDATE t SET a = 1", "UPDATE t SET a = 2", "COMMIT", "SELECT 1", "SET autocommit=1", "SELECT 2"
    )
    assert result == [
        ("BEGIN", "UPDATE t SET a = 1", "UPDATE t SET a = 2", "COMMIT"),
        ("BEGIN", "SELECT 1", "COMMIT"),
        ("SELECT 2",),
    ]


def test_what_another_connection_or_the_whole_server_is_told_is_not_this_connections() -> None:
    assert units_of("SET GLOBAL autocommit=0", "SELECT 1", "SELECT 2") == [("SELECT 1",), ("SELECT 2",)]


@pytest.mark.parametrize("next_one", ["BEGIN", "ALTER TABLE t ADD b INT", "SET autocommit=0, autocommit=1"])
def test_what_is_committed_without_a_word_is_kept(next_one: str) -> None:
    off = ["SET autocommit=0"] if "autocommit" in next_one else []
    result = units_of(*off, "BEGIN", "UPDATE t SET a = 1", next_one, "SELECT 1", "COMMIT")
    assert result[0] == ("BEGIN", "UPDATE t SET a = 1", "COMMIT")


def test_temporary_tables_commit_nothing() -> None:
    result = units_of("BEGIN", "UPDATE t SET a = 1", "CREATE TEMPORARY TABLE x (a INT)", "SELECT 1", "COMMIT")
    assert result == [("BEGIN", "UPDATE t SET a = 1", "SELECT 1", "COMMIT")]


def test_a_connection_that_ends_rolls_back_and_its_number_may_come_again() -> None:
    lines = [
        "\t\t     3 Query\tBEGIN",
        "\t\t     3 Query\tUPDATE t SET a = 1",
        "\t\t     3 Quit\t",
        "\t\t     3 Connect\troot@localhost on shop",
        "\t\t     3 Query\tSELECT 1",
    ]
    result = general_log.read(lines, "g.log")
    assert [unit.statements for unit in result.units] == [("SELECT 1",)]
    assert result.unfinished == 1


def test_mysqls_log_too_and_only_the_most_frequent() -> None:
    assert general_log.read(MYSQL.splitlines(), "g.log").units[0].statements == ("SELECT 1",)
    assert len(general_log.read(MARIADB.splitlines(), "g.log", most=1).units) == 1


def test_another_file_is_no_general_log() -> None:
    with pytest.raises(UserError, match=r"^g.log: no statement in it that could be replayed"):
        general_log.read(["hello", "world"], "g.log")
