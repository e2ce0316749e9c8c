"""Records how a build is made, and writes the script that rebuilds it beside it."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from burnish.base import process, system
from burnish.base.errors import InfrastructureError
from burnish.base.files import make_folder, remove_tree, sha256_of
from burnish.builds import reproducer
from burnish.builds.reproducer import SCRIPT, SOURCE_LIST, AfterLink, KeptPatch, KeptProfile, Laid, Making, Program
from burnish.engines.contract import BuildJob, Engine
from burnish.engines.steps import Command, Step
from burnish.record.store import Entry
from burnish.source.patches.overlay import MARKER
from burnish.source.patches.patch import Patch
from burnish.source.patches.patch_set import keep, kept_name
from burnish.source.sources import Source

_MAKING: TypeAdapter[Making] = TypeAdapter(Making)
_PACKAGE = Path(str(resources.files("burnish")))


def observe(
    engine: Engine,
    job: BuildJob,
    *,
    key: str,
    origin: Source | None,
    patches: Sequence[Patch],
    profile: KeptProfile | None,
    server: Path,
    linkers: Path | None = None,
) -> Making:
    """How the program `server` was made by `job`.

    Args:
        engine: whose steps made it.
        job: the finished job; the gate's tools and the compiler cache are left out of the script.
        key: the build's key.
        origin: where the source is from; None: a folder.
        patches: the recipe's patches.
        profile: the compilers' profile.
        server: the program as it is kept.
        linkers: folder with linker links and wrappers that the link used, if any.
    """
    root = job.place.parent
    all_steps = engine.steps(replace(job, with_tools=False, cache=None, meter=None))
    steps, given = _without_packages(all_steps, root, (_PACKAGE, engine.spec.folder))
    source = (origin.name, origin.version, str(origin.kind)) if origin else (engine.spec.name, "", "folder")
    title = " ".join(filter(None, (*source[:2], "with", job.toolchain.name)))
    title += f", {len(patches)} patch{'es' if len(patches) > 1 else ''}" if patches else ""
    return Making(
        engine=engine.spec.name,
        title=title,
        key=key,
        root=str(root),
        server=engine.spec.server,
        source=source,
        archives=origin.archives if origin else (),
        patches=tuple(
            KeptPatch(kept_name(number, patch), patch.reverted, patch.sha256) for number, patch in enumerate(patches, 1)
        ),
        programs=_programs(job, [word for step in steps if isinstance(step, Command) for word in step.argv]),
        makers=tuple(program(name) for name in engine.makers if shutil.which(name)),
        packages=_packages(engine.spec.system_packages),
        profile=profile,
        steps=steps,
        jobs=job.jobs,
        date=time.strftime("%Y%m%d", time.gmtime()),
        sha256=sha256_of(server),
        laid=(*given, *_laid(linkers, root)),
    )


def _without_packages(
    steps: Sequence[Step], root: Path, packages: Sequence[Path]
) -> tuple[tuple[Step, ...], tuple[Laid, ...]]:
    """The steps, with files of installed packages replaced by copies below the root, as a script needs."""
    package = "|".join(re.escape(str(path)) for path in packages)
    files: dict[str, Laid] = {}

    def moved(match: re.Match[str]) -> str:
        path = Path(match[0])
        if not path.is_file():
            return match[0]
        files[path.name] = Laid(f"given/{path.name}", content=path.read_text())
        return str(root / files[path.name].path)

    kept = tuple(
        replace(step, argv=tuple(re.sub(rf"(?:{package})/[\w./+-]+", moved, word) for word in step.argv))
        if isinstance(step, Command)
        else step
        for step in steps
    )
    return kept, tuple(files.values())


def _laid(folder: Path | None, root: Path) -> tuple[Laid, ...]:
    """The files of a folder below the root."""
    if folder is None or not folder.is_dir():
        return ()
    return tuple(
        Laid(str(path.relative_to(root)), target=str(path.readlink()))
        if path.is_symlink()
        else Laid(str(path.relative_to(root)), path.read_text(), executable=os.access(path, os.X_OK))
        for path in sorted(folder.iterdir())
    )


def leave(making: Making, folder: Path, *, patches: Sequence[Patch] = (), sources: Path | None = None) -> None:
    """Writes the script, and what it needs of the source, to a build's folder.

    Args:
        making: how the build was made.
        folder: the build's folder.
        patches: the recipe's patches.
        sources: the list of the source folder's files, if it was one.
    """
    keep(patches, folder)
    if sources is not None:
        shutil.copyfile(sources, folder / SOURCE_LIST)
    target = folder / SCRIPT
    target.unlink(missing_ok=True)  # it may be shared with the build that this one was made from
    target.write_text(reproducer.script(making))
    target.chmod(0o755)


def read(about: Mapping[str, Any]) -> Making | None:
    """How a build was made, from its description; None if its Burnish did not record that yet."""
    if "making" not in about:
        return None
    try:
        return _MAKING.validate_python(about["making"])
    except ValidationError as error:
        raise InfrastructureError(f"the description of build {about.get('key', '')} is damaged: {error}") from None


def described(making: Making) -> dict[str, object]:
    """Plain values for a build's description."""
    return asdict(making)


def after_link(
    making: Making,
    title: str,
    commands: Sequence[Sequence[str]],
    server: Path,
    *,
    key: str,
    profile: KeptProfile | None = None,
) -> Making:
    """How the build `key` was made: by `commands`, from the program of `making`."""
    tools = dict.fromkeys(argv[0] for argv in commands)
    step = AfterLink(title, tuple(map(tuple, commands)), tuple(map(program, tools)), profile)
    return replace(
        making,
        key=key,
        title=f"{making.title}, {title}",
        after=(*making.after, step),
        sha256=sha256_of(server),
    )


def kept_profile(entry: Entry, name: str, place: str) -> KeptProfile:
    """A profile of the store whose file or folder `name` is used at `place` below the root."""
    top = entry.folder / name
    files = sorted(path for path in top.rglob("*") if path.is_file()) if top.is_dir() else [top]
    listed = tuple((str(path.relative_to(entry.folder)), sha256_of(path)) for path in files)
    return KeptProfile(key=entry.key, name=name, place=place, files=listed)


def source_list(tree: Path, folder: Path, name: str) -> Path:
    """The file with the SHA-256 of each file of the clean `tree`; written if it does not exist.

    Args:
        tree: the source.
        folder: where such files are kept.
        name: the source's; that of the file has the file's own digest as well, so that a changed one is not used.
    """
    kept = folder.glob(f"{name}-*.sha256")
    whole = next((path for path in kept if path.is_file() and path.stem == f"{name}-{sha256_of(path)[:16]}"), None)
    if whole is not None:
        return whole
    make_folder(folder)
    draft = folder / f".{name}"
    remove_tree(draft)
    files = sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink())
    with draft.open("w", errors="surrogateescape") as file:
        for path in files:
            name_in_tree = str(path.relative_to(tree))
            # sha256sum writes these in another format.
            if name_in_tree != MARKER and not set(name_in_tree) & set("\n\r\\"):
                file.write(f"{sha256_of(path)}  {name_in_tree}\n")
    place = folder / f"{name}-{sha256_of(draft)[:16]}.sha256"
    remove_tree(place)
    draft.replace(place)
    return place


@cache
def program(path: str) -> Program:
    """A program and its version line, as the script queries it."""
    lines = process.capture([path, "--version"]).splitlines()
    return Program(path, next((line.strip() for line in lines if any(digit.isdigit() for digit in line)), ""))


def _programs(job: BuildJob, words: Sequence[str]) -> tuple[Program, ...]:
    """The compilers in the steps, and the assembler and linker that they call."""
    tools = job.toolchain
    text = "\n".join(words)
    paths = [str(path) for path in (tools.cc, tools.cxx, tools.ar) if path and str(path) in text]
    asked = [flag.removeprefix("-fuse-ld=") for flag in job.flags.link if flag.startswith("-fuse-ld=")]
    linker = shutil.which(f"ld.{asked[-1]}" if asked else "ld")
    if asked and asked[-1] == "lld" and tools.linker is not None:
        linker = str(tools.linker)
    paths += [path for path in (linker, shutil.which("as") if tools.family == "gcc" else None) if path]
    return tuple(map(program, dict.fromkeys(paths)))


@cache
def _packages(groups: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(name, version) of the installed packages of these groups, and of the C library's headers."""
    names = sorted({"libc6-dev", *(name for group in groups for name in system.packages(group))})
    if shutil.which("dpkg-query") is None:
        return ()
    # Its exit code is nonzero if one is missing, which is no error here.
    done = process.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *names])
    pairs = (line.split() for line in done.output.splitlines())
    return tuple((pair[0], pair[1]) for pair in pairs if len(pair) == 2)
