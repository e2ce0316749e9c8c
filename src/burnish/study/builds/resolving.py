"""From variants to their builds' stages on this machine: toolchain, flags, patches, profiles, the gate's tests."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from burnish.base import process
from burnish.base.digest import digest_of
from burnish.base.errors import UnavailableError, UserError, together
from burnish.base.system import install_command
from burnish.builds.after_link import preload
from burnish.builds.after_link.stage import AfterLink
from burnish.builds.fitting import fitted
from burnish.builds.stages import Compile, PackageFlags, Stage, stages
from burnish.catalogue.options import Untested, untested
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.profiles import kept, sampling
from burnish.profiles.stages import Kept
from burnish.record.store import Store
from burnish.source.patches import patch_set
from burnish.toolchain import bolt_options
from burnish.toolchain.link_parts import find_parts
from burnish.toolchain.toolchains import Toolchain, bolt_packages, choose

UNKNOWN_SOURCE = "not fetched yet"
"""Used as the digest of a source that must still be fetched: no build has it, so none counts as cached."""


@dataclass(frozen=True)
class Chain:
    """A variant and the stages that make its build, or why it cannot be built here.

    Attributes:
        variant: the variant.
        stages: what makes its build; empty if it cannot be built here.
        missing: why it cannot be built here.
        packages: the system packages with which it could be, where these are known.
        notes: what was replaced by the next best.
    """

    variant: Variant
    stages: tuple[Stage, ...] = ()
    missing: str | None = None
    packages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def final(self) -> str:
        """Key of the variant's build."""
        return self.stages[-1].key


def gate_key(spec: EngineSpec, chain: Sequence[Stage]) -> str:
    """Key of the gate's result for the last build of a chain."""
    return digest_of([chain[-1].key, asked_of(spec, chain)])


def asked_of(spec: EngineSpec, chain: Sequence[Stage]) -> tuple[str, ...]:
    """The gate's tests for a build: the engine's, except for those of features that its options remove."""
    excluded = {test for option in untested_by(spec, chain) for test in option.tests}
    return tuple(test for test in spec.gate_tests if test not in excluded)


def untested_by(spec: EngineSpec, chain: Sequence[Stage]) -> list[Untested]:
    """The options of a chain's compile that remove features which gate tests need."""
    last = next((stage for stage in reversed(chain) if isinstance(stage, Compile)), None)
    return untested(spec.name, last.options) if last else []


def package_flags(spec: EngineSpec, source: Path, hardening: bool) -> PackageFlags:
    """The flags of the distribution's own package: dpkg-buildflags in the source's folder, then its rules'.

    Args:
        spec: engine; its TOML has the flags that the package's rules add.
        source: the unpacked tree (dpkg-buildflags maps this path out of debug information).
        hardening: whether the package's hardening stays on.
    """
    if spec.debian_package is None:
        return PackageFlags(spec.package_c, spec.package_cxx, spec.package_link)
    options = spec.build_options if hardening else "hardening=-all"
    # The variable replaces the current folder, so the tree need not be unpacked yet.
    env = {"DEB_BUILD_MAINT_OPTIONS": options, "DEB_BUILD_PATH": str(source)}
    done = process.run(["dpkg-buildflags", "--dump"], env=env)
    lines = (line.partition("=") for line in done.check("asking dpkg-buildflags").output.splitlines())
    flags = {name: tuple(shlex.split(value)) for name, _, value in lines}
    return PackageFlags(
        c=(*flags["CFLAGS"], *flags["CPPFLAGS"], *spec.package_c),
        cxx=(*flags["CXXFLAGS"], *flags["CPPFLAGS"], *spec.package_cxx),
        link=(*flags["LDFLAGS"], *spec.package_link),
    )


def resolve(
    variants: Sequence[Variant],
    *,
    spec: EngineSpec,
    source_digest: str,
    source: Path,
    toolchains: Sequence[Toolchain],
    features: str,
    profile_place: Path,
    store: Store | None = None,
    lbr: bool = False,
    lenient: bool = False,
    folder: Path | None = None,
) -> list[Chain]:
    """Each variant's stages on this machine; a variant whose tools are missing is left out with that reason.

    The first variant is the baseline: it makes the gate's tools as well, and it must be possible. `store` holds the
    profiles that recipes name; `lbr` is whether the host gives branch records; `lenient` leaves a variant out whatever
    is wrong with it; on the source of `folder` patches are tried where it is not unpacked yet.

    Raises:
        UserError: recipes that contradict themselves, or a baseline that can't be built here; a patch that does not
            apply; every problem of every variant in one error, a line each.
    """
    packages: dict[bool, PackageFlags] = {}
    tree = patch_set.open_tree(source_digest, source, folder)
    chains: list[Chain] = []
    problems: list[UserError] = []
    for number, variant in enumerate(variants):
        hardening = variant.recipe.hardening
        if hardening not in packages:
            packages[hardening] = package_flags(spec, source, hardening)
        try:
            patches, notes = patch_set.fitted(variant, tree)
            with _about(variant, "toolchain"):
                toolchain = choose(variant.recipe.toolchain, toolchains)
            if variant.recipe.sampled and variant.recipe.profile is None and lbr:
                sampling.sample_tool(toolchain)
            named = variant.recipe.profile
            with _about(variant, "profile"):
                profile = _profile(store, named, source_digest)
            if store is not None:
                preload.check(variant.recipe, f"variant {variant.name}", store.root)
            made_as, replaced = fitted(variant, toolchain, packages[hardening])
            notes = (*notes, *replaced)
            make = partial(
                stages,
                made_as,
                spec=spec,
                source=source_digest,
                toolchain=toolchain,
                package=packages[hardening],
                features=features,
                bolt=_bolt(made_as, toolchain, lbr=lbr),
                profile_place=str(profile_place),
                parts=find_parts(variant.recipe, toolchain, spec),
                link_place=str(profile_place.parent / "link"),
                patches=patches,
                kept=profile,
                lbr=lbr,
            )
            chain = make(with_tools=number == 0)
            if number > 0 and isinstance(chain[-1], AfterLink):
                # What is done after the baseline's link alone begins with the baseline's own build, tools and all.
                shared = make(with_tools=True)
                baseline = {stage.key for stage in chains[0].stages if isinstance(stage, Compile) and stage.with_tools}
                chain = shared if baseline & {stage.key for stage in shared} else chain
            chains.append(Chain(variant, chain, notes=notes))
        except UserError as error:
            if number == 0 or not (lenient or isinstance(error, UnavailableError)):
                problems.append(error)
            why = str(error).removeprefix(f"variant {variant.name}: ")
            lacking = error.packages if isinstance(error, UnavailableError) else ()
            chains.append(Chain(variant, missing=why, packages=lacking))
    if problems:
        raise together(problems)
    return chains


@contextlib.contextmanager
def _about(variant: Variant, key: str) -> Iterator[None]:
    """Adds the variant and the key of its recipe to the message of a `UserError`."""
    try:
        yield
    except UserError as error:
        error.args = (f"variant {variant.name}: {key}: {error}",)
        raise


def _profile(store: Store | None, named: str | None, source_digest: str) -> Kept | None:
    """The profile that a recipe names; while the source is unknown, that of the profile is not compared with it."""
    if store is None or named is None:
        return None
    profile = kept.as_kept(named, kept.find(store, named))
    return replace(profile, source=None) if source_digest == UNKNOWN_SOURCE else profile


def _bolt(variant: Variant, toolchain: Toolchain, *, lbr: bool) -> Toolchain | None:
    recipe = variant.recipe
    if not recipe.bolt or toolchain.bolt is None:
        return None
    if lbr:
        sampling.perf2bolt(toolchain)
    elif not toolchain.bolt_can_instrument and recipe.profile is None:
        packages = bolt_packages(toolchain)
        command = install_command(packages)
        raise UnavailableError(
            f"{toolchain.bolt}: cannot instrument without its runtime; to have it: {command}", packages
        )
    if recipe.bolt_options:
        known = bolt_options.options_of(toolchain.bolt, toolchain.bolt_version)
        bolt_options.check_options(f"variant {variant.name}: {toolchain.bolt}", recipe.bolt_options, known)
    return toolchain
