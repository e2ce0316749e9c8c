"""The same program, launched with libraries preloaded: an allocator, or code on huge pages."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from burnish.base import temporary
from burnish.base.digest import digest_of
from burnish.base.errors import InfrastructureError, UnavailableError
from burnish.builds.after_link.stage import AfterLink, Workplace
from burnish.builds.loaded import check_malloc
from burnish.builds.reproducer import Making
from burnish.model.recipe import Recipe, Word
from burnish.program.built import Built
from burnish.record.store import Entry
from burnish.record.workbench import Bench
from burnish.toolchain.link_parts import Library, Parts, word_flags
from burnish.toolchain.toolchains import Toolchain

HUGE_TEXT = "lib/huge_text.so"
"""Place of the library that maps code to huge pages, in a build's folder."""

_SEPARATORS = " :"
"""What LD_PRELOAD's paths must not contain."""


@dataclass(frozen=True)
class Preload(AfterLink):
    """Stage: the same program, launched with libraries preloaded.

    Attributes:
        allocator: the library whose malloc the program gets, or None.
        huge_text: whether its code is mapped to huge pages.
        toolchain: compiles the library that maps it.
        word: word size in bits of program and libraries.
    """

    allocator: Library | None
    huge_text: bool
    toolchain: Toolchain
    word: Word

    def apply(self, place: Workplace) -> dict[str, object]:
        """Compiles the library for huge pages, checks that the libraries work, returns their paths."""
        libraries: list[str] = []
        folder, name = place.folder, place.name
        notes = list(place.base.about.get("notes", ()))
        if self.huge_text:
            library = folder / HUGE_TEXT
            library.parent.mkdir(exist_ok=True)
            source = str(resources.files("burnish.builds") / "huge_text.c")
            options = ["-O2", "-shared", "-fPIC", *word_flags(self.word)]
            place.run("huge_text", [self.toolchain.cc, *options, source, "-o", library])
            libraries.append(HUGE_TEXT)
        if self.allocator is not None:
            libraries.append(str(self.allocator.path))
        built, paths = place.built, [str(folder / path) for path in libraries]
        if why := next(filter(None, map(_unnamable, paths)), None):
            raise InfrastructureError(f"{name}: {why}")
        launched = Built(built.name, folder, built.server, self.key, (("LD_PRELOAD", ":".join(paths)),))
        facts: dict[str, object] = {"preload": libraries}
        if self.allocator is not None:
            check_malloc(launched, self.allocator.path.name, name)
            facts["allocator"] = f"{self.allocator.name}, preloaded"
        if self.huge_text:
            code, huge = _huge_text_of(launched, place.bench)
            facts |= {"code_bytes": code, "huge_text_bytes": huge}
            notes.append(f"code on huge pages: {huge >> 20} MiB for {code / (1 << 20):.1f} MiB of code")
            if huge == 0:
                raise InfrastructureError(
                    f"{name}: no huge page for {code} bytes of code: none was free, or not aligned"
                )
        return {**facts, "notes": notes}

    def script(self, making: Making, place: Workplace) -> Making:
        """The program is its base's; how to launch it is said beside it."""
        making = replace(making, key=self.key, title=f"{making.title}, {self.title}", launch=self._launch())
        if self.huge_text:
            source = resources.files("burnish.builds") / f"{Path(HUGE_TEXT).stem}.c"
            (place.folder / source.name).write_text(source.read_text())
            making = replace(making, beside=(*making.beside, source.name))
        return making

    def _launch(self) -> tuple[str, ...]:
        """Instructions to start a preloaded build's program by hand."""
        lines, libraries = [], []
        if self.huge_text:
            source = f"{Path(HUGE_TEXT).stem}.c"
            library = Path(HUGE_TEXT).name
            flags = " ".join(["-O2", "-shared", "-fPIC", *word_flags(self.word)])
            lines.append(
                f"{library}, from {source} beside this script: {self.toolchain.cc} {flags} {source} -o {library}"
            )
            libraries.append(f"/path/of/{library}")
        if self.allocator is not None:
            libraries.append(str(self.allocator.path))
        return (*lines, f"start it with LD_PRELOAD={':'.join(libraries)}")


def _huge_text_of(built: Built, bench: Bench) -> tuple[int, int]:
    """(bytes of code, bytes of it on huge pages), as the kernel reports for a short run of the program."""
    with tempfile.TemporaryDirectory(dir=temporary.folder()) as place:
        report = Path(place) / "report"
        env = {**dict(built.environment), "HUGE_TEXT_REPORT": str(report)}
        # The answer does not matter: the library has done its work by then.
        bench.run("huge pages", [built.server, "--version"], env=env, timeout=60)
        words = report.read_text().split() if report.is_file() else ["0", "0"]
    return int(words[0]), int(words[1])


def _unnamable(path: str) -> str | None:
    """Why a file can't be preloaded by its path, in words; None if it can."""
    if not any(mark in path for mark in _SEPARATORS):
        return None
    return f"LD_PRELOAD cannot name {path}: its path has a space or a colon; name another BURNISH_HOME"


def check(recipe: Recipe, name: str, store: Path) -> None:
    """Checks before a build is compiled whether its own library could be preloaded from the folder of the store.

    Raises:
        UnavailableError: the folder's path cannot be in LD_PRELOAD.
    """
    if recipe.huge_text and (why := _unnamable(str(store))):
        raise UnavailableError(f"{name}: {why}")


def preload_of(
    recipe: Recipe, build: str, toolchain: Toolchain, _bolt: Toolchain | None, parts: Parts
) -> Preload | None:
    """The stage that a recipe asks for, on the build of this key; None without one."""
    allocator = parts.allocator if recipe.preload else None
    if allocator is None and not recipe.huge_text:
        return None
    loaded = [allocator.name, allocator.digest] if allocator is not None else []
    return Preload(
        key=digest_of([build, "preload", loaded, recipe.huge_text, recipe.word]),
        build=build,
        title="preload",
        allocator=allocator,
        huge_text=recipe.huge_text,
        toolchain=toolchain,
        word=recipe.word,
    )


def environment(entry: Entry) -> tuple[tuple[str, str], ...]:
    """Variables that a build in the store is launched with; paths of its own files are relative to its folder."""
    preload = entry.about.get("preload", ())
    if not preload:
        return ()
    # A library's own path stays as it is: it is absolute.
    paths = [str(entry.folder / path) for path in preload]
    return (("LD_PRELOAD", ":".join(paths)),)


def launched(built: Built, entry: Entry) -> Built:
    """The build in a store entry, with the variables that it is launched with."""
    variables = environment(entry)
    return replace(built, environment=(*built.environment, *variables)) if variables else built
