"""The workbench: recorded processes, logs, and progress for the user.

On a terminal the current step is one line that is updated. Piped, each step is a plain line when it begins and when it
ends, with a line of progress from time to time.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.status import Status
from rich.text import Text

from burnish.base import interrupts, process, storage, temporary
from burnish.base.durations import duration
from burnish.base.errors import OF_THE_HOST, HostError, InfrastructureError
from burnish.base.process import Completed
from burnish.record import live as now
from burnish.record.events.study import CommandRun
from burnish.record.record import Record

PLAIN_EVERY_S = 20.0
"""Seconds between lines of progress when the output is not a terminal."""


def forecast(spent: float, expected: float | None, share: float) -> float | None:
    """Estimated total seconds of a step; None if there is nothing to estimate it from.

    The rest is estimated at its expected time, scaled by how much slower than expected the step has been so far. That
    factor gains weight with the share done: a slower host shows early, but cache hits at the beginning do not mean
    that the rest is in the cache too.

    Args:
        spent: seconds since it began.
        expected: seconds that it was expected to take.
        share: share of the step that is done, 0 to 1.
    """
    if share <= 0:
        return expected if expected is not None and spent < expected else None
    if expected is None:
        return spent / share
    left = (1 - share) * expected
    return spent + left * (1 - share + spent / expected)  # spent / expected = share x slowdown so far


def _ended(error: BaseException | None) -> str:
    """How a step ended that did not come to its end: of an interrupt, or of a host that fails, it is no failure."""
    of_the_host = isinstance(error, HostError) or (isinstance(error, OSError) and error.errno in OF_THE_HOST)
    return "failed after" if isinstance(error, Exception) and not of_the_host else "stopped after"


class Bench:
    """A `Workbench` that records every command in a study's record and shows progress on a console.

    Attributes:
        total: steps of the plan, for "n of m".
        peak: largest resident set of any one process since the current step began, bytes.
        board: draws what is below the current step on a terminal, such as the cells so far; None: nothing.

    Args:
        record: where commands go; None: nowhere (a workbench without a study).
        logs: folder of the logs.
        console: where progress goes (standard error, so that results can be piped).
    """

    def __init__(self, record: Record | None, logs: Path, console: Console) -> None:
        self.record = record
        self.logs = logs
        self.console = console
        self.total = 0
        self.peak = 0
        self.board: Callable[[], RenderableType | None] | None = None
        self._below: RenderableType | None = None
        self._ends: float | None = None
        self._told_at = 0.0
        self._log: Path | None = None
        self._low = False
        self._number = 0
        self._title = ""
        self._place = ""
        self._expected: float | None = None
        self._began = self._opened = time.monotonic()
        self._status: Status | None = None
        self._printed_at = 0.0
        logs.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextlib.contextmanager
    def step(
        self,
        title: str,
        log: str,
        expected: float | None = None,
        *,
        counts: bool = True,
        place: str = "",
        low: bool = False,
    ) -> Iterator[Path]:
        """One step of the plan: shown while it runs; commands within it log to `log`.log.

        Args:
            title: what is being done.
            log: name of the log file, without folder and suffix.
            expected: seconds that it took last time on this host, if known.
            counts: whether it is one of the plan's steps (n of m) or part of one.
            place: text shown instead of "n of m" for a step that is not one of the plan's.
            low: whether its programs give way to other work on this machine: builds do, what is measured does not.
        """
        interrupts.check()
        self._number += counts and not place
        self._place = place
        self.peak = 0
        self._title, self._expected, self._began = title, expected, time.monotonic()
        self._log = self.log_path(f"{log}.log")
        self._low = low
        if self.console.is_terminal:
            # Once for each step: reading the record must not take CPU time from what is being measured.
            self._below = self.board() if self.board is not None else None
            # A low refresh rate: drawing must not take CPU time from what is being measured.
            self._status = self.console.status(self._drawn(escape(self._head())), refresh_per_second=2)
            try:
                self._status.start()
            except KeyboardInterrupt:
                with contextlib.suppress(IndexError):  # rich cannot undo a display that is only half started
                    self._status.stop()
                self.console.show_cursor()
                raise
        else:
            ahead = f", about {duration(expected)}" if expected else ""
            self.console.print(f"{self._head()}{ahead}", markup=False, highlight=False)
        self._printed_at = time.monotonic()
        self._tell("", 0.0, expected)
        failed = True
        before = self._log.stat().st_size if self._log.exists() else 0
        try:
            yield self._log
            failed = False
        except InfrastructureError as error:
            self._blame_host(str(error), before)
            raise
        finally:
            if self._status is not None:
                self._status.stop()
                self._status = None
            word = _ended(sys.exception()) if failed else "done in"
            spent = duration(time.monotonic() - self._began)
            self.console.print(f"{self._head()}: {word} {spent}", markup=False, highlight=False)
            self._log = None
            self._low = False

    def check_host(self, said: str) -> None:
        """Raises a `HostError` if what failed with these words did so as a disk was full or read-only."""
        folders = [] if self.record is None else [self.record.folder]
        if reason := storage.full(said, *folders, temporary.folder()):
            raise HostError(f"{self._title}: {reason}")

    def _blame_host(self, said: str, before: int) -> None:
        """The same for a step, whose part of the log begins after so many bytes."""
        text = ""
        if self._log is not None and self._log.is_file():
            with self._log.open("rb") as file:
                file.seek(before)
                text = file.read().decode(errors="replace")
        self.check_host(f"{said}\n{text}")

    def _head(self) -> str:
        place = self._place or (f"{self._number}/{max(self.total, self._number)}" if self.total else "")
        number = f"[{place}] " if place else ""
        return f"{number}{self._title}"

    def run(
        self,
        what: str,
        argv: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin_file: Path | None = None,
        timeout: float | None = None,
        on_line: Callable[[str], None] | None = None,
        log: Path | None = None,
    ) -> Completed:
        """Runs a program to its end, logged and recorded."""
        done = process.run(
            argv,
            cwd=cwd,
            env=env,
            log=log or self._log or self.log_path("other.log"),
            on_line=on_line,
            on_tick=self._tick,
            timeout=timeout,
            stdin_file=stdin_file,
            low=self._low,
        )
        self.peak = max(self.peak, done.peak_rss_bytes)
        if self.record is not None:
            self.record.append(
                CommandRun(
                    what=what,
                    argv=tuple(map(str, done.argv)),
                    cwd=str(cwd) if cwd else None,
                    env={name: str(value) for name, value in (env or {}).items()},
                    seconds=round(done.seconds, 3),
                    user_seconds=done.user_seconds,
                    system_seconds=done.system_seconds,
                    peak_rss_bytes=done.peak_rss_bytes,
                    exit_code=done.exit_code,
                    timed_out=done.timed_out,
                    log=done.log.name if done.log else None,
                )
            )
        return done

    def say(self, text: str) -> None:
        """Prints a permanent line."""
        self.console.print(f"    {text}", markup=False, highlight=False, soft_wrap=True)

    def live(self, text: str, share: float = 0.0) -> None:
        """A line that the next one replaces; when piped, one every `PLAIN_EVERY_S`.

        Args:
            text: the line.
            share: share of the step that is done, 0 to 1; 0: unknown.
        """
        spent = time.monotonic() - self._began
        total = forecast(spent, self._expected or None, share)
        clock = duration(spent) + (f" of about {duration(total)}" if total else "")
        if time.monotonic() - self._told_at >= now.EVERY_S:
            self._tell(text, spent, total)
        if self._status is not None:
            width = max(20, self.console.width - 4)
            left = f"; about {duration(self.left)} left in all" if self.left else ""
            head = f"{self._head()} ({clock}{left})"
            self._status.update(self._drawn(f"{escape(head[:width])}\n  {escape(text[:width])}"))
        elif time.monotonic() - self._printed_at >= PLAIN_EVERY_S:
            self._printed_at = time.monotonic()
            line = f"    {clock}: {text}"
            self.console.print(line, markup=False, highlight=False, no_wrap=True, overflow="ellipsis")

    def expect(self, seconds: float | None) -> None:
        """Notes how long everything that is left is expected to take; None: nobody knows."""
        self._ends = None if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float | None:
        """Seconds that all that is left is expected to take; None if that is not known, or has passed."""
        left = None if self._ends is None else self._ends - time.monotonic()
        return left if left is not None and left > 0 else None

    def _drawn(self, text: str) -> RenderableType:
        """The current step, and below it the board."""
        return text if self._below is None else Group(Text.from_markup(text), self._below)

    def _tell(self, text: str, spent: float, expected: float | None) -> None:
        """Tells whoever watches from another terminal."""
        self._told_at = time.monotonic()
        if self.record is not None:
            used = round(time.monotonic() - self._opened, 1)
            now.write(self.record.folder, self._head(), text, spent, expected, self.left, used)

    def log_path(self, name: str) -> Path:
        """A file in the study's log folder."""
        return self.logs / re.sub(r"[^\w.+-]+", "-", name)

    def _tick(self) -> None:
        if self._status is not None and time.monotonic() - self._began > 1:
            self._status.update()
