"""The verb that explains a difference."""

from __future__ import annotations

from dataclasses import replace

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.cli import options as o
from burnish.cli.common import asker, line, progress, verb
from burnish.cli.declaration import Argument
from burnish.cli.results import finish, run_named
from burnish.study.request.options import Options
from burnish.study.why import sampling


@verb(
    "why",
    Argument("first", "A", "A server program, or with --run a variant's name."),
    Argument("second", "B", "The other one, which is explained against A."),
    o.RUN_OPTION,
    replace(o.ENGINE_OPTION, unset="found out"),
    *o.LOAD,
    o.SECONDS,
    o.SIMULATE,
    o.DESIGN,
    o.PLACEMENT,
    o.SEED,
    o.YES,
    o.QUIET,
    o.JSON,
    example="burnish why baseline clang-pgo-thinlto --run {engine}-tune --workload {workload}",
)
def why(
    first: str,
    second: str,
    run: str | None,
    engine: str | None,
    seconds: float | None,
    simulate: bool,
    options: Options,
    as_json: bool,
) -> None:
    """Explain why one build takes less CPU time than another.

    Both are sampled under the same load: functions, libraries, kernel, and how much a compiler could still save.
    """
    for name, words in (("--workload", options.workloads), ("--threads", options.ladder)):
        if len(words) > 1:
            given = ",".join(str(word) for word in words)
            raise UserError(f"{name} {given}: one load is sampled; give one, and call `burnish why` again for another")
    home = paths.home()
    request = sampling.requested(home, first, second, str(run_named(run)) if run else None, engine)
    workload = next(iter(options.workloads), None)
    folder = sampling.why(home, request, workload, seconds, options, progress, asker(), simulated=simulate)
    finish(folder, as_json, full=True)
    if not as_json:
        line(f"pictures: {folder}")
