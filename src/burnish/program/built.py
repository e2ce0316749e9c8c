"""A finished build and its object files, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LINKED = "linked"
"""Value of a library as a feature: the program's file names it."""
THROUGH = "loaded through another library"
"""Value of a library that the program loads because another library needs it: it comes and goes with that one."""
UNUSED = "linked, but nothing of it is used"
"""Value of a library that the program's file names and of which it uses no symbol: as good as absent."""


@dataclass(frozen=True)
class CompiledObject:
    """One object file of a build and the command that compiled it (not the cache's)."""

    path: str
    source: str
    command: tuple[str, ...]


def named(objects: Iterable[CompiledObject], words: Sequence[str]) -> list[CompiledObject]:
    """The objects whose paths contain one of these words."""
    return [compiled for compiled in objects if any(word in compiled.path for word in words)]


@dataclass(frozen=True)
class Built:
    """A finished build in the store, or a program that exists already (`compare`).

    Attributes:
        name: for people ("baseline", "clang-pgo-thinlto", "/usr/sbin/mariadbd").
        folder: the build's folder; for an existing program, the folder of its installation.
        server: the measured program.
        key: content address, or the program's digest.
        environment: environment variables to launch it with (preloads), as (name, value).
        options: server options that only this build needs (such as the folder of its messages), in order.
        program: digest of the measured program's code and data; '' if it was not examined.
    """

    name: str
    folder: Path
    server: Path
    key: str
    environment: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()
    program: str = ""


@dataclass(frozen=True)
class Identity:
    """How a server program identifies itself; a verdict names differences.

    Attributes:
        version: its version string.
        features: features built in or switched on, as (name, value), sorted.
        build_id: GNU build id, '' if it has none.
        product: which server it is, where one engine has programs of several ("Percona Server"): two products are
            never compared. '' where the engine has only one.
    """

    version: str
    features: tuple[tuple[str, str], ...]
    build_id: str
    product: str = ""


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Names of the features in which two programs differ, sorted; how a library comes to be loaded is none."""
    return [name for name in sorted({*one, *other}) if differ([one.get(name), other.get(name)])]


def differ(values: Sequence[str | None]) -> bool:
    """Whether programs differ in a feature by its value in each of them."""
    return len({None if value == UNUSED else value for value in values} - {THROUGH}) > 1
