"""The verbs about the studies that ship: what there are, what each will cost, and running one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from burnish.base import paths
from burnish.catalogue import studies
from burnish.cli.common import (
    AsJson,
    Force,
    Fresh,
    MaxStarts,
    Pairs,
    Precision,
    Seed,
    Set,
    Starts,
    Strict,
    Yes,
    app,
    asker,
    names_of,
    precision_of,
    print_summary,
    progress,
    show_document,
    show_values,
    summary_of,
)
from burnish.report.sections.bundled import plan as plan_report
from burnish.report.values import catalogue as values
from burnish.study import runner
from burnish.study.constructors.bundled import bundled_study
from burnish.study.options import Options
from burnish.study.planning.study_plan import plan_of
from burnish.study.selection import Asked, budget_of, by_name
from burnish.workload import loads

study = typer.Typer(no_args_is_help=True, help="Published studies as one command each: list, show before, run.")
app.add_typer(study, name="study", epilog="Example: burnish study show mysql-manual --rows tls,strip")

Name = Annotated[str, typer.Argument(help="The study; `burnish study list` tells them.")]
Engine = Annotated[str | None, typer.Option(help="sqlite or mariadb; default: the study's own.")]
Rows = Annotated[str | None, typer.Option(help="Rows by name, separated by commas; default: all.")]
SeriesOption = Annotated[
    str | None, typer.Option("--series", help="Series (compilers, word sizes) by name; default: the first delivery's.")
]
Ladder = Annotated[str | None, typer.Option("--threads", help="Client threads of rows that have a ladder, as in 1,4.")]
Everything = Annotated[bool, typer.Option("--all", help="All series and threads of the study's file.")]
Budget = Annotated[str | None, typer.Option(help="Time for this sitting, as in 2h or 90m: rows that fit are run.")]
Release = Annotated[
    Path | None, typer.Option(help="A distribution's server program; default: the installed one, else its package.")
]
Second = Annotated[str | None, typer.Option(help="The compiler that stands for another patch level: a name or a path.")]
Features = Annotated[str | None, typer.Option(help="Feature set of all builds.")]
Source = Annotated[Path | None, typer.Option(help="A source tree or tarball instead of Debian's package.")]


@study.command("list", epilog="Example: burnish study list")
def list_studies(
    as_json: AsJson = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """List the studies that ship: what each replicates, and its rows."""
    every = [studies.study(name) for name in studies.names()]
    if as_json:
        show_values(values.studies(every))
    else:
        show_document(plan_report.listing(every))


@study.command("show", epilog="Example: burnish study show mysql-manual --budget 2h")
def show_study(
    name: Name,
    engine: Engine = None,
    rows: Rows = None,
    series: SeriesOption = None,
    threads: Ladder = None,
    everything: Everything = False,
    budget: Budget = None,
    second_compiler: Second = None,
    features: Features = None,
    source: Source = None,
    precision: Precision = "1%",
    max_starts: MaxStarts = 12,
    pairs: Pairs = None,
    starts: Starts = None,
    settings: Set = None,
    as_json: AsJson = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """Say what a study will do before it is run: rows, published figures, cells, minutes, disk, what is left out."""
    asked = _asked(rows, series, threads, everything)
    options = Options(
        features=features,
        source=source,
        precision=precision_of(precision),
        max_starts=max_starts,
        pairs=pairs,
        starts=starts,
        settings=tuple(settings or ()),
        second_compiler=second_compiler,
        budget=budget_of(budget),
    )
    found = bundled_study(name, engine, asked, options)
    plan = plan_of(paths.home(), found, by_name(found, asked), options)
    if as_json:
        show_values(values.bundled_plan(found, plan))
    else:
        show_document(plan_report.document(found, plan))


@study.command("run", epilog="Example: burnish study run sun-2008 --budget 2h    (and again: it goes on)")
def run_study(
    name: Name,
    engine: Engine = None,
    rows: Rows = None,
    series: SeriesOption = None,
    threads: Ladder = None,
    everything: Everything = False,
    budget: Budget = None,
    release: Release = None,
    second_compiler: Second = None,
    features: Features = None,
    source: Source = None,
    precision: Precision = "1%",
    max_starts: MaxStarts = 12,
    pairs: Pairs = None,
    starts: Starts = None,
    force: Force = False,
    seed: Seed = 1,
    jobs: Annotated[int | None, typer.Option(min=1, help="Parallel compile jobs; default: all cores.")] = None,
    settings: Set = None,
    strict: Strict = False,
    fresh: Fresh = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Run a study, or go on with it: the same command again takes up what is still open."""
    asked = _asked(rows, series, threads, everything)
    options = Options(
        features=features,
        source=source,
        precision=precision_of(precision),
        max_starts=max_starts,
        pairs=pairs,
        starts=starts,
        force=force,
        seed=seed,
        jobs=jobs,
        settings=tuple(settings or ()),
        strict=strict,
        fresh=fresh,
        yes=yes,
        release=release,
        second_compiler=second_compiler,
        budget=budget_of(budget),
    )
    found = bundled_study(name, engine, asked, options)
    folder = runner.run(paths.home(), found, options, progress, asker(), asked)
    print_summary(summary_of(folder), as_json)


def _asked(rows: str | None, series: str | None, threads: str | None, everything: bool) -> Asked:
    return Asked(
        rows=names_of(rows),
        series=names_of(series),
        threads=loads.ladder(threads),
        everything=everything,
    )
