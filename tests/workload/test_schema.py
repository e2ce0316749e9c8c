from __future__ import annotations

from burnish.workload.sql import schema
from burnish.workload.sql.schema import LARGEST, SAMPLES, Column, literal

DUMP = """\
-- MariaDB dump
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop`;
USE `shop`;
CREATE TABLE `items` (
  `id` int(11) NOT NULL AUTO_INCREMENT COMMENT 'the key, (unique)',
  `name` varchar(40) DEFAULT NULL,
  `price` decimal(10,2) NOT NULL DEFAULT 0.00,
  `kind` enum('a','b') NOT NULL,
  `born` date DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `n` (`name`),
  KEY `k` (`kind`,`born`)
) ENGINE=InnoDB AUTO_INCREMENT=901 DEFAULT CHARSET=utf8mb4;
INSERT INTO `items` VALUES (1,'one; (of\\'em)',9.50,'a','2024-02-03'),
(7,'se''ven',1.00,'b',NULL);
INSERT INTO `items` VALUES (900,'last',2.00,'b',NULL);
USE `other`;
CREATE TABLE `items` (`id` char(3) PRIMARY KEY);
CREATE TABLE theirs (id INT);
"""


def test_columns_keys_and_the_values_of_rows() -> None:
    tables = schema.from_dump(DUMP.splitlines(keepends=True), "shop")
    assert list(tables) == ["items"]
    columns = tables["items"].columns
    assert columns["id"] == Column(
        "id", "int", "11", counts=True, alone=True, low=1, high=900, samples=("1", "7", "900")
    )
    assert columns["name"].samples == ("'one; (of\\'em)'", "'se''ven'", "'last'")
    assert columns["name"].alone
    assert (columns["price"].kind, columns["price"].size) == ("decimal", "10,2")
    assert (columns["kind"].size, columns["kind"].alone) == ("'a','b'", False)
    assert columns["born"].samples == ("'2024-02-03'",), "NULL is no sample"
    assert set(schema.from_dump(DUMP.splitlines(keepends=True))) == {"items", "theirs"}


def test_a_dump_written_by_hand() -> None:
    text = "CREATE DATABASE shop; USE `shop`;\nCREATE TABLE t (a INT PRIMARY KEY, b TEXT) ENGINE=InnoDB;\n"
    text += "INSERT INTO t (b, a) VALUES ('x', 5), ('y', 9);\n"
    columns = schema.from_dump(text.splitlines(keepends=True), "shop")["t"].columns
    assert (columns["a"].low, columns["a"].high, columns["a"].alone) == (5, 9, True)
    assert columns["b"].samples == ("'x'", "'y'")


def test_a_long_insert_is_looked_at_from_both_ends() -> None:
    rows = ",".join(f"({number},'{'v' * 50}{number}')" for number in range(1, 20_001))
    text = ["CREATE TABLE t (id int, s varchar(80));\n", f"INSERT INTO t VALUES {rows};\n"]
    columns = schema.from_dump(text)["t"].columns
    assert (columns["id"].low, columns["id"].high) == (1, 20_000)
    assert len(columns["s"].samples) == SAMPLES


def test_values_are_seen_ones_or_fit_the_type() -> None:
    ids = Column("id", "int", alone=True, low=5, high=90)
    assert literal(ids) == "{5..90}"
    assert literal(ids, fresh=True) == f"{{91..{LARGEST}}}"
    assert literal(Column("id", "int", counts=True), fresh=True) == "NULL"
    assert literal(Column("id", "bigint", low=1, high=1 << 40, samples=("7", "8")), 3) == "8"
    assert literal(Column("id", "tinyint")) == "{0..127}"
    assert literal(Column("s", "varchar", "3", samples=("'x'",))) == "'x'"
    assert literal(Column("s", "varchar", "3", samples=("'x'",), alone=True), fresh=True) == "'{1..999}'"
    assert literal(Column("d", "datetime")) == "'20{10..24}-0{1..9}-{10..28} {10..23}:{10..59}:{10..59}'"
    assert literal(Column("p", "decimal", "5,2")) == "{1..999}"
    assert literal(Column("k", "enum", "'a','b'")) == "'a'"
