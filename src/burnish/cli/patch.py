"""The verb that studies patches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from burnish.base import paths
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
    Precision,
    Seed,
    Set,
    Starts,
    Strict,
    Threads,
    Workloads,
    Yes,
    app,
    asker,
    loads_of,
    precision_of,
    print_summary,
    progress,
    replicates_of,
    summary_of,
)
from burnish.study import runner
from burnish.study.constructors.patch import Asked, patch_study
from burnish.study.options import Options
from burnish.workload import loads


@app.command(epilog="Example: burnish patch mariadb crc32c.patch spin.patch --workloads oltp_read_only --why")
def patch(
    target: Annotated[str, typer.Argument(metavar="TREE", help="A source tree, or an engine: sqlite or mariadb.")],
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="PATCH...",
            help="Patch files (-p1), a quilt series (its file or folder), or a git range A..B of the tree "
            "(FOLDER:A..B of another).",
        ),
    ],
    variant: Annotated[str, typer.Option(help="The recipe of every row: that of this variant.")] = "baseline",
    reverse: Annotated[
        list[str] | None,
        typer.Option(
            "--reverse", "-R", help="A patch, by name, that the tree has and that is taken out; 'all' for every one."
        ),
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Sample the builds after the trials: functions before and after.")
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=2, max=600, help="With --why: time under load that is sampled; default: 40, or 100 without a PMU."
        ),
    ] = None,
    engine: Annotated[str | None, typer.Option(help="Whose source tree it is; found out when not said.")] = None,
    recipes: Annotated[Path | None, typer.Option(help="TOML file with variants of your own, for --variant.")] = None,
    workloads: Workloads = None,
    features: Annotated[str | None, typer.Option(help="Feature set of all builds.")] = None,
    source_version: Annotated[str | None, typer.Option(help="Version of Debian's source package.")] = None,
    sha256: Annotated[str | None, typer.Option(help="Digest that a tarball must have.")] = None,
    threads: Threads = None,
    precision: Precision = "1%",
    max_starts: MaxStarts = 12,
    pairs: Pairs = None,
    starts: Starts = None,
    design: DesignOption = None,
    explore: Explore = False,
    layouts: Annotated[
        int, typer.Option(min=0, max=60, help="Make each build so often, each in a shuffled link order.")
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
    fresh: Fresh = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Say what each patch of a series does for a load: alone, together with the others, and when it is left out."""
    options = Options(
        recipes=recipes,
        workloads=loads_of(workloads),
        features=features,
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
        why=why,
        seconds=seconds,
    )
    asked = Asked(target, tuple(words), engine, variant, reverse=tuple(reverse or ()))
    home = paths.home()
    study = patch_study(home, asked, options, progress, asker())
    folder = runner.run(home, study, options, progress, asker())
    print_summary(summary_of(folder), as_json)
