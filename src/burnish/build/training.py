"""Training: runs workloads on an instrumented build and turns what it wrote into a profile, or refuses it."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish import process
from burnish.bench import datasets
from burnish.build import profiles
from burnish.build.builder import BOLT_PROFILE, PROFILE_FILE, Builder
from burnish.build.recipes import Train
from burnish.engines.base import Built, Side, SideSpec, Tick
from burnish.errors import InfrastructureError
from burnish.record.store import Entry
from burnish.study.model import Condition, Workload

TRAINING_THREADS = 4
"""Client threads in training where the workload allows it: enough to contend, few enough to finish."""


@dataclass
class Trainer:
    """Trains the profiles of one engine's builds.

    Attributes:
        builder: the engine's builder (store, folders, progress).
        workloads: the training workloads by name.
        data: for each of them the dataset's entry in the store, None for a load without data.
        cores: CPU numbers that training may use.
        scratch: private folder for sockets and data copies.
    """

    builder: Builder
    workloads: dict[str, Workload]
    data: dict[str, Entry]
    cores: frozenset[int]
    scratch: Path

    def train(self, stage: Train, name: str) -> Entry:
        """The stage's profile, trained now; raises InfrastructureError when it is not usable."""
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
        # %4m: processes of one program merge into a pool of four files, so that a load of many short
        # processes doesn't leave thousands.
        environment = {
            "clang": (("LLVM_PROFILE_FILE", str(raw / "%4m.profraw")),),
            "gcc": (("GCOV_PREFIX", str(raw)),),
            "bolt": (),
        }[stage.kind]
        built = builder.built(f"{name} (instrumented)", entry)
        rates = {}
        for workload, duration in stage.training:
            rates[workload] = self._drive(built, self.workloads[workload], duration, environment)
        folder = builder.store.begin("profiles", stage.key)
        if stage.kind == "clang":
            facts = self._collect_clang(stage, name, raw, folder)
        elif stage.kind == "gcc":
            facts = self._collect_gcc(stage, name, raw, folder, built)
        else:
            facts = self._collect_bolt(stage, name, raw, folder, built)
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
                "training": stage.training,
                "rates": rates,
                "digest": profile_digest(folder),
                "seconds": spent,
            },
        )
        shutil.rmtree(raw, ignore_errors=True)
        return profile

    def _drive(
        self, built: Built, workload: Workload, seconds: float, environment: tuple[tuple[str, str], ...]
    ) -> float:
        """Loads the instrumented build for `seconds`; returns transactions per second; ends it cleanly."""
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
                condition=Condition(threads=min(workload.threads, TRAINING_THREADS)),
                workload=workload,
                data=data,
                folder=folder / "side",
                seed=1,
                cores=self.cores,
                environment=environment,
            )
        )
        ticks: list[Tick] = []
        try:
            side.boot()
            side.load()
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                time.sleep(0.1)
                self._look(side, ticks, workload, end - time.monotonic())
        finally:
            side.stop()
        shutil.rmtree(folder, ignore_errors=True)
        if len(ticks) < 2 or ticks[-1].done <= ticks[0].done:
            raise InfrastructureError(f"training on {workload.name}: nothing was finished in {seconds:.0f} s")
        return (ticks[-1].done - ticks[0].done) / (ticks[-1].at - ticks[0].at)

    def _look(self, side: Side, ticks: list[Tick], workload: Workload, left: float) -> None:
        ticks += side.ticks()
        trouble = side.trouble()
        if trouble is not None:
            raise InfrastructureError(f"training on {workload.name}: {trouble}")
        if len(ticks) > 1 and ticks[-1].at > ticks[0].at:
            last = next((t for t in reversed(ticks) if t.at <= ticks[-1].at - 1), ticks[0])
            rate = (ticks[-1].done - last.done) / max(1e-9, ticks[-1].at - last.at)
            self.builder.bench.live(f"{workload.name} {rate:,.0f}/s, {max(0.0, left):.0f} s left")

    def _collect_clang(self, stage: Train, name: str, raw: Path, folder: Path) -> dict[str, object]:
        written = sorted(raw.glob("*.profraw"))
        if not any(path.stat().st_size for path in written):
            raise InfrastructureError(
                f"{name}: training wrote no profile data: {raw} holds {len(written)} .profraw files, all empty; "
                "the server must end by itself (a kill writes none)"
            )
        tool, bench = str(stage.toolchain.profdata), self.builder.bench
        target = folder / PROFILE_FILE
        done = bench.run("merge", [tool, "merge", "-o", target, *written])
        done.check(f"{name}: merging the profile")
        shown = folder / "functions.txt"
        bench.run("show", [tool, "show", "--all-functions", "--counts", target], log=shown)
        summary = folder / "summary.txt"
        bench.run("show", [tool, "show", "--detailed-summary", target], log=summary)
        covered = self.builder.engine.spec.covered
        found = profiles.read_clang(shown.read_text(errors="replace"), summary.read_text(errors="replace"), covered)
        shown.unlink()
        return _accept(name, found, folder)

    def _collect_gcc(self, stage: Train, name: str, raw: Path, folder: Path, built: Built) -> dict[str, object]:
        place = raw / self.builder.place.relative_to("/")
        written = sorted(place.rglob("*.gcda")) if place.is_dir() else []
        if not written:
            raise InfrastructureError(f"{name}: training wrote no .gcda file under {place}")
        objects = {}
        for path in written:
            dumped = _gcov_dump(str(stage.toolchain.gcov_dump), path)
            objects[str(path.relative_to(place))] = profiles.read_gcov_dump(dumped)
        shutil.move(place, folder / "gcda")
        symbols = _symbols(built.server, "--extern-only")
        found = profiles.read_gcc(objects, self.builder.engine.spec.covered, symbols)
        facts = _accept(name, found, folder)
        return {**facts, "objects": {path: (item.functions, item.total) for path, item in objects.items()}}

    def _collect_bolt(self, stage: Train, name: str, raw: Path, folder: Path, built: Built) -> dict[str, object]:
        written = sorted(path for path in raw.iterdir() if path.stat().st_size)
        if not written:
            raise InfrastructureError(f"{name}: training wrote no BOLT profile into {raw}")
        target = folder / BOLT_PROFILE
        if len(written) == 1:
            shutil.copyfile(written[0], target)
        else:
            merge = str(stage.toolchain.merge_fdata)
            self.builder.bench.run("merge", [merge, "-o", target, *written]).check(f"{name}: merging BOLT profiles")
        text = target.read_text(errors="replace")
        # A branch from one function to another is a count of both.
        branches = [words for line in text.splitlines() if len(words := line.split()) >= 7]
        ran = {name for words in branches for name in (words[1], words[4]) if not name.endswith("@PLT")}
        # What was inlined wherever it runs has no function of its own for BOLT to count, though a copy that is
        # never called may be left: so some of them must have run, not each.
        there = _symbols(built.server)
        covered = [name for name in self.builder.engine.spec.covered if not profiles.lacking([name], there)]
        missing = profiles.lacking(covered, ran)
        found = profiles.Coverage(
            functions=len(ran),
            counted=len(ran),
            hot=frozenset(),
            missing=missing if len(missing) == len(covered) else (),
        )
        return _accept(name, found, folder)


def _symbols(program: Path, *options: str) -> list[str]:
    """Names in a program's symbol table."""
    listed = process.capture(["nm", "--defined-only", *options, program])
    return [line.split()[-1] for line in listed.splitlines() if line]


def _gcov_dump(tool: str, path: Path) -> str:
    """One of hundreds of short calls that are not worth a record each."""
    return process.capture([tool, "-l", path])


def _accept(name: str, found: profiles.Coverage, folder: Path) -> dict[str, object]:
    """Refuses a profile that is empty or does not cover the server; writes the hot names beside it."""
    if found.counted == 0:
        raise InfrastructureError(f"{name}: the profile is empty: {found.functions} functions, none of them ran")
    if found.missing:
        raise InfrastructureError(
            f"{name}: the profile does not cover the server: {', '.join(found.missing)} never ran in training"
        )
    (folder / "hot.txt").write_text("\n".join(sorted(found.hot)))
    return {"functions": found.functions, "counted": found.counted, "hot": len(found.hot)}


def profile_digest(folder: Path) -> str:
    """SHA-256 over a profile's data files, by relative path and content."""
    digest = hashlib.sha256()
    for path in _data_files(folder):
        digest.update(str(path.relative_to(folder)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _data_files(folder: Path) -> Sequence[Path]:
    return sorted(
        path for path in folder.rglob("*") if path.is_file() and path.suffix in (".profdata", ".fdata", ".gcda")
    )
