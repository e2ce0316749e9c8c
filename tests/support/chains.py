"""Stages of recipes with two compilers that no machine has, for tests that read what would be called."""

from __future__ import annotations

from pathlib import Path

from burnish.builds.stages import Compile, PackageFlags, Stage, stages
from burnish.catalogue import load
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Recipe, Variant
from burnish.source.patches.patch import Patch
from burnish.toolchain.toolchains import Toolchain

PACKAGE = PackageFlags(
    c=("-g", "-O2", "-fstack-protector-strong", "-DP=1"), cxx=("-g", "-O2", "-DP=2"), link=("-Wl,-z,relro",)
)
SPEC = load.engine("fake")


def toolchain(family: str, major: int) -> Toolchain:
    place = Path("/t")
    clang = family == "clang"
    return Toolchain(
        name=f"{family}-{major}",
        family="clang" if clang else "gcc",
        version=f"{family} version {major}.1.0",
        identity=f"{family} version {major}.1.0",
        release=f"{major}.1.0",
        cc=place / "cc",
        cxx=place / "c++",
        ar=place / "ar",
        ranlib=place / "ranlib",
        linker=place / "ld" if clang else None,
        profdata=place / "profdata" if clang else None,
        gcov_dump=None if clang else place / "gcov-dump",
        bolt=place / "bolt",
        bolt_version=f"{family} version {major}.1.0" if clang else "LLVM version 16.0.6",
        merge_fdata=place / "merge-fdata",
        has_profile_runtime=True,
        bolt_can_instrument=True,
    )


GCC, CLANG = toolchain("gcc", 12), toolchain("clang", 19)


def chain(
    recipe: Recipe,
    name: str = "v",
    *,
    tools: Toolchain = GCC,
    bolt: Toolchain | None = CLANG,
    source: str = "source",
    features: str = "full",
    with_tools: bool = False,
    profile_place: str = "/work/p.profdata",
    training: tuple[tuple[str, float], ...] | None = None,
    package: PackageFlags = PACKAGE,
    spec: EngineSpec = SPEC,
    patches: tuple[Patch, ...] = (),
    lbr: bool = False,
) -> tuple[Stage, ...]:
    return stages(
        Variant(name, recipe, "a reason that is long enough"),
        spec=spec,
        source=source,
        toolchain=tools,
        package=package,
        features=features,
        with_tools=with_tools,
        bolt=bolt,
        profile_place=profile_place,
        training=training,
        patches=patches,
        lbr=lbr,
    )


def compiles(made: tuple[Stage, ...]) -> list[Compile]:
    return [stage for stage in made if isinstance(stage, Compile)]
