"""What the verbs share: the application, options that several have, and how results are printed."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from burnish.base.errors import UserError, unknown
from burnish.model.workload import Design
from burnish.record.record import Record
from burnish.report import plan as plan_report
from burnish.report import suites, terminal
from burnish.report.summary import Summary, summarise
from burnish.study.options import Ask
from burnish.study.planning.plan import Plan
from burnish.workload import loads

app = typer.Typer(
    name="burnish",
    help="Finds, and proves, the fastest way to build a database server for a workload.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
out = Console()
progress = Console(stderr=True)

Variants = Annotated[
    str | None, typer.Option("--variants", help="Variants by name, separated by commas; default: the engine's ladder.")
]
Workloads = Annotated[
    str | None,
    typer.Option(
        "--workloads",
        help="Workloads by name, script (.lua) or statements (.sql), separated by commas; parameters after a colon "
        "and commas, as in NAME:tables=8 (`burnish workload list` tells both).",
    ),
]
Threads = Annotated[
    str | None, typer.Option(help="Client threads of each side; several numbers (1,4,16) make a ladder.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="NAME=VALUE, may be repeated: any server variable, or transport= unix, tcp, tls, remote (with "
        "rate=100mbit, delay=1ms); binlog= on, off; durability= commit, system, second; threads-by= connection, pool.",
    ),
]
Data = Annotated[Path | None, typer.Option(help="A dump or data folder for loads of your own; copied, never touched.")]
Database = Annotated[str | None, typer.Option(help="The database in --data to work in; default: the only one.")]
DefaultsFile = Annotated[Path | None, typer.Option(help="A my.cnf whose server settings are taken.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse to measure what routine tuning left undone.")]
Precision = Annotated[
    str,
    typer.Option(
        help="Half-width to reach, in % of the faster side, as in 1% or 0.5%; 'none' stops at the first verdict."
    ),
]
MaxStarts = Annotated[int, typer.Option(min=3, max=60, help="Most starts of one cell.")]
Pairs = Annotated[int | None, typer.Option(min=1, max=12, help="Pairs in a start.")]
Starts = Annotated[
    int | None, typer.Option(min=2, max=200, help="A number of starts fixed in advance, for figures to publish.")
]
DesignOption = Annotated[
    Design | None,
    typer.Option(
        metavar="DESIGN",
        help="duet (both sides under load), interleaved (in turn) or solo (one up at a time); default: the workload's.",
    ),
]
Explore = Annotated[bool, typer.Option("--explore", help="Look many cells through instead of claiming them together.")]
Force = Annotated[bool, typer.Option("--force", help="Give verdicts though this host's calibration failed (marked).")]
Portable = Annotated[
    str | None,
    typer.Option("--portable", help="Level (x86-64-v2) or processor (Nehalem) that every build must run on."),
]
Portability = Annotated[
    bool, typer.Option("--portability", help="Start every build on older processors too, emulated by qemu.")
]
Seed = Annotated[int, typer.Option(help="Decides slots and keys.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Install missing system packages without asking.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of tables.")]
Fresh = Annotated[bool, typer.Option(help="Begin a new study even if an unfinished one could be gone on with.")]


def names_of(text: str | None) -> tuple[str, ...]:
    """The names of an option, separated by commas; none twice."""
    found = tuple(word.strip() for word in (text or "").split(",") if word.strip())
    for name in found:
        if found.count(name) > 1:
            raise UserError(f"{name!r} is named twice; name each once")
    return found


def loads_of(text: str | None) -> tuple[str, ...]:
    """The workloads of an option, each with its parameters."""
    return loads.split(text or "")


def design_of(name: str) -> Design:
    """The design of that name."""
    if name not in list(Design):
        raise unknown("design", name, list(Design))
    return Design(name)


def precision_of(text: str) -> float | None:
    """A half-width as a share of 1; None for 'none'."""
    if text == "none":
        return None
    try:
        value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0.0005 <= value <= 0.2:
        raise UserError(f"--precision {text}: give a half-width from 0.05% to 20%, or 'none'")
    return value


def replicates_of(option: str, number: int) -> int:
    """A number of replicates, of which a verdict needs some."""
    if number in (1, 2):
        raise UserError(
            f"{option} {number}: a verdict by replicate needs at least 3; say 6 for 1 %, 18 for 0.5 %, or 0"
        )
    return number


def asker() -> Ask | None:
    """How to ask a person; None when nobody is there to answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return lambda question: typer.confirm(question, err=True)


def summary_of(folder: Path) -> Summary:
    """What a study's record says."""
    with closing(Record(folder)) as record:
        return summarise(record.every())


def print_plan(found: Plan, as_json: bool) -> None:
    """As a table for people or as JSON."""
    if as_json:
        sys.stdout.write(json.dumps(found.as_dict(), indent=1) + "\n")
    else:
        out.print(plan_report.render(found))


def print_summary(summary: Summary, as_json: bool) -> None:
    """As tables for people or as JSON."""
    if as_json:
        value = summary.as_dict() | {"suites": [whole.as_dict() for whole in suites.wholes(summary.rows)]}
        sys.stdout.write(json.dumps(value, indent=1, default=str) + "\n")
    else:
        out.print(terminal.render(summary))
