"""A recipe's flags with what the catalogue says to take for those that a compiler or a machine lacks.

Options come with one version of a compiler and go with another. A recipe says what is wanted; where that is missing,
the next best is taken, and a line says so. Flags without a next best are left as they are: `spell` leaves their variant
out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from burnish.base import process, temporary
from burnish.base.processor import Processor
from burnish.catalogue.flags import Flag, Spelling, flag
from burnish.model.recipe import Recipe
from burnish.toolchain.toolchains import Toolchain

Accepts = Callable[[Toolchain, Spelling], bool]
"""Whether a compiler and its linker accept a spelling."""


def fitted(
    recipe: Recipe, toolchain: Toolchain, processor: Processor, accepts: Accepts
) -> tuple[Recipe, tuple[str, ...]]:
    """The recipe with flags that there are here, and a line about each that is not as asked for; pure.

    Args:
        recipe: its flags are known.
        toolchain: the toolchain of the build.
        processor: the host's.
        accepts: tries a spelling.
    """
    taken: list[str] = []
    notes: list[str] = []
    for name in recipe.flags:
        entry = flag(name)
        # Of another compiler's flag without a next best nothing would be left: `spell` refuses it.
        fits = entry.instead is not None and (entry.instead or toolchain.family in entry.spellings)
        why = _why_not(entry, toolchain, processor, accepts) if fits else None
        if why is None:
            taken.append(name)
            continue
        others = (flag(other) for other in entry.instead or ())
        other = next((other.name for other in others if not _why_not(other, toolchain, processor, accepts)), None)
        taken += [other] if other is not None else []
        notes.append(f"flag {name}: {why}; {f'{other} is taken' if other is not None else 'left out'}")
    if not notes:
        return recipe, ()
    return replace(recipe, flags=tuple(dict.fromkeys(taken))), tuple(notes)


def _why_not(entry: Flag, toolchain: Toolchain, processor: Processor, accepts: Accepts) -> str | None:
    """Why an entry can't be taken; None if it can."""
    if entry.architecture and processor.architecture not in entry.architecture:
        return f"for {', '.join(entry.architecture)}, this host is {processor.architecture}"
    spelling = entry.spellings.get(toolchain.family)
    if spelling is None:
        return f"not for {toolchain.name}: it {entry.absent[toolchain.family]}"
    if toolchain.major < spelling.since:
        return f"needs {toolchain.family}-{spelling.since} or newer, found {toolchain.name}"
    if spelling.tried and not accepts(toolchain, spelling):
        return f"{toolchain.name} does not have it"
    return None


def accepts(toolchain: Toolchain, spelling: Spelling) -> bool:
    """Whether a compiler and its linker accept a spelling, by trying it on a program of one line."""
    linked = (*spelling.link, *spelling.lto)
    link = ("-fuse-ld=lld", "-Wl,--fatal-warnings", *linked) if linked and toolchain.family == "clang" else linked
    words = (*spelling.cxx, *(("-flto=thin",) if spelling.lto else ()))
    return _compiles(toolchain.cxx, toolchain.identity, words, link) and (
        not spelling.counting
        or _compiles(toolchain.cxx, toolchain.identity, ("-fprofile-generate", *spelling.counting), ())
    )


@cache
def _compiles(compiler: Path, version: str, words: Sequence[str], link: Sequence[str]) -> bool:  # noqa: ARG001
    """Whether C++ of one line compiles with these flags, and links if there are any for that; once for each version."""
    with tempfile.TemporaryDirectory(dir=temporary.folder()) as folder:
        source, made = Path(folder) / "try.cc", Path(folder) / "made"
        source.write_text("int main() { return 0; }\n")
        kind = [] if link else ["-c"]
        argv: list[str | Path] = [compiler, "-O2", "-Werror", *kind, *words, source, *link, "-o", made]
        return process.run(argv, timeout=60).ok
