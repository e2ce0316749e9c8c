"""Where builds and choices of the catalogue are from: what their entry states, else the sources of their parts."""

from __future__ import annotations

from fnmatch import fnmatchcase

from burnish.catalogue import flags
from burnish.catalogue.bolt import bolt_options
from burnish.catalogue.options import options
from burnish.model.recipe import Recipe

COMPILERS = "manuals of gcc and clang"
BOLT = "llvm-project/bolt/README.md"
HARDENING = "dpkg-buildflags(1)"


def of(stated: str, recipe: Recipe) -> tuple[str, ...]:
    """The sources of an entry, without repetition; empty if nothing is known.

    Args:
        stated: what the entry itself states; '' for nothing.
        recipe: how it is built.
    """
    return (stated,) if stated else tuple(dict.fromkeys(_of_parts(recipe)))


def _of_parts(recipe: Recipe) -> list[str]:
    """The sources of a recipe's flags, options and fields, those that say the most first.

    What is done after the compiler, and what a server is trained on, has none but its entry's own.
    """
    found = [flags.flag(name).source for name in recipe.flags if flags.flag(name).source]
    known = bolt_options()
    found += [known[option].source for option in recipe.bolt_options if option in known]
    found += [
        f"{engine}: {option.where}"
        for name, _ in recipe.options
        for engine, entries in options().items()
        for option in entries.values()
        if fnmatchcase(name, option.name)
    ]
    if recipe.bolt or recipe.bolt_options:
        found.append(BOLT)
    if not recipe.hardening:
        found.append(HARDENING)
    usual = Recipe()
    compiled = (
        "toolchain",
        "level",
        "lto",
        "pgo",
        "c",
        "cxx",
        "flags",
        "target",
        "context_sensitive",
        "partial_training",
    )
    if any(getattr(recipe, name) != getattr(usual, name) for name in compiled):
        found.append(COMPILERS)
    return found
