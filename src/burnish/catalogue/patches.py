"""The catalogue of patches to servers: sets of patches by name, each patch with its reason and its loads.

A set is a TOML file with a folder of unified diffs beside it. A patch either adds something to the tree, or removes
something that the tree already has: then the patched tree is the one *without* the change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from burnish.base.errors import UserError, unknown
from burnish.catalogue.edge import ROOT, Entry, Pairs, Reason, read_toml, validated
from burnish.model.recipe import Marks

Direction = Literal["applied", "reverted", "none"]
Ability = Literal["shows", "control", "identical"]
Architecture = Literal["x86_64", "aarch64"]

WORD = "patches/"
"""Prefix of a bundled patch's name in a recipe or on a command line: ``patches/arm-2020/crc32c-hardware``."""


@dataclass(frozen=True)
class Load:
    """A load on which the patch must have an effect, if it has any.

    Attributes:
        workload: as for ``--workload``.
        settings: as for ``--set``, as (name, value).
        reason: why the patch must have an effect on it.
    """

    workload: str
    settings: tuple[tuple[str, str], ...]
    reason: str

    @property
    def words(self) -> tuple[str, ...]:
        """The settings as values of ``--set``."""
        return tuple(f"{name}={value}" for name, value in self.settings)


@dataclass(frozen=True)
class CataloguePatch:
    """An entry of a set.

    Attributes:
        name: within its set.
        set: the set's name.
        title: in a few words.
        bugs: numbers of bug reports at bugs.mysql.com.
        direction: whether the patch adds what the tree lacks (applied) or removes what it has (reverted); none: the
            tree has nothing to patch.
        does: what the patched tree does differently.
        reason: why it is in the set, or why there is no patch.
        published: what was published about it.
        today: its state in the tree.
        touches: files of the tree that it changes.
        loads: loads on which it must have an effect.
        micro: microbenchmarks of the patched functions.
        on: what can be measured of it on each architecture; empty without a patch.
        marks: drawbacks of the patched build.
        in_set: whether it is part of the published set; otherwise it is only measured alone.
        path: the unified diff (``-p1``); None if there is none.
    """

    name: str
    set: str
    title: str
    bugs: tuple[int, ...]
    direction: Direction
    does: str
    reason: str
    published: str
    today: str
    touches: tuple[str, ...]
    loads: tuple[Load, ...]
    micro: tuple[str, ...]
    on: Mapping[Architecture, Ability]
    marks: Marks
    in_set: bool
    path: Path | None

    @property
    def word(self) -> str:
        """Its name among all bundled patches."""
        return f"{WORD}{self.set}/{self.name}"

    def ability(self, architecture: str) -> Ability | None:
        """What can be measured on that architecture, as the kernel names it; None without a patch or if unknown."""
        return next((ability for name, ability in self.on.items() if name == architecture), None)


@dataclass(frozen=True)
class PatchSet:
    """Patches that were published together.

    Attributes:
        name: name of the set.
        engine: engine of the patched tree.
        title: title of the publication.
        tree: release of the tree: the prefix of its version.
        table: name of the catalogue's table with the published figures.
        reason: why the set is in the catalogue.
        patches: patches by name, in the publication's order.
    """

    name: str
    engine: str
    title: str
    tree: str
    table: str
    reason: str
    patches: Mapping[str, CataloguePatch]

    def measurable(self, architecture: str) -> list[CataloguePatch]:
        """The patches of the published set that can be measured on that architecture, controls included."""
        abilities = ("shows", "control")
        return [patch for patch in self.patches.values() if patch.in_set and patch.ability(architecture) in abilities]

    def sides(self, architecture: str) -> tuple[list[Path], list[Path]]:
        """(patches of the tree without the set, patches of the tree with it) for that architecture."""
        measurable = self.measurable(architecture)
        without, with_ = (
            [path for patch in measurable if patch.direction == direction and (path := patch.path)]
            for direction in ("reverted", "applied")
        )
        return without, with_


class _About(Entry):
    engine: str
    title: str
    tree: str
    table: str
    reason: Reason


class _Load(Entry):
    workload: str
    set: Pairs = ()
    reason: Reason


class _Patch(Entry):
    title: str = Field(min_length=5)
    bugs: tuple[int, ...] = Field(min_length=1)
    direction: Direction
    does: str = Field(min_length=15)
    reason: Reason
    published: str = Field(min_length=5)
    today: str = Field(min_length=5)
    touches: tuple[str, ...] = ()
    loads: tuple[_Load, ...] = ()
    micro: tuple[str, ...] = ()
    on: dict[Architecture, Ability] = Field(default_factory=dict)
    in_set: bool = True
    changes_results: bool = False
    narrows_portability: bool = False
    weakens_security: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> _Patch:
        fields_of_patch = {"touches": self.touches, "loads": self.loads, "on": self.on}
        for name, value in fields_of_patch.items():
            if self.direction == "none" and value:
                raise ValueError(f"{name} has no meaning without a patch; leave it out")
            if self.direction != "none" and not value:
                raise ValueError(f"say {name} of the patch, or direction = 'none' and why in reason")
        return self


@cache
def patch_sets() -> Mapping[str, PatchSet]:
    """All sets by name."""
    return {path.stem: read_set(path) for path in sorted((ROOT / "patches").glob("*.toml"))}


def read_set(path: Path) -> PatchSet:
    """The set of a TOML file in the catalogue's format; its diffs are in the folder of the same name.

    Raises:
        UserError: an entry is incomplete or contradictory, or its diff is missing.
    """
    values = read_toml(path)
    about = validated(_About, values.pop("about", {}), f"{path.name}: about")
    entries = {}
    for name, value in values.items():
        where = f"{path.name}: {name}"
        entry = validated(_Patch, value, where)
        file = path.with_suffix("") / f"{name}.patch"
        if entry.direction != "none" and not file.is_file():
            raise UserError(f"{where}: there is no file {file.parent.name}/{file.name}; add it, or direction = 'none'")
        entries[name] = _patch(name, file, entry)
    return PatchSet(
        name=path.stem,
        engine=about.engine,
        title=about.title,
        tree=about.tree,
        table=about.table,
        reason=about.reason,
        patches=entries,
    )


def _patch(name: str, file: Path, entry: _Patch) -> CataloguePatch:
    return CataloguePatch(
        name=name,
        set=file.parent.name,
        title=entry.title,
        bugs=entry.bugs,
        direction=entry.direction,
        does=entry.does,
        reason=entry.reason,
        published=entry.published,
        today=entry.today,
        touches=entry.touches,
        loads=tuple(Load(load.workload, load.set, load.reason) for load in entry.loads),
        micro=entry.micro,
        on=entry.on,
        marks=Marks(**{mark.name: getattr(entry, mark.name) for mark in fields(Marks)}),
        in_set=entry.in_set,
        path=None if entry.direction == "none" else file,
    )


def patch_set(name: str) -> PatchSet:
    """The set called `name`; a `UserError` with the nearest name otherwise."""
    if name not in patch_sets():
        raise unknown("set of patches", name, patch_sets())
    return patch_sets()[name]


def entry(word: str) -> CataloguePatch:
    """The entry called `word` (``patches/SET/NAME``, or ``SET/NAME``); a `UserError` with the nearest name."""
    set_name, _, name = word.removeprefix(WORD).partition("/")
    known = patch_set(set_name).patches
    if name not in known:
        raise unknown(f"patch of {set_name}", name, known)
    return known[name]


def patch(word: str) -> CataloguePatch:
    """The bundled patch called `word` (see `entry`); a `UserError` also for an entry without a diff."""
    bundled = entry(word)
    if bundled.path is None:
        raise UserError(f"{word}: there is no patch for this tree: {bundled.reason}")
    return bundled


def located(word: str) -> Path:
    """The path of a diff named on the command line: of a bundled patch or a file."""
    set_name = word.removeprefix(WORD).partition("/")[0]
    if word.startswith(WORD) and set_name in patch_sets() and not Path(word).exists():
        path = patch(word).path
        assert path is not None  # noqa: S101 - `patch` refuses those without
        return path
    return Path(word).expanduser()


def as_json(entry: CataloguePatch) -> dict[str, Any]:
    """An entry as plain values."""
    return {
        "patch": entry.word,
        "title": entry.title,
        "bugs": entry.bugs,
        "direction": entry.direction,
        "does": entry.does,
        "reason": entry.reason,
        "published": entry.published,
        "today": entry.today,
        "touches": entry.touches,
        "loads": [{"workload": load.workload, "set": load.words, "reason": load.reason} for load in entry.loads],
        "micro": entry.micro,
        "on": dict(entry.on),
        **vars(entry.marks),
    }


def table(patch_set: PatchSet) -> list[str]:
    """A Markdown table of a set, as lines: title, state in the tree, architectures and loads of each patch."""
    head = ("patch", "bugs", f"in {patch_set.engine} {patch_set.tree}", "x86-64", "aarch64", "loads", "micro")
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for patch in patch_set.patches.values():
        loads = [" ".join(f"`{word}`" for word in (load.workload, *load.words)) for load in patch.loads]
        cells = [
            f"`{patch.name}`: {patch.title}",
            ", ".join(map(str, patch.bugs)),
            f"{'no patch' if patch.direction == 'none' else patch.direction}: {patch.today}",
            patch.on.get("x86_64", "-"),
            patch.on.get("aarch64", "-"),
            "; ".join(loads) or "-",
            ", ".join(f"`{name}`" for name in patch.micro) or "-",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines
