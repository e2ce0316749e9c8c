"""The verbs that show and tidy up: no build, no trial."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from burnish.base import netns, paths, process, system
from burnish.base.errors import UserError
from burnish.bench.host import read_host
from burnish.catalogue import load
from burnish.cli.common import AsJson, Yes, app, asker, out, print_summary, progress, summary_of
from burnish.record import exchange
from burnish.record.lines import is_file_name
from burnish.report import doctor as doctor_report
from burnish.report import terminal
from burnish.report.results import summary_of_file
from burnish.study import cleaning, studies
from burnish.study.needs import disk_needed
from burnish.toolchain import link_parts
from burnish.toolchain.toolchains import find_toolchains


@app.command(epilog="Example: burnish show mariadb-tune-20261121 --markdown > result.md")
def show(
    study: Annotated[
        str | None, typer.Argument(help="A study's name, its folder, or an exported record; default: the newest.")
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the studies instead.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    export: Annotated[bool, typer.Option("--export", help="Print the whole record as JSON lines.")] = False,
    as_json: AsJson = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """Print a study's verdicts from its record alone."""
    if list_all:
        _list_studies(as_json)
        return
    file = Path(study) if study is not None and is_file_name(study) else None
    place = file or studies.find(paths.home(), study)
    if export:
        sys.stdout.write(exchange.as_text(exchange.read_events(place) if file else exchange.study_events(place)))
        return
    summary = summary_of_file(place) if file else summary_of(place)
    if markdown:
        sys.stdout.write(terminal.markdown(summary))
        return
    print_summary(summary, as_json)


@app.command(epilog="Example: burnish doctor --json")
def doctor(as_json: AsJson = False, yes: Yes = False) -> None:  # noqa: ARG001 - the launcher takes --yes
    """Say what this machine has and lacks: each lack with its consequence and the command that mends it."""
    facts = read_host(paths.home().root)
    needed = {spec.name: disk_needed(spec, len(spec.ladder)) for spec in load.engines().values()}
    toolchains = find_toolchains()
    programs = system.find_programs(doctor_report.PROGRAMS)
    findings = doctor_report.examine(facts, toolchains, programs, needed, link_parts.offers(toolchains), netns.offers())
    if as_json:
        sys.stdout.write(doctor_report.as_json(findings, facts) + "\n")
    else:
        out.print(doctor_report.as_table(findings))


@app.command(epilog="Example: burnish clean --older-than 30 --keep-gb 20 --yes")
def clean(
    older_than: Annotated[float | None, typer.Option(min=0, help="Remove what was not used for so many days.")] = None,
    keep_gb: Annotated[float | None, typer.Option(min=0, help="Keep at most so many GB, the last used ones.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is kept and how large it is; remove what is too old or too much. Records are never removed."""
    home = paths.home()
    process.sweep()
    for name in netns.sweep():
        progress.print(f"removed network namespace {name}: a run that was killed had left it", highlight=False)
    with studies.lock(home):
        items = cleaning.inventory(home)
        doomed = cleaning.choose(
            items,
            older_s=None if older_than is None else older_than * cleaning.DAY_S,
            bound=None if keep_gb is None else int(keep_gb * 1e9),
        )
        if as_json:
            values = [{**vars(item), "folder": str(item.folder), "goes": item in doomed} for item in items]
            sys.stdout.write(json.dumps(values, indent=1) + "\n")
        else:
            _print_inventory(items, doomed)
        if not doomed:
            return
        ask = asker()
        if not yes and (ask is None or not ask(f"remove {len(doomed)} entries?")):
            raise UserError("clean: nothing was removed; answer yes, or say --yes")
        freed = cleaning.remove(home, doomed)
        progress.print(f"freed {freed / 1e6:,.0f} MB")


def _list_studies(as_json: bool) -> None:
    rows = []
    for folder in studies.folders(paths.home()):
        summary = summary_of(folder)
        done = sum(row.verdict != "running" for row in summary.rows)
        rows.append((summary.name, summary.ended or "not finished", f"{done} of {len(summary.rows)}"))
    if as_json:
        names = ("study", "ended", "verdicts")
        sys.stdout.write(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=1) + "\n")
        return
    table = Table("study", "ended", "verdicts", box=None)
    for row in rows:
        table.add_row(*row)
    out.print(table if rows else "no study yet; `burnish tune sqlite` makes the first one")


def _print_inventory(items: list[cleaning.Kept], doomed: list[cleaning.Kept]) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("kind", "name", "what", "MB", "days unused", ""):
        table.add_column(name, justify="right" if name in ("MB", "days unused") else "left", overflow="fold")
    for item in items:
        table.add_row(
            item.kind,
            item.name,
            item.what,
            f"{item.size / 1e6:,.1f}",
            f"{item.age_s / cleaning.DAY_S:.1f}",
            "goes" if item in doomed else "",
        )
    out.print(table)
    out.print(f"{sum(item.size for item in items) / 1e6:,.0f} MB in {paths.home().root}")
