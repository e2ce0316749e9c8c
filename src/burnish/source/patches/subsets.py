"""Which patches of a series apply alone, which need others, which conflict; and the builds that measure each of them.

`examine` tries the patches on a tree; `builds` derives the builds from its result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from burnish.base.errors import UserError
from burnish.source.patches.patch import Patch, PatchError
from burnish.source.patches.series import EVERY, TAKEN, Named

Refusal = Callable[[Sequence[Patch]], PatchError | None]
"""Why patches, in this order, do not apply to the tree; None if they do."""


class Kind(StrEnum):
    """The purpose of a build of a series."""

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
    """A build of the tree with some patches of the series.

    Attributes:
        variant: its name.
        kind: its purpose.
        patch: the patch that it measures; '' for all.
        patches: names of its patches, in the order in which they are applied.
        also: other purposes that it serves, in words (``all but a``): made only once.
    """

    variant: str
    kind: Kind
    patch: str
    patches: tuple[str, ...]
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Builds:
    """The builds of a series besides the unpatched tree.

    Attributes:
        members: the patches, in the order in which they are applied.
        builds: the builds, in the order in which they are made and shown.
        left_out: (patch, kind, why) of builds that cannot be made.
    """

    members: tuple[Member, ...]
    builds: tuple[Build, ...]
    left_out: tuple[tuple[str, Kind, str], ...] = ()

    def patches_of(self, build: Build) -> tuple[Patch, ...]:
        """The patches of a build, in the order in which they are applied."""
        return tuple(member.named.patch for member in self.members if member.name in build.patches)


def examine(series: Sequence[Named], refusal: Refusal, what: str) -> tuple[Member, ...]:
    """The patches in the order in which they are applied, each with those that it needs.

    Reverted patches come first, in reverse order of the series; then applied ones, in order.

    Args:
        series: the named patches.
        refusal: tries patches on the tree.
        what: the tree's name and version.

    Raises:
        UserError: a patch is for another tree (file and hunk), is in the tree already or, to be reverted, is not; or
            two of them conflict (which two, file and hunk).
    """
    backwards = [named for named in reversed(series) if named.patch.reverted]
    members: list[Member] = []
    for named in [*backwards, *(named for named in series if not named.patch.reverted)]:
        failed = refusal([*_patches(members), named.patch])
        if failed is not None:
            raise _conflict(named, members, refusal) or _foreign(named, series, refusal, what, failed)
        alone = refusal([named.patch]) if members else None
        members.append(Member(named, () if alone is None else _needed(named, members, refusal)))
    return tuple(members)


def _patches(members: Sequence[Member]) -> list[Patch]:
    return [member.named.patch for member in members]


def dependants(name: str, members: Sequence[Member]) -> tuple[str, ...]:
    """Names of the patches that need this one, in order."""
    return tuple(member.name for member in members if name in member.needs)


def _without(members: Sequence[Member], name: str) -> list[Member]:
    """The patches without one of them and without all that need it."""
    gone = {name, *dependants(name, members)}
    return [member for member in members if member.name not in gone]


def _needed(named: Named, before: Sequence[Member], refusal: Refusal) -> tuple[str, ...]:
    """Names of the fewest earlier patches with which a patch applies, those that these need included."""
    left = list(before)
    for member in reversed(before):
        rest = _without(left, member.name)
        if len(rest) < len(left) and refusal([*_patches(rest), named.patch]) is None:
            left = rest
    return tuple(member.name for member in left)


def _conflict(named: Named, before: Sequence[Member], refusal: Refusal) -> UserError | None:
    """The error that names the earlier patch after which this one no longer applies; None if it never applies."""
    failed: PatchError | None = None
    for count in range(len(before), -1, -1):
        now = refusal([*_patches(before[:count]), named.patch])
        if now is None and failed is not None:
            other = before[count].name
            return UserError(
                f"{other} and {named.name} conflict: after {other}, {named.origin} no longer applies ({failed.why}); "
                "fix one of them, or study them separately"
            )
        failed = now
    return None


def _foreign(named: Named, series: Sequence[Named], refusal: Refusal, what: str, failed: PatchError) -> UserError:
    """The error for a patch that does not apply: the tree has it already, or does not have what is to be reverted."""
    if named.patch.reverted:
        if refusal([named.patch.turned]) is not None:
            return failed
        return UserError(
            f"{named.origin}: {what} does not have it, so it cannot be taken out; leave --reverse out to put it in"
        )
    # The first of several patches can often only be reverted after the later ones.
    for count in range(len(series), 1, -1):
        first_patches = series[:count]
        if (
            named in first_patches
            and refusal([named_patch.patch.turned for named_patch in reversed(first_patches)]) is None
        ):
            names = [named_patch.name for named_patch in first_patches]
            subject = f"all {count} patches" if count == len(series) else f"{', '.join(names)}"
            words = [EVERY] if count == len(series) else names
            return _already_applied(f"{what} has {subject} already", words)
    if refusal([named.patch.turned]) is not None:
        return failed
    return _already_applied(f"{named.origin}: {what} has it already", [named.name])


def _already_applied(message: str, names: Sequence[str]) -> UserError:
    words = " ".join(f"--reverse {name}" for name in names)
    return UserError(f"{message}; leave it out, or say {words} to compare the tree as it is with itself without")


def builds(members: Sequence[Member], refusal: Refusal) -> Builds:
    """The builds that measure the patches: each alone, all together, all but each.

    A patch that needs others is built with them, and compared with a build of these only. "All but one" also leaves
    out the patches that need that one. The same set of patches is built once: with two patches, all but one is the
    other alone.

    Args:
        members: from `examine`.
        refusal: tries patches on the tree.
    """
    by_patches: dict[frozenset[str], Build] = {}
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
        if key in by_patches:
            if by_patches[key].kind is not kind or by_patches[key].patch != patch:
                by_patches[key] = replace(by_patches[key], also=(*by_patches[key].also, _words(kind, patch)))
            return
        own_members = [member for member in members if member.name in key]
        refused = refusal(_patches(own_members))
        if refused is not None:
            left_out.append((patch, kind, refused.why))
            return
        variant = EVERY if kind is Kind.ALL else unique(name)
        by_patches[key] = Build(variant, kind, patch, tuple(member.name for member in own_members))

    names = [member.name for member in members]
    dependent = [member for member in members if member.needs]
    needing_all = [member for member in dependent if {*member.needs, member.name} == {*names}]
    for member in members:
        if member not in needing_all:
            kind = Kind.WITH_NEEDS if member.needs else Kind.ALONE
            add(kind, member.name, (*member.needs, member.name), member.name)
    if len(names) > 1:
        add(Kind.ALL, "", names, EVERY)
    for member in needing_all:
        add(Kind.WITH_NEEDS, member.name, names, member.name)
    for member in members:
        rest = [other.name for other in _without(members, member.name)]
        add(Kind.ALL_BUT, member.name, rest, f"all-but-{member.name}")
    for member in dependent:
        add(Kind.NEEDS, member.name, member.needs, f"before-{member.name}")
    return Builds(tuple(members), tuple(by_patches.values()), tuple(left_out))


def _words(kind: Kind, patch: str) -> str:
    """The build as part of a sentence."""
    return {
        Kind.ALONE: f"{patch} alone",
        Kind.WITH_NEEDS: f"{patch} with what it needs",
        Kind.ALL: "all",
        Kind.ALL_BUT: f"all but {patch}",
        Kind.NEEDS: f"what {patch} needs",
    }[kind]
