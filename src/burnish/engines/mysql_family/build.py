"""Builds a server with cmake and ninja, and lists what is kept of a build.

What is kept has the build tree's layout (server, messages, ``scripts``, with tools also client programs and
``mysql-test``): server, bootstrap and mtr find their parts in it at any path.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from burnish.base.errors import InfrastructureError, UserError
from burnish.base.workbench import Workbench
from burnish.engines import jobs
from burnish.engines.contract import BuildJob
from burnish.engines.mysql_family import mtr
from burnish.engines.mysql_family.product import Product
from burnish.engines.steps import Command, perform
from burnish.program.built import CompiledObject, named

_FROM_SOURCE = "from-source"
"""Folder in the build folder for parts that come from the source tree and are kept with the build."""

STATIC = "-static"
"""The link flag of a fully static program; for programs only, since a shared library can't be."""

CONFIGURED = "CMakeCache.txt"
"""The file that cmake leaves in a tree that was built in."""

_CONFIGURE_SECONDS = 1800.0
_COMPILE_SECONDS = 4 * 3600.0


def check_clean(source: Path) -> None:
    """A `UserError` for a tree that was built in: its generated headers are found before those of builds outside it."""
    if (source / CONFIGURED).is_file():
        raise UserError(
            f"{source}: it was built in ({CONFIGURED} is there), and its generated files would get into another "
            "configuration's build; give a clean tree (`git clean -xdf`, or unpack it again)"
        )


def configure_command(job: BuildJob, own: Mapping[str, str], answered: Mapping[str, str]) -> list[str]:
    """cmake's command line; the recipe's options win over the feature set's, both over ours.

    Args:
        job: the build.
        own: options of this server's build system.
        answered: answers to its checks, and what the version of its source asks for.
    """
    flags, tools = job.flags, job.toolchain
    # A build id tells which program was tested and measured. Debug sections are not loaded when the server
    # runs, and Debian strips them from what it ships; dropped at the link they don't fill the store.
    dropped = [] if job.keep_debug else ["-Wl,--strip-debug"]
    # What the link drops need not be made: functions, lines and inlining are a fifth quicker to compile than Debian's
    # -g, which they replace, and the machine code is the same (docs/BUILDING.md).
    debug = "-g" if job.full_debug else "-g1"
    link = [*flags.link, *jobs.link_words(job), "-Wl,--build-id=sha1", *dropped]
    program = [*link, *jobs.program_words(job)]
    static = STATIC in link
    if static:
        # First: the family's own configure.cmake stumbles over it anywhere else.
        link.remove(STATIC)
        program = [STATIC, *(flag for flag in program if flag != STATIC)]
    options = {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_C_COMPILER": str(tools.cc),
        "CMAKE_CXX_COMPILER": str(tools.cxx),
        "CMAKE_C_FLAGS": shlex.join(flags.c),
        "CMAKE_CXX_FLAGS": shlex.join(flags.cxx),
        # cmake's own -O2 for this build type comes last and would win over the recipe's level.
        "CMAKE_C_FLAGS_RELWITHDEBINFO": f"{flags.level} {debug} -DNDEBUG",
        "CMAKE_CXX_FLAGS_RELWITHDEBINFO": f"{flags.level} {debug} -DNDEBUG",
        "CMAKE_EXE_LINKER_FLAGS": shlex.join(program),
        "CMAKE_SHARED_LINKER_FLAGS": shlex.join(link),
        "CMAKE_MODULE_LINKER_FLAGS": shlex.join(link),
        "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
        "CMAKE_SUPPRESS_DEVELOPER_WARNINGS": "1",
        **own,
    }
    if tools.ar is not None and tools.ranlib is not None:
        # The system's ar does not read clang's LTO objects.
        options |= {"CMAKE_AR": str(tools.ar), "CMAKE_RANLIB": str(tools.ranlib)}
    if job.link_jobs is not None and job.link_jobs < job.jobs:
        options |= {"CMAKE_JOB_POOLS": f"links={job.link_jobs}", "CMAKE_JOB_POOL_LINK": "links"}
    if static:
        options["CMAKE_PROJECT_INCLUDE"] = str(Path(__file__).with_name("static_libraries.cmake"))
    if job.archives is not None:
        # find_library() looks there first, for each of its names, and takes an archive as well as a shared library.
        options["CMAKE_LIBRARY_PATH"] = str(job.archives)
    if headers := precompiled(job):
        script = Path(__file__).with_name("precompiled.cmake")
        options |= {
            "CMAKE_PROJECT_MySQL_INCLUDE": str(script),
            "BURNISH_PRECOMPILED": ";".join(headers),
            "BURNISH_WITHOUT": ";".join(name for entry in job.precompiled for name in entry.without),
        }
    if job.launcher:
        options |= {f"CMAKE_{language}_COMPILER_LAUNCHER": ";".join(job.launcher) for language in ("C", "CXX")}
    if job.metered:
        options |= {f"CMAKE_{language}_LINKER_LAUNCHER": job.metered[0] for language in ("C", "CXX")}
    options |= answered
    options |= dict(job.features.options) | dict(job.options)
    words = ["cmake", "-G", "Ninja", "-S", str(job.source), "-B", str(job.place)]
    return [*words, *(f"-D{name}={value}" for name, value in options.items())]


def with_known_allocators(job: BuildJob, allocators: Sequence[tuple[str, str]]) -> BuildJob:
    """`job` without those libraries in front of its link whose option the tree lacks, as early trees of MySQL 8.0 do.

    Such a tree links no allocator, whatever its options; clang's variants alone would have one.

    Args:
        job: the build.
        allocators: configure options that link an allocator, with its library's name.
    """
    path = job.source / "CMakeLists.txt"
    if not job.first or not path.is_file():
        return job
    text = path.read_text(encoding="utf-8", errors="replace")
    unknown = {f"-l{library}" for option, library in allocators if option not in text}
    return replace(job, first=tuple(word for word in job.first if word not in unknown))


def precompiled(job: BuildJob) -> list[str]:
    """Targets with their precompiled headers, as precompiled.cmake takes them.

    A source that lacks one of a target's headers, as another version may, has none for that target; one at a path that
    cmake would take for a list has none at all.
    """
    if set(",;") & set(str(job.source)):
        return []
    headers_by_target = []
    for entry in job.precompiled:
        headers = [job.source / header for header in entry.headers]
        if all(header.is_file() for header in headers):
            headers_by_target.append(",".join([entry.target, *map(str, headers)]))
    return headers_by_target


def steps(job: BuildJob, product: Product, configure: Sequence[str]) -> tuple[Command, Command]:
    """What makes the server, and with tools the programs of the gate: cmake with `configure`, then ninja."""
    targets = [product.program, *(product.suite.targets if job.with_tools else ())]
    return (
        Command("configure", tuple(configure)),
        Command(
            "compile",
            ("ninja", "-C", str(job.place), f"-j{job.jobs}", *targets),
            tuple(job.cache_environment.items()),
        ),
    )


def build(job: BuildJob, product: Product, steps: Sequence[Command], gate_tests: Sequence[str]) -> None:
    """Configures, compiles and links; with tools, collects what `gate_tests` need of the test suite.

    Raises:
        InfrastructureError: a step failed; its log is attached.
    """
    configure, compile_ = steps
    _configure(configure, job, product)
    doing = f"building {product.title}"
    perform([compile_], job, doing=doing, timeout=_COMPILE_SECONDS, on_line=counter(job.bench))
    shutil.copytree(job.source / product.charsets, job.place / _FROM_SOURCE / product.messages / "charsets")
    if job.with_tools:
        mtr.collect(product.suite, job.source, job.place, job.place / _FROM_SOURCE, gate_tests)


def build_objects(
    job: BuildJob, product: Product, steps: Sequence[Command], words: Sequence[str]
) -> list[CompiledObject]:
    """Configures, and compiles those objects of the server whose names hold one of these words.

    Raises:
        InfrastructureError: a step failed; its log is attached.
    """
    configure, compile_ = steps
    _configure(configure, job, product)
    wanted = named(objects(job, product), words)
    if wanted:
        argv = ("ninja", "-C", str(job.place), f"-j{job.jobs}", *(wanted_object.path for wanted_object in wanted))
        some = replace(compile_, argv=argv)
        doing = f"building {product.title}"
        perform([some], job, doing=doing, timeout=_COMPILE_SECONDS, on_line=counter(job.bench))
    return wanted


def _configure(step: Command, job: BuildJob, product: Product) -> None:
    def see(line: str) -> None:
        if line.startswith("--"):
            job.bench.live(f"configure: {line}")

    perform([step], job, doing=f"building {product.title}", timeout=_CONFIGURE_SECONDS, on_line=see)


def counter(bench: Workbench) -> Callable[[str], None]:
    """Passes ninja's own counter ([n/m]) on as live progress."""

    def see(line: str) -> None:
        if match := re.match(r"\[(\d+)/(\d+)\] .*?([^\s/]+)$", line):
            bench.live(f"step {match[1]} of {match[2]}: {match[3]}", int(match[1]) / int(match[2]))

    return see


def keep(job: BuildJob, product: Product) -> list[tuple[Path, str]]:
    """(file or folder in the build folder, its place in what is kept)."""
    place, extra, messages = job.place, job.place / _FROM_SOURCE, product.messages
    kept = [(place / product.server, product.server)]
    kept += [(path, f"{messages}/{path.name}") for path in _languages(place / messages)]
    kept.append((extra / messages / "charsets", f"{messages}/charsets"))
    if job.with_tools:
        suite = product.suite
        kept += [(place / name, name) for name in suite.programs if name not in suite.beside]
        kept += [(extra / name, name) for name in ("mysql-test", mtr.SCRIPTS)]
        plugins = sorted([*extra.glob("storage/*/mysql-test"), *extra.glob("plugin/*/mysql-test")])
        kept += [(path, str(path.relative_to(extra))) for path in plugins]
    else:
        kept += [(place / "scripts" / name, f"scripts/{name}") for name in product.scripts]
    missing = [str(path) for path, _ in kept if not path.exists()]
    if missing:
        raise InfrastructureError(f"the build lacks {', '.join(missing)}")
    return kept


def _languages(messages: Path) -> list[Path]:
    return sorted(path.parent for path in messages.glob("*/errmsg.sys"))


def objects(job: BuildJob, product: Product) -> list[CompiledObject]:
    """Every object of the server with its compile command, read back from the build's own database.

    ninja is asked which objects the server is made of, since the tree's database names those of tools too.
    """
    lines: list[str] = []
    done = job.bench.run(
        "inputs",
        ["ninja", "-C", job.place, "-t", "inputs", product.server],
        timeout=120,
        on_line=lines.append,
    )
    done.check("asking ninja for the server's objects")
    wanted = {line.strip() for line in lines if line.strip().endswith(".o")}
    database = json.loads((job.place / "compile_commands.json").read_text(encoding="utf-8"))
    compiled = []
    for entry in database:
        command = tuple(shlex.split(entry["command"]))
        made = command[command.index("-o") + 1] if "-o" in command else str(entry.get("output", ""))
        if made in wanted:
            compiled.append(CompiledObject(path=made, source=str(entry["file"]), command=command))
    if not compiled:
        raise InfrastructureError(f"{job.place}: no object of {product.server} in compile_commands.json")
    return compiled
