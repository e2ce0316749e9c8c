"""BOLT's options, read from its own help, and the check of recipes' options against them, before any build."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from burnish.base import process
from burnish.base.errors import UserError, unknown
from burnish.catalogue.bolt import BoltOption, bolt_options

OWN = frozenset({"o", "data", "instrument", "instrumentation-file", "instrumentation-file-append-pid"})
"""Options that the builder sets itself."""

SWITCH = ("true", "false", "1", "0")
"""Values of an option that is only on or off."""

NOW, LAZY = "-Wl,-z,now", "-Wl,-z,lazy"
"""Flags of the link: calls into shared libraries are bound at the start, or when they are first made."""


def known_options(help_text: str) -> dict[str, tuple[str, ...]]:
    """Options from ``llvm-bolt --help-hidden``, each with its listed values.

    An option with a value of which none are listed takes any; one without a value is a switch.
    """
    options: dict[str, tuple[str, ...]] = {}
    name, listed = "", False
    for line in help_text.splitlines():
        if match := re.match(r"  --?([\w+-]+)([= ]<|\s+- |$|\[)", line):
            name, listed = match[1], False
            options[name] = SWITCH if match[2].strip() == "-" else ()
        elif name and (match := re.match(r"    =(\S+)", line)):
            options[name] = (*(options[name] if listed else ()), match[1])
            listed = True
        elif not line.startswith("    "):
            name = ""
    return options


@cache
def options_of(bolt: Path, version: str) -> Mapping[str, tuple[str, ...]]:  # noqa: ARG001
    """What a BOLT's own help says of its options, asked once for each version; see `known_options`."""
    return known_options(process.capture([bolt, "--help-hidden"]))


def check_options(where: str, options: Sequence[str], known: Mapping[str, tuple[str, ...]]) -> None:
    """Raises a `UserError` for an option or a value that this BOLT does not support.

    Args:
        where: variant and BOLT, for the message.
        options: as in the recipe, ``-name`` or ``-name=value``.
        known: from `known_options`.
    """
    for option in options:
        match = re.fullmatch(r"--?([\w+-]+)(?:=(.*))?", option)
        if match is None:
            raise UserError(f"{where}: bolt_options: {option!r} is not an option; write -name or -name=value")
        name, value = match[1], match[2]
        if name in OWN:
            raise UserError(f"{where}: bolt_options: {option!r} is set by Burnish itself; leave it out")
        if name not in known:
            raise _short(unknown(f"option of {where}", name, known))
        if value is not None and known[name] and value not in known[name]:
            raise unknown(f"value of -{name} ({where})", value, known[name])


def fitted(
    options: Sequence[str], known: Mapping[str, tuple[str, ...]], architecture: str, *, bound: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Options with what the catalogue says to take for those that are missing here, and a line about each such.

    Options that the catalogue does not know stay as they are; `check_options` refuses those that BOLT does not know.

    Args:
        options: as in the recipe.
        known: from `known_options`.
        architecture: the processor's.
        bound: whether the program's calls are bound at the start.
    """
    taken: list[str] = []
    notes: list[str] = []
    for option in options:
        entry = bolt_options().get(option)
        why = _why_not(entry, known, architecture, bound=bound) if entry is not None else None
        if entry is None or why is None:
            taken.append(option)
            continue
        other = next((other for other in entry.instead if _has(other, known)), None)
        taken += [other] if other is not None else []
        notes.append(f"BOLT: {option}: {why}; {f'{other} is taken' if other is not None else 'left out'}")
    return tuple(dict.fromkeys(taken)), tuple(notes)


def binds(link: Sequence[str]) -> bool:
    """Whether a link with these flags makes a program whose calls are bound at the start: the last flag decides."""
    return next((flag == NOW for flag in reversed(link) if flag in (NOW, LAZY)), False)


def _why_not(entry: BoltOption, known: Mapping[str, tuple[str, ...]], architecture: str, *, bound: bool) -> str | None:
    """Why an option can't be taken; None if it can."""
    if entry.architecture and architecture not in entry.architecture:
        return f"for {', '.join(entry.architecture)}, this host is {architecture}"
    if entry.bound and not bound:
        return "needs a link with -z now, which hardening would give"
    return None if _has(entry.option, known) else "not in this BOLT"


def _has(option: str, known: Mapping[str, tuple[str, ...]]) -> bool:
    name, equals, value = option.lstrip("-").partition("=")
    return name in known and (not equals or not known[name] or value in known[name])


def _short(error: UserError) -> UserError:
    """The error without the list of all options: there are hundreds."""
    return UserError(f"{str(error).partition('; there are: ')[0]}; `llvm-bolt --help` lists them")
