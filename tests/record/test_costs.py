"""What steps cost is remembered; what another variant's step cost is a guess."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from burnish.record.costs import Cost, Costs, Figure, History


def test_the_newest_of_the_same_name_then_of_any(tmp_path: Path) -> None:
    costs = Costs(tmp_path / "costs.sqlite")
    assert costs.history("e") == History()
    assert not costs.path.exists(), "looking makes nothing"
    costs.note("e", "compile", "a", Cost(10.0, peak=100))
    costs.note("e", "compile", "a", Cost(12.0))
    costs.note("e", "compile", "b", Cost(20.0, tree=5))
    costs.note("other", "compile", "a", Cost(99.0))
    history = costs.history("e")
    assert history.figure("compile", "a", "seconds") == Figure(12.0, known=True)
    assert history.figure("compile", "a", "peak") == Figure(100.0, known=True), "where it was noted last"
    assert history.figure("compile", "a", "tree") == Figure(5.0, known=False), "another variant's"
    assert history.figure("compile", "new", "seconds") == Figure(20.0, known=False)
    assert history.figure("gate", "a", "seconds") is None


def test_a_guess_is_taken_from_the_step_that_is_nearest() -> None:
    rows = [("compile", "o3", Cost(9.0)), ("compile by gcc", "pgo", Cost(14.0)), ("compile by gcc", "a", Cost(13.0))]
    history = History(rows)
    assert history.figure("compile", "new", "seconds", "compile by gcc") == Figure(14.0), "the newest"
    assert history.figure("instrumented", "new", "seconds", "compile by gcc") == Figure(14.0)
    assert history.figure("compile", "o3", "seconds", "compile by gcc") == Figure(9.0, known=True), "its own is known"
    assert history.figure("compile", "new", "seconds", "compile by clang") == Figure(9.0), "none of such: any"


def test_a_file_of_an_older_version_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "costs.sqlite"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE cost (at REAL, engine TEXT, step TEXT, name TEXT, seconds REAL, peak INTEGER)")
        db.execute("INSERT INTO cost VALUES (1.0, 'e', 'compile', 'a', 7.0, 3)")
    costs = Costs(path)
    before = path.read_bytes()
    assert costs.history("e").figure("compile", "a", "seconds") == Figure(7.0, known=True)
    assert path.read_bytes() == before, "looking changes nothing"
    costs.note("e", "compile", "a", Cost(8.0, kept=4))
    assert costs.history("e").figure("compile", "a", "kept") == Figure(4.0, known=True)


def test_a_sum_is_known_when_all_of_it_is() -> None:
    assert Figure(1.0, known=True) + Figure(2.0, known=True) == Figure(3.0, known=True)
    assert not (Figure(1.0, known=True) + Figure(2.0)).known


@pytest.mark.parametrize("content", [b"SQLite format 3\0 and no more", b"x" * 9000, None])
def test_a_damaged_file_is_named_and_begun_anew(tmp_path: Path, content: bytes | None) -> None:
    said: list[str] = []
    costs = Costs(tmp_path / "costs.sqlite", said.append)
    if content is None:
        costs.path.mkdir()
    else:
        costs.path.write_bytes(content)
    assert costs.history("e") == History()
    assert costs.compiles(["key"]) == {}
    costs.note("e", "compile", "a", Cost(10.0))
    assert costs.history("e").figure("compile", "a", "seconds") == Figure(10.0, known=True)
    (line,) = said
    assert str(costs.path) in line
    assert "damaged" in line
