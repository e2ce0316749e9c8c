"""What a shell is offered, through the program as a shell calls it and by each kind of name."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

from burnish.base import paths
from burnish.catalogue import load
from burnish.catalogue.bundled import files as studies
from burnish.cli import completion
from burnish.cli.completion import one, several
from burnish.profiles.kept import give_name
from burnish.record.events.study import StudyBegun
from burnish.record.record import Record
from burnish.record.store import Store


def context(*args: str, **params: str) -> Any:
    return SimpleNamespace(params=params, args=list(args))


def offered(*words: str) -> list[str]:
    """What bash is offered for the last of these words."""
    env = os.environ | {
        "COMP_WORDS": " ".join(("burnish", *words)),
        "COMP_CWORD": str(len(words)),
        "_BURNISH_COMPLETE": "complete_bash",
    }
    done = subprocess.run(
        [sys.executable, "-m", "burnish"], env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_is_offered_verbs_options_and_names() -> None:
    assert offered("tun") == ["tune"]
    assert {"--workload", "--variant", "--help-all"} <= set(offered("tune", "--"))
    assert "--workloads" not in offered("tune", "--"), "old spellings are not taught"
    assert offered("tune", "fake", "--variant", "gcc-pgo,gcc-o") == [
        "gcc-pgo,gcc-o1",
        "gcc-pgo,gcc-o3",
        "gcc-pgo,gcc-os",
    ]
    mine = {name for owner, name in load.workloads() if owner == "fake"}
    assert set(offered("tune", "fake", "--workload", "fake_")) == {name for name in mine if name.startswith("fake_")}


def test_bash_is_shown_how() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "burnish", "--show-completion", "bash"],
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "_BURNISH_COMPLETE=complete_bash" in done.stdout
    assert done.stdout.strip().endswith(" burnish")


def test_names_of_the_catalogue() -> None:
    assert one(completion.engines)(context(), "") == list(load.engine_names())
    assert one(completion.designs)(context(), "d") == ["duet"]
    assert several(completion.workloads)(context("sqlite"), "") == sorted(
        n for e, n in load.workloads() if e == "sqlite"
    )
    every = {name for owner, name in load.workloads() if owner != "fake"}
    assert set(one(completion.workloads)(context(), "")) == every
    assert one(completion.bundled)(context(), "sun") == ["sun-2008"]
    rows = sorted(row.name for row in studies.study("sun-2008").rows)
    assert one(completion.rows)(context("sun-2008"), "") == one(completion.rows)(context(name="sun-2008"), "") == rows
    assert one(completion.rows)(context(), "") == []


def test_variants_of_ones_own_too(tmp_path: Any) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[gcc-mine]\nrecipe = { level = "-O3" }\n')
    assert "gcc-mine" in one(completion.variants)(context(recipes=str(own)), "gcc-")
    own.write_text("no TOML")
    assert one(completion.variants)(context(recipes=str(own)), "gcc-") == [], "it never fails"


def test_names_of_what_is_kept() -> None:
    home = paths.home()
    with closing(Record(home.studies / "fake-tune-1", create=True)) as record:
        record.append(StudyBegun("fake-tune-1", {}))
    store = Store(home.store)
    for kind in ("builds", "profiles"):
        for key in ("abc123", "def456"):
            store.begin(kind, key)
            store.admit(kind, key, {"engine": "fake"})
    give_name(store, "usual", "abc123")
    assert one(completion.runs)(context(), "fa") == ["fake-tune-1"]
    assert one(completion.builds)(context(), "") == ["abc123", "def456"]
    assert one(completion.profiles)(context(), "") == ["def456", "usual"]


@pytest.mark.parametrize("names", [completion.runs, completion.builds, completion.profiles])
def test_a_home_that_cannot_be_made_offers_nothing(monkeypatch: pytest.MonkeyPatch, names: completion.Names) -> None:
    monkeypatch.setenv("BURNISH_HOME", "/dev/null/home")
    assert one(names)(context(), "") == []
