"""The catalogue of patches to servers: sets of them by name, each patch with its reason and where it can show.

A set is a TOML file and a folder of unified diffs beside it. A patch either puts something into the tree that it
lacks, or takes something out that it has: then the patched tree is the one *without*.
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
"""Begins the name of a shipped patch in a recipe or on a command line: ``patches/arm-2020/crc32c-hardware``."""


@dataclass(frozen=True)
class Load:
    """A load on which a patch must show if it does anything.

    Attributes:
        workload: as ``--workload`` takes it.
        settings: as ``--set`` takes them, as (name, value).
        reason: why it must show there.
    """

    workload: str
    settings: tuple[tuple[str, str], ...]
    reason: str

    @property
    def words(self) -> tuple[str, ...]:
        """The settings as words of ``--set``."""
        return tuple(f"{name}={value}" for name, value in self.settings)


@dataclass(frozen=True)
class CataloguePatch:
    """An entry of a set.

    Attributes:
        name: within its set.
        set: the set's name.
        title: in a few words.
        bugs: numbers of bug reports at bugs.mysql.com.
        direction: whether the patch puts in what the tree lacks (applied) or takes out what it has (reverted); none:
            the tree has nothing to patch.
        does: what the patched tree does otherwise.
        reason: why it is here, or why there is no patch.
        published: what was published of it.
        today: its state in the tree.
        touches: files of the tree that it changes.
        loads: where it must show.
        micro: microbenchmarks that show it.
        on: what each architecture can show of it; empty without a patch.
        marks: what the patched build costs beyond time.
        in_set: whether it is part of the whole set, as published; else it is only measured alone.
        path: the unified diff (``-p1``); None where there is none.
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
        """Its name among all shipped patches."""
        return f"{WORD}{self.set}/{self.name}"

    def ability(self, architecture: str) -> Ability | None:
        """What that architecture, as the kernel names it, can show; None without a patch or where nobody looked."""
        return next((can for name, can in self.on.items() if name == architecture), None)


@dataclass(frozen=True)
class PatchSet:
    """Patches that were published together.

    Attributes:
        name: the set's.
        engine: whose tree they are for.
        title: of the publication.
        tree: the tree's release, as its version begins.
        table: the published figures, by the name of the table in the catalogue.
        reason: why the set is here.
        patches: by name, in the publication's order.
    """

    name: str
    engine: str
    title: str
    tree: str
    table: str
    reason: str
    patches: Mapping[str, CataloguePatch]

    def measurable(self, architecture: str) -> list[CataloguePatch]:
        """Those of the whole set whose machine code differs on that architecture, controls included."""
        abilities = ("shows", "control")
        return [each for each in self.patches.values() if each.in_set and each.ability(architecture) in abilities]

    def sides(self, architecture: str) -> tuple[list[Path], list[Path]]:
        """(patches of the tree without the set, patches of the tree with it) for that architecture."""
        mine = self.measurable(architecture)
        without, with_ = (
            [path for each in mine if each.direction == direction and (path := each.path)]
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
    def _whole(self) -> _Patch:
        said = {"touches": self.touches, "loads": self.loads, "on": self.on}
        for name, value in said.items():
            if self.direction == "none" and value:
                raise ValueError(f"without a patch there is nothing to say in {name}; leave it out")
            if self.direction != "none" and not value:
                raise ValueError(f"say {name} of the patch, or direction = 'none' and why in reason")
        return self


@cache
def patch_sets() -> Mapping[str, PatchSet]:
    """All sets by name."""
    return {path.stem: read_set(path) for path in sorted((ROOT / "patches").glob("*.toml"))}


def read_set(path: Path) -> PatchSet:
    """The set in a TOML file of the catalogue's form, its diffs in the folder of the same name beside it.

    Raises:
        UserError: an entry that says too little or contradicts itself, or whose diff is not there.
    """
    values = read_toml(path)
    about = validated(_About, values.pop("about", {}), f"{path.name}: about")
    found = {}
    for name, value in values.items():
        where = f"{path.name}: {name}"
        entry = validated(_Patch, value, where)
        file = path.with_suffix("") / f"{name}.patch"
        if entry.direction != "none" and not file.is_file():
            raise UserError(f"{where}: there is no file {file.parent.name}/{file.name}; add it, or direction = 'none'")
        found[name] = _patch(name, file, entry)
    return PatchSet(
        name=path.stem,
        engine=about.engine,
        title=about.title,
        tree=about.tree,
        table=about.table,
        reason=about.reason,
        patches=found,
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
        loads=tuple(Load(each.workload, each.set, each.reason) for each in entry.loads),
        micro=entry.micro,
        on=entry.on,
        marks=Marks(**{each.name: getattr(entry, each.name) for each in fields(Marks)}),
        in_set=entry.in_set,
        path=None if entry.direction == "none" else file,
    )


def patch_set(name: str) -> PatchSet:
    """The set called `name`; a `UserError` with the nearest name otherwise."""
    if name not in patch_sets():
        raise unknown("set of patches", name, patch_sets())
    return patch_sets()[name]


def entry(word: str) -> CataloguePatch:
    """The entry that `word` names (``patches/SET/NAME``, or ``SET/NAME``); a `UserError` with the nearest name."""
    its_set, _, name = word.removeprefix(WORD).partition("/")
    known = patch_set(its_set).patches
    if name not in known:
        raise unknown(f"patch of {its_set}", name, known)
    return known[name]


def patch(word: str) -> CataloguePatch:
    """The shipped patch that `word` names, as `entry` does; a `UserError` also where it says why it has no diff."""
    found = entry(word)
    if found.path is None:
        raise UserError(f"{word}: there is no patch for this tree: {found.reason}")
    return found


def located(word: str) -> Path:
    """The diff that a word of a command line means: a shipped patch's, or the file of that path."""
    its_set = word.removeprefix(WORD).partition("/")[0]
    if word.startswith(WORD) and its_set in patch_sets() and not Path(word).exists():
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
        "loads": [{"workload": each.workload, "set": each.words, "reason": each.reason} for each in entry.loads],
        "micro": entry.micro,
        "on": dict(entry.on),
        **vars(entry.marks),
    }


def table(found: PatchSet) -> list[str]:
    """A Markdown table of a set: what each patch is, its state in the tree, where it can show; a line each."""
    head = ("patch", "bugs", f"in {found.engine} {found.tree}", "x86-64", "aarch64", "loads", "micro")
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for each in found.patches.values():
        loads = [" ".join(f"`{word}`" for word in (load.workload, *load.words)) for load in each.loads]
        cells = [
            f"`{each.name}`: {each.title}",
            ", ".join(map(str, each.bugs)),
            f"{'no patch' if each.direction == 'none' else each.direction}: {each.today}",
            each.on.get("x86_64", "-"),
            each.on.get("aarch64", "-"),
            "; ".join(loads) or "-",
            ", ".join(f"`{name}`" for name in each.micro) or "-",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines
