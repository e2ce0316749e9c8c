"""Whether routine tuning is done before builds are compared: what a wrong setting costs dwarfs any build; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import dropwhile, islice, takewhile

from burnish.base.errors import UserError, nearest
from burnish.model.workload import Workload
from burnish.workload.conditions import without_affix

STATEMENTS = 11
"""Most statements that sysbench's scripts prepare for each table in each connection, BEGIN and COMMIT included."""

SPARE = 5
"""Connections beside the load's: the controller's own questions."""

LOG_SHARE, LOG_ENOUGH = 8, 1 << 30
"""A redo log is large enough from an eighth of the buffer pool, or a gigabyte, on."""

_LOG_SIZES = ("innodb_redo_log_capacity", "innodb_log_file_size")

_UNGIVEN = 100 << 20
"""``innodb_redo_log_capacity`` as the server prints it where it is not given."""

_TABLE, _TABLE_HEAD = "Variables (--variable-name=value)", 3
"""The line with which the table of settings begins, and the lines of its head: this one, one more, and dashes."""

_ON = {"TRUE", "ON", "1"}


@dataclass(frozen=True)
class Facts:
    """What is checked.

    Attributes:
        values: the server's variables as it reads its options, by name with underscores.
        workload: the load.
        data_bytes: size of the tables.
    """

    values: Mapping[str, str]
    workload: Workload
    data_bytes: int


def defaults_in(lines: Iterable[str]) -> dict[str, str]:
    """The settings and their values in the output of ``--help --verbose``: a table that ends with an empty line."""
    values = {}
    for line in takewhile(str.strip, islice(dropwhile(_above_table, lines), _TABLE_HEAD, None)):
        name, _, value = line.strip().partition(" ")
        values[name] = value.strip()
    return values


def _above_table(line: str) -> bool:
    return not line.startswith(_TABLE)


def parse_help(text: str) -> dict[str, str]:
    """Variables and values in what a server prints for ``--help --verbose``, by name with underscores.

    Options without a variable (``--skip-...`` and the like) are in the list with the value ''.
    """
    lines = text.splitlines()
    values = {
        name.replace("-", "_"): value.replace("(No default value)", "") for name, value in defaults_in(lines).items()
    }
    options = {}
    for row in takewhile(_above_table, lines):
        for word in row.split(",") if row.lstrip().startswith("-") else []:
            option = word.strip().partition("=")[0].partition("[")[0].split(" ")[0]
            if option.startswith("--"):
                options[option[2:].replace("-", "_")] = ""
    return {**options, **values}


def check_names(settings: Iterable[str], values: Mapping[str, str], server: str, origin: str) -> None:
    """A `UserError` with the nearest name for a setting that the server does not know; `origin`: who gave them."""
    for name in settings:
        if not {name, without_affix(name)} & set(values):
            raise UserError(
                f"unknown server variable {name!r}{nearest(name, values)} in {origin}; `{server} "
                "--no-defaults --help --verbose` lists all of them"
            )


def dedicated(values: Mapping[str, str]) -> bool:
    """Whether the server is to size its buffer pool and its log by the machine's memory."""
    return values.get("innodb_dedicated_server", "").upper() in _ON


def warnings(facts: Facts) -> list[str]:
    """Poorly tuned settings, one line each, beginning with the variable.

    Raises:
        UserError: the load can't even connect.
    """
    values, threads = facts.values, facts.workload.threads
    connections = _number(values, "max_connections")
    if connections is not None and connections < threads + SPARE:
        raise UserError(
            f"max_connections is {connections}, but {facts.workload.name} has {threads} client threads (and "
            f"{SPARE} connections are Burnish's); --set max_connections={threads + SPARE} or more"
        )
    sizes = () if dedicated(values) else (_memory(facts), _log(facts))  # the server knows its own only when it runs
    warnings = (*sizes, *_logs(values), _prepared(facts), _tables(facts))
    return [line for line in warnings if line]


def _number(values: Mapping[str, str], name: str) -> int | None:
    text = values.get(name, "")
    return int(text) if text.lstrip("-").isdigit() else None


def _memory(facts: Facts) -> str | None:
    pool = _number(facts.values, "innodb_buffer_pool_size")
    # Whether a user's own data are meant to fit is not known, so this is a warning and makes no pair invalid.
    if pool is None or pool >= facts.data_bytes or not (facts.workload.in_memory or facts.workload.own_data):
        return None
    return (
        f"innodb_buffer_pool_size is {_mb(pool)}, the data of {facts.workload.name} are {_mb(facts.data_bytes)}: "
        "the disk is measured, not the build"
    )


def _log(facts: Facts) -> str | None:
    # MySQL since 8.0.30 has one size for all files of its log.
    name = next((name for name in _LOG_SIZES if name in facts.values), _LOG_SIZES[-1])
    log, pool = _number(facts.values, name), _number(facts.values, "innodb_buffer_pool_size")
    file, files = (_number(facts.values, each) for each in ("innodb_log_file_size", "innodb_log_files_in_group"))
    if log == _UNGIVEN and file is not None:  # then the older names count
        log = max(log, file * (files or 1))
    if not facts.workload.writes or log is None or pool is None or log >= min(pool // LOG_SHARE, LOG_ENOUGH):
        return None
    return (
        f"{name} is {_mb(log)}, less than an eighth of the buffer pool ({_mb(pool)}): "
        f"{facts.workload.name} will wait for checkpoints"
    )


def _logs(values: Mapping[str, str]) -> list[str]:
    warnings = [
        f"{name} is on: each statement is written to a file"
        for name in ("slow_query_log", "general_log")
        if values.get(name, "").upper() in _ON
    ]
    if values.get("query_cache_type", "OFF").upper() not in ("OFF", "0"):
        warnings.append("query_cache_type is on: equal statements are answered without being run")
    return warnings


def _prepared(facts: Facts) -> str | None:
    most = _number(facts.values, "max_prepared_stmt_count")
    tables = int(facts.workload.parameter("tables", "1")) if facts.workload.parameter("tables", "1").isdigit() else 1
    needed = 0 if facts.workload.parameter("db_ps_mode") == "disable" else facts.workload.threads * tables * STATEMENTS
    if most is None or most >= needed:
        return None
    return (
        f"max_prepared_stmt_count is {most}, {facts.workload.threads} threads on {tables} tables may prepare {needed}"
    )


def _tables(facts: Facts) -> str | None:
    most = _number(facts.values, "table_open_cache")
    text = facts.workload.parameter("tables", "1")
    needed = facts.workload.threads * (int(text) if text.isdigit() else 1)
    if most is None or most >= needed:
        return None
    return f"table_open_cache is {most}, {facts.workload.threads} threads on {text} tables hold {needed} open"


def _mb(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MB"
