"""The verbs about bundled studies: what there are, what each will cost, and running one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from burnish.base import paths
from burnish.catalogue import studies
from burnish.cli import options as o
from burnish.cli.common import asker, finish, group, out, print_json, progress, verb
from burnish.report.bundled import plan as plan_report
from burnish.study.bundled import extras as study_extras
from burnish.study.bundled import run as running
from burnish.study.bundled import session
from burnish.study.bundled.session import Sitting
from burnish.study.options import Options
from burnish.study.planning import bundled_plan
from burnish.study.planning.bundled_plan import Asked

study = group(
    "study",
    "Replicate published studies: list, show, run.",
    example="burnish study show mysql-manual --row tls,strip",
)

PLANNED = (
    o.STUDY,
    replace(o.ENGINE_OPTION, unset="the study's own", common=False),
    *o.PART,
    replace(o.THREADS, field="threads", unset="the usual ones"),
    o.SECOND_COMPILER,
    o.FEATURES,
    o.SOURCE,
    o.SET,
    o.PRECISION,
    o.MAX_STARTS,
    o.STARTS,
    o.PAIRS,
    o.BUDGET,
)
"""What of a study, and how; a plan and a run take the same."""


@verb("list", o.JSON, of=study, example="burnish study list")
def list_studies(as_json: bool) -> None:
    """List the bundled studies: what each replicates, and its rows."""
    every = [studies.study(name) for name in studies.names()]
    if as_json:
        print_json(
            [
                {
                    "study": found.name,
                    "title": found.title,
                    "reason": found.reason,
                    "sources": found.sources,
                    "rows": [row.name for row in found.rows],
                }
                for found in every
            ]
        )
        return
    out.print(plan_report.listing(every))


@verb("show", *PLANNED, o.JSON, of=study, example="burnish study show mysql-manual --budget 2h")
def show(
    name: str,
    engine: str | None,
    rows: tuple[str, ...],
    series: tuple[str, ...],
    threads: tuple[int, ...],
    everything: bool,
    budget: float | None,
    second_compiler: str | None,
    options: Options,
    as_json: bool,
) -> None:
    """Show what a study will do: rows, published figures, cells, minutes, disk, what is left out and why."""
    asked = Asked(rows=rows, series=series, threads=threads, everything=everything, budget=budget)
    sitting = Sitting(name, engine, asked, second=second_compiler)
    home = paths.home()
    table = session.table_of(sitting, options)
    selection = bundled_plan.by_name(table, asked)
    definition = session.definition_of(table, options)
    found, extras = running.forecast(home, table, selection, asked, options, definition)
    selection = bundled_plan.within(selection, found, asked.budget)
    found = found.of([bundled_plan.unit_of(comparison) for comparison in selection.chosen])
    beyond = study_extras.within(extras, found, selection, asked.budget)
    if as_json:
        print_json(plan_report.as_dict(table, found, selection, *beyond))
    else:
        out.print(plan_report.render(table, found, selection, *beyond))


@verb(
    "run",
    *PLANNED,
    o.RELEASE,
    o.STRICT,
    o.FORCE,
    o.SEED,
    o.JOBS,
    *o.SESSION,
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
    budget: float | None,
    release: Path | None,
    second_compiler: str | None,
    options: Options,
    as_json: bool,
) -> None:
    """Run a bundled study, or resume it: the same command again does what is still to be done."""
    asked = Asked(rows=rows, series=series, threads=threads, everything=everything, budget=budget)
    sitting = Sitting(name, engine, asked, release, second_compiler)
    finish(running.run(paths.home(), sitting, options, progress, asker()), as_json)
