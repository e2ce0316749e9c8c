"""How a row of a bundled study relates to what was published: the same, a stand-in for it, or something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from burnish.base.errors import UserError
from burnish.catalogue.edge import Entry, Reason

Kind = Literal["as published", "stand-in", "different"]

KINDS: tuple[Kind, ...] = get_args(Kind)
"""From the nearest to the farthest."""

AS_PUBLISHED, STAND_IN, DIFFERENT = KINDS


@dataclass(frozen=True)
class Likeness:
    """How near a comparison is to the published one.

    Attributes:
        kind: ``as published``: the published change, on today's server, compiler and host. ``stand-in``: what is
            nearest today to something that is gone or that nobody can repeat, so that its result is an answer for
            today. ``different``: something else, so that its result is no answer to the published claim.
        unlike: what is not as published, in prose; empty for ``as published``.
    """

    kind: Kind
    unlike: tuple[str, ...] = ()


def farthest(parts: Sequence[Likeness]) -> Likeness:
    """The likeness of what has several: the farthest, with the reasons of all."""
    kind = max((part.kind for part in parts), key=KINDS.index)
    return Likeness(kind, tuple(dict.fromkeys(reason for part in parts for reason in part.unlike)))


class Compared(Entry):
    """The keys of a part of a study's file that say how it relates to what was published."""

    likeness: Kind | None = None
    unlike: Reason | None = None

    @model_validator(mode="after")
    def _reasoned(self) -> Self:
        if self.likeness in (STAND_IN, DIFFERENT) and self.unlike is None:
            raise ValueError(f"likeness = {self.likeness!r}: say in `unlike` what is not as published")
        if self.likeness in (None, AS_PUBLISHED) and self.unlike is not None:
            raise ValueError(f"`unlike` belongs to likeness = {STAND_IN!r} or {DIFFERENT!r}")
        return self

    @property
    def compared(self) -> Likeness | None:
        """The keys as a value; None if the part does not say."""
        if self.likeness is None:
            return None
        return Likeness(self.likeness, (self.unlike,) if self.unlike else ())


def needed(likeness: Likeness | None, where: str) -> None:
    """Raises a `UserError` if a row with a published figure does not say how it relates to it."""
    if likeness is None:
        kinds = ", ".join(map(repr, KINDS))
        raise UserError(
            f"{where}: it has a published figure, so say how it relates to it: likeness = {kinds} (with the reason in "
            "`unlike` for the last two)"
        )


class Unanswered(Entry):
    """A part of the published tables that no row answers, as in a study's file."""

    title: str = Field(min_length=3)
    reason: Reason
    table: str = ""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class NotReplicated:
    """A part of the published tables without any counterpart.

    Attributes:
        title: which part.
        reason: why nothing stands for it, and what would.
        table: the published table, if it is whole lines of one.
        lines: these lines.
    """

    title: str
    reason: str
    table: str = ""
    lines: tuple[str, ...] = ()
