"""The catalogue of BOLT's options: what to take where a BOLT, a processor or a link lacks one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pydantic import Field

from burnish.catalogue.edge import ROOT, Entry, Reason, read_toml, validated


@dataclass(frozen=True)
class BoltOption:
    """An entry of the catalogue.

    Attributes:
        name: of the entry.
        option: as in a recipe, ``-name=value``.
        does: what it does.
        reason: why one would use it.
        source: where it is from.
        instead: options that are taken where this one is missing, in order; none: it is left out.
        architecture: architectures that have it; empty: all.
        bound: whether it is right only in a program whose calls are all bound at the start (``-z now``).
    """

    name: str
    option: str
    does: str
    reason: str
    source: str
    instead: tuple[str, ...] = ()
    architecture: tuple[str, ...] = ()
    bound: bool = False


class _Option(Entry):
    option: str = Field(pattern=r"^-[\w+-]+(=\S+)?$")
    does: str = Field(min_length=15)
    reason: Reason
    source: str = Field(min_length=5)
    instead: tuple[str, ...] = ()
    architecture: tuple[str, ...] = ()
    bound: bool = False


@cache
def bolt_options() -> Mapping[str, BoltOption]:
    """All entries by option, as in a recipe."""
    entries = {
        name: validated(_Option, value, f"bolt.toml: {name}") for name, value in read_toml(ROOT / "bolt.toml").items()
    }
    return {entry.option: BoltOption(name=name, **entry.model_dump()) for name, entry in entries.items()}
