"""Recipes (declarative descriptions of one way to build) and variants (recipes with a name and a reason)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Literal

Lto = Literal["none", "thin", "full"]


Linker = Literal["bfd", "gold", "lld", "mold"]


Static = Literal["none", "runtime", "libraries", "full"]


Allocator = Literal["libc", "jemalloc", "tcmalloc", "mimalloc"]


Strip = Literal["debug", "all"]


Word = Literal[64, 32]


REVERTED = "-R "
"""Prefix of a patch's path in a recipe: the patch is reverted instead of applied."""


@dataclass(frozen=True)
class Recipe:
    """One way to build, independent of the machine.

    Attributes:
        toolchain: ``gcc``, ``clang`` (the newest complete one found) or an exact name such as ``clang-19``.
        level: optimisation level that replaces the package's own (``-O3``); None keeps it.
        lto: link-time optimisation.
        pgo: whether it is built with a profile from training.
        bolt: whether BOLT rewrites the linked program, after a training run of its own.
        hardening: whether the package's hardening flags and the engine's hardening switch stay on.
        features: name of the engine's feature set; None takes the study's.
        c: flags added for C, after the package's own.
        cxx: flags added for C++, after the package's own.
        link: flags added for the link, after the package's own.
        remove: flags of the package that are left out, spelled exactly as in the package.
        options: configure options (cmake ``-D``), as (name, value).
        flags: entries of the flag catalogue by name, in order; the toolchain decides how each is spelled.
        target: processor or instruction-set level to compile for (``-march``); None keeps the package's.
        linker: which linker; None takes the toolchain's default.
        static: what is linked statically: nothing, the compiler's run-time libraries, these and the libraries that the
            engine names, or everything.
        allocator: which malloc.
        preload: whether the allocator is preloaded when the server starts, rather than linked.
        word: word size in bits.
        strip: what is stripped from the linked program (its symbols are kept beside it): ``debug`` sections or
            ``all`` symbols; None builds without debug sections and keeps the symbol table.
        huge_text: whether the code is aligned and mapped for huge pages.
        patches: patches to the source, in order, as paths; one that begins with ``-R `` is reverted instead.
        layout: seed of a shuffled link order, for replicates of one recipe; 0 is the build system's own order.
        training: (workload, weight) that its profile is trained on; empty takes the engine's.
        training_seed: seed of the training load's keys, for replicates of the training; 0 is the default.
        context_sensitive: whether clang trains a second time after inlining (CSPGO).
        partial_training: whether gcc treats code that training did not reach as unknown rather than cold.
        sampled: whether the profile comes from branch samples of an ordinary build instead of counters.
        profile: name of a kept or imported profile that is used instead of training one.
        bolt_options: BOLT's options; empty takes the defaults.
    """

    toolchain: str = "gcc"
    level: str | None = None
    lto: Lto = "none"
    pgo: bool = False
    bolt: bool = False
    hardening: bool = True
    features: str | None = None
    c: tuple[str, ...] = ()
    cxx: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()
    target: str | None = None
    linker: Linker | None = None
    static: Static = "none"
    allocator: Allocator = "libc"
    preload: bool = False
    word: Word = 64
    strip: Strip | None = None
    huge_text: bool = False
    patches: tuple[str, ...] = ()
    layout: int = 0
    training: tuple[tuple[str, float], ...] = ()
    training_seed: int = 0
    context_sensitive: bool = False
    partial_training: bool = False
    sampled: bool = False
    profile: str | None = None
    bolt_options: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Plain values, for digests and the record."""
        return asdict(self)

    def changes(self) -> dict[str, str]:
        """Differences from the baseline, in words: fields that do not have their default value."""
        defaults = Recipe().as_dict()
        return {name: _words(value) for name, value in self.as_dict().items() if value != defaults[name]}


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return " ".join(item if isinstance(item, str) else "=".join(map(str, item)) for item in value)
    return str(value)


@dataclass(frozen=True)
class Marks:
    """Drawbacks of a recipe that no measurement shows.

    Attributes:
        changes_results: the same query may give a different result, if only in the last digit.
        narrows_portability: the build runs on fewer machines.
        weakens_security: a protection is missing.
    """

    changes_results: bool = False
    narrows_portability: bool = False
    weakens_security: bool = False

    def __or__(self, other: Marks) -> Marks:
        return Marks(*(getattr(self, mark.name) or getattr(other, mark.name) for mark in fields(Marks)))

    def __bool__(self) -> bool:
        return bool(self.words)

    @property
    def words(self) -> tuple[str, ...]:
        """The marks that are set, in words: ``changes results``."""
        return tuple(mark.name.replace("_", " ") for mark in fields(Marks) if getattr(self, mark.name))


@dataclass(frozen=True)
class Variant:
    """A recipe with a name and a reason to use it.

    Attributes:
        name: as on the command line.
        recipe: how it is built.
        reason: why one would use it.
        weakens_security: whether it removes a protection.
        changes_results: whether a query may give a different result, if only in the last digit.
        narrows_portability: whether the build runs on fewer machines.
        source: where it is from; '' where that follows from its parts (`burnish.catalogue.sources`).
    """

    name: str
    recipe: Recipe
    reason: str
    weakens_security: bool = False
    changes_results: bool = False
    narrows_portability: bool = False
    source: str = ""

    @property
    def marks(self) -> Marks:
        """The variant's marks."""
        return Marks(self.changes_results, self.narrows_portability, self.weakens_security)


@dataclass(frozen=True)
class Flags:
    """All flags of one build, in order."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]
    link: tuple[str, ...]
    level: str = "-O2"
