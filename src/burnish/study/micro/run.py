"""The verb `micro`: one function from the objects of two trees, checked for equal results, then timed in turn."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import Console

from burnish.base import process
from burnish.base.errors import UserError, unknown
from burnish.base.paths import Home
from burnish.base.processor import this_processor
from burnish.bench import blocks
from burnish.bench.blocks import Start, Times
from burnish.builds import microbench
from burnish.builds.microbench import CrossCompiler
from burnish.builds.trees import Tree
from burnish.catalogue import load
from burnish.catalogue import micro as catalogue
from burnish.catalogue.micro import Micro
from burnish.program import program
from burnish.record.codec import plain, value_of
from burnish.record.events.why import MicroBegun, MicroDone, MicroStart, MicroTimes
from burnish.record.record import Record
from burnish.record.workbench import Bench
from burnish.statistics.intervals import start_reading
from burnish.statistics.sequential import Rule
from burnish.statistics.verdicts import Judgement, judge
from burnish.study import needs
from burnish.study.kept import runs as studies
from burnish.study.kept.machine import machine
from burnish.study.micro.trees import SideRequest, Trees
from burnish.study.request.options import Ask, Options
from burnish.study.trials.findings import interval_of

LABELS = ("A", "B")
CHECKED = ("aarch64",)
"""Architectures on which results can be checked under emulation; each has a package group ``cross-NAME``."""

_EMULATED_S = 900.0


@dataclass(frozen=True)
class Request:
    """What is to be timed.

    Attributes:
        names: microbenchmarks; empty: all of the engine's.
        sides: the two trees.
        variant: how trees that are not configured yet are configured.
        check: architecture on which results are also checked, emulated; None: only on this host.
        times: durations and numbers of readings.
        seed: random seed of the order of blocks.
        yes: install what is missing without asking.
        known: the microbenchmarks; the catalogue's when not given.
    """

    names: tuple[str, ...]
    sides: tuple[SideRequest, SideRequest]
    variant: str = "baseline"
    check: str | None = None
    times: Times = field(default_factory=Times)
    seed: int = 1
    yes: bool = False
    known: dict[str, Micro] | None = None


@dataclass(frozen=True)
class Outcome:
    """The result of one microbenchmark.

    Attributes:
        name: the microbenchmark's.
        does: what was timed.
        threads: number of threads that called it at once.
        digest: of the results, equal on both sides.
        identical: whether both sides are the same machine code, so that there is nothing to time.
        starts: the readings.
        judgement: the verdict on B against A: a ratio above 1 says that B takes less CPU time.
        elsewhere: where else results were checked, in words; '' if only on this host.
    """

    name: str
    does: str
    threads: int
    digest: str
    identical: bool
    starts: tuple[Start, ...] = ()
    judgement: Judgement | None = None
    elsewhere: str = ""

    def call_ns(self, side: int) -> float | None:
        """Least CPU time of a call in one thread, nanoseconds; None where nothing was timed."""
        if not self.starts:
            return None
        return min(start.cpu[side] for start in self.starts) / self.threads

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for machines."""
        judged = self.judgement
        interval = judged.interval if judged else None
        return {
            "micro": self.name,
            "does": self.does,
            "threads": self.threads,
            "digest": self.digest,
            "identical": self.identical,
            "verdict": judged.kind.value if judged else None,
            "ratio": interval.ratio if interval else None,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
            "level": interval.level if interval else None,
            "starts": judged.starts if judged else 0,
            "call_ns": {label: self.call_ns(number) for number, label in enumerate(LABELS)},
            "checked_elsewhere": self.elsewhere,
        }

    def as_event(self) -> MicroDone:
        """The event for the record."""
        judged = self.judgement
        return MicroDone(
            micro=self.name,
            does=self.does,
            threads=self.threads,
            digest=self.digest,
            identical=self.identical,
            verdict=judged.kind.value if judged else None,
            interval=interval_of(judged.interval if judged else None),
            starts=judged.starts if judged else 0,
            call_ns={label: self.call_ns(number) for number, label in enumerate(LABELS)},
            checked_elsewhere=self.elsewhere,
            readings=tuple(value_of(MicroStart, plain(vars(start))) for start in self.starts),
        )


@dataclass(frozen=True)
class Result:
    """The result of a `micro` run.

    Attributes:
        folder: record, logs and programs.
        sides: names of the two trees.
        outcomes: one for each microbenchmark.
    """

    folder: Path
    sides: tuple[str, str]
    outcomes: tuple[Outcome, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for machines."""
        named = dict(zip(LABELS, self.sides, strict=True))
        return {"sides": named, "folder": str(self.folder), "results": [outcome.as_dict() for outcome in self.outcomes]}


def chosen(request: Request) -> list[Micro]:
    """The microbenchmarks that a request names, all of one engine.

    Raises:
        UserError: an unknown name, or functions of several engines.
    """
    known = catalogue.micros() if request.known is None else request.known
    entries = [catalogue.micro(name, known) for name in request.names] or list(known.values())
    engines = sorted({entry.engine for entry in entries})
    if len(engines) > 1:
        raise UserError(f"{', '.join(request.names)}: functions of {' and '.join(engines)}; name those of one engine")
    return entries


def micro(home: Home, request: Request, console: Console, ask: Ask | None) -> Result:
    """Makes both sides of each microbenchmark, checks their results, times them.

    Args:
        home: where it happens.
        request: what is asked for.
        console: for progress.
        ask: asks the user a question.

    Raises:
        UserError: a tree or patch can't be used, or the sides' results differ.
        InfrastructureError: something could not be compiled or run.
    """
    entries = chosen(request)
    spec = load.engine(entries[0].engine)
    options = Options(yes=request.yes)
    say = partial(console.print, markup=False, highlight=False, soft_wrap=True)
    with studies.lock(home), machine(home, say):
        process.sweep()
        cross = None
        if request.check is not None:
            if request.check not in CHECKED:
                raise unknown("architecture of --cross-check", request.check, CHECKED)
            needs.ensure([f"cross-{request.check}"], "results are checked on another architecture", options, ask)
            cross = microbench.cross_compiler(request.check)
        folder = _new_folder(home.root / "micro")
        with closing(Record(folder, create=True)) as record:
            bench = Bench(record, folder / "logs", console)
            ensure = partial(needs.ensure, options=options, ask=ask)
            trees = Trees(home, spec, request.variant, bench, ensure)
            sides = (trees.of(request.sides[0], "a"), trees.of(request.sides[1], "b"))
            times = value_of(MicroTimes, vars(request.times))
            record.append(MicroBegun(tuple(tree.name for tree in sides), request.seed, times))
            outcomes = []
            for entry in entries:
                with bench.step(entry.name, f"micro-{entry.name}"):
                    outcome = _one(entry, sides, folder / "programs" / entry.name, bench, request, cross)
                record.append(outcome.as_event())
                outcomes.append(outcome)
    return Result(folder, (sides[0].name, sides[1].name), tuple(outcomes))


def _new_folder(root: Path) -> Path:
    """A new folder for this run, named by the time."""
    name = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(root / candidate for candidate in names if not (root / candidate).exists())


def _one(
    entry: Micro, sides: Sequence[Tree], folder: Path, bench: Bench, request: Request, cross: CrossCompiler | None
) -> Outcome:
    here = this_processor().architecture
    shutil.rmtree(folder, ignore_errors=True)
    made = [
        microbench.make(entry, tree, folder / label, bench, architecture=here)
        for label, tree in zip(LABELS, sides, strict=True)
    ]
    cores = frozenset({max(os.sched_getaffinity(0))}) if entry.threads == 1 else None
    commands = [
        (f"{label} ({tree.name})", (path, str(entry.threads)))
        for label, tree, path in zip(LABELS, sides, made, strict=True)
    ]
    digest = checked(entry.name, commands, cores, request.times.patience_s)
    elsewhere = ""
    if cross is not None:
        foreign: list[tuple[str, Sequence[str | Path]]] = [
            (
                f"{label} ({tree.name}) on {cross.architecture}",
                (
                    *cross.launcher,
                    microbench.make(
                        entry, tree, folder / f"{label}-{cross.architecture}", bench, architecture=here, cross=cross
                    ),
                    str(entry.threads),
                ),
            )
            for label, tree in zip(LABELS, sides, strict=True)
        ]
        there = checked(entry.name, foreign, None, _EMULATED_S)
        if there != digest:
            raise UserError(
                f"{entry.name}: gives {digest} here and {there} on {cross.architecture}: not the same function there"
            )
        elsewhere = f"{cross.architecture}: same results ({cross.version})"
    one, other = (program.read(path) for path in made)
    outcome = Outcome(
        name=entry.name,
        does=entry.does,
        threads=entry.threads,
        digest=digest,
        identical=(one.code, one.data) == (other.code, other.data),
        elsewhere=elsewhere,
    )
    if outcome.identical:
        return outcome
    chance = random.Random(f"{request.seed} {entry.name}")
    starts = []
    for number in range(request.times.starts):
        bench.live(f"start {number + 1} of {request.times.starts}")
        with blocks.up(commands, cores) as running:
            starts.append(blocks.read_start(running, request.times, chance))
    readings = [start_reading(start.log_ratios) for start in starts]
    return replace(outcome, starts=tuple(starts), judgement=judge(readings, Rule.fixed(len(readings))))


def checked(
    name: str, sides: Sequence[tuple[str, Sequence[str | Path]]], cores: frozenset[int] | None, patience: float
) -> str:
    """The digest of the function's results, which is the same on both sides.

    Raises:
        UserError: the digests differ.
    """
    with blocks.up(sides, cores) as running:
        one, other = (side.check(patience) for side in running)
    if one != other:
        raise UserError(
            f"{name}: {sides[0][0]} gives {one} and {sides[1][0]} gives {other} for the same inputs; "
            "nothing was timed, because the two do not do the same; fix the patch"
        )
    return one
