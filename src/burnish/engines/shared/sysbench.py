"""sysbench 1.0 as the load: its command lines, and the data that it makes; its ticks are written by our Lua hook."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.workbench import Workbench
from burnish.engines.shared import own_script
from burnish.engines.shared.load_process import LoadProcess
from burnish.engines.side import TICK_S
from burnish.model.workload import Workload
from burnish.workload.sql import statements

HOOK = Path(__file__).parent / "scripts" / "report.lua"
"""Wraps a sysbench script and writes the ticks; see there."""

LATENCY_EVERY = 5
"""Latencies are read at every so many ticks: that takes 0.3 ms and passes a megabyte through the caches."""

_SHIPPED = HOOK.parent
_PREPARE_SEED = 42  # one dataset for a set of parameters, whoever prepares it
_THERE = re.compile(r"Table '[^']+' already exists")


@dataclass(frozen=True)
class Address:
    """Where a server answers.

    Attributes:
        socket: its Unix socket; the way in unless there is a port.
        port: its TCP port, or None.
        tls: whether connections are encrypted; the load's folder then holds the certificates.
        host: its address, where there is a port.
        within: words before a client's program that put it where that address is (a network namespace).
    """

    socket: Path
    port: int | None = None
    tls: bool = False
    host: str = "127.0.0.1"
    within: tuple[str, ...] = ()

    def options(self) -> list[str]:
        """As sysbench options; ``localhost`` would mean the socket, regardless of the port."""
        if self.port is None:
            return [f"--mysql-socket={self.socket}"]
        return [f"--mysql-host={self.host}", f"--mysql-port={self.port}", *(["--mysql-ssl=on"] if self.tls else [])]


def script(name: str) -> str:
    """A script as sysbench takes it: the path of one that Burnish ships, else the name or path as it is."""
    return str(_SHIPPED / name) if name.endswith(".lua") and "/" not in name else name


def search_path(program: str) -> dict[str, str]:
    """The variable by which a script finds what it requires beside itself, or beside those that Burnish ships.

    Args:
        program: the script as sysbench takes it.
    """
    # The closing ;; means the default paths.
    return {"LUA_PATH": f"{Path(program).parent}/?.lua;{_SHIPPED}/?.lua;{os.environ.get('LUA_PATH', '')};;"}


def _options(items: Iterable[tuple[str, str]]) -> list[str]:
    """Parameters as sysbench options (``table_size`` is ``--table-size=``)."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in items]


def _connection(workload: Workload, address: Address) -> list[str]:
    return ["--db-driver=mysql", *address.options(), "--mysql-user=root", f"--mysql-db={workload.database}"]


def prepare(workload: Workload, address: Address, *, bench: Workbench) -> None:
    """Fills the database with the workload's tables, by its own script or by each of its parts'.

    What a script that does not implement the command would have made is taken to be nothing.

    Raises:
        UserError: two parts of a mix make the same tables.
        InfrastructureError: that failed; the log is attached.
    """
    for part in preparing(workload):
        lines: list[str] = []
        program = script(part.prepare or part.program)
        words = [
            "sysbench",
            program,
            *_connection(workload, address),
            *_options(part.data_parameters()),
            f"--threads={part.prepare_threads}",
            f"--rand-seed={_PREPARE_SEED}",
            "prepare",
        ]
        env = search_path(program)
        done = bench.run(f"prepare {part.dataset}", words, env=env, timeout=3600, on_line=lines.append)
        if not done.ok and any("does not implement the 'prepare' command" in line for line in lines):
            bench.say(f"{part.entry} makes no data (its script has no prepare command)")
            continue
        there = next((match[0] for line in lines if (match := _THERE.search(line))), None)
        if there is not None and workload.parts:
            raise UserError(
                f"{workload.entry}: {part.name} makes tables of the same names as the data before it ({there}); run it "
                "separately, or have a script of yours make none: sysbench.cmdline.commands.prepare = {function() end}"
            )
        done.check(f"preparing the data of {part.name}")


def preparing(workload: Workload) -> list[Workload]:
    """The loads whose scripts make the data of `workload`: itself, or one for each dataset of its parts.

    What works on a user's data has them. A user's scripts come last: of two that make the same tables, theirs is the
    one that has an option to make none.
    """
    parts = [part for part, _ in workload.parts] or [workload]
    making = {part.dataset: part for part in parts if not part.own_data}
    return sorted(making.values(), key=lambda part: bool(part.file))


def environment(workload: Workload, folder: Path) -> dict[str, str]:
    """Variables in which the shipped scripts find what a command line is too narrow for.

    Args:
        workload: the load; ``statements.lua`` reads a user's statements, ``mix.lua`` the parts of a mix.
        folder: the load's private folder, for the statements.
    """
    if not workload.parts:
        return _own_environment(workload, folder / "statements")
    lines = []
    for place, (part, weight) in enumerate(workload.parts):
        lines += [f"script={script(part.program)}", f"weight={weight}"]
        lines += [f"option={name}={value}" for name, value in part.parameters]
        own = _own_environment(part, folder / f"statements-{place}")
        lines += [f"variable={name}={value}" for name, value in own.items()]
    return {"BURNISH_MIX": "\n".join(lines), "BURNISH_MIXING": workload.mixing}


def _own_environment(workload: Workload, compiled: Path) -> dict[str, str]:
    """Options of the script of a user's file; `compiled` is the path of its statements. None for a catalogue load."""
    if not workload.file:
        return {}
    content = own_script.unchanged(workload)
    if not workload.file.endswith(".sql"):
        return {}
    compiled.write_bytes(statements.compiled(statements.parse(content.decode(), workload.file)))
    return {"BURNISH_STATEMENTS": str(compiled)}


class SysbenchLoad(LoadProcess):
    """One sysbench process on one server, from `start` until `stop`.

    Args:
        workload: the load.
        address: where the server answers.
        server_pid: the server, whose CPU clock is read at each tick.
        threads: client threads.
        seed: for random keys.
        folder: private folder for the ticks and the log.
        cores: CPU numbers at launch; None: all.
    """

    name = "sysbench"
    complaint = re.compile(r"^(FATAL|ALERT|ERROR|PANIC)\b")

    def __init__(
        self,
        workload: Workload,
        address: Address,
        *,
        server_pid: int,
        threads: int,
        seed: int,
        folder: Path,
        cores: frozenset[int] | None,
    ) -> None:
        self._cipher = folder / "cipher"
        ticks = folder / "ticks.jsonl"
        program = script(workload.program)
        variables = {
            "BURNISH_SCRIPT": program,
            "BURNISH_TICKS": str(ticks),
            "BURNISH_TICK_S": str(TICK_S),
            "BURNISH_LATENCY_EVERY": str(LATENCY_EVERY),
            "BURNISH_SERVER_PID": str(server_pid),
            **search_path(program),
            **({"BURNISH_CIPHER": str(self._cipher)} if address.port is not None else {}),
            **environment(workload, folder),
        }
        chosen = {  # unless the workload sets it
            "rand_type": "uniform",  # the default, `special`, has a few hot keys that no real load has
            **dict(workload.parameters),
        }
        argv = [
            *address.within,
            "sysbench",
            str(HOOK),
            *_connection(workload, address),
            *_options(chosen.items()),
            f"--threads={threads}",
            "--time=0",
            "--report-interval=1",
            "--percentile=95",  # any above 0: switches the latency histogram on
            f"--rand-seed={seed}",
            "--mysql-ignore-errors=",  # by default deadlocks and duplicate keys are retried in silence
            "run",
        ]
        log = folder / "sysbench.log"
        super().__init__(argv, log=log, ticks=ticks, folder=folder, environment=variables, cores=cores)

    def cipher(self) -> str | None:
        """The TLS cipher of the load's connections, '' where they are not encrypted; None: not known (yet)."""
        return self._cipher.read_text() if self._cipher.is_file() else None
