"""Which task runs on which host, and when; pure.

There are two kinds of work. A *build* is made by any host that can make it; a *bench* belongs to one host. A host does
one task at a time, and a machine (hosts that share a kernel) on which a bench runs does nothing else.

Of the tasks that are ready, the one with the most work behind it is first (the critical path): a build for which a long
bench waits goes before one for which a short one does. Tasks are known by keys of their content, so that a task that
was begun twice counts once, and whoever asks anew asks for the same.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Work(StrEnum):
    """Kinds of tasks."""

    SURVEY = "survey"
    BUILD = "build"
    BENCH = "bench"


@dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        key: its identity: equal tasks have equal keys.
        work: what kind it is.
        able: names of hosts that can do it.
        after: keys of tasks that must be done before.
        seconds: expected duration.
    """

    key: str
    work: Work
    able: frozenset[str]
    after: tuple[str, ...] = ()
    seconds: float = 1.0


@dataclass(frozen=True)
class Given:
    """A task given to a host."""

    key: str
    host: str


@dataclass
class _State:
    task: Task
    waits: set[str]
    then: list[str] = field(default_factory=list)
    rank: float = 0.0
    on: str | None = None
    done: bool = False
    lost: int = 0
    since: float = 0.0
    """When it began to wait for a host that could do it."""


class Dispatcher:
    """Gives tasks to hosts.

    Args:
        most_lost: after so many hosts were lost with it a build is given up, as it may be what ends them.
    """

    def __init__(self, most_lost: int = 3) -> None:
        self.most_lost = most_lost
        self._tasks: dict[str, _State] = {}
        self._machines: dict[str, str] = {}
        self._busy: dict[str, str] = {}
        self._on_machine: dict[str, set[str]] = {}
        self._resting: dict[str, float] = {}
        """By host, until when it gets nothing."""
        self._ready: dict[frozenset[str], list[tuple[float, str]]] = {}
        self._ranked = True
        self._open = 0

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts that are there."""
        return list(self._machines)

    @property
    def open(self) -> int:
        """Number of tasks that are not done."""
        return self._open

    def add(self, tasks: Iterable[Task], now: float = 0.0) -> None:
        """Adds tasks; one whose key is known is left as it is. What they come after must be known, or among them."""
        new = [task for task in tasks if task.key not in self._tasks]
        for task in new:
            self._tasks[task.key] = _State(task, set(), since=now)
            self._open += 1
        for task in new:
            state = self._tasks[task.key]
            for key in task.after:
                before = self._tasks[key]
                before.then.append(task.key)
                if not before.done:
                    state.waits.add(key)
        if new:
            self._ranked = False

    def join(self, host: str, machine: str = "") -> None:
        """A host is there (again).

        Args:
            host: its name.
            machine: its machine; '': it has one of its own.
        """
        self._machines[host] = machine or f"machine of {host}"

    def leave(self, host: str, now: float = 0.0, *, counted: bool = True) -> str | None:
        """A host is gone; its task waits again.

        Args:
            host: its name.
            now: the time.
            counted: whether its task may be what ended it; not where only the connection was lost.

        Returns:
            the task's key; None if it had none.
        """
        self._machines.pop(host, None)
        for state in self._tasks.values():  # what it alone could do has waited for nobody until now
            if host in state.task.able and not state.task.able & self._machines.keys():
                state.since = now
        key = self._busy.get(host)
        if key is not None:
            self._tasks[key].lost += counted
            self._release(self._tasks[key])
            self._wait(key, now)
        return key

    def done(self, key: str, now: float = 0.0) -> None:
        """A task is done, on whichever host; a second time changes nothing."""
        state = self._tasks[key]
        if state.done:
            return
        self._release(state)
        state.done = True
        self._open -= 1
        for other in state.then:
            waiting = self._tasks[other]
            waiting.waits.discard(key)
            if not waiting.waits and not waiting.done and waiting.on is None:
                self._wait(other, now)

    def again(self, key: str, now: float = 0.0, rest: float = 0.0) -> None:
        """A task that was given is to be done again, on a host that can: its answer was lost, not its host.

        Args:
            key: the task's.
            now: the time.
            rest: for so long its host gets nothing: what keeps it from this task would keep it from any.
        """
        state = self._tasks[key]
        if not state.done:
            if rest and state.on is not None:
                self._resting[state.on] = now + rest
            self._release(state)
            self._wait(key, now)

    def on(self, key: str) -> str | None:
        """The host that does a task now; None if nobody does, or nobody knows it."""
        return self._tasks[key].on if key in self._tasks else None

    def begun(self, key: str, host: str) -> bool:
        """Notes that a host does a task that waits, without having been given it; returns whether the task waited."""
        state = self._tasks.get(key)
        if state is None or state.done or state.on or state.waits or host in self._busy or host not in state.task.able:
            return False
        self._take(key, host)  # what waits of it in the queue is passed over
        return True

    def next(self, now: float = 0.0, others: Mapping[str, Work] | None = None) -> list[Given]:
        """The tasks that begin now, and where; they count as begun.

        Args:
            now: the time.
            others: by host, what it does that it was not given from here: it gets nothing more but questions.
        """
        self._rank(now)
        given = []
        # A machine that a bench waits for gets no build that other machines can make.
        wanted = self._wanted()
        free = [name for name in self._machines if name not in self._busy and self._resting.get(name, 0.0) <= now]
        for host in free:
            key = self._best(host, wanted, others or {})
            if key is not None:
                self._begin(key, host)
                given.append(Given(key, host))
        return given

    def lost(self) -> list[str]:
        """Builds that are given up: too many hosts were lost with them."""
        return [key for key, state in self._tasks.items() if not state.done and self._given_up(state)]

    def stranded(self, now: float, patience: float) -> list[str]:
        """Tasks that have been ready for `patience` seconds without a host that could do them."""
        here = self._machines.keys()
        return [
            key
            for key, state in self._tasks.items()
            if not (state.done or state.on or state.waits or state.task.able & here) and now - state.since >= patience
        ]

    def _given_up(self, state: _State) -> bool:
        return state.task.work is Work.BUILD and state.lost >= self.most_lost

    def _rank(self, now: float) -> None:
        """Longest path of each task to the end; those that wait for nothing become ready."""
        if self._ranked:
            return
        self._ranked = True
        for key in reversed(self._in_order()):
            state = self._tasks[key]
            state.rank = state.task.seconds + max((self._tasks[other].rank for other in state.then), default=0.0)
        self._ready.clear()
        for key, state in self._tasks.items():
            if not state.waits and not state.done and state.on is None:
                self._wait(key, state.since if state.since else now)

    def _in_order(self) -> list[str]:
        """Keys, each after those that it comes after."""
        left = {key: len(state.task.after) for key, state in self._tasks.items()}
        order = [key for key, count in left.items() if not count]
        for key in order:  # grows
            for other in self._tasks[key].then:
                left[other] -= 1
                if not left[other]:
                    order.append(other)
        if len(order) < len(left):
            raise ValueError("tasks come after each other in a circle")
        return order

    def _wait(self, key: str, now: float) -> None:
        state = self._tasks[key]
        if not state.waits:
            state.since = now
            heapq.heappush(self._ready.setdefault(state.task.able, []), (-state.rank, key))

    def _release(self, state: _State) -> None:
        if state.on is not None:
            self._busy.pop(state.on, None)
            for keys in self._on_machine.values():
                keys.discard(state.task.key)
            state.on = None

    def _begin(self, key: str, host: str) -> None:
        heapq.heappop(self._ready[self._tasks[key].task.able])
        self._take(key, host)

    def _take(self, key: str, host: str) -> None:
        self._tasks[key].on = host
        self._busy[host] = key
        self._on_machine.setdefault(self._machines[host], set()).add(key)

    def _top(self, able: frozenset[str]) -> str | None:
        """The first of the ready tasks that these hosts can do."""
        heap = self._ready[able]
        while heap:
            state = self._tasks[heap[0][1]]
            if state.done or state.on is not None or self._given_up(state):
                heapq.heappop(heap)
            else:
                return heap[0][1]
        return None

    def _wanted(self) -> frozenset[str]:
        """Machines for which a bench is ready."""
        return frozenset(
            self._machines[host]
            for able in self._ready
            if (key := self._top(able)) is not None and self._tasks[key].task.work is Work.BENCH
            for host in able
            if host in self._machines
        )

    def _best(self, host: str, wanted: frozenset[str], others: Mapping[str, Work]) -> str | None:
        """The ready task with the most work behind it that this host can begin now."""
        machine = self._machines[host]
        running = [self._tasks[key].task.work for key in self._on_machine.get(machine, ())]
        running += [work for name, work in others.items() if name != host and self._machines.get(name) == machine]
        if Work.BENCH in running:
            return None
        best: tuple[float, str] | None = None
        for able in self._ready:
            if host not in able or (key := self._top(able)) is None:
                continue
            task = self._tasks[key].task
            if host in others and task.work is not Work.SURVEY:
                continue
            if task.work is Work.BENCH and running:
                continue  # its turn comes when the machine is quiet
            if task.work is Work.BUILD and machine in wanted and self._elsewhere(able, machine):
                continue
            entry = (-self._tasks[key].rank, key)
            if best is None or entry < best:
                best = entry
        return best[1] if best is not None else None

    def _elsewhere(self, able: frozenset[str], machine: str) -> bool:
        """Whether a host on another machine can do it."""
        return any(self._machines.get(name, machine) != machine for name in able)
