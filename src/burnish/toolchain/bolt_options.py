"""What BOLT takes: options read from its own help, and recipes' options held against them, before any build."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from burnish.base.errors import UserError, unknown

OWN = frozenset({"o", "data", "instrument", "instrumentation-file", "instrumentation-file-append-pid"})
"""Options that the builder gives itself."""


def known_options(help_text: str) -> dict[str, tuple[str, ...]]:
    """Options from ``llvm-bolt --help-hidden``, each with the values that it lists (none: any value, or none)."""
    found: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in help_text.splitlines():
        if match := re.match(r"  --?([\w+-]+)(?:[= ]<|\s+- |$|\[)", line):
            name = match[1]
            found[name] = ()
        elif name and (match := re.match(r"    =(\S+)", line)):
            found[name] = (*found[name], match[1])
        elif not line.startswith("    "):
            name = ""
    return found


def check_options(where: str, options: Sequence[str], known: Mapping[str, tuple[str, ...]]) -> None:
    """Refuses an option, or a value, that this BOLT does not know.

    Args:
        where: variant and BOLT, for the message.
        options: as in the recipe, ``-name`` or ``-name=value``.
        known: what `known_options` read.
    """
    for option in options:
        match = re.fullmatch(r"--?([\w+-]+)(?:=(.*))?", option)
        if match is None:
            raise UserError(f"{where}: bolt_options: {option!r} is no option; write -name or -name=value")
        name, value = match[1], match[2]
        if name in OWN:
            raise UserError(f"{where}: bolt_options: {option!r} is set by Burnish itself; leave it out")
        if name not in known:
            raise _short(unknown(f"option of {where}", name, known))
        if value is not None and known[name] and value not in known[name]:
            raise unknown(f"value of -{name} ({where})", value, known[name])


def _short(error: UserError) -> UserError:
    """Without the list of all options: there are hundreds."""
    return UserError(f"{str(error).partition('; there are: ')[0]}; `llvm-bolt --help` lists them")
