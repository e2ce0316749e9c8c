from __future__ import annotations

import json

import pytest

from burnish.base.errors import UserError
from burnish.workload.sql import digests, schema, statements
from burnish.workload.sql.placeholders import Averages, Unfilled, filled
from burnish.workload.sql.schema import Table

TABLES = schema.from_dump(
    """\
CREATE TABLE `sbtest1` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `k` int(11) NOT NULL,
  `c` char(120) NOT NULL,
  `at` timestamp NULL,
  PRIMARY KEY (`id`)
) AUTO_INCREMENT=1001;
INSERT INTO `sbtest1` VALUES (1,50,'aa',NULL),(2,60,'bb','2024-01-01 00:00:00');
CREATE TABLE `users` (`id` char(8) NOT NULL PRIMARY KEY, `age` tinyint);
INSERT INTO `users` VALUES ('u1',30),('u2',40);
""".splitlines(keepends=True)
)


MANY = ", ".join(["{50..60}"] * 100)


def one(text: str, **averages: float) -> tuple[str, ...]:
    return filled(text, TABLES, Averages(**averages))


@pytest.mark.parametrize(
    ("digest", "statement"),
    [
        ("SELECT `c` FROM `sbtest1` WHERE `id` = ?", "SELECT `c` FROM `sbtest1` WHERE `id` = {1..1000}"),
        ("SELECT COUNT ( * ) FROM `sbtest1`", "SELECT COUNT( * ) FROM `sbtest1`"),
        (
            "SELECT SUM ( `k` ) FROM `sbtest1` WHERE `id` BETWEEN ? AND ?",
            "SELECT SUM( `k` ) FROM `sbtest1` WHERE `id` BETWEEN {1..1000} AND {+99}",
        ),
        ("SELECT * FROM `sbtest1` WHERE ? < `k` LIMIT ?", "SELECT * FROM `sbtest1` WHERE {50..60} < `k` LIMIT 7"),
        ("SELECT * FROM `sbtest1` LIMIT ?, ?", "SELECT * FROM `sbtest1` LIMIT 0 , 7"),
        (
            "UPDATE `shop` . `sbtest1` SET `k` = `k` + ? WHERE `id` = ?",
            "UPDATE `shop`.`sbtest1` SET `k` = `k` + 1 WHERE `id` = {1..1000}",
        ),
        (
            "SELECT `s` . `c` FROM `sbtest1` AS `s` JOIN `users` `u` ON `u` . `age` = `s` . `k` WHERE `u` . `age` > ?",
            "SELECT `s`.`c` FROM `sbtest1` AS `s` JOIN `users` `u` ON `u`.`age` = `s`.`k` WHERE `u`.`age` > {30..40}",
        ),
        (
            "INSERT INTO `sbtest1` ( `id` , `k` ) VALUES (...)",
            "INSERT INTO `sbtest1` ( `id` , `k` ) VALUES (NULL, {50..60})",
        ),
        (
            "INSERT INTO `sbtest1` ( `k` , `at` ) VALUES ( ? , NOW ( ) )",
            "INSERT INTO `sbtest1` ( `k` , `at` ) VALUES ({50..60}, NOW( ))",
        ),
        (
            "INSERT INTO `users` VALUES (...) /* , ... */",
            "INSERT INTO `users` VALUES " + ", ".join(["('{1..99999999}', {30..40})"] * 3),
        ),
        (
            "DELETE FROM `sbtest1` WHERE `k` NOT IN (...) AND `id` IN (?)",
            f"DELETE FROM `sbtest1` WHERE `k` NOT IN ({MANY}) AND `id` IN ( {{1..1000}} )",
        ),
    ],
)  # fmt: skip
def test_each_literal_is_a_value_of_its_column(digest: str, statement: str) -> None:
    digest = digest.replace("IN (?)", "IN ( ? )")
    assert one(digest, examined=100, sent=7, affected=3) == (statement,)


def test_a_table_whose_name_is_a_word_of_sql_is_spelled_as_it_is() -> None:
    """MariaDB writes such names without quotes and in capitals."""
    tables = schema.from_dump(["CREATE TABLE Status (`ID` int AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT=9;\n"])
    assert filled("SELECT STATUS . ID FROM STATUS WHERE ID = ?", tables, Averages()) == (
        "SELECT `Status`.ID FROM `Status` WHERE ID = {1..8}",
    )


def test_values_that_cannot_be_drawn_make_a_statement_each() -> None:
    result = one("SELECT `age` FROM `users` WHERE `id` = ? AND `age` > ?")
    assert result == tuple(f"SELECT `age` FROM `users` WHERE `id` = 'u{n}' AND `age` > {{30..40}}" for n in (1, 2))


@pytest.mark.parametrize(
    ("digest", "reason"),
    [
        ("SELECT * FROM `sbtest1` WHERE `nope` = ?", "no column 'nope' in its tables (sbtest1)"),
        ("SELECT * FROM `gone` WHERE `a` = ?", "no column 'a' in its tables (none of its tables is in the schema)"),
        ("SELECT * FROM `sbtest1` LIMIT ?", "how many rows LIMIT let through is not told (no SUM_ROWS_SENT)"),
        ("SELECT ROUND ( `k` , ? ) FROM `sbtest1`", "nothing says what the literal after ',' is"),
        ("SELECT `c` FROM `sbtest1` WHERE `id` = ? AND ...", "it is cut off (max_digest_length was too small)"),
        ("INSERT INTO `users` VALUES ( ? )", "it has 1 values for 2 columns"),
    ],
)
def test_what_nothing_tells_is_a_reason(digest: str, reason: str) -> None:
    with pytest.raises(Unfilled) as caught:
        one(digest)
    assert str(caught.value) == reason


HEAD = "SCHEMA_NAME\tDIGEST\tDIGEST_TEXT\tCOUNT_STAR\tSUM_ROWS_SENT\tSUM_ROWS_EXAMINED\tSUM_ROWS_AFFECTED\n"
ROWS = [
    ("shop", "a", "SELECT `c` FROM `sbtest1` WHERE `id` = ?", 700, 700, 700, 0),
    ("shop", "b", "SELECT `age` FROM `users` WHERE `id` = ?", 100, 100, 100, 0),
    ("shop", "c", "BEGIN", 300, 0, 0, 0),
    ("shop", "d", "SET `autocommit` = ?", 3, 0, 0, 0),
    ("mysql", "e", "SELECT * FROM `user`", 5, 0, 0, 0),
    ("NULL", "f", "NULL", 9, 0, 0, 0),
]
TSV = HEAD + "".join("\t".join(map(str, row)) + "\n" for row in ROWS)


def replay(text: str, tables: dict[str, Table] = TABLES, **options: bool) -> digests.Replay:
    result = digests.read(text, "d.tsv")
    return digests.turned(result, digests.database_of(result, None, "d.tsv"), tables, "d.tsv", **options)


def as_json() -> str:
    names = HEAD.strip().split("\t")
    return json.dumps([{n: None if v == "NULL" else v for n, v in zip(names, row, strict=True)} for row in ROWS])


def as_csv() -> str:
    return HEAD.replace("\t", ",") + "".join(",".join(f'"{cell}"' for cell in row) + "\r\n" for row in ROWS)


@pytest.mark.parametrize("text", [TSV, as_json(), as_csv()], ids=["tsv", "json", "csv"])
def test_statements_by_how_often_they_were_run(text: str) -> None:
    result = replay(text)
    assert [(unit.statements[0], unit.weight) for unit in result.units] == [
        ("SELECT `c` FROM `sbtest1` WHERE `id` = {1..1000}", 700),
        ("SELECT `age` FROM `users` WHERE `id` = 'u1'", 50),
        ("SELECT `age` FROM `users` WHERE `id` = 'u2'", 50),
    ]
    assert result.executions == 800
    assert result.left_out == {
        "begins and ends of transactions": 300,
        "without a digest (performance_schema_digests_size was too small)": 9,
        "of other databases": 5,
        "SET": 3,
    }
    assert len(statements.parse(statements.as_text(result.units), "mine.sql")) == 3


def test_without_a_schema_each_statement_is_refused_by_name() -> None:
    with pytest.raises(UserError) as caught:
        replay(TSV, {})
    message = str(caught.value)
    assert "d.tsv: SELECT `c` FROM `sbtest1` WHERE `id` = ?: no column 'id' in its tables" in message
    assert message.startswith(
        "of 2 statements it is not known what they were; give the tables' definitions in --schema"
    )
    assert "--leave-out leaves them out (100.0% of the executions):" in message
    users = {"users": TABLES["users"]}
    kept = replay(TSV, users, leave_out=True)
    assert kept.executions == 100
    assert kept.left_out["not known"] == 700


def test_a_sample_is_taken_where_the_schema_does_not_tell() -> None:
    text = TSV.replace("SUM_ROWS_AFFECTED\n", "SUM_ROWS_AFFECTED\tQUERY_SAMPLE_TEXT\n")
    lines = text.splitlines()
    lines[1:] = [f"{line}\tSELECT 'a\\tb' FROM t;" for line in lines[1:]]
    result = replay("\n".join(lines), {})
    assert result.units[0].statements == ("SELECT 'a\tb' FROM t",)
    cut = replay("\n".join(lines).replace("FROM t;", "FROM ..."), TABLES)
    assert "{1..1000}" in cut.units[0].statements[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a\tb\n1\t2\n", "d.tsv: no columns DIGEST_TEXT and COUNT_STAR; export the table with the names of its"),
        ("", "d.tsv: no columns"),
        ("[{]", "d.tsv: can't be read: "),
        (HEAD + "shop\tx\n", "d.tsv:2: 2 values for 7 columns"),
        (TSV.replace("\t700\t700\t700", "\tmany\t700\t700"), "d.tsv: row 1: COUNT_STAR is 'many', no number"),
    ],
)
def test_another_file_is_no_export(text: str, says: str) -> None:
    with pytest.raises(UserError) as caught:
        digests.read(text, "d.tsv")
    assert str(caught.value).startswith(says)


def test_one_of_several_databases_is_named() -> None:
    result = digests.read(TSV.replace("shop\tb", "other\tb"), "d.tsv")
    with pytest.raises(UserError, match=r"statements of 2 databases \(shop \(1003 statements\), other"):
        digests.database_of(result, None, "d.tsv")
    assert digests.database_of(result, "other", "d.tsv") == "other"
    with pytest.raises(UserError, match=r"--database shp: not in d\.tsv; there are: shop, other"):
        digests.database_of(result, "shp", "d.tsv")


def test_a_row_without_a_count_is_named() -> None:
    """An exporter may leave out what is NULL, as the text of the row for all that did not fit into the table is."""
    good = {"SCHEMA_NAME": "shop", "DIGEST_TEXT": "SELECT 1", "COUNT_STAR": 3}
    other = {"SCHEMA_NAME": "shop", "COUNT_STAR": 2}
    assert [digest.count for digest in digests.read(json.dumps([good, other]), "d.json")] == [3, 2]
    del other["COUNT_STAR"]
    with pytest.raises(UserError, match=r"d\.json: row 2: COUNT_STAR is not there; export the table again"):
        digests.read(json.dumps([good, other]), "d.json")
    with pytest.raises(UserError, match=r"d\.json: row 1: COUNT_STAR is 'inf', no number"):
        digests.read(json.dumps([{**good, "COUNT_STAR": "inf"}]), "d.json")
