"""What is found out about a load under a condition before anything is measured."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import pymysql

from burnish.base.errors import InfrastructureError, UserError
from burnish.base.workbench import Workbench
from burnish.catalogue import load
from burnish.engines.contract import SideSpec
from burnish.engines.mysql_family import own_data, tuning
from burnish.engines.mysql_family.product import Habits
from burnish.engines.mysql_family.server import private_options, setting_options
from burnish.engines.mysql_family.side import FamilySide, settings_of
from burnish.engines.shared import mixes, own_script, sql_bench
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.program.built import Built
from burnish.workload.conditions import plain, setting_name
from burnish.workload.sql import statements

REHEARSAL_S = 1.5
"""How long a user's load, or one under a condition of a user's, runs to see whether it runs at all."""


def examine(
    built: Built,
    habits: Habits,
    workload: Workload,
    condition: Condition,
    data: Path | None,
    place: Path,
    bench: Workbench,
) -> list[str]:
    """See `Engine.examine`."""
    values = variables(built, habits, workload, condition, place, bench)
    warnings = tuning.warnings(tuning.Facts(values, workload, own_data.size(data, workload.database) if data else 0))
    warnings += filter(None, [mixes.uneven(workload)])
    if data is not None and _unusual(workload, condition):
        copy = place / "data"
        bench.run("copy data", ["cp", "-a", "--reflink=auto", data, copy]).check(f"copying the data to {copy}")
        try:
            rehearse(built, habits, workload, condition, copy, place / "side", bench)
        except UserError as error:
            raise UserError("; ".join([str(error), *warnings])) from None
        finally:
            shutil.rmtree(copy, ignore_errors=True)
    return warnings


def variables(
    built: Built, habits: Habits, workload: Workload, condition: Condition, place: Path, bench: Workbench
) -> dict[str, str]:
    """The server's variables for this load, as it reads them itself; a `UserError` for one it does not know."""
    settings = settings_of(workload, condition)

    def ask(options: list[str]) -> tuple[list[str], bool]:
        lines: list[str] = []
        words = [str(built.server), *private_options(place), *built.options, *options, "--help", "--verbose"]
        done = bench.run("variables", words, cwd=place, env=dict(built.environment), timeout=60, on_line=lines.append)
        return lines, done.ok

    plainly, _ = ask([])
    values = tuning.parse_help("\n".join(plainly))
    for given, origin in ((condition.settings, "--set or --versus"), (workload.settings, _origin(workload))):
        strict = [plain(name) for name, _ in given if setting_name(name) == plain(name)]
        tuning.check_names(strict, values, str(built.server), origin)
    lines, ok = ask(setting_options(settings, habits.defaults))
    # It may complain about a value that it cannot read and still print a value for it.
    wrong = [error for error in _errors(lines) if error not in _errors(plainly)]
    if wrong or not ok:
        message = (wrong or lines[-1:] or ["it said nothing"])[0]
        raise UserError(f"the server refuses these settings: {message}")
    return tuning.parse_help("\n".join(lines))


def _origin(workload: Workload) -> str:
    """Who gave a load's settings: its entry, or those of its parts; else a user's file, which replaces them all."""
    shipped = load.workloads().get((workload.engine, workload.entry))
    entries = [shipped] if shipped else [part for part, _ in workload.parts]
    usual = {item for entry in entries for item in entry.settings}
    return f"what {workload.name} sets by itself" if usual.issuperset(workload.settings) else "--defaults-file"


def _errors(lines: Sequence[str]) -> list[str]:
    """What a server calls errors in what it prints."""
    return [line.partition("[ERROR]")[2].strip() for line in lines if "[ERROR]" in line]


def _unusual(workload: Workload, condition: Condition) -> bool:
    """Whether this load has not been run under these settings before."""
    shipped = load.workloads().get((workload.engine, workload.entry))
    if shipped is None or shipped.program == sql_bench.PROGRAM:
        return True
    if (shipped.settings, shipped.parameters) != (workload.settings, workload.parameters):
        return True
    return bool(condition.settings) or condition.transport != "unix"


def rehearse(
    built: Built,
    habits: Habits,
    workload: Workload,
    condition: Condition,
    data: Path,
    folder: Path,
    bench: Workbench,
) -> None:
    """Runs the load for a moment; a `UserError` in its own words when it fails.

    Raises:
        UserError: a statement that the server does not accept, a script that fails, a server that does not start.
    """
    folder.mkdir(mode=0o700)
    spec = SideSpec(
        label="rehearsal",
        built=built,
        condition=condition,
        workload=workload,
        data=data,
        folder=folder,
        seed=1,
        cores=frozenset(os.sched_getaffinity(0)),
    )
    side = FamilySide(spec, habits)
    try:
        try:
            side.boot()
        except InfrastructureError as error:
            raise UserError(f"{workload.name}: the server does not start under this condition: {_why(error)}") from None
        for part in (workload, *(part for part, _ in workload.parts)):
            if part.file.endswith(".sql"):
                _try_statements(side, part)
        side.load()
        end = time.monotonic() + REHEARSAL_S
        while time.monotonic() < end:
            time.sleep(0.05)
            trouble = side.trouble()
            if trouble is not None:
                # A user's script is run by one of ours, which is not the one that lacks something.
                message = trouble.removeprefix("rehearsal: ").replace("report.lua", workload.name)
                raise UserError(f"{workload.name}: {message}")
        facts = side.facts()
        bench.say(f"{workload.name}: runs" + "".join(f", {name} {value}" for name, value in facts.items() if value))
    finally:
        side.stop()


def _why(error: InfrastructureError) -> str:
    """The server's own first error line; our words where it wrote none."""
    text = error.log.read_text(errors="replace") if error.log and error.log.is_file() else ""
    return next(iter(_errors(text.splitlines())), "") or str(error)


def _try_statements(side: FamilySide, workload: Workload) -> None:
    """Has the server read each statement without running it, as far as it can be prepared."""
    units = statements.parse(own_script.unchanged(workload).decode(), workload.file)
    for unit in units:
        for statement in unit.statements:
            text = statements.example(statement)
            try:
                side.query(f"PREPARE burnish FROM '{pymysql.converters.escape_string(text)}'", workload.database)
            except pymysql.err.MySQLError as error:
                code, message = (*error.args, "", "")[:2]
                if code != 1295:  # can't be prepared: the rehearsal will show
                    shown = " ".join(statement.split())[:60]
                    raise UserError(f"{workload.file}:{unit.line}: {message} (in: {shown})") from None
