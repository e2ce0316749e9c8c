"""What it costs to plan tasks for many hosts: simulated builds and trials, from the first to the last, as a table.

Builds of four kinds of hosts form chains of three stages each; every kind has its trials on each of its hosts, after
some of its builds. Seconds are of this process alone: what it takes to decide which task goes where, for all of them.

Usage: hosts_scale.py [TASKSxHOSTS...]
"""

from __future__ import annotations

import random
import resource
import sys
import time

from burnish.hosts.dispatch import Task, Work
from burnish.hosts.makespan import makespan

KINDS = ("zen5", "graniterapids", "rocketlake", "neoverse-n1")
SIZES = ("1000x64", "10000x4", "10000x16", "10000x64", "10000x256", "40000x64")


def tasks_of(count: int, hosts: list[str], seed: int = 1) -> list[Task]:
    """So many tasks: two thirds are stages of builds, the others trials of a study on one host."""
    draw = random.Random(seed)
    by_kind = {kind: [host for host in hosts if host.startswith(kind)] for kind in KINDS}
    made: list[Task] = []
    last: dict[str, list[str]] = {kind: [] for kind in KINDS}
    while len(made) < count * 2 // 3:
        kind = draw.choice(KINDS)
        able, after = frozenset(by_kind[kind]), ()
        for stage in range(3):
            key = f"build-{len(made)}-{stage}"
            made.append(Task(key, Work.BUILD, able, after, draw.uniform(60, 1200)))
            after = (key,)
        last[kind].append(after[0])
    while len(made) < count:
        kind = draw.choice(KINDS)
        after = tuple(draw.sample(last[kind], min(6, len(last[kind]))))
        host = frozenset({draw.choice(by_kind[kind])})
        made.append(Task(f"bench-{len(made)}", Work.BENCH, host, after, draw.uniform(600, 7200)))
    return made


def main() -> None:
    print("| tasks | hosts | s to plan | ms a task | days simulated | busy | peak MB |")
    print(f"|{' ---: |' * 7}")
    for size in sys.argv[1:] or SIZES:
        count, number = map(int, size.split("x"))
        hosts = [f"{KINDS[n % len(KINDS)]}-{n}" for n in range(number)]
        tasks = tasks_of(count, hosts)
        began = time.process_time()
        whole = makespan(tasks, [(host, "") for host in hosts])
        spent = time.process_time() - began
        busy = sum(task.seconds for task in tasks) / (whole * number)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(
            f"| {count:,} | {number} | {spent:.2f} | {1000 * spent / count:.2f} "
            f"| {whole / 86400:.1f} | {busy:.0%} | {peak:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
