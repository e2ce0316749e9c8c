"""The catalogue of compiler and linker flags, and of processors to build for: named entries, each with its reason.

An entry says what it does once; how it is spelled depends on the toolchain's family. A family that has no such thing
says why. Three marks warn of what an entry costs beyond time: it changes results, narrows where the build runs, or
weakens its security.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, get_args

from pydantic import Field, model_validator

from burnish.base.errors import UserError, unknown
from burnish.base.processor import Processor
from burnish.catalogue.edge import ROOT, Entry, Reason, read_toml, validated
from burnish.model.family import FAMILIES, Family
from burnish.model.recipe import Marks, Recipe

LEVEL = "level"
"""The choice whose entries set the optimisation level."""


@dataclass(frozen=True)
class Spelling:
    """How one toolchain family says an entry.

    Attributes:
        c: flags for C.
        cxx: flags for C++.
        link: flags for the link.
        since: first major version that takes them; 0: all that matter.
        reason: what is special about this spelling, if anything is.
        after_counters: whether they act only after the compiler has placed the counters of a profile, so that a
            build that counts comes to the same counts without them.
    """

    c: tuple[str, ...] = ()
    cxx: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    since: int = 0
    reason: str = ""
    after_counters: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """Every flag once, compile flags first."""
        return tuple(dict.fromkeys((*self.c, *self.cxx, *self.link)))


@dataclass(frozen=True)
class Flag:
    """An entry of the catalogue.

    Attributes:
        name: as a recipe says it.
        topic: the file that it stands in.
        does: what it does.
        reason: why one would include it.
        spellings: by family.
        absent: why a family has no such thing, by family.
        choice: entries of one choice exclude each other.
        excludes: names of other entries that it contradicts.
        architecture: machines that have it; empty: all.
        requires_profile: whether it does something only in a build with a profile.
        marks: what it costs beyond time.
    """

    name: str
    topic: str
    does: str
    reason: str
    spellings: Mapping[Family, Spelling]
    absent: Mapping[Family, str]
    choice: str | None
    excludes: tuple[str, ...]
    architecture: tuple[str, ...]
    requires_profile: bool
    marks: Marks


_QUIET = ("-Wno-unknown-warning-option", "-Wno-invalid-feature-combination")


@dataclass(frozen=True)
class Target:
    """A processor, or a level of an instruction set, that code is built for.

    Attributes:
        name: as a recipe says it.
        reason: why one would want it.
        architecture: as the kernel names it; None: whatever the host is.
        march: value of ``-march``; None: instructions stay the package's.
        tune: value of ``-mtune``; None: follows `march`.
        native: whether it means the processor of the host that builds.
        needs: words of /proc/cpuinfo that a host must have to run the build.
        since: first major version of each family that knows it; 0: all that matter.
    """

    name: str
    reason: str
    architecture: str | None
    march: str | None
    tune: str | None
    native: bool
    needs: frozenset[str]
    since: Mapping[Family, int]

    @property
    def flags(self) -> tuple[str, ...]:
        """The compile flags, the same for both languages and families."""
        given = (("-march", self.march), ("-mtune", self.tune))
        return tuple(f"{option}={value}" for option, value in given if value)

    def quiet(self, family: Family) -> tuple[str, ...]:
        """What keeps a family's compiler from warning of the target.

        clang 19 warns of every file where it finds AVX10.1 ("invalid feature combination: +avx10.1-256"), and a
        configure script takes a flag that warns for one that is not there: hardening would be lost unseen.
        """
        return _QUIET if family == "clang" and self.native and self.march else ()

    def runs_on(self, processor: Processor) -> bool:
        """Whether that processor can run what is built for this target."""
        return self.architecture in (None, processor.architecture) and self.needs <= processor.features

    @property
    def marks(self) -> Marks:
        """A build for more than its architecture's first level runs on fewer machines; where that adds fused
        multiplication (FMA), compilers use it, and a last digit may change."""
        fused = self.march is not None and (self.native or "fma" in self.needs)
        return Marks(changes_results=fused, narrows_portability=self.march not in (None, "x86-64", "armv8-a"))


class _Spelling(Entry):
    compile: tuple[str, ...] = ()
    c: tuple[str, ...] = ()
    cxx: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    since: int = 0
    reason: str = ""
    after_counters: bool = False

    @model_validator(mode="after")
    def _says_something(self) -> _Spelling:
        if not (self.compile or self.c or self.cxx or self.link):
            raise ValueError("give flags: compile, c, cxx or link")
        return self

    def value(self) -> Spelling:
        c, cxx = (*self.compile, *self.c), (*self.compile, *self.cxx)
        return Spelling(c, cxx, self.link, self.since, self.reason, self.after_counters)


class _Flag(Entry):
    does: str = Field(min_length=15)
    reason: Reason
    both: _Spelling | None = None
    gcc: _Spelling | str | None = None
    clang: _Spelling | str | None = None
    choice: str | None = None
    excludes: tuple[str, ...] = ()
    architecture: tuple[str, ...] = ()
    requires_profile: bool = False
    changes_results: bool = False
    narrows_portability: bool = False
    weakens_security: bool = False

    @model_validator(mode="after")
    def _for_each_family(self) -> _Flag:
        if (self.both is None) == (self.gcc is None or self.clang is None) or (self.both and (self.gcc or self.clang)):
            raise ValueError("say both, or gcc and clang, each as a table of flags or as the reason why there is none")
        return self

    def family(self, family: Family) -> _Spelling | str:
        said: _Spelling | str | None = self.both or (self.gcc if family == "gcc" else self.clang)
        assert said is not None  # noqa: S101 - validated above
        return said


class _Target(Entry):
    reason: Reason
    architecture: str | None = None
    march: str | None = None
    tune: str | None = None
    native: bool = False
    needs: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    gcc: int = 0
    clang: int = 0


@cache
def flags() -> Mapping[str, Flag]:
    """All entries of the flag catalogue by name, topic by topic."""
    found: dict[str, Flag] = {}
    for path in sorted((ROOT / "flags").glob("*.toml")):
        for name, value in read_toml(path).items():
            if name in found:
                raise UserError(f"{path.name}: {name}: is in {found[name].topic}.toml too; a name stands once")
            found[name] = _flag(name, path.stem, validated(_Flag, value, f"{path.name}: {name}"))
    for entry in found.values():
        for other in entry.excludes:
            if other not in found:
                raise unknown(f"entry in {entry.topic}.toml: {entry.name}: excludes", other, found)
    return found


def _flag(name: str, topic: str, entry: _Flag) -> Flag:
    said: dict[Family, _Spelling | str] = {family: entry.family(family) for family in FAMILIES}
    return Flag(
        name=name,
        topic=topic,
        does=entry.does,
        reason=entry.reason,
        spellings={family: value.value() for family, value in said.items() if isinstance(value, _Spelling)},
        absent={family: value for family, value in said.items() if isinstance(value, str)},
        choice=entry.choice,
        excludes=entry.excludes,
        architecture=entry.architecture,
        requires_profile=entry.requires_profile,
        marks=Marks(**{each.name: getattr(entry, each.name) for each in fields(Marks)}),
    )


@cache
def targets() -> Mapping[str, Target]:
    """All targets by name, each with the needs of those that it includes."""
    found: dict[str, Target] = {}
    for name, value in read_toml(ROOT / "targets.toml").items():
        entry = validated(_Target, value, f"targets.toml: {name}")
        for other in entry.includes:  # stands further up
            if other not in found:
                raise unknown(f"target before targets.toml: {name}", other, found)
        needs = frozenset(entry.needs).union(*(found[other].needs for other in entry.includes))
        found[name] = Target(
            name=name,
            reason=entry.reason,
            architecture=entry.architecture,
            march=entry.march,
            tune=entry.tune,
            native=entry.native,
            needs=needs,
            since={"gcc": entry.gcc, "clang": entry.clang},
        )
    return found


def flag(name: str) -> Flag:
    """The entry called `name`; a `UserError` with the nearest name otherwise."""
    if name not in flags():
        raise _unknown("flag", name, flags(), "burnish flags")
    return flags()[name]


def target(name: str) -> Target:
    """The target called `name`; a `UserError` with the nearest name otherwise."""
    if name not in targets():
        raise unknown("target", name, targets())
    return targets()[name]


def _unknown(what: str, name: str, known: Iterable[str], verb: str) -> UserError:
    """As `unknown`, for lists that are too long to be said."""
    said, _, _ = str(unknown(what, name, known)).partition("; there are: ")
    return UserError(f"{said}; `{verb}` lists them")


def check(recipe: Recipe, who: str) -> None:
    """Refuses what no toolchain could follow: names that are not there, entries that contradict each other.

    Args:
        recipe: as it was read.
        who: whose recipe it is, to begin the error with.

    Raises:
        UserError: names the entries, and what to do.
    """
    try:
        entries = [flag(name) for name in recipe.flags]
        if recipe.target is not None:
            target(recipe.target)
    except UserError as error:
        raise UserError(f"{who}: {error}") from None
    chosen: dict[str, str] = {LEVEL: f"level = {recipe.level!r}"} if recipe.level else {}
    for number, entry in enumerate(entries):
        if entry.name in recipe.flags[:number]:
            raise UserError(f"{who}: flag {entry.name!r} is named twice; name it once")
        if entry.choice:
            other = chosen.setdefault(entry.choice, entry.name)
            if other != entry.name:
                raise UserError(
                    f"{who}: flag {entry.name!r} contradicts {other!r} (one {entry.choice} at a time); leave one out"
                )
        for earlier in entries[:number]:
            if earlier.name in entry.excludes or entry.name in earlier.excludes:
                raise UserError(f"{who}: flag {entry.name!r} contradicts {earlier.name!r}; leave one out")
        if entry.requires_profile and not (recipe.pgo or recipe.profile or recipe.sampled):
            raise UserError(f"{who}: flag {entry.name!r} does something only with a profile; add pgo = true")


def marks(recipe: Recipe) -> Marks:
    """What a recipe costs beyond time: by its entries, by its target, and by raw flags that entries are spelled with.

    Args:
        recipe: with names that are all known.
    """
    found = Marks(weakens_security=not recipe.hardening)
    for name in recipe.flags:
        found |= flag(name).marks
    if recipe.target is not None:
        every = target(recipe.target).marks
        found |= replace(every, changes_results=False) if "fp-contract-off" in recipe.flags else every
    raw = {*recipe.c, *recipe.cxx, *recipe.link, *filter(None, [recipe.level])}
    said = [
        (len(each.words), entry)
        for entry in flags().values()
        for each in entry.spellings.values()
        if raw.issuperset(each.words)
    ]
    for length, entry in said:
        # -U_FORTIFY_SOURCE is no-fortify, but not when -D_FORTIFY_SOURCE=3 follows it.
        if not any(other.choice and other.choice == entry.choice and longer > length for longer, other in said):
            found |= entry.marks
    if any(word.startswith(("-march=", "-mcpu=")) for word in raw):
        found |= Marks(narrows_portability=True)
    return found


def search(entries: Iterable[Flag], words: Sequence[str]) -> list[Flag]:
    """The entries in whose name, description, reason or spelling all of `words` occur, case aside."""

    def text(entry: Flag) -> str:
        said = [entry.name, entry.topic, entry.does, entry.reason, *entry.absent.values(), *entry.marks.words]
        said += [part for each in entry.spellings.values() for part in (*each.words, each.reason)]
        return "\n".join(said).lower()

    return [entry for entry in entries if all(word.lower() in text(entry) for word in words)]


def target_as_json(entry: Target) -> dict[str, Any]:
    """A target as plain values."""
    return {
        "target": entry.name,
        "reason": entry.reason,
        "architecture": entry.architecture,
        "flags": entry.flags,
        "needs": sorted(entry.needs),
        "since": {family: since for family, since in entry.since.items() if since},
        **vars(entry.marks),
    }


def as_json(entry: Flag) -> dict[str, Any]:
    """An entry as plain values."""
    said: dict[str, Any] = {}
    for family in get_args(Family):
        each = entry.spellings.get(family)
        if each is None:
            said[family] = {"absent": entry.absent[family]}
        else:
            said[family] = {name: value for name, value in vars(each).items() if value}
    return {
        "flag": entry.name,
        "topic": entry.topic,
        "does": entry.does,
        "reason": entry.reason,
        "toolchains": said,
        "architecture": entry.architecture,
        "requires_profile": entry.requires_profile,
        "choice": entry.choice,
        "excludes": entry.excludes,
        **vars(entry.marks),
    }
