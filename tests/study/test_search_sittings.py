"""A search in several sittings: its finalist alone is measured again, and judged by the starts of all of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from burnish.model.cell import Role
from burnish.model.sittings import Spread
from burnish.record.events.searches import FinalistOn, SearchBegun, SearchEnded, SearchTold
from burnish.record.events.study import StudyFinished
from burnish.record.events.trials import StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.study.extras.sitting import over_sittings
from spaces import choice, rung, speed, written
from studying import QUICK, aged, burnish, events, study, text

SPACE = (
    speed(fast=400, faster=200),
    choice("broken", "Does not compile, so that a candidate has no verdict.", yes="FAKE_BROKEN"),
    rung("second", "Faster than the baseline, but not the best, so that it gets no other sitting.", speed="faster"),
    rung("broken", "Can not be had, so that nothing waits for it.", broken="yes"),
    rung("fast", "Known to be the best.", speed="fast"),
)


def starts(home: Path) -> Counter[tuple[str, str, Role]]:
    """Valid starts by candidate, load and role."""
    done = events(home, StartDone)
    return Counter((one.cell.candidate, one.cell.workload, one.cell.role) for one in done if one.invalid is None)


@pytest.mark.measures
def test_only_the_finalist_has_another_sitting(
    burnish_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = written(tmp_path / "space.toml", *SPACE)
    words = ["tune", "fake", "--space", str(space), "--strategy", "ladder", "--max-starts", "3", *QUICK]
    words += ["--guard", "fake_low", "--sittings", "2", "--apart", "30m"]
    _, err = text(burnish(*words))
    assert "sitting 2 of 2 is due at" in err
    (begun,) = events(burnish_home, SearchBegun)
    assert begun.later == pytest.approx(2 * 3 * (begun.start + begun.again)), "kept: two loads, 3 starts of each kind"
    first, told = starts(burnish_home), events(burnish_home, SearchTold)
    (ended,) = events(burnish_home, SearchEnded)
    assert ended.winner == "fast"
    for early in (words, ["resume", "--due"]):
        assert "sitting 2 of 2 is due at" in "".join(text(burnish(*early)))
        assert starts(burnish_home) == first, "nothing is taken before it is due"
    aged(study(burnish_home), 3600)
    monkeypatch.chdir("/")
    child = burnish("resume", "--due")
    _, err = text(child)
    assert child.returncode == 0, err
    new = starts(burnish_home) - first
    finalist = [("fast", load, role) for load in ("fake_mix", "fake_low") for role in (Role.CLAIM, Role.CONFIRMATION)]
    assert {cell: count for cell, count in new.items() if cell[2] is not Role.CANARY} == dict.fromkeys(finalist, 3), err
    assert events(burnish_home, SearchTold) == told, "nothing is searched for again"
    _, again = events(burnish_home, SearchEnded)
    assert (again.winner, again.settings) == ("fast", ended.settings)
    assert "fast measured in 2 sittings: shown to be faster in another one" in again.path
    assert len(events(burnish_home, StudyFinished)) == 1
    out, _ = text(burnish("show", "--json"))
    shown = json.loads(out)
    rows = {(row["candidate"], row["workload"]): row for row in shown["rows"]}
    assert rows["fast", "fake_mix"]["sitting"]["sittings"] == 2
    assert rows["second", "fake_mix"]["sitting"]["sittings"] == 1
    again_rows = {row["workload"]: row["sitting"]["sittings"] for row in shown["confirmations"]}
    assert again_rows == {"fake_mix": 2, "fake_low": 2}
    verdicts = Counter(verdict.cell.candidate for verdict in events(burnish_home, VerdictReached))
    assert verdicts["second"] == 2, "one for each load"


BEGUN = SearchBegun("ladder", 7200.0, 1, "", 2, 6, {}, 10.0, 600.0, 10.0, {"mine": 3.0, "also": 1.0}, ("backup",))
LOADS = tuple(FinalistOn(load, False, weight, 1.1, 1.09, 1.11) for load, weight in (("mine", 3.0), ("also", 1.0)))
ENDED = SearchEnded(
    "fast", "fast", (), 2, 0, "", ("ladder: all measured",), (), {}, 0.0, 100.0,
    loads=(*LOADS, FinalistOn("backup", False, 0.0, 1.0, 0.999, 1.001)),
)  # fmt: skip
SPREAD = dict.fromkeys(("mine", "also", "backup"), Spread(0.005, 20.0, "elsewhere"))
ONE = (0.100, 0.101, 0.099)
NONE = (0.0, 0.001, -0.001)


def test_a_finalist_is_judged_by_the_starts_of_all_sittings() -> None:
    sittings = {"mine": [ONE, ONE], "also": [NONE, NONE], "backup": [NONE, NONE]}
    same = over_sittings(ENDED, BEGUN, {**sittings, "backup": [(0.02, 0.021, 0.019)] * 2}, SPREAD)
    assert (same.winner, same.slower_on) == ("fast", ())
    assert same.path[-1] == "fast measured in 2 sittings: shown to be faster in another one"
    assert same.loads[0].ratio == pytest.approx(1.105, abs=0.001)
    assert same.loads[0].low < 1.1, "another sitting may differ"
    assert over_sittings(same, BEGUN, sittings, SPREAD).path[:-1] == ENDED.path, "the line is there once"


def test_a_finalist_that_was_faster_on_one_day_only_is_no_winner_any_more() -> None:
    away = {"mine": [ONE, (-0.09, -0.1, -0.11)], "also": [NONE, NONE], "backup": [NONE, NONE]}
    found = over_sittings(ENDED, BEGUN, away, dict.fromkeys(SPREAD, Spread(0.05, 20.0, "elsewhere")))
    assert (found.winner, found.finalist) == (None, "fast")
    assert "not shown to be faster" in found.path[-1]


def test_a_guarded_load_counts_in_every_sitting() -> None:
    slower = {"mine": [ONE, ONE], "also": [ONE, ONE], "backup": [NONE, (-0.04, -0.041, -0.039)]}
    found = over_sittings(ENDED, BEGUN, slower, SPREAD)
    assert (found.winner, found.slower_on) == (None, ("backup",))


def test_each_load_has_the_spread_of_its_kind_and_their_mean_the_largest() -> None:
    """Ratios of sides in turn on a load that commits differ most between sittings."""
    sittings = {load: [(0.02, 0.021, 0.019)] * 2 for load in ("mine", "also", "backup")}
    usual = over_sittings(ENDED, BEGUN, sittings, SPREAD)
    found = over_sittings(ENDED, BEGUN, sittings, {**SPREAD, "also": Spread(0.03, 20.0, "commits")})
    assert (usual.winner, found.winner) == ("fast", None)
    mine, also, _ = found.loads
    assert mine == usual.loads[0]
    assert also.low is not None
    assert usual.loads[1].low is not None
    assert also.low < usual.loads[1].low
