from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.base.errors import UserError
from burnish.workload.sql import statements
from burnish.workload.sql.statements import Unit, parse

FILE = """
-- what the shop asks
-- weight: 3
SELECT a FROM t WHERE s = 'semi; colon''s' AND id = {1..100};
SELECT 2 # a comment; with a semicolon
;
/* gone; */ -- weight: 0.5
START TRANSACTION;
UPDATE t SET a = "x\\";y" /*! hint */ WHERE `odd;name` = 1;
SELECT 5-3, 6/2;
COMMIT;
SELECT 4
"""


def test_statements_weights_and_transactions() -> None:
    result = parse(FILE, "f.sql")
    assert [(unit.weight, len(unit.statements), unit.line) for unit in result] == [
        (3.0, 1, 4),
        (1.0, 1, 5),
        (0.5, 4, 8),
        (1.0, 1, 12),
    ]
    assert result[0].statements == ("SELECT a FROM t WHERE s = 'semi; colon''s' AND id = {1..100}",)
    assert result[1].statements == ("SELECT 2",)
    assert result[2].statements[1] == 'UPDATE t SET a = "x\\";y" /*! hint */ WHERE `odd;name` = 1'
    assert result[2].statements[2:] == ("SELECT 5-3, 6/2", "COMMIT")
    assert result[3].statements == ("SELECT 4",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "f.sql: there is no statement in it"),
        ("-- weight: 3\n", "f.sql: there is no statement in it"),
        ("-- weight: much\nSELECT 1;", "f.sql:1: weight 'much': give a number above 0"),
        ("-- weight: -1\nSELECT 1;", "f.sql:1: weight '-1': give a number above 0"),
        ("-- weight: inf\nSELECT 1;", "f.sql:1: weight 'inf': give a number above 0 that is not infinite"),
        ("SELECT 1;\nBEGIN;\nSELECT 2;", "f.sql:2: the transaction that begins here has no COMMIT"),
        ("BEGIN;\nBEGIN;", "f.sql:2: BEGIN within the transaction that began in line 1"),
        ("BEGIN;\n-- weight: 2\nCOMMIT;", "f.sql:2: a weight within a transaction"),
        ("SELECT 1;\nSELECT 'x", "f.sql:2: a quote (') that does not end"),
        ("SELECT {5..1};", "f.sql:1: {5..1}: give two numbers of 32 bits in order"),
        ("SELECT {+5}, {1..2};", "f.sql:1: {+5}: no number is drawn before it in the statement"),
        ("SELECT {1..2}, {+5000000000};", "f.sql:1: {+5000000000}: give a number of 32 bits"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text: str, says: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text, "f.sql")
    assert str(caught.value).startswith(says)


def test_rollback_to_a_savepoint_ends_nothing() -> None:
    result = parse("BEGIN; SAVEPOINT a; ROLLBACK TO a; COMMIT; SELECT 1;", "f.sql")
    assert [len(unit.statements) for unit in result] == [4, 1]


def test_units_are_handed_over_by_their_length() -> None:
    text = statements.compiled([Unit(("SELECT 'ä\n'",), 2.5), Unit(("BEGIN", "SELECT {1..2}", "COMMIT"))])
    assert text.decode() == ("unit 2.5 1\n12 0\nSELECT 'ä\n'\nunit 1 3\n5 0\nBEGIN\n13 1\nSELECT {1..2}\n6 0\nCOMMIT\n")


_WORDS = st.text(alphabet="abc '\"`;-#/*\n\\0", min_size=0, max_size=12)


@given(st.lists(st.tuples(_WORDS, st.sampled_from([1.0, 2.0, 0.25])), min_size=1, max_size=5))
def test_what_is_written_is_read_again(items: list[tuple[str, float]]) -> None:
    units = [
        Unit((f"SELECT '{text.replace(chr(92), chr(92) * 2).replace(chr(39), chr(39) * 2)}'",), weight)
        for text, weight in items
    ]
    again = parse(statements.as_text(units), "f.sql")
    assert [(unit.statements, unit.weight) for unit in again] == [(unit.statements, unit.weight) for unit in units]


def test_a_comment_at_the_end_does_not_swallow_the_semicolon() -> None:
    units = (Unit(("SELECT 1 -- why",)), Unit(("SELECT 2",)))
    assert len(parse(statements.as_text(units), "f.sql")) == 2


def test_an_example_has_a_number_in_each_place() -> None:
    assert statements.example("SELECT {3..9}, {+5}, {-2..4}, {+0}") == "SELECT 3, 8, -2, -2"


def test_a_statement_that_a_server_ran_more_than_a_thousand_million_times_is_read() -> None:
    (unit,) = parse(statements.as_text([Unit(("SELECT 1",), 4e12)]), "f.sql")
    assert unit.weight == 4e12
