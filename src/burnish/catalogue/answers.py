"""What the catalogue says to each line of the published tables that it replicates."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from burnish.catalogue.edge import ROOT, Entry, Reason, read_toml, validated

PUBLISHED = ROOT / "published"
TABLES = ("sun-compiler-flags", "sun-configure-options", "mysql-manual")
"""The tables whose lines are choices that somebody made in building; the others hold figures."""


@dataclass(frozen=True)
class Answer:
    """How today's catalogue says a published line.

    Attributes:
        line: ``TABLE: FIRST COLUMN``.
        reason: in what sense it is the same.
        flags: entries of the flag catalogue.
        targets: targets.
        recipe: fields of a recipe.
        options: configure options of MariaDB.
        variants: variants that try it.
        setting: a setting of the running server or of the connection, when it is no way to build.
        none: there is no equivalent today.
        nearest: flag entries that come close without being it.
        nearest_options: configure options that come close without being it.
    """

    line: str
    reason: str
    flags: tuple[str, ...]
    targets: tuple[str, ...]
    recipe: tuple[str, ...]
    options: tuple[str, ...]
    variants: tuple[str, ...]
    setting: str | None
    none: bool
    nearest: tuple[str, ...]
    nearest_options: tuple[str, ...]


class _Answer(Entry):
    reason: Reason
    flags: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    recipe: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    setting: str | None = None
    none: bool = False
    nearest: tuple[str, ...] = ()
    nearest_options: tuple[str, ...] = ()


@cache
def answers() -> Mapping[str, Answer]:
    """All answers by line."""
    found = {}
    for line, value in read_toml(ROOT / "answers.toml").items():
        entry = validated(_Answer, value, f"answers.toml: {line}")
        found[line] = Answer(line=line, **entry.model_dump())
    return found


@cache
def published() -> tuple[str, ...]:
    """All lines that want an answer, as ``TABLE: FIRST COLUMN``, in their order."""
    lines = []
    for table in TABLES:
        with (PUBLISHED / f"{table}.csv").open(newline="") as file:
            lines += [f"{table}: {row[0]}" for row in list(csv.reader(file))[1:]]
    return tuple(lines)


def answered_by(kind: str, name: str) -> tuple[str, ...]:
    """The published lines that an entry answers to.

    Args:
        kind: ``flags``, ``targets``, ``options`` or ``variants``.
        name: the entry's name.
    """
    return tuple(line for line, each in answers().items() if name in getattr(each, kind))
