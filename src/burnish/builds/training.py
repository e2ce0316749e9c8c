"""Training: runs workloads on an instrumented build and makes a profile from its counters, or refuses it."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.base.errors import InfrastructureError
from burnish.bench import datasets
from burnish.builds.builder import Builder
from burnish.engines.contract import CLEAN_END_S, Side, SideSpec, Tick
from burnish.model.condition import Condition
from burnish.model.workload import OWN_TESTS, Workload
from burnish.profiles import sampling
from burnish.profiles.collecting import BOLT_PROFILE, DATA, PROFILE_FILE, describe, profile_digest
from burnish.profiles.stages import Train
from burnish.program.built import Built
from burnish.record.store import MADE_WITH, Entry

Watch = Callable[[list[int]], contextlib.AbstractContextManager[None]]

TRAINING_THREADS = 4
"""Client threads in training where the workload allows it: enough to contend, few enough to finish."""

PATIENCE = 4
"""Factor on a training's length: how long to wait if no transaction has finished."""

PATIENCE_S = 60.0
"""Seconds that this wait takes at least: a short training says nothing of how busy the host is."""


@dataclass
class Trainer:
    """Trains the profiles of one engine's builds.

    Attributes:
        builder: the engine's builder (store, folders, progress).
        workloads: the training workloads by name.
        data: by workload, the dataset's entry in the store; None for a load without data.
        tools: the build that has the programs of the engine's tests; needed to train on these.
        cores: CPU numbers that training may use.
        scratch: private folder for sockets and data copies.
    """

    builder: Builder
    workloads: dict[str, Workload]
    data: dict[str, Entry]
    tools: Built | None
    cores: frozenset[int]
    scratch: Path

    def train(self, stage: Train, name: str) -> Entry:
        """Trains the stage's profile; raises InfrastructureError if it is not usable."""
        builder = self.builder
        seconds = sum(duration for _, duration in stage.training)
        expected = builder.store.cost(builder.engine.spec.name, stage.title, name) or 2 * seconds
        with builder.bench.step(f"{name}: {stage.title}", f"train-{name}-{stage.key}", expected):
            return self._train(stage, name)

    def _train(self, stage: Train, name: str) -> Entry:
        builder, began = self.builder, time.monotonic()
        entry = builder.store.find("builds", stage.build)
        if entry is None:
            raise InfrastructureError(f"instrumented build {stage.build} is not in the store; run the command again")
        raw = builder.bolt_raw if stage.kind == "bolt" else builder.work / "raw-profile"
        shutil.rmtree(raw, ignore_errors=True)
        raw.mkdir(mode=0o700, parents=True)
        environment: tuple[tuple[str, str], ...] = ()
        watch: Watch = lambda _: contextlib.nullcontext()  # noqa: E731 - the other one is a bound method
        sampler = sampling.Sampler(raw)
        if stage.sampled:
            watch = sampler.watching
        elif stage.kind == "clang":
            # %4m: processes of one program merge into a pool of four files, so that a load of many short
            # processes does not leave thousands of them.
            environment = (("LLVM_PROFILE_FILE", str(raw / "%4m.profraw")),)
        elif stage.kind == "gcc":
            environment = (("GCOV_PREFIX", str(raw)),)
        built = builder.built(f"{name} (trained)", entry)
        rates = {}
        for workload, duration in stage.training:
            if workload == OWN_TESTS:
                rates[workload] = self._test(built, environment, name)
                continue
            rates[workload] = self._drive(
                built, self.workloads[workload], duration, environment, seed=1 + stage.seed, watch=watch
            )
        folder = builder.store.begin("profiles", stage.key)
        if stage.sampled:
            make = sampling.bolt_profile if stage.kind == "bolt" else sampling.compiler_profile
            make(stage.toolchain, built.server, sampler.files, folder / DATA[stage.kind], builder.bench, name)
        else:
            collect = {"clang": self._collect_clang, "gcc": self._collect_gcc, "bolt": self._collect_bolt}[stage.kind]
            collect(stage, name, raw, folder)
        facts = describe(
            stage.kind,
            folder,
            stage.toolchain,
            builder.engine.spec.covered,
            builder.bench,
            name=name,
            program=built.server,
            again=stage.context_sensitive,
        )
        digest = profile_digest(folder)
        spent = time.monotonic() - began
        builder.store.note_cost(builder.engine.spec.name, stage.title, name, spent)
        profile = builder.store.admit(
            "profiles",
            stage.key,
            {
                **facts,
                "engine": builder.engine.spec.name,
                "kind": stage.kind,
                "build": stage.build,
                "source": stage.source or None,
                "toolchain": entry.about["toolchain"],
                "place": str(builder.source),
                "training": stage.training,
                "training_seed": stage.seed,
                "sampled": stage.sampled,
                "rates": rates,
                "digest": digest,
                MADE_WITH: entry.made_with | {stage.key: digest},
                "seconds": spent,
            },
        )
        shutil.rmtree(raw, ignore_errors=True)
        return profile

    def _drive(
        self,
        built: Built,
        workload: Workload,
        seconds: float,
        environment: tuple[tuple[str, str], ...],
        *,
        seed: int,
        watch: Watch,
    ) -> float:
        """Loads the build to be trained for `seconds`; returns transactions per second; ends it cleanly.

        `watch` is entered with the server's processes once it is up, and left before it ends.
        """
        bench = self.builder.bench
        folder = self.scratch / "training"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "side").mkdir(mode=0o700, parents=True)
        data = folder / "data"
        if workload.name in self.data:
            datasets.copy(self.data[workload.name], data, bench)
        else:
            data.mkdir(mode=0o700)
        side = self.builder.engine.side(
            SideSpec(
                label="training",
                built=built,
                condition=Condition(),
                workload=replace(workload, threads=min(workload.threads, TRAINING_THREADS)),
                data=data,
                folder=folder / "side",
                seed=seed,
                cores=self.cores,
                environment=environment,
            )
        )
        ticks: list[Tick] = []
        try:
            side.boot()
            with watch(side.server_pids()):
                side.load()
                end = time.monotonic() + seconds
                # An instrumented build on a busy host may take longer than that for its first transaction.
                latest = end + max(PATIENCE * seconds, PATIENCE_S)
                while (now := time.monotonic()) < end or (now < latest and not _moved(ticks)):
                    time.sleep(0.1)
                    self._look(side, ticks, workload, end - time.monotonic())
            side.finish(CLEAN_END_S)
        finally:
            side.stop()
        shutil.rmtree(folder, ignore_errors=True)
        if not _moved(ticks):
            waited = seconds + max(PATIENCE * seconds, PATIENCE_S)
            raise InfrastructureError(f"training on {workload.name}: no transaction was finished in {waited:.0f} s")
        return (ticks[-1].done - ticks[0].done) / (ticks[-1].at - ticks[0].at)

    def _test(self, built: Built, environment: tuple[tuple[str, str], ...], name: str) -> float:
        """Runs the engine's own tests on the build to be trained; returns tests per second.

        A test that fails is said and no more: the profile counts what ran, and counters make a server slow enough to
        fail where time is what is tested. The build that is made with the profile has its own gate.
        """
        assert self.tools is not None  # noqa: S101 - the baseline is made first
        place = self.scratch / "training"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700, parents=True)
        counting = replace(built, environment=(*built.environment, *environment))
        report = self.builder.engine.gate(counting, self.tools, place, self.builder.bench)
        shutil.rmtree(place, ignore_errors=True)
        for test, why in report.failures[:5]:
            self.builder.bench.say(f"{name}: training on {test}: {why}")
        if report.tests == 0:
            raise InfrastructureError(f"training on {OWN_TESTS}: no test came to a verdict")
        return report.tests / report.seconds

    def _look(self, side: Side, ticks: list[Tick], workload: Workload, left: float) -> None:
        ticks += side.ticks()
        trouble = side.trouble()
        if trouble is not None:
            raise InfrastructureError(f"training on {workload.name}: {trouble}")
        if len(ticks) > 1 and ticks[-1].at > ticks[0].at:
            last = next((t for t in reversed(ticks) if t.at <= ticks[-1].at - 1), ticks[0])
            rate = (ticks[-1].done - last.done) / max(1e-9, ticks[-1].at - last.at)
            self.builder.bench.live(f"{workload.name} {rate:,.0f}/s, {max(0.0, left):.0f} s left")

    def _collect_clang(self, stage: Train, name: str, raw: Path, folder: Path) -> None:
        written = sorted(raw.glob("*.profraw"))
        if not any(path.stat().st_size for path in written):
            raise InfrastructureError(
                f"{name}: training wrote no profile data: {raw} holds {len(written)} .profraw files, all empty; "
                "the server must end by itself (a kill writes none)"
            )
        tool = str(stage.toolchain.profdata)
        done = self.builder.bench.run("merge", [tool, "merge", "-o", folder / PROFILE_FILE, *written])
        done.check(f"{name}: merging the profile")

    def _collect_gcc(self, stage: Train, name: str, raw: Path, folder: Path) -> None:  # noqa: ARG002
        place = raw / self.builder.place.relative_to("/")
        if not (place.is_dir() and any(place.rglob("*.gcda"))):
            raise InfrastructureError(f"{name}: training wrote no .gcda file under {place}")
        shutil.move(place, folder / DATA["gcc"])

    def _collect_bolt(self, stage: Train, name: str, raw: Path, folder: Path) -> None:
        written = sorted(path for path in raw.iterdir() if path.stat().st_size)
        if not written:
            raise InfrastructureError(f"{name}: training wrote no BOLT profile into {raw}")
        target = folder / BOLT_PROFILE
        if len(written) == 1:
            shutil.copyfile(written[0], target)
        else:
            merge = str(stage.toolchain.merge_fdata)
            self.builder.bench.run("merge", [merge, "-o", target, *written]).check(f"{name}: merging BOLT profiles")


def _moved(ticks: Sequence[Tick]) -> bool:
    """Whether a transaction was finished between the first tick and the last one."""
    return len(ticks) > 1 and ticks[-1].done > ticks[0].done
