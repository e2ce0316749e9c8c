"""`patch`: what each patch of a series does for a load: alone, with the others, and when it is left out.

The series becomes variants of one recipe that differ only in their patches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from burnish.base.errors import UserError, nearest
from burnish.base.paths import Home
from burnish.bench.host import read_host
from burnish.catalogue import load
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.record.events.patches import LeftBuild, PatchBuild, PatchMember, SeriesRead
from burnish.record.store import Store
from burnish.source.patches import patch, patch_set, series, subsets
from burnish.source.patches.subsets import Builds, Kind
from burnish.study import needs
from burnish.study.builds.source import check_source, unpacked
from burnish.study.constructors.tune import comparisons_of, confirmation_of, portable_of
from burnish.study.kept import runs as studies
from burnish.study.request.definition import definition_of
from burnish.study.request.options import Ask, Options
from burnish.study.request.request import read_request
from burnish.study.study import Study
from burnish.study.trials.timing import factors_of, layouts_of, rule_of
from burnish.study.why.sampling import permitted

UNPATCHED = series.TAKEN[0]
"""The baseline: the tree as it is, built by the recipe of all rows."""

SAMPLED = (Kind.ALONE, Kind.WITH_NEEDS, Kind.ALL)
"""Builds whose functions are compared with the unpatched tree's."""


@dataclass(frozen=True)
class Asked:
    """Arguments of `patch` beside `Options`.

    Attributes:
        target: an engine's name, or a source tree.
        patches: files, quilt series, git ranges; see `burnish.source.patches.series`.
        engine: whose source tree it is; None: found out.
        recipe: name of the variant that every row is built by.
        reverse: names of patches that are reverted instead of applied.
    """

    target: str
    patches: tuple[str, ...]
    engine: str | None = None
    recipe: str = "baseline"
    reverse: tuple[str, ...] = ()


def patch_study(home: Home, asked: Asked, options: Options, console: Console, ask: Ask | None) -> Study:
    """The builds that show what each patch of a series does, compared with the unpatched tree.

    The source is fetched and unpacked first, because which patches apply alone depends on the tree.

    Raises:
        UserError: the request or the patches are wrong; nothing has been built then.
    """
    spec, tree = target(asked.target, asked.engine)
    options = replace(options, variants=(asked.recipe,), source=tree)
    request = read_request(spec.name, options)
    base = request.variants[-1]
    with studies.lock(home):
        named = series.read(asked.patches, tree=tree, store=Store(home.store), reverse=asked.reverse)
        check_source(home, spec, options)
        needs.ensure(spec.system_packages, f"building and loading {spec.title}", options, ask)
        patch.require_patch()
        if options.why:
            permitted(read_host(home.root), options, ask)
        place, what = _unpacked(home, spec, options, console)
        builds = _builds_of_series(named, base, place, what)
    variants = variants_of(base, builds)
    names = [variant.name for variant in variants]
    return Study(
        definition=definition_of("patch", spec, options, names, request.workloads, request.features, variants),
        engine=spec,
        comparisons=comparisons_of(variants, request.workloads, options),
        variants={variant.name: variant for variant in variants},
        features=request.features,
        workloads=request.workloads,
        rule=rule_of(options),
        replicates=factors_of(options),
        layouts=layouts_of(options),
        portable=portable_of(options),
        explore=options.explore,
        confirmation=confirmation_of(options),
        twins=True,
        sample=options.why,
        unsampled=frozenset(build.variant for build in builds.builds if build.kind not in SAMPLED),
        sample_seconds=options.seconds,
        tree=tree,
        opening=(series_read(base.name, builds),),
    )


def target(word: str, engine: str | None) -> tuple[EngineSpec, Path | None]:
    """The engine, and its source tree if one was named; a `UserError` if the word is neither.

    Args:
        word: an engine's name, or a folder or archive with its source.
        engine: whose source it is; None: found out.
    """
    engines = load.engines()
    if word in engines:
        if engine not in (None, word):
            raise UserError(f"--engine {engine}: {word} is an engine itself; write ./{word} for a folder")
        return engines[word], None
    path = Path(word).expanduser()
    if not path.exists():
        names = [spec.name for spec in engines.values() if not spec.hidden]
        raise UserError(
            f"{word}: neither an engine nor a source tree{nearest(word, names)}; engines are {', '.join(names)}"
        )
    if engine is not None:
        return load.engine(engine), path
    if not path.is_dir():
        raise UserError(f"{word}: not a folder, so the engine cannot be found out from it; name it with --engine")
    return load.engine_of(path), path


def _unpacked(home: Home, spec: EngineSpec, options: Options, console: Console) -> tuple[Path, str]:
    """The unpacked source, and its name and version."""

    def say(text: str) -> None:
        console.print(f"    {text}", markup=False, highlight=False, soft_wrap=True)

    source, place = unpacked(home, spec, options, say)
    return place, f"{source.name} {source.version}"


def _builds_of_series(named: Sequence[series.Named], base: Variant, tree: Path, what: str) -> Builds:
    """The builds of a series; the recipe's own patches are applied first."""
    first, _ = patch_set.fitted(base, tree)

    def refusal(patches: Sequence[patch.Patch]) -> patch.PatchError | None:
        return patch_set.refusal((*first, *patches), tree, what)

    return subsets.builds(subsets.examine(named, refusal, what), refusal)


def variants_of(base: Variant, builds: Builds) -> tuple[Variant, ...]:
    """The unpatched tree and every build of the series as variants of one recipe."""

    def variant(name: str, reason: str, words: Sequence[str]) -> Variant:
        recipe = replace(base.recipe, patches=(*base.recipe.patches, *words))
        return replace(base, name=name, recipe=recipe, reason=reason)

    unpatched = variant(UNPATCHED, f"The tree as it is, built as {base.name}: what patches are compared with.", ())
    return unpatched, *(
        variant(
            build.variant,
            f"{base.name} with {', '.join(build.patches)}.",
            [member.word for member in builds.patches_of(build)],
        )
        for build in builds.builds
    )


def series_read(recipe: str, builds: Builds) -> SeriesRead:
    """The series, for the record.

    Args:
        recipe: name of the variant that every row is built by.
        found: its patches and builds.
    """
    return SeriesRead(
        recipe=recipe,
        members=tuple(
            PatchMember(
                name=member.name,
                origin=member.named.origin,
                reverted=member.named.patch.reverted,
                sha256=member.named.patch.sha256,
                needs=tuple(member.needs),
            )
            for member in builds.members
        ),
        builds=tuple(
            PatchBuild(build.variant, str(build.kind), build.patch, tuple(build.patches), tuple(build.also))
            for build in builds.builds
        ),
        left_out=tuple(LeftBuild(patch, str(kind), why) for patch, kind, why in builds.left_out),
    )
