"""Which build a variant's name means, where a run has several of each variant."""

from __future__ import annotations

from contextlib import closing

import pytest

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.model.cell import BuildId
from burnish.record.events.builds import BuildMade, VariantSettled
from burnish.record.events.study import StudyBegun
from burnish.record.record import Record
from burnish.record.store import Store
from burnish.study.kept.reproducing import find

RECIPE = {"cxx": "-O3"}


@pytest.fixture
def home() -> Home:
    return paths.home()


def put(home: Home, run: str, *replicates: int) -> None:
    """A run with these builds of the variant `quick`; their keys are RUN-NUMBER."""
    store = Store(home.store)
    with closing(Record(home.studies / run, create=True)) as record:
        record.append(StudyBegun(run, {"verb": "tune", "recipes": {"quick": RECIPE}}))
        record.append(VariantSettled("quick", reason="as its author says"))
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
