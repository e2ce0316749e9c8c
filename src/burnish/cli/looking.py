"""The verbs that show what there is: results, runs, the machine, help."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from burnish.base import netns, paths, system
from burnish.bench.host import read_host
from burnish.catalogue import load
from burnish.cli import help as pages
from burnish.cli import options as o
from burnish.cli import readers
from burnish.cli.binding import help_of
from burnish.cli.common import out, print_json, print_summary, run_named, summary_of, verb
from burnish.cli.declaration import Argument
from burnish.record import exchange
from burnish.record.lines import is_file_name
from burnish.report import doctor as doctor_report
from burnish.report import terminal
from burnish.report.results import summary_of_file
from burnish.report.summary import Summary, winner
from burnish.study import studies
from burnish.study.builds.needs import disk_needed
from burnish.toolchain import link_parts
from burnish.toolchain.toolchains import find_toolchains


@verb(
    "show", o.RUN, o.LIST, o.MARKDOWN, o.EXPORT, o.JSON,
    example="burnish show {engine}-tune-20261121 --markdown > result.md",
)  # fmt: skip
def show(run: str | None, only_list: bool, markdown: bool, export: bool, as_json: bool) -> None:
    """Print a run's verdicts from its record alone."""
    if only_list:
        runs(as_json)
        return
    file = Path(run) if run is not None and is_file_name(run) else None
    place = file or run_named(run)
    if export:
        sys.stdout.write(exchange.as_text(exchange.read_events(place) if file else exchange.study_events(place)))
        return
    summary = summary_of_file(place) if file else summary_of(place)
    if markdown:
        sys.stdout.write(terminal.markdown(summary))
        return
    print_summary(summary, as_json)


@verb("runs", o.JSON, example="burnish runs")
def runs(as_json: bool) -> None:
    """List the runs on this machine, each with its winner."""
    every = [_listed(summary_of(folder)) for folder in studies.folders(paths.home())]
    if as_json:
        print_json(every)
        return
    if not every:
        out.print("no run yet; `burnish tune` makes the first one")
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("run", overflow="fold")
    for name in ("engine", "verb", "ended", "verdicts", "winner"):
        table.add_column(name, no_wrap=name != "winner", overflow="fold")
    for row in every:
        verdicts = f"{row['decided']} of {row['cells']}" if row["cells"] else ""
        table.add_row(row["run"], row["engine"], row["verb"], _local(row["ended"]), verdicts, row["winner"] or "")
    out.print(table)


def _listed(summary: Summary) -> dict[str, Any]:
    """What a list says of a run."""
    return {
        "run": summary.name,
        "engine": summary.engine,
        "verb": summary.verb,
        "begun": summary.begun,
        "ended": summary.ended,
        "cells": len(summary.rows),
        "decided": sum(row.verdict != "running" for row in summary.rows),
        "winner": winner(summary),
    }


def _local(at: str | None) -> str:
    """A moment of a record (ISO 8601, UTC) as this machine's clock shows it."""
    if at is None:
        return "unfinished"
    return datetime.fromisoformat(at).astimezone().strftime("%d %b %Y %H:%M")


@verb("doctor", o.JSON, example="burnish doctor")
def doctor(as_json: bool) -> None:
    """Check this machine; show what is missing and how to fix it."""
    facts = read_host(paths.home().root)
    needed = {spec.name: disk_needed(spec, len(spec.ladder)) for spec in load.engines().values()}
    toolchains = find_toolchains()
    programs = system.find_programs(doctor_report.PROGRAMS)
    findings = doctor_report.examine(facts, toolchains, programs, needed, link_parts.offers(toolchains), netns.offers())
    if as_json:
        print_json(json.loads(doctor_report.as_json(findings, facts)))
    else:
        out.print(doctor_report.as_table(findings))


EXIT_CODES = "exit-codes"


@verb(
    "help",
    Argument("words", "VERB", f"A verb, as in `burnish help study run`, or `{EXIT_CODES}`.", readers.verbatim,
             many=True, required=False, unset="all verbs"),
    example="burnish help tune",
)  # fmt: skip
def show_help(ctx: typer.Context, words: tuple[str, ...]) -> None:
    """Show all of a verb's help, or what the exit codes mean."""
    if words == (EXIT_CODES,):
        typer.echo(pages.printed(pages.of_exit_codes()))
    else:
        typer.echo(help_of(ctx.find_root(), words))
