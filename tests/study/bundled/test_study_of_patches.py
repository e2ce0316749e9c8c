"""The shipped study of patches on the fake engine: which way its ratios run, controls, rows without a patch."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base import paths
from burnish.cli.results import result_of
from burnish.record.events.trials import StartBegun
from burnish.record.record import Record
from burnish.report.bundled.table import StudyTable
from burnish.statistics.verdicts import Rule
from burnish.study.planning.costs import predict
from burnish.study.request.options import Options
from drawn import markdown
from shipping import expanded, quick, shown

ROWS = (
    "crc32c-hardware",
    "rw-lock-word",
    "os-once",
    "rseg-allocation",
    "spin-wait-exchange",
    "all-update-index",
)
"""On the fake engine: in the tree and seen, a control of the same code, none, a control of other code, the same code
everywhere, and the whole set, of which one is put in."""


def starts(folder: Path) -> int:
    with closing(Record(folder)) as record:
        return sum(1 for _ in record.events(StartBegun))


def ratio_of(found: StudyTable, row: str) -> float:
    (line,) = [line for line in found.lines if line.row == row]
    assert line.verdict
    assert line.interval is not None
    return line.interval.ratio


@pytest.mark.measures
def test_every_kind_of_row(monkeypatch: pytest.MonkeyPatch) -> None:
    run = quick(monkeypatch)
    found, folder = run("arm-2020", *ROWS)
    assert ratio_of(found, "crc32c-hardware") > 1.1, "in the tree: the tree as it is over the patched one"
    assert ratio_of(found, "all-update-index") > 1.2, "a patch put in, over another taken out"
    assert 0.8 < ratio_of(found, "rseg-allocation") < 1.25, "a control"
    at = {line.row: line for line in found.lines}
    assert [at[row].shows for row in ROWS[:5]] == ["shows", "control", "no patch", "control", "identical"]
    for row in ("rw-lock-word", "spin-wait-exchange"):
        assert at[row].last == "identical code"
        assert at[row].settled, "no other sitting would find anything else"
    assert at["os-once"].reason.startswith("no patch: not applicable: the counter is gone. An entry without a patch")
    assert at["crc32-hardware"].reason == "its patches are for mariadb, not for fake"
    assert (at["all-update-index"].published, at["all-update-index"].threads) == ("+3.9", 16)
    negative = found.controls
    assert negative is not None
    assert (negative.identical, negative.measured) == (1, 1)
    assert negative.verdict in ("equivalent", "undecided", "different")
    assert negative.pooled is not None
    assert negative.pooled.low < ratio_of(found, "rseg-allocation") < negative.pooled.high
    said = shown(folder)
    assert max(map(len, said.splitlines())) <= 80
    flat = " ".join(said.split())
    assert "Ratios are with / without, as published" in flat
    assert "Negative controls: 1 of 2 cells are identical code; 1 was measured; pooled" in flat
    assert "os-once: no patch: not applicable" in flat
    assert "crc32c-hardware: reverted (in the tree): A request is some thirty per cent more work." in flat
    assert "trained on (rows)" not in flat
    plain = markdown(result_of(folder))
    assert "| row | here | published % | measured here % | sitting | likeness | verdict |" in plain
    assert "| rw-lock-word, fake_update | control | - | - | - | - | identical code |" in plain

    before = starts(folder)
    again, same = run("arm-2020", *ROWS)
    assert (same, starts(folder)) == (folder, before), "what is settled is not measured again"
    assert again.lines == found.lines


def test_what_is_the_same_code_is_forecast_without_trials() -> None:
    table = replace(expanded("arm-2020", "fake", architecture="x86_64"), rule=Rule.fixed(2))
    found = predict(paths.home(), table, table.comparisons, Options(starts=2), ())
    costs = {cost.unit[1]: cost for cost in found.costs}
    assert costs["spin-wait-exchange"].trials == 0
    assert costs["spin-wait-exchange"].making > 0, "it is built, to prove it"
    assert costs["rw-lock-word"].trials > 0, "a control may be other code"
    kinds = {step.variants[0]: step.kind for step in found.plan.steps if step.title == "compile"}
    if shutil.which("ccache"):
        assert kinds.pop("baseline") == "compile"
        assert set(kinds.values()) == {"partial"}
