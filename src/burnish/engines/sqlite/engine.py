"""SQLite: its amalgamation, its own load programs and its own tests, linked into one program.

The program (`sqlite_loop.c`) is SQLite's speedtest1, kvtest, shell and fuzzcheck with one and the same sqlite3.o,
so that the gate tests what is measured. The amalgamation is made by SQLite's main.mk: no configure, 2 s of CPU.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.workbench import Workbench, output_of
from burnish.engines import jobs
from burnish.engines.contract import BuildJob, Engine, GateReport, Loads, Side, SideSpec
from burnish.engines.sqlite import gate
from burnish.engines.sqlite.side import DATABASE, SqliteSide, data_options, one_thread, program_arguments
from burnish.engines.steps import Command, Step, Text, perform
from burnish.model.workload import Workload
from burnish.program.built import Built, CompiledObject, Identity
from burnish.program.elf import build_id, word_of

LOOP = "sqlite_loop.c"
COMMANDS = "compile_commands.json"

_OWN_MAIN = ("shell", "speedtest1", "kvtest", "fuzzcheck")
_OBJECTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    # The longest first: it takes one core from beginning to end, the others share the rest.
    ("sqlite3.c", ()),
    ("shell.c", ()),
    ("test/speedtest1.c", ("-DSQLITE_SPEEDTEST1_WASM",)),  # resets its state when it is called again
    ("test/kvtest.c", ()),
    ("test/fuzzcheck.c", ("-DSQLITE_OSS_FUZZ",)),
    ("test/ossfuzz.c", ()),
    ("test/fuzzinvariants.c", ()),
    ("test/vt02.c", ("-DSQLITE_CORE",)),  # linked in, not loaded as an extension
    ("ext/recover/dbdata.c", ("-DSQLITE_CORE",)),
    ("ext/recover/sqlite3recover.c", ()),
    (LOOP, ("-D_GNU_SOURCE",)),
)
_LATER: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ext/misc/randomjson.c", ("-DSQLITE_CORE",)),  # fuzzcheck of 3.46 calls it; 3.40 has no such file
)
"""Objects of versions after Debian's own, for a tree that is given."""

_GENERATED = ("sqlite3.c", "shell.c", LOOP)


class SqliteLoads(Loads):
    """SQLite's own load programs."""

    def check(self, workload: Workload) -> None:
        """See `Loads.check`: they have one thread."""
        one_thread(workload.threads, workload.name)


class Sqlite(Engine):
    """Behaviour of the SQLite engine."""

    marks = (b"usage: burnish-sqlite [loop|still] ",)
    makers = ("make", "ar")
    source_files = ("main.mk", "test/speedtest1.c")
    loads_class = SqliteLoads

    def steps(self, job: BuildJob) -> tuple[Step, ...]:
        """make writes the amalgamation; then it runs the compilers, so that several run at a time."""
        defines = _defines(job)
        variables = [f"TOP={job.source}", f"BCC={job.toolchain.cc}", f"OPTS={shlex.join(defines)}"]
        making = ["make", "-f", str(job.source / "main.mk"), *variables, "sqlite3.c", "shell.c"]
        commands = _compile_commands(job, defines)
        # MAKEFLAGS: ours must not reach a make that we were called from, nor its jobs ours.
        alone = (("MAKEFLAGS", ""), *job.cache_environment.items())
        return (
            Command("amalgamation", tuple(making), alone),
            Text(LOOP, Path(__file__).with_name(LOOP).read_text()),
            Text("burnish.mk", _makefile(job, commands, _link_command(job, self.spec.server))),
            Command("folder", ("mkdir", "-p", "bin")),
            Command("compile", ("make", f"-j{job.jobs}", "-f", "burnish.mk"), alone),
        )

    def check_source(self, source: Path) -> None:
        """See `Engine.check_source`: the amalgamation alone is not enough."""
        if not all((source / name).is_file() for name in self.source_files):
            raise UserError(
                f"{source}: not SQLite's full source tree (main.mk or test/speedtest1.c is missing); "
                "give Debian's source package sqlite3 or sqlite-src-*.zip unpacked, not the amalgamation alone"
            )

    def build(self, job: BuildJob) -> None:
        """Makes the amalgamation, compiles it and SQLite's programs, and links all of it."""
        self.check_source(job.source)
        job.bench.live("making the amalgamation")
        (job.place / COMMANDS).write_text(json.dumps(_compile_commands(job, _defines(job)), indent=1))
        perform(self.steps(job), job, doing="building SQLite", timeout=1800, on_line=_progress(job))
        if job.with_tools:
            self._make_gate(job)

    def _make_gate(self, job: BuildJob) -> None:
        """Keeps the fuzz databases and this build's results on them, which all other builds must reproduce."""
        folder, scratch = job.place / "gate", job.place / "gate-run"
        folder.mkdir()
        scratch.mkdir()
        for name in gate.fuzz_data(self.spec.gate_tests):
            shutil.copyfile(job.source / "test" / name, folder / name)
        job.bench.live("recording what the gate expects")
        results = gate.run_checks(job.place / self.spec.server, {}, self.spec.gate_tests, folder, scratch, job.bench)
        (folder / "expected.json").write_text(json.dumps(gate.expectations(results), indent=1))

    def keep(self, job: BuildJob) -> list[tuple[Path, str]]:
        """The program, the commands that made it, and of the build with tools the gate's data."""
        kept = [(job.place / "bin", "bin"), (job.place / COMMANDS, COMMANDS)]
        return [*kept, (job.place / "gate", "gate")] if job.with_tools else kept

    def objects(self, job: BuildJob) -> list[CompiledObject]:
        """Every object of the program, from the commands that make was given."""
        entries = json.loads((job.place / COMMANDS).read_text(encoding="utf-8"))
        return [CompiledObject(entry["output"], entry["file"], tuple(entry["arguments"])) for entry in entries]

    def existing(self, program: Path) -> Built:
        """A program that this engine built; UserError otherwise."""
        found = super().existing(program)
        if not process.capture([found.server, "options"], timeout=10):
            raise UserError(f"{program}: does not run on this machine; build it here, or name another")
        return found

    def identity(self, built: Built, bench: Workbench) -> Identity:
        """Version and compile options as the program tells them, the compiler's name left out."""
        done, lines = output_of(bench, "options", [built.server, "options"], env=dict(built.environment), timeout=60)
        done.check(f"asking {built.server}")
        if len(lines) < 2:
            raise InfrastructureError(f"{built.server}: its `options` reported nothing", log=done.log)
        version, _, *options = lines
        pairs = (option.partition("=")[::2] for option in options if not option.startswith("COMPILER="))
        return Identity(version, tuple(sorted(pairs)), build_id(built.server))

    def gate(
        self, subject: Built, tools: Built, place: Path, bench: Workbench, tests: Sequence[str] | None = None
    ) -> GateReport:
        """SQL with known answers, speedtest1 --verify, kvtest and fuzzcheck, all of them `subject`'s own."""
        began = time.monotonic()
        data = gate.folder_of(tools)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        wanted = self.spec.gate_tests if tests is None else tests
        results = gate.run_checks(subject.server.resolve(), dict(subject.environment), wanted, data, place, bench)
        expected = json.loads((data / "expected.json").read_text())
        comparable = self.identity(subject, bench).features == self.identity(tools, bench).features
        same_word = word_of(subject.server) == word_of(tools.server)
        failures, skipped = gate.judge(results, expected, comparable=comparable, same_word=same_word)
        return GateReport(
            passed=not failures,
            tests=len(results) - skipped,
            skipped=skipped,
            failures=tuple(failures),
            build_id=build_id(subject.server),
            seconds=time.monotonic() - began,
        )

    def answers(self, built: Built, place: Path, bench: Workbench, launcher: Sequence[str] = ()) -> str | None:
        """The shell's SQL with known answers, on a database in a file."""
        script = place / "answers.sql"
        script.write_text(gate.answers_sql())
        lines: list[str] = []
        done = bench.run(
            "answers",
            [*launcher, built.server.resolve(), "shell", "-batch", place / "answers.db"],
            cwd=place,
            env={**dict(built.environment), "HOME": str(place), "TZ": "UTC"},
            stdin_file=script,
            timeout=120,
            on_line=lines.append,
        )
        wrong = gate.wrong_answer("\n".join(lines))
        if wrong is not None and done.exit_code < 0:
            return f"was ended by signal {-done.exit_code}: {lines[-1] if lines else 'it said nothing'}"
        return wrong

    def create_dataset(
        self,
        built: Built,
        tools: Built,  # noqa: ARG002 - the program itself makes its data
        workload: Workload,
        folder: Path,
        bench: Workbench,
    ) -> None:
        """Makes kvtest's database; nothing for loads that make their own data."""
        if workload.dataset == "none":
            return
        argv: list[str | Path] = [built.server, "kvtest", "init", folder / DATABASE, *data_options(workload)]
        bench.run("make data", argv, env=dict(built.environment), timeout=300).check("making kvtest's data")

    def side(self, spec: SideSpec) -> Side:
        """A side, not yet booted."""
        return SqliteSide(spec)

    def unit(self, spec: SideSpec) -> list[str | Path]:
        """See `Engine.unit`: the load program by itself, once."""
        return [spec.built.server.resolve(), *program_arguments(spec)]


def _defines(job: BuildJob) -> list[str]:
    """The feature set as -D flags; the recipe's options win, and OFF takes one away."""
    options = dict(job.features.options) | dict(job.options)
    words = []
    for name, value in options.items():
        if not re.fullmatch(r"(SQLITE|HAVE)_[A-Z0-9_]+", name) or not re.fullmatch(r"[\w.+-]*", value):
            raise UserError(
                f"option {name} = {value!r}: SQLite's are compile-time definitions such as SQLITE_MAX_ATTACHED = 20"
            )
        if value != "OFF":
            words.append(f"-D{name}" if value in ("", "ON") else f"-D{name}={value}")
    return words


def objects_of(source: Path) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(file, its own flags) of every object of the program that this version has."""
    return (*_OBJECTS, *((name, own) for name, own in _LATER if (source / name).is_file()))


def _compile_commands(job: BuildJob, defines: list[str]) -> list[dict[str, object]]:
    """One entry of compile_commands.json for each object; objects lie in the build folder itself."""
    include = ["-I.", f"-I{job.source}/test", f"-I{job.source}/ext/recover"]
    entries: list[dict[str, object]] = []
    for name, own in objects_of(job.source):
        stem = Path(name).stem
        source = name if name in _GENERATED else str(job.source / name)
        renamed = [f"-Dmain={stem}_main"] if stem in _OWN_MAIN else []
        argv = [str(job.toolchain.cc), *job.flags.c, *defines, *own, *renamed, *include]
        argv += ["-c", source, "-o", f"{stem}.o"]
        entries.append({"directory": str(job.place), "file": source, "output": f"{stem}.o", "arguments": argv})
    return entries


def _link_command(job: BuildJob, program: str) -> list[str]:
    words = [str(job.toolchain.cc), *job.flags.c, *job.flags.link, *jobs.link_words(job), "-Wl,--build-id=sha1"]
    words += jobs.program_words(job)
    objects = (f"{Path(name).stem}.o" for name, _ in objects_of(job.source))
    return [*words, *objects, "-lpthread", "-lm", "-ldl", "-o", program]


def _makefile(job: BuildJob, commands: list[dict[str, object]], link: list[str]) -> str:
    """make runs the compilers, so that several run at a time and each line of the log is one command."""

    def rule(target: str, needs: str, argv: list[str]) -> str:
        return f"{target}: {needs}\n\t{shlex.join(argv).replace('$', '$$')}\n"

    objects = " ".join(str(entry["output"]) for entry in commands)
    rules = [rule(link[-1], objects, [*job.metered, *link])]  # the first is what make makes
    for entry in commands:
        argv = entry["arguments"]
        assert isinstance(argv, list)  # noqa: S101 - as _compile_commands made it
        rules.append(rule(str(entry["output"]), "", [*job.launcher, *argv]))
    return "\n".join(rules)


def _progress(job: BuildJob) -> Callable[[str], None]:
    """Each compile or link of the program that make begins is progress."""
    made = {*(f"{Path(name).stem}.o" for name, _ in objects_of(job.source)), "bin/burnish-sqlite"}
    begun = 0

    def see(line: str) -> None:
        nonlocal begun
        match = re.search(r" -o (\S+)$", line)
        if match and match[1] in made:
            begun += 1
            job.bench.live(f"[{begun}/{len(made)}] {match[1]}")

    return see
