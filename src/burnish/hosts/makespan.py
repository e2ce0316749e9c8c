"""How long tasks take on hosts, simulated from the first to the last; for plans and tests."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from burnish.hosts.dispatch import Dispatcher, Task


def makespan(tasks: Sequence[Task], hosts: Sequence[tuple[str, str]]) -> float:
    """Seconds that all tasks take on these (host, machine), when each takes what is expected."""
    dispatcher = Dispatcher()
    for host, machine in hosts:
        dispatcher.join(host, machine)
    dispatcher.add(tasks)
    seconds = {task.key: task.seconds for task in tasks}
    now, running = 0.0, list[tuple[float, str]]()
    while dispatcher.open:
        for given in dispatcher.next(now):
            heapq.heappush(running, (now + seconds[given.key], given.key))
        if not running:
            raise ValueError("some tasks have no host that can do them")
        now, key = heapq.heappop(running)
        dispatcher.done(key, now)
        while running and running[0][0] <= now:
            dispatcher.done(heapq.heappop(running)[1], now)
    return now
