"""Samples of running servers by `perf record`: what this host permits, and the recording itself.

By core rather than by process, where that is allowed: a counter that follows a thread is stopped and started at each
of its context switches, and in a virtual machine each of these is a trip to the hypervisor. By hand on a MariaDB under
oltp_read_only (28 switches a transaction) that cost 250 us a transaction of 780, whatever the frequency.
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

from burnish.base import process, system
from burnish.base.errors import InfrastructureError, UserError
from burnish.why.samples import Mapping, parse_maps

FREQUENCY_HZ = 499
"""Samples a second of each core, where the processor's own counters raise them. No round number: it must not beat with
the kernel's own tick."""

CLOCK_HZ = 199
"""The same where a timer raises them. In a virtual machine the timer is the hypervisor's, and each sample takes 70 to
100 us of a core from the host's servers (benchmarks/sampling_overhead.py with --frequency 2500 and 499; docs/WHY.md):
499 a second cost 5 % of their throughput."""

DWARF_HZ = 199
"""The same where each sample is a copy of the stack."""

SAMPLES = 20_000
"""So many of each core are taken when nobody says for how long: two recordings then agree on the heaviest functions."""

BUFFER = "4M"
"""perf's buffer of each core, where it may lock so much memory: the larger, the seldomer it wakes up to write."""

DWARF_BYTES = 8192
"""How much of the stack that copy is."""

READY_S = 30.0
"""Patience with perf's beginning and end: both read about every process of the host."""


class Stacks(StrEnum):
    """How perf finds out who called the function that it met."""

    LBR = "lbr"
    POINTERS = "fp"
    DWARF = "dwarf"
    NONE = "none"


@dataclass(frozen=True)
class Ability:
    """What this process may sample here.

    Attributes:
        event: perf's event: ``cycles:P``, ``cycles`` or ``cpu-clock``; with ``:u`` where the kernel is out of sight.
        by_core: whether whole cores can be sampled; else the processes, which costs them more.
        lbr: whether the processor records branches in a way that gives call stacks.
    """

    event: str
    by_core: bool
    lbr: bool = False

    @property
    def clock(self) -> bool:
        """Whether a timer raises the samples, for want of the processor's own counters."""
        return self.event.startswith("cpu-clock")

    def frequency(self, stacks: Stacks) -> int:
        """Samples a second of each core. A timer's are few enough to leave servers 98 % of their throughput, by frame
        pointers (measured); what a counter's cost, or a timer's with copies of the stack, was never measured."""
        usual = CLOCK_HZ if self.clock else FREQUENCY_HZ
        return min(usual, DWARF_HZ) if stacks is Stacks.DWARF else usual

    @property
    def kernel(self) -> bool:
        """Whether samples in the kernel are seen as such."""
        return not self.event.endswith(":u")

    def blind(self, stacks: Stacks, *, names_kernel: bool) -> list[str]:
        """What these samples can't show, a sentence each, for the report.

        Args:
            stacks: how callers are found.
            names_kernel: whether the kernel's functions had names.
        """
        found = []
        if self.clock:
            found.append(
                "no PMU here: the CPU clock is sampled. It shows where time goes, not why (no cycles, misses or "
                "branches), and what ran while interrupts were off is counted where they come on again"
            )
        if not self.kernel:
            found.append(
                "the kernel's time is one lump, from /proc: kernel.perf_event_paranoid is above 1 and this process "
                "has no CAP_PERFMON"
            )
        elif not names_kernel:
            found.append("the kernel's functions have no names here: kernel.kptr_restrict hides their addresses")
        if not self.by_core:
            found.append(
                "sampled by process, for want of permission to sample cores (kernel.perf_event_paranoid above 0, no "
                "CAP_PERFMON): each context switch costs more, so loads with many of them look heavier in the kernel"
            )
        return found + [text for kind, text in _STACKS_BLIND.items() if kind is stacks]


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
    """The program; a `UserError` with the line that installs it where there is none."""
    found = system.find_programs(["perf"])["perf"]
    if found is None:
        names = system.group("perf").packages
        raise UserError(f"perf: not on this machine, and it takes the samples; run `{system.install_command(names)}`")
    return found


def find_ability(perf: Path, *, pmu: bool, lbr: bool, paranoid: int | None = None) -> Ability:
    """What this process may sample, the best first; tried, as containers and kernels refuse in many ways.

    Args:
        perf: the program.
        pmu: whether hardware events count here (perf quietly takes the clock instead where they don't).
        lbr: whether the processor records branches.
        paranoid: value of kernel.perf_event_paranoid, for the error's words.

    Raises:
        UserError: nothing may be sampled; names the sysctl and the capability.
    """
    events = ["cycles:P", "cycles", "cpu-clock"] if pmu else ["cpu-clock"]
    said = ""
    user_only = dict.fromkeys(f"{name.partition(':')[0]}:u" for name in events)
    ways = [*((event, True) for event in events), *((event, False) for event in (*events, *user_only))]
    for event, by_core in ways:
        words: list[str | Path] = [perf, "record", "-q", "-o", "/dev/null", "-F", "99", "-e", event]
        words += ["-a"] if by_core else []
        tried = process.run([*words, "--", "true"], timeout=READY_S)
        if tried.ok:
            return Ability(event, by_core, lbr=lbr and event.startswith("cycles") and _gives_lbr(perf, event))
        said = said or tried.output
    value = "" if paranoid is None else f" = {paranoid}"
    raise UserError(
        f"perf may not sample here (kernel.perf_event_paranoid{value}, no CAP_PERFMON): run "
        "`sudo sysctl kernel.perf_event_paranoid=1`, or give this process CAP_PERFMON; in a container its seccomp "
        f"profile must allow perf_event_open too (perf said: {' '.join(said.split())[:120] or 'nothing'})"
    )


def _gives_lbr(perf: Path, event: str) -> bool:
    words: list[str | Path] = [perf, "record", "-q", "-o", "/dev/null", "-e", event, "--call-graph", "lbr"]
    words += ["--", "true"]
    return process.run(words, timeout=READY_S).ok


@dataclass(frozen=True)
class Recorded:
    """One recording.

    Attributes:
        file: perf's data.
        stacks: how callers are found in it.
        pids: the sampled processes by label.
        frequency: samples a second of each core that were asked for.
        mappings: code in memory of each process by its number.
        perf_cpu: CPU seconds that perf itself took.
        seconds: wall time of it.
    """

    file: Path
    stacks: Stacks
    pids: dict[str, tuple[int, ...]]
    frequency: int
    mappings: dict[int, tuple[Mapping, ...]]
    perf_cpu: float = 0.0
    seconds: float = 0.0


class Sampling:
    """Samples processes from `begin` until `end`, but for the time between `pause` and `resume`.

    Args:
        perf: the program.
        ability: what is permitted.
        stacks: how callers are found.
        pids: the processes by label.
        cores: CPU numbers that they may run on.
        file: where the data go.
        frequency: samples a second of each core; as `Ability.frequency` when not given.
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
        every = [pid for each in pids.values() for pid in each]
        rate = frequency or ability.frequency(stacks)
        self._recorded = Recorded(file, stacks, pids, rate, {pid: _maps(pid) for pid in every})
        words: list[str | Path] = [perf, "record", "-q", "-B", "-N", "-o", file, "-e", ability.event, "-F", str(rate)]
        words += ["-m", BUFFER] if os.geteuid() == 0 else []
        words += ["-C", ",".join(map(str, sorted(cores)))] if ability.by_core else ["-p", ",".join(map(str, every))]
        if stacks is not Stacks.NONE:
            kind = f"dwarf,{DWARF_BYTES}" if stacks is Stacks.DWARF else str(stacks)
            words += ["--call-graph", kind]
        self._words = [*words, "-D", "-1"]
        self._process: subprocess.Popen[bytes] | None = None
        self._opened = contextlib.ExitStack()
        self._began = 0.0

    def begin(self, cores: frozenset[int] | None = None) -> None:
        """Starts perf and lets it begin once it is ready, so that its own preparations are not sampled.

        Args:
            cores: CPU numbers for perf itself; all when not given.
        """
        with contextlib.ExitStack() as opened:
            folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="burnish-perf-")))
            control, answer = folder / "control", folder / "answer"
            os.mkfifo(control, 0o600)
            os.mkfifo(answer, 0o600)
            # Opened for both ways: neither of us must wait for the other to open its end.
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
        """Takes no samples from here on, until `resume`."""
        self._order(b"disable\n")

    def resume(self) -> None:
        """Takes samples again; returns when perf says that it does."""
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
        """Ends the recording; its data are whole when this returns."""
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
    """CPU time of a process of ours so far; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read(
    perf: Path, recorded: Recorded, *, stacks: bool, log: Path, pids: Sequence[int] = (), patience: float = 600.0
) -> str:
    """The samples as `perf script` prints them, with callers or without; see `burnish.why.samples`.

    Args:
        perf: the program.
        recorded: the recording.
        stacks: whether callers are printed too.
        log: where perf's complaints go when it fails.
        pids: processes whose samples are printed; all of the recording's when not given.
        patience: seconds.
    """
    wanted = pids or [pid for each in recorded.pids.values() for pid in each]
    words: list[str | Path] = [perf, "script", "-i", recorded.file, "--pid", ",".join(map(str, wanted))]
    words += [] if stacks else ["-G"]
    done = process.run([*words, "-F", "pid,period,ip,sym,dso"], timeout=patience)
    if not done.ok:
        log.write_text(done.output)
        raise InfrastructureError("perf script: the samples could not be read", log=log)
    return done.output
