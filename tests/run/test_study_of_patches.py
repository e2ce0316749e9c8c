"""The shipped study of patches on the fake engine: which way its ratios run, controls, rows without a patch."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from shipping import quick, shown

from burnish.cli.common import summary_of
from burnish.record.record import Record
from burnish.report.study_table import StudyTable
from burnish.report.terminal import markdown

ROWS = (
    "crc32c-hardware",
    "rw-lock-word",
    "os-once",
    "rseg-allocation",
    "sched-getcpu",
    "spin-wait-exchange",
    "all-read-only",
)
"""On the fake engine: in the tree and seen, a control of the same code, none, a control of other code, put in and seen,
the same code everywhere, and the whole set."""


def starts(folder: Path) -> int:
    with closing(Record(folder)) as record:
        return sum(1 for _ in record.events("start"))


def ratio_of(found: StudyTable, row: str) -> float:
    (line,) = [line for line in found.lines if line.row == row]
    assert line.verdict
    assert line.interval is not None
    return line.interval["ratio"]


@pytest.mark.measures
def test_every_kind_of_row(monkeypatch: pytest.MonkeyPatch) -> None:
    run = quick(monkeypatch)
    found, folder = run("arm-2020", *ROWS)
    assert ratio_of(found, "crc32c-hardware") > 1.1, "in the tree: the tree as it is over the patched one"
    assert ratio_of(found, "sched-getcpu") > 1.1, "not in the tree: the patched one over the tree as it is"
    assert ratio_of(found, "all-read-only") > 1.1, "the set with over the set without"
    assert 0.8 < ratio_of(found, "rseg-allocation") < 1.25, "a control"
    at = {line.row: line for line in found.lines}
    assert [at[row].shows for row in ROWS[:6]] == ["shows", "control", "no patch", "control", "shows", "identical"]
    for row in ("rw-lock-word", "spin-wait-exchange"):
        assert at[row].last == "identical code"
        assert at[row].settled, "no other sitting would find anything else"
    assert at["os-once"].reason.startswith("no patch: not applicable: the counter is gone. An entry without a patch")
    assert at["crc32-hardware"].reason == "its patches are for mariadb, not for fake"
    assert (at["all-read-only"].published, at["all-read-only"].threads) == ("+2.7", 16)
    negative = found.controls
    assert negative is not None
    assert (negative.identical, negative.measured) == (1, 1)
    assert negative.verdict in ("equivalent", "undecided", "different")
    assert negative.pooled is not None
    assert negative.pooled["low"] < ratio_of(found, "rseg-allocation") < negative.pooled["high"]
    said = shown(folder)
    assert max(map(len, said.splitlines())) <= 80
    flat = " ".join(said.split())
    assert "Ratios are with / without, as published" in flat
    assert "Negative controls: 1 of 2 cells are identical code; 1 was measured; pooled" in flat
    assert "os-once: no patch: not applicable" in flat
    assert "crc32c-hardware: reverted (in the tree): A request is some thirty per cent more work." in flat
    assert "trained on (rows)" not in flat
    plain = markdown(summary_of(folder))
    assert "| row | here | published % | measured here % | verdict |" in plain
    assert "| rw-lock-word, fake_update | control | - | - | identical code |" in plain

    before = starts(folder)
    again, same = run("arm-2020", *ROWS)
    assert (same, starts(folder)) == (folder, before), "what is settled is not measured again"
    assert again.lines == found.lines
