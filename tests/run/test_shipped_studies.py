"""Studies that ship, run on the fake engine from the command line: published beside measured, sittings, bad input."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from studying import burnish, study, text

from burnish.cli import app
from burnish.errors import UserError
from burnish.record.record import Record

QUICK = ["--engine", "fake", "--starts", "2", "--pairs", "1"]


def table(*words: str | Path) -> dict[str, Any]:
    child = burnish("study", "run", *words, "--json")
    out, err = text(child)
    assert child.returncode == 0, err
    found: dict[str, Any] = json.loads(out)["shipped"]
    return found


def lines(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {line["row"]: line for line in found["lines"]}


def starts(home: Path) -> int:
    with closing(Record(study(home))) as record:
        return sum(1 for _ in record.events("start"))


def test_the_manual_in_several_sittings(burnish_home: Path) -> None:
    rows = "dynamic-link,tcp-remote,charsets,compile-memory"
    found = lines(table("mysql-manual", *QUICK, "--rows", rows))
    assert found["dynamic-link"]["verdict"] in ("slower", "undecided")
    assert found["dynamic-link"]["published"] == "-13"
    value = found["dynamic-link"]["interval"]
    assert value["low"] < value["ratio"] < value["high"]
    assert 0.7 < value["ratio"] < 1.0
    assert "transport" in found["tcp-remote"]["reason"]
    assert "WITH_EXTRA_CHARSETS" in found["charsets"]["reason"], "an option that the engine has not is a reason"
    assert found["compile-memory"]["verdict"] == "measured" or "no figure for" in found["compile-memory"]["reason"]
    assert found["tls"]["reason"] == "left out by --rows"
    assert all(line["verdict"] or line["reason"] for line in found.values())
    before = starts(burnish_home)
    again = lines(table("mysql-manual", *QUICK, "--rows", rows))
    assert starts(burnish_home) == before, "what has its verdict is not measured again"
    assert again["dynamic-link"]["interval"] == value
    more = lines(table("mysql-manual", *QUICK, "--rows", "tls"))
    assert starts(burnish_home) > before
    assert more["tls"]["interval"]["ratio"] < 0.8, "a condition that is known to be slower"
    assert more["tls"]["quantity"] == "throughput"
    assert more["dynamic-link"]["verdict"], "earlier sittings stay in the table"
    shown, _ = text(burnish("show"))
    assert "published %" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_sun_on_a_short_ladder(burnish_home: Path) -> None:
    words = ["sun-2008", *QUICK, "--rows", "baseline,unroll,restrict", "--threads", "1"]
    found = table(*words)
    mine = {
        (line["row"], line["reading"]): line
        for line in found["lines"]
        if line["series"] == "gcc" and line["threads"] == 1
    }
    assert mine["baseline", "options"]["control"]
    for row in ("baseline", "unroll"):
        each = mine[row, "options"]
        assert each["verdict"], each
        assert 0.7 < each["interval"]["ratio"] < 1.4
    assert "univ" in mine["unroll", "source"]["reason"], "a patch that does not fit this source is a reason"
    assert "points-to" in mine["restrict", "feedback"]["reason"]
    assert any("baseline" in line for line in found["advice"])
    with closing(Record(study(burnish_home))) as record:
        assert record.last("finished") is None, "the rest of the file is still open"
        assert record.last("family") is not None


def test_before_running(burnish_home: Path) -> None:
    listed, _ = text(burnish("study", "list"))
    assert "sun-2008" in listed
    assert "mysql-manual" in listed
    child = burnish("study", "show", "mysql-manual", "--engine", "fake")
    out, err = text(child)
    assert child.returncode == 0, err
    assert "cells to measure" in out
    assert "encrypted connections" in out
    assert not list(burnish_home.glob("studies/*"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "sun-2009"], "unknown study that ships 'sun-2009' (did you mean 'sun-2008'?)"),
        (["run", "mysql-manual", "--rows", "tsl"], "unknown row of mysql-manual 'tsl' (did you mean 'tls'?)"),
        (["run", "mysql-manual", "--engine", "mariabd"], "unknown engine 'mariabd' (did you mean 'mariadb'?)"),
        (["run", "mysql-manual", *QUICK, "--rows", "tls", "--budget", "2s"], "tls needs about 1 min"),
        (["run", "sun-2008", *QUICK, "--rows", "baseline", "--threads", "1000"], "max_connections is 256"),
        (["show", "mysql-manual", "--budget", "soon"], "--budget soon: give hours and minutes"),
    ],
)
def test_bad_input_is_one_line(burnish_home: Path, words: list[str], says: str) -> None:
    with pytest.raises(UserError) as raised:
        app(["study", *words], standalone_mode=False)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)
