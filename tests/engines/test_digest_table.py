"""What is asked of a running server for its digests, with a stand-in for its driver."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pymysql
import pytest

from burnish.base.errors import UserError
from burnish.engines.shared import digest_table

COLUMNS = [
    ("Orders", "Id", "int", "10", 1, 1),
    ("Orders", "secret`s", "varchar", "20", 0, 1),
    ("report", "total", "bigint", "19", 0, 0),
]


class FakeCursor:
    """Answers as a server with a table, one column of which may be invisible, and a view."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def execute(self, statement: str, words: tuple[str, ...] = ()) -> None:
        self.asked.append(statement)
        if words and words != ("my`shop",):
            raise AssertionError(words)

    def fetchall(self) -> list[tuple[Any, ...]]:
        last = self.asked[-1]
        if "information_schema.columns" in last:
            return COLUMNS
        if "seq_in_index" in last:
            return [("Orders", "Id")]
        return [("Orders", "Id", 0, 1)] if "information_schema" in last else [(7, "x"), (8, "y")]

    def fetchone(self) -> tuple[Any, ...]:
        return (3, 900)

    def __enter__(self) -> FakeCursor:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def test_tables_are_asked_by_the_names_of_their_columns_and_views_for_no_rows() -> None:
    cursor = FakeCursor()
    tables = digest_table.tables(cast("Any", cursor), "my`shop")
    assert list(tables) == ["orders", "report"]
    number, secret = tables["orders"].columns.values()
    assert (number.low, number.high, number.alone, number.counts) == (3, 900, True, True)
    assert secret.samples == ("'x'", "'y'")
    assert list(tables["report"].columns) == ["total"]
    assert [statement for statement in cursor.asked if "information_schema" not in statement] == [
        "SELECT `id`, `secret``s` FROM `my``shop`.`Orders` LIMIT 128",
        "SELECT MIN(`Id`), MAX(`Id`) FROM `my``shop`.`Orders`",
    ]


class FakeConnection:
    """A session in which every question after the first two is refused."""

    def cursor(self) -> FakeCursor:
        return FakeCursor()

    def __enter__(self) -> FakeConnection:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def test_what_the_server_refuses_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pymysql, "connect", lambda **_: FakeConnection())
    with pytest.raises(UserError) as raised, digest_table.connected(Path("/run/s.sock"), "me", ""):
        raise pymysql.err.OperationalError(1142, "SELECT command denied to user 'me'@'localhost' for table 'orders'")
    assert str(raised.value).startswith("--socket /run/s.sock: SELECT command denied to user 'me'@'localhost'")
    assert "\n" not in str(raised.value)
