"""How the lines of a record relate to what was published: as recorded, or for older records as today's file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.bundled import files
from burnish.catalogue.bundled.likeness import Likeness
from burnish.catalogue.bundled.model import Study
from burnish.catalogue.bundled.published import SAMPLES
from burnish.record.codec import value_of
from burnish.record.events.bundled import PlannedComparison, PublishedFigure, TablePlanned, Titled
from burnish.study.bundled.expansion import expand
from burnish.study.comparison import Comparison

OLDER = "its row is not in today's file, or is another comparison there, so that nothing is known of what is not alike"
"""Reason for a comparison of an older record that no longer exists."""


@dataclass(frozen=True)
class Today:
    """Today's file of a study, beside a record.

    Attributes:
        study: the file; None if there is none of that name.
        comparisons: its comparisons on the record's engine, by key; empty without a file.
    """

    study: Study | None = None
    comparisons: Mapping[str, Comparison] = field(default_factory=dict)


def today(table: TablePlanned, engine: str) -> Today:
    """Today's file of a record's study, for what the record does not say itself."""
    threads = {comparison.id.threads for comparison in table.comparisons if comparison.id.threads}
    return _today(table.study, engine, table.architecture, tuple(sorted(threads)))


@cache
def _today(name: str, engine: str, architecture: str, threads: tuple[int, ...]) -> Today:
    if name not in files.names() or engine not in load.engines():
        return Today()
    study = files.study(name)
    own = expand(study, load.engine(engine), threads=threads, architecture=architecture or None)
    return Today(study, {comparison.key: comparison for comparison in own.comparisons})


def completed(planned: PlannedComparison, now: Today) -> PlannedComparison:
    """A comparison with its likeness, and its published figure if the record has only a share of samples.

    A record's own likeness wins. Older records have none: they take that of the same comparison in today's file, where
    same means the same sides; of a row that the file has no more, what the file says of it as a former row.
    """
    if planned.likeness or planned.published is None or now.study is None:
        return planned
    if (former := now.study.former.get(planned.id.row)) is not None:
        return _with(planned, former)
    same = now.comparisons.get(planned.id.key)
    if same is None or same.likeness is None or not _same_sides(planned, same):
        return replace(planned, unlike=(OLDER,)) if planned.reason is None else planned
    if planned.published.unit == SAMPLES and same.published is not None and same.published.unit != SAMPLES:
        figure = value_of(PublishedFigure, asdict(same.published))
        planned = replace(planned, published=figure, published_words=same.published.words)
    return _with(planned, same.likeness)


def _with(planned: PlannedComparison, likeness: Likeness) -> PlannedComparison:
    return replace(planned, likeness=likeness.kind, unlike=likeness.unlike)


def _same_sides(planned: PlannedComparison, now: Comparison) -> bool:
    """Whether a recorded comparison has the sides of today's; a side that is only known when it is found is any."""
    try:
        label = now.label
    except UserError:
        return False
    return planned.base == now.base and planned.candidate == label


def not_replicated(table: TablePlanned, now: Today) -> tuple[Titled, ...]:
    """What the published tables have without any counterpart: as recorded, else as in today's file."""
    if table.not_replicated or now.study is None:
        return table.not_replicated
    return tuple(Titled(part.title, part.reason) for part in now.study.not_replicated)
