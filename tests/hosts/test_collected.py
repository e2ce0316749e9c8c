"""What hosts give becomes one run, also when some were late, or are gone since."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from burnish.base.errors import InfrastructureError
from burnish.base.paths import Home
from burnish.hosts.asked import Outcome
from burnish.hosts.place import campaign
from burnish.hosts.run import collected
from burnish.record import exchange
from burnish.record.events.study import RecordsMerged
from burnish.record.record import Record
from pieces import Piece, packed, whole

ONE, TWO = ([0.10, 0.11, 0.09], [0.16, 0.15, 0.17])
EARLY = packed(whole("fake-tune-1", "one", 1, ONE).made)
LATE = packed(whole("fake-tune-2", "two", 2, TWO).made)
LESS = packed(whole("fake-tune-2", "two", 2, TWO[:1]).made)


class Calls:
    """Calls of one command in one home, and what they said."""

    def __init__(self, place: Path) -> None:
        self.home, self.said = Home(place), list[str]()

    def __call__(self, outcome: Outcome) -> list[str]:
        """The names of the runs that a call returns."""
        self.said.clear()
        begun = campaign(self.home, "0123456789abcdef", fresh=False)
        return [run.name for run in collected(self.home, outcome, begun, self.said.append, mergeable=True)]

    @property
    def runs(self) -> Sequence[str]:
        return sorted(run.name for run in self.home.studies.iterdir())

    def starts(self, run: str) -> list[int]:
        with closing(Record(self.home.studies / run)) as record:
            merged = record.last(RecordsMerged)
        assert merged is not None
        return [host.starts for host in merged.event.hosts]


@pytest.fixture
def calls(tmp_path: Path) -> Calls:
    return Calls(tmp_path)


def test_the_run_of_a_call_that_a_host_had_not_finished_makes_room_for_the_whole_one(calls: Calls) -> None:
    assert calls(Outcome({"one": EARLY}, failed={"two": "no host that can do it came"})) == ["fake-tune-1"]
    assert calls.said == ["two: not finished; the same command goes on"]
    (partly,) = calls(Outcome({"one": EARLY, "two": LESS}, unfinished=["two"]))
    assert (calls.runs, calls.starts(partly)) == ([partly], [3, 1])
    assert calls.said[0] == f"fake-tune-1: was of an earlier call of this command; {partly} has all of it"
    (whole_one,) = calls(Outcome({"one": EARLY, "two": LATE}))
    assert (calls.runs, calls.starts(whole_one)) == ([whole_one], [3, 3])
    assert calls(Outcome({"one": EARLY})) == ["fake-tune-1"], "the same command begins another run"
    assert calls.runs == sorted([whole_one, "fake-tune-1"]), "of which the finished one is no part"


def test_a_host_that_is_gone_in_the_next_call_counts_as_it_was(calls: Calls) -> None:
    calls(Outcome({"one": EARLY, "two": LESS}, unfinished=["two"]))
    (run,) = calls(Outcome({"two": LATE}, failed={"one": "no host that can do it came"}))
    assert calls.starts(run) == [3, 3]
    assert calls.said == [
        "one: as an earlier call of this command had it",
        "one: not finished; the same command goes on",
    ]


@pytest.mark.parametrize("late", [Outcome({"one": EARLY, "two": LESS}, unfinished=["two"]),
                                  Outcome({"one": EARLY}, failed={"two": "no host that can do it came"})])  # fmt: skip
def test_a_host_that_had_not_finished_and_is_off_in_the_next_call_is_waited_for(calls: Calls, late: Outcome) -> None:
    """That call asks the hosts that are there: it knows neither a reason nor a part of the one that is off."""
    calls(late)
    calls(Outcome({"one": EARLY}))
    assert calls.said[-1] == "two: not finished; the same command goes on"
    (run,) = calls(Outcome({"one": EARLY, "two": LATE}))
    assert (calls.runs, calls.starts(run)) == ([run], [3, 3]), "still the same run"
    assert not campaign(calls.home, "0123456789abcdef", fresh=False).resumed, "which is closed now"


def test_a_call_without_a_result_keeps_who_has_not_finished(calls: Calls) -> None:
    with pytest.raises(InfrastructureError, match="no host has a result: two: no answer"):
        calls(Outcome(failed={"two": "no answer"}))
    calls(Outcome({"one": EARLY}))
    assert calls.said == ["two: not finished; the same command goes on"]


def test_that_new_runs_were_asked_for_is_known_to_later_calls(calls: Calls) -> None:
    """A host that was off in the first call would else go on with a run of before, in its old sittings."""
    campaign(calls.home, "0123456789abcdef", fresh=True)
    calls(Outcome({"one": EARLY}, failed={"two": "no host that can do it came"}))
    resumed = campaign(calls.home, "0123456789abcdef", fresh=False)
    assert (resumed.resumed, resumed.fresh, resumed.open) == (True, True, ("two",))
    calls(Outcome({"one": EARLY, "two": LATE}))
    assert not campaign(calls.home, "0123456789abcdef", fresh=False).fresh


def test_a_host_without_a_finished_start_does_not_keep_the_others_from_being_merged(calls: Calls) -> None:
    nothing = packed(Piece("fake-tune-3", "three", 3).contest().made)
    (run,) = calls(Outcome({"one": EARLY, "three": nothing, "two": LATE}, unfinished=["three"]))
    assert calls.starts(run) == [3, 3]
    assert calls.said == [
        "three: has no finished start; the others are merged without it",
        "three: not finished; the same command goes on",
    ]


def test_a_file_that_cannot_be_read_is_passed_over_with_a_line(calls: Calls) -> None:
    calls(Outcome({"one": EARLY}, unfinished=["two"]))
    (file,) = (calls.home.root / "hosts/results").glob("*/one.jsonl.xz")
    file.write_bytes(EARLY[:-9])
    assert calls(Outcome({"two": LATE}, failed={"one": "no answer"})) == ["fake-tune-2"]
    assert calls.runs == ["fake-tune-1", "fake-tune-2"], "what an earlier call had of it stays"
    assert str(file) in calls.said[0]
    assert calls.said[0].endswith("; its host is left out")
    file.with_name("two.jsonl.xz").unlink()
    with pytest.raises(InfrastructureError, match="no host has a result"):
        calls(Outcome({"one": EARLY[:-9]}))


def test_runs_that_two_hosts_began_in_one_second_both_come(calls: Calls) -> None:
    """Of a verb whose runs are not merged; one of the hosts is this machine."""
    own, other = whole("fake-tune-1", "one", 1, ONE).made, packed(whole("fake-tune-1", "two", 2, TWO).made)
    begun = campaign(calls.home, "0123456789abcdef", fresh=False)
    with closing(Record(calls.home.studies / "fake-tune-1", create=True)) as record:
        record.restore(map(exchange.line_of, own))
    both = Outcome({"one": packed(own), "two": other})
    for _ in range(2):
        runs = collected(calls.home, both, begun, calls.said.append, mergeable=False)
        assert sorted(run.name for run in runs) == ["fake-tune-1", "fake-tune-1-two"]
    assert calls.runs == ["fake-tune-1", "fake-tune-1-two"]


def test_a_run_that_was_measured_here_stays(calls: Calls) -> None:
    here = calls.home.studies / "fake-tune-1"
    with closing(Record(here, create=True)) as record:
        record.append(whole("fake-tune-1", "one", 1, ONE).made[0].event)
    assert calls(Outcome({"one": EARLY}, unfinished=["two"])) == ["fake-tune-1"]
    (run,) = calls(Outcome({"one": EARLY, "two": LATE}))
    assert calls.runs == sorted(["fake-tune-1", run])
