"""Reads recipes and variants from TOML, the catalogue's and a user's own, and checks them with the flag catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from burnish.base.errors import UserError, together
from burnish.catalogue import flags, options
from burnish.catalogue.edge import Entry, Pairs, Reason, Weights, entry_of, read_toml, validated
from burnish.model.recipe import REVERTED, Recipe, Variant

_Seed = Annotated[int, Field(ge=0)]

_AS_READ: dict[Any, Any] = {tuple[tuple[str, str], ...]: Pairs, tuple[tuple[str, float], ...]: Weights, int: _Seed}
"""How fields of these types are written in a file, where that is not how they are kept."""

_CHECKED: dict[str, Any] = {"level": Annotated[str | None, Field(pattern=r"^-O([0-3sgz]|fast)$")]}
"""Fields of which a file's words are checked beyond their type."""


if TYPE_CHECKING:  # a type can't be made of a function's result

    class RecipeEntry(Entry):
        """A recipe in a file; `Recipe` has and documents the fields."""
else:
    RecipeEntry = entry_of(Recipe, _CHECKED, _AS_READ)


class VariantEntry(Entry):
    """A variant of the catalogue in a file."""

    reason: Reason
    recipe: RecipeEntry = RecipeEntry()
    weakens_security: bool = False
    changes_results: bool = False
    narrows_portability: bool = False
    source: str = ""


class OwnVariantEntry(VariantEntry):
    """A variant of a user's own file, whose reason is optional."""

    reason: str = ""


def read_variants(path: Path) -> dict[str, Variant]:
    """The variants of a user's TOML file; reasons are optional, paths are relative to the file."""
    return variants_of(read_toml(path), path.name, path.parent, own=True)


def variants_of(table: Mapping[str, Any], where: str, folder: Path, *, own: bool = False) -> dict[str, Variant]:
    """The variants of a table in the catalogue's format.

    Args:
        table: variants by name.
        where: the file, for errors.
        folder: folder that paths in the table are relative to.
        own: whether they are a user's own, whose reasons are optional.

    Raises:
        UserError: variants are wrong; the message has a line for each of them.
    """
    variants: dict[str, Variant] = {}
    problems: list[UserError] = []
    for name, value in table.items():
        try:
            entry = validated(OwnVariantEntry if own else VariantEntry, value, f"{where}: {name}")
            recipe = _checked(entry.recipe, f"{where}: {name}", folder)
        except UserError as error:
            problems.append(error)
            continue
        marked = variant_with(name, recipe, entry.reason)
        variants[name] = replace(
            marked,
            weakens_security=entry.weakens_security or marked.weakens_security,
            changes_results=entry.changes_results or marked.changes_results,
            narrows_portability=entry.narrows_portability or marked.narrows_portability,
            source=entry.source,
        )
    if problems:
        raise together(problems)
    return variants


def recipe_of(table: Mapping[str, Any], where: str, folder: Path, *, whole: bool = True) -> Recipe:
    """The recipe of a table in the catalogue's format, from the file `where`; paths are relative to `folder`.

    Without `whole` it is a change to another recipe, which may have what its flags need.
    """
    return _checked(validated(RecipeEntry, table, where), where, folder, whole=whole)


def _checked(entry: RecipeEntry, where: str, folder: Path, *, whole: bool = True) -> Recipe:
    recipe = Recipe(**entry.model_dump())
    flags.check(recipe, where, whole=whole)
    return replace(recipe, patches=_located(recipe.patches, folder))


def variant_with(name: str, recipe: Recipe, reason: str) -> Variant:
    """A variant of this recipe, with the marks of its flags and options."""
    marks = flags.marks(recipe) | options.marks(recipe.options)
    return Variant(
        name=name,
        recipe=recipe,
        reason=reason,
        weakens_security=marks.weakens_security,
        changes_results=marks.changes_results,
        narrows_portability=marks.narrows_portability,
    )


def _located(patches: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Patches with absolute paths; relative paths are relative to `folder`."""
    located = []
    for word in patches:
        mark = REVERTED if word.startswith(REVERTED) else ""
        path = Path(word.removeprefix(mark).strip()).expanduser()
        located.append(f"{mark}{(folder / path).absolute()}")
    return tuple(located)
