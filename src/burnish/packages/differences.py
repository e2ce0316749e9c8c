"""What a server that takes the place of the distribution's lacks, has besides, or does otherwise; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from burnish.engines.packaged import Account, PluginTrial
from burnish.model.engine import Packaging
from burnish.program.built import LINKED, differing

_MOST = 5


class Weight(StrEnum):
    """What a difference means for the package."""

    LOSS = "loss"
    """Something that the distribution's server does is lost or done otherwise: refused unless accepted."""
    NOTED = "noted"
    """Said, and no more: a version string, something that was added, a plugin that could not be tried here."""


@dataclass(frozen=True)
class Difference:
    """One difference to the distribution's server.

    Attributes:
        name: what it is of, as ``--accept`` takes it: a plugin, a setting, ``source``.
        what: the difference in words.
        weight: whether the package is refused for it.
        accepted: whether the user accepted it.
    """

    name: str
    what: str
    weight: Weight
    accepted: bool = False

    @property
    def refused(self) -> bool:
        """Whether no package is made for it."""
        return self.weight is Weight.LOSS and not self.accepted


def of_accounts(theirs: Account, ours: Account, packaging: Packaging) -> list[Difference]:
    """Everything that two servers say of themselves otherwise; some settings only describe the build."""
    found = []
    for kind in dict.fromkeys(("setting", *theirs)):
        describing = packaging.describing if kind == "setting" else frozenset()
        found += _of_kind(kind, theirs.get(kind, {}), ours.get(kind, {}), describing)
    return found


def _of_kind(
    kind: str, theirs: Mapping[str, str], ours: Mapping[str, str], describing: Collection[str]
) -> list[Difference]:
    """What is missing, added, or otherwise; of `describing` it is no loss if it is otherwise."""
    found = []
    for name in sorted(theirs.keys() | ours.keys()):
        if name not in ours:
            found.append(Difference(name, f"{kind} {name} is missing", Weight.LOSS))
        elif name not in theirs:
            found.append(Difference(name, f"{kind} {name} is added", Weight.NOTED))
        elif theirs[name] != ours[name]:
            what = f"{kind} {name} is {ours[name] or 'empty'}, was {theirs[name] or 'empty'}"
            found.append(Difference(name, what, Weight.NOTED if name in describing else Weight.LOSS))
    return found


_LINKED_IN, _RUNTIME = "-static-libstdc++", "libstdc++.so"
"""The flag that links the compiler's library in, and that library. That it is then missing loses nothing: what a
program needs of it is in it, and plugins bring their own. (libgcc is named by no feature.) Of other libraries, OpenSSL
for one, it is a loss all the same: the distribution keeps them safe."""


def of_libraries(theirs: Mapping[str, str], ours: Mapping[str, str], link: Collection[str] = ()) -> list[Difference]:
    """Shared libraries that only one of the programs is linked with, and that the other does not load at all.

    Args:
        theirs: the libraries of the distribution's program, each `LINKED` or `THROUGH`.
        ours: those of the new program.
        link: flags of the new program's link.
    """
    lost, added = (
        [name for name in differing(theirs, ours) if program.get(name) == LINKED] for program in (theirs, ours)
    )
    return [
        *(
            Difference(name, f"library {name} is part of the program", Weight.NOTED)
            if _LINKED_IN in link and name.startswith(_RUNTIME)
            else Difference(name, f"library {name} is not linked", Weight.LOSS)
            for name in lost
        ),
        *(Difference(name, f"library {name} is linked too", Weight.NOTED) for name in added),
    ]


def of_exports(
    theirs: frozenset[str], ours: frozenset[str], imported: Mapping[str, frozenset[str]]
) -> list[Difference]:
    """Dynamic symbols that the server no longer has; a loss where a plugin of the distribution needs one.

    Args:
        theirs: symbols that the distribution's program exports.
        ours: symbols that the new program exports.
        imported: by plugin, the symbols that it needs from outside.
    """
    found = []
    gone = theirs - ours
    for plugin, symbols in sorted(imported.items()):
        if needed := sorted(symbols & gone):
            found.append(
                Difference(plugin, f"plugin {plugin} needs symbols that are gone: {some(needed)}", Weight.LOSS)
            )
    needed_by_any = frozenset[str]().union(*imported.values()) if imported else frozenset[str]()
    if unused := gone - needed_by_any:
        what = f"{len(unused):,} of {len(theirs):,} exported symbols are gone; no plugin of the distribution needs one"
        found.append(Difference("exports", what, Weight.NOTED))
    return found


def of_plugins(theirs: Mapping[str, PluginTrial], ours: Mapping[str, PluginTrial]) -> list[Difference]:
    """Plugins that load into the distribution's server and not into the new one, or answer otherwise there."""
    found = []
    for name, before in sorted(theirs.items()):
        after = ours.get(name, PluginTrial(False, ("it was not tried",)))
        if before == after and before.loaded:
            continue
        if before == after:
            why = "; ".join(before.outcome)
            what = f"plugin {name} can be loaded by neither server here: {why}"
            found.append(Difference(name, what, Weight.NOTED))
        elif before.loaded and not after.loaded:
            found.append(Difference(name, f"plugin {name} does not load: {'; '.join(after.outcome)}", Weight.LOSS))
        else:
            one, other = _first(before.outcome, after.outcome)
            found.append(Difference(name, f"plugin {name}: {other!r}, was {one!r}", Weight.LOSS))
    return found


def _first(theirs: Sequence[str], ours: Sequence[str]) -> tuple[str, str]:
    """The first pair of lines that differ."""
    length = max(len(theirs), len(ours))
    for one, other in zip([*theirs, *[""] * length], [*ours, *[""] * length], strict=False):
        if one != other:
            return one, other
    return "", ""


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {more:,} more" if more > 0 else "")


def accepting(found: Iterable[Difference], accepted: Iterable[str]) -> tuple[list[Difference], list[str]]:
    """(differences with those of these names accepted, names that fit none of them)."""
    names = frozenset(accepted)
    listed = list(found)
    marked = [
        Difference(one.name, one.what, one.weight, one.name in names and one.weight is Weight.LOSS) for one in listed
    ]
    return marked, sorted(names - {one.name for one in listed})
