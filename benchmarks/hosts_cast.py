"""Hosts in network namespaces of this machine: a bridge, a cable for each, and Burnish's processes on them.

Used by `hosts_faults.py`, `hosts_speedup.py`, `hosts_presence.py` and `hosts_study.py`. Needs root.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

BRIDGE, GATE, PORT = "bnhosts", "10.77.0.1", 18790
LOOPBACK = "127.0.0.1"
PATIENCE_S = 900.0
UNCOMPILED = "PYTHONDONTWRITEBYTECODE"
"""Containers set it; every process would compile its modules anew, which takes seconds and is nothing of a host's."""


def ip(*words: str) -> None:
    """Runs `ip`.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextlib.contextmanager
def network(names: Sequence[str]) -> Iterator[None]:
    """A bridge with the scheduler's address, and a namespace with a cable to it for each host."""
    clear(names)
    ip("link", "add", BRIDGE, "type", "bridge")
    ip("address", "add", f"{GATE}/24", "dev", BRIDGE)
    ip("link", "set", BRIDGE, "up")
    for number, name in enumerate(names, 2):
        space, cable = f"bn-{name}", f"bn{name}"
        ip("netns", "add", space)
        ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
        ip("link", "set", cable, "master", BRIDGE)
        ip("link", "set", cable, "up")
        ip("-n", space, "address", "add", f"10.77.0.{number}/24", "dev", "eth0")
        ip("-n", space, "link", "set", "eth0", "up")
        ip("-n", space, "link", "set", "lo", "up")
    try:
        yield
    finally:
        clear(names)


def clear(names: Sequence[str]) -> None:
    """Removes what is left of these namespaces and cables."""
    devices = (*(f"bn{name}" for name in names), BRIDGE)  # a namespace takes its end of a cable along only later
    for words in (*(("netns", "del", f"bn-{name}") for name in names), *(("link", "del", name) for name in devices)):
        subprocess.run(["ip", *words], check=False, capture_output=True)


def holds(condition: Callable[[], object], turn_s: float = 0.05) -> bool:
    """Waits until a condition holds, looking every `turn_s` seconds; whether it did within `PATIENCE_S`."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(turn_s)
    return True


@dataclass
class Cast:
    """The processes of one play.

    Attributes:
        root: folder of all homes and logs.
        running: processes by name.
        variables: by process, what else its environment has.
        gate: the scheduler's address; on the loopback workers have no namespaces.
        at: where each worker sees its home, in a mount namespace of its own; None: where it is.
    """

    root: Path
    gate: str = GATE
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    variables: dict[str, dict[str, str]] = field(default_factory=dict)
    at: Path | None = None

    def start(self, name: str, words: Sequence[str], *, space: str = "", home: str = "", program: str = "") -> None:
        """Starts Burnish.

        Args:
            name: of the process and its log.
            words: its command line.
            space: the network namespace in which it runs; '': this one.
            home: the folder of its home in `root`; '': as its name.
            program: Python code instead of Burnish.
        """
        argv = [sys.executable, *(["-c", program] if program else ["-m", "burnish"]), *words]
        place = self.root / (home or name)
        if space and self.at is not None:  # `ip netns exec` makes a mount namespace
            inner = f"mount --bind {shlex.quote(str(place))} {shlex.quote(str(self.at))} && exec {shlex.join(argv)}"
            argv, place = ["sh", "-c", inner], self.at
        if space:
            argv = ["ip", "netns", "exec", space, *argv]
        own = {variable: value for variable, value in os.environ.items() if variable != UNCOMPILED}
        alone = {"BURNISH_HOME": str(place), "BURNISH_MACHINE_LOCK": "none", "PYTHONUNBUFFERED": "1"}
        environment = own | alone | self.variables.get(name, {})
        with (self.root / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                argv, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.root
            )

    def scheduler(self) -> None:
        """Starts the scheduler in the home `driver`, with artefacts shared in the folder `shared`."""
        self.start(
            "scheduler",
            ["hosts", "up", "--listen", f"{self.gate}:{PORT}", "--artefacts", str(self.root / "shared")],
            home="driver",
        )

    def worker(self, name: str, program: str = "", home: str = "", work: str = "both") -> None:
        """Starts a worker, in its namespace if there are any; `work` is its `--for`."""
        joined = self.root / (home or name) / "hosts"
        if not joined.exists():
            joined.mkdir(parents=True, mode=0o700)
            shutil.copytree(self.root / "driver" / "hosts" / "join", joined / "join")
        self.start(
            home or name,
            ["worker", f"tls://{self.gate}:{PORT}", "--host", home or name, "--for", work],
            space=f"bn-{name}" if self.gate == GATE else "",
            program=program,
        )

    def log(self, name: str) -> str:
        """What a process has said so far."""
        file = self.root / f"{name}.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def until(self, name: str, pattern: str, count: int = 1) -> None:
        """Waits until a log has a line like this so many times.

        Raises:
            TimeoutError: it does not come.
        """
        if not holds(lambda: len(re.findall(pattern, self.log(name))) >= count):
            raise TimeoutError(f"{name}: no {pattern!r}: {self.log(name)[-500:]}")

    def kill(self, name: str) -> None:
        """SIGKILL to Burnish itself, which runs below `ip netns exec` (that replaces itself by it)."""
        self.running[name].send_signal(signal.SIGKILL)
        self.running[name].wait()

    def end(self, patience: float | None = PATIENCE_S) -> int:
        """Waits for the driver; returns its exit code."""
        return self.running["driver"].wait(patience)

    def stop(self) -> None:
        """Kills whatever still runs."""
        for process in self.running.values():
            if process.poll() is None:
                process.kill()
                process.wait()
