"""The desk of a worker: jobs come in from the scheduler, the main thread does them one at a time.

A job that is asked for twice (its first answer was lost, or whoever asked was restarted) is done once: the second
waits for the same answer. A host that is at work answers from memory how it would build, so that whoever asks anew need
not wait until it has finished.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from burnish.hosts.dispatch import Work
from burnish.hosts.jobs import Answer, Job

SURVEYS = 16
"""Answers about builds that are remembered: more studies are not asked for at one time."""


@dataclass
class Desk:
    """Jobs of a worker.

    Attributes:
        running: what is done now, in words; '' if nothing.
        doing: key of the job that is done now; '' if none.
    """

    running: str = ""
    doing: str = ""
    _waiting: queue.Queue[tuple[Job, Future[Answer]]] = field(default_factory=queue.Queue)
    _known: dict[str, Future[Answer]] = field(default_factory=dict)
    _surveys: dict[str, Answer] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, job: Job) -> Future[Answer]:
        """Has a job done; called from other threads. Who waits for it can't cancel it."""
        with self._lock:
            if self.doing and job.key in self._surveys:  # an idle host looks anew: a compiler may have come
                known: Future[Answer] = Future()
                known.set_result(self._surveys[job.key])
                return known
            if job.key not in self._known:
                future = self._known[job.key] = Future()
                future.set_running_or_notify_cancel()
                self._waiting.put((job, future))
            return self._known[job.key]

    def serve(self, do: Callable[[Job], Answer], *, turn_s: float = 60.0) -> bool:
        """Does the next job if one comes within `turn_s` seconds, and returns whether one came; for the main thread.

        Raises:
            BaseException: what `do` raises; whoever waits for the job is told so first.
        """
        try:
            job, future = self._waiting.get(timeout=turn_s)
        except queue.Empty:
            return False
        self.running, self.doing = f"{job.title}, since {time.strftime('%H:%M')}", job.key
        try:
            answer = do(job)
        except BaseException as error:
            future.set_exception(RuntimeError(f"the worker was stopped ({type(error).__name__})"))
            raise
        else:
            self._remember(job, answer)
            future.set_result(answer)
        finally:
            self.running = self.doing = ""
            with self._lock:  # what is asked later is asked anew: its answer is in the host's own record
                del self._known[job.key]
        return True

    def _remember(self, job: Job, answer: Answer) -> None:
        """Keeps how this host would build."""
        if job.work is Work.SURVEY and not answer.again:
            with self._lock:
                self._surveys[job.key] = answer
                while len(self._surveys) > SURVEYS:
                    del self._surveys[next(iter(self._surveys))]


desk = Desk()
"""The desk of this process."""


async def perform(job: Job) -> Answer:
    """What the scheduler calls in a worker's process: in its event loop, as each waiting thread of Dask's wakes every
    second."""
    loop, answered = asyncio.get_running_loop(), asyncio.Event()

    def tell(_: Future[Answer]) -> None:
        with contextlib.suppress(RuntimeError):  # the connection is gone, and its loop with it
            loop.call_soon_threadsafe(answered.set)

    future = desk.ask(job)
    future.add_done_callback(tell)
    await answered.wait()
    return future.result()
