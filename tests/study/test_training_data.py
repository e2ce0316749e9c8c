"""Data of loads that are measured and of loads that builds are trained on, which may have one name."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from burnish.bench.datasets import dataset_key
from burnish.catalogue import load
from burnish.engines.fake.engine import FakeEngine
from burnish.model.recipe import Recipe, Variant
from burnish.profiles.stages import Train
from burnish.program.built import Built
from burnish.record.events.builds import DatasetMade
from burnish.record.record import Record
from burnish.record.store import Entry, Store
from burnish.record.workbench import Bench
from burnish.study.builds import make
from burnish.study.builds.make import Maker
from burnish.study.workshop import workshop as workshops
from burnish.study.workshop.workshop import Workshop
from chains import chain

SPEC = load.engine("fake")
USUAL = load.workload(SPEC, "fake_mix")
MEASURED = replace(USUAL, parameters=(*(one for one in USUAL.parameters if one[0] != "bytes"), ("bytes", "8192")))
"""What a user's configuration file makes of a load: one name, other data."""


@pytest.fixture
def maker(tmp_path: Path, build_fake: Any) -> Iterator[Maker]:
    with closing(Record(tmp_path / "study", create=True)) as record:
        bench = Bench(record, tmp_path / "logs", Console(file=io.StringIO()))
        made = Maker(
            FakeEngine(SPEC), cast(Any, None), Store(tmp_path / "store"), record, bench, frozenset(), tmp_path,
            {"fake_mix": MEASURED}, "1", training={"fake_mix": USUAL}, tools=build_fake(),
        )  # fmt: skip
        yield made


def test_a_load_is_measured_on_data_of_its_own_settings(maker: Maker, build_fake: Any) -> None:
    built: Built = build_fake()
    maker._prepare_data(built)
    assert maker.data["fake_mix"].key == dataset_key(SPEC, "1", MEASURED)
    keys = [each.event.key for each in maker.record.events(DatasetMade)]
    assert keys == [dataset_key(SPEC, "1", one) for one in (MEASURED, USUAL)]
    assert {entry.key for entry in maker.store.entries("datasets")} == set(keys)


def test_a_training_that_comes_later_has_its_data(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search names a load of one's own when it comes to train on it."""
    given: dict[str, Entry] = {}

    class Trainer:
        def __init__(self, _builder: object, trained: dict[str, Any], data: dict[str, Entry], *_: object) -> None:
            assert list(trained) == ["mine.lua#c548"]
            given.update(data)

        def train(self, *_: object) -> Entry:
            return Entry("profiles", "key", Path(), {}, 0.0)

    monkeypatch.setattr(make, "Trainer", Trainer)
    monkeypatch.setattr(make, "_short", lambda _: {})
    own = replace(USUAL, name="mine.lua", parameters=(("bytes", "1000"),))
    maker.training["mine.lua#c548"] = own
    (stage,) = (one for one in chain(Recipe(pgo=True)) if isinstance(one, Train))
    maker._perform(replace(stage, training=(("mine.lua#c548", 1.0),)), "v")
    assert given["mine.lua"].key == dataset_key(SPEC, "1", own)


def test_a_search_trains_without_the_users_configuration_file(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    found = SimpleNamespace(variant=Variant("v", Recipe(pgo=True, training=(("fake_low", 1.0),)), "why"), missing=None)
    monkeypatch.setattr(workshops, "chains_of", lambda *_, **__: {"v": found})
    monkeypatch.setattr(workshops, "replicate_names", lambda name, _: [name])
    measured = replace(load.workload(SPEC, "fake_low"), settings=(("work_percent", "200"),))
    maker.builder = cast(Any, SimpleNamespace(source=Path("/source")))
    maker.workloads["fake_low"] = measured
    workshop = SimpleNamespace(
        maker=maker, chains={}, source_digest="s", study=SimpleNamespace(replicates=None),
        session=SimpleNamespace(home=None, store=None, spec=SPEC, workloads=(measured,)),
    )  # fmt: skip
    Workshop.find_chains(cast(Workshop, workshop), ["v"])
    assert maker.training["fake_low"].settings == load.workload(SPEC, "fake_low").settings != measured.settings
    assert maker.workloads["fake_low"] is measured
