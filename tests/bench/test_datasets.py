"""Keys of data sets: which of them may stand for one another."""

from __future__ import annotations

from dataclasses import replace

from burnish.base.digest import digest_of
from burnish.bench.datasets import dataset_key
from burnish.catalogue import load

FAKE = load.engine("fake")
LOAD = load.workload(FAKE, "fake_mix")


def test_data_that_an_engine_made_another_way_are_not_used() -> None:
    key = dataset_key(FAKE, "1", LOAD)
    assert key == digest_of([FAKE.name, "1", LOAD.dataset, sorted(LOAD.data_parameters())]), "that of existing data"
    revised = [dataset_key(replace(FAKE, data_revision=number), "1", LOAD) for number in (2, 3)]
    assert len({key, *revised}) == 3


def test_postgresqls_data_of_before_its_repairs_are_not_used() -> None:
    """Version 18's had page checksums under the name of those without, and any may be of a server that crashed."""
    spec = load.engine("postgresql")
    workload = load.workload(spec, "select_only")
    assert dataset_key(spec, "18.1", workload) != dataset_key(replace(spec, data_revision=1), "18.1", workload)
