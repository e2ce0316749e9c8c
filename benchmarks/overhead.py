"""Burnish's own share of a build: the recorded commands of a SQLite build by hand and through Burnish, in turn.

    BURNISH_HOME=/tmp/overhead python benchmarks/overhead.py [--pairs N]

Each pair makes one build through Burnish and runs the same commands, in the same folder and environment, from a plain
loop; the order changes from pair to pair, and each begins with an empty compiler cache. Counted for Burnish is all
from the begin of the compile step to the build in the store: making and moving folders, log, record, digests, reading
back flags and symbols, sizes. To be reached: at most 2 %.

On a machine that others use the two times of a pair differ by more than that, so two more figures are taken: the CPU
time of both (children, and for Burnish this process too), and Burnish's own time within its run, which is what is left
of the step's time when its commands' own times are taken away.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import shutil
import statistics
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from burnish.base import paths
from burnish.base.process import Completed
from burnish.builds.stages import Compile
from burnish.record.workbench import Bench
from burnish.study import session
from burnish.study.builds.make import Maker
from burnish.study.constructors.tune import tune_study
from burnish.study.kept import runs as studies
from burnish.study.planning.study_plan import plan_of
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name
from burnish.study.workshop.prepare import prepare

LIMIT = 0.02
VARIANT = "gcc-o1"


def cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    uses = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


@dataclass(frozen=True)
class Spent:
    """What a build took.

    Attributes:
        wall: seconds.
        cpu: seconds of all cores.
    """

    wall: float
    cpu: float


@dataclass
class Recipe:
    """A build as a person would type it: commands, and the files that must be there before each."""

    place: Path
    commands: list[tuple[tuple[str, ...], Path | None, dict[str, str]]] = field(default_factory=list)
    files: list[dict[Path, bytes | None]] = field(default_factory=list)

    def seen(self) -> set[Path]:
        return set(self.place.rglob("*"))

    def by_hand(self, cache: Path) -> Spent:
        """What all of it takes in an empty folder."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.rmtree(cache, ignore_errors=True)
        began, used = time.monotonic(), cpu()
        self.place.mkdir(parents=True)
        for (argv, cwd, env), files in zip(self.commands, self.files, strict=True):
            for path, content in files.items():
                if content is None:
                    path.mkdir()
                else:
                    path.write_bytes(content)
            subprocess.run(
                argv, cwd=cwd, env=os.environ | env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        spent = Spent(time.monotonic() - began, cpu() - used)
        shutil.rmtree(self.place)
        return spent


def observe(bench: Bench, place: Path) -> tuple[Recipe, list[float]]:
    """A recipe that fills as the bench runs, and the seconds of each command."""
    recipe, seconds = Recipe(place), []
    run = bench.run
    known: set[Path] = set()

    def observed(what: str, argv: object, **words: object) -> Completed:
        nonlocal known
        written = recipe.seen() - known
        recipe.files.append({path: path.read_bytes() if path.is_file() else None for path in sorted(written)})
        done = run(what, argv, **words)  # type: ignore[arg-type]
        recipe.commands.append((done.argv, words.get("cwd"), dict(words.get("env") or {})))  # type: ignore[arg-type, call-overload]
        seconds.append(done.seconds)
        known = recipe.seen()
        return done

    bench.run = observed  # type: ignore[method-assign, assignment]
    return recipe, seconds


def through_burnish(maker: Maker, stage: Compile) -> Spent:
    """What the step takes, from nothing."""
    builder = maker.builder
    shutil.rmtree(builder.store.root / "ccache", ignore_errors=True)
    shutil.rmtree(builder.store.root / "builds" / stage.key, ignore_errors=True)
    began, used = time.monotonic(), cpu()
    builder.compile(stage, VARIANT)
    return Spent(time.monotonic() - began, cpu() - used)


def summary(what: str, ratios: list[float]) -> str:
    """Geometric mean of the pairs' ratios, and how they scatter."""
    logs = [math.log(ratio) for ratio in ratios]
    spread = f"{statistics.stdev(logs):.2%}" if len(logs) > 1 else "unknown"
    return f"{what}, Burnish against by hand: {math.exp(statistics.fmean(logs)):.4f} (spread of a pair {spread})"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=3)
    pairs = parser.parse_args().pairs
    home, options = paths.home(), Options(variants=("baseline", VARIANT), fresh=True)
    study = tune_study("sqlite", options)
    with studies.lock(home):
        console = Console(stderr=True)
        setting = session.begin(home, study.engine, study.definition, options, console, study.workloads, None)
        workshop = prepare(setting, study, plan_of(home, study, by_name(study, Asked()), options), ())
        maker, stage = workshop.maker, workshop.chains[VARIANT].stages[0]
        assert maker is not None
        assert isinstance(stage, Compile)
        cache = maker.builder.store.root / "ccache"
        original = setting.bench.run
        recipe, _ = observe(setting.bench, maker.builder.place)
        through_burnish(maker, stage)  # learns the commands, and warms the page cache
        setting.bench.run = original  # type: ignore[method-assign]
        walls, cpus, own = [], [], []
        for number in range(pairs):
            hand = recipe.by_hand(cache) if number % 2 else None
            spent: list[float] = []

            def timed(what: str, argv: object, **words: object) -> Completed:
                done = original(what, argv, **words)  # type: ignore[arg-type]
                spent.append(done.seconds)  # noqa: B023 - called before the next round
                return done

            setting.bench.run = timed  # type: ignore[method-assign, assignment]
            ours = through_burnish(maker, stage)
            setting.bench.run = original  # type: ignore[method-assign]
            hand = hand or recipe.by_hand(cache)
            walls.append(ours.wall / hand.wall)
            cpus.append(ours.cpu / hand.cpu)
            own.append((ours.wall - sum(spent)) / sum(spent))
            print(
                f"pair {number + 1}: Burnish {ours.wall:.2f} s ({ours.cpu:.2f} s CPU), by hand {hand.wall:.2f} s "
                f"({hand.cpu:.2f} s CPU), its own time {own[-1]:.2%}",
                flush=True,
            )
        setting.record.close()
    with suppress(OSError):
        shutil.rmtree(setting.record.folder)
    print(summary("wall time", walls))
    print(summary("CPU time", cpus))
    print(f"its own time within its run: {statistics.fmean(own):.2%}, at most {max(own):.2%} (limit {LIMIT:.0%})")


if __name__ == "__main__":
    main()
