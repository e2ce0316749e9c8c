"""What scripts that take starts of their own begin with: an engine, one of its loads, and the data of that load."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from burnish.base.paths import home
from burnish.bench import datasets
from burnish.bench.host import read_host
from burnish.bench.topology import duet_core_sets
from burnish.catalogue import load
from burnish.engines.contract import Engine
from burnish.engines.registry import create
from burnish.model.engine import EngineSpec
from burnish.model.workload import Workload
from burnish.program.built import Built
from burnish.record.store import Store
from burnish.record.workbench import Bench
from burnish.study.trials.copies import Copies


@dataclass(frozen=True)
class Prepared:
    """A load that starts can be taken of.

    Attributes:
        spec: the engine's entry in the catalogue.
        engine: the engine.
        workload: the load.
        built: the program that made the data.
        core_sets: two core sets.
        folder: private folder.
        bench: its processes; they are not recorded.
        copies: the sides' copies of the data, in `folder`.
    """

    spec: EngineSpec
    engine: Engine
    workload: Workload
    built: Built
    core_sets: tuple[frozenset[int], frozenset[int]]
    folder: Path
    bench: Bench
    copies: Copies


def prepare(engine: str, workload: str, program: Path, folder: Path) -> Prepared:
    """Finds a load by name and its data in Burnish's store, where they are made if need be.

    Ends the script where the host has no two core sets.
    """
    spec = load.engine(engine)
    made, found = create(spec), load.workload(spec, workload)
    sets = duet_core_sets(read_host())
    if sets is None:
        sys.exit("needs two cores")
    bench = Bench(None, folder / "logs", Console(stderr=True))
    built = made.existing(program)
    data = {}
    if found.dataset != "none":
        version = made.identity(built, bench).version
        data[found.name] = datasets.obtain(made, Store(home().store), built, built, version, found, bench)
    return Prepared(spec, made, found, built, sets, folder, bench, Copies(data, folder, bench))


def setting(word: str) -> tuple[str, str]:
    """Name and value of a server's setting."""
    name, equals, value = word.partition("=")
    if not (name and equals):
        sys.exit(f"{word!r}: a setting is NAME=VALUE")
    return name, value
