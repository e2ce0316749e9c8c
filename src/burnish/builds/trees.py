"""A configured tree: how its build compiles each source, read from its compile database."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.base.errors import UserError, nearest
from burnish.base.files import link_or_copy, remove_tree
from burnish.source.patches import overlay, patch
from burnish.source.patches.patch import Patch

DATABASE = "compile_commands.json"
"""Name of the compile database in the build folder (cmake, meson and others)."""

_COMPILER = re.compile(r"(?:.*-)?(gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(?:-[\d.]+)?")
_CXX = {"gcc": "g++", "cc": "c++", "clang": "clang++"}
_C = {cxx: c for c, cxx in _CXX.items()}
_WITH_VALUE = ("-o", "-MF", "-MT", "-MQ")
_DROPPED = ("-c", "-MD", "-MMD", "-MP")


@dataclass(frozen=True)
class Unit:
    """One source of a tree and the command that its build compiles it with.

    Attributes:
        source: the source, absolute.
        folder: where the command is run.
        argv: the command.
    """

    source: Path
    folder: Path
    argv: tuple[str, ...]

    @property
    def output(self) -> Path | None:
        """The object that the command makes."""
        place = self.argv.index("-o") + 1 if "-o" in self.argv else len(self.argv)
        return self.folder / self.argv[place] if place < len(self.argv) else None

    @property
    def made(self) -> Path | None:
        """The object that the tree's build made; None if it is older than its source."""
        output = self.output
        if output is None or not output.is_file() or not self.source.is_file():
            return None
        return output if output.stat().st_mtime >= self.source.stat().st_mtime else None

    def command(self, source: Path, target: Path, extra: Iterable[str] = ()) -> list[str]:
        """The command for another source and object; it writes no other files.

        It is without link-time optimisation, which would break up the function that is timed by itself.
        """
        words: list[str] = []
        skip = False
        for word in self.argv:
            if skip or word in _WITH_VALUE:
                skip = not skip
                continue
            own = not word.startswith("-") and os.path.normpath(self.folder / word) == str(self.source)
            if not own and word not in _DROPPED and not word.startswith("-flto"):
                words.append(word)
        compiler = next((number for number, word in enumerate(words) if _is_compiler(word)), 0)
        words[compiler] = with_language(words[compiler], cxx=source.suffix != ".c")
        return [*words, *extra, "-c", str(source), "-o", str(target)]

    @property
    def compiler(self) -> str:
        """The compiler in the command, without launchers before it."""
        return next((word for word in self.argv if _is_compiler(word)), self.argv[0])


def _is_compiler(word: str) -> bool:
    return not word.startswith("-") and _COMPILER.fullmatch(Path(word).name) is not None


def with_language(compiler: str, *, cxx: bool) -> str:
    """The compiler of the same release for C++ (or for C): ``/usr/bin/gcc-12`` and ``/usr/bin/g++-12``."""
    path = Path(compiler)
    match = _COMPILER.fullmatch(path.name)
    if match is None:
        return compiler
    kind = match[1]
    wanted = (_CXX.get(kind, kind) if cxx else _C.get(kind, kind)) or kind
    name = path.name[: match.start(1)] + wanted + path.name[match.end(1) :]
    return name if path.name == compiler else str(path.with_name(name))


@dataclass(frozen=True)
class Tree:
    """A configured tree.

    Attributes:
        name: for people.
        place: its build folder.
        units: its sources.
        ours: whether Burnish configured it, so that its build may be run again.
    """

    name: str
    place: Path
    units: tuple[Unit, ...]
    ours: bool = False

    def unit(self, relative: str) -> Unit:
        """The unit of a source, named relative to the tree; a `UserError` when the build has no such source."""
        for unit in self.units:
            if str(unit.source).endswith(f"/{relative}"):
                return unit
        near = nearest(Path(relative).name, {unit.source.name for unit in self.units})
        raise UserError(f"{self.name}: its build compiles no {relative}{near}; name a tree of the server's release")

    def root(self, relative: str) -> Path:
        """The folder of the sources, by one of them."""
        return Path(str(self.unit(relative).source).removesuffix(f"/{relative}"))


def read_tree(name: str, place: Path, *, ours: bool = False) -> Tree:
    """The tree whose build folder is `place`.

    Raises:
        UserError: there is no compile database, or it is not valid.
    """
    path = place / DATABASE
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        units = tuple(_unit(entry) for entry in entries)
    except OSError as error:
        raise UserError(
            f"{path}: cannot be read ({error.strerror}); configure with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: no compile database ({error}); let cmake write it again") from None
    return Tree(name, place, units, ours)


def _unit(entry: dict[str, object]) -> Unit:
    folder = Path(str(entry["directory"]))
    given = entry.get("arguments")
    argv = [str(word) for word in given] if isinstance(given, list) else shlex.split(str(entry["command"]))
    output = entry.get("output")
    words = argv if "-o" in argv or not output else [*argv, "-o", str(output)]
    return Unit(Path(os.path.normpath(folder / str(entry["file"]))), folder, tuple(words))


def patched_copy(source: Path, patches: Sequence[Patch], place: Path, what: str) -> None:
    """Copies the tree at `source` to `place`, which is replaced, and applies patches to the copy.

    Files that no patch touches are hard links if the file system allows it, so the copy must not be written to.

    Raises:
        UserError: a patch does not apply; names file and hunk.
    """
    patched = {source / name for name in overlay.touched(patches)}

    def take(one: str, other: str) -> None:
        (shutil.copy2 if Path(one) in patched else link_or_copy)(one, other)

    remove_tree(place)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copytree(source, place, symlinks=True, copy_function=take)
    patch.apply(patches, place, what=what, exact=False)
