"""Times two sides of a microbenchmark: both are running, and short blocks of calls alternate between them."""

from __future__ import annotations

import contextlib
import math
import os
import random
import selectors
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError

_MOST_CALLS = 1 << 40


@dataclass(frozen=True)
class Times:
    """Times of a microbenchmark.

    Attributes:
        starts: number of launches of both sides, each with its own pairs: every launch randomises addresses.
        pairs: pairs of blocks in a start.
        block_s: minimum CPU time of the slower side's block, in seconds.
        patience_s: wall time after which a block is aborted, in seconds.
    """

    starts: int = 10
    pairs: int = 25
    block_s: float = 0.004
    patience_s: float = 60.0


@dataclass(frozen=True)
class Block:
    """One block of calls.

    Attributes:
        wall: wall time in nanoseconds.
        cpu: CPU time of all threads together, in nanoseconds.
        value: sum of the calls' results.
    """

    wall: int
    cpu: int
    value: str


@dataclass(frozen=True)
class Start:
    """One launch of both sides.

    Attributes:
        calls: calls in a block, in each thread.
        log_ratios: for each pair, the logarithm of the first side's CPU time over the second's.
        cpu: minimum CPU nanoseconds per call, by side.
    """

    calls: int
    log_ratios: tuple[float, ...]
    cpu: tuple[float, float]


class Side:
    """A running program of the harness that waits for commands.

    Args:
        name: name in errors.
        argv: the program, with its command prefix.
        cores: CPU numbers that it may use.
    """

    def __init__(self, name: str, argv: Sequence[str | Path], cores: frozenset[int] | None = None) -> None:
        self.name = name
        self._process = process.start(argv, stdin=subprocess.PIPE, cores=cores)
        self._rest = b""

    def ask(self, command: str, patience: float) -> list[str]:
        """The words of the answer to a command.

        Raises:
            InfrastructureError: the program ended, answered something else, or took longer than `patience` seconds.
        """
        assert self._process.stdin is not None  # noqa: S101 - PIPE was asked for
        with contextlib.suppress(BrokenPipeError):  # it has ended: its last output is read below
            self._process.stdin.write(f"{command}\n".encode())
            self._process.stdin.flush()
        line = self._line(patience)
        words = line.split()
        if not words or words[0] != command.split(maxsplit=1)[0]:
            code = self._process.poll()
            how = f"ended with exit code {code}" if code is not None else "gave another answer"
            raise InfrastructureError(f"{self.name}: its program {how} at the command {command}: {line or 'nothing'}")
        return words[1:]

    def _line(self, patience: float) -> str:
        assert self._process.stdout is not None  # noqa: S101 - PIPE was asked for
        until = time.monotonic() + patience
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, until - time.monotonic())):
                    raise InfrastructureError(f"{self.name}: its program did not answer within {patience:g} s")
                chunk = os.read(self._process.stdout.fileno(), 4096)
                if not chunk:
                    self._process.wait()
                    break
                self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    def check(self, patience: float) -> str:
        """The digest of the function's results."""
        return self.ask("check", patience)[0]

    def run(self, calls: int, patience: float) -> Block:
        """One block of calls."""
        wall, cpu, value = self.ask(f"run {calls}", patience)
        return Block(int(wall), int(cpu), value)

    def stop(self) -> None:
        """Ends the program."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        process.stop(self._process, patience=2.0)


@contextlib.contextmanager
def up(sides: Sequence[tuple[str, Sequence[str | Path]]], cores: frozenset[int] | None) -> Iterator[list[Side]]:
    """Starts programs of the harness; they are always stopped at the end."""
    with contextlib.ExitStack() as stack:
        running = []
        for name, argv in sides:
            side = Side(name, argv, cores)
            stack.callback(side.stop)
            running.append(side)
        yield running


def calls_for(sides: Sequence[Side], times: Times) -> int:
    """Number of calls in a block for which the slower side needs at least `Times.block_s`; a power of 2."""
    calls = 1
    while calls < _MOST_CALLS:
        slowest = max(side.run(calls, times.patience_s).cpu for side in sides)
        wanted = times.block_s * 1e9
        if slowest >= wanted:
            return calls
        # At most a factor of 1024 at a time: the measured time may be below the clock's resolution.
        calls <<= max(1, min(10, math.floor(math.log2(wanted / max(slowest, 1)))))
    raise InfrastructureError(f"{sides[0].name}: {_MOST_CALLS} calls take no time; the compiler has removed them")


def read_start(sides: Sequence[Side], times: Times, chance: random.Random) -> Start:
    """Measures pairs of blocks, one of each side, in random order.

    Raises:
        UserError: the same calls returned different values.
    """
    first, second = sides
    calls = calls_for(sides, times)
    ratios: list[float] = []
    least = [math.inf, math.inf]
    for _ in range(times.pairs):
        order = [0, 1] if chance.random() < 0.5 else [1, 0]
        blocks = {number: sides[number].run(calls, times.patience_s) for number in order}
        if blocks[0].value != blocks[1].value:
            raise UserError(
                f"{calls} calls returned {blocks[0].value} in {first.name} and {blocks[1].value} in {second.name}: "
                "the two do not do the same, so their times say nothing"
            )
        ratios.append(math.log(max(blocks[0].cpu, 1)) - math.log(max(blocks[1].cpu, 1)))
        least = [min(least[number], blocks[number].cpu / calls) for number in (0, 1)]
    return Start(calls, tuple(ratios), (least[0], least[1]))
