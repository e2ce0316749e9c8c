"""Names of somebody else's record stay names: they control no terminal and are no markup, formula or command."""

from __future__ import annotations

import csv
import io
import shlex
from dataclasses import replace
from xml.etree import ElementTree as Tree

import pytest

from burnish.report.answer.check import document
from burnish.report.answer.checked import Check, LoadChecked, Outcome
from burnish.report.answer.points import Point
from burnish.report.document import Cell, Column, Document, Entry, Heading, Literal, Points, Row, Section, Span, Table
from burnish.report.render.junit import junit
from burnish.report.render.markdown import markdown
from burnish.report.render.otava import COLUMNS, otava
from drawn import drawn

NAME = "=x <img src=y> \x1b]0;title\x07 $(touch z) [a](http://b) | `c` \x00 \u202e\n# head\n```"
LOAD = LoadChecked(NAME, Outcome.UNDECIDED, None, 3, "capacity", NAME, NAME)
CHECK = Check(NAME, NAME, NAME, NAME, 0.01, NAME, 60, (LOAD,), (NAME,))
SPAN = Span(NAME, marks=NAME)
DOCUMENT = Document(
    NAME,
    (
        Section("a", (Heading(NAME), Points((SPAN,)), Entry(NAME, NAME, (NAME,), (NAME,)), Literal((NAME,)))),
        Section("b", (Table("t", (Column(NAME), Column("z")), (Row((Cell((SPAN,)), Cell((Span("last"),)))),)),)),
    ),
)


@pytest.mark.parametrize("shown", [document(CHECK), DOCUMENT])
def test_no_name_controls_a_terminal(shown: Document) -> None:
    text = drawn(shown, full=True)
    assert [sign for sign in text if not sign.isprintable() and sign != "\n"] == []
    assert "$(touch z)" in text


@pytest.mark.parametrize("shown", [document(CHECK), DOCUMENT])
def test_no_name_is_markdown(shown: Document) -> None:
    outside, fenced = [], ""
    for line in markdown(shown).splitlines():
        if line.startswith("```") and line.strip("`") == "" and fenced in ("", line):
            fenced = "" if fenced else line
        elif not fenced:
            outside.append(line)
    assert not fenced, "every fence ends"
    text = "\n".join(outside).replace("\\<", "").replace("\\]", "")
    assert "<img" not in text
    assert "](" not in text
    assert not [line for line in outside if line.startswith("# head")]
    rows = [line for line in outside if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {rows[0].count("|") - rows[0].count("\\|")}


def test_junit_is_xml_whatever_the_names_are() -> None:
    root = Tree.fromstring(junit(CHECK))  # noqa: S314 - written here
    (test,) = root.iter("testcase")
    assert "$(touch z)" in str(test.get("name"))
    assert "\x1b" not in junit(CHECK)


def test_a_spreadsheet_computes_no_name() -> None:
    point = Point("2026", "r", "e", "-1", NAME, "@l", "+h", "shared", 1.0, 2.0, None, 1.0)
    (row,) = csv.DictReader(io.StringIO(otava([point])))
    assert row["variant"] == f"'{NAME}"
    assert [row[name][0] for name in ("version", "load", "host", "branch")] == ["'"] * 4
    assert (row["capacity"], row["run"]) == ("1", "r")
    assert list(row) == list(COLUMNS)


def test_the_next_command_can_be_pasted() -> None:
    text = drawn(document(replace(CHECK, run="a; b")))
    (line,) = (line for line in text.splitlines() if line.startswith("next"))
    assert shlex.split(line, comments=True) == ["next", "burnish", "show", "a; b", "--full"]
    assert "time for the trials: 1 min" in text
