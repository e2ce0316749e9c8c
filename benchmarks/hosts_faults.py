"""Faults of a study on two hosts: each case against the study without a fault, as a table in Markdown.

Two workers as real processes, each in a network namespace with a cable of its own to a bridge on which the scheduler
listens, each with a home of its own; the fake engine. Needs root. A case passes if the run has the same verdicts and
the same starts on the same hosts as without a fault, every build once in the shared store, and no process is left.

Usage: hosts_faults.py [CASE...]    (python3 -m burnish must be this checkout's)
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from burnish.record.events.study import RecordsMerged
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record

BRIDGE, GATE, PORT = "bnhosts", "10.77.0.1", 18790
NAMES = ("one", "two")
OWN = """
[speed130]
reason = "Known truth: thirty per cent more capacity than the baseline."
recipe = { c = ["-DFAKE_SPEED=130"] }
"""
STUDY = (
    "--starts",
    "2",
    "--design",
    "duet",
    "--pairs",
    "1",
    "--layouts",
    "0",
    "--variant",
    "baseline,speed130,gcc-pgo",
)
PATIENCE_S = 900.0
OTHER = "import burnish, sys; burnish.__version__ = '9.9'; from burnish.cli import main; main()"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextlib.contextmanager
def network() -> Iterator[None]:
    """A bridge with the scheduler's address, and a namespace with a cable to it for each host."""
    clear()
    ip("link", "add", BRIDGE, "type", "bridge")
    ip("address", "add", f"{GATE}/24", "dev", BRIDGE)
    ip("link", "set", BRIDGE, "up")
    for number, name in enumerate(NAMES, 2):
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
        clear()


def clear() -> None:
    devices = (*(f"bn{name}" for name in NAMES), BRIDGE)  # a namespace takes its end of a cable along only later
    for words in (*(("netns", "del", f"bn-{name}") for name in NAMES), *(("link", "del", name) for name in devices)):
        subprocess.run(["ip", *words], check=False, capture_output=True)


@dataclass
class Cast:
    """The processes of one case."""

    root: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    path: dict[str, str] = field(default_factory=dict)

    def start(self, name: str, words: list[str], *, space: str = "", home: str = "", program: str = "") -> None:
        argv = [sys.executable, *(["-c", program] if program else ["-m", "burnish"]), *words]
        if space:
            argv = ["ip", "netns", "exec", space, *argv]
        environment = os.environ | {"BURNISH_HOME": str(self.root / (home or name)), "PYTHONUNBUFFERED": "1"}
        if name in self.path:
            environment["PATH"] = self.path[name]
        with (self.root / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                argv, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.root
            )

    def scheduler(self) -> None:
        self.start(
            "scheduler",
            ["hosts", "up", "--listen", f"{GATE}:{PORT}", "--artefacts", str(self.root / "shared")],
            home="driver",
        )

    def worker(self, name: str, program: str = "", home: str = "") -> None:
        joined = self.root / (home or name) / "hosts"
        if not joined.exists():
            joined.mkdir(parents=True, mode=0o700)
            shutil.copytree(self.root / "driver" / "hosts" / "join", joined / "join")
        self.start(
            home or name,
            ["worker", f"tls://{GATE}:{PORT}", "--host", home or name],
            space=f"bn-{name}",
            program=program,
        )

    def driver(self, *more: str) -> None:
        self.start("driver", ["tune", "fake", "--recipes", "own.toml", *STUDY, "--hosts", ",".join(NAMES), *more])

    def log(self, name: str) -> str:
        file = self.root / f"{name}.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def until(self, name: str, pattern: str, count: int = 1) -> None:
        """Waits until a log has a line like this so many times."""
        end = time.monotonic() + PATIENCE_S
        while len(re.findall(pattern, self.log(name))) < count:
            if time.monotonic() > end:
                raise TimeoutError(f"{name}: no {pattern!r}: {self.log(name)[-500:]}")
            time.sleep(0.05)

    def kill(self, name: str) -> None:
        """SIGKILL to Burnish itself, which runs below `ip netns exec` (that replaces itself by it)."""
        self.running[name].send_signal(signal.SIGKILL)
        self.running[name].wait()

    def end(self) -> int:
        """Waits for the driver; returns its exit code."""
        return self.running["driver"].wait(PATIENCE_S)

    def stop(self) -> None:
        for process in self.running.values():
            if process.poll() is None:
                process.kill()
                process.wait()


def builder(cast: Cast, pattern: str) -> str:
    """The host that was given a build, from the driver's log."""
    cast.until("driver", rf"(\w+): build of {pattern}")
    found = re.findall(rf"(\w+): build of {pattern}", cast.log("driver"))
    return str(found[-1])


def no_fault(cast: Cast) -> None:
    cast.driver()


def builder_killed(cast: Cast) -> str:
    """Kills the worker that builds with a profile; returns its name."""
    cast.driver()
    name = builder(cast, "gcc-pgo")
    time.sleep(0.5)
    cast.kill(name)
    return name


def killed_in_build(cast: Cast) -> None:
    cast.worker(builder_killed(cast))


def killed_in_trial(cast: Cast) -> None:
    cast.driver()
    cast.until("driver", r"two: trials of")
    time.sleep(6)
    cast.kill("two")
    time.sleep(3)
    cast.worker("two")


def killed_for_good(cast: Cast) -> None:
    name = builder_killed(cast)
    cast.until("driver", r"one: build of gcc-pgo|two: build of gcc-pgo", 2)
    cast.worker(name)


def driver_killed(cast: Cast) -> None:
    cast.driver()
    builder(cast, "speed130")
    cast.kill("driver")
    cast.driver()
    cast.until("driver", r": trials of")
    time.sleep(3)
    cast.kill("driver")
    cast.driver()


def scheduler_killed(cast: Cast) -> None:
    cast.driver()
    cast.until("driver", r": trials of")
    time.sleep(3)
    cast.kill("scheduler")
    time.sleep(10)
    cast.scheduler()


def partition(cast: Cast) -> None:
    cast.driver()
    cast.until("driver", r": trials of")
    name = re.findall(r"(\w+): trials of", cast.log("driver"))[-1]
    time.sleep(3)
    ip("link", "set", f"bn{name}", "down")
    time.sleep(75)
    ip("link", "set", f"bn{name}", "up")


def slow_link(cast: Cast) -> None:
    for name in NAMES:
        subprocess.run(
            [
                "tc",
                "qdisc",
                "add",
                "dev",
                f"bn{name}",
                "root",
                "tbf",
                "rate",
                "1mbit",
                "burst",
                "4kb",
                "latency",
                "400ms",
            ],
            check=True,
        )
    cast.driver()


def other_version(cast: Cast) -> None:
    cast.worker("two", OTHER, home="old")
    cast.until("old", "connected")
    cast.driver()
    cast.until("driver", r"old: refused: it has Burnish 9\.9")


def without_gcc(cast: Cast, *names: str) -> None:
    place = cast.root / "bin"
    place.mkdir(exist_ok=True)
    for folder in ("/usr/bin", "/usr/sbin", "/bin", "/sbin"):
        for program in Path(folder).iterdir():
            hidden = re.match(r"(.*-)?(gcc|g\+\+|cc|c\+\+|clang|c89|c99)([-+].*)?$", program.name)
            if not hidden and not (place / program.name).exists():
                (place / program.name).symlink_to(program)
    for name in names:
        cast.path[name] = str(place)


def no_toolchain_on_one(cast: Cast) -> None:
    cast.driver()


def no_toolchain(cast: Cast) -> None:
    cast.driver()


BEFORE: dict[str, Callable[[Cast], None]] = {
    "no toolchain on one host": lambda cast: without_gcc(cast, "two"),
    "no toolchain anywhere": lambda cast: without_gcc(cast, "one", "two"),
}
CASES: dict[str, Callable[[Cast], None]] = {
    "none": no_fault,
    "worker killed in a training, restarted": killed_in_build,
    "worker killed in a build, other host goes on": killed_for_good,
    "worker killed in trials, restarted": killed_in_trial,
    "driver killed in builds and in trials, called again": driver_killed,
    "scheduler killed for 10 s": scheduler_killed,
    "host cut off for 75 s in its trials": partition,
    "cables of 1 Mbit/s": slow_link,
    "worker of another version": other_version,
    "no toolchain on one host": no_toolchain_on_one,
    "no toolchain anywhere": no_toolchain,
}
NO_RESULT = {"no toolchain anywhere": r"no compiler 'gcc' on this machine"}
"""Cases in which nothing can be measured, and the line that says so."""


@dataclass(frozen=True)
class Seen:
    """What came of a case."""

    starts: tuple[int, ...]
    verdicts: tuple[tuple[str, str], ...]
    shared: int


def seen(cast: Cast) -> Seen:
    (run,) = (path for path in (cast.root / "driver" / "studies").iterdir() if not path.name.startswith("."))
    with closing(Record(run)) as record:
        merged = record.last(RecordsMerged)
        verdicts = {
            one.event.cell.name: one.event.verdict
            for one in record.events(VerdictReached)
            if one.event.cell.candidate == "speed130"  # the other one has no true difference: any verdict may be
        }
    assert merged is not None
    shared = sum(1 for kind in ("builds", "profiles") for _ in (cast.root / "shared" / "index" / kind).rglob("*"))
    return Seen(tuple(host.starts for host in merged.event.hosts), tuple(sorted(verdicts.items())), shared)


def left(cast: Cast) -> list[str]:
    """Processes that name this case's folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(cast.root) in words:
                found.append(words[:80])
    return found


def played(name: str, usual: Seen | None) -> tuple[str, Seen | None]:
    """One case: its row of the table, and what was seen."""
    with tempfile.TemporaryDirectory(prefix="burnish-hosts-") as folder, network():
        cast = Cast(Path(folder))
        (cast.root / "own.toml").write_text(OWN)
        began = time.monotonic()
        try:
            BEFORE.get(name, lambda _: None)(cast)
            cast.scheduler()
            cast.until("scheduler", "burnish worker")
            for host in NAMES:
                cast.worker(host)
            CASES[name](cast)
            code = cast.end()
        except (TimeoutError, subprocess.TimeoutExpired) as error:
            return f"| {name} | FAILED: {error} | | | |", None
        finally:
            cast.stop()
        seconds = time.monotonic() - began
        time.sleep(3)  # wardens clear up within a second
        remains = left(cast)
        lines = [
            line for line in cast.log("driver").splitlines() if re.search(r"gone|back|refused|once more|compiler", line)
        ]
        said = "; ".join(dict.fromkeys(line.strip()[:110] for line in lines[:3]))
        if name in NO_RESULT:
            good = code == 1 and re.search(NO_RESULT[name], cast.log("driver")) is not None
            word = "none, exit 1 with the reason" if good else f"FAILED: exit {code}"
            return f"| {name} | {word} | none | {seconds:.0f} | {said} |", None
        if code != 0:
            return (
                f"| {name} | FAILED: exit {code}: {cast.log('driver')[-300:]!r} | | {seconds:.0f} | {said} |",
                None,
            )
        result = seen(cast)
        same = usual is None or result == usual
        usually = ", ".join(f"{cell} {verdict}" for cell, verdict in result.verdicts)
        word = usually if usual is None else "as without" if same else f"FAILED: {result}"
        starts = " + ".join(map(str, result.starts))
        word += f"; left: {remains}" if remains else ""
        return f"| {name} | {word} | {starts}, {result.shared} artefacts | {seconds:.0f} | {said} |", result


def main() -> None:
    wanted = sys.argv[1:] or list(CASES)
    print("| fault | verdicts, starts, artefacts | starts on each host | s | what is said |")
    print(f"|{' --- |' * 5}", flush=True)
    usual: Seen | None = None
    for name in dict.fromkeys(("none", *wanted)):
        row, result = played(name, usual)
        usual = usual or result
        print(row, flush=True)


if __name__ == "__main__":
    main()
