"""The verbs that show and tidy up: no build, no trial."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from burnish.base import netns, paths, process, system
from burnish.base.errors import UserError
from burnish.bench.host import read_host
from burnish.catalogue import load
from burnish.cli.common import (
    AsJson,
    Yes,
    app,
    asker,
    print_summary,
    progress,
    show_document,
    show_values,
    summary_of,
)
from burnish.record import exchange
from burnish.record.lines import is_file_name
from burnish.report.committed import result_of_file
from burnish.report.contents import document
from burnish.report.examination.examine import examine
from burnish.report.examination.finding import PROGRAMS
from burnish.report.render.markdown import markdown as as_markdown
from burnish.report.sections import doctor as doctor_report
from burnish.report.sections import kept as kept_report
from burnish.report.values import kept as values
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
    summary = result_of_file(place) if file else summary_of(place)
    if markdown:
        sys.stdout.write(as_markdown(document(summary)))
        return
    print_summary(summary, as_json)


@app.command(epilog="Example: burnish doctor --json")
def doctor(as_json: AsJson = False, yes: Yes = False) -> None:  # noqa: ARG001 - the launcher takes --yes
    """Say what this machine has and lacks: each lack with its consequence and the command that mends it."""
    facts = read_host(paths.home().root)
    needed = {spec.name: disk_needed(spec, len(spec.ladder)) for spec in load.engines().values()}
    toolchains = find_toolchains()
    programs = system.find_programs(PROGRAMS)
    findings = examine(facts, toolchains, programs, needed, link_parts.offers(toolchains), netns.offers())
    if as_json:
        show_values(values.findings(findings, facts))
    else:
        show_document(doctor_report.document(findings))


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
            show_values(values.inventory(items, doomed))
        else:
            show_document(kept_report.inventory(items, doomed, home.root))
        if not doomed:
            return
        ask = asker()
        if not yes and (ask is None or not ask(f"remove {len(doomed)} entries?")):
            raise UserError("clean: nothing was removed; answer yes, or say --yes")
        freed = cleaning.remove(home, doomed)
        progress.print(f"freed {freed / 1e6:,.0f} MB")


def _list_studies(as_json: bool) -> None:
    lines = [kept_report.run_line(summary_of(folder)) for folder in studies.folders(paths.home())]
    if as_json:
        show_values(values.runs(lines))
    else:
        show_document(kept_report.runs(lines))
