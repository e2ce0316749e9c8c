"""BOLT's options, read from its own help, and the check of recipes' options against them, before any build."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from burnish.base.errors import UserError, unknown

OWN = frozenset({"o", "data", "instrument", "instrumentation-file", "instrumentation-file-append-pid"})
"""Options that the builder sets itself."""


def known_options(help_text: str) -> dict[str, tuple[str, ...]]:
    """Options from ``llvm-bolt --help-hidden``, each with its listed values (none listed: any value, or no value)."""
    options: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in help_text.splitlines():
        if match := re.match(r"  --?([\w+-]+)(?:[= ]<|\s+- |$|\[)", line):
            name = match[1]
            options[name] = ()
        elif name and (match := re.match(r"    =(\S+)", line)):
            options[name] = (*options[name], match[1])
        elif not line.startswith("    "):
            name = ""
    return options


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


def _short(error: UserError) -> UserError:
    """The error without the list of all options: there are hundreds."""
    return UserError(f"{str(error).partition('; there are: ')[0]}; `llvm-bolt --help` lists them")
