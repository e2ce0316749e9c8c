"""sql-bench, "the MySQL benchmarks": Perl scripts of MariaDB's own tree, each a fixed piece of work by one client.

Their files are used unchanged, under the names that MariaDB's build gives them. A pass through a test is a unit: it
is run again and again, and its wall time and the server's CPU time for it are what is read.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from burnish.base.errors import UserError, unknown
from burnish.engines.shared.load_process import LoadProcess
from burnish.engines.shared.sysbench import Address
from burnish.engines.side import Tick
from burnish.model.workload import Workload
from burnish.workload import loads
from burnish.workload.loads import Asked, Parameter

PROGRAM = "sql-bench"
"""`Workload.program` of the loads that are sql-bench's."""

PACKAGES = "sql-bench"
"""The group of Debian packages that it needs."""

TESTS = (
    "ATIS",
    "alter-table",
    "big-tables",
    "connect",
    "create",
    "insert",
    "select",
    "table-elimination",
    "transactions",
    "wisconsin",
)
"""Its tests, as run-all-tests runs them."""

PLACE = ".sql-bench"
"""Where a dataset holds it: the server takes no folder whose name begins with a dot for a database."""

TREE = "tree"
"""Parameter: the folder sql-bench of a source tree."""

PARAMETERS: Mapping[str, Parameter] = {
    "tests": Parameter("text"),
    "small_test": Parameter("switch"),
    "fast": Parameter("switch"),
    "lock_tables": Parameter("switch"),
    "loop_count": Parameter("number"),
    "loops": Parameter("text"),
    "row_count": Parameter("number"),
    "engine": Parameter("text", ("InnoDB", "Aria", "MyISAM", "MEMORY")),
    TREE: Parameter("text"),
}

_SWITCHES = ("small_test", "fast", "lock_tables")
_NUMBERS = ("loop_count", "row_count")
_NEEDED = ("bench-init.pl", "server-cfg")
_LOOP = Path(__file__).with_name("sql_bench_loop.py")
_SERVER = re.compile(r"^Testing server '([^']*)'", re.MULTILINE)
_FIRST_PASS_S, _PASSES = 1200.0, 10
_HEAD = 4096
_LAST = 3
_ERROR = re.compile(r"\berror\b|Can't|failed:", re.IGNORECASE)


def tests_of(text: str) -> tuple[str, ...]:
    """The tests in a parameter's text, as in ``ATIS+select``; a `UserError` for one that is none."""
    names = [name.strip() for name in text.split("+") if name.strip()]
    for name in names:
        if name not in TESTS:
            raise unknown("test of sql-bench", name, TESTS)
        if names.count(name) > 1:
            raise UserError(f"sql_bench: tests={text}: {name} is named twice; name each once")
    if not names:
        raise UserError(f"sql_bench: tests={text}: name tests with a + between them, as in tests=ATIS+select")
    return tuple(names)


def loops_of(text: str) -> dict[str, str]:
    """Loop counts by test, as in ``ATIS=500+select=100``; a `UserError` where that can't be read."""
    loops = {}
    for word in filter(None, () if text == "none" else text.split("+")):
        name, _, number = word.partition("=")
        tests_of(name)
        if not number.isdecimal() or not int(number):
            raise UserError(f"sql_bench: loops={text}: {word!r}: give TEST=NUMBER, as in ATIS=500+select=100")
        loops[name] = number
    return loops


def each_test(entry: Workload, wanted: Asked) -> list[Workload]:
    """The requested tests, each a separate load, so that each has its own reading and verdict.

    Args:
        entry: sql-bench as the catalogue has it.
        wanted: as it was asked for.
    """
    given = dict(wanted.parameters)
    asked = tests_of(given.get("tests", entry.parameter("tests")))
    loops_of(given.get("loops", ""))
    workloads = [loads.applied(entry, Asked(entry.name, tuple({**given, "tests": name}.items()))) for name in asked]
    check_clients(workloads[0].threads)
    return workloads


def check_clients(threads: int) -> None:
    """A `UserError` where more than the one client is asked for that its tests have."""
    if threads != 1:
        raise UserError(f"sql_bench: {threads} client threads: its tests have one client each; leave threads out")


def is_nowhere(workload: Workload) -> bool:
    """Whether the load is of sql-bench and lacks its path."""
    return workload.program == PROGRAM and not workload.parameter(TREE)


def located(workload: Workload, source: Path) -> Workload:
    """The load; a load of sql-bench without its path gets that from this source tree of the server."""
    if not is_nowhere(workload):
        return workload
    return replace(workload, parameters=(*workload.parameters, (TREE, str(source / PROGRAM))))


def put(workload: Workload, data: Path) -> None:
    """Puts sql-bench into a dataset, as MariaDB's build installs it: unchanged files, without the suffix ``.sh``.

    Raises:
        UserError: it is not at the workload's path.
    """
    tree = Path(workload.parameter(TREE))
    files = [path for path in sorted(tree.glob("*")) if path.is_file() and _wanted(path.name)]
    names = {path.name.removesuffix(".sh") for path in files}
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise UserError(
            f"sql_bench: {tree}: no {', '.join(missing)} in it; name the folder sql-bench of the server's source, as "
            "in sql_bench:tree=/usr/src/server/sql-bench"
        )
    place = data / PLACE
    place.mkdir(mode=0o700)
    for path in files:
        shutil.copyfile(path, place / path.name.removesuffix(".sh"))
    if (tree / "Data").is_dir():
        shutil.copytree(tree / "Data", place / "Data")


def _wanted(name: str) -> bool:
    plain = name.removesuffix(".sh")
    return plain in _NEEDED or plain.startswith("test-")


def command(workload: Workload, test: str, address: Address) -> list[str]:
    """The command line of one test.

    Args:
        workload: with its parameters.
        test: its name.
        address: where the server answers.
    """
    given = dict(workload.parameters)
    words = ["perl", f"./test-{test}", "--server=mariadb", "--user=root", f"--database={workload.database}"]
    if address.port is None:
        words.append(f"--socket={address.socket}")
    else:
        options = {"port": str(address.port)}
        if address.tls:
            # Its driver enforces encryption only where the server's name is checked; whether the connections are
            # encrypted is what `cipher` tells.
            options |= {"mariadb_ssl": "1", "mariadb_ssl_optional": "1", "mariadb_ssl_verify_server_cert": "0"}
        words += [f"--host={address.host}", "--tcpip"]
        words.append("--connect-options=" + ";".join(f"{name}={value}" for name, value in options.items()))
    words += [f"--{name.replace('_', '-')}" for name in _SWITCHES if given.get(name) == "on"]
    numbers = {"loop_count": loops_of(given.get("loops", "")).get(test, "")} | given
    words += [f"--{name.replace('_', '-')}={numbers[name]}" for name in _NUMBERS if numbers.get(name)]
    if given.get("engine"):
        words.append(f"--create-options=ENGINE={given['engine']}")
    return words


class SqlBenchLoad(LoadProcess):
    """Passes through sql-bench's tests on one server, from `start` until `stop`.

    Args:
        workload: the load.
        address: where the server answers.
        data: the side's data, in which sql-bench is.
        server_pid: the server, whose CPU clock is read after each pass.
        folder: private folder for the ticks and the log.
        cores: CPU numbers at launch; None: all.
    """

    def __init__(
        self,
        workload: Workload,
        address: Address,
        *,
        data: Path,
        server_pid: int,
        folder: Path,
        cores: frozenset[int] | None,
    ) -> None:
        tests = tests_of(workload.parameter("tests"))
        commands = [command(workload, test, address) for test in tests]
        ticks = folder / "ticks.jsonl"
        loop = [sys.executable, "-I", "-S", str(_LOOP), str(ticks), str(server_pid), json.dumps(commands)]
        log = folder / "sql-bench.log"
        argv = [*address.within, *loop]
        super().__init__(argv, log=log, ticks=ticks, folder=data / PLACE, environment={}, cores=cores)
        self._longest = 0.0

    def pids(self) -> list[int]:
        """See `LoadProcess.pids`: the loop, and the test that it runs now."""
        pids = super().pids()
        for pid in list(pids):
            with contextlib.suppress(OSError, ValueError):
                pids += [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        return pids

    def cipher(self) -> str | None:
        """See `LoadProcess.cipher`: the TLS version, as each test asks the server for it."""
        if not self.log.is_file():
            return None
        with self.log.open(encoding="utf-8", errors="replace") as file:
            match = _SERVER.search(file.read(_HEAD))
        return match[1].partition("/")[2] if match else None

    def ticks(self) -> list[Tick]:
        """See `LoadProcess.ticks`."""
        ticks = super().ticks()
        self._longest = max([self._longest, *(tick.latency.get("max", 0.0) for tick in ticks)])
        return ticks

    def silence(self) -> float:
        """See `LoadProcess.silence`: some times the longest pass so far."""
        return _PASSES * self._longest or _FIRST_PASS_S

    def trouble(self) -> str | None:
        """See `LoadProcess.trouble`: with the last words of the test that failed."""
        code = self.ended()
        if code is None:
            return None
        lines = [
            line.strip() for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()
        ]
        last = [*lines[-_LAST:], "it said nothing"]
        message = next((line for line in last[:-1] if _ERROR.search(line)), last[-2] if lines else last[-1])
        return f"sql-bench ended with exit code {code}: {message}"
