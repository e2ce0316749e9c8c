"""A cmake toolchain file and presets with a build's compilers, flags, options and profile."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.builds.reproducer import Making
from burnish.packages.chosen import Chosen
from burnish.packages.control import file_name
from burnish.packages.formats import flags
from burnish.packages.formats.common import beside, name_of, new_folder, title_of
from burnish.packages.statements import Made
from burnish.profiles.collecting import DATA
from burnish.record.store import Store

TOOLCHAIN = "toolchain.cmake"
PRESETS = "CMakePresets.json"
BUILD = "build-burnish"
"""The build folder, in the source's."""

_OWN = "${CMAKE_CURRENT_LIST_DIR}"
_NEEDS_QUOTES = re.compile(r"[^\w@%+=:,./-]")


def make(home: Home, chosen: Chosen, made: Made, output: Path) -> tuple[list[Path], list[str]]:
    """Writes the folder; returns (files, lines for the user).

    Raises:
        UserError: cmake did not configure the build, so its source need not have a CMakeLists.txt; or the source's own
            cmake reads the profile where this machine has it.
    """
    if not flags.by_cmake(chosen.making):
        raise UserError(
            f"--as cmake: {chosen.variant} of {chosen.making.engine} was not built with cmake; --as rebuild makes the "
            "same program, --as rpm has the flags"
        )
    if named := flags.profile_options(chosen.making):
        raise UserError(
            f"--as cmake: {chosen.variant} takes its profile by the source's own {', '.join(named)}, a path of this "
            "machine; --as rebuild takes the profile along"
        )
    with new_folder(output, f"cmake-{name_of(chosen, made.forced)}") as folder:
        toolchain = folder / TOOLCHAIN
        toolchain.write_text(toolchain_text(chosen, made))
        presets = folder / PRESETS
        presets.write_text(presets_text(chosen))
        profiles = copy_profiles(home, chosen, folder)
        says = [
            f"configure: copy all of it beside the source's CMakeLists.txt, then cmake --preset {preset_name(chosen)}"
        ]
        says += laying(chosen.making)
        says += [f"after the link: {shlex.join(words)}" for step in chosen.making.after for words in step.commands]
        return [toolchain, presets, *profiles, *beside(toolchain, chosen, made)], says


def laying(making: Making) -> list[str]:
    """How gcc's counters come to where gcc looks for them, in lines; [] of builds without."""
    if not flags.beside_objects(making):
        return []
    return [
        f"profile, before the build: mkdir -p {BUILD} && cp -R {DATA['gcc']}/. {BUILD}/",
        f"the source must lie in {making.root}/source: gcc knows functions of a profile by their file's path",
    ]


def preset_name(chosen: Chosen) -> str:
    """Name of the preset."""
    return f"burnish-{file_name(chosen.variant)}"


def toolchain_text(chosen: Chosen, made: Made) -> str:
    """The toolchain file."""
    plain = flags.plain(chosen.making, chosen.found.entry.about, _OWN)
    lines = [f"# {line}" for line in (*title_of(chosen, made), *laying(chosen.making))]
    for language, program in zip(("C", "CXX"), chosen.making.programs, strict=False):
        lines.append(f"set(CMAKE_{language}_COMPILER {quoted(program.path)})  # {program.version}")
    lines += [f"set({name} {quoted(path)})" for name, path in flags.archivers(chosen.making).items()]
    linkers = flags.linkers(chosen.making, _OWN) or {"CMAKE_EXE_LINKER_FLAGS": plain.link}
    for name, words in (
        ("CMAKE_C_FLAGS_INIT", plain.c),
        ("CMAKE_CXX_FLAGS_INIT", plain.cxx),
        *((f"{name}_INIT", words) for name, words in linkers.items()),
    ):
        lines.append(f"set({name} {quoted(joined(words))})")
    return "\n".join([*lines, ""])


def joined(words: tuple[str, ...]) -> str:
    """Flags as a shell reads them; the reference to this file's own folder is in no quotes that would matter."""
    return " ".join(word if not _NEEDS_QUOTES.search(word.replace(_OWN, "")) else shlex.quote(word) for word in words)


def quoted(text: str) -> str:
    """A cmake argument in quotes; only the reference to this file's own folder is left to be replaced."""
    pieces = text.split(_OWN)
    escaped = [
        piece.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("\n", "\\n") for piece in pieces
    ]
    return f'"{_OWN.join(escaped)}"'


def presets_text(chosen: Chosen) -> str:
    """The presets file: one preset, with the toolchain file and the options of the build."""
    options = flags.settings(chosen.making) or {"CMAKE_BUILD_TYPE": "RelWithDebInfo"}
    preset = {
        "name": preset_name(chosen),
        "displayName": chosen.variant,
        "description": chosen.gain,
        "generator": "Ninja",
        "binaryDir": "${sourceDir}/" + BUILD,
        "toolchainFile": "${sourceDir}/" + TOOLCHAIN,
        # A $ begins a macro in presets; the only way to write one is the macro of that name.
        "cacheVariables": {name: value.replace("$", "${dollar}") for name, value in sorted(options.items())},
    }
    value = {"version": 3, "cmakeMinimumRequired": {"major": 3, "minor": 21}, "configurePresets": [preset]}
    return json.dumps(value, indent=2) + "\n"


def copy_profiles(home: Home, chosen: Chosen, folder: Path) -> list[Path]:
    """Copies the files of all profiles of a build into `folder`."""
    store = Store(home.store)
    copied = []
    for kept in chosen.making.profiles:
        entry = store.find("profiles", kept.key)
        if entry is None:
            raise UserError(f"profile {kept.key} is no longer in the store; {chosen.found.made_anew}")
        for name, _ in kept.files:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(entry.folder / name, target)
            copied.append(target)
    return copied
