"""The compiler's flags of a build for another build system: paths of the profile made relative; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.builds.reproducer import Making
from burnish.engines.steps import Command

_LANGUAGES = ("c", "cxx", "link")


@dataclass(frozen=True)
class PlainFlags:
    """Flags without paths of the machine that built.

    Attributes:
        c: for C.
        cxx: for C++.
        link: for the link.
    """

    c: tuple[str, ...]
    cxx: tuple[str, ...]
    link: tuple[str, ...]


def plain(making: Making, about: Mapping[str, Any], folder: str) -> PlainFlags:
    """The flags with the profile's path in `folder`.

    Args:
        making: how the build was made.
        about: its description in the store.
        folder: folder of the profile, as the other build system spells it.
    """
    recorded: Mapping[str, Sequence[str]] = about.get("flags", {})
    root = making.root

    def moved(flag: str) -> str | None:
        if flag.startswith(("-ffile-prefix-map=", "-fdebug-prefix-map=")):
            return None  # of the source's place on the machine that built
        profile = making.profile
        if profile is not None:
            place = f"{root}/{profile.place}"
            flag = flag.replace(place, f"{folder}/{profile.name}")
        return None if root in flag else flag

    c, cxx, link = (tuple(filter(None, map(moved, recorded.get(name, ())))) for name in _LANGUAGES)
    return PlainFlags(c, cxx, link)


def settings(making: Making) -> dict[str, str]:
    """Options that a cmake build was configured with, but for compilers, flags and paths of the machine."""
    found = {}
    for step in making.steps:
        if isinstance(step, Command) and step.argv and step.argv[0].rpartition("/")[2] == "cmake":
            for word in step.argv:
                name, equals, value = word.removeprefix("-D").partition("=")
                if word.startswith("-D") and equals and making.root not in value and not _ours(name):
                    found[name] = value
    return found


def archivers(making: Making) -> dict[str, str]:
    """The archiver and its ranlib, where a cmake build was given its own: the system's may not read LTO objects."""
    words = [word for step in making.steps if isinstance(step, Command) for word in step.argv]
    pairs = (word.removeprefix("-D").partition("=") for word in words if word.startswith("-D"))
    return {name: value for name, _, value in pairs if name in ("CMAKE_AR", "CMAKE_RANLIB")}


def _ours(name: str) -> bool:
    """Whether the toolchain file says it, or only Burnish's own build needs it."""
    return name.startswith(("CMAKE_C_", "CMAKE_CXX_", "CMAKE_AR", "CMAKE_RANLIB", "CMAKE_PROJECT_", "BURNISH_")) or (
        name.endswith("_LINKER_FLAGS") or name == "CMAKE_EXPORT_COMPILE_COMMANDS"
    )
