"""Libraries that a packaged program has linked in: what its package needs no longer, and what its users must know."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from burnish.program import program as programs
from burnish.program.elf import is_program

_SHLIBS = Path("/var/lib/dpkg/info")


def needless(root: Path, linked_in: Collection[str], shlibs: Path = _SHLIBS) -> frozenset[str]:
    """Packages of libraries that no file of an unpacked package loads any longer.

    Args:
        root: the unpacked package, with the program replaced.
        linked_in: names of libraries (``libssl``) that the program has linked in.
        shlibs: where installed packages say which libraries they have (deb-shlibs(5)); one that is not installed is
            unknown, and a dependency on it stays.
    """
    if not linked_in:
        return frozenset()
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink() and is_program(path)]
    loaded = {name.partition(".so")[0] for file in files for name in programs.read(file).needed}
    gone, kept = set[str](), set[str]()
    for file in shlibs.glob("*.shlibs"):
        for words in map(str.split, file.read_text().splitlines()):
            if len(words) < 3 or words[0].endswith(":"):  # a line for the installer alone
                continue
            if words[0] in loaded:
                kept.add(words[2])
            elif words[0] in linked_in:
                gone.add(words[2])
    return frozenset(gone - kept)


def warning(linked_in: Collection[str]) -> list[str]:
    """A line for the description of a package whose program has libraries linked in; none for another."""
    if not linked_in:
        return []
    inside = (
        f"These libraries are part of the server program, at the version it was built with: {', '.join(linked_in)}."
    )
    return [f"{inside} Security updates of their packages do not reach it."]
