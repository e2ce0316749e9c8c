"""Memory of single compiles: a figure read from the builds, without a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from burnish.base.errors import InfrastructureError
from burnish.builds.stages import Compile
from burnish.model.cell import BuildId
from burnish.record.events.builds import BuildFailed
from burnish.record.events.bundled import FigureMeasured
from burnish.study.builds import peaks
from burnish.study.comparison import Comparison
from burnish.study.trials.replicates import replicate_names
from burnish.study.workshop.workshop import NotMeasured, Workshop


def measure_objects(workshop: Workshop, comparison: Comparison) -> None:
    """Records the peak memory of the comparison's compiles, in both builds.

    Raises:
        NotMeasured: a build has no figure for these objects.
    """
    figures = []
    for name in (comparison.base, comparison.candidate):
        peak = peaks.heaviest(_costs(workshop, name, comparison.objects), comparison.objects)
        if isinstance(peak, str):
            raise NotMeasured(f"{name}: {peak}")
        figures.append(peak)
    (_, before, _), (path, after, seconds) = figures
    workshop.record.append(
        FigureMeasured(
            comparison=comparison.id,
            value=after / 1e6,
            base=before / 1e6,
            unit=peaks.UNIT,
            words=peaks.words(after / 1e6, before / 1e6),
            note=f"peak of {Path(path).name}, {seconds:.0f} s; read off the compile, so it has no interval",
        )
    )


def _costs(workshop: Workshop, name: str, words: Sequence[str]) -> Mapping[str, Any]:
    """The compile costs of these objects of a build: from its description, or by compiling just these."""
    assert workshop.maker is not None  # noqa: S101 - such comparisons are of builds
    first = replicate_names(name, workshop.study.replicates)[0]
    if first not in workshop.chains:
        workshop.find_chains([name])
    chain = workshop.chains[first]
    if chain.missing is not None:
        raise NotMeasured(f"{name}: {chain.missing}")
    entry = workshop.session.store.find("builds", chain.final)
    alone = next((stage for stage in chain.stages if isinstance(stage, Compile) and len(chain.stages) == 1), None)
    if entry is None and alone is None:
        workshop.make([name])
        built = workshop.build(name).built
        entry = workshop.session.store.find("builds", built.key if built else "")
    costs = dict(entry.about.get("costs") or {}) if entry else {}
    # A finished build names its heaviest objects only; of others the cost is known by compiling them again, from the
    # compiler's cache where it has them.
    if alone is None or not isinstance(peaks.heaviest(costs, words), str):
        return costs
    try:
        return workshop.maker.builder.cost_of(alone, name, words)
    except InfrastructureError as error:
        workshop.record.append(BuildFailed(BuildId(name), error.explain()))
        raise NotMeasured(f"{name}: build failed: {error}") from None
