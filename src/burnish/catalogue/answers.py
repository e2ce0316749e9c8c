"""Answers to the published tables: today's equivalent of each of their lines in the catalogue."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from burnish.catalogue.edge import ROOT, Reason, entry_of, read_toml, validated, value_of

PUBLISHED = ROOT / "published"
TABLES = ("sun-compiler-flags", "sun-configure-options", "mysql-manual")
"""The tables whose lines are build options; the others contain figures."""


@dataclass(frozen=True)
class Answer:
    """Today's equivalent of a published line.

    Attributes:
        line: ``TABLE: FIRST COLUMN``.
        reason: in what sense it is equivalent.
        flags: entries of the flag catalogue.
        targets: targets.
        recipe: fields of a recipe.
        options: configure options of MariaDB.
        variants: variants that use it.
        setting: setting of the server or the connection, if the line is not a build option.
        none: whether there is no equivalent today.
        nearest: flag entries that are similar, but not equivalent.
        nearest_options: configure options that are similar, but not equivalent.
    """

    line: str
    reason: str
    flags: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    recipe: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    setting: str | None = None
    none: bool = False
    nearest: tuple[str, ...] = ()
    nearest_options: tuple[str, ...] = ()


_ENTRY = entry_of(Answer, {"reason": Reason})


@cache
def answers() -> Mapping[str, Answer]:
    """All answers by line."""
    entries = {}
    for line, value in read_toml(ROOT / "answers.toml").items():
        entry = validated(_ENTRY, {**value, "line": line}, f"answers.toml: {line}")
        entries[line] = value_of(Answer, entry)
    return entries


@cache
def published() -> tuple[str, ...]:
    """All lines that need an answer, as ``TABLE: FIRST COLUMN``, in their order."""
    lines = []
    for table in TABLES:
        with (PUBLISHED / f"{table}.csv").open(newline="") as file:
            lines += [f"{table}: {row[0]}" for row in list(csv.reader(file))[1:]]
    return tuple(lines)


def answered_by(kind: str, name: str) -> tuple[str, ...]:
    """The published lines to which an entry is equivalent.

    Args:
        kind: ``flags``, ``targets``, ``options`` or ``variants``.
        name: the entry's name.
    """
    return tuple(line for line, answer in answers().items() if name in getattr(answer, kind))
