"""What a search takes from earlier runs: of this home, of other hosts, of bundled studies; none of it is a verdict."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.space import space_file
from burnish.model.cell import CellId
from burnish.record.events import Event
from burnish.record.events.searches import PriorTaken, SearchBegun, SearchEnded, SearchTold
from burnish.record.events.study import MergedHost, RecordsMerged, SessionBegun, StudyBegun, StudyFinished
from burnish.record.events.verdicts import Interval, VerdictReached
from burnish.record.record import Record
from burnish.report.answer import search as report
from burnish.report.render.markdown import markdown
from burnish.report.sections.plan import document
from burnish.search.space import Point, Step
from burnish.study.constructors.bundled import bundled_study
from burnish.study.constructors.tune import tune_study
from burnish.study.extras.foreseen import foreseen, head_of
from burnish.study.kept import runs
from burnish.study.planning.study_plan import plan_of
from burnish.study.request import prior
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name
from burnish.study.study import SearchRequest
from spaces import choice, rung, speed, written
from studying import FAR, QUICK, burnish, text

HERE = "this machine"

SPACE = (
    speed(expected=5.0, slow=25, fast=400),
    choice(
        "nothing",
        "Known truth: it changes nothing that counts, and is known to be good all the same.",
        expected=5.0,
        yes="FAKE_LOW=101",
    ),
    rung("nothing", "The ladder's own build, so that the best one is not on it.", nothing="yes"),
)


@pytest.fixture
def home(burnish_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(prior, "read_host", lambda **_: SimpleNamespace(machine=HERE))
    return burnish_home


def kept(home: Path, name: str, *events: Event) -> None:
    with contextlib.closing(Record(home / "studies" / name, create=True)) as record:
        for event in events:
            record.append(event)


def tuned(
    name: str, gains: Mapping[str, float], load_: str = "oltp_read_only", **more: Any
) -> tuple[StudyBegun, *tuple[VerdictReached, ...]]:
    """The record of a `tune` of catalogue variants on MariaDB."""
    names = ["baseline", *gains]
    recipes = {one: load.variant(one).recipe.as_dict() for one in names}
    begun = StudyBegun(name, {"verb": "tune", "engine": "mariadb", "variants": names, "recipes": recipes, **more})
    return (begun, *(verdict(CellId(one, load_), ratio) for one, ratio in gains.items()))


def verdict(cell: CellId, ratio: float, quantity: str = "capacity") -> VerdictReached:
    interval = Interval(ratio, ratio - 0.005, ratio + 0.005, 0.95)
    return VerdictReached(cell, "duet", quantity, "transaction", "faster", "", {quantity: interval}, 8)


def asked(*names: str, **more: Any) -> SearchRequest:
    options = Options(strategy="default", workloads=("oltp_read_only",), prior=names, **more)
    search = tune_study("mariadb", options).search
    assert search is not None
    return search


def test_finished_tunes_of_this_home_say_what_is_tried_first(home: Path) -> None:
    plain = asked()
    assert (plain.prior, plain.taken) == ((), PriorTaken())
    gains = {"gcc-pgo": 1.2, "no-frame-pointers": 1.03, "static-full": 1.1}
    kept(home, "mine", *tuned("mine", gains), SessionBegun({"machine": HERE}), StudyFinished())
    kept(home, "open", *tuned("open", {"gcc-o3": 1.3}), SessionBegun({"machine": HERE}))
    kept(home, "other", StudyBegun("other", {"verb": "tune", "engine": "fake"}), StudyFinished())
    search = asked()
    assert search.prior == ("mine",)
    assert (search.taken.near, search.taken.elsewhere) == (2, 0), "of static-full the space knows nothing"
    assert search.taken.first == ("gcc-pgo",)
    assert search.space.known_good[0] == plain.space.rungs["gcc-pgo"]
    assert search.space.choice("frame-pointers").expected > 2.0 * plain.space.choice("frame-pointers").expected
    assert asked("home").taken == search.taken
    assert asked("none").space == plain.space
    with pytest.raises(UserError, match="--prior none,mine: none stands alone"):
        asked("none", "mine")


def test_another_host_or_load_weighs_less(home: Path) -> None:
    def of(machine: str, load_: str) -> SearchRequest:
        name = f"{machine}-{load_}".replace(" ", "-")
        kept(home, name, *tuned(name, {"no-frame-pointers": 1.03}, load_), SessionBegun({"machine": machine}))
        return asked(name)

    near, host, other = of(HERE, "oltp_read_only"), of("elsewhere", "oltp_read_only"), of(HERE, "oltp_insert")
    assert [(one.taken.near, one.taken.elsewhere) for one in (near, host, other)] == [(1, 0), (0, 1), (0, 1)]
    sizes = [one.space.choice("frame-pointers").expected for one in (near, host, other)]
    assert sizes[0] > sizes[1] == sizes[2] > asked("none").space.choice("frame-pointers").expected
    merged = RecordsMerged((MergedHost("A", "a", {"machine": HERE}, 8), MergedHost("B", "b", {"machine": "x"}, 8)), ())
    kept(home, "merged", *tuned("merged", {"no-frame-pointers": 1.03}), merged)
    assert asked("merged").taken.elsewhere == 1, "of several hosts"


def test_results_for_another_quantity_are_not_taken(home: Path) -> None:
    kept(home, "work", *tuned("work", {"gcc-pgo": 1.2}), SessionBegun({"machine": HERE}), StudyFinished())
    assert asked(objective="throughput").prior == ("work",)
    assert asked(objective="p99@300").prior == ()
    with pytest.raises(UserError, match="no verdict on builds that `burnish space mariadb` knows"):
        asked("work", objective="p99@300")


def test_a_bundled_studys_rows_are_known_by_the_catalogue(home: Path) -> None:
    study = bundled_study("mysql-manual", "mariadb", Asked(), Options())
    told = verdict(CellId("no-frame-pointers", "oltp_read_only", base="baseline"), 1.03)
    under_another = verdict(CellId("clang", "oltp_read_only", base="baseline", versus=("transport=tcp",)), 1.5)
    kept(home, "manual", StudyBegun("manual", study.definition.as_dict()), told, under_another)
    search = asked("manual")
    assert search.taken.elsewhere == 1
    assert list(search.taken.expected) == ["frame-pointers"]
    changed = {**study.definition.as_dict(), "recipes": {"rows": "of another version"}}
    kept(home, "older", StudyBegun("older", changed), told)
    with pytest.raises(UserError, match="no verdict on builds"):
        asked("older")


def test_a_search_goes_on_with_the_prior_that_it_began_with(home: Path) -> None:
    options = Options(strategy="default", workloads=("oltp_read_only",))
    kept(home, "mine", *tuned("mine", {"no-frame-pointers": 1.03}), SessionBegun({"machine": HERE}), StudyFinished())
    study = tune_study("mariadb", options)
    assert study.search is not None
    assert study.search.taken.first == ("earlier-1",)
    begun = SearchBegun("default", None, 1, study.search.digest, 1, 1, {}, 1.0, 1.0, 1.0, {"oltp_read_only": 1.0})
    begun = SearchBegun(**{**vars(begun), "prior": study.search.prior, "taken": study.search.taken})
    definition = study.definition
    kept(home, "under-way", StudyBegun("under-way", definition.as_dict(), definition.digest), begun)
    kept(home, "new", *tuned("new", {"gcc-pgo": 1.3}), SessionBegun({"machine": HERE}), StudyFinished())
    again = tune_study("mariadb", options)
    assert again.search is not None
    assert again.definition == definition
    assert again.search.space == study.search.space
    assert again.search.digest == begun.space
    assert again.variants.keys() == study.variants.keys() >= {"earlier-1"}
    fresh = tune_study("mariadb", Options(strategy="default", workloads=("oltp_read_only",), fresh=True)).search
    assert fresh is not None
    assert set(fresh.prior) == {"mine", "new"}


def test_a_plan_says_which_prior_a_search_takes(home: Path) -> None:
    def said(*names: str) -> str:
        options = Options(strategy="ladder", workloads=("oltp_read_only",), prior=names)
        study = tune_study("mariadb", options)
        planned = plan_of(paths.home(), study, by_name(study, Asked()), options)
        head = head_of(paths.home(), study, planned, options)
        assert head is not None
        shown = markdown(document(planned.builds, foreseen(head, options)))
        (line,) = [line for line in shown.splitlines() if "prior" in line]
        return line.removeprefix("* prior: ")

    here = "the finished runs of this home"
    assert said() == f"{here}; no result there is of use for this search"
    kept(home, "mine", *tuned("mine", {"gcc-pgo": 1.2}), SessionBegun({"machine": HERE}), StudyFinished())
    kept(home, "far", *tuned("far", {"no-frame-pointers": 1.3}), SessionBegun({"machine": "elsewhere"}))
    best = "measured first: gcc-pgo"
    assert said() == f"{here}: 1 earlier result of this host on these loads (mine); {best}"
    assert said("home", "far") == (
        f"{here}, far: 1 earlier result of this host on these loads and 1 of other hosts or loads (mine, far); {best}, "
        "earlier-1 (frame-pointers=none)"
    )
    assert said("none") == "none, as asked (--prior none)"
    study = tune_study("mariadb", Options(strategy="ladder", workloads=("oltp_read_only",)))
    assert study.search is not None
    costs = dict.fromkeys([step.word for step in Step], 1.0)
    begun = SearchBegun("ladder", None, 1, study.search.digest, 1, 1, costs, 1.0, 1.0, 1.0, {"oltp_read_only": 1.0})
    begun = replace(begun, prior=study.search.prior, taken=study.search.taken)
    kept(home, "open", StudyBegun("open", study.definition.as_dict(), study.definition.digest), begun)
    kept(home, "new", *tuned("new", {"gcc-o3": 1.3}), SessionBegun({"machine": HERE}), StudyFinished())
    found = "1 earlier result of this host on these loads (mine)"
    assert said() == f"{here}, as the interrupted run found them: {found}; {best}"


@pytest.mark.parametrize("engine", ["mariadb", "sqlite"])
def test_a_recipe_is_known_as_the_point_that_it_is_of(engine: str) -> None:
    file = space_file()
    space = file.for_engine(load.engine(engine))
    points = [*space.rungs.values(), Point()]
    points += [
        space.changed(rung, {choice.name: level})
        for rung in space.rungs.values()
        for choice in space.choices
        if choice.name != "training"  # whose levels stand for loads
        for level in choice.levels[1:]
    ]
    for point in points:
        assert file.point(file.recipe(point).as_dict()) == point, point.words
    assert file.point({"pgo": True, "profile": "kept"}) is None
    assert file.point({"static": "full"}) is None
    measured = space_file().trained_on(load.engine("mariadb"), {"oltp_insert": 1.0})
    trained = measured.point({"pgo": True, "training": [["oltp_insert", 1.0]]})
    assert trained is not None
    assert dict(trained.settings) == {"profile": "trained", "training": "measured"}


def test_a_report_says_what_was_taken_and_from_where() -> None:
    begun = SearchBegun("default", None, 1, "", 2, 4, {}, 1.0, 1.0, 1.0, {"w": 1.0})

    def said(near: int, elsewhere: int, *names: str) -> str:
        own = SearchBegun(**{**vars(begun), "prior": names, "taken": PriorTaken(near, elsewhere)})
        return report._asked(own)

    assert said(3, 5, "a", "b").endswith(
        "in the order of 3 earlier results of this host on these loads and 5 of other hosts or loads (a, b)"
    )
    assert said(1, 0, "a").endswith("in the order of 1 earlier result of this host on these loads (a)")
    assert said(0, 1, *"abcde").endswith("in the order of 1 earlier result of other hosts or loads (a, b, c, 2 more)")
    assert "order" not in said(0, 0)
    assert "order" not in said(0, 0, "a"), "of choices that the space lacks"


def test_a_search_tries_first_what_a_tune_in_the_same_home_found(burnish_home: Path, tmp_path: Path) -> None:
    """Without, the ladder has no such build; with it the store has it too, so that nothing is compiled."""
    own, space = tmp_path / "own.toml", written(tmp_path / "space.toml", *SPACE)
    own.write_text(FAR)
    few = ["--max-starts", "3", *QUICK]
    _, err = text(burnish("tune", "fake", "--recipes", own, "--variant", "speed400", *few))
    search = ["tune", "fake", "--space", space, "--strategy", "ladder", *few]
    out, more = text(burnish(*search))
    folder = runs.folders(paths.home())[-1]
    with contextlib.closing(Record(folder)) as record:
        told = [one.event for one in record.events(SearchTold)]
        begun, ended = record.last(SearchBegun), record.last(SearchEnded)
    assert begun is not None, err + more
    assert ended is not None, err + more
    taken = begun.event.taken
    assert taken is not None
    assert (taken.near, taken.first, taken.rungs) == (1, ("earlier-1",), {"earlier-1": {"speed": "fast"}})
    assert begun.event.kept["earlier-1"] < min(begun.event.steps.values())
    assert (told[0].variant, told[0].settings, told[0].making) == ("earlier-1", {"speed": "fast"}, 0.0)
    assert told[1].variant == "nothing"
    assert told[1].making > 0.0
    assert ended.event.settings == {"speed": "fast"}
    assert told[-1].fresh, "it is the winner by starts of its own"
    assert "in the order of 1 earlier result of this host on these loads" in " ".join(out.split())
