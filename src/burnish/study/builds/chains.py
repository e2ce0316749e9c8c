"""The stages of a study's builds on this host, or why a build can't be made here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.bench.host import read_host
from burnish.builds.stages import Compile
from burnish.profiles.collecting import PROFILE_FILE
from burnish.record.store import Store
from burnish.study.builds.resolving import Chain, resolve
from burnish.study.request.workloads import training_workloads
from burnish.study.study import Study
from burnish.study.trials.replicates import expand
from burnish.toolchain.toolchains import find_toolchains


def chains_of(
    study: Study,
    names: Sequence[str],
    *,
    source_digest: str,
    home: Home,
    store: Store,
    folder: Path | None = None,
) -> dict[str, Chain]:
    """The stages of these builds and of the baseline, by name, replicates as name#1, name#2, ...

    If the study is tolerant, one that cannot be made has the reason in `missing`. Builds of other hosts are as they
    were made there (`Study.foreign`).

    Args:
        study: whose builds they are.
        names: of the builds.
        source_digest: the source's.
        home: where builds are made.
        store: finished work.
        folder: folder that the source will be copied from, if any: until it is copied, patches are tried there.
    """
    spec = study.engine
    work = home.work(spec.name)
    wanted = list(dict.fromkeys((study.base, *names)))
    every = expand([study.variants[name] for name in wanted], study.replicates)
    foreign = {variant.name: study.foreign[variant.name] for variant in every if variant.name in study.foreign}
    if len(foreign) == len(every):
        return foreign
    variants = [variant for number, variant in enumerate(every) if not number or variant.name not in foreign]
    sampled = any(variant.recipe.bolt or variant.recipe.sampled for variant in variants)
    chains = resolve(
        variants,
        spec=spec,
        source_digest=source_digest,
        source=work / "source",
        toolchains=find_toolchains(),
        features=study.features,
        profile_place=work / PROFILE_FILE,
        store=store,
        lbr=bool(sampled and read_host().lbr),
        lenient=study.tolerant,
        folder=folder,
    )
    by_name = (
        {chain.variant.name: _trainable(study, chain) for chain in chains}
        if study.tolerant
        else {chain.variant.name: chain for chain in chains}
    )
    for name in study.instrumented & set(by_name):
        by_name[name] = _until_instrumented(by_name[name])
    return {variant.name: foreign.get(variant.name) or by_name[variant.name] for variant in every}


def _trainable(study: Study, chain: Chain) -> Chain:
    """The chain; it cannot be made if its training names a load that the engine lacks."""
    try:
        training_workloads(study.engine, [chain.variant], study.workloads)
    except UserError as error:
        return replace(chain, missing=chain.missing or str(error))
    return chain


def _until_instrumented(chain: Chain) -> Chain:
    """The chain up to the build that writes a profile when it runs."""
    for number, stage in enumerate(chain.stages, 1):
        if isinstance(stage, Compile) and stage.instrumented:
            return replace(chain, stages=chain.stages[:number])
    return chain if chain.missing else replace(chain, missing="its recipe has no instrumented build")
