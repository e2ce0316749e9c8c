"""A finished build and the objects that it was made of, as values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class CompiledObject:
    """One object file of a build and the command that really made it."""

    path: str
    source: str
    command: tuple[str, ...]


def named(objects: Iterable[CompiledObject], words: Sequence[str]) -> list[CompiledObject]:
    """Those objects whose names hold one of these words."""
    return [each for each in objects if any(word in each.path for word in words)]


@dataclass(frozen=True)
class Built:
    """A finished build in the store, or a program that exists already (`compare`).

    Attributes:
        name: for people ("baseline", "clang-pgo-thinlto", "/usr/sbin/mariadbd").
        folder: the build's folder; for an existing program, the folder of its installation.
        server: the measured program.
        key: content address, or the program's digest.
        environment: variables to launch it with (preloads), as (name, value).
        options: server options that only this build needs (where its messages are), in order.
    """

    name: str
    folder: Path
    server: Path
    key: str
    environment: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Identity:
    """What a server program says it is; differences are named in a verdict.

    Attributes:
        version: its version string.
        features: what is in or switched on, as (name, value), sorted.
        build_id: GNU build id, '' when it has none.
    """

    version: str
    features: tuple[tuple[str, str], ...]
    build_id: str
