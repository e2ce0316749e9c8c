"""The verb `plan`: what `tune` would do with the same words, found out without building or fetching anything."""

from __future__ import annotations

import math
from dataclasses import replace

from burnish.base import system
from burnish.base.paths import Home
from burnish.bench.host import read_host
from burnish.model.workload import Design
from burnish.profiles.collecting import PROFILE_FILE
from burnish.record.costs import Figure
from burnish.record.store import Store
from burnish.source import sources
from burnish.source.patches import patch_set
from burnish.source.sources import Source, SourceRequest
from burnish.study import conditions
from burnish.study.builds import needs
from burnish.study.builds.make import UNKNOWN_SOURCE, resolve
from burnish.study.builds.source import source_request
from burnish.study.options import Options
from burnish.study.planning import forecast
from burnish.study.planning.plan import Plan, Step
from burnish.study.request import Request, read_request
from burnish.study.trials.replicates import Factors, expand
from burnish.study.trials.timing import as_asked, rule_of, start_seconds
from burnish.study.workloads import located, training_workloads
from burnish.toolchain import ccache
from burnish.toolchain.toolchains import find_toolchains


def plan(home: Home, engine: str, options: Options) -> Plan:
    """The plan of a study; the source is neither fetched nor unpacked.

    Raises:
        UserError: whatever is wrong with the request; every problem, a line each.
    """
    request = read_request(engine, options)
    ccache.size_gb()
    spec = request.spec
    wanted = source_request(spec, options)
    source = _source(home, request, wanted)
    digest, folder = source.digest if source else UNKNOWN_SOURCE, sources.folder_of(wanted)
    factors = Factors(options.layouts, options.trainings)
    work, store = home.work(spec.name), Store(home.store)
    # Only these stages depend on what the host's processor can record.
    sampled = any(variant.recipe.bolt or variant.recipe.sampled for variant in request.variants)
    chains = resolve(
        expand(request.variants, factors),
        spec=spec,
        source_digest=digest,
        source=work / "source",
        toolchains=find_toolchains(),
        features=request.features,
        profile_place=work / PROFILE_FILE,
        store=store,
        lbr=bool(sampled and read_host().lbr),
        folder=folder,
    )
    training = training_workloads(spec, request.variants)
    groups = [*spec.system_packages, *conditions.groups(spec, options), *needs.optional_groups(request.variants)]
    known = system.groups()
    packages = list(dict.fromkeys(name for group in groups for name in known[group].packages))

    def trials(same: frozenset[str]) -> Step | None:
        measured = [chain for chain in chains[factors.count :] if chain.missing is None and chain.final not in same]
        return _trials(request, options, math.ceil(len(measured) / factors.count))

    found = forecast.plan_of(
        chains,
        spec=spec,
        store=store,
        source=source,
        workloads=located(
            spec, {**training, **{each.name: each for each in request.workloads}}.values(), work / "source"
        ),
        trials=trials,
        to_install=system.missing_packages(packages),
    )
    patched = [variant.name for variant in request.variants if variant.recipe.patches]
    if not patched or patch_set.open_tree(digest, work / "source", folder) is not None:
        return found
    return replace(found, source=f"{found.source}; then the patches of {', '.join(patched)} are tried on it")


def _source(home: Home, request: Request, wanted: SourceRequest) -> Source | None:
    found = sources.known(wanted, cache=home.downloads)
    if found is None:
        return None
    unpacked = sources.is_unpacked(found.digest, home.work(request.spec.name) / "source")
    return found if unpacked else replace(found, origin=f"{found.origin}, to be unpacked first")


def _trials(request: Request, options: Options, candidates: int) -> Step | None:
    """The trials at their least: the rule's smallest number of starts of every cell."""
    if not candidates:
        return None
    seconds = 0.0
    for workload in request.workloads:
        timing = as_asked(request.spec.times[Design(options.design or workload.design)], options)
        seconds += rule_of(options).minimum * candidates * start_seconds(timing)
    cells = candidates * len(request.workloads)
    title = f"trials of {cells} cell{'s' if cells > 1 else ''}"
    return Step("trials", title, (), "", False, Figure(seconds))
