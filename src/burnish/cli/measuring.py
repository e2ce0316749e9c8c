"""The verbs that build and measure: tune, plan, compare, calibrate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.bench.host import read_host
from burnish.bench.topology import duet_core_sets
from burnish.cli import options as o
from burnish.cli.common import measure, verb
from burnish.cli.declaration import Argument
from burnish.model.workload import Design
from burnish.study.constructors.calibrate import calibrate_study
from burnish.study.constructors.compare import compare_study
from burnish.study.constructors.tune import tune_study
from burnish.study.request.options import Options

_LABEL = re.compile(r"[A-Za-z0-9][\w.+-]*")

TUNED = (
    o.ENGINE,
    *o.WHAT_TO_BUILD,
    *o.LOAD,
    *o.DEPLOYMENT,
    o.DEPLOY,
    *o.EXPLANATION,
    *o.HOW_EXACTLY,
    *o.SPREAD,
    *o.SEARCH,
    o.BUDGET,
    o.JOBS,
    *o.SHARING,
    o.ON_HOSTS,
    o.FRESH,
)


@verb(
    "tune",
    *TUNED,
    o.YES,
    o.QUIET,
    o.FULL,
    o.JSON,
    o.DRY_RUN,
    example="burnish tune {engine} --workload {workload} --precision 0.5%",
    resumes=True,
)
def tune(engine: str, options: Options, as_json: bool, full: bool, dry_run: bool) -> None:
    """Build a server many ways, test each build, say which is fastest."""
    measure(tune_study(engine, options), options, as_json, dry_run, full=full)


@verb("plan", *TUNED, o.JSON, example="burnish plan {engine} --variant gcc-pgo,clang-pgo-thinlto")
def plan(engine: str, options: Options, as_json: bool) -> None:
    """Show what `tune` would do: its steps, minutes, disk, memory.

    It takes the same options, builds nothing, and says what is cached.
    """
    measure(tune_study(engine, options), options, as_json, dry_run=True)


@verb(
    "compare",
    Argument("first", "A", "The server program that ratios are against: PATH, or NAME=PATH to name it."),
    Argument("second", "B", "The other server program, as A."),
    replace(o.ENGINE_OPTION, required=True),
    *o.LOAD,
    *o.DEPLOYMENT,
    o.VERSUS,
    *o.PORTABILITY,
    *o.EXPLANATION,
    *o.HOW_EXACTLY,
    *o.SESSION,
    *o.TIME,
    o.FULL,
    o.JSON,
    example="burnish compare debian=/usr/sbin/{server} mine=./{server} --engine {engine} --workload {workload}",
    resumes=True,
    refuses=o.REPLICATES,
)
def compare(first: str, second: str, engine: str, options: Options, as_json: bool, full: bool, dry_run: bool) -> None:
    """Compare two existing server programs; nothing is built."""
    sides = [named_program("A", first), named_program("B", second)]
    labels = tuple(name for name, _ in sides)
    options = replace(options, labels=labels)
    measure(compare_study(engine, [path for _, path in sides], options), options, as_json, dry_run, full=full)


def named_program(side: str, word: str) -> tuple[str | None, Path]:
    """Splits ``PATH`` or ``NAME=PATH`` into the name, if there is one, and the program's path.

    Raises:
        UserError: there is no such file.
    """
    name, equals, place = word.partition("=")
    labelled = bool(equals) and _LABEL.fullmatch(name) is not None and not Path(word).exists()
    path = Path(place if labelled else word)
    if not path.is_file():
        raise UserError(
            f"{side}: {path}: there is no such file; give the path of a server program, or NAME=PATH to name it"
        )
    return (name if labelled else None), path


@verb(
    "calibrate",
    o.ENGINE,
    o.FEATURES,
    *o.SOURCES,
    *o.PORTABILITY,
    *o.LOAD,
    *o.DEPLOYMENT,
    o.DESIGNS,
    o.PLACEMENT,
    o.CALIBRATION_STARTS,
    o.PAIRS,
    o.SEED,
    o.JOBS,
    *o.SESSION,
    *o.TIME,
    o.FULL,
    o.JSON,
    example="burnish calibrate {engine} --workload {workload} --design duet,interleaved",
    resumes=True,
    refuses=(*o.REPLICATES, *o.EXPLANATION),
)
def calibrate(
    engine: str, designs: Sequence[Design], options: Options, as_json: bool, full: bool, dry_run: bool
) -> None:
    """Measure this host's noise; later runs use the result.

    The baseline is measured against itself under each design. Duet and solo, where requested, then read a side that is
    known to be slower, which shows how much of a difference a duet hides.
    """
    home = paths.home()
    study = calibrate_study(engine, designs, options, twin_cores=duet_core_sets(read_host(home.root)) is not None)
    measure(study, options, as_json, dry_run, full=full)
