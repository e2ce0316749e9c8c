"""The verbs that build and measure: tune, plan, compare, calibrate; how every study is run and shown meanwhile."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.bench.host import read_host
from burnish.bench.topology import duet_core_sets
from burnish.cli import options as o
from burnish.cli.common import asker, print_document, print_json, progress, say, verb
from burnish.cli.declaration import Argument
from burnish.cli.results import finish_all
from burnish.hosts import part
from burnish.hosts import run as on_hosts
from burnish.hosts.host import chosen_of
from burnish.model.workload import Design
from burnish.report.answer import board as board_report
from burnish.report.document import Document
from burnish.report.render import terminal
from burnish.report.sections import plan as plan_report
from burnish.search.ahead import Ahead
from burnish.study import runner
from burnish.study.constructors.calibrate import calibrate_study
from burnish.study.constructors.compare import compare_study
from burnish.study.constructors.tune import tune_study
from burnish.study.extras.foreseen import foreseen, head_of, in_time
from burnish.study.planning.plan import Plan
from burnish.study.planning.study_plan import check_inputs, plan_of, steps_of
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name
from burnish.study.study import Study
from burnish.study.trials.board import BoardRow

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


def measure(study: Study, options: Options, as_json: bool, dry_run: bool, *, full: bool = False) -> None:
    """Runs a study and prints its result, with `full` all of it; with `dry_run`, prints only its plan."""
    home = paths.home()
    if dry_run:
        check_hosts(home, study, options)
        if note := check_inputs(home, study, options):
            say(note)
        planned = plan_of(home, study, by_name(study, Asked()), _of_rows(study, options))
        head = head_of(home, study, planned, options)
        ahead = foreseen(head, options) if head is not None else None
        shown = in_time(home, study, planned, options, head)
        print_plan(steps_of(home, study, shown, options), as_json, ahead, shown.sittings)
    else:
        finish_all(measured(home, study, options), as_json, full=full)


def check_hosts(home: Home, study: Study, options: Options) -> None:
    """For a plan: refuses hosts on which the study can't run; says whose plan it is."""
    if options.on_hosts:
        on_hosts.check(home, study, options, chosen_of(options.on_hosts))
        say("--hosts: this is the plan for this machine; each host plans by itself, and builds are made once for all")


def _of_rows(study: Study, options: Options) -> Options:
    """The options for the plan of a study's rows: a search's own are its known-good builds, whatever the budget."""
    return options if study.search is None else replace(options, budget=None)


def measured(home: Home, study: Study, options: Options, asked: Asked | None = None) -> list[Path]:
    """Runs a study here, or on the hosts that are named; returns the folders of what came of it.

    Where this process works for others, it does its part instead, and does not return.
    """
    part.take(home, study, options, asked)
    if options.on_hosts:
        return on_hosts.run(home, study, options, chosen_of(options.on_hosts), progress)
    return [runner.run(home, study, options, progress, asker(), asked, draw=draw_board)]


def draw_board(rows: Sequence[BoardRow]) -> RenderableType:
    """The cells of a running study, as many as the terminal has room for below the current step."""
    document = Document("board", (board_report.cells(rows, max(2, progress.height - 8)),))
    return Text("\n").join(terminal.styled(line) for line in terminal.lines(document, progress.width - 4))


def print_plan(plan: Plan, as_json: bool, ahead: Ahead | None = None, sittings: str = "") -> None:
    """Prints a plan as a table or as JSON, with what a search is expected to do after its first builds.

    Args:
        plan: the plan.
        as_json: whether it is for a program.
        ahead: what a search is expected to do.
        sittings: in how many sittings it is measured, in words; of the table only.
    """
    if as_json:
        print_json("plan", plan.as_dict() | ({"search": ahead.as_dict()} if ahead is not None else {}))
    else:
        print_document(plan_report.document(plan, ahead, sittings))


@verb(
    "tune",
    *TUNED,
    o.YES,
    o.QUIET,
    o.FULL,
    o.JSON,
    o.DRY_RUN,
    example="burnish tune {engine} --workload {workload} --budget 3h",
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
        what = "is a folder" if path.is_dir() else "there is no such file"
        raise UserError(f"{side}: {path}: {what}; give the path of a server program, or NAME=PATH to name it")
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
    *o.SHARING,
    o.ON_HOSTS,
    o.FRESH,
    o.YES,
    o.QUIET,
    *o.TIME,
    o.FULL,
    o.JSON,
    example="burnish calibrate {engine} --workload {workload} --design duet,interleaved",
    resumes=True,
    refuses=(*o.REPLICATES, *o.EXPLANATION, *o.SPREAD),
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
