"""The verb `patch`: what each patch of a series does for a load, alone, with the others, and when it is left out.

A series becomes variants of one recipe that differ in their patches alone; the rest is `tune`'s machinery.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from burnish.base.errors import InfrastructureError, UserError, nearest
from burnish.base.paths import Home
from burnish.bench.host import read_host
from burnish.catalogue import load
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.record.record import Event, Record
from burnish.record.store import Store
from burnish.source.patches import patch as patches
from burnish.source.patches import patch_set, series, subsets
from burnish.source.patches.subsets import Builds, Kind
from burnish.study import holding, preparing, session, studies
from burnish.study.builds import needs
from burnish.study.builds.make import Made
from burnish.study.builds.source import unpacked
from burnish.study.options import Ask, Options, Setting
from burnish.study.preparing import Makings
from burnish.study.request import read_request
from burnish.study.trials.replicates import Factors
from burnish.study.why import sampling
from burnish.why.attribution import explaining as explaining_rows
from burnish.why.explanation import Explanation, explanation

UNPATCHED = series.TAKEN[0]
"""The baseline: the tree as it is, built by the recipe of all rows."""

SAMPLED = (Kind.ALONE, Kind.WITH_NEEDS, Kind.ALL)
"""Builds whose functions are set beside the unpatched tree's."""

FUNCTIONS = 6
"""Most functions of a build that are kept in the study's own record; the study of its samples has all."""


@dataclass(frozen=True)
class Asked:
    """What a user says to `patch` beyond `Options`.

    Attributes:
        target: an engine's name, or a source tree.
        patches: files, quilt series, git ranges; see `burnish.source.patches.series`.
        engine: whose source tree it is; None: found out.
        recipe: name of the variant that every row is built by.
        reverse: names of patches that are taken out instead of put in.
        why: whether each build is sampled after the trials.
        seconds: time under load that is sampled; None: until there are samples enough.
    """

    target: str
    patches: tuple[str, ...]
    engine: str | None = None
    recipe: str = "baseline"
    reverse: tuple[str, ...] = ()
    why: bool = False
    seconds: float | None = None


def patch(home: Home, asked: Asked, options: Options, console: Console, ask: Ask | None) -> Path:
    """From a series to verdicts; returns the study's folder.

    Raises:
        UserError: whatever is wrong with the request or the patches, before anything is built.
    """
    spec, tree = target(asked.target, asked.engine)
    options = replace(options, variants=(asked.recipe,), source=tree)
    request = read_request(spec.name, options)
    base = request.variants[-1]
    with studies.lock(home):
        named = series.read(asked.patches, tree=tree, store=Store(home.store), reverse=asked.reverse)
        needs.install(spec, [base], options, ask)
        patches.require_patch()
        if asked.why:
            sampling.permitted(read_host(home.root), options, ask)
        place, what = _unpacked(home, spec, options, console)
        found = _told_apart(named, base, place, what)
        variants = variants_of(base, found)
        needs.check_disk(home, spec, len(variants) * Factors(options.layouts, options.trainings).count)
        names = [variant.name for variant in variants]
        definition = session.definition_of("patch", spec, options, names, request.workloads, request.features, variants)
        setting = session.begin(home, spec, definition, options, console, request.workloads, ask)
        holding.check_host(setting)
        setting.record.append("series", recipe=base.name, **described(found))
        ready = preparing.make(setting, variants, request.features)
        _skip_twins(setting, ready)
        holding.hold(setting, ready)
        if asked.why:
            _explain(setting, ready, found, asked.seconds, console)
        return session.finish(setting)


def target(word: str, engine: str | None) -> tuple[EngineSpec, Path | None]:
    """The engine, and its source tree where one was named; a `UserError` when the word is neither.

    Args:
        word: an engine's name, or a folder or archive with its source.
        engine: whose source it is; None: found out.
    """
    every = load.engines()
    if word in every:
        if engine not in (None, word):
            raise UserError(f"--engine {engine}: {word} is an engine itself; write ./{word} if you mean a folder")
        return every[word], None
    path = Path(word).expanduser()
    if not path.exists():
        names = [spec.name for spec in every.values() if not spec.hidden]
        raise UserError(
            f"{word}: neither an engine nor a source tree{nearest(word, names)}; engines are {', '.join(names)}"
        )
    if engine is not None:
        return load.engine(engine), path
    if not path.is_dir():
        raise UserError(f"{word}: not a folder, so it does not show whose source it is; name the engine with --engine")
    return load.engine_of(path), path


def _unpacked(home: Home, spec: EngineSpec, options: Options, console: Console) -> tuple[Path, str]:
    """The unpacked source, and its name and version."""

    def say(text: str) -> None:
        console.print(f"    {text}", markup=False, highlight=False, soft_wrap=True)

    source, place = unpacked(home, spec, options, say)
    return place, f"{source.name} {source.version}"


def _told_apart(named: Sequence[series.Named], base: Variant, tree: Path, what: str) -> Builds:
    """The builds of a series, the patches of the recipe itself being there first."""
    first, _ = patch_set.fitted(base, tree)

    def refusal(found: Sequence[patches.Patch]) -> patches.PatchError | None:
        return patch_set.refusal((*first, *found), tree, what)

    return subsets.builds(subsets.examine(named, refusal, what), refusal)


def variants_of(base: Variant, found: Builds) -> tuple[Variant, ...]:
    """The unpatched tree and every build of the series as variants of one recipe."""

    def variant(name: str, reason: str, words: Sequence[str]) -> Variant:
        recipe = replace(base.recipe, patches=(*base.recipe.patches, *words))
        return replace(base, name=name, recipe=recipe, reason=reason)

    unpatched = variant(UNPATCHED, f"The tree as it is, built as {base.name}: what patches are held against.", ())
    return unpatched, *(
        variant(
            build.variant,
            f"{base.name} with {', '.join(build.patches)}.",
            [each.word for each in found.patches_of(build)],
        )
        for build in found.builds
    )


def described(found: Builds) -> dict[str, Any]:
    """The series as plain values, for the record."""
    return {
        "members": [
            {
                "name": member.name,
                "origin": member.named.origin,
                "reverted": member.named.patch.reverted,
                "sha256": member.named.patch.sha256,
                "needs": list(member.needs),
            }
            for member in found.members
        ],
        "builds": [
            {
                "variant": build.variant,
                "kind": str(build.kind),
                "patch": build.patch,
                "patches": list(build.patches),
                "also": list(build.also),
            }
            for build in found.builds
        ],
        "left_out": [[patch, str(kind), why] for patch, kind, why in found.left_out],
    }


def _skip_twins(setting: Setting, ready: Makings) -> None:
    """Builds that are the same program, to the byte, are measured once; of replicates each must be."""
    programs = {
        event.body["variant"]: tuple(event.body["program"][part] for part in ("code", "data"))
        for event in setting.record.events("evidence")
    }
    first: dict[tuple[tuple[str, ...], ...], str] = {}
    for item in ready.made[1:]:
        name = item.variant.name
        if item.built is None:
            continue
        mine = ready.replicates.get(name, (item.built,))
        other = first.setdefault(tuple(programs[built.name] for built in mine), name)
        if other != name:
            item.built = None
            setting.record.append("twin", variant=name, of=other)
            setting.bench.say(f"{name}: the same program as {other}; measured once")


def _explain(setting: Setting, ready: Makings, found: Builds, seconds: float | None, console: Console) -> None:
    """Samples the builds beside the unpatched one, each in a study of its own; what is most telling goes on record.

    Nothing that goes wrong here takes a verdict back.
    """
    kinds = {build.variant: build.kind for build in found.builds}
    done = {
        (event.body["variant"], event.body["workload"])
        for event in setting.record.events("symbols")
        if "failure" not in event.body
    }
    baseline, *others = ready.made
    for item in others:
        if item.built is None or kinds[item.variant.name] not in SAMPLED:
            continue
        for workload in setting.workloads:
            where = {"variant": item.variant.name, "workload": workload.name}
            if (item.variant.name, workload.name) in done:
                continue
            try:
                folder = sampling.explain(
                    setting.home,
                    _request(setting.spec, baseline, item),
                    workload,
                    seconds,
                    setting.options,
                    console,
                    setting.ask,
                )
            except (UserError, InfrastructureError) as error:
                setting.record.append("symbols", **where, failure=str(error).splitlines()[0])
                setting.bench.say(f"{item.variant.name}: not explained: {error}")
                continue
            setting.record.append("symbols", **where, study=folder.name, **_symbols(folder))


def _request(spec: EngineSpec, one: Made, other: Made) -> sampling.Request:
    assert one.built is not None and other.built is not None  # noqa: S101, PT018 - both were measured
    return sampling.Request(spec.name, (one.variant.name, other.variant.name), (one.built, other.built))


def _symbols(folder: Path) -> dict[str, Any]:
    """The functions that make up most of the difference, from the study of the samples."""
    by: dict[str, list[Event]] = {}
    with closing(Record(folder)) as record:
        for event in record.events():
            by.setdefault(event.kind, []).append(event)
    told: Explanation | None = explanation(by)
    assert told is not None  # noqa: S101 - it was finished
    return {
        "unit": told.unit,
        "cpu": [told.before.cpu, told.after.cpu],
        "functions": [row.as_dict() for row in explaining_rows(told.rows)[:FUNCTIONS]],
    }
