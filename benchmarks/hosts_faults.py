"""Faults of a study on two hosts: each case against the study without a fault, as a table in Markdown.

Two workers as real processes, each in a network namespace with a cable of its own to a bridge on which the scheduler
listens, each with a home of its own; the fake engine. Needs root. A case passes if the run has the same verdicts and
the same starts on the same hosts as without a fault, every build once in the shared store, and no process is left.

Usage: hosts_faults.py [CASE...]    (python3 -m burnish must be this checkout's)
"""

from __future__ import annotations

import contextlib
import re
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from hosts_cast import Cast, holds, ip, network

from burnish.record.events.study import RecordsMerged
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record

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
FULL = "No space left on device"
CLOCK = Path(__file__).parent / "faults" / "clock.c"
OTHER = "import burnish, sys; burnish.__version__ = '9.9'; from burnish.cli import main; main()"


def drive(cast: Cast) -> None:
    """Starts the study."""
    cast.start("driver", ["tune", "fake", "--recipes", "own.toml", *STUDY, "--hosts", ",".join(NAMES)])


def builder(cast: Cast, pattern: str) -> str:
    """The host that was given a build, from the driver's log."""
    cast.until("driver", rf"(\w+): build of {pattern}")
    found = re.findall(rf"(\w+): build of {pattern}", cast.log("driver"))
    return str(found[-1])


def no_fault(cast: Cast) -> None:
    drive(cast)


def builder_killed(cast: Cast) -> str:
    """Kills the worker that builds with a profile; returns its name."""
    drive(cast)
    name = builder(cast, "gcc-pgo")
    time.sleep(0.5)
    cast.kill(name)
    return name


def killed_in_build(cast: Cast) -> None:
    cast.worker(builder_killed(cast))


def killed_in_trial(cast: Cast) -> None:
    drive(cast)
    cast.until("driver", r"two: trials of")
    time.sleep(6)
    cast.kill("two")
    time.sleep(3)
    cast.worker("two")


def killed_in_gate(cast: Cast) -> None:
    """Kills a worker in its first test of a build, which comes before its trials."""
    drive(cast)
    cast.until("driver", r"two: trials of")
    logs = cast.root / "two" / "hosts" / "logs"
    if not holds(lambda: any(": gate" in path.read_text(errors="replace") for path in logs.glob("bench-*.log")), 0.02):
        raise TimeoutError("two: no gate")
    cast.kill("two")
    time.sleep(3)
    cast.worker("two")


def killed_for_good(cast: Cast) -> None:
    name = builder_killed(cast)
    cast.until("driver", r"one: build of gcc-pgo|two: build of gcc-pgo", 2)
    cast.worker(name)


def driver_killed(cast: Cast) -> None:
    drive(cast)
    builder(cast, "speed130")
    cast.kill("driver")
    drive(cast)
    cast.until("driver", r": trials of")
    time.sleep(3)
    cast.kill("driver")
    drive(cast)


def scheduler_killed(cast: Cast) -> None:
    drive(cast)
    cast.until("driver", r": trials of")
    time.sleep(3)
    cast.kill("scheduler")
    time.sleep(10)
    cast.scheduler()


def partition(cast: Cast) -> None:
    drive(cast)
    cast.until("driver", r": trials of")
    name = re.findall(r"(\w+): trials of", cast.log("driver"))[-1]
    time.sleep(3)
    ip("link", "set", f"bn{name}", "down")
    time.sleep(75)
    ip("link", "set", f"bn{name}", "up")


def in_memory(cast: Cast, name: str, size: str) -> None:
    """Puts one of the play's folders into a file system in memory of this size; another size is a remount."""
    place = cast.root / name
    known = place.is_mount()
    place.mkdir(mode=0o700, exist_ok=True)
    options = f"remount,size={size}" if known else f"size={size},mode=0700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, name, place], check=True)


@contextlib.contextmanager
def unmounting(root: Path) -> Iterator[None]:
    """Takes away what `in_memory` made."""
    try:
        yield
    finally:
        for place in root.iterdir():
            if place.is_mount():
                subprocess.run(["umount", "--lazy", place], check=True)


def disk_full(cast: Cast) -> None:
    """Fills the disk on which a worker's home is, in its trials; with room again the same command is called again."""
    drive(cast)
    cast.until("driver", r"two: trials of")
    rest = cast.root / "two" / "rest"
    with contextlib.suppress(OSError), rest.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(2**16))
    cast.until("driver", "two: not finished; the same command goes on")
    cast.end()
    rest.unlink()
    drive(cast)


def store_full(cast: Cast) -> None:
    """The shared store takes half of an upload, until a worker has reported it."""
    drive(cast)
    cast.until(builder(cast, "baseline"), FULL)
    in_memory(cast, "shared", "1g")


def other_bytes(cast: Cast) -> None:
    """Changes a byte in the shared store before another host has read it; the same command is called again."""
    drive(cast)
    blobs = cast.root / "shared" / "blobs"

    def large() -> list[Path]:
        return [path for path in blobs.rglob("*") if path.is_file() and path.stat().st_size > 10_000]

    if not holds(large, 0.01):
        raise TimeoutError("nothing was shared")
    with large()[0].open("r+b") as file:
        file.seek(5000)
        byte = file.read(1)
        file.seek(5000)
        file.write(bytes([byte[0] ^ 1]))
    cast.until("driver", "the same command has it shared again")
    cast.end()
    drive(cast)


def clock_set_back(cast: Cast) -> None:
    """Sets a worker's clock back by a day in its trials, and cuts it off for 40 s, which its connection outlives."""
    drive(cast)
    cast.until("driver", r"two: trials of")
    time.sleep(3)
    turn(cast, -1)
    ip("link", "set", "bntwo", "down")
    time.sleep(40)
    ip("link", "set", "bntwo", "up")


def clock_behind(cast: Cast) -> None:
    """The clock that `BEFORE` has given a worker is behind the hour of `hosts up`, within the certificates' day."""
    drive(cast)


def turn(cast: Cast, days: float) -> None:
    """Sets the clock of whatever was started with `with_clock`, from the real one."""
    offset = cast.root / "offset"
    with offset.open("r+b" if offset.exists() else "wb") as file:  # in place: it is mapped
        file.write(struct.pack("q", int(days * 86400)))


def with_clock(cast: Cast, name: str, days: float = 0) -> None:
    """Gives a worker a clock that can be set, and sets it."""
    library = cast.root / "clock.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, CLOCK], check=True)
    turn(cast, days)
    cast.variables[name] = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(cast.root / "offset")}


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
    drive(cast)


def other_version(cast: Cast) -> None:
    cast.worker("two", OTHER, home="old")
    cast.until("old", "connected")
    drive(cast)
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
        cast.variables[name] = {"PATH": str(place)}


def no_toolchain_on_one(cast: Cast) -> None:
    drive(cast)


def no_toolchain(cast: Cast) -> None:
    drive(cast)


BEFORE: dict[str, Callable[[Cast], None]] = {
    "no toolchain on one host": lambda cast: without_gcc(cast, "two"),
    "no toolchain anywhere": lambda cast: without_gcc(cast, "one", "two"),
    "disk of a host full in its trials": lambda cast: in_memory(cast, "two", "1g"),
    "shared store full half-way through an upload": lambda cast: in_memory(cast, "shared", "64k"),
    "clock of a host a day back in its trials, cut off for 40 s": lambda cast: with_clock(cast, "two"),
    "clock of a host 20 hours behind all the time": lambda cast: with_clock(cast, "two", -20 / 24),
}
CASES: dict[str, Callable[[Cast], None]] = {
    "none": no_fault,
    "worker killed in a training, restarted": killed_in_build,
    "worker killed in a build, other host goes on": killed_for_good,
    "worker killed in a gate, restarted": killed_in_gate,
    "worker killed in trials, restarted": killed_in_trial,
    "driver killed in builds and in trials, called again": driver_killed,
    "scheduler killed for 10 s": scheduler_killed,
    "host cut off for 75 s in its trials": partition,
    "cables of 1 Mbit/s": slow_link,
    "disk of a host full in its trials": disk_full,
    "shared store full half-way through an upload": store_full,
    "another byte in the shared store": other_bytes,
    "clock of a host a day back in its trials, cut off for 40 s": clock_set_back,
    "clock of a host 20 hours behind all the time": clock_behind,
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
    # Of a command that was called twice, the second call's run has taken the place of the first one's.
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
    with tempfile.TemporaryDirectory(prefix="burnish-hosts-") as folder, network(NAMES), unmounting(Path(folder)):
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
