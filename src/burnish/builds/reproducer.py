"""The script that rebuilds a program without Burnish: plain shell, written from the steps that made the build."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from burnish.base import process
from burnish.engines.steps import Command, Step, Text

SCRIPT = "build.sh"
SOURCE_LIST = "source.sha256"
"""Beside a script whose source was a folder: the SHA-256 of each of its files, as sha256sum reads them."""

_POOL = "https://deb.debian.org/debian/pool/main"
_SECURITY = "https://security.debian.org/debian-security/pool/updates/main"
_SNAPSHOT = "https://snapshot.debian.org/archive/debian/{date}T000000Z/pool/main"
"""Debian's servers: for current versions, for supported versions, for all versions ever."""


@dataclass(frozen=True)
class Program:
    """A program that was used, and its version line."""

    path: str
    version: str


@dataclass(frozen=True)
class KeptPatch:
    """A patch to the source, kept beside the script.

    Attributes:
        file: its name there.
        reverted: whether it is reverted.
        sha256: hex digest of its content.
    """

    file: str
    reverted: bool
    sha256: str


@dataclass(frozen=True)
class KeptProfile:
    """A profile that the build used.

    Attributes:
        key: its key in the store.
        name: file or folder of it that is used.
        place: its path while it is used, relative to the root.
        files: (relative path, hex SHA-256) of its files.
    """

    key: str
    name: str
    place: str
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class AfterLink:
    """A step after the link: commands in the folder ``bolt`` that make ``after`` from ``before``.

    Attributes:
        title: for the log.
        commands: the commands, in order.
        programs: the tools and their versions.
        profile: the profile that they use; None if they use only the program.
    """

    title: str
    commands: tuple[tuple[str, ...], ...]
    programs: tuple[Program, ...]
    profile: KeptProfile | None = None


@dataclass(frozen=True)
class Laid:
    """A file that a build needs beside source and build folder.

    Attributes:
        path: its path, relative to the root.
        content: its content; None for a link.
        target: the target of the link; None for a file.
        executable: whether it is executable.
    """

    path: str
    content: str | None = None
    target: str | None = None
    executable: bool = False


@dataclass(frozen=True)
class Making:
    """How a build was made, with everything that its script needs.

    Attributes:
        engine: the engine's name.
        title: source and tools, for a sentence.
        key: the build's key.
        root: absolute path of the folder with source and build.
        server: path of the program in the build folder.
        source: package's or engine's name, version and kind of the source.
        archives: (file name, hex SHA-256) of what was unpacked, in order.
        patches: patches of the recipe, in order.
        programs: compilers, assembler, linker: other versions make another program.
        makers: tools that configure the build or generate code: other versions may make another program.
        packages: (Debian package, version) of the build's requirements.
        profile: the compilers' profile.
        steps: the steps that made the program in the build folder.
        jobs: number of compile jobs in the steps.
        date: day of the build, YYYYMMDD.
        sha256: hex digest of the program.
        laid: files that the steps need beside source and build folder.
        after: steps after the link, in order.
        launch: instructions to start the program, if they are part of the build, one line each.
        beside: names of other files beside the script.
    """

    engine: str
    title: str
    key: str
    root: str
    server: str
    source: tuple[str, str, str]
    archives: tuple[tuple[str, str], ...]
    patches: tuple[KeptPatch, ...]
    programs: tuple[Program, ...]
    makers: tuple[Program, ...]
    packages: tuple[tuple[str, str], ...]
    profile: KeptProfile | None
    steps: tuple[Step, ...]
    jobs: int
    date: str
    sha256: str
    laid: tuple[Laid, ...] = ()
    after: tuple[AfterLink, ...] = ()
    launch: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def profiles(self) -> tuple[KeptProfile, ...]:
        """All profiles that went into the program."""
        candidates = (self.profile, *(step.profile for step in self.after))
        return tuple(profile for profile in candidates if profile is not None)


def functions() -> str:
    """The part that all scripts share."""
    return Path(__file__).with_name("reproducer.sh").read_text()


def script(making: Making) -> str:
    """The whole script; a pure function of how the build was made."""
    parts = [_head(making), functions(), _packages(making), _checks(making), "enter", _source(making)]
    if making.profile is not None:
        parts.append(_lay(making.profile))
    parts += [_laid(file) for file in making.laid]
    parts += [_step(step, making) for step in making.steps]
    program = f"build/{making.server}"
    for step in making.after:
        parts.append(_after_link(making, step, program))
        program = "bolt/after"
    parts += [f"say {shlex.quote(line)}" for line in making.launch]
    parts.append(f"finish {shlex.quote(program)} {making.sha256}")
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part)


def _head(making: Making) -> str:
    name, version, kind = making.source
    given = {
        "debian": f"PATH is a folder with the source package's files ({name} {version}); without it they are fetched.",
        "archive": "PATH is the source's archive, or the folder that it is in.",
        "folder": f"PATH is the source's folder; its files are checked against {SOURCE_LIST}.",
    }[kind]
    trained = (
        "\n# The profile is part of what makes the program: the kept one is used, from beside this script. To train one"
        "\n# of your own, see `training.txt`, and expect another program."
        if making.profiles
        else ""
    )
    return f"""\
#!/bin/sh
# Makes the build {making.key} ({making.title}) again, bit for bit, without Burnish.
#
#   build.sh [PATH]
#
# {given}
# Variables: OUT (file for the program; default: its name, here), JOBS (compile jobs), KEEP=1 (leaves source and
# build folder), OTHER_VERSIONS=1 (goes on with other compilers than those that made it), and ROOT: the folder to
# build in. Its path goes into debug information, assertions and the names of profiled functions, so the program is
# the same for certain only where it was made.{trained}
set -eu
RECORDED={shlex.quote(making.root)}
ROOT=${{ROOT:-$RECORDED}}
JOBS=${{JOBS:-$(nproc)}}
OUT=${{OUT:-$PWD/{shlex.quote(Path(making.server).name)}}}
HERE=$(cd "$(dirname "$0")" && pwd)
GIVEN=${{1:-$HERE}}
CACHED={shlex.quote(f"{name}_{version.replace(':', '%3a')}")}
MARKER=.burnish-source.json
export LC_ALL=C.UTF-8 LANGUAGE=
unset {" ".join(process.CHANGES_BUILDS)}
unset $(env | sed -nE 's/^({process.CHANGES_BUILDS_LIKE})=.*/\\1/p')
"""


def _packages(making: Making) -> str:
    """The package versions, to explain why a program came out different."""
    lines = "\n".join(f"{name} {version}" for name, version in making.packages)
    return f"packages() {{\n    cat <<'END'\n{lines}\nEND\n}}" if lines else "packages() { :; }"


def _checks(making: Making) -> str:
    needed = {"sha256sum", "tar", *(step.argv[0] for step in making.steps if isinstance(step, Command))}
    programs = dict.fromkeys((*making.programs, *(program for step in making.after for program in step.programs)))
    lines = ["needs " + " ".join(shlex.quote(name) for name in sorted(needed))]
    lines += [f"same_program {shlex.quote(program.path)} {shlex.quote(program.version)}" for program in programs]
    lines += [f"like_program {shlex.quote(program.path)} {shlex.quote(program.version)}" for program in making.makers]
    if any(re.search(r"=native\b", word) for step in making.steps if isinstance(step, Command) for word in step.argv):
        lines.append("say 'note: made for the processor that it was made on; another one makes another program'")
    return "\n".join(lines)


def _source(making: Making) -> str:
    name, _, kind = making.source
    lines = []
    if kind == "folder":
        lines.append(f'copy_folder "$HERE/{SOURCE_LIST}"')
    for file, sha256 in making.archives:
        urls = _urls(name, file, making.date) if kind == "debian" else []
        lines.append(" ".join(["fetch", shlex.quote(file), sha256, *map(shlex.quote, urls)]))
        lines.append(f'unpack "$file" "$tree{_layer(file) if kind == "debian" else ""}"')
    series = kind == "debian"
    if series or making.patches:
        lines.append("begin_changes")
        lines += ["series"] if series else []
        lines += [
            f"own_patch {shlex.quote(patch.file)} {patch.sha256}{' -R' if patch.reverted else ''}"
            for patch in making.patches
        ]
        lines.append("end_changes")
    return "\n".join([*lines, "settle"])


def _layer(file: str) -> str:
    """The folder in the tree for an archive of a source package ('' for upstream's own)."""
    if ".debian.tar." in file:
        return "/debian"
    component = re.search(r"\.orig-([A-Za-z0-9-]+)\.tar\.", file)
    return f"/{component[1]}" if component else ""


def _urls(package: str, file: str, date: str) -> list[str]:
    prefix = package[:4] if package.startswith("lib") else package[:1]
    roots = (_POOL, _SECURITY, _SNAPSHOT.format(date=date))
    return [f"{root}/{prefix}/{package}/{file}" for root in roots]


def _lay(profile: KeptProfile) -> str:
    listed = "\n".join(f"{sha256}  {path}" for path, sha256 in profile.files)
    words = " ".join(shlex.quote(word) for word in (profile.key, profile.name, profile.place))
    return f"lay_profile {words} <<'END'\n{listed}\nEND"


def _step(step: Step, making: Making) -> str:
    if isinstance(step, Text):
        return _put(f"build/{step.path}", step.content)
    words = [_word(word, making) for word in step.argv]
    env = [f"{name}={shlex.quote(value)}" for name, value in step.env]
    command = " ".join(["env", *env, *words] if env else words)
    return f'say {shlex.quote(step.what)}\n(cd "$ROOT/build" && {command})'


def _put(path: str, content: str) -> str:
    end = "END"
    while end in content.splitlines():
        end += "_"
    text = content if content.endswith("\n") else content + "\n"
    return f"put {shlex.quote(path)} <<'{end}'\n{text}{end}"


def _laid(file: Laid) -> str:
    place = f'"$ROOT"/{shlex.quote(file.path)}'
    if file.target is not None:
        return f'mkdir -p "$(dirname {place})"\nln -sf {shlex.quote(file.target)} {place}'
    return _put(file.path, file.content or "") + (f"\nchmod 700 {place}" if file.executable else "")


def _word(word: str, making: Making) -> str:
    """A word of a command for the shell, with variables for the root and the number of jobs."""
    if word == f"-j{making.jobs}":
        return '"-j$JOBS"'
    pieces = re.split(re.escape(making.root) + r"(?=/|$)", word)
    return '"$ROOT"'.join(shlex.quote(piece) if piece or len(pieces) == 1 else "" for piece in pieces)


def _after_link(making: Making, step: AfterLink, program: str) -> str:
    lines = [f"after_link {shlex.quote(program)} {shlex.quote(step.title)}"]
    if step.profile is not None:
        lines.append(_lay(step.profile))
    words = (" ".join(_word(word, making) for word in argv) for argv in step.commands)
    lines += [f'(cd "$ROOT/bolt" && {command})' for command in words]
    return "\n".join(lines)
