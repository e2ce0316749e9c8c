"""Which build a variant's name means, where a run has several of each variant."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.builds import witness
from burnish.model.cell import BuildId
from burnish.record.events.builds import BuildFailed, BuildMade, VariantSettled
from burnish.record.events.study import StudyBegun
from burnish.record.record import Record
from burnish.record.store import Store
from burnish.study.kept.reproducing import collect, find

RECIPE = {"cxx": "-O3"}


@pytest.fixture
def home() -> Home:
    return paths.home()


def put(home: Home, run: str, *replicates: int, failure: str | None = None) -> None:
    """A run with these builds of the variant `quick`; their keys are RUN-NUMBER."""
    store = Store(home.store)
    with closing(Record(home.studies / run, create=True)) as record:
        record.append(StudyBegun(run, {"verb": "tune", "recipes": {"quick": RECIPE}}))
        record.append(VariantSettled("quick", reason="as its author says", failure=failure))
        for number in replicates:
            store.begin("builds", f"{run}-{number}")
            store.admit("builds", f"{run}-{number}", {})
            record.append(BuildMade(BuildId("quick", number), f"{run}-{number}", {}))


def test_a_variant_with_replicates_alone_is_found_by_its_name(home: Home) -> None:
    put(home, "layouts", 1, 2, 3)
    found = find(home, "quick", "layouts")
    assert (found.entry.key, found.variant) == ("layouts-1", "quick")
    assert (found.recipe, found.reason) == (RECIPE, "as its author says")
    second = find(home, "quick#2", "layouts")
    assert (second.entry.key, second.variant, second.recipe) == ("layouts-2", "quick#2", RECIPE)


def test_other_link_orders_afterwards_do_not_stand_for_the_build(home: Home) -> None:
    put(home, "relinked", 0, 1, 2)
    assert find(home, "quick", "relinked").entry.key == "relinked-0"
    store = Store(home.store)
    kept = store.find("builds", "relinked-0")
    assert kept is not None
    store.remove(kept)
    with pytest.raises(UserError, match=r"quick: its build is no longer in the store"):
        find(home, "quick", "relinked")


def test_a_build_that_failed_says_so(home: Home) -> None:
    put(home, "gated", 0, failure="2 of 4 tests failed")
    assert find(home, "quick", "gated").failure == "2 of 4 tests failed"
    put(home, "passed", 0)
    assert find(home, "quick", "passed").failure == ""
    with closing(Record(home.studies / "passed")) as record:
        record.append(BuildFailed(BuildId("broken"), "compile: error"))
    with pytest.raises(
        UserError, match=r"^broken: its build failed in run passed; `burnish show passed --full` says why$"
    ):
        find(home, "broken")


def test_a_reproducer_is_not_written_over_a_file(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home, "passed", 0)
    monkeypatch.setattr(witness, "read", lambda about: object())
    (tmp_path / "script").touch()
    with pytest.raises(UserError, match=r"^--output .*/script: is a file; name a new folder$"):
        collect(home, find(home, "quick"), tmp_path / "script")
