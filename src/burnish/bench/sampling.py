"""Samples running servers with `perf record`: what this host permits, and the recording itself.

If permitted, cores are sampled rather than processes: a counter of a thread is stopped and started at each of its
context switches, and in a virtual machine each of these calls the hypervisor. Measured manually on a MariaDB under
oltp_read_only (28 switches per transaction), that cost 250 us of 780 us per transaction, whatever the frequency.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from burnish.base import process, system, temporary
from burnish.base.errors import InfrastructureError, UserError
from burnish.why.samples import Mapping, parse_maps

FREQUENCY_HZ = 499
"""Samples per second and core with hardware counters. Not a round number, to avoid aliasing with the kernel's tick."""

CLOCK_HZ = 199
"""Samples per second and core with a timer. In a virtual machine the timer is the hypervisor's, and each sample takes
70 to 100 us of a core from the servers (benchmarks/sampling_overhead.py with --frequency 2500 and 499; docs/WHY.md):
499 per second cost 5 % of their throughput."""

DWARF_HZ = 199
"""Samples per second and core if each sample copies the stack."""

SAMPLES = 20_000
"""Default number of samples per core: with these, two recordings agree on the hottest functions."""

BUFFER = "4M"
"""perf's buffer per core if it may lock that much memory: a larger one is written less often."""

DWARF_BYTES = 8192
"""Size of that copy in bytes."""

READY_S = 30.0
"""Time limit for perf to start and to end, when it reads facts about every process of the host."""


class Stacks(StrEnum):
    """How perf unwinds call stacks."""

    LBR = "lbr"
    POINTERS = "fp"
    DWARF = "dwarf"
    NONE = "none"


@dataclass(frozen=True)
class Ability:
    """What this process may sample here.

    Attributes:
        event: perf's event: ``cycles:P``, ``cycles`` or ``cpu-clock``; with ``:u`` if the kernel can't be sampled.
        by_core: whether cores can be sampled; otherwise processes, which has a higher overhead.
        lbr: whether the processor's branch records give call stacks.
    """

    event: str
    by_core: bool
    lbr: bool = False

    @property
    def clock(self) -> bool:
        """Whether samples are triggered by a timer because there are no hardware counters."""
        return self.event.startswith("cpu-clock")

    def frequency(self, stacks: Stacks) -> int:
        """Samples per second and core.

        With a timer and frame pointers, servers keep 98 % of their throughput (measured); the overhead of hardware
        counters, and of a timer with copies of the stack, was not measured.
        """
        usual = CLOCK_HZ if self.clock else FREQUENCY_HZ
        return min(usual, DWARF_HZ) if stacks is Stacks.DWARF else usual

    @property
    def kernel(self) -> bool:
        """Whether the kernel is sampled."""
        return not self.event.endswith(":u")

    def blind(self, stacks: Stacks, *, names_kernel: bool) -> list[str]:
        """Limits of these samples for the report, one sentence each.

        Args:
            stacks: how call stacks are unwound.
            names_kernel: whether the kernel's functions had names.
        """
        sentences = []
        if self.clock:
            sentences.append(
                "no PMU here: the CPU clock is sampled. It shows where time goes, not why (no cycles, misses or "
                "branches), and what ran while interrupts were off is counted where they come on again"
            )
        if not self.kernel:
            sentences.append(
                "the kernel's time is one lump, from /proc: kernel.perf_event_paranoid is above 1 and this process "
                "has no CAP_PERFMON"
            )
        elif not names_kernel:
            sentences.append("the kernel's functions have no names here: kernel.kptr_restrict hides their addresses")
        if not self.by_core:
            sentences.append(
                "sampled by process, for want of permission to sample cores (kernel.perf_event_paranoid above 0, no "
                "CAP_PERFMON): each context switch costs more, so loads with many of them look heavier in the kernel"
            )
        return sentences + [text for kind, text in _STACKS_BLIND.items() if kind is stacks]


_STACKS_BLIND = {
    Stacks.LBR: "call stacks from branch records: at most 32 calls deep",
    Stacks.POINTERS: (
        "call stacks by frame pointers: what a library without them calls itself from is named, its direct caller is "
        "sometimes left out"
    ),
    Stacks.DWARF: (
        f"call stacks from copies of {DWARF_BYTES // 1024} kB of the stack, unwound afterwards: what is deeper is cut "
        f"off, and {DWARF_HZ} samples a second are fewer than the tables have"
    ),
    Stacks.NONE: "no call stacks: the flame graphs show functions without their callers",
}


def find_perf() -> Path:
    """The path of perf; a `UserError` with the command that installs it if it is missing."""
    perf = system.find_programs(["perf"])["perf"]
    if perf is None:
        names = system.group("perf").packages
        raise UserError(f"perf: not on this machine, and it takes the samples; run `{system.install_command(names)}`")
    return perf


def find_ability(perf: Path, *, pmu: bool, lbr: bool, paranoid: int | None = None) -> Ability:
    """The best way of sampling that this process may use; tested, because permissions depend on kernel and container.

    Args:
        perf: the program.
        pmu: whether there are hardware events (without them, perf silently uses the clock instead).
        lbr: whether the processor records branches.
        paranoid: value of kernel.perf_event_paranoid, for the error message.

    Raises:
        UserError: nothing may be sampled; the message names the sysctl and the capability.
    """
    events = ["cycles:P", "cycles", "cpu-clock"] if pmu else ["cpu-clock"]
    message = ""
    user_only = dict.fromkeys(f"{name.partition(':')[0]}:u" for name in events)
    ways = [*((event, True) for event in events), *((event, False) for event in (*events, *user_only))]
    for event, by_core in ways:
        words: list[str | Path] = [perf, "record", "-q", "-o", "/dev/null", "-F", "99", "-e", event]
        words += ["-a"] if by_core else []
        attempt = process.run([*words, "--", "true"], timeout=READY_S)
        if attempt.ok:
            return Ability(event, by_core, lbr=lbr and event.startswith("cycles") and _gives_lbr(perf, event))
        message = message or attempt.output
    value = "" if paranoid is None else f" = {paranoid}"
    raise UserError(
        f"perf may not sample here (kernel.perf_event_paranoid{value}, no CAP_PERFMON): run "
        "`sudo sysctl kernel.perf_event_paranoid=1`, or give this process CAP_PERFMON; in a container its seccomp "
        f"profile must allow perf_event_open too (perf said: {' '.join(message.split())[:120] or 'nothing'})"
    )


def _gives_lbr(perf: Path, event: str) -> bool:
    words: list[str | Path] = [perf, "record", "-q", "-o", "/dev/null", "-e", event, "--call-graph", "lbr"]
    words += ["--", "true"]
    return process.run(words, timeout=READY_S).ok


@dataclass(frozen=True)
class Recorded:
    """One recording.

    Attributes:
        file: perf's data file.
        stacks: how call stacks are unwound.
        pids: the sampled processes by label.
        frequency: requested samples per second and core.
        mappings: code mapped into each process, by its id.
        perf_cpu: CPU seconds used by perf itself.
        seconds: wall time of the recording.
    """

    file: Path
    stacks: Stacks
    pids: dict[str, tuple[int, ...]]
    frequency: int
    mappings: dict[int, tuple[Mapping, ...]]
    perf_cpu: float = 0.0
    seconds: float = 0.0


class Sampling:
    """Samples processes from `begin` until `end`, except between `pause` and `resume`.

    Args:
        perf: the program.
        ability: what is permitted.
        stacks: how call stacks are unwound.
        pids: the processes by label.
        cores: CPU numbers that they may run on.
        file: path of the data file.
        frequency: samples per second and core; default: `Ability.frequency`.
    """

    def __init__(
        self,
        perf: Path,
        ability: Ability,
        stacks: Stacks,
        pids: dict[str, tuple[int, ...]],
        cores: Iterable[int],
        file: Path,
        frequency: int | None = None,
    ) -> None:
        self._file = file
        self._log = file.with_suffix(".log")
        all_pids = [pid for group in pids.values() for pid in group]
        rate = frequency or ability.frequency(stacks)
        self._recorded = Recorded(file, stacks, pids, rate, {pid: _maps(pid) for pid in all_pids})
        words: list[str | Path] = [perf, "record", "-q", "-B", "-N", "-o", file, "-e", ability.event, "-F", str(rate)]
        words += ["-m", BUFFER] if os.geteuid() == 0 else []
        words += ["-C", ",".join(map(str, sorted(cores)))] if ability.by_core else ["-p", ",".join(map(str, all_pids))]
        if stacks is not Stacks.NONE:
            kind = f"dwarf,{DWARF_BYTES}" if stacks is Stacks.DWARF else str(stacks)
            words += ["--call-graph", kind]
        self._words = [*words, "-D", "-1"]
        self._process: subprocess.Popen[bytes] | None = None
        self._opened = contextlib.ExitStack()
        self._began = 0.0

    def begin(self, cores: frozenset[int] | None = None) -> None:
        """Starts perf, and the sampling once perf is ready, so that its own startup is not sampled.

        Args:
            cores: CPU numbers for perf itself; default: all.
        """
        with contextlib.ExitStack() as opened:
            folder = Path(opened.enter_context(tempfile.TemporaryDirectory(dir=temporary.folder())))
            control, answer = folder / "control", folder / "answer"
            os.mkfifo(control, 0o600)
            os.mkfifo(answer, 0o600)
            # Opened for reading and writing: neither process must wait for the other to open its end.
            self._control = opened.enter_context(control.open("r+b", buffering=0))
            self._answer = opened.enter_context(answer.open("r+b", buffering=0))
            os.set_blocking(self._answer.fileno(), False)
            with self._log.open("wb") as sink:
                self._process = process.start(
                    [*self._words, f"--control=fifo:{control},{answer}"], stdout=sink.fileno(), cores=cores
                )
            self.resume()
            self._opened = opened.pop_all()
        self._began = time.monotonic()

    def pause(self) -> None:
        """Pauses the sampling until `resume`."""
        self._order(b"disable\n")

    def resume(self) -> None:
        """Resumes the sampling; returns when perf has confirmed it."""
        self._order(b"enable\n")

    def _order(self, what: bytes) -> None:
        assert self._process is not None  # noqa: S101 - begin() came first
        self._control.write(what)
        deadline = time.monotonic() + READY_S
        while b"ack" not in (self._answer.read(16) or b""):
            if self._process.poll() is not None or time.monotonic() > deadline:
                process.stop(self._process, patience=0.0)
                raise InfrastructureError(f"perf record: no answer to {what.decode().strip()!r}", log=self._log)
            time.sleep(0.005)

    def end(self) -> Recorded:
        """Ends the recording; its data file is complete when this returns."""
        assert self._process is not None  # noqa: S101 - begin() came first
        seconds = time.monotonic() - self._began
        self._process.send_signal(signal.SIGINT)
        spent = _cpu_seconds(self._process.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(READY_S)
        process.stop(self._process, patience=0.0)
        self._opened.close()
        if not self._file.is_file():
            raise InfrastructureError("perf record: it left no data", log=self._log)
        return replace(self._recorded, perf_cpu=spent, seconds=seconds)


def _maps(pid: int) -> tuple[Mapping, ...]:
    with contextlib.suppress(OSError):
        return parse_maps(Path(f"/proc/{pid}/maps").read_text(errors="replace"))
    return ()


def _cpu_seconds(pid: int) -> float:
    """CPU time of a child process so far; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read(
    perf: Path, recorded: Recorded, *, stacks: bool, log: Path, pids: Sequence[int] = (), patience: float = 600.0
) -> str:
    """The samples as printed by `perf script`, with or without callers; see `burnish.why.samples`.

    Args:
        perf: the program.
        recorded: the recording.
        stacks: whether to print callers.
        log: file for perf's output if it fails.
        pids: processes whose samples are printed; default: all of the recording.
        patience: time limit in seconds.
    """
    wanted = pids or [pid for group in recorded.pids.values() for pid in group]
    words: list[str | Path] = [perf, "script", "-i", recorded.file, "--pid", ",".join(map(str, wanted))]
    words += [] if stacks else ["-G"]
    done = process.run([*words, "-F", "pid,period,ip,sym,dso"], timeout=patience)
    if not done.ok:
        log.write_text(done.output)
        raise InfrastructureError("perf script: the samples could not be read", log=log)
    return done.output
