"""The verbs about bundled studies: list them, show what one will cost, run one."""

from __future__ import annotations

from dataclasses import replace

from burnish.base import paths
from burnish.catalogue.bundled import files as studies
from burnish.cli import options as o
from burnish.cli.common import group, print_document, print_json, say, verb
from burnish.cli.measuring import check_hosts, measured
from burnish.cli.results import finish_all
from burnish.report.sections.bundled import plan as plan_report
from burnish.report.values import catalogue as values
from burnish.study.bundled.expansion import engines_of
from burnish.study.constructors.bundled import bundled_study
from burnish.study.planning.study_plan import check_inputs, plan_of
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name

study = group(
    "study",
    "Replicate published studies: list, show, run.",
    example="burnish study show mysql-manual --row tls,strip",
)

PLANNED = (
    o.STUDY,
    replace(o.ENGINE_OPTION, unset="the study's own"),
    *o.PART,
    replace(o.THREADS, field="threads", unset="the usual ones"),
    o.SECOND_COMPILER,
    o.FEATURES,
    *o.SOURCES,
    *o.PORTABILITY,
    *o.REPLICATES,
    *o.DEPLOYMENT,
    *o.EXPLANATION,
    o.PRECISION,
    o.MAX_STARTS,
    o.STARTS,
    o.PAIRS,
    o.PLACEMENT,
    o.BUDGET,
)
"""Options that choose what part of a study is run, and how; the same for a plan and a run."""


@verb("list", o.JSON, of=study, example="burnish study list")
def list_studies(as_json: bool) -> None:
    """List the bundled studies: what each replicates, its rows, and on which engines it can be run."""
    every = [(own, engines_of(own)) for own in map(studies.study, studies.names())]
    if as_json:
        print_json("studies", values.studies(every))
    else:
        print_document(plan_report.listing(every))


@verb("show", *PLANNED, o.JSON, of=study, example="burnish study show mysql-manual --budget 2h")
def show(
    name: str,
    engine: str | None,
    rows: tuple[str, ...],
    series: tuple[str, ...],
    threads: tuple[int, ...],
    everything: bool,
    options: Options,
    as_json: bool,
) -> None:
    """Show what a study will do: rows, published figures, cells, minutes, disk, what is left out and why."""
    asked = Asked(rows=rows, series=series, threads=threads, everything=everything)
    bundled = bundled_study(name, engine, asked, options)
    home = paths.home()
    if note := check_inputs(home, bundled, options):
        say(note)
    plan = plan_of(home, bundled, by_name(bundled, asked), options)
    if as_json:
        print_json("study-plan", values.bundled_plan(bundled, plan))
    else:
        print_document(plan_report.document(bundled, plan))


@verb(
    "run",
    *PLANNED,
    o.RELEASE,
    o.FORCE,
    o.SEED,
    o.JOBS,
    *o.SESSION,
    o.DRY_RUN,
    o.FULL,
    o.JSON,
    of=study,
    example="burnish study run sun-2008 --budget 2h    (again: it resumes)",
    resumes=True,
)
def run(
    name: str,
    engine: str | None,
    rows: tuple[str, ...],
    series: tuple[str, ...],
    threads: tuple[int, ...],
    everything: bool,
    options: Options,
    as_json: bool,
    full: bool,
    dry_run: bool,
) -> None:
    """Run a bundled study, or resume it: the same command again does what is still to be done."""
    asked = Asked(rows=rows, series=series, threads=threads, everything=everything)
    bundled = bundled_study(name, engine, asked, options)
    if dry_run:
        check_hosts(paths.home(), bundled, options)
        show(name, engine, rows, series, threads, everything, options, as_json)
        return
    finish_all(measured(paths.home(), bundled, options, asked), as_json, full=full)
