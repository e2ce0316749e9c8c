from __future__ import annotations

import pytest

from burnish.errors import UserError
from burnish.study import general_log

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
    found = general_log.read(MARIADB.splitlines(keepends=True), "g.log")
    assert [(unit.statements, unit.weight) for unit in found.units] == [
        (("SELECT a\nFROM t WHERE id = 1",), 2.0),
        (("BEGIN", "UPDATE t SET a = 3 WHERE id = 2", "COMMIT"), 1.0),
    ]
    assert found.left_out == {"SET": 1, "SHOW": 1}
    assert found.unfinished == 1
    assert found.databases == ("shop",)


def test_mysqls_log_too_and_only_the_most_frequent() -> None:
    assert general_log.read(MYSQL.splitlines(), "g.log").units[0].statements == ("SELECT 1",)
    assert len(general_log.read(MARIADB.splitlines(), "g.log", most=1).units) == 1


def test_another_file_is_no_general_log() -> None:
    with pytest.raises(UserError, match=r"^g.log: no statement in it that could be replayed"):
        general_log.read(["hello", "world"], "g.log")
