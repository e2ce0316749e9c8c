"""What makes a build again that is no longer kept: the run's own command, or the recipe of a search's build."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.model.cell import BuildId
from burnish.model.sittings import Schedule
from burnish.record.events.builds import BuildMade
from burnish.record.events.searches import SearchTold
from burnish.record.events.study import Call, SessionBegun, StudyBegun, StudyFinished
from burnish.record.record import Record
from burnish.study.kept.lost import makes_again
from burnish.study.kept.reproducing import find


@pytest.fixture
def home() -> Home:
    return paths.home()


def told(variant: str) -> SearchTold:
    """A step of a search with this build."""
    recipe = {"level": "-O3", "pgo": True}
    return SearchTold(1, variant, {}, "screen", "", 3, False, {"w": (0.2,)}, 10.0, 60.0, recipe=recipe)


def run(home: Home, words: Sequence[str], folder: str, *, finished: bool = True) -> Path:
    """A run of these words, with the build `quick` of its request and the build `search-07` of a search's own."""
    place = home.studies / "fake-tune-1"
    with closing(Record(place, create=True)) as record:
        definition = {"verb": "tune", "engine": "fake", "recipes": {"quick": {"level": "-O3"}}}
        record.append(StudyBegun(place.name, definition))
        call = Call(tuple(words), folder, Schedule(1, 7200.0)) if words else None
        record.append(SessionBegun({}, resumed=False, call=call))
        for variant in ("quick", "search-07"):
            record.append(told(variant))
            record.append(BuildMade(BuildId(variant), f"key-{variant}", {}))
        if finished:
            record.append(StudyFinished())
    return place


def test_a_lost_build_names_the_recorded_command(home: Home) -> None:
    here = str(Path.cwd())
    run(home, ["tune", "fake", "--recipes", "my own.toml", "--fresh"], here)
    with pytest.raises(UserError) as error:
        find(home, "quick")
    assert str(error.value) == (
        "quick: its build is no longer in the store; `burnish tune fake --recipes 'my own.toml' --fresh` "
        "makes it again, as in run fake-tune-1"
    )


def test_a_command_of_another_folder_says_where(home: Home) -> None:
    place = run(home, ["tune", "fake"], "/elsewhere", finished=False)
    assert makes_again(place, "quick") == "`burnish tune fake` in /elsewhere makes it again, as in run fake-tune-1"


def test_a_searchs_own_build_is_made_again_by_its_recipe(home: Home) -> None:
    says = makes_again(run(home, ["tune", "fake", "--budget", "3h"], "/elsewhere"), "search-07")
    assert says.startswith("`burnish tune fake --recipes FILE --variant search-07` makes it again, with the line ")
    line = says.partition("with the line ")[2].removesuffix(" in FILE")
    assert tomllib.loads(line)["search-07"]["recipe"] == {"level": "-O3", "pgo": True}
    assert len(says.splitlines()) == 1


def test_a_record_without_its_command_says_so(home: Home) -> None:
    says = makes_again(run(home, [], ""), "quick")
    assert says == "the command of run fake-tune-1 makes it again, which its record does not have"
