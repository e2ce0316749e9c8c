"""A fragment for an RPM spec file: compilers, flags and profile of a build."""

from __future__ import annotations

import shlex
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.builds.reproducer import AfterLink, Making
from burnish.packages.chosen import Chosen
from burnish.packages.formats import flags
from burnish.packages.formats.cmake import copy_profiles, joined
from burnish.packages.formats.common import beside, name_of, new_folder, title_of
from burnish.packages.statements import Made

OPTIONS = "burnish_options"
"""The macro with the options that cmake is given."""

_FIRST_SOURCE = 900


def make(home: Home, chosen: Chosen, made: Made, output: Path) -> tuple[list[Path], list[str]]:
    """Writes the fragment and the profile; returns (files, lines for the user).

    Raises:
        UserError: the profile is gcc's counters, which gcc finds only beside the objects of a source in its old place.
    """
    if flags.beside_objects(chosen.making):
        raise UserError(
            f"--as rpm: the profile of {chosen.variant} is gcc's, which fits a source in {chosen.making.root} alone, "
            "and rpmbuild has another place; take --as rebuild, or a variant by clang"
        )
    with new_folder(output, f"rpm-{name_of(chosen, made.forced)}") as folder:
        profiles = copy_profiles(home, chosen, folder)
        file = folder / "burnish.spec.inc"
        names = [path.relative_to(folder).as_posix() for path in profiles]
        file.write_text(text(chosen, made, names))
        says = [f"put %include {file.name} at the head of the spec file and the other files into the folder of sources"]
        says += [f"cmake's options: %cmake %{{{OPTIONS}}}"] if _options(chosen.making) else []
        says += ["rpmspec reads it, no whole server was built with it"]
        return [file, *profiles, *beside(file, chosen, made)], says


def text(chosen: Chosen, made: Made, profiles: list[str]) -> str:
    """The fragment."""
    plain = flags.plain(chosen.making, chosen.found.entry.about, "%{_sourcedir}")
    options = _options(chosen.making)
    tools = [program.path.rpartition("/")[2] for program in chosen.making.programs[:2]]
    lines = [f"# {_escaped(line)}" for line in title_of(chosen, made)]
    lines += [f"Source{_FIRST_SOURCE + number}: {_escaped(name)}" for number, name in enumerate(profiles)]
    lines += [f"# made with {_escaped(program.version)}" for program in chosen.making.programs[:1]]
    lines += [f"%global {name} {tool}" for name, tool in zip(("__cc", "__cxx"), tools, strict=False)]
    lines += [
        "%undefine _annotated_build",
        f"%global build_cflags {_flags(plain.c)}",
        f"%global build_cxxflags {_flags(plain.cxx)}",
        f"%global build_ldflags {_flags(plain.link)}",
        *([f"%global {OPTIONS} {_flags(options)}"] if options else []),
        *(f"# {_escaped(line)}" for step in chosen.making.after for line in _after(step)),
    ]
    return "\n".join([*lines, ""])


def _options(making: Making) -> tuple[str, ...]:
    """The options of a cmake build; archivers by name, which lie elsewhere on other systems."""
    archivers = {name: path.rpartition("/")[2] for name, path in flags.archivers(making).items()}
    return tuple(f"-D{name}={value}" for name, value in sorted({**flags.settings(making), **archivers}.items()))


def _after(step: AfterLink) -> list[str]:
    """What is to be done to the linked program, in words and commands."""
    return [f"after the link, {step.title}: {shlex.join(words)}" for words in step.commands]


def _flags(words: tuple[str, ...]) -> str:
    folder = "%{_sourcedir}"
    return joined(tuple(folder.join(map(_escaped, word.split(folder))) for word in words))


def _escaped(text_: str) -> str:
    """Without macros of rpm."""
    return text_.replace("%", "%%")
