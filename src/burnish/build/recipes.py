"""From a recipe to the stages that make its build; pure.

A variant's build is the end of a chain: compile, or compile instrumented → train → compile with the profile,
and with BOLT: instrument → train → optimise. A stage is named by a digest of everything it depends on, so
that equal stages of different variants are one stage, made once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from burnish.build import linking
from burnish.build.linking import PLAIN, Linking
from burnish.build.linkparts import NOTHING, Library, Parts
from burnish.build.patches import Patch
from burnish.build.patchsets import source_digest
from burnish.build.processor import this_processor
from burnish.build.spelling import Spelled, spell
from burnish.build.toolchains import Toolchain, lacks
from burnish.errors import UnavailableError, UserError
from burnish.study.model import EngineSpec, FeatureSet, Flags, Recipe, Variant, Word, digest_of
from burnish.study.model import Strip as StripKind

BUILD_FORMAT = 1
"""Part of every key: raised when what is kept of a build changes, so that older builds are not taken for new."""

ProfileKind = Literal["gcc", "clang", "bolt"]

INSTRUMENT = ("-fprofile-generate", "-fprofile-update=atomic")
"""Both compilers take these; atomic counters, since servers have many threads."""

GCC_USE = (
    "-fprofile-use",
    "-fprofile-correction",
    "-Wmissing-profile",
    "-Wno-error=coverage-mismatch",
    "-Wno-error=missing-profile",
)
"""gcc finds each .gcda beside its object; mismatches must be counted, so they must not end the compile."""

CLANG_SAY = ("-Wno-error=backend-plugin", "-Xclang", "-mllvm", "-Xclang", "-pgo-warn-missing-function")
"""Makes clang say which functions have no profile, beside those that mismatch, without ending the compile. Past
the driver, which would say of a bare -mllvm that the link does not use it: build systems that ask whether the
compiler takes a flag would hear no."""

BOLT_OPTIONS = (
    "-reorder-blocks=ext-tsp",
    "-reorder-functions=hfsort",
    "-split-functions",
    "-split-all-cold",
    "-split-eh",
    "-icf=1",
    "-dyno-stats",
)
"""BOLT's own recommendation for servers (llvm-project/bolt/README.md)."""


@dataclass(frozen=True)
class Compile:
    """Stage: configure, compile and link.

    Attributes:
        key: content address of the build it makes.
        flags: complete flags.
        features: feature set.
        options: configure options of the recipe.
        hardening: the engine's hardening switch.
        with_tools: the gate's tools too.
        relocations: keep relocations for BOLT.
        toolchain: compilers.
        instrumented: whether it writes a profile when it runs.
        profile: key of the profile that it uses, or None.
        linking: what its link needs beyond the flags.
        source: digest of the source, its patches included.
        patches: patches to the source, in order.
    """

    key: str
    flags: Flags
    features: FeatureSet
    options: tuple[tuple[str, str], ...]
    hardening: bool
    with_tools: bool
    relocations: bool
    toolchain: Toolchain
    instrumented: bool
    profile: str | None
    title: str
    linking: Linking = PLAIN
    source: str = ""
    patches: tuple[Patch, ...] = ()


@dataclass(frozen=True)
class Train:
    """Stage: run the training workloads on an instrumented build and collect the profile."""

    key: str
    build: str
    kind: ProfileKind
    toolchain: Toolchain
    training: tuple[tuple[str, float], ...]
    title: str


@dataclass(frozen=True)
class Bolt:
    """Stage: rewrite a linked program, to instrument it or by a profile."""

    key: str
    build: str
    toolchain: Toolchain
    profile: str | None
    title: str


@dataclass(frozen=True)
class Strip:
    """Stage: take debug sections or all symbols out of a finished program; they are kept beside it.

    Attributes:
        key: content address of the build it makes.
        build: key of the build it begins with.
        what: ``debug`` or ``all``.
        tool: llvm-objcopy where BOLT wrote the program (GNU's spoils those), else None: objcopy.
    """

    key: str
    build: str
    what: StripKind
    tool: str | None
    title: str


@dataclass(frozen=True)
class Preload:
    """Stage: the same program, launched with libraries preloaded.

    Attributes:
        key: content address of the build it makes.
        build: key of the build it begins with.
        allocator: the library whose malloc the program gets, or None.
        huge_text: whether its code is mapped to huge pages.
        toolchain: compiles the library that maps it.
        word: word size in bits of program and libraries.
    """

    key: str
    build: str
    allocator: Library | None
    huge_text: bool
    toolchain: Toolchain
    word: Word
    title: str


Stage = Compile | Train | Bolt | Strip | Preload


@dataclass(frozen=True)
class PackageFlags:
    """What the distribution's package is built with: dpkg-buildflags and the package's own rules."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]
    link: tuple[str, ...]


def base_flags(recipe: Recipe, package: PackageFlags, spelled: Spelled | None = None) -> Flags:
    """The recipe's flags over the package's: one level, the package's removals gone, then catalogue entries and
    target as they are `spelled`, the recipe's raw additions last."""
    spelled = spelled or Spelled()
    level = recipe.level or spelled.level or _level(package.c) or "-O2"

    def settled(flags: Sequence[str], added: Sequence[str]) -> tuple[str, ...]:
        kept = [flag for flag in flags if not is_level(flag) and flag not in recipe.remove]
        return (level, *kept, *added)

    lto = {"none": (), "thin": ("-flto=thin",), "full": ("-flto",)}[recipe.lto]
    link = tuple(flag for flag in package.link if flag not in recipe.remove)
    return Flags(
        c=settled(package.c, (*spelled.c, *recipe.c, *lto)),
        cxx=settled(package.cxx, (*spelled.cxx, *recipe.cxx, *lto)),
        link=(*link, *spelled.link, *recipe.link, *lto),
        level=level,
    )


def is_level(flag: str) -> bool:
    """Whether a flag sets the optimisation level (-O2, -Os, -Ofast)."""
    return re.fullmatch(r"-O([0-3sgz]|fast)?", flag) is not None


def _level(flags: Sequence[str]) -> str | None:
    levels = [flag for flag in flags if is_level(flag)]
    return levels[-1] if levels else None


def check(variant: Variant, toolchain: Toolchain, spelled: Spelled | None = None) -> None:
    """Refuses recipes that this toolchain can't follow, before anything is built.

    Raises:
        UserError: the recipe contradicts itself or its toolchain, on whatever host; it stops the request.
        UnavailableError: a part is not installed here; the variant is left out and the others go on.
    """
    recipe, name = variant.recipe, f"variant {variant.name}"
    if recipe.lto == "thin" and toolchain.family != "clang":
        raise UserError(f"{name}: lto = 'thin' needs clang, found {toolchain.name}; gcc has lto = 'full'")
    needed = set()
    if recipe.lto != "none":
        needed |= {"ar", "linker"}
    if "-fuse-ld=lld" in (*recipe.link, *(spelled.link if spelled else ())):
        needed |= {"linker"}
    if recipe.pgo:
        needed |= {"has_profile_runtime", "profdata", "gcov_dump"}
    for lack in lacks(toolchain):
        if lack.part in needed:
            raise UnavailableError(f"{name}: {toolchain.name}: {lack}")


def stages(
    variant: Variant,
    *,
    spec: EngineSpec,
    source: str,
    toolchain: Toolchain,
    package: PackageFlags,
    features: str,
    with_tools: bool,
    bolt: Toolchain | None,
    profile_place: str,
    training: tuple[tuple[str, float], ...] | None = None,
    parts: Parts = NOTHING,
    link_place: str = "link",
    patches: tuple[Patch, ...] = (),
) -> tuple[Stage, ...]:
    """The chain of stages that ends in the variant's build.

    Args:
        variant: the recipe and its name.
        spec: the engine.
        source: digest of the source.
        toolchain: the one chosen for the recipe.
        package: the package's flags, with or without hardening as the recipe asks.
        features: name of the study's feature set.
        with_tools: whether this build makes the gate's tools.
        bolt: the toolchain whose BOLT is used, when the recipe asks for it.
        profile_place: constant path at which a clang profile lies while it is used.
        training: (workload, seconds) to train on; the engine's own when not given.
        parts: what this machine has for the recipe's link.
        link_place: constant path of the folder with linker links and wrappers while a build needs them.
        patches: the recipe's patches as they were read.
    """
    recipe = variant.recipe
    spelled = spell(recipe, toolchain, this_processor(), f"variant {variant.name}")
    check(variant, toolchain, spelled)
    linking.check(recipe, f"variant {variant.name}", toolchain, parts, spec)
    source = source_digest(source, patches)
    feature_set = spec.features[recipe.features or features]
    flags = linking.linked(base_flags(recipe, package, spelled), recipe, toolchain, parts, link_place)
    options = linking.options_of(recipe, spec)
    training = training or spec.training
    if recipe.bolt and toolchain.family == "gcc":
        # BOLT refuses functions that gcc has already split.
        flags = replace(
            flags,
            c=(*flags.c, "-fno-reorder-blocks-and-partition"),
            cxx=(*flags.cxx, "-fno-reorder-blocks-and-partition"),
        )

    def compiled(
        flags: Flags,
        *,
        title: str,
        instrumented: bool = False,
        profile: str | None = None,
        tools: bool = False,
        link: Linking = PLAIN,
    ) -> Compile:
        # Kept with every clang profile, not for BOLT's sake alone: they are not loaded, and the variants with
        # and without BOLT then share one build.
        relocations = (recipe.bolt or (recipe.pgo and toolchain.family == "clang")) and not instrumented
        key = digest_of(
            [
                BUILD_FORMAT,
                spec.name,
                source,
                toolchain.name,
                toolchain.version,
                [flags.c, flags.cxx, flags.link],
                feature_set.options,
                options,
                recipe.hardening,
                tools,
                relocations,
                profile,
                *spelled.host,
                *link.identity,
            ]
        )
        return Compile(
            key=key,
            flags=flags,
            features=feature_set,
            options=options,
            hardening=recipe.hardening,
            with_tools=tools,
            relocations=relocations,
            toolchain=toolchain,
            instrumented=instrumented,
            profile=profile,
            title=title,
            linking=link,
            source=source,
            patches=patches,
        )

    link = linking.linking_of(recipe, parts, spec)
    chain: list[Stage] = []
    if recipe.pgo:
        # The instrumented build has no LTO: counters are placed before it, so the profile is the same and
        # the build much quicker.
        neutral = linking.neutral(recipe)
        plain = linking.linked(base_flags(neutral, package, spelled), neutral, toolchain, parts, link_place)
        instrumented = compiled(_with(plain, INSTRUMENT, INSTRUMENT[:1]), title="instrumented", instrumented=True)
        kind: ProfileKind = "clang" if toolchain.family == "clang" else "gcc"
        profile = Train(
            key=digest_of([instrumented.key, training]),
            build=instrumented.key,
            kind=kind,
            toolchain=toolchain,
            training=training,
            title="training",
        )
        chain += [instrumented, profile]
        use = GCC_USE if kind == "gcc" else (f"-fprofile-use={profile_place}", *CLANG_SAY)
        used = _with(flags, use, use[:1])
        final = compiled(used, title="with profile", profile=profile.key, tools=with_tools, link=link)
    else:
        final = compiled(flags, title="compile", tools=with_tools, link=link)
    chain.append(final)
    if recipe.bolt:
        if bolt is None:
            raise UnavailableError(f"variant {variant.name}: no llvm-bolt found; apt install bolt-19 libbolt-19-dev")
        marked = Bolt(
            key=digest_of([final.key, bolt.version, "instrument"]),
            build=final.key,
            toolchain=bolt,
            profile=None,
            title="BOLT instrumentation",
        )
        trained = Train(
            key=digest_of([marked.key, training]),
            build=marked.key,
            kind="bolt",
            toolchain=bolt,
            training=training,
            title="BOLT training",
        )
        chain += [
            marked,
            trained,
            Bolt(
                key=digest_of([final.key, bolt.version, trained.key, BOLT_OPTIONS]),
                build=final.key,
                toolchain=bolt,
                profile=trained.key,
                title="BOLT",
            ),
        ]
    return (*chain, *_after_link(recipe, chain[-1].key, toolchain, bolt if recipe.bolt else None, parts))


def _after_link(
    recipe: Recipe, build: str, toolchain: Toolchain, bolt: Toolchain | None, parts: Parts
) -> tuple[Stage, ...]:
    """The stages that work on a finished program and never compile it again."""
    chain: list[Stage] = []
    if recipe.strip is not None:
        tool = str(bolt.bolt.parent / "llvm-objcopy") if bolt is not None and bolt.bolt is not None else None
        key = digest_of([build, "strip", recipe.strip])
        chain.append(Strip(key=key, build=build, what=recipe.strip, tool=tool, title=f"strip {recipe.strip}"))
        build = key
    allocator = parts.allocator if recipe.preload else None
    if allocator is not None or recipe.huge_text:
        loaded = [allocator.name, allocator.digest] if allocator is not None else []
        key = digest_of([build, "preload", loaded, recipe.huge_text, recipe.word])
        chain.append(
            Preload(
                key=key,
                build=build,
                allocator=allocator,
                huge_text=recipe.huge_text,
                toolchain=toolchain,
                word=recipe.word,
                title="preload",
            )
        )
    return tuple(chain)


def _with(flags: Flags, compile_flags: Sequence[str], link_flags: Sequence[str]) -> Flags:
    return replace(
        flags,
        c=(*flags.c, *compile_flags),
        cxx=(*flags.cxx, *compile_flags),
        link=(*flags.link, *link_flags),
    )
