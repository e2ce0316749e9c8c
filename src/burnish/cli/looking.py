"""The verbs that show results, runs, the machine and help."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.cli import help as pages
from burnish.cli import options as o
from burnish.cli import readers
from burnish.cli.binding import help_of
from burnish.cli.common import print_document, print_json, say, verb
from burnish.cli.declaration import Argument
from burnish.cli.results import print_result, result_of, run_named
from burnish.record import exchange
from burnish.record.lines import is_file_name
from burnish.report.committed import result_of_file
from burnish.report.contents import document
from burnish.report.render.markdown import markdown as as_markdown
from burnish.report.sections import kept as kept_report
from burnish.report.values import kept as values
from burnish.study.kept import runs as studies


@verb(
    "show", o.RUN, o.FULL, o.LIST, o.MARKDOWN, o.EXPORT, o.JSON,
    example="burnish show {engine}-tune-20261121 --markdown > result.md",
)  # fmt: skip
def show(run: str | None, full: bool, only_list: bool, markdown: bool, export: bool, as_json: bool) -> None:
    """Print what a run came to: what to take, how sure, where it is.

    From its record alone. --full prints all that was measured; --markdown is always whole.
    """
    forms = [name for name, given in (("--json", as_json), ("--markdown", markdown), ("--export", export)) if given]
    if len(forms) > 1:
        raise UserError(f"{' and '.join(forms)}: each prints another form; give one of them")
    if only_list:
        if run is not None or markdown or export:
            raise UserError(f"--list lists all runs; leave {run or forms[0]} out")
        runs(as_json)
        return
    file = Path(run) if run is not None and is_file_name(run) else None
    place = file or run_named(run)
    if export:
        sys.stdout.write(exchange.as_text(exchange.read_events(place) if file else exchange.study_events(place)))
        return
    result = result_of_file(place) if file else result_of(place)
    if markdown:
        sys.stdout.write(as_markdown(document(result)))
        return
    print_result(result, as_json, place, full=full)


@verb("runs", o.JSON, example="burnish runs")
def runs(as_json: bool) -> None:
    """List the runs on this machine, each with its winner."""
    every = []
    for folder in studies.folders(paths.home()):
        try:
            every.append(kept_report.run_line(result_of(folder)))
        except UserError as error:  # damaged, or of a newer Burnish
            say(f"left out: {error}")
    if as_json:
        print_json("runs", values.runs(every))
    else:
        print_document(kept_report.runs(every))


@verb("doctor", o.JSON, example="burnish doctor")
def doctor(as_json: bool) -> None:
    """Check this machine; show what is missing and how to fix it."""
    from burnish.base import netns, system
    from burnish.bench.host import read_host
    from burnish.catalogue import load
    from burnish.report.examination.examine import examine
    from burnish.report.examination.finding import PROGRAMS
    from burnish.report.sections import doctor as doctor_report
    from burnish.study.needs import disk_of_ladder
    from burnish.toolchain import link_parts
    from burnish.toolchain.toolchains import find_toolchains

    home: Path | None = None
    why = ""
    try:
        home = paths.home().root
    except UserError as error:
        why = str(error)
    facts = read_host(home)
    needed = {spec.name: disk_of_ladder(spec) for spec in load.engines().values()}
    toolchains = find_toolchains()
    programs = system.find_programs(PROGRAMS)
    offers, newest = link_parts.offers(toolchains), system.newest("clang-newest")
    findings = examine(facts, toolchains, programs, needed, offers, netns.offers(), newest, why)
    if as_json:
        print_json("doctor", values.findings(findings, facts))
    else:
        print_document(doctor_report.document(findings))


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
