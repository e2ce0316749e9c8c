"""The fake engine: a server whose true speed is known, for tests of everything else.

Its source (the folder beside this file) is a few files of C; `fake.h` there says which compile flags set its speed
and plant its faults. They are given as raw flags of a recipe (``-DFAKE_SPEED=130``) or as configure options
(``FAKE_SPEED = 130``); the option ``append_flags`` is put behind all other flags, as build systems do that
cancel a recipe's flags, and the flag ``-DFAKE_UNCONFIGURED`` makes a check of its configuration fail. With the option
``FAKE_TRAINED`` a build with gcc's profile is as fast at each kind of request as that kind's share of the training
(`trained_speed`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError, unknown
from burnish.base.workbench import Workbench, output_of
from burnish.engines import jobs
from burnish.engines.contract import MARKER, BuildJob, Engine, GateReport, Loads, Side, SideSpec, Tick
from burnish.engines.fake.gate import ANSWERING, SOCKET, answers_under, ask, run_tests
from burnish.engines.steps import Command, Step, perform
from burnish.engines.ticks import TickFile
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.program.built import Built, CompiledObject, Identity
from burnish.program.elf import build_id
from burnish.toolchain import counts, gcda
from burnish.workload.loads import RATE, Parameter

DATA_FILE = "fake.data"
SOURCES = ("server.c", "fake_serve.c", "fake_work.c")
OPTIONS = (
    "FAKE_SPEED",
    "FAKE_EXTRAS",
    "FAKE_RELEASE",
    "FAKE_BROKEN",
    "FAKE_WRONG",
    "FAKE_ERRORS_EVERY",
    "FAKE_CRASH_AFTER",
    "FAKE_HANG_AFTER",
    "FAKE_TRAINED",
    "append_flags",
)
REQUESTS = {"FAKE_LOW": "fake_low", "FAKE_HIGH": "fake_high", "FAKE_WRITE": "fake_write"}
"""Functions that answer the kinds of request, by the definition that sets their speed."""

ARCS = 0
"""gcc's kind of counter for how often a path was taken."""
SETTINGS = ("work_percent",)
"""Server settings of a condition: work of each request in per cent, 100 when not given."""

GAVE_UP = 1
"""The load's exit code when it can't go on."""

MAX_CONNECTIONS = 256
"""Client threads that a fake server is ever given."""

COLD_SHARE = 0.02
"""A kind of request with a smaller share of the training is cold."""

BOOT_S = 60.0
PATIENCE_S = 60.0
"""Seconds that a server gets to end by itself (and to write its profile) before it is killed."""

ENDING_S = 60.0
"""Seconds that the end of a server may take to be seen after the load has lost its connections."""


class FakeLoads(Loads):
    """The loads of its file, each at a fixed rate too."""

    def parameters(self, workload: Workload, bench: Workbench) -> Mapping[str, Parameter]:
        """See `Loads.parameters`."""
        return {**super().parameters(workload, bench), RATE: Parameter("number")}


class FakeEngine(Engine):
    """Behaviour of the fake engine."""

    source_files = SOURCES

    loads_class = FakeLoads
    transports = ("unix",)
    marks = (b"fake 1.%d\n",)
    """The beginning of its version line."""

    def steps(self, job: BuildJob) -> tuple[Step, ...]:
        """Each source file compiled, then the link."""
        _, appended = self._configured(job)
        link = [
            str(job.toolchain.cc),
            *job.flags.c,
            *appended,
            *job.flags.link,
            "-Wl,--build-id=sha1",
            "-pthread",
            *jobs.program_words(job),
        ]
        compiles = self._compiles(job)
        cached = tuple(job.cache_environment.items())
        link += [argv[-1] for _, argv in compiles]
        return (
            Command("folder", ("mkdir", "-p", "bin")),
            *(Command(f"compile {name}", (*job.launcher, *argv), cached) for name, argv in compiles),
            Command("link server", (*job.metered, *link, "-o", "bin/server"), tuple(job.meter_environment.items())),
        )

    def _compiles(self, job: BuildJob) -> list[tuple[str, tuple[str, ...]]]:
        """(source file's name, compile command); the object's name is the last word."""
        defines, appended = self._configured(job)
        words = [str(job.toolchain.cc), *job.flags.c, *defines, "-pthread", *appended]
        return [
            (name, (*words, "-c", str(job.source / name), "-o", Path(name).with_suffix(".o").name)) for name in SOURCES
        ]

    def check_source(self, source: Path) -> None:
        """See `Engine.check_source`."""
        if missing := [name for name in SOURCES if not (source / name).is_file()]:
            raise UserError(f"{source}: not the fake engine's source (no {missing[0]}); take the one that is shipped")

    def build(self, job: BuildJob) -> None:
        """Compiles each source file and links the server; then the load program, the same for all builds."""
        self.check_source(job.source)
        steps = self.steps(job)
        for number, step in enumerate(steps, 1):
            if isinstance(step, Command):
                job.bench.live(f"[{number}/{len(steps) + 1}] {step.what}")
            perform([step], job, doing="building the fake engine", timeout=120)
        # What a build system finds out beforehand; the program is the same.
        fork = "/* #undef HAVE_FORK */" if "-DFAKE_UNCONFIGURED" in job.flags.c else "#define HAVE_FORK 1"
        (job.place / "fake_config.h").write_text(f"{fork}\n")
        entries = [
            {"directory": str(job.place), "file": argv[-3], "arguments": argv, "output": argv[-1]}
            for _, argv in self._compiles(job)
        ]
        (job.place / "compile_commands.json").write_text(json.dumps(entries, indent=1))
        # Always the same compiler and flags: a client that differs would be a difference between sides.
        plain = [
            shutil.which("cc") or job.toolchain.cc,
            "-O2",
            "-pthread",
            job.source / "load.c",
            "-o",
            "bin/load",
        ]
        job.bench.run("build load", plain, cwd=job.place, timeout=120).check("building the load program")

    def _configured(self, job: BuildJob) -> tuple[list[str], list[str]]:
        """(definitions, flags behind all others) from the feature set's and the recipe's options."""
        options = dict(job.features.options) | dict(job.options)
        appended = shlex.split(options.pop("append_flags", ""))
        defines = []
        for name, value in options.items():
            if name not in OPTIONS:
                raise unknown("configure option of fake", name, OPTIONS)
            defines.append(f"-D{name}={ {'ON': '1', 'OFF': '0'}.get(value, value) }")
        profile = job.place / "fake_serve.gcda"
        if "FAKE_TRAINED" in options and profile.is_file():
            calls = _calls(profile)
            for name, function in REQUESTS.items():
                share = calls[function] / max(1, sum(calls.values()))
                defines.append(f"-D{name}={trained_speed(share)}")
        return defines, appended

    def keep(self, job: BuildJob) -> list[tuple[Path, str]]:
        """The folder with the server and the load program."""
        return [(job.place / "bin", "bin")]

    def objects(self, job: BuildJob) -> list[CompiledObject]:
        """The server's three objects, from the compile commands written while building."""
        entries = json.loads((job.place / "compile_commands.json").read_text(encoding="utf-8"))
        return [
            CompiledObject(path=entry["output"], source=entry["file"], command=tuple(entry["arguments"]))
            for entry in entries
        ]

    def existing(self, program: Path) -> Built:
        """A fake server with its load program beside it; UserError otherwise."""
        found = super().existing(program)
        if not process.capture([found.server, "--version"], timeout=60):
            raise UserError(f"{program}: does not run on this machine; build it here, or name another")
        if not (found.folder / "load").is_file():
            raise UserError(f"{program}: its load program is not beside it; copy `load` of the same build there")
        return found

    def identity(self, built: Built, bench: Workbench) -> Identity:
        """Version and features from ``server --version``, build id from ``readelf``."""
        words: list[str | Path] = [built.server, "--version"]
        done, lines = output_of(bench, "version", words, env=dict(built.environment), timeout=60)
        done.check("version")
        features = sorted((name, value) for name, _, value in (line.partition("=") for line in lines[1:]) if value)
        return Identity(lines[0].removeprefix("fake ") if lines else "", tuple(features), build_id(built.server))

    def gate(
        self,
        subject: Built,
        tools: Built,  # noqa: ARG002 - the server is asked itself
        place: Path,
        bench: Workbench,
        tests: Sequence[str] | None = None,
    ) -> GateReport:
        """Asks the very server that will be measured questions with known answers; `tools` are not needed."""
        began = time.monotonic()
        outcome = run_tests(subject, self.spec.gate_tests if tests is None else tests, place, bench)
        return GateReport(
            passed=not outcome.failures,
            tests=outcome.ran,
            skipped=outcome.skipped,
            failures=tuple(outcome.failures),
            build_id=build_id(subject.server),
            seconds=time.monotonic() - began,
        )

    def answers(self, built: Built, place: Path, bench: Workbench, launcher: Sequence[str] = ()) -> str | None:  # noqa: ARG002
        """The gate's first question to its own server."""
        return answers_under(built, place, launcher)

    def create_dataset(
        self,
        built: Built,  # noqa: ARG002 - the data are the same whichever server reads them
        tools: Built,  # noqa: ARG002
        workload: Workload,
        folder: Path,
        bench: Workbench,  # noqa: ARG002
    ) -> None:
        """Writes the data file: the parameter `bytes` sets its size, its content is always the same."""
        content = random.Random(1).randbytes(int(workload.parameter("bytes", "4096")))
        (folder / DATA_FILE).write_bytes(content)
        (folder / MARKER).write_text("fake\n")

    def check_condition(self, asked: Condition) -> None:
        """UserError for a setting that the server does not know, or another transport."""
        super().check_condition(asked)
        _settings(asked)

    def examine(
        self,
        built: Built,  # noqa: ARG002
        workload: Workload,
        condition: Condition,  # noqa: ARG002
        data: Path | None,  # noqa: ARG002
        place: Path,  # noqa: ARG002
        bench: Workbench,  # noqa: ARG002
    ) -> list[str]:
        """UserError where there are more client threads than connections."""
        if workload.threads > MAX_CONNECTIONS:
            raise UserError(
                f"max_connections is {MAX_CONNECTIONS}, but {workload.name} has {workload.threads} client threads"
            )
        return []

    def side(self, spec: SideSpec) -> Side:
        """A side, not yet booted; UserError for a setting that the server does not know."""
        _settings(spec.condition)
        return FakeSide(spec)


class FakeSide(Side):
    """A fake server and its load."""

    def __init__(self, spec: SideSpec) -> None:
        self.spec = spec
        self._server: subprocess.Popen[bytes] | None = None
        self._load: subprocess.Popen[bytes] | None = None
        self._ticks = TickFile(spec.folder / "ticks.jsonl")
        self._stopped = False

    @property
    def _server_log(self) -> Path:
        return self.spec.folder / "server.log"

    @property
    def _load_log(self) -> Path:
        return self.spec.folder / "load.log"

    def boot(self) -> None:
        """Starts the server and waits until it answers."""
        spec, label = self.spec, self.spec.label
        if not (spec.data / MARKER).is_file():
            raise InfrastructureError(f"{label}: {spec.data} is not a data folder of Burnish ({MARKER} is missing)")
        # A relative socket name: a full one may be longer than the kernel's 107 bytes.
        argv: list[str | Path] = [spec.built.server.resolve(), SOCKET, (spec.data / DATA_FILE).resolve()]
        argv += [*_settings(spec.condition), *spec.built.options]
        with self._server_log.open("ab") as log:
            self._server = process.start(
                argv,
                cwd=spec.folder,
                env=dict((*spec.built.environment, *spec.environment)),
                stdout=log.fileno(),
                cores=spec.cores,
            )
        deadline = time.monotonic() + BOOT_S
        while ask(spec.folder, "?") != ANSWERING:
            if self._server.poll() is not None:
                how = _ending(self._server.returncode)
                raise InfrastructureError(f"{label}: the server {how} while starting", log=self._server_log)
            if time.monotonic() > deadline:
                raise InfrastructureError(f"{label}: no answer {BOOT_S:.0f} s after start", log=self._server_log)
            time.sleep(0.01)

    def fingerprint(self) -> str:
        """SHA-256 of the data file."""
        return hashlib.sha256((self.spec.data / DATA_FILE).read_bytes()).hexdigest()

    def load(self) -> None:
        """Starts the load program, which writes its ticks to a file."""
        if self._server is None:
            raise InfrastructureError(f"{self.spec.label}: the load needs a server; boot comes first")
        spec = self.spec
        argv: Sequence[str | Path] = [
            spec.built.server.resolve().parent / "load",
            SOCKET,
            str(self._server.pid),
            str(spec.workload.threads),
            str(spec.seed),
            spec.workload.parameter("write_every", "0"),
            spec.workload.parameter("timeout_s", "2"),
            spec.workload.parameter("interval_s", "0.1"),
            spec.workload.parameter("letters"),
            spec.workload.parameter(RATE, "0"),
        ]
        with self._ticks.path.open("wb") as ticks, self._load_log.open("wb") as log:
            self._load = process.start(
                argv, cwd=spec.folder, stdout=ticks.fileno(), stderr=log.fileno(), cores=spec.cores
            )

    def ticks(self) -> list[Tick]:
        """What the load has written since the last call."""
        return [] if self._load is None else [_tick(line) for line in self._ticks.lines()]

    def server_pids(self) -> list[int]:
        """The server, while it lives."""
        return [self._server.pid] if self._server is not None and self._server.poll() is None else []

    def client_pids(self) -> list[int]:
        """The load program, while it lives."""
        return [self._load.pid] if self._load is not None and self._load.poll() is None else []

    def trouble(self) -> str | None:
        """Why this side cannot continue: the server or the load has ended."""
        if self._stopped or self._server is None:
            return None
        ended = self._load.poll() if self._load is not None else None
        said = "it said nothing"
        if ended is not None:
            said = (self._load_log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or [said])[-1]
        if ended == GAVE_UP and "no answer" not in said:
            # A dying server closes its connections first, and is seen dead when it has had a core for the rest.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._server.wait(ENDING_S)
        if self._server.poll() is not None:
            return f"the server {_ending(self._server.returncode)}"
        return f"the load {_ending(ended)}: {said}" if ended is not None else None

    def finish(self, patience: float) -> None:
        """See `Side.finish`."""
        self._end(patience)
        if self._server is not None and self._server.returncode != 0:
            raise InfrastructureError(f"{self.spec.label}: the server {_ending(self._server.returncode)} at its end")

    def stop(self) -> None:
        """Ends the load, then the server; a server that does not end is killed."""
        self._end(PATIENCE_S)

    def _end(self, patience: float) -> None:
        self._stopped = True
        for program in (self._load, self._server):
            if program is not None:
                process.stop(program, patience=patience)


def trained_speed(share: float) -> int:
    """Capacity in per cent of a kind of request that made up this share of the training: slower where it was cold."""
    return 90 if share < COLD_SHARE else round(110 + 30 * share)


def _calls(profile: Path) -> dict[str, int]:
    """How often each kind of request was answered, by gcc's counters: the largest of its function's arcs."""
    functions = gcda.read(profile.read_bytes()).functions
    calls = dict.fromkeys(REQUESTS.values(), 0)
    for (number, _, _), kinds in functions.items():
        for function in calls:
            if number == counts.crc(0, function) & 0x7FFFFFFF:
                calls[function] = max(kinds.get(ARCS, ()), default=0)
    return calls


def _settings(condition: Condition) -> list[str]:
    """The condition's settings as the server's arguments."""
    for name, value in condition.settings:
        if name not in SETTINGS:
            raise unknown("setting of the fake server", name, SETTINGS)
        if not value.isdigit():
            raise UserError(f"setting {name}: found {value!r}, allowed is a whole number of per cent")
    return [f"{name}={value}" for name, value in condition.settings]


def _ending(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _tick(line: bytes) -> Tick:
    values = json.loads(line)
    return Tick(
        at=values["at"],
        done=values["done"],
        errors=values["errors"],
        server_cpu=values["server_cpu"],
        client_cpu=values["client_cpu"],
        latency={name: values[name] for name in ("p50", "p95", "p99", "max", "left_out")},
    )
