"""Which stages share work: the same stage in several variants, the same objects in several builds; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from burnish.build.recipes import Bolt, Compile, Preload, Stage, Strip
from burnish.study.model import digest_of

_BY_PART = {"key", "title", "toolchain", "flags", "features"}
"""Fields of a compile stage that `objects_key` takes part by part, or that are made of the others."""

_OF_THE_LINK = {
    "with_tools", "relocations", "linking", "debug", "source", "patches",
}  # fmt: skip
"""Fields that decide what is linked and how, and those of the source, which is named by its digest."""


def objects_key(stage: Compile) -> str:
    """Names the objects that a stage compiles: stages with the same name differ in what is linked, or how, alone."""
    rest = {
        field.name: getattr(stage, field.name) for field in fields(stage) if field.name not in _BY_PART | _OF_THE_LINK
    }
    toolchain = [stage.toolchain.name, stage.toolchain.version]
    return digest_of([stage.source, toolchain, stage.flags.c, stage.flags.cxx, stage.features.options, rest])


def from_cache(title: str) -> str:
    """The step's name in the costs when its objects came from the compiler cache."""
    return f"{title} (objects cached)"


def kept_as(stage: Stage) -> str:
    """The kind of store entry that a stage leaves."""
    return "builds" if isinstance(stage, Compile | Bolt | Strip | Preload) else "profiles"


def in_order(chains: Sequence[tuple[Stage, ...]]) -> list[Stage]:
    """All stages, each once, in the order in which they are made.

    The first chain, the baseline's, comes first as a whole: without it nothing can be compared. Then what several
    of the others share, so that whatever happens after it serves most of them; then what is left, chain by chain.
    A stage comes after all that it is made from: what two chains share they share with all that is before it.
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
