"""What a worker's presence costs a host that measures: A/A with the worker there and stopped, in turn.

A worker that has nothing to do is what a trial has beside it: the trial itself runs in the worker's main thread as it
would without hosts, and Dask in its other threads. Two programs, each bound to a core, walk through a buffer of the
size of a level-2 cache and count how often. Of four blocks the outer two have the worker (or the inner two, in turn),
the others have it stopped (SIGSTOP). The scheduler runs on this machine too, where it would have one of its own, so
that its part of each heartbeat is counted as well. Wants a machine on which nothing else runs.

With --count it reads no speed, but the CPU time of Dask's threads (those that the worker had before its first task):
of a worker that waits, and of one on which trials of the fake engine run, which reports less often then. That bounds
what they can take from a server, and other work on the machine does little to it.

Usage: hosts_presence.py [--minutes N] [--count]    (python3 -m burnish must be this checkout's)
"""

from __future__ import annotations

import argparse
import math
import mmap
import os
import signal
import statistics
import struct
import subprocess
import tempfile
import time
from collections.abc import Collection
from pathlib import Path

from hosts_cast import LOOPBACK, Cast
from scipy import stats

BLOCK_S = 5.0
"""A block: as long as the time between two heartbeats, so that each has one."""
SETTLE_S = 0.5
"""Before a block, for what the worker makes up for when it goes on."""

_TRIALS = ("--variant", "baseline,gcc-pgo", "--starts", "40", "--layouts", "0")

_LOOP = """
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#define WORDS (256 * 1024 / 8)
static uint64_t buffer[WORDS];
int main(int argc, char **argv)
{
    volatile uint64_t *count = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open(argv[1], O_RDWR), 0);
    uint64_t sum = argc;
    for (;;) {
        for (int at = 0; at < WORDS; at++) { sum = sum * 6364136223846793005u + buffer[at]; buffer[at] = sum; }
        ++*count;
    }
}
"""


def loops(place: Path) -> tuple[list[subprocess.Popen[bytes]], list[mmap.mmap]]:
    """A program on each of two cores, and their counts."""
    (place / "loop.c").write_text(_LOOP)
    subprocess.run(["gcc", "-O2", "-o", place / "loop", place / "loop.c"], check=True)
    running, counts = [], []
    for core in sorted(os.sched_getaffinity(0))[:2]:
        file = place / f"count{core}"
        file.write_bytes(bytes(4096))
        running.append(subprocess.Popen(["taskset", "-c", str(core), place / "loop", file]))
        with file.open("r+b") as opened:
            counts.append(mmap.mmap(opened.fileno(), 4096))
    return running, counts


def threads(pid: int, of: Collection[str] | None = None) -> tuple[float, int]:
    """Seconds of CPU and wakes of a process's threads so far, without its main thread; of these alone, if given."""
    seconds, wakes = 0.0, 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        if int(task.name) != pid and (of is None or task.name in of):
            seconds += int((task / "schedstat").read_text().split()[0]) / 1e9
            lines = (task / "status").read_text().splitlines()
            wakes += int(next(line.split()[1] for line in lines if line.startswith("voluntary_ctxt_switches")))
    return seconds, wakes


def counted(cast: Cast, fours: int) -> None:
    """Prints what Dask's threads of a worker use while it waits, and while trials run on it."""
    pid, blocks = cast.running["one"].pid, 4 * fours
    dask = [task.name for task in Path(f"/proc/{pid}/task").iterdir()]
    print(f"| Dask's threads, in {BLOCK_S:.0f} s | median ms of CPU | most | median wakes | share of a core | blocks |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for state in ("waiting", "in trials"):
        if state == "in trials":
            cast.start("driver", ["tune", "fake", *_TRIALS, "--hosts", "one"])
            cast.until("driver", "one: trials of tune")
            time.sleep(BLOCK_S)  # until its next heartbeat, with which the later ones begin
        cpu, wakes = list[float](), list[int]()
        while len(cpu) < blocks and "trials done" not in cast.log("driver"):
            before = threads(pid, dask)
            time.sleep(BLOCK_S)
            after = threads(pid, dask)
            cpu.append((after[0] - before[0]) * 1000)
            wakes.append(after[1] - before[1])
        share = statistics.mean(cpu) / (BLOCK_S * 1000)
        row = f"{statistics.median(cpu):.1f} | {max(cpu):.1f} | {statistics.median(wakes):.0f} | {share:.3%}"
        print(f"| {state} | {row} | {len(cpu)} |", flush=True)


def rate(counts: list[mmap.mmap]) -> float:
    """Rounds a second of both programs in one block."""

    def total() -> int:
        return sum(struct.unpack("q", count[:8])[0] for count in counts)

    began, before = time.perf_counter(), total()
    time.sleep(BLOCK_S)
    return (total() - before) / (time.perf_counter() - began)


def said(name: str, logs: list[float]) -> str:
    """A mean of logarithms of ratios as a change in per cent, with the half-width of its 95 % interval."""
    half = stats.t.ppf(0.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"| {name} | {math.expm1(statistics.mean(logs)) * 100:+.3f} % ± {half * 100:.3f} | {len(logs)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="of each state, with --count")
    parser.add_argument("--count", action="store_true")
    given = parser.parse_args()
    fours = max(2, round(given.minutes * 60 / (4 * (BLOCK_S + SETTLE_S))))
    with tempfile.TemporaryDirectory(prefix="burnish-hosts-") as folder:
        cast = Cast(Path(folder), gate=LOOPBACK)
        running: list[subprocess.Popen[bytes]] = []
        try:
            cast.scheduler()
            cast.until("scheduler", "burnish worker")
            cast.worker("one", work="both" if given.count else "trials")
            cast.until("one", "connected to")
            time.sleep(5)
            if given.count:
                counted(cast, fours)
                return
            pid = cast.running["one"].pid
            running, counts = loops(cast.root)
            effects, nulls, cpu, wakes = [], [], list[float](), list[int]()
            for four in range(fours):
                there: list[float] = []
                gone: list[float] = []
                for on in ((True, False, False, True), (False, True, True, False))[four % 2]:
                    os.kill(pid, signal.SIGCONT if on else signal.SIGSTOP)
                    time.sleep(SETTLE_S)
                    before = threads(pid)
                    (there if on else gone).append(math.log(rate(counts)))
                    if on:
                        after = threads(pid)
                        cpu.append((after[0] - before[0]) * 1000)
                        wakes.append(after[1] - before[1])
                effects.append(statistics.mean(there) - statistics.mean(gone))
                nulls.append(gone[0] - gone[1])
        finally:
            for process in running:
                process.kill()
                process.wait()
            cast.stop()
    own = f"{statistics.median(cpu):.1f} ms of CPU (most {max(cpu):.1f}), {statistics.median(wakes):.0f} wakes"
    print(f"Dask's threads of the worker in {BLOCK_S:.0f} s: {own}.\n")
    print("| two programs that only count | change of their speed | fours of blocks |")
    print("| --- | --- | ---: |")
    print(said("with the worker against without", effects))
    print(said("without, one block against the other", nulls))


if __name__ == "__main__":
    main()
