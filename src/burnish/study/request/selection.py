"""Which comparisons of a study a session runs: selected by name and by threads."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from burnish.base.errors import UserError, together, unknown
from burnish.catalogue.bundled.model import Study as BundledFile
from burnish.model.cell import ComparisonId
from burnish.study.comparison import Comparison, Unit
from burnish.study.study import Study


@dataclass(frozen=True)
class Asked:
    """Which part of a bundled study is requested.

    Attributes:
        rows: names; empty: all.
        series: names; empty: the default part's, or all.
        threads: numbers of client threads; empty: the default part's, or all.
        everything: all series and threads of the file.
    """

    rows: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    everything: bool = False


@dataclass(frozen=True)
class Selection:
    """What is run in this session.

    Attributes:
        chosen: comparisons, in order.
        cut: by a comparison's key, why it is left out.
        asked: which part of the study was requested.
    """

    chosen: tuple[Comparison, ...]
    cut: Mapping[str, str] = field(default_factory=dict)
    asked: Asked = field(default_factory=Asked)


def unit_words(unit: Unit) -> str:
    """A unit in words: ``unroll`` or ``clang: unroll``."""
    series, row = unit
    return f"{series}: {row}" if series else row


def by_name(study: Study, asked: Asked) -> Selection:
    """The comparisons selected by row, series and threads; the others with the option that includes them.

    Raises:
        UserError: unknown rows or series, each with the nearest name.
    """
    own = study.bundled
    if own is None:
        return Selection(study.comparisons, asked=asked)
    problems = [unknown(f"row of {own.name}", name, [row.name for row in own.rows]) for name in asked.rows
                if name not in {row.name for row in own.rows}]  # fmt: skip
    problems += [unknown(f"series of {own.name}", name, own.series) for name in asked.series
                 if name not in own.series]  # fmt: skip
    ladder = sorted({comparison.threads for comparison in study.comparisons if comparison.threads is not None})
    if asked.threads and not ladder:
        problems.append(UserError(f"--threads: no row of {own.name} has a ladder of threads; leave it out"))
    if problems:
        raise together(problems)
    series, threads = _first(own, asked)
    chosen, cut = [], {}
    for comparison in study.comparisons:
        if asked.rows and comparison.row not in asked.rows:
            cut[comparison.key] = "left out by --row"
        elif series and comparison.series not in series:
            cut[comparison.key] = f"not asked for: --series {comparison.series} brings it"
        elif threads and comparison.threads is not None and comparison.threads not in threads:
            cut[comparison.key] = f"not asked for: --threads {comparison.threads} brings it"
        else:
            chosen.append(comparison)
    return Selection(tuple(chosen), cut, asked)


def _first(own: BundledFile, asked: Asked) -> tuple[Collection[str], Collection[int]]:
    """Series and threads that are requested; empty: all."""
    if own.delivery is None or asked.everything:
        return asked.series, asked.threads
    return asked.series or own.delivery.series, asked.threads or own.delivery.threads


def builds_of(comparison: Comparison) -> tuple[str, ...]:
    """The builds that a comparison needs; where compiles are measured, only the base."""
    alone = comparison.release or comparison.measure is not None
    return (comparison.base,) if alone else tuple(dict.fromkeys((comparison.base, comparison.candidate)))


def needed(study: Study, comparisons: Sequence[Comparison]) -> list[str]:
    """Names of the builds that these comparisons need, the baseline first."""
    named = (name for comparison in comparisons if comparison.reason is None for name in builds_of(comparison))
    return [name for name in dict.fromkeys((study.base, *named)) if name in study.variants]


def is_decided(comparison: Comparison, decided: Collection[ComparisonId]) -> bool:
    """Whether a comparison has its verdict or figure."""
    return comparison.id in decided
