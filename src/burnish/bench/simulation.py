"""A side under load on a simulated processor: its server runs in valgrind's callgrind, which counts between two dumps.

The server boots and warms up without simulation, some five times slower than usual; simulated it is some fifty times
slower, one thread at a time.
"""

from __future__ import annotations

import re
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError
from burnish.engines.contract import Engine, Side, SideSpec
from burnish.program.built import Built
from burnish.why import cachegrind
from burnish.why.cachegrind import Counted
from burnish.workload.conditions import merged

SECONDS = 15.0
"""Seconds in which events are counted; some thousands of short transactions."""

WARM_S = 3.0
"""Seconds in which connections are made and pages read, and as many again in which the simulated caches are filled."""

FOR_A_CLIENT = 10
"""Transactions to count for each client, so that those under way at both ends are a small part of them."""

PATIENCE = 4.0
"""How many times `SECONDS` are waited for these."""

LONGEST_S = 300.0
"""Seconds in which one transaction must be finished at least."""

_DUMP = "counted"
_OUTPUT = "callgrind.out"
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@dataclass(frozen=True)
class Caches:
    """Caches of a simulated core, each as bytes, ways and bytes of a line.

    Attributes:
        first: first level, for instructions and as large again for data; None: as this processor has them.
        second: second level, for both; None: valgrind's choice, which is this processor's last level.
    """

    first: tuple[int, int, int] | None = None
    second: tuple[int, int, int] | None = None

    @property
    def options(self) -> list[str]:
        """Options of callgrind."""
        given = [("I1", self.first), ("D1", self.first), ("LL", self.second)]
        return [f"--{name}={','.join(map(str, sizes))}" for name, sizes in given if sizes]


def of_this_core(folder: Path = _CACHES) -> Caches:
    """Caches of the first core: in a virtual machine the last level is shared with others, the second is not.

    Args:
        folder: where the kernel describes them.
    """
    for index in sorted(folder.glob("index*")):
        described = {name: _line(index / name) for name in ("level", "type", "size", "ways_of_associativity")}
        size = re.fullmatch(r"(\d+)K", described["size"])
        if (described["level"], described["type"]) != ("2", "Unified") or not size:
            continue
        ways, line = described["ways_of_associativity"], _line(index / "coherency_line_size")
        if ways.isdigit() and line.isdigit() and int(ways) and int(line):
            sizes = (int(size[1]) * 1024, int(ways), int(line))
            if _is_power(sizes[0] / sizes[1] / sizes[2]):  # valgrind simulates no others
                return Caches(second=sizes)
    return Caches()


def _line(path: Path) -> str:
    return path.read_text().strip() if path.is_file() else ""


def _is_power(sets: float) -> bool:
    return sets >= 1 and sets == int(sets) and int(sets) & (int(sets) - 1) == 0


def count(engine: Engine, spec: SideSpec, caches: Caches, seconds: float = SECONDS) -> tuple[Counted, float]:
    """Loads a server in callgrind; the events of so many transactions, and their number.

    Args:
        engine: the server's; its settings for a simulated processor are added to the side's condition.
        spec: of the side; its folder is the only thing in its parent folder, which is private too.
        caches: of the simulated core.
        seconds: in which events are counted; up to `PATIENCE` times as long for few long transactions.

    Raises:
        InfrastructureError: valgrind can't run the server, or no transaction was finished in time.
    """
    folder = spec.folder.parent
    server = engine.spec.settings
    condition = replace(spec.condition, settings=merged(spec.condition.settings, server.simulated, server))
    side = engine.side(replace(spec, built=_in_callgrind(spec.built, caches, folder), condition=condition))
    try:
        side.boot()
        side.load()
        _wait(side, WARM_S)
        _control(side, folder, "instrumentation", "on")
        _wait(side, WARM_S)
        _control(side, folder, "dump", "warm-up")  # a dump has the events since the one before
        done = _wait(side, seconds, FOR_A_CLIENT * spec.workload.threads)
        _control(side, folder, "dump", _DUMP)
        _control(side, folder, "instrumentation", "off")  # it would take long to end
    finally:
        side.stop()
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob(f"{_OUTPUT}.*"))]
    parts = [cachegrind.parse(text) for text in texts if f"Trigger: dump {_DUMP}" in text]
    if not parts:
        raise InfrastructureError(f"{spec.label}: callgrind wrote nothing")
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total, done


def _in_callgrind(built: Built, caches: Caches, folder: Path) -> Built:
    """The build with a script in place of its server, which runs it in callgrind; nothing is simulated at first."""
    words = ["valgrind", "--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes", "--instr-atstart=no"]
    words += ["--trace-children=yes"]  # without, a process that the server forks is simulated but takes no command
    # By default pipes are in TMPDIR, which the server has to itself.
    words += [*caches.options, f"--vgdb-prefix={folder / 'vgdb'}", f"--callgrind-out-file={folder / _OUTPUT}.%p"]
    server = built.server.resolve()
    script = folder / "program" / server.name
    script.parent.mkdir(mode=0o700)
    for beside in server.parent.iterdir():  # what an engine looks for there
        if beside != server:
            (script.parent / beside.name).symlink_to(beside)
    script.write_text(f'#!/bin/sh\nexec {shlex.join([*words, str(server)])} "$@"\n')
    script.chmod(0o700)
    return replace(built, server=script)


def _control(side: Side, folder: Path, *command: str) -> None:
    """Has callgrind do something in all of the side's processes: ``instrumentation on`` or ``off``, ``dump NAME``.

    callgrind_control does the same, but finds no process that has given itself a title, as PostgreSQL's do.
    """
    for pid in side.server_pids():
        words = ["vgdb", f"--vgdb-prefix={folder / 'vgdb'}", f"--pid={pid}", *command]
        done = process.run(words, timeout=LONGEST_S)
        if not done.ok and pid in side.server_pids():
            raise InfrastructureError(f"vgdb {' '.join(command)}: {done.output.strip()}")


def _wait(side: Side, seconds: float, wanted: float = 0.0) -> float:
    """Waits for so many seconds and transactions, but until one is finished; the number of those that were."""
    began, first, done = time.monotonic(), None, 0.0
    side.ticks()
    while (spent := time.monotonic() - began) < LONGEST_S:
        if trouble := side.trouble():
            raise InfrastructureError(trouble)
        for tick in side.ticks():
            first, done = tick.done if first is None else first, tick.done
        finished = 0.0 if first is None else done - first
        if finished > 0 and (spent >= PATIENCE * seconds or (spent >= seconds and finished >= wanted)):
            return finished
        time.sleep(0.1)
    raise InfrastructureError(f"no transaction was finished in {LONGEST_S:.0f} s")
