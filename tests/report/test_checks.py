"""What starts show beside their ratios is told: faults by side, totals where trimming hides something, drift."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from burnish.record.by_type import ByType
from burnish.record.codec import decode, encode
from burnish.record.events import Event, Recorded
from burnish.record.events.trials import PairRead, StartDone
from burnish.report.analysis.checks import Checks, checks_of, concentration, named
from burnish.report.fold import fold
from burnish.report.render.json import text
from burnish.report.result import Result
from burnish.report.sections.remarks import lines
from burnish.report.values import runs as values
from pieces import CELL, Piece, pair

HANGS = "one finished nothing for 10 s: the side hangs"
LABELS = ("baseline", "one", "one, tcp", "A/A")
EQUAL = [[0.1, 0.1]] * 3


@pytest.mark.parametrize(
    ("reason", "sides"),
    [
        (HANGS, ("one",)),
        ("baseline, one finished nothing for 10 s: the side hangs", ("baseline", "one")),
        ("one, tcp finished nothing for 10 s: the side hangs", ("one, tcp",)),
        ("one: the server ended with signal 6", ("one",)),
        ("A/A's server was busy for 78% of its cores, but w says that it is saturated", ("A/A",)),
        ("one read 93 pages from disk, but w says that its data are in memory", ("one",)),
        ("errors under load (baseline: 3, one: 12); see the load's log in the study's folder", ("baseline", "one")),
        ("the hypervisor took 7% of the CPU (bound 5%); try at a quieter hour", ()),
        ("oneself is another word", ()),
    ],
)
def test_an_old_record_names_the_side_in_front_of_the_reason(reason: str, sides: tuple[str, ...]) -> None:
    assert named(reason, LABELS) == sides


class Made(Piece):
    """A study whose starts have several pairs, each with a ratio of its own, and totals that may differ from it."""

    def several(self, ratios: Sequence[Sequence[float]], slower: float = 1.0) -> Made:
        """Starts with pairs of these log-ratios; the first one's candidate spends so many times the CPU in total."""
        for number, start in enumerate(ratios, start=1):
            for place, ratio in enumerate(start, start=1):
                body = pair(CELL, number, place, ratio)
                body["sides"]["one"]["server_cpu"] *= slower if number == 1 else 1.0
                self.add("pair", **body)
            reading = sorted(start)[len(start) // 2]
            told: dict[str, Any] = {"capacity": reading, "throughput": reading, "pair_ratios": [[r, r] for r in start]}
            self.add("start_done", cell=CELL, workload="w", start=number, invalid=None, hardware={}, **told)
        return self

    def at_fault(self, start: int, *sides: str) -> Made:
        """Marks that start's pairs as invalid for a reason that is about these sides."""
        for place, recorded in enumerate(self.made):
            event = recorded.event
            if isinstance(event, PairRead) and event.start == start:
                self.made[place] = replace(recorded, event=replace(event, invalid="the host swapped", at_fault=sides))
        return self


def made(ratios: Sequence[Sequence[float]], slower: float = 1.0) -> Made:
    piece = Made()
    piece.contest()
    return piece.several(ratios, slower)


def result(piece: Piece) -> Result:
    return fold(piece.verdict().finish().made)


def halves(ratios: Sequence[float], spread: float) -> Result:
    """A study whose starts have these log-ratios, and over the faster half of turns the same so much closer to 0.1."""
    piece = made([[ratio] for ratio in ratios])
    for place, recorded in enumerate(piece.made):
        if isinstance(event := recorded.event, StartDone):
            faster = {name: 0.1 + spread * (value - 0.1) for name, value in event.readings.items()}
            piece.made[place] = replace(recorded, event=replace(event, faster=faster))
    return result(piece)


def test_what_bursts_cannot_move_stands_beside_the_ratio_where_it_says_more() -> None:
    found = halves([0.0, 0.2, 0.05, 0.15, 0.1], 0.5)
    checks = found.rows[0].checks
    assert checks.faster is not None
    assert checks.faster.ratio == pytest.approx(math.exp(0.1))
    (line,) = [line for line in lines(found) if "faster half" in line]
    assert line.startswith("one on w: over the faster half of each side's turns 1.105 [")
    assert json.loads(text(values.run(found)))["rows"][0]["checks"]["faster"]["ratio"] == pytest.approx(math.exp(0.1))


def test_where_it_says_hardly_more_or_is_not_recorded_nothing_is_said() -> None:
    for found in (halves([0.0, 0.2, 0.05, 0.15, 0.1], 0.9), result(made([[0.0], [0.2], [0.1]]))):
        assert found.rows[0].checks.faster is None
        assert not any("faster half" in line for line in lines(found))


def test_invalid_starts_are_told_by_side() -> None:
    piece = Piece().contest().starts([0.1, 0.11]).starts([0.0, 0.0], invalid=HANGS)
    piece.starts([0.0], invalid="the hypervisor took 7% of the CPU (bound 5%); try at a quieter hour").starts([0.1])
    found = result(piece)
    assert (found.rows[0].checks.at_fault, found.rows[0].checks.hung) == ({"one": 2}, {"one": 2})
    assert "one on w: invalid starts by the side at fault: one 2 (it hung: one 2)" in lines(found)
    assert not any("candidates'" in line for line in lines(found)), "two are too few to say whose faults they are"
    assert json.loads(text(values.run(found)))["rows"][0]["checks"]["at_fault"] == {"one": 2}


def test_faults_that_concentrate_on_one_side_are_said_so() -> None:
    piece = Piece().contest().starts([0.1, 0.11]).starts([0.0] * 4, invalid=HANGS)
    piece.starts([0.0], invalid=HANGS.replace("one", "baseline"))
    assert "4 of 5 hangs are the candidates', and not in the ratios (docs/BIAS.md)" in lines(result(piece))
    other = Checks("one", {"baseline": 3}, {}, {"one": 2, "baseline": 2})
    assert concentration([other]) == [
        "3 of 3 faults that made starts invalid are the baselines', and not in the ratios (docs/BIAS.md)"
    ]


def test_a_field_says_whose_fault_it_was_whatever_the_reason_says() -> None:
    found = result(made(EQUAL).at_fault(2, "one"))
    assert found.rows[0].checks.excluded == {"one": 2}
    assert not any("excluded pairs by" in line for line in lines(found)), "two are usual"
    many = lines(result(made(EQUAL).at_fault(2, "one").at_fault(1, "one")))
    assert "one on w: excluded pairs by the side at fault: one 4" in many
    events = Piece().contest().starts([0.0], invalid=HANGS).made
    last = events[-1]
    assert isinstance(last.event, StartDone)
    told: list[Recorded[Event]] = [*events[:-1], replace(last, event=replace(last.event, at_fault=("baseline",)))]
    (checks,) = checks_of(ByType(told)).values()
    assert checks.at_fault == {"baseline": 1}


def test_the_field_is_left_out_of_valid_pairs_and_old_records_have_none() -> None:
    (read,) = [each.event for each in Piece().contest().starts([0.1]).made if isinstance(each.event, PairRead)]
    assert read.at_fault is None
    kind, body = encode(read)
    assert "at_fault" not in body
    assert decode(kind, body) == read
    blamed = replace(read, invalid="x", at_fault=("one",))
    assert decode(*encode(blamed)) == blamed


def test_totals_are_told_where_trimming_hides_something() -> None:
    """One start's candidate took a third more CPU in turns that its trimmed mean leaves out."""
    calm = [[0.10, 0.101, 0.099], [0.102, 0.101, 0.103], [0.098, 0.099, 0.097], [0.1, 0.1, 0.1]]
    found = result(made(calm, slower=1.3))
    totals = found.rows[0].checks.totals
    assert totals is not None
    assert totals.differs
    assert totals.trimmed == pytest.approx(math.exp(0.1), abs=0.001)
    assert totals.interval.ratio == pytest.approx(math.exp(0.1 - math.log(1.3) / 4), abs=0.001)
    assert totals.interval.low < totals.interval.ratio < totals.interval.high
    (line,) = [line for line in lines(found) if "by totals" in line]
    assert line.startswith("one on w: by totals 1.035 [")
    assert "where the same starts have 1.105 without their extreme turns and pairs" in line
    alike = result(made(calm))
    totals = alike.rows[0].checks.totals
    assert totals is not None
    assert not totals.differs
    assert not any("by totals" in line for line in lines(alike))


def test_a_drift_within_starts_is_told() -> None:
    drifting = result(made([[0.1, 0.104, 0.108], [0.2, 0.205, 0.209], [0.15, 0.154, 0.158], [0.1, 0.103, 0.107]]))
    drift = drifting.rows[0].checks.drift
    assert drift is not None
    assert drift.change == pytest.approx(0.008, abs=0.001)
    (line,) = [line for line in lines(drifting) if "drifts" in line]
    assert line.startswith("one on w: within a start the ratio drifts by +0.8")
    assert json.loads(text(values.run(drifting)))["rows"][0]["checks"]["drift"]["matters"] is True
    steady = result(made([[0.1, 0.104, 0.1], [0.2, 0.199, 0.2], [0.15, 0.152, 0.151]]))
    assert not any("drifts" in line for line in lines(steady))


def test_without_pairs_there_is_neither() -> None:
    events = Piece().contest().starts([0.1, 0.11, 0.1]).verdict().made
    checks = fold([each for each in events if not isinstance(each.event, PairRead)]).rows[0].checks
    assert checks.totals is None
    assert checks.drift is None, "one pair in a start tells nothing"
