"""Which sittings a search's record asks for: its finalist's alone, and what another one of it records."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from burnish.model.cell import CellId, ComparisonId, Role
from burnish.model.sittings import Schedule, Spread
from burnish.record.events.bundled import ComparisonTried
from burnish.record.events.searches import FinalistOn, SearchBegun, SearchEnded
from burnish.record.events.study import SessionBegun, SpreadAssumed, StudyBegun
from burnish.record.events.trials import StartDone
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.study.comparison import Comparison
from burnish.study.extras import sitting
from burnish.study.kept.sittings import next_sitting, settled, sitting_due
from burnish.study.trials.schedule import sitting_readings
from burnish.study.trials.trials import Trials
from studying import aged

LOADS = ("mine", "backup")
BEGUN = SearchBegun("ladder", 7200.0, 1, "", 2, 6, {}, 10.0, 600.0, 10.0, {"mine": 1.0}, ("backup",))
ENDED = SearchEnded(
    "fast", "fast", (), 3, 1, "", (), (), {}, 0.0, 100.0,
    loads=(FinalistOn("mine", False, 1.0, 1.1, 1.09, 1.11), FinalistOn("backup", False, 0.0, 1.0, 0.99, 1.01)),
)  # fmt: skip
TWICE = Schedule(2, 1800.0)
ASKED = [Comparison(row, "", "", load, None, "baseline", row) for row in ("fast", "second", "broken") for load in LOADS]
ALL = {comparison.id for comparison in ASKED}


def cells(role: Role, candidate: str = "fast") -> list[CellId]:
    return [CellId(candidate, load, role) for load in LOADS]


def take(record: Record, wanted: Sequence[CellId], starts: int = 3) -> None:
    for cell in wanted:
        for start in range(starts):
            readings = {"capacity": 0.1 + 0.001 * start if cell.workload == "mine" else 0.0001 * start}
            record.append(StartDone(cell, start + 1, None, True, 1.0, "data", readings=readings))


def decide(record: Record, wanted: Sequence[CellId]) -> None:
    for cell in wanted:
        record.append(VerdictReached(cell, "duet", "capacity", "unit", "faster", "", {}, 3))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A search that is at its end: one candidate could not be built, another is not its finalist."""
    place = tmp_path / "run"
    with closing(Record(place, create=True)) as record:
        record.append(StudyBegun("run", {"verb": "tune", "engine": "fake"}))
        record.append(SessionBegun({"boot": "here"}))
        record.append(SpreadAssumed(Spread(0.002, 20.0, "elsewhere")))
        record.append(BEGUN)
        for candidate in ("second", "fast"):
            for cell in cells(Role.CLAIM, candidate):
                record.append(ComparisonTried(ComparisonId(candidate, load=cell.workload), cell))
            take(record, cells(Role.CLAIM, candidate))
        take(record, cells(Role.CONFIRMATION))
        decide(record, [*cells(Role.CLAIM, "second"), *cells(Role.CLAIM), *cells(Role.CONFIRMATION)])
    return place


def test_a_search_under_way_waits_for_no_sitting(folder: Path) -> None:
    with closing(Record(folder)) as record:
        assert next_sitting(record, TWICE, "here") is None
        assert not sitting_due(record, TWICE, "here")


def test_only_the_finalist_waits_for_another_sitting(folder: Path) -> None:
    with closing(Record(folder)) as record:
        record.append(ENDED)
        following = next_sitting(record, TWICE, "here")
        assert following is not None
        assert (following.number, following.of) == (2, 2)
        assert settled(record, TWICE, "here", ASKED) == ALL, "it is not due yet; nothing else is to be done"
        assert not sitting_due(record, TWICE, "here")
    aged(folder, 7200)
    with closing(Record(folder)) as record:
        assert sitting_due(record, TWICE, "here")
        open_ = ALL - settled(record, TWICE, "here", ASKED)
        assert open_ == {ComparisonId("fast", load=load) for load in LOADS}, "not one that failed, not the second best"
        take(record, cells(Role.CLAIM))
        assert sitting_due(record, TWICE, "here"), "killed before the confirmation"
        take(record, cells(Role.CONFIRMATION))
        assert not sitting_due(record, TWICE, "here")
        assert next_sitting(record, TWICE, "here") is None
        assert settled(record, TWICE, "here", ASKED) == ALL


def test_sittings_are_not_counted_by_a_claim_whose_starts_lie_all_over_the_search(folder: Path) -> None:
    """Half of the claim's starts an hour before the others: the search has had one sitting all the same."""
    aged(folder, 3600)
    with closing(Record(folder)) as record:
        take(record, cells(Role.CLAIM))
        take(record, cells(Role.CONFIRMATION))
        record.append(replace(ENDED))
        following = next_sitting(record, Schedule(3, 1800.0), "here")
        assert following is not None
        assert following.number == 3, "two of the confirmation"


def test_without_a_finalist_no_sitting_is_wanted(folder: Path) -> None:
    with closing(Record(folder)) as record:
        record.append(replace(ENDED, winner=None, finalist=None))
        assert next_sitting(record, TWICE, "here") is None


def test_another_sitting_takes_claim_and_confirmation_and_records_what_both_say(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Record(folder)) as record:
        record.append(ENDED)
    aged(folder, 7200)
    comparisons = [SimpleNamespace(candidate=name, load=load) for name in ("fast", "second") for load in LOADS]
    taken: list[CellId] = []

    def cell_of(comparison: Any, role: Role = Role.CLAIM) -> Any:
        return SimpleNamespace(id=CellId(comparison.candidate, comparison.load, role), headline="capacity")

    with closing(Record(folder)) as record:

        def sit(wanted: Sequence[CellId]) -> None:
            taken.extend(wanted)
            take(record, wanted)

        for name, value in {
            "needed": lambda *_: [],
            "trial_of": lambda _, comparison: SimpleNamespace(cell=cell_of(comparison)),
            "begin_trials": lambda *_: SimpleNamespace(sit_again=lambda these: sit([cell.id for cell in these])),
            "measure_again": lambda _, these: sit([cell_of(one, Role.CONFIRMATION).id for one in these]),
            "again": lambda cell, *_: SimpleNamespace(
                id=replace(cell.id, role=Role.CONFIRMATION), headline=cell.headline
            ),
        }.items():
            monkeypatch.setattr(sitting, name, value)
        session = SimpleNamespace(
            options=SimpleNamespace(schedule=TWICE),
            host=SimpleNamespace(boot="here"),
            bench=SimpleNamespace(say=lambda _: None),
        )
        workshop = SimpleNamespace(
            session=session,
            study=SimpleNamespace(comparisons=comparisons, confirmation=None),
            record=record,
            make_baseline=lambda: None,
            make=lambda _: None,
            cell=cell_of,
        )
        sitting.sit_again(cast("Any", workshop), ENDED)
        assert taken == [*cells(Role.CLAIM), *cells(Role.CONFIRMATION)]
        _, again = (recorded.event for recorded in record.events(SearchEnded))
        assert again.winner == "fast"
        assert again.path[-1] == "fast measured in 2 sittings: shown to be faster in another one"
        assert again.loads[0].ratio == pytest.approx(1.106, abs=0.001)
        fresh = cells(Role.CONFIRMATION)
        assert [[len(one[cell]) for cell in fresh] for one in sitting_readings(record, fresh, "capacity")] == [
            [3, 3]
        ] * 2
        sitting.sit_again(cast("Any", workshop), again)
        assert len(taken) == 4, "none is due any more"
        assert len(list(record.events(SearchEnded))) == 2
        sitting.sit_again(cast("Any", workshop), ENDED)
        assert len(taken) == 4
        *_, late = (recorded.event for recorded in record.events(SearchEnded))
        assert late == again, "killed after the last start, it is judged by all of them all the same"


def test_an_interrupted_sitting_takes_what_is_left_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aged(folder, 7200)
    with closing(Record(folder)) as record:
        mine, backup = cells(Role.CLAIM)
        take(record, [mine], 3)
        take(record, [backup], 1)
        runner = Trials(cast("Any", None), record, cast("Any", None), cast("Any", None), {}, {}, [], {}, folder, 1)
        runner.boot = "here"
        started: list[CellId] = []

        def start(_: Trials, together: Any, __: int) -> None:
            (cell,) = together
            started.append(cell.id)
            take(record, [cell.id], 1)

        monkeypatch.setattr(Trials, "_start", start)
        monkeypatch.setattr(Trials, "_close_sitting", lambda *_: None)
        monkeypatch.setattr("burnish.study.trials.trials.check_designs", lambda *_: None)
        runner.sit_again([cast("Any", SimpleNamespace(id=cell)) for cell in (mine, backup)])
        assert started == [backup, backup]
