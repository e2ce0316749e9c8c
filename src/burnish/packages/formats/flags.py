"""The compiler's flags of a build for another build system: paths of the profile made relative; pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.builds.reproducer import Making
from burnish.engines.steps import Command, Step
from burnish.profiles.collecting import DATA

_LANGUAGES = ("c", "cxx", "link")
_OF_BUILD_TYPE = re.compile(r"CMAKE_(C|CXX)_FLAGS_[A-Z]+")
_OF_LINKER = re.compile(r"CMAKE_(EXE|SHARED|MODULE)_LINKER_FLAGS")


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
    moved = _mover(making, folder)
    c, cxx, link = (tuple(filter(None, map(moved, recorded.get(name, ())))) for name in _LANGUAGES)
    # An engine adds to the link what it needs itself: relocations for BOLT, a build id.
    return PlainFlags(c, cxx, linkers(making, folder).get("CMAKE_EXE_LINKER_FLAGS", link))


def linkers(making: Making, folder: str) -> dict[str, tuple[str, ...]]:
    """Flags of cmake's links by the variable that holds them: of programs, of libraries, of plugins."""
    moved = _mover(making, folder)
    return {
        name: tuple(filter(None, map(moved, shlex.split(value))))
        for name, value in _defined(making).items()
        if _OF_LINKER.fullmatch(name)
    }


def _mover(making: Making, folder: str) -> Callable[[str], str | None]:
    """Gives a flag with the profile's path in `folder`; None for one that means the machine that built."""
    root, profile = making.root, making.profile

    def moved(flag: str) -> str | None:
        if flag.startswith(("-ffile-prefix-map=", "-fdebug-prefix-map=")):
            return None  # of the source's place there
        if profile is not None and not beside_objects(making):
            flag = flag.replace(f"{root}/{profile.place}", f"{folder}/{profile.name}")
        return None if root in flag else flag

    return moved


def beside_objects(making: Making) -> bool:
    """Whether the compilers' profile is gcc's counters, a file beside each object, which no flag names."""
    return making.profile is not None and making.profile.name == DATA["gcc"]


def by_cmake(making: Making) -> bool:
    """Whether cmake configured the build."""
    return any(_is_cmake(step) for step in making.steps)


def settings(making: Making) -> dict[str, str]:
    """Options that a cmake build was configured with, but for compilers, flags and paths of the machine."""
    return {name: value for name, value in _defined(making).items() if making.root not in value and not _ours(name)}


def profile_options(making: Making) -> list[str]:
    """Options of the source's own cmake that name the profile on this machine, which `settings` leaves out."""
    defined = _defined(making).items()
    return [name for name, value in defined if "PROFILE" in name and making.root in value and not _ours(name)]


def archivers(making: Making) -> dict[str, str]:
    """The archiver and its ranlib, where a cmake build was given its own: the system's may not read LTO objects."""
    return {name: value for name, value in _defined(making).items() if name in ("CMAKE_AR", "CMAKE_RANLIB")}


def _defined(making: Making) -> dict[str, str]:
    """What cmake is given with -D."""
    found = {}
    for step in making.steps:
        if isinstance(step, Command) and _is_cmake(step):
            for word in step.argv:
                name, equals, value = word.removeprefix("-D").partition("=")
                if word.startswith("-D") and equals:
                    found[name] = value
    return found


def _is_cmake(step: Step) -> bool:
    return isinstance(step, Command) and step.argv[:1] != () and step.argv[0].rpartition("/")[2] == "cmake"


def _ours(name: str) -> bool:
    """Whether the toolchain file says it, or only Burnish's own build needs it."""
    if _OF_BUILD_TYPE.fullmatch(name):
        return False
    return name.startswith(("CMAKE_C_", "CMAKE_CXX_", "CMAKE_AR", "CMAKE_RANLIB", "CMAKE_PROJECT_", "BURNISH_")) or (
        name.endswith("_LINKER_FLAGS") or name == "CMAKE_EXPORT_COMPILE_COMMANDS"
    )
