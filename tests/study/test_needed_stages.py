"""A build whose profiles are there is not made again, whatever became of the build that wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from burnish.builds.sharing import kept_as, outdated
from burnish.builds.stages import Bolt, Stage
from burnish.model.recipe import Recipe, Variant
from burnish.profiles.stages import Merge, Train
from burnish.record.store import MADE_WITH, Store
from burnish.study.builds.make import Maker
from burnish.study.builds.resolving import Chain
from burnish.study.planning.forecast import plan_of
from chains import CLANG, SPEC
from chains import chain as made_of


@pytest.mark.parametrize(
    ("gone", "made"),
    [
        ({"instrumented", "BOLT instrumentation", "BOLT"}, ["BOLT"]),
        ({"instrumented", "training", "with profile"}, ["instrumented", "training", "with profile"]),
        ({"instrumented", "training"}, []),
        ({"instrumented", "training", "BOLT instrumentation", "BOLT training"}, []),
        ({"instrumented", "with profile"}, ["with profile"]),
    ],
)
def test_what_only_a_training_ran_is_made_for_a_training_alone(
    gone: set[str], made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe(toolchain="clang", pgo=True, bolt=True)
    chain = Chain(Variant("both", recipe, "a reason that is long enough"), made_of(recipe, "both", tools=CLANG))
    store = Store(tmp_path)
    for stage in chain.stages:
        if stage.title not in gone:
            store.begin(kept_as(stage), stage.key)
            store.admit(kept_as(stage), stage.key, {})
    anything = cast(Any, None)
    maker = Maker(anything, anything, store, anything, anything, frozenset(), tmp_path, {}, "1")
    done: list[str] = []
    monkeypatch.setattr(maker, "_make_stage", lambda stage, name: done.append(stage.title))
    monkeypatch.setattr(maker, "_say_late", lambda *_: None)
    maker.make_up_to(chain.stages[-1], chain)
    assert done == made


class Trained:
    """A store whose trainings never give the same counts twice, and what was made in it."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store, self.place, self.monkeypatch = Store(place), place, monkeypatch
        self.done: list[str] = []
        self.trainings = 0

    def add(self, stage: Stage) -> None:
        """Keeps what a stage makes, with the profiles that it is made with, as those who make it do."""
        made_with: dict[str, str] = {}
        if isinstance(stage, Merge):
            parts = [("profiles", key) for key, _ in stage.parts]
        else:
            build, profile = getattr(stage, "build", None), getattr(stage, "profile", None)
            parts = [(kind, key) for kind, key in (("builds", build), ("profiles", profile)) if key is not None]
        for kind, key in parts:
            assert self.store.has(kind, key), f"{stage.title} without what it is made from"
            made_with |= self.store.made_with(kind, key)
        if isinstance(stage, Train | Merge):
            self.trainings += 1
            made_with |= {stage.key: f"counts {self.trainings}"}
        self.store.begin(kept_as(stage), stage.key)
        self.store.admit(kept_as(stage), stage.key, {MADE_WITH: made_with})

    def make(self, chain: Chain) -> list[str]:
        """The titles of the stages that a run makes for a chain."""
        anything = cast(Any, None)
        maker = Maker(anything, anything, self.store, anything, anything, frozenset(), self.place, {}, "1")
        done: list[str] = []

        def made(stage: Stage, name: str) -> None:
            self.add(stage)
            done.append(stage.title)

        self.monkeypatch.setattr(maker, "_make_stage", made)
        self.monkeypatch.setattr(maker, "_say_late", lambda *_: None)
        maker.make_up_to(chain.stages[-1], chain)
        return done

    def planned(self, chain: Chain) -> list[str]:
        """The titles of the stages that a plan says a run would make."""
        plan = plan_of([chain], spec=SPEC, store=self.store, source=None, workloads=())
        return [step.title for step in plan.ahead if step.title != "gate"]

    def clean(self, chain: Chain, *titles: str) -> None:
        gone = {stage.key for stage in chain.stages if stage.title in titles}
        for entry in list(self.store.entries("builds", "profiles")):
            if entry.key in gone:
                self.store.remove(entry)


def chain_of(**recipe: Any) -> Chain:
    made = Recipe(toolchain="clang", **{"pgo": True, **recipe})
    return Chain(Variant("both", made, "a reason that is long enough"), made_of(made, "both", tools=CLANG))


BOLTED = ["BOLT instrumentation", "BOLT training", "BOLT"]
FIRST = ["instrumented", "training"]
SECOND = ["instrumented again", "second training", "both rounds, merged", "with profile"]


@pytest.mark.parametrize(
    ("recipe", "gone", "made"),
    [
        ({"bolt": True}, [*FIRST, "with profile", "BOLT"], [*FIRST, "with profile", *BOLTED]),
        ({"bolt": True}, ["training", "with profile", *BOLTED[:1], "BOLT"], ["training", "with profile", *BOLTED]),
        ({"bolt": True}, [*FIRST, "with profile"], [*FIRST, "with profile"]),
        ({"bolt": True}, [*FIRST, "BOLT"], ["BOLT"]),
        ({"bolt": True}, ["instrumented", "with profile", "BOLT"], ["with profile", "BOLT"]),
        ({"context_sensitive": True}, [*FIRST, *SECOND[2:]], [*FIRST, *SECOND]),
        ({"context_sensitive": True}, [*FIRST, *SECOND[:1], SECOND[3]], ["with profile"]),
    ],
)
def test_a_profile_of_a_program_that_came_out_otherwise_is_trained_anew(
    recipe: dict[str, bool], gone: list[str], made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain, trained = chain_of(**recipe), Trained(tmp_path, monkeypatch)
    trained.make(chain)
    trained.clean(chain, *gone)
    assert trained.planned(chain) == made
    assert trained.make(chain) == made
    assert trained.planned(chain) == trained.make(chain) == []


def test_a_profile_of_a_former_program_is_known_in_a_later_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program was made anew for a study without BOLT: the one with BOLT finds nothing missing but its own."""
    plain, chain, trained = chain_of(), chain_of(bolt=True), Trained(tmp_path, monkeypatch)
    trained.make(chain)
    trained.clean(chain, *FIRST, "with profile", "BOLT")
    assert trained.make(plain) == [*FIRST, "with profile"]
    assert trained.planned(chain) == BOLTED
    assert trained.make(chain) == BOLTED


def test_one_study_trains_anew_for_all_its_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan of two chains knows that one of them has trained anew what the other is made from."""
    twice, plain, trained = chain_of(context_sensitive=True), chain_of(), Trained(tmp_path, monkeypatch)
    trained.make(twice)
    trained.clean(twice, *FIRST)
    assert outdated([twice.stages], trained.store.has, trained.store.made_with) == frozenset()
    unfit = outdated([plain.stages, twice.stages], trained.store.has, trained.store.made_with)
    again = {stage.key for stage in twice.stages if stage.title in SECOND[:3]}
    assert unfit == again, "the program that is measured stays"


def test_what_older_versions_made_is_taken_as_it_is(tmp_path: Path) -> None:
    chain, store = chain_of(bolt=True), Store(tmp_path)
    for stage in chain.stages:
        if not (isinstance(stage, Bolt) and stage.profile):
            store.begin(kept_as(stage), stage.key)
            store.admit(kept_as(stage), stage.key, {})
    assert outdated([chain.stages], store.has, store.made_with) == frozenset()
