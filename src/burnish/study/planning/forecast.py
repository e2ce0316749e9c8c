"""Facts of the store and the host for a plan: what is cached, earlier costs, how many jobs a build may use."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence

from burnish.bench import datasets
from burnish.bench.host import available_memory
from burnish.builds import evidence
from burnish.builds.stages import Compile
from burnish.engines.jobs import Jobs, choose
from burnish.model.cache import CacheUse
from burnish.model.engine import EngineSpec
from burnish.model.workload import Workload
from burnish.record.store import Store
from burnish.source.sources import Source
from burnish.study.builds.resolving import Chain, gate_key
from burnish.study.planning.plan import Known, Plan, Step, compiles_in_link, link_memory, make_plan


def known_of(spec: EngineSpec, store: Store, source: str) -> Known:
    """What this home has recorded about an engine's steps; reads, never writes."""
    builds = [entry for entry in store.entries("builds") if entry.about.get("engine") == spec.name]
    objects = frozenset(str(entry.about["objects_key"]) for entry in builds if entry.about.get("objects_key"))
    readings = frozenset(str(entry.about["reading_key"]) for entry in builds if entry.about.get("reading_key"))
    cached = shutil.which("ccache") is not None
    return Known(
        has=store.has,
        history=store.costs.history(spec.name),
        objects=objects if cached else None,
        readings=readings if cached else frozenset(),
        made_with=store.made_with,
        cache_use={entry.key: CacheUse(**entry.about["cache"]).words for entry in builds if entry.about.get("cache")},
        source=source,
    )


def plan_of(
    chains: Sequence[Chain],
    *,
    spec: EngineSpec,
    store: Store,
    source: Source | None,
    workloads: Sequence[Workload],
    trials: Callable[[frozenset[str]], Sequence[Step]] | None = None,
    to_install: Sequence[str] = (),
) -> Plan:
    """The plan for these chains in this home.

    Args:
        chains: every variant's stages, or why it is left out.
        spec: the engine.
        store: finished work.
        source: the source; None if it must be fetched first.
        workloads: those of trials and trainings.
        trials: called with the keys of final builds that are known to be the baseline's code; returns the trials as
            steps.
        to_install: system packages that will be installed first.
    """
    possible = [(chain.variant.name, chain.stages) for chain in chains if chain.missing is None]
    recipes = [(chain.variant.name, chain.variant.recipe, chain.final) for chain in chains if chain.missing is None]
    same = evidence.known_same(recipes, store)
    said = _version_of(chains, store) if source and source.is_named_alone else ""
    version = source.data_version(said) if source else ""
    data = {datasets.dataset_key(spec, version, w): w.dataset for w in workloads if w.dataset != "none"}
    return make_plan(
        possible,
        spec=spec,
        known=known_of(spec, store, source.digest if source else ""),
        source=source.origin if source else f"Debian source package {spec.debian_package}, to be fetched first",
        gates={stages[-1].key: gate_key(spec, stages) for _, stages in possible},
        data=[(name, key) for key, name in data.items()],
        same=same,
        trials=trials(same) if trials else (),
        left_out=[(chain.variant.name, chain.missing) for chain in chains if chain.missing is not None],
        lacking={chain.variant.name: chain.packages for chain in chains if chain.packages},
        to_install=to_install,
    )


def _version_of(chains: Sequence[Chain], store: Store) -> str:
    """What the first of these builds that was tested here said of its version; '' if none was."""
    gates = {entry.about.get("build"): entry.about.get("version", "") for entry in store.entries("gates")}
    return next((gates[chain.final] for chain in chains if chain.missing is None and gates.get(chain.final)), "")


def widths(spec: EngineSpec, store: Store, cores: int, wanted: int | None) -> Callable[[Compile, str], Jobs]:
    """How many jobs each compile stage may use, by the memory that is free when it begins.

    Args:
        spec: the engine, for rough figures of stages that were never made here.
        store: for earlier costs.
        cores: cores that a build may use.
        wanted: jobs that the user requested.
    """

    def of(stage: Compile, name: str) -> Jobs:
        lto, history = compiles_in_link(stage, spec), store.costs.history(spec.name)
        link = link_memory(stage, name, spec, history).value
        compilation = 1e6 * spec.costs.object_mb
        # The largest process of such a build, compiler or linker: with LTO it is the link.
        largest = history.figure(stage.title, name, "peak")
        if largest and not lto:
            compilation = max(compilation, largest.value)
        return choose(cores, available_memory(), object_peak=compilation, link_peak=link, lto=lto, wanted=wanted)

    return of
