"""The trials in a plan: cells with their starts, the cores of servers and clients, the winner measured again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from burnish.bench.host import read_host
from burnish.bench.topology import duet_core_sets
from burnish.model.workload import Design, Placement
from burnish.record.costs import Figure
from burnish.study.comparison import Comparison
from burnish.study.planning.confirming import Expected, expected
from burnish.study.planning.plan import Step
from burnish.study.request.options import Options
from burnish.study.study import Study
from burnish.study.trials.progress import least_starts
from burnish.study.trials.timing import as_asked, start_seconds


def least(study: Study, comparison: Comparison) -> int:
    """The minimum number of starts of a comparison."""
    return comparison.starts or least_starts(study.rule)


def one_start(study: Study, options: Options, comparison: Comparison) -> float:
    """Rough seconds of one start of a comparison."""
    assert comparison.cell is not None  # noqa: S101 - only what is tried has times
    return start_seconds(as_asked(study.engine.times[comparison.cell.design], options))


def again(study: Study, options: Options, comparisons: Sequence[Comparison]) -> Expected | None:
    """What measuring the winners of these comparisons again will cost; None if none is."""
    times = {design: as_asked(own, options) for design, own in study.engine.times.items()}
    if duet_core_sets(read_host(programs=False)) is None:  # no duet, so nothing is found in one
        study = replace(study, confirmation=replace(study.confirmation, apart=False))
    return expected(study, comparisons, times, study.fresh_starts)


def steps(study: Study, options: Options, comparisons: Sequence[Comparison]) -> list[Step]:
    """The trials, with the minimum number of starts of every cell, then the winner again; empty without cells."""
    cells = [comparison for comparison in comparisons if comparison.cell is not None]
    if not cells:
        return []
    seconds = sum(least(study, cell) * one_start(study, options, cell) for cell in cells)
    title = f"trials of {len(cells)} cell{'s' if len(cells) > 1 else ''}"
    if words := "; ".join(placements(cells)):
        title += f" ({words})"
    ahead = [Step("trials", title, (), "", False, Figure(seconds))]
    if (winner := again(study, options, cells)) is not None:
        ahead.append(Step("again", winner.title, (), "", False, Figure(winner.seconds)))
    if (deployed := deployment(study, options, cells)) is not None:
        ahead.append(deployed)
    return ahead


def together(study: Study) -> int:
    """How often ways to deploy are measured together: on the best build, and so deployed against the baseline.

    A single one has been measured on the best build by itself.
    """
    return 2 if len(study.deploy) > 1 else 1


def deployment(study: Study, options: Options, comparisons: Sequence[Comparison]) -> Step | None:
    """Measuring ways to deploy the best build, each and together, with the minimum number of starts; None if none is
    asked for.
    """
    if not study.deploy:
        return None
    loads = {comparison.workload.name for comparison in comparisons if comparison.workload is not None}
    once = start_seconds(as_asked(study.engine.times[Design.INTERLEAVED], options))
    seconds = (len(study.deploy) + together(study)) * len(loads) * least_starts(study.rule) * once
    count = f"{len(study.deploy)} way{'s' * (len(study.deploy) > 1)}"
    return Step("trials", f"{count} to deploy the best build, one side at a time", (), "", False, Figure(seconds))


def placements(comparisons: Sequence[Comparison]) -> list[str]:
    """What is measured in another placement than a duet's, with the numbers of cores on this host."""
    counts = Counter(cell.placement for comparison in comparisons if (cell := comparison.cell) is not None)
    host = read_host(programs=False)
    sets = duet_core_sets(host)
    half, every = (len(sets[0]), len(sets[0] | sets[1])) if sets else (0, len(host.cores_allowed))
    if not half:  # no halves alike: whatever was asked for, one side at a time has all cores
        counts = Counter({Placement.WHOLE: counts.total()})
    about = {
        Placement.APART: f"server on {_cores(half)}, clients on {half} more",
        Placement.WHOLE: f"server and clients on {_cores(every)} together",
    }
    several = len(counts) > 1
    return [
        f"{placement}{f' ({counts[placement]} of {counts.total()} cells)' if several else ''}: {words}"
        for placement, words in about.items()
        if counts[placement]
    ]


def _cores(count: int) -> str:
    return f"{count} core{'s' if count > 1 else ''}"
