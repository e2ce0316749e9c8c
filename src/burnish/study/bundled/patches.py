"""The two sides of a study's row about patches: the tree with them, and the tree without; pure.

The published figure is the effect of applying the patch. If today's tree already contains it, the patch in the
catalogue removes it: then the unmodified tree is the side with the patch, and the patched tree the side without.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

from burnish.catalogue.bundled.model import StudyRow
from burnish.catalogue.patches import CataloguePatch, patch_set
from burnish.model.recipe import Marks

NO_PATCH = "no patch"
"""What can be shown of an entry without a patch."""

IDENTICAL = "identical"
"""What can be shown of a patch that changes no machine code on the architecture."""

UNKNOWN = "not known"
"""What can be shown of a patch that has not been examined on the architecture."""


@dataclass(frozen=True)
class Sides:
    """The patches of each side of a row.

    Attributes:
        without: patches that make the tree without the change; empty: the unmodified tree.
        having: patches that make the tree with the change; empty: the unmodified tree.
        without_name: name of the tree without the change.
        having_name: name of the tree with the change.
        marks: what a patched side costs besides time.
    """

    without: tuple[Path, ...]
    having: tuple[Path, ...]
    without_name: str
    having_name: str
    marks: Marks


def sides(row: StudyRow, architecture: str) -> Sides | None:
    """The sides of a row on a host of this architecture (as the kernel names it); None for rows without patches."""
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
    """The engine that the row's patches are for; None for a row that is not about patches."""
    if row.patch is not None:
        return patch_set(row.patch.set).engine
    return row.patch_set.engine if row.patch_set is not None else None


def shows(row: StudyRow, architecture: str) -> str:
    """What a host of this architecture can show of the row's patch; '' for a row that is not about a patch."""
    if row.patch is None:
        return ""
    if row.patch.direction == "none":
        return NO_PATCH
    return row.patch.ability(architecture) or UNKNOWN


def facts(row: StudyRow, architecture: str) -> dict[str, Any] | None:
    """The row's patch for the report, as plain values; None for a row that is not about a patch."""
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
    """Names of the patches of these rows, as part of the study's identity."""
    named = {row.patch.word for row in rows if row.patch is not None}
    return sorted(named | {row.patch_set.name for row in rows if row.patch_set is not None})
