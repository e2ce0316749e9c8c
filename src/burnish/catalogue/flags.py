"""The catalogue of compiler and linker flags and of target processors: named entries, each with a reason.

An entry describes its effect once; its spelling depends on the toolchain's family. For a family without such a flag it
states why. Three marks warn of an entry's drawbacks: it changes results, narrows portability, or weakens security.
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
    """An entry's spelling in one toolchain family.

    Attributes:
        c: flags for C.
        cxx: flags for C++.
        link: flags for the link.
        since: first major version that accepts them; 0: all supported ones.
        reason: remark about this spelling, or ''.
        after_counters: whether they take effect only after the compiler has inserted a profile's counters, so that an
            instrumented build without them has the same counts.
        counting: flags for both languages in an instrumented build alone.
        lto: flags for the link where it optimises (ThinLTO, LTO): what LLVM's own options must say to lld again.
        tried: whether they are tried on the compiler before they are used, because they come and go with its versions.
    """

    c: tuple[str, ...] = ()
    cxx: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    since: int = 0
    reason: str = ""
    after_counters: bool = False
    counting: tuple[str, ...] = ()
    lto: tuple[str, ...] = ()
    tried: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """Every flag of an ordinary build once, compile flags first."""
        return tuple(dict.fromkeys((*self.c, *self.cxx, *self.link)))


@dataclass(frozen=True)
class Flag:
    """An entry of the catalogue.

    Attributes:
        name: as in a recipe.
        topic: name of its file.
        does: what it does.
        reason: why one would use it.
        spellings: spellings by family.
        absent: by family without such a flag, why.
        choice: group of which a recipe can have only one entry; None: no group.
        excludes: names of other entries that it contradicts.
        architecture: architectures that have it; empty: all.
        requires_profile: whether it has an effect only in a build with a profile.
        marks: its drawbacks.
        requires_lto: whether it has an effect only with link-time optimisation.
        instead: entries that are taken, in order, where a compiler or a machine lacks this one; empty: it is left out
            then; None: the variant is.
        source: where it is from; '' for flags of the compilers' manuals.
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
    requires_lto: bool = False
    instead: tuple[str, ...] | None = None
    source: str = ""


_QUIET = ("-Wno-unknown-warning-option", "-Wno-invalid-feature-combination")


@dataclass(frozen=True)
class Target:
    """A processor or instruction-set level to build for.

    Attributes:
        name: as in a recipe.
        reason: why one would use it.
        architecture: as the kernel names it; None: any.
        march: value of ``-march``; None: the package's instructions.
        tune: value of ``-mtune``; None: follows `march`.
        native: whether it means the processor of the build host.
        needs: flags of /proc/cpuinfo that a host needs to run the build.
        since: by family, first major version that supports it; 0: all supported ones.
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
        """Flags that suppress a family's warnings about the target.

        On processors with AVX10.1, clang 19 warns about every file ("invalid feature combination: +avx10.1-256"), and
        configure scripts take a flag that causes a warning for an unsupported one: hardening would be lost silently.
        """
        return _QUIET if family == "clang" and self.native and self.march else ()

    def runs_on(self, processor: Processor) -> bool:
        """Whether that processor can run what is built for this target."""
        return self.architecture in (None, processor.architecture) and self.needs <= processor.features

    @property
    def marks(self) -> Marks:
        """Drawbacks of the target.

        A build for more than its architecture's lowest level runs on fewer machines. If the target adds fused
        multiply-add (FMA), compilers use it, and the last digit of a result may change.
        """
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
    counting: tuple[str, ...] = ()
    lto: tuple[str, ...] = ()
    tried: bool = False

    @model_validator(mode="after")
    def _says_something(self) -> _Spelling:
        if not (self.compile or self.c or self.cxx or self.link or self.counting or self.lto):
            raise ValueError("give flags: compile, c, cxx, link, counting or lto")
        return self

    def value(self) -> Spelling:
        c, cxx = (*self.compile, *self.c), (*self.compile, *self.cxx)
        after = (self.after_counters, self.counting, self.lto, self.tried)
        return Spelling(c, cxx, self.link, self.since, self.reason, *after)


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
    requires_lto: bool = False
    instead: tuple[str, ...] | None = None
    source: str = ""
    changes_results: bool = False
    narrows_portability: bool = False
    weakens_security: bool = False

    @model_validator(mode="after")
    def _for_each_family(self) -> _Flag:
        if (self.both is None) == (self.gcc is None or self.clang is None) or (self.both and (self.gcc or self.clang)):
            raise ValueError("say both, or gcc and clang, each as a table of flags or as the reason why there is none")
        return self

    def family(self, family: Family) -> _Spelling | str:
        spelling: _Spelling | str | None = self.both or (self.gcc if family == "gcc" else self.clang)
        assert spelling is not None  # noqa: S101 - validated above
        return spelling


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
    entries: dict[str, Flag] = {}
    for path in sorted((ROOT / "flags").glob("*.toml")):
        for name, value in read_toml(path).items():
            if name in entries:
                raise UserError(f"{path.name}: {name}: is in {entries[name].topic}.toml too; a name stands once")
            entries[name] = _flag(name, path.stem, validated(_Flag, value, f"{path.name}: {name}"))
    for entry in entries.values():
        for other in entry.excludes:
            if other not in entries:
                raise unknown(f"entry in {entry.topic}.toml: {entry.name}: excludes", other, entries)
        for other in entry.instead or ():
            if other not in entries:
                raise unknown(f"entry in {entry.topic}.toml: {entry.name}: instead", other, entries)
    return entries


def _flag(name: str, topic: str, entry: _Flag) -> Flag:
    spellings: dict[Family, _Spelling | str] = {family: entry.family(family) for family in FAMILIES}
    return Flag(
        name=name,
        topic=topic,
        does=entry.does,
        reason=entry.reason,
        spellings={family: value.value() for family, value in spellings.items() if isinstance(value, _Spelling)},
        absent={family: value for family, value in spellings.items() if isinstance(value, str)},
        choice=entry.choice,
        excludes=entry.excludes,
        architecture=entry.architecture,
        requires_profile=entry.requires_profile,
        marks=Marks(**{mark.name: getattr(entry, mark.name) for mark in fields(Marks)}),
        requires_lto=entry.requires_lto,
        instead=entry.instead,
        source=entry.source,
    )


@cache
def targets() -> Mapping[str, Target]:
    """All targets by name, each with the needs of those that it includes."""
    targets: dict[str, Target] = {}
    for name, value in read_toml(ROOT / "targets.toml").items():
        entry = validated(_Target, value, f"targets.toml: {name}")
        for other in entry.includes:  # defined before it
            if other not in targets:
                raise unknown(f"target before targets.toml: {name}", other, targets)
        needs = frozenset(entry.needs).union(*(targets[other].needs for other in entry.includes))
        targets[name] = Target(
            name=name,
            reason=entry.reason,
            architecture=entry.architecture,
            march=entry.march,
            tune=entry.tune,
            native=entry.native,
            needs=needs,
            since={"gcc": entry.gcc, "clang": entry.clang},
        )
    return targets


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
    """Like `unknown`, for lists that are too long to print."""
    message, _, _ = str(unknown(what, name, known)).partition("; there are: ")
    return UserError(f"{message}; `{verb}` lists them")


def check(recipe: Recipe, who: str, *, whole: bool = True) -> None:
    """Checks a recipe for unknown names and for entries that contradict each other.

    Args:
        recipe: as it was read.
        who: name of the recipe, for the error.
        whole: whether it is a recipe by itself; a change to one may need what that has.

    Raises:
        UserError: the recipe is wrong; names the entries and what to do.
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
        if whole and entry.requires_profile and not (recipe.pgo or recipe.profile or recipe.sampled):
            raise UserError(f"{who}: flag {entry.name!r} does something only with a profile; add pgo = true")


def marks(recipe: Recipe) -> Marks:
    """A recipe's marks: those of its entries, of its target, and of entries whose spelling is among its raw flags.

    Args:
        recipe: its names must all be known.
    """
    result = Marks(weakens_security=not recipe.hardening)
    for name in recipe.flags:
        result |= flag(name).marks
    if recipe.target is not None:
        target_marks = target(recipe.target).marks
        result |= replace(target_marks, changes_results=False) if "fp-contract-off" in recipe.flags else target_marks
    raw = {*recipe.c, *recipe.cxx, *recipe.link, *filter(None, [recipe.level])}
    matches = [
        (len(spelling.words), entry)
        for entry in (flags().values() if raw else ())  # most recipes name entries alone
        for spelling in entry.spellings.values()
        if spelling.words and raw.issuperset(spelling.words)
    ]
    for length, entry in matches:
        # -U_FORTIFY_SOURCE is no-fortify, but not when -D_FORTIFY_SOURCE=3 follows it.
        if not any(other.choice and other.choice == entry.choice and longer > length for longer, other in matches):
            result |= entry.marks
    if any(word.startswith(("-march=", "-mcpu=")) for word in raw):
        result |= Marks(narrows_portability=True)
    return result


def search(entries: Iterable[Flag], words: Sequence[str]) -> list[Flag]:
    """The entries whose name, description, reason or spellings contain all of `words`, ignoring case."""

    def text(flag: Flag) -> str:
        texts = [flag.name, flag.topic, flag.does, flag.reason, *flag.absent.values(), *flag.marks.words, flag.source]
        for spelling in flag.spellings.values():
            texts += [*spelling.words, *spelling.counting, *spelling.lto, spelling.reason]
        return "\n".join(texts).lower()

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
    toolchains: dict[str, Any] = {}
    for family in get_args(Family):
        spelling = entry.spellings.get(family)
        if spelling is None:
            toolchains[family] = {"absent": entry.absent[family]}
        else:
            toolchains[family] = {name: value for name, value in vars(spelling).items() if value}
    return {
        "flag": entry.name,
        "topic": entry.topic,
        "does": entry.does,
        "reason": entry.reason,
        "toolchains": toolchains,
        "architecture": entry.architecture,
        "requires_profile": entry.requires_profile,
        "requires_lto": entry.requires_lto,
        "instead": entry.instead,
        "source": entry.source,
        "choice": entry.choice,
        "excludes": entry.excludes,
        **vars(entry.marks),
    }
