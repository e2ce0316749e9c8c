"""Which options a settings file may set, and which of them a verb takes from it.

A key is an option's name without its dashes. Every option of the panels below is one, so that a new option is a key at
once, but for those that belong to a single call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from burnish.cli import help as pages
from burnish.cli.declaration import Argument, Option, Verb

PANELS = ("What to build", "Load", "How exactly", "Machine")
"""Panels whose options are keys."""

ALSO = ("--as", "--strip", "--sign-key", "--key", "--records", "--full")
"""Options of other panels that are keys."""

PER_CALL: Mapping[str, str] = {
    "--yes": "consent is given by a person for a call, not by a file that came with a folder",
    "--force": "whoever overrides an objection must know it",
    "--config": "the file itself",
    "--fresh": "would begin every run anew",
    "--hosts": "which machines are occupied is said with each call",
    "--versus": "the other side of one comparison",
    "--reverse": "the patches of one series",
    "--release": "a program for one bundled study",
    "--second-compiler": "a compiler for one bundled study",
    "--run": "one run",
    "--row": "a part of one bundled study",
    "--series": "a part of one bundled study",
    "--all": "a part of one bundled study",
    "--a": "a tree of one timing",
    "--b": "a tree of one timing",
    "--patch-a": "a patch of one timing",
    "--patch-b": "a patch of one timing",
    "--cross-check": "a check of one timing",
}
"""Options that are no keys though their panel's are, each with the reason."""

WITHOUT = (("init",), ("schema",), ("help",))
"""Verbs that read no settings file."""

NAME = "burnish.toml"

ENGINE = "engine"

Verbs = Mapping[tuple[str, ...], Verb]
"""Every verb by the words that call it."""


def verbs_of(root: Any) -> Verbs:
    """Every verb of the command line, in the order of the help page.

    Args:
        root: the whole command line, as typer makes it.
    """
    names = [name for panel in pages.PANELS.values() for name in panel]
    order = sorted(root.commands, key=lambda name: names.index(name) if name in names else len(names))
    return {words: verb for name in order for words, verb in _verbs((name,), root.commands[name])}


def _verbs(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Verb]]:
    if hasattr(command, "verb"):
        yield words, command.verb
    for name, each in getattr(command, "commands", {}).items():
        yield from _verbs((*words, name), each)


def keys(verbs: Verbs) -> dict[str, Option]:
    """The keys of a settings file by panel: each with its option, as the first verb that has it declares it."""
    found: dict[str, Option] = {}
    for words, verb in verbs.items():
        for option in verb.options if words not in WITHOUT else ():
            wanted = option.panel in PANELS or option.name in ALSO
            if wanted and option.name not in PER_CALL:
                found.setdefault(option.name.removeprefix("--"), replace(option, required=False))
    panels = [*PANELS, *(option.panel for option in found.values())]
    return dict(sorted(found.items(), key=lambda item: (panels.index(item[1].panel), item[0] != ENGINE)))


def taken(words: tuple[str, ...], verb: Verb, known: Mapping[str, Option]) -> dict[str, Argument | Option]:
    """By key, what of a verb takes its value.

    The engine is taken where one must be named: `patch`, `why` and bundled studies find it out. An option that asks
    something else under the same name, or has bounds of its own, takes nothing. Of a bundled study, which is a file of
    its own, only options of the panel Machine do.
    """
    found: dict[str, Argument | Option] = {}
    if words in WITHOUT:
        return found
    for declared in verb:
        if isinstance(declared, Argument):
            if declared.field == ENGINE and declared.required:
                found[ENGINE] = declared
            continue
        key = declared.name.removeprefix("--")
        if key not in known or (words[0] == "study" and declared.panel != "Machine"):
            continue
        if key == ENGINE and not declared.required:
            continue
        if (declared.field, declared.reader, declared.many) == (known[key].field, known[key].reader, known[key].many):
            found[key] = declared
    return found
