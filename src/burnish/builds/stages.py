"""From a recipe to the stages that make its build; pure.

A variant's build is the end of a chain: compile, or compile instrumented → train → compile with the profile,
and with BOLT: instrument → train → optimise. How a recipe gets its profile is in `burnish.profiles.stages`. A stage is
named by a digest of everything it depends on, so equal stages of different variants are one stage, made once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from burnish.base.digest import digest_of
from burnish.base.errors import UnavailableError, UserError
from burnish.base.processor import this_processor
from burnish.base.system import install_command
from burnish.builds.after_link.chain import after_link
from burnish.builds.after_link.stage import AfterLink
from burnish.model.engine import EngineSpec, FeatureSet
from burnish.model.recipe import Flags, Recipe, Variant
from burnish.profiles.stages import (
    Kept,
    Merge,
    ProfileKind,
    Train,
    TrainingPlan,
    check_kept,
    check_training,
    compiler_kind,
    merged,
)
from burnish.source.patches.patch import Patch
from burnish.source.patches.patch_set import source_digest
from burnish.toolchain import linking
from burnish.toolchain.link_parts import NOTHING, Parts
from burnish.toolchain.linking import PLAIN, Linking
from burnish.toolchain.spelling import Spelled, counting, spell
from burnish.toolchain.toolchains import Toolchain, bolt_packages, lacks

BUILD_FORMAT = 1
"""Part of every key: increased when the files kept of a build change, so that older builds are not reused."""

INSTRUMENT = ("-fprofile-generate", "-fprofile-update=atomic")
"""Both compilers accept these; counters are atomic, because servers have many threads."""

GCC_USE = (
    "-fprofile-use",
    "-fprofile-correction",
    "-Wmissing-profile",
    "-Wno-error=coverage-mismatch",
    "-Wno-error=missing-profile",
)
"""gcc finds each .gcda beside its object; mismatches must be counted, so they must not end the compile."""

CLANG_SAY = ("-Wno-error=backend-plugin", "-Xclang", "-mllvm", "-Xclang", "-pgo-warn-missing-function")
"""Makes clang report functions without a profile, beside mismatching ones, without failing the compile. The flags
bypass the driver, which warns at the link that a plain -mllvm is unused: build systems that probe for flags would
then take them as unsupported."""

CS_INSTRUMENT = ("-fcs-profile-generate", "-fprofile-update=atomic")
"""clang's second round: counters placed after the inlining that the first round's profile led to."""

CS_SAY = ("-Wl,-mllvm,-pgo-warn-missing-function",)
"""With LTO the second round's counters are matched in the link, which must report what it could not match."""

CS_NAMES = ("-Wl,-mllvm,-use-source-filename-for-promoted-locals",)
"""ThinLTO renames local functions that it makes visible, by a hash of their file's code. The code differs between the
two rounds, so counters of the hottest functions would not match. With this flag the file's name is used instead."""

PROBES = ("-fpseudo-probe-for-profiling", "-funique-internal-linkage-names")
"""clang's anchors for branch samples: they survive optimisation and need no debug information in the program."""

STALENESS = ("-Xclang", "-mllvm", "-Xclang", "-report-profile-staleness")
"""Makes clang report how many samples it could not match."""

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
        with_tools: whether the gate's tools are built too.
        relocations: whether relocations are kept for BOLT.
        toolchain: compilers.
        instrumented: whether it writes a profile when it runs.
        profile: key of the profile that it uses, or None.
        linking: what its link needs beyond the flags.
        source: digest of the source, its patches included.
        patches: patches to the source, in order.
        debug: whether the program keeps its debug sections, to map samples to lines.
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
    debug: bool = False


@dataclass(frozen=True)
class Bolt:
    """Stage: rewrite a linked program, to instrument it or by a profile (with these options)."""

    key: str
    build: str
    toolchain: Toolchain
    profile: str | None
    title: str
    options: tuple[str, ...] = ()


Stage = Compile | Train | Merge | Bolt | AfterLink


@dataclass(frozen=True)
class PackageFlags:
    """The flags of the distribution's package: from dpkg-buildflags and the package's own rules."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]
    link: tuple[str, ...]


def base_flags(recipe: Recipe, package: PackageFlags, spelled: Spelled | None = None) -> Flags:
    """The recipe's flags combined with the package's: one level, without removed flags, then catalogue entries and
    target as `spelled`, the recipe's raw additions last."""
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
    """Refuses recipes that this toolchain cannot build, before anything is built.

    Raises:
        UserError: the recipe contradicts itself or its toolchain, on any host; the request is refused.
        UnavailableError: a part is not installed here; the variant is left out.
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
        needed |= {"profdata", "gcov_dump"}
        needed |= set() if recipe.sampled or recipe.profile else {"has_profile_runtime"}
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
    kept: Kept | None = None,
    lbr: bool = False,
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
        bolt: the toolchain whose BOLT is used, if the recipe asks for it.
        profile_place: constant path of a clang profile while it is used.
        training: (workload, seconds) to train on; default: the engine's own.
        parts: parts of this machine for the recipe's link.
        link_place: constant path of the folder with linker links and wrappers while a build needs them.
        patches: the recipe's patches as they were read.
        kept: the profile that the recipe names.
        lbr: whether this host provides branch records to sample.
    """
    recipe, here = variant.recipe, this_processor()
    spelled = spell(recipe, toolchain, here, f"variant {variant.name}")
    check(variant, toolchain, spelled)
    check_training(variant, toolchain, lbr=lbr)
    linking.check(recipe, f"variant {variant.name}", toolchain, parts, spec)
    source = source_digest(source, patches)
    if kept is not None:
        check_kept(variant, kept, toolchain, engine=spec.name)
    feature_set = spec.features[recipe.features or features]
    inside = linking.inside_of(recipe, spec)
    flags = linking.linked(base_flags(recipe, package, spelled), recipe, toolchain, parts, link_place, inside)
    options = linking.options_of(recipe, spec)
    plan = TrainingPlan(
        training or spec.training,
        recipe.training,
        recipe.training_seed,
        source,
        tests=spec.gate_tests,
        tests_s=spec.costs.gate_s,
    )
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
        debug: bool = False,
        options: tuple[tuple[str, str], ...] = options,
    ) -> Compile:
        # Kept with every clang profile, not only for BOLT: they are not loaded, and the variants with
        # and without BOLT then share one build.
        relocations = (recipe.bolt or (recipe.pgo and toolchain.family == "clang")) and not instrumented
        key = digest_of(
            [
                BUILD_FORMAT,
                spec.name,
                source,
                toolchain.name,
                toolchain.identity,
                [flags.c, flags.cxx, flags.link],
                feature_set.options,
                options,
                recipe.hardening,
                tools,
                relocations,
                profile,
                *spelled.host,
                *link.identity,
                *(["debug"] if debug else []),
                # Compilers of one release call themselves alike everywhere; x86_64's keys are older than this.
                *([here.architecture] if here.architecture != "x86_64" else []),
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
            debug=debug,
        )

    link = linking.linking_of(recipe, parts, spec, feature_set)
    chain: list[Stage] = []
    if recipe.pgo:
        kind = compiler_kind(recipe, toolchain)
        use, linked = _use(recipe, kind, profile_place)
        names = CS_NAMES if recipe.lto == "thin" else ()
        # Trained without LTO: counters are placed before it, so the profile is the same and the build much quicker.
        neutral = linking.neutral(recipe)
        if not recipe.sampled:  # samples belong to exactly the code that ran
            neutral = counting(neutral, toolchain)
        early = spell(neutral, toolchain, here, f"variant {variant.name}", counters=not recipe.sampled)
        plain = linking.linked(base_flags(neutral, package, early), neutral, toolchain, parts, link_place)
        if kept is not None and kept.kind == kind:
            profile = kept.key
        elif recipe.sampled:
            anchors = PROBES if kind == "clang-samples" else ("-g",)
            ordinary = compiled(_with(plain, anchors, anchors[:1]), title="to be sampled", debug=kind == "gcc-samples")
            sampling = plan.stages(ordinary.key, kind, toolchain, title="sampling", sampled=True)
            chain += [ordinary, *sampling]
            profile = sampling[-1].key
        else:
            counted = compiled(
                _with(plain, INSTRUMENT, INSTRUMENT[:1]),
                title="instrumented",
                instrumented=True,
                options=spec.instrumented_options(options),
            )
            training_stages = plan.stages(counted.key, kind, toolchain, title="training")
            chain += [counted, *training_stages]
            profile = training_stages[-1].key
        if recipe.context_sensitive:
            # With LTO, as these counters are placed after inlining across files; the rest of the link is the usual one.
            inlined = replace(linking.neutral(recipe), lto=recipe.lto, linker=recipe.linker)
            across = linking.linked(base_flags(inlined, package, spelled), inlined, toolchain, parts, link_place)
            again = compiled(
                _with(across, (*use, *CS_INSTRUMENT), (*linked, *CS_INSTRUMENT[:1], *names)),
                title="instrumented again",
                instrumented=True,
                profile=profile,
            )
            second = plan.stages(again.key, kind, toolchain, title="second training", context_sensitive=True)
            rounds = ((profile, 1.0), (second[-1].key, 1.0))
            both = merged(rounds, kind, toolchain, title="both rounds, merged", source=source)
            chain += [again, *second, both]
            profile = both.key
        if recipe.context_sensitive or (kept is not None and kept.second_round):
            linked = (*linked, *names, *(CS_SAY if recipe.lto != "none" else ()))
            # The link reads the second round's counters, which ThinLTO's cache does not know: it would give objects of
            # another profile, and an object from it warns of no mismatch.
            link = replace(link, cached=False)
        final = compiled(_with(flags, use, linked), title="with profile", profile=profile, tools=with_tools, link=link)
    else:
        final = compiled(flags, title="compile", tools=with_tools, link=link)
    chain.append(final)
    if recipe.bolt:
        if bolt is None:
            packages = bolt_packages(toolchain)
            command = install_command(packages)
            raise UnavailableError(f"variant {variant.name}: no llvm-bolt found; to have it: {command}", packages)
        chain += _bolt_stages(final.key, recipe, bolt, plan, kept, lbr=lbr)
    return (*chain, *after_link(recipe, chain[-1].key, toolchain, bolt if recipe.bolt else None, parts))


def _use(recipe: Recipe, kind: ProfileKind, place: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Flags with which the compiler uses a profile, and those of them for the link."""
    if kind == "gcc":
        return (*GCC_USE, *(("-fprofile-partial-training",) if recipe.partial_training else ())), GCC_USE[:1]
    if kind == "gcc-samples":
        return (f"-fauto-profile={place}",), (f"-fauto-profile={place}",)
    if kind == "clang-samples":
        return (f"-fprofile-sample-use={place}", *PROBES, *STALENESS), (f"-fprofile-sample-use={place}", *PROBES[:1])
    return (f"-fprofile-use={place}", *CLANG_SAY), (f"-fprofile-use={place}",)


def _bolt_stages(
    final: str, recipe: Recipe, bolt: Toolchain, plan: TrainingPlan, kept: Kept | None, *, lbr: bool
) -> list[Stage]:
    """The stages that rewrite the build `final`: by branch records if the host has them, else by BOLT's counters."""
    chain: list[Stage] = []
    if kept is not None and kept.kind == "bolt":
        profile = kept.key
    elif lbr:
        chain += plan.stages(final, "bolt", bolt, title="BOLT sampling", sampled=True)
        profile = chain[-1].key
    else:
        marked = Bolt(
            key=digest_of([final, bolt.bolt_version, "instrument"]),
            build=final,
            toolchain=bolt,
            profile=None,
            title="BOLT instrumentation",
        )
        chain += [marked, *plan.stages(marked.key, "bolt", bolt, title="BOLT training")]
        profile = chain[-1].key
    options = recipe.bolt_options or BOLT_OPTIONS
    key = digest_of([final, bolt.bolt_version, profile, options])
    return [*chain, Bolt(key, final, bolt, profile, title="BOLT", options=options)]


def _with(flags: Flags, compile_flags: Sequence[str], link_flags: Sequence[str]) -> Flags:
    return replace(
        flags,
        c=(*flags.c, *compile_flags),
        cxx=(*flags.cxx, *compile_flags),
        link=(*flags.link, *link_flags),
    )
