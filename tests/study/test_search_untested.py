"""A search on the fake engine measures a screen's builds without their tests, and tests what it goes on with."""

from __future__ import annotations

from pathlib import Path

from burnish.record.events.builds import GateRun
from burnish.record.events.searches import SearchEnded, SearchTold
from burnish.record.events.verdicts import VerdictReached
from spaces import speed, written
from studying import QUICK, burnish, events, summary, text

WRONG = ["-DFAKE_SPEED=400", "-DFAKE_WRONG=1"]


def searched(place: Path, content: str, code: int = 0) -> str:
    space = written(place / "space.toml", content)
    child = burnish("tune", "fake", "--space", str(space), "--strategy", "screen", "--max-starts", "3", *QUICK)
    out, err = text(child)
    assert child.returncode == code, err
    return out


def test_what_is_announced_passed_its_tests_after_its_screen(burnish_home: Path, tmp_path: Path) -> None:
    searched(tmp_path, speed(fast=400, slow=25))
    told = events(burnish_home, SearchTold)
    assert [one.tested for one in told if one.stage == "screen"] == [False] * 2
    (ended,) = events(burnish_home, SearchEnded)
    assert ended.settings == {"speed": "fast"}
    tested = [gate.build.variant for gate in events(burnish_home, GateRun)]
    slow = next(one.variant for one in told if one.settings == {"speed": "slow"})
    assert ended.winner in tested
    assert slow not in tested, "it was measured for its effect alone"
    assert {verdict.cell.candidate for verdict in events(burnish_home, VerdictReached)} >= {ended.winner}
    found = summary(burnish_home)
    assert slow not in {row.candidate for row in found.rows}
    assert next(build.gate for build in found.builds if build.variant == slow) == "not tested"


def test_what_answers_wrongly_is_no_winner_however_fast(burnish_home: Path, tmp_path: Path) -> None:
    out = searched(tmp_path, speed(recipe={"c": WRONG}, fast=400), code=1)
    (ended,) = events(burnish_home, SearchEnded)
    assert ended.winner is None
    screened, tested = events(burnish_home, SearchTold)
    assert screened.readings
    assert tested.failed.startswith("failed its gate")
    assert "Nothing could be compared: search-01: failed its gate: answers" in " ".join(out.split())
