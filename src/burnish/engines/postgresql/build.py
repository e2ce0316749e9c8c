"""Builds PostgreSQL with its configure and make, outside of its source, and lists what is kept of a build.

What is kept is an installation that may lie anywhere (`bin`, `lib`, `share`: a server finds its files from its own
place), and of the build with tools also pgbench, psql and the regression tests.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

from burnish.base.errors import InfrastructureError, UserError
from burnish.engines import jobs
from burnish.engines.contract import BuildJob, Command, CompiledObject, Step, Workbench, perform

PREFIX = "usr/lib/postgresql"
"""Where the installation would lie; only where its parts lie to one another matters."""

INSTALLED, REGRESS, LOG = "installed", "regress", "commands.log"

_LIBRARIES_FIRST = ("src/port", "src/common")
_SERVER = (
    "src/backend", "src/backend/utils/mb/conversion_procs", "src/backend/snowball", "src/pl/plpgsql/src",
    "src/timezone", "src/interfaces/libpq", "src/backend/replication/libpqwalreceiver", "src/bin/initdb",
)  # fmt: skip
_TOOLS = ("src/bin/psql", "src/bin/pgbench", "src/test/regress", "contrib/spi")
_INSTALLED_TOOLS = ("src/bin/psql", "src/bin/pgbench")
_LIBRARIES = ("src/test/regress/regress.so", "contrib/spi/refint.so", "contrib/spi/autoinc.so")
_VARIABLES = ("AUTOCONF=:", "enable_coverage=yes")
"""For make: nothing is configured anew, and libpq may call exit, as it does with a compiler's counters in."""

_PROGRAM_ONLY = frozenset({"-static", "-static-pie", "-pie", "-no-pie"})
_CONFIGURED = re.compile(r"(with|enable|disable)-[a-z0-9-]+")
_DOING = "building PostgreSQL"


def steps(job: BuildJob) -> tuple[Step, ...]:
    """configure, then make in the folder of each part, then its own way of installing below the build folder."""
    # A make that we were called from must not reach ours.
    alone = (("MAKEFLAGS", ""), ("MAKELEVEL", "0"), *job.cache_environment.items())
    # Each target's output in one piece, and the folder before it: read back by `objects`.
    make = ("make", f"-j{job.jobs}", "-Otarget", "-w", *_VARIABLES)
    tools = _TOOLS if job.with_tools else ()
    installed = (*_SERVER, *(_INSTALLED_TOOLS if job.with_tools else ()))
    target = f"DESTDIR={job.place / INSTALLED}"
    return (
        Command("configure", _configure(job), alone),
        Command("make headers", (*make, "-C", "src/backend", "generated-headers"), alone),
        *(Command(f"make {part}", (*make, "-C", part, "all"), alone) for part in (*_LIBRARIES_FIRST, *_SERVER, *tools)),
        *(
            Command(f"install {part}", ("make", "-s", "-C", part, *_VARIABLES, target, "install"), alone)
            for part in installed
        ),
    )


def _configure(job: BuildJob) -> tuple[str, ...]:
    dropped = () if job.keep_debug else ("-Wl,--strip-debug",)
    link = [*job.flags.link, *jobs.link_words(job), "-Wl,--build-id=sha1", *dropped]
    program = [word for word in link if word in _PROGRAM_ONLY] + (["-Wl,--emit-relocs"] if job.relocations else [])
    tools = job.toolchain
    variables = {
        "CC": shlex.join([*job.launcher, str(tools.cc)]),
        # configure puts PostgreSQL's own before these: -fno-strict-aliasing -fwrapv -fexcess-precision=standard.
        # Debug sections that the link drops need not be made: lines and inlining suffice for what maps samples.
        "CFLAGS": shlex.join([*job.flags.c, *(() if job.full_debug or job.keep_debug else ("-g1",))]),
        "LDFLAGS": shlex.join(word for word in link if word not in _PROGRAM_ONLY),
        "LDFLAGS_EX": shlex.join(program),
    }
    if tools.ar is not None and tools.ranlib is not None:  # the system's ar does not read clang's LTO objects
        variables |= {"AR": str(tools.ar), "RANLIB": str(tools.ranlib)}
    options = dict(job.features.options) | dict(job.options)
    words = [str(job.source / "configure"), f"--prefix=/{PREFIX}", *(option_word(*item) for item in options.items())]
    return (*words, *(f"{name}={value}" for name, value in variables.items()))


def option_word(name: str, value: str) -> str:
    """An option as configure takes it: ON and OFF choose between --with and --without, --enable and --disable."""
    if not _CONFIGURED.fullmatch(name):
        raise UserError(f"option {name} = {value!r}: PostgreSQL's are those of its configure, as with-icu = ON")
    if value == "OFF":
        return "--" + name.replace("with-", "without-", 1).replace("enable-", "disable-", 1)
    return f"--{name}" if value in ("", "ON") else f"--{name}={value}"


def build(job: BuildJob) -> None:
    """Performs the steps; with tools, collects what the regression tests need.

    Raises:
        UserError: the source is no PostgreSQL tree.
        InfrastructureError: a step failed; its log is attached.
    """
    if not (job.source / "configure").is_file() or not (job.source / "src/backend/postmaster").is_dir():
        raise UserError(
            f"{job.source}: not PostgreSQL's source (no configure, no src/backend/postmaster); name its top"
        )
    with (job.place / LOG).open("w") as log:

        def see(line: str) -> None:
            log.write(line + "\n")
            _progress(job.bench, line)

        perform(steps(job), job, doing=_DOING, timeout=4 * 3600.0, on_line=see)
    if job.with_tools:
        tests = job.source / "src/test/regress"
        for name in ("sql", "expected", "data", "input", "output", "parallel_schedule", "resultmap"):
            if (tests / name).is_dir():
                shutil.copytree(tests / name, job.place / REGRESS / name)
            elif (tests / name).is_file():
                shutil.copyfile(tests / name, job.place / REGRESS / name)
        for name in (*_LIBRARIES, "src/test/regress/pg_regress"):
            shutil.copy(job.place / name, job.place / REGRESS)


def _progress(bench: Workbench, line: str) -> None:
    if match := re.search(r" -o (\S+)", line):
        bench.live(match[1])
    elif line.startswith("checking "):
        bench.live(f"configure: {line}")


def keep(job: BuildJob) -> list[tuple[Path, str]]:
    """The installation, and of a build with tools the regression tests."""
    installation = job.place / INSTALLED / PREFIX
    kept = [(installation / name, name) for name in ("bin", "lib", "share")]
    return [*kept, (job.place / REGRESS, REGRESS)] if job.with_tools else kept


def objects(job: BuildJob) -> list[CompiledObject]:
    """Every object of the server with its command, as make printed it; which they are is in objfiles.txt."""
    lists = [*(job.place / "src/backend").rglob("objfiles.txt"), job.place / "src/timezone/objfiles.txt"]
    wanted = {word for path in lists for word in path.read_text().split() if word.endswith(".o")}
    compiled: dict[str, CompiledObject] = {}
    folder = job.place
    for line in (job.place / LOG).read_text().splitlines():
        if match := re.match(r"make(?:\[\d+\])?: Entering directory '(.+)'", line):
            folder = Path(match[1])
        if " -c " not in line or " -o " not in line or str(job.toolchain.cc) not in line:
            continue
        words = shlex.split(line)
        words = words[words.index(str(job.toolchain.cc)) :]  # without the cache before it
        made = folder / words[words.index("-o") + 1]
        path = str(made.relative_to(job.place)) if made.is_relative_to(job.place) else ""
        # Of the two libraries only what is compiled for the server; the linker takes what it needs.
        if path in wanted or re.fullmatch(r"src/(common|port)/\w+_srv\.o", path):
            source = next((word for word in reversed(words) if word.endswith((".c", ".S"))), "")
            compiled[path] = CompiledObject(path, str(folder / source), tuple(words))
    if missing := sorted(wanted - compiled.keys()):
        raise InfrastructureError(f"{job.place / LOG}: no command for {len(missing)} objects, as {missing[0]}")
    return list(compiled.values())
