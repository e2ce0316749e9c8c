"""The verbs that build and measure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.bench.host import read_host
from burnish.bench.topology import duet_core_sets
from burnish.cli.common import (
    AsJson,
    Data,
    Database,
    DefaultsFile,
    DesignOption,
    Explore,
    Force,
    Fresh,
    MaxStarts,
    Pairs,
    Portability,
    Portable,
    Precision,
    Seed,
    Set,
    Starts,
    Strict,
    Threads,
    Variants,
    Workloads,
    Yes,
    app,
    asker,
    design_of,
    loads_of,
    names_of,
    precision_of,
    print_plan,
    print_summary,
    progress,
    replicates_of,
    summary_of,
)
from burnish.study import runner
from burnish.study.constructors.calibrate import calibrate_study
from burnish.study.constructors.compare import compare_study
from burnish.study.constructors.tune import tune_study
from burnish.study.options import Options
from burnish.study.planning.study_plan import plan_of, steps_of
from burnish.study.selection import Asked, by_name
from burnish.workload import loads


@app.command(epilog="Example: burnish tune mariadb --workloads oltp_read_only --precision 0.5%")
def tune(
    engine: Annotated[str, typer.Argument(help="sqlite or mariadb.")],
    variants: Variants = None,
    workloads: Workloads = None,
    recipes: Annotated[Path | None, typer.Option(help="TOML file with variants of your own.")] = None,
    features: Annotated[str | None, typer.Option(help="Feature set of all variants.")] = None,
    source: Annotated[Path | None, typer.Option(help="A source tree or tarball instead of Debian's package.")] = None,
    source_version: Annotated[str | None, typer.Option(help="Version of Debian's source package.")] = None,
    sha256: Annotated[str | None, typer.Option(help="Digest that a --source tarball must have.")] = None,
    threads: Threads = None,
    precision: Precision = "1%",
    max_starts: MaxStarts = 12,
    pairs: Pairs = None,
    starts: Starts = None,
    design: DesignOption = None,
    explore: Explore = False,
    layouts: Annotated[
        int, typer.Option(min=0, max=60, help="Build each variant so often, each in a shuffled link order.")
    ] = 0,
    trainings: Annotated[
        int, typer.Option(min=0, max=60, help="Train each profile so often, with keys of its own.")
    ] = 0,
    force: Force = False,
    seed: Seed = 1,
    jobs: Annotated[int | None, typer.Option(min=1, help="Parallel compile jobs; default: all cores.")] = None,
    settings: Set = None,
    data: Data = None,
    database: Database = None,
    defaults_file: DefaultsFile = None,
    strict: Strict = False,
    portable: Portable = None,
    portability: Portability = False,
    fresh: Fresh = False,
    yes: Yes = False,
    as_json: AsJson = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and end, as the verb plan does.")] = False,
) -> None:
    """Build a server many ways from source, test each build, and say which is fastest."""
    options = Options(
        variants=names_of(variants),
        recipes=recipes,
        workloads=loads_of(workloads),
        features=features,
        source=source,
        source_version=source_version,
        sha256=sha256,
        ladder=loads.ladder(threads),
        settings=tuple(settings or ()),
        data=data,
        database=database,
        defaults_file=defaults_file,
        strict=strict,
        precision=precision_of(precision),
        max_starts=max_starts,
        pairs=pairs,
        starts=starts,
        design=design,
        explore=explore,
        layouts=replicates_of("--layouts", layouts),
        trainings=replicates_of("--trainings", trainings),
        force=force,
        seed=seed,
        jobs=jobs,
        fresh=fresh,
        yes=yes,
        portable=portable,
        portability=portability,
    )
    home, study = paths.home(), tune_study(engine, options)
    if dry_run:
        plan = plan_of(home, study, by_name(study, Asked()), options)
        print_plan(steps_of(home, study, plan, options), as_json)
        return
    folder = runner.run(home, study, options, progress, asker())
    print_summary(summary_of(folder), as_json)


@app.command(epilog="Example: burnish compare /usr/sbin/mariadbd ./mariadbd --engine mariadb --workloads igen_like")
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="The server program that ratios are against.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="The other server program.")],
    engine: Annotated[str, typer.Option(help="Which engine's programs they are.")],
    workloads: Workloads = None,
    threads: Threads = None,
    precision: Precision = "1%",
    max_starts: MaxStarts = 12,
    pairs: Pairs = None,
    starts: Starts = None,
    design: DesignOption = None,
    explore: Explore = False,
    force: Force = False,
    seed: Seed = 1,
    settings: Set = None,
    versus: Annotated[
        list[str] | None, typer.Option("--versus", help="As --set, for B alone: compares conditions, not builds.")
    ] = None,
    data: Data = None,
    database: Database = None,
    defaults_file: DefaultsFile = None,
    strict: Strict = False,
    fresh: Fresh = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Compare two server programs that exist already: no build, trial and verdict."""
    for option, path in (("A", first), ("B", second)):
        if not path.is_file():
            raise UserError(f"{option}: {path}: there is no such file; give the path of a server program")
    options = Options(
        workloads=loads_of(workloads),
        ladder=loads.ladder(threads),
        settings=tuple(settings or ()),
        data=data,
        database=database,
        defaults_file=defaults_file,
        strict=strict,
        versus=tuple(versus or ()),
        precision=precision_of(precision),
        max_starts=max_starts,
        pairs=pairs,
        starts=starts,
        design=design,
        explore=explore,
        force=force,
        seed=seed,
        fresh=fresh,
        yes=yes,
    )
    folder = runner.run(paths.home(), compare_study(engine, (first, second), options), options, progress, asker())
    print_summary(summary_of(folder), as_json)


@app.command(epilog="Example: burnish calibrate mariadb --workloads oltp_read_only --designs duet,interleaved")
def calibrate(
    engine: Annotated[str, typer.Argument(help="sqlite or mariadb.")],
    designs: Annotated[str, typer.Option(help="Trial designs, separated by commas.")] = "duet,interleaved,solo",
    workloads: Workloads = None,
    features: Annotated[str | None, typer.Option(help="Feature set of the baseline.")] = None,
    source: Annotated[Path | None, typer.Option(help="A source tree or tarball instead of Debian's package.")] = None,
    threads: Threads = None,
    pairs: Pairs = None,
    starts: Annotated[int, typer.Option(min=12, max=200, help="A/A starts under each design.")] = 12,
    seed: Seed = 1,
    fresh: Fresh = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Measure this host's noise with the baseline against itself; later studies use what is found."""
    chosen = [design_of(name) for name in names_of(designs)]
    options = Options(
        workloads=loads_of(workloads),
        features=features,
        source=source,
        ladder=loads.ladder(threads),
        pairs=pairs,
        starts=starts,
        seed=seed,
        fresh=fresh,
        yes=yes,
    )
    home = paths.home()
    twin_cores = duet_core_sets(read_host(home.root)) is not None
    study = calibrate_study(engine, chosen, options, twin_cores=twin_cores)
    folder = runner.run(home, study, options, progress, asker())
    print_summary(summary_of(folder), as_json)
