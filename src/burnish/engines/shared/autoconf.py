"""A tree with configure and make: what they are given of a build, and what make printed as it compiled, read back."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from burnish.base.errors import UserError
from burnish.engines import jobs
from burnish.engines.build_job import BuildJob
from burnish.engines.steps import Step, perform
from burnish.program.built import CompiledObject

LOGGED = ("-Otarget", "-w")
"""For make: each target's output in one piece, and the folder before it, as `compiled` reads them."""

_LOG = "commands.log"
_LIMIT_S = 4 * 3600.0
_PROGRAM_ONLY = frozenset({"-static", "-static-pie", "-pie", "-no-pie"})
CONFIGURED = "config.status"
"""A file that a configure writes where it runs."""

_OPTION = re.compile(r"(with|enable|disable)-[a-z0-9-]+")
_ENTERING = re.compile(r"make(?:\[\d+\])?: Entering directory '(.+)'")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".S")


def environment(job: BuildJob) -> tuple[tuple[str, str], ...]:
    """Variables for configure and make; a make that Burnish was called from must not reach them."""
    return (("MAKEFLAGS", ""), ("MAKELEVEL", "0"), *job.cache_environment.items())


def configure(job: BuildJob, *words: str, programs: str) -> tuple[str, ...]:
    """The command line of a tree's configure, for a build outside of the tree, in C.

    Args:
        job: the build; the recipe's options win over the feature set's.
        words: further words.
        programs: the variable whose flags go to the links of programs alone; LDFLAGS go to shared libraries too.

    Raises:
        UserError: an option that is none of a configure.
    """
    dropped = () if job.keep_debug else ("-Wl,--strip-debug",)
    link = [*job.flags.link, *jobs.link_words(job), "-Wl,--build-id=sha1", *dropped]
    program = [*(word for word in link if word in _PROGRAM_ONLY), *jobs.program_words(job)]
    tools = job.toolchain
    variables = {
        "CC": str(tools.cc),  # make's own has the cache: a program may hold what it was configured with
        # Debug sections that the link drops need not be made: lines and inlining suffice for what maps samples.
        "CFLAGS": shlex.join([*job.flags.c, *(() if job.full_debug or job.keep_debug else ("-g1",))]),
        "LDFLAGS": shlex.join(word for word in link if word not in _PROGRAM_ONLY),
        programs: shlex.join(program),
    }
    if tools.ar is not None and tools.ranlib is not None:  # the system's ar does not read clang's LTO objects
        variables |= {"AR": str(tools.ar), "RANLIB": str(tools.ranlib)}
    options = dict(job.features.options) | dict(job.options)
    command = (str(job.source / "configure"), *words, *(option_word(*item) for item in options.items()))
    return (*command, *(f"{name}={value}" for name, value in variables.items()))


def make(job: BuildJob, *variables: str, plain: str = "") -> Callable[[str, str], tuple[str, ...]]:
    """The command line of make for a folder and a target; its compiler has the cache before it.

    Args:
        job: the build.
        variables: further words of each.
        plain: the folder whose compiler has nothing before it, because a program is made to hold its name.
    """

    def command(folder: str, target: str) -> tuple[str, ...]:
        compiler = [*(() if folder == plain else job.launcher), str(job.toolchain.cc)]
        words = (*LOGGED, *variables, f"CC={shlex.join(compiler)}")
        return ("make", f"-j{job.jobs}", *words, "-C", folder, target)

    return command


def option_word(name: str, value: str) -> str:
    """An option as configure takes it: ON and OFF choose between --with and --without, --enable and --disable.

    That something is disabled may be switched off, too.

    Raises:
        UserError: its name is none of a configure's.
    """
    if not _OPTION.fullmatch(name):
        raise UserError(f"option {name} = {value!r}: allowed are those of this server's configure, as with-icu = ON")
    if value == "OFF" and name.startswith("disable-"):
        return f"--{name.replace('disable-', 'enable-', 1)}"
    if value == "OFF":
        return "--" + name.replace("with-", "without-", 1).replace("enable-", "disable-", 1)
    return f"--{name}" if value in ("", "ON") else f"--{name}={value}"


def check_clean(source: Path) -> None:
    """A `UserError` for a tree that was built in: objects and headers in it get into builds outside of it."""
    if (source / CONFIGURED).is_file():
        raise UserError(
            f"{source}: it was configured in ({CONFIGURED} is there), and what lies in it would get into another "
            "configuration's build; give a clean tree (`make distclean`, or unpack it again)"
        )


def build(steps: Sequence[Step], job: BuildJob, *, doing: str) -> None:
    """Performs a build's steps, keeps what they print for `compiled`, and shows what is checked, made or not known.

    Args:
        steps: what to do; make's commands with the words `LOGGED`.
        job: the build.
        doing: begins the error of a command that failed.

    Raises:
        InfrastructureError: a command failed, with its log.
    """
    with (job.place / _LOG).open("w") as log:

        def see(line: str) -> None:
            log.write(line + "\n")
            if made := re.search(r" -o (\S+)", line):
                job.bench.live(made[1])
            elif line.startswith("checking "):
                job.bench.live(f"configure: {line}")
            elif unknown := re.search(r"unrecognized options?: (.+)", line):
                job.bench.say(f"left out, since this version's configure does not know it: {unknown[1]}")

        perform(steps, job, doing=doing, timeout=_LIMIT_S, on_line=see)


def compiled(job: BuildJob) -> Mapping[str, CompiledObject]:
    """Every object that a finished build has made with its compilers, by its path in the build folder."""
    objects: dict[str, CompiledObject] = {}
    compilers, folder = {str(job.toolchain.cc), str(job.toolchain.cxx)}, job.place
    for line in (job.place / _LOG).read_text(encoding="utf-8").splitlines():
        if entering := _ENTERING.match(line):
            folder = Path(entering[1])
        if " -c " not in line or " -o " not in line or not any(compiler in line for compiler in compilers):
            continue
        words = shlex.split(line)
        start = next((at for at, word in enumerate(words) if word in compilers), None)
        if start is None:
            continue
        command = tuple(words[start:])  # without the cache before it
        made = folder / command[command.index("-o") + 1]
        if made.is_relative_to(job.place):
            path = str(made.relative_to(job.place))
            source = next((word for word in reversed(command) if word.endswith(_SOURCES)), "")
            objects[path] = CompiledObject(path, str(folder / source), command)
    return objects
