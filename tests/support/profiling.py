"""Shops that make and train builds of the fake engine, for the tests of profiles."""

from __future__ import annotations

import io
import os
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from burnish.builds.builder import Builder
from burnish.builds.stages import Bolt, Compile, PackageFlags, Stage, stages
from burnish.builds.training import Trainer
from burnish.catalogue import load
from burnish.engines.fake.engine import FakeEngine
from burnish.model.recipe import Recipe, Variant
from burnish.profiles import kept, merging
from burnish.profiles.stages import Merge, Train
from burnish.record.store import Entry, Store
from burnish.record.workbench import Bench
from burnish.toolchain.toolchains import Toolchain
from conftest import FAKE_SOURCE

TRAINING = (("fake_mix", 0.6),)
RECIPES = {
    "gcc": Recipe(pgo=True),
    "clang": Recipe(toolchain="clang", pgo=True, lto="thin", link=("-fuse-ld=lld",)),
    "bolt": Recipe(bolt=True),
}
SHORT = (("fake_mix", 0.5),)
WEIGHTS = (("fake_mix", 2.0), ("fake_write", 1.0))


@dataclass
class Shop:
    """A store, a source of its own, and all that makes and trains builds of the fake engine."""

    root: Path
    toolchain: Toolchain
    builder: Builder = field(init=False)
    trainer: Trainer = field(init=False)

    def __post_init__(self) -> None:
        engine = FakeEngine(load.engine("fake"))
        source = self.root / "work/source"
        if not source.exists():
            shutil.copytree(FAKE_SOURCE, source)
        bench = Bench(None, self.root / "logs", Console(file=io.StringIO(), width=200))
        store = Store(self.root / "store")
        self.builder = Builder(engine, store, self.root / "work", source, bench, jobs=1)
        workload = load.workload(engine.spec, "fake_mix")
        data = store.begin("datasets", "fake") / "data"
        data.mkdir()
        built = engine.built("none", self.root, "none")
        engine.create_dataset(built, built, workload, data, bench)
        entry = store.admit("datasets", "fake", {})
        cores = frozenset(os.sched_getaffinity(0))
        scratch = self.root / "scratch"
        self.trainer = Trainer(self.builder, {"fake_mix": workload}, {"fake_mix": entry}, None, cores, scratch)

    def chain(self, kind: str, *flags: str) -> tuple[Stage, ...]:
        recipe = RECIPES[kind]
        return stages(
            Variant(kind, recipe, "for a test of training"),
            spec=self.builder.engine.spec,
            source="source",
            toolchain=self.toolchain,
            package=PackageFlags(("-O2", "-g", *flags), (), ()),
            features="full",
            with_tools=False,
            bolt=self.toolchain,
            profile_place=str(self.builder.profile_place),
            training=TRAINING,
        )

    def make(self, stage: Stage) -> Entry:
        if isinstance(stage, Compile):
            return self.builder.store.find("builds", stage.key) or self.builder.compile(stage, "test")
        if isinstance(stage, Bolt):
            return self.builder.bolt(stage, "test")
        if isinstance(stage, Merge):
            return merging.merge(stage, self.builder.engine.spec, self.builder.store, self.builder.bench, "test")
        return self.trainer.train(stage, "test")

    def instrumented(self, kind: str) -> tuple[Train, tuple[Stage, ...]]:
        """Makes everything before the (first) training; returns it and what comes after."""
        chain = self.chain(kind)
        at = next(number for number, stage in enumerate(chain) if isinstance(stage, Train))
        for stage in chain[:at]:
            self.make(stage)
        trained = chain[at]
        assert isinstance(trained, Train)
        return trained, chain[at + 1 :]


class Maker:
    """A shop that makes whole chains of any recipe."""

    def __init__(self, root: Path, toolchain: Toolchain) -> None:
        self.shop = Shop(root, toolchain)
        self.source = "source"
        trainer = self.shop.trainer
        trainer.workloads["fake_write"] = load.workload(self.shop.builder.engine.spec, "fake_write")
        trainer.data["fake_write"] = trainer.data["fake_mix"]

    def chain(self, recipe: Recipe, profile: str | None = None) -> tuple[Stage, ...]:
        builder = self.shop.builder
        entry = kept.find(builder.store, profile) if profile else None
        return stages(
            Variant("test", replace(recipe, profile=profile), "for a test of profiles"),
            spec=builder.engine.spec,
            source=self.source,
            toolchain=self.shop.toolchain,
            package=PackageFlags(("-O2", "-g"), (), ()),
            features="full",
            with_tools=False,
            bolt=self.shop.toolchain,
            profile_place=str(builder.profile_place),
            training=SHORT,
            kept=kept.as_kept(profile, entry) if profile and entry else None,
        )

    def make(self, recipe: Recipe, profile: str | None = None) -> list[Entry]:
        builder = self.shop.builder
        made = []
        for stage in self.chain(recipe, profile):
            kind = "profiles" if isinstance(stage, Train | Merge) else "builds"
            made.append(builder.store.find(kind, stage.key) or self.shop.make(stage))
        return made


def pgo(family: str) -> Recipe:
    link = ("-fuse-ld=lld",) if family == "clang" else ()
    return Recipe(toolchain=family, pgo=True, lto="thin" if family == "clang" else "none", link=link)
