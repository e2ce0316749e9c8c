"""Takes debug sections or all symbols out of a finished program; they are kept beside it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from burnish.base.digest import digest_of
from burnish.base.errors import InfrastructureError
from burnish.builds import witness
from burnish.builds.after_link.stage import AfterLink, Workplace
from burnish.builds.reproducer import Making
from burnish.model.recipe import Recipe
from burnish.model.recipe import Strip as StripKind
from burnish.program.elf import build_id
from burnish.toolchain.link_parts import Parts
from burnish.toolchain.toolchains import Toolchain


@dataclass(frozen=True)
class Strip(AfterLink):
    """Stage: take debug sections or all symbols out of a finished program; they are kept beside it.

    Attributes:
        what: ``debug`` or ``all``.
        tool: llvm-objcopy if BOLT wrote the program (GNU's damages those), else None: objcopy.
    """

    what: StripKind
    tool: str | None

    def apply(self, place: Workplace) -> dict[str, object]:
        """Moves symbols to a file beside the program, which refers to it (debuglink); both keep the build id."""
        before, program = place.before.server, place.built.server
        symbols = program.with_name(f"{program.name}.debug")
        program.unlink()
        for argv in self._commands(str(before), program.name):
            place.run("strip", argv, cwd=program.parent)
        shutil.copymode(before, program)
        if build_id(program) != build_id(before):
            raise InfrastructureError(f"{place.name}: strip changed the build id of {before}")
        saved = before.stat().st_size - program.stat().st_size
        return {"strip": self.what, "stripped_bytes": saved, "symbols": str(symbols.relative_to(place.folder))}

    def script(self, making: Making, place: Workplace) -> Making:
        """The same commands; the program contains the name of the file with its symbols."""
        server = place.built.server
        moved = ("mv", server.name, "after")
        commands = [*self._commands("before", server.name), moved]
        return witness.after_link(making, self.title, commands, server, key=self.key)

    def _commands(self, before: str, program: str) -> list[tuple[str, ...]]:
        """Commands that strip `before` to `program` and write the file with its symbols beside it."""
        symbols, tool = f"{program}.debug", self.tool or "objcopy"
        # Neither objcopy can extract only the symbols of a program that BOLT wrote; then the whole program is kept.
        keep = (tool, "--only-keep-debug", before, symbols) if self.tool is None else ("cp", "-p", before, symbols)
        return [
            keep,
            (tool, f"--strip-{self.what}", before, program),
            (tool, f"--add-gnu-debuglink={symbols}", program),
        ]


def strip_of(recipe: Recipe, build: str, _toolchain: Toolchain, bolt: Toolchain | None, _parts: Parts) -> Strip | None:
    """The stage that a recipe asks for, on the build of this key; None without one."""
    if recipe.strip is None:
        return None
    tool = str(bolt.bolt.parent / "llvm-objcopy") if bolt is not None and bolt.bolt is not None else None
    key = digest_of([build, "strip", recipe.strip])
    return Strip(key=key, build=build, title=f"strip {recipe.strip}", what=recipe.strip, tool=tool)
