"""The two sides of a study's row about patches: the tree with them, and the tree without; pure.

What was published is what a patch does that is put in. Where today's tree has it already, ours takes it out: then the
tree as it is stands for the one with the patch, and the patched one for the one without.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

from burnish.catalogue.patches import CataloguePatch, patch_set
from burnish.catalogue.study_model import StudyRow
from burnish.model.recipe import Marks

NO_PATCH = "no patch"
"""What an architecture can show of an entry without a patch."""

IDENTICAL = "identical"
"""Likewise, of a patch that changes no machine code there."""

UNKNOWN = "not known"
"""Likewise, where nobody looked what it can show."""


@dataclass(frozen=True)
class Sides:
    """What is patched for each side of a row.

    Attributes:
        without: patches that make the tree without; none: it is the tree as it is.
        having: likewise, the tree with.
        without_name: what the tree without is called.
        having_name: likewise, the tree with.
        marks: what a patched side costs beyond time.
    """

    without: tuple[Path, ...]
    having: tuple[Path, ...]
    without_name: str
    having_name: str
    marks: Marks


def sides(row: StudyRow, architecture: str) -> Sides | None:
    """The sides of a row on a host of that architecture, as the kernel names it; None of a row about something else."""
    if row.patch is not None:
        row_patches, name = [row.patch], row.patch.name
    elif row.patch_set is not None:
        row_patches, name = row.patch_set.measurable(architecture), row.patch_set.name
    else:
        return None
    marks = reduce(or_, (patch.marks for patch in row_patches), Marks())
    return Sides(
        _those(row_patches, "reverted"), _those(row_patches, "applied"), f"without-{name}", f"with-{name}", marks
    )


def _those(row_patches: Iterable[CataloguePatch], direction: str) -> tuple[Path, ...]:
    return tuple(patch.path for patch in row_patches if patch.path is not None and patch.direction == direction)


def engine_of(row: StudyRow) -> str | None:
    """Whose tree the row's patches are for; None of a row about something else."""
    if row.patch is not None:
        return patch_set(row.patch.set).engine
    return row.patch_set.engine if row.patch_set is not None else None


def shows(row: StudyRow, architecture: str) -> str:
    """What a host of that architecture can show of the row's patch; '' of a row about something else."""
    if row.patch is None:
        return ""
    if row.patch.direction == "none":
        return NO_PATCH
    return row.patch.ability(architecture) or UNKNOWN


def facts(row: StudyRow, architecture: str) -> dict[str, Any] | None:
    """What a report tells of the row's patch, as plain values; None of a row about something else."""
    patch = row.patch
    if patch is None:
        return None
    return {
        "patch": patch.word,
        "bugs": list(patch.bugs),
        "direction": patch.direction,
        "does": patch.does,
        "published": patch.published,
        "today": patch.today,
        "micro": list(patch.micro),
        "shows": shows(row, architecture),
    }


def words(rows: Sequence[StudyRow]) -> list[str]:
    """What names the patches of these rows: part of what makes two sittings one study."""
    named = {row.patch.word for row in rows if row.patch is not None}
    return sorted(named | {row.patch_set.name for row in rows if row.patch_set is not None})
