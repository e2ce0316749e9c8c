"""Which patches of a series stand alone, which need others, which conflict; and the builds that tell them apart.

`examine` tries the patches on a tree; `builds` decides from what it found, and is pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from burnish.base.errors import UserError
from burnish.source.patches.patch import Patch, PatchError
from burnish.source.patches.series import EVERY, TAKEN, Named

Refusal = Callable[[Sequence[Patch]], PatchError | None]
"""Why patches, in this order, do not apply to the tree; None where they do."""


class Kind(StrEnum):
    """What a build of a series is for."""

    ALONE = "alone"
    WITH_NEEDS = "with needs"
    ALL = "all"
    ALL_BUT = "all but it"
    NEEDS = "its needs"


@dataclass(frozen=True)
class Member:
    """A patch of the series.

    Attributes:
        named: the patch.
        needs: names of earlier patches that it does not apply without, in order.
    """

    named: Named
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The patch's name."""
        return self.named.name


@dataclass(frozen=True)
class Build:
    """The tree with some patches of the series.

    Attributes:
        variant: its name.
        kind: what it is for.
        patch: which patch it is about; '' for all.
        patches: names of its patches, in the order in which they are applied.
        also: what else it is, in words, as ``all but a``: asked for as well, made once.
    """

    variant: str
    kind: Kind
    patch: str
    patches: tuple[str, ...]
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Builds:
    """What is built of a series beside the unpatched tree.

    Attributes:
        members: the patches, in the order in which they are applied.
        builds: in the order in which they are made and shown.
        left_out: (patch, kind, why) of what can't be built.
    """

    members: tuple[Member, ...]
    builds: tuple[Build, ...]
    left_out: tuple[tuple[str, Kind, str], ...] = ()

    def patches_of(self, build: Build) -> tuple[Patch, ...]:
        """The patches of a build, in the order in which they are applied."""
        return tuple(member.named.patch for member in self.members if member.name in build.patches)


def examine(series: Sequence[Named], refusal: Refusal, what: str) -> tuple[Member, ...]:
    """The patches in the order in which they are applied, each with those that it needs.

    What is taken out goes first, the last of the series before the others; then what is put in, in order.

    Args:
        series: the patches as they were named.
        refusal: tries patches on the tree.
        what: the tree's name and version.

    Raises:
        UserError: a patch is for another tree (file and hunk), is in the tree already or, to be taken out, is not; or
            two of them conflict (which two, file and hunk).
    """
    backwards = [each for each in reversed(series) if each.patch.reverted]
    found: list[Member] = []
    for each in [*backwards, *(each for each in series if not each.patch.reverted)]:
        failed = refusal([*_patches(found), each.patch])
        if failed is not None:
            raise _conflict(each, found, refusal) or _foreign(each, series, refusal, what, failed)
        alone = refusal([each.patch]) if found else None
        found.append(Member(each, () if alone is None else _needed(each, found, refusal)))
    return tuple(found)


def _patches(members: Sequence[Member]) -> list[Patch]:
    return [member.named.patch for member in members]


def dependants(name: str, members: Sequence[Member]) -> tuple[str, ...]:
    """Names of the patches that need this one, in order."""
    return tuple(member.name for member in members if name in member.needs)


def _without(members: Sequence[Member], name: str) -> list[Member]:
    """What is left without a patch and without all that need it."""
    gone = {name, *dependants(name, members)}
    return [member for member in members if member.name not in gone]


def _needed(each: Named, before: Sequence[Member], refusal: Refusal) -> tuple[str, ...]:
    """The fewest of the patches before one that it applies with; what these need is among them."""
    left = list(before)
    for member in reversed(before):
        rest = _without(left, member.name)
        if len(rest) < len(left) and refusal([*_patches(rest), each.patch]) is None:
            left = rest
    return tuple(member.name for member in left)


def _conflict(each: Named, before: Sequence[Member], refusal: Refusal) -> UserError | None:
    """The patch before this one after which it no longer applies; None where it never does."""
    failed: PatchError | None = None
    for count in range(len(before), -1, -1):
        now = refusal([*_patches(before[:count]), each.patch])
        if now is None and failed is not None:
            other = before[count].name
            return UserError(
                f"{other} and {each.name} conflict: after {other}, {each.origin} no longer applies ({failed.why}); "
                "mend one of them, or study them apart"
            )
        failed = now
    return None


def _foreign(each: Named, series: Sequence[Named], refusal: Refusal, what: str, failed: PatchError) -> UserError:
    """What to say of a patch that does not apply: the tree has it already, or lacks what is to be taken out."""
    if each.patch.reverted:
        if refusal([each.patch.turned]) is not None:
            return failed
        return UserError(
            f"{each.origin}: {what} does not have it, so it cannot be taken out; leave --reverse out to put it in"
        )
    # Of several the first can often only be taken out after those behind it.
    for count in range(len(series), 1, -1):
        there = series[:count]
        if each in there and refusal([other.patch.turned for other in reversed(there)]) is None:
            names = [other.name for other in there]
            said = f"all {count} patches" if count == len(series) else f"{', '.join(names)}"
            words = [EVERY] if count == len(series) else names
            return _there(f"{what} has {said} already", words)
    if refusal([each.patch.turned]) is not None:
        return failed
    return _there(f"{each.origin}: {what} has it already", [each.name])


def _there(said: str, names: Sequence[str]) -> UserError:
    words = " ".join(f"--reverse {name}" for name in names)
    return UserError(f"{said}; leave it out, or say {words} to compare the tree as it is with itself without")


def builds(members: Sequence[Member], refusal: Refusal) -> Builds:
    """The builds that tell the patches apart: each alone, all together, each left out.

    A patch that needs others comes with them, and there is a build of these to hold it against. All but one leaves
    out what needs that one, too. What is the same set of patches is one build: with two patches, all but one is the
    other alone.

    Args:
        members: from `examine`.
        refusal: tries patches on the tree.
    """
    found: dict[frozenset[str], Build] = {}
    left_out: list[tuple[str, Kind, str]] = []
    used = set(TAKEN)

    def unique(name: str) -> str:
        number, free = 1, name
        while free in used:
            number += 1
            free = f"{name}-{number}"
        used.add(free)
        return free

    def add(kind: Kind, patch: str, chosen: Collection[str], name: str) -> None:
        key = frozenset(chosen)
        if not key:
            return
        if key in found:
            if found[key].kind is not kind or found[key].patch != patch:
                found[key] = replace(found[key], also=(*found[key].also, _words(kind, patch)))
            return
        mine = [member for member in members if member.name in key]
        refused = refusal(_patches(mine))
        if refused is not None:
            left_out.append((patch, kind, refused.why))
            return
        variant = EVERY if kind is Kind.ALL else unique(name)
        found[key] = Build(variant, kind, patch, tuple(member.name for member in mine))

    names = [member.name for member in members]
    dependent = [member for member in members if member.needs]
    whole = [member for member in dependent if {*member.needs, member.name} == {*names}]
    for member in members:
        if member not in whole:
            kind = Kind.WITH_NEEDS if member.needs else Kind.ALONE
            add(kind, member.name, (*member.needs, member.name), member.name)
    if len(names) > 1:
        add(Kind.ALL, "", names, EVERY)
    for member in whole:
        add(Kind.WITH_NEEDS, member.name, names, member.name)
    for member in members:
        rest = [other.name for other in _without(members, member.name)]
        add(Kind.ALL_BUT, member.name, rest, f"all-but-{member.name}")
    for member in dependent:
        add(Kind.NEEDS, member.name, member.needs, f"before-{member.name}")
    return Builds(tuple(members), tuple(found.values()), tuple(left_out))


def _words(kind: Kind, patch: str) -> str:
    """What a build is, in a sentence."""
    return {
        Kind.ALONE: f"{patch} alone",
        Kind.WITH_NEEDS: f"{patch} with what it needs",
        Kind.ALL: "all",
        Kind.ALL_BUT: f"all but {patch}",
        Kind.NEEDS: f"what {patch} needs",
    }[kind]
