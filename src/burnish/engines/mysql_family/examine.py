"""What is found out about a load under a condition before anything is measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymysql

from burnish.base.errors import UserError
from burnish.base.workbench import Workbench
from burnish.catalogue import load
from burnish.engines.contract import SideSpec
from burnish.engines.mysql_family import own_data, tuning
from burnish.engines.mysql_family.product import Habits
from burnish.engines.mysql_family.server import private_options, setting_options
from burnish.engines.mysql_family.side import FamilySide, settings_of
from burnish.engines.shared import mixes, own_script, rehearsal, sql_bench
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.program.built import Built
from burnish.workload.conditions import plain, setting_name
from burnish.workload.sql import statements


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
    if data is not None and (workload.program == sql_bench.PROGRAM or rehearsal.unusual(workload, condition)):

        def side(spec: SideSpec) -> FamilySide:
            return FamilySide(spec, habits)

        try:
            rehearsal.rehearse(side, built, workload, condition, data, place, bench, first=_try_statements)
        except UserError as error:
            raise UserError("; ".join([str(error), *warnings])) from None
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


def _try_statements(side: FamilySide) -> None:
    """Has the server read each of a user's statements without running it, as far as it can be prepared."""
    whole = side.spec.workload
    for workload in (whole, *(part for part, _ in whole.parts)):
        if not workload.file.endswith(".sql"):
            continue
        for unit in statements.parse(own_script.unchanged(workload).decode(), workload.file):
            for statement in unit.statements:
                _prepare(side, workload, statement, unit.line)


def _prepare(side: FamilySide, workload: Workload, statement: str, line: int) -> None:
    text = pymysql.converters.escape_string(statements.example(statement))
    try:
        side.query(f"PREPARE burnish FROM '{text}'", workload.database)
    except pymysql.err.MySQLError as error:
        code, message = (*error.args, "", "")[:2]
        if code != 1295:  # can't be prepared: the rehearsal will show
            shown = " ".join(statement.split())[:60]
            raise UserError(f"{workload.file}:{line}: {message} (in: {shown})") from None
