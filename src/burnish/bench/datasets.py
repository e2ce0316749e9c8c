"""Datasets: prepared once by the baseline, kept in the store, copied to each side, restored after writes."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from burnish.base.digest import digest_of
from burnish.base.errors import InfrastructureError
from burnish.base.workbench import Workbench
from burnish.engines.contract import MARKER, Engine
from burnish.model.engine import EngineSpec
from burnish.model.workload import Workload
from burnish.program.built import Built
from burnish.record.store import Entry, Store


def dataset_key(spec: EngineSpec, version: str, workload: Workload) -> str:
    """Key of a dataset: digest of the engine's version, the dataset's name, its parameters and shaping settings.

    A user's own data are loaded under all of the user's settings, of which any may decide what they become. The first
    revision of how an engine makes its data is in no key: data of before there was a number go on to be used.
    """
    settings = tuple(sorted(workload.settings)) if workload.own_data else workload.data_settings(spec.settings.shaping)
    shaping = [settings] if settings else []
    revision = [spec.data_revision] if spec.data_revision > 1 else []
    return digest_of([spec.name, version, workload.dataset, sorted(workload.data_parameters()), *shaping, *revision])


def obtain(
    engine: Engine,
    store: Store,
    built: Built,
    tools: Built,
    version: str,
    workload: Workload,
    bench: Workbench,
) -> Entry:
    """The workload's dataset from the store, prepared with `built` if it does not exist yet."""
    key = dataset_key(engine.spec, version, workload)
    entry = store.find("datasets", key)
    if entry is not None:
        return entry
    folder = store.begin("datasets", key)
    data = folder / "data"
    data.mkdir(mode=0o700)
    began = time.monotonic()
    engine.create_dataset(built, tools, workload, data, bench)
    if not (data / MARKER).is_file():
        (data / MARKER).write_text(f"{key}\n")
    seconds = time.monotonic() - began
    store.note_cost(engine.spec.name, "dataset", workload.dataset, seconds)
    return store.admit(
        "datasets",
        key,
        {
            "engine": engine.spec.name,
            "version": version,
            "dataset": workload.dataset,
            "parameters": dict(workload.data_parameters() + workload.data_settings(engine.spec.settings.shaping)),
            "seconds": seconds,
            **({"own": True} if workload.own_data else {}),  # a user's: it stays on this host
        },
    )


def copy(entry: Entry, place: Path, bench: Workbench) -> None:
    """Copies a dataset to `place` (by reflink if the file system supports it)."""
    if place.exists():
        if not (place / MARKER).is_file() and any(place.iterdir()):
            raise InfrastructureError(f"{place}: a data folder that is not ours; it is left as it is")
        shutil.rmtree(place)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    source = entry.folder / "data"
    bench.run("copy data", ["cp", "-a", "--reflink=auto", source, place]).check(f"copying the data to {place}")
    os.sync()  # the copy must not be written back while a trial is measured
