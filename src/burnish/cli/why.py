"""The verb that explains a difference."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.base import paths
from burnish.cli.common import AsJson, DesignOption, Seed, Yes, app, asker, out, print_summary, progress, summary_of
from burnish.study.options import Options
from burnish.study.why import sampling


@app.command(epilog="Example: burnish why baseline clang-pgo-thinlto --study mariadb-tune --workload oltp_read_only")
def why(
    first: Annotated[str, typer.Argument(metavar="A", help="A server program, or with --study a variant's name.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    workload: Annotated[str | None, typer.Option(help="The load; default: the engine's first.")] = None,
    engine: Annotated[str | None, typer.Option(help="Whose programs they are; found out when not said.")] = None,
    study: Annotated[str | None, typer.Option(help="The finished study whose variants A and B are.")] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=2, max=600, help="Time under load that is sampled; default: 40, or 100 without a PMU."),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, max=1024, help="Client threads of each side.")] = None,
    design: DesignOption = None,
    seed: Seed = 1,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Explain why one build takes less CPU time than another: functions, libraries, kernel, and the ceiling."""
    home = paths.home()
    request = sampling.requested(home, first, second, study, engine)
    options = Options(ladder=(threads,) if threads else (), design=design, seed=seed, yes=yes)
    folder = sampling.why(home, request, workload, seconds, options, progress, asker())
    print_summary(summary_of(folder), as_json)
    if not as_json:
        out.print(f"pictures: {folder}", markup=False, highlight=False, soft_wrap=True)
