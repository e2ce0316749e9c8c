"""Which stages share work: the same stage in several variants, the same objects in several builds; pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace

from burnish.base.digest import digest_of
from burnish.builds.after_link.stage import AfterLink
from burnish.builds.stages import Bolt, Compile, Stage
from burnish.model.cache import CacheUse
from burnish.model.recipe import Flags
from burnish.profiles.stages import Merge, Train
from burnish.source.patches import overlay
from burnish.toolchain import ccache

_BY_PART = {"key", "title", "toolchain", "flags", "features"}
"""Fields of a compile stage that `objects_key` uses in parts, or that are derived from others."""

_OF_THE_LINK = {
    "with_tools", "relocations", "linking", "debug", "source", "patches",
}  # fmt: skip
"""Fields that decide what is linked and how, and those of the source, which is named by its digest."""


def objects_key(stage: Compile) -> str:
    """Key of the objects that a stage compiles: stages with equal keys differ only in the link."""
    rest = {
        field.name: getattr(stage, field.name) for field in fields(stage) if field.name not in _BY_PART | _OF_THE_LINK
    }
    toolchain = [stage.toolchain.name, stage.toolchain.identity]
    return digest_of([stage.source, toolchain, stage.flags.c, stage.flags.cxx, stage.features.options, rest])


def reading_key(stage: Compile) -> str | None:
    """Key of what clang reads for a stage.

    Stages with equal keys differ in profile, link, LLVM's own options, -O2 or -O3.

    None where a source is not read apart from making its object: by gcc, and with some flags.
    """
    words = [ccache.reading_flags(flags) for flags in (stage.flags.c, stage.flags.cxx)]
    if stage.toolchain.family != "clang" or None in words:
        return None
    return digest_of([words, objects_key(replace(stage, flags=Flags((), (), ()), profile=None, instrumented=False))])


ANY_SOURCE = ""
"""Used in place of a stage's source in the key of its objects without patches: the objects of stages with an equal key
of this kind differ only by their patches."""

_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".ic", ".i", ".inl", ".inc")

CHANGED_BY_SOURCES, CHANGED_BY_HEADERS, CHANGED_BY_STATIC = 0.02, 0.4, 0.3
"""Guesses at the share of a build's objects that are compiled again: if patches touch only sources; if they touch
headers, which few or all objects include; if a fully static build leaves features out."""


def relatives(stage: Compile, source: str, forced: Collection[tuple[str, str]]) -> frozenset[str]:
    """Keys of objects that most objects of a patched or fully static stage are equal to: those of the plain recipe.

    Args:
        stage: the stage; one that is neither has no relatives.
        source: digest of the source without patches; `ANY_SOURCE` where it is not known.
        forced: options that a fully static build forces on the engine.
    """
    if not (stage.patches or stage.linking.static):
        return frozenset()
    options = (
        tuple(option for option in stage.options if option not in forced) if stage.linking.static else stage.options
    )
    before = {ANY_SOURCE, source} if stage.patches else {stage.source}
    return frozenset(objects_key(replace(stage, source=digest, options=options)) for digest in before)


def changed_share(stage: Compile) -> float:
    """A guess at the share of such a stage's objects that differ from those of its relatives."""
    if stage.linking.static:
        return CHANGED_BY_STATIC
    headers = any(name.endswith(_HEADERS) for name in overlay.touched(stage.patches))
    return CHANGED_BY_HEADERS if headers else CHANGED_BY_SOURCES


MOSTLY, HARDLY = 0.9, 0.1
"""Shares of cached objects: above the first, a compile step counts as a relink; up to the second, as a full compile.
Costs in between are no guide to other builds: they belong to one patch, or to a compile that was killed half way. The
same for the sources of what was compiled, if they can be read before."""


def from_cache(title: str) -> str:
    """The step's name in the costs when its objects came from the compiler cache."""
    return f"{title} (objects cached)"


def read_before(title: str) -> str:
    """The step's name in the costs when its objects were made of sources that were read for another build."""
    return f"{title} (sources read before)"


def partly_from_cache(title: str) -> str:
    """The step's name in the costs when some of its objects came from the compiler cache, and some did not."""
    return f"{title} (some objects cached)"


def cost_title(title: str, use: CacheUse) -> str:
    """The step's name in the costs.

    Args:
        title: the step's own.
        use: what came from the compiler cache.
    """
    if use.share > MOSTLY:
        return from_cache(title)
    if use.share > HARDLY or HARDLY < use.read_share <= MOSTLY:
        return partly_from_cache(title)
    return read_before(title) if use.read_share > MOSTLY else title


def of_its_compiler(title: str, stage: Compile) -> str:
    """The name in the costs for such steps of any stage with a compiler of this family.

    Families are kept separate, because clang compiles MariaDB in two thirds of gcc's time.

    Args:
        title: the step's name in the costs, as `cost_title` and its like give it.
        stage: the stage.
    """
    return f"{title.replace(stage.title, 'compile', 1)} by {stage.toolchain.family}"


def kept_as(stage: Stage) -> str:
    """The kind of store entry that a stage leaves."""
    return "builds" if isinstance(stage, Compile | Bolt | AfterLink) else "profiles"


def needed(chain: Sequence[Stage], has: Callable[[str, str], bool]) -> tuple[Stage, ...]:
    """A chain without missing profiles that no missing build uses, and missing builds that only trainings would run.

    Such a build can be gone while its profiles are kept, and a profile while what was built with it is kept: the store
    is bounded by size, and a host that only measures fetches profiles without the builds that wrote them.

    Args:
        chain: a build's stages in order; its last is always needed.
        has: whether the store has an entry, by kind and key.
    """
    used = {chain[-1].key, *(stage.build for stage in chain if isinstance(stage, Bolt | AfterLink))}
    wanted, gone = set(used), set[str]()
    for stage in reversed(chain):
        if has(kept_as(stage), stage.key):
            continue
        if stage.key not in wanted:
            gone.add(stage.key)
        elif isinstance(stage, Train):
            wanted.add(stage.build)
        elif isinstance(stage, Merge):
            wanted.update(key for key, _ in stage.parts)
        elif not isinstance(stage, AfterLink) and stage.profile is not None:
            wanted.add(stage.profile)
    return tuple(stage for stage in chain if stage.key not in gone)


ANEW = "to be trained"
"""In place of the digest of a profile that will be trained: its counts will be others."""


def outdated(
    chains: Sequence[Sequence[Stage]],
    has: Callable[[str, str], bool],
    made_with: Callable[[str, str], Mapping[str, str]],
) -> frozenset[str]:
    """Keys of profiles and counting programs that are there, but don't fit what a chain makes them part of.

    A program that is made anew with a profile that was trained anew is another one under the same key, and a profile
    of its predecessor, such as BOLT's or that of a second round, is not for it. Programs that are measured are kept as
    they are: nothing but the one profile that was trained on them is put together with them, and a run may have
    measured them already.

    Args:
        chains: the stages of all builds.
        has: whether the store has an entry, by kind and key.
        made_with: as `burnish.record.store.Store.made_with`.
    """
    there = {(kept_as(stage), stage.key) for chain in chains for stage in chain if has(kept_as(stage), stage.key)}
    digests = {(kind, key): made_with(kind, key) for kind, key in there}
    out: set[str] = set()
    while True:
        fits = {key for _, key in there} - out
        kept = without(out, lambda kind, key: (kind, key) in there)
        made = {stage.key for chain in chains for stage in needed(chain, kept) if stage.key not in fits}
        found = {key for chain in chains for key in _unfit(chain, fits, made, digests, made_with)}
        if not found:
            return frozenset(out)
        out |= found


def without(keys: Collection[str], has: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
    """Whether the store has an entry, as `has`, that is none of these keys', which are made anew."""
    return lambda kind, key: key not in keys and has(kind, key)


def _unfit(
    chain: Sequence[Stage],
    fits: Collection[str],
    made: Collection[str],
    digests: Mapping[tuple[str, str], Mapping[str, str]],
    made_with: Callable[[str, str], Mapping[str, str]],
) -> set[str]:
    """Keys of a chain's entries that were made with other profiles than what they are made from now.

    Args:
        chain: a build's stages in order.
        fits: keys of what is there and fits, as far as is known.
        made: keys of what will be made.
        digests: of what is there, by kind and key, the profiles that it was made with.
        made_with: the same of what is no stage of a chain, as a profile that a recipe names.
    """
    found: set[str] = set()
    known: dict[str, Mapping[str, str]] = {}
    for stage in chain:
        now: dict[str, str] = {}
        for kind, key in _made_from(stage):
            now |= known[key] if key in known else made_with(kind, key)
        if stage.key in fits:
            then = digests[kept_as(stage), stage.key]
            if _is_measured(stage) or all(then.get(key) == digest for key, digest in now.items()):
                known[stage.key] = then
                continue
            found.add(stage.key)
        known[stage.key] = now | ({stage.key: ANEW} if kept_as(stage) == "profiles" and stage.key in made else {})
    return found


def _made_from(stage: Stage) -> list[tuple[str, str]]:
    """Kind and key of what a stage is made from."""
    if isinstance(stage, Merge):
        return [("profiles", key) for key, _ in stage.parts]
    build = None if isinstance(stage, Compile) else stage.build
    profile = stage.profile if isinstance(stage, Compile | Bolt) else None
    return [(kind, key) for kind, key in (("builds", build), ("profiles", profile)) if key is not None]


def _is_measured(stage: Stage) -> bool:
    """Whether a stage makes a program to be measured, or what one is made from, not a profile or a counting program."""
    if isinstance(stage, Compile):
        return not stage.instrumented
    return isinstance(stage, AfterLink) or (isinstance(stage, Bolt) and stage.profile is not None)


def in_order(chains: Sequence[tuple[Stage, ...]]) -> list[Stage]:
    """All stages, each once, in the order in which they are made.

    The first chain, the baseline's, comes first: without it nothing can be compared. Then come the stages that several
    of the others share, then the remaining ones, chain by chain. A stage comes after everything that it is made from,
    because chains that share a stage share all stages before it.
    """
    if not chains:
        return []
    users: dict[str, int] = {}
    for chain in chains[1:]:
        for key in {stage.key for stage in chain}:
            users[key] = users.get(key, 0) + 1
    rest = [stage for chain in chains[1:] for stage in chain]
    shared = [stage for stage in rest if users[stage.key] > 1]
    return list({stage.key: stage for stage in (*chains[0], *shared, *rest)}.values())
