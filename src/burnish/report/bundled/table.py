"""The table of a bundled study, as values: published, measured here, verdict or reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.model.recipe import Marks
from burnish.record.events.bundled import HostFigure
from burnish.record.events.verdicts import HostVerdict, Interval
from burnish.report.analysis.verdict import IDENTICAL, NO_EFFECT, words
from burnish.report.bundled.advice import Advice
from burnish.report.bundled.controls import Controls
from burnish.report.quantities import Measured

OPEN = "not measured yet"
"""Reason of a comparison that no session has come to."""


@dataclass(frozen=True)
class Line:
    """One comparison: a cell of the study's table.

    Attributes:
        key: names it.
        row: the row's name.
        series: the series' name, '' where there is one only.
        reading: the reading's name; '' where there is one only.
        load: role of its load.
        threads: client threads; None: the load's own.
        published: the published figure in words.
        measured: what was measured here, in words; '' where nothing was.
        verdict: the verdict, ``measured`` for what has no interval, or ''.
        reason: the verdict's sentence, or why there is none.
        interval: ratio of the quantity that answers to the published figure, with its interval; None without.
        quantity: that quantity.
        together: the verdict as one of many, where it is another one.
        starts: valid starts.
        control: whether both sides are the same build.
        settled: whether it has its verdict, or a reason that holds for every session.
        test: which of a suite's tests it is; '' where the load is one.
        shows: what the host's architecture can show of the row's patch; '' of rows about something else.
        published_unit: unit of the published figure; '' without one.
        hosts: in a record put together from several hosts, what each of them says by itself.
        hosts_differ: whether two of those have nothing in common.
        cell: the cell whose starts it tells of, which other lines may tell of too; '' without any.
        within: of a difference that is proved to be within ±delta too, that delta; None of any other.
        base: what the candidate is compared with: a build, a build under a condition, or a program.
        candidate: a build, a build under a condition, or a program.
        marks: what the candidate's build costs beyond time.
        quantities: by name, what the same starts say of every quantity that was read; empty without starts.
    """

    key: str
    row: str
    series: str
    reading: str
    load: str
    threads: int | None
    published: str
    measured: str
    verdict: str
    reason: str
    interval: Interval | None
    quantity: str
    together: str
    starts: int
    control: bool
    settled: bool
    test: str = ""
    shows: str = ""
    published_unit: str = ""
    hosts: tuple[HostVerdict | HostFigure, ...] = ()
    hosts_differ: bool = False
    cell: str = ""
    within: float | None = None
    base: str = ""
    candidate: str = ""
    marks: Marks = field(default_factory=Marks)
    quantities: Mapping[str, Measured] = field(default_factory=dict)

    @property
    def identical(self) -> bool:
        """Whether both sides are the same program, so that nothing was measured."""
        return not self.verdict and self.reason.startswith(NO_EFFECT)

    @property
    def last(self) -> str:
        """What stands in the table's last column: the verdict, or that there is a reason."""
        if self.identical:
            return IDENTICAL
        return words(self.verdict, self.within) or ("not measured" if self.settled else "open")


@dataclass(frozen=True)
class StudyTable:
    """A study's result.

    Attributes:
        study: its name.
        title: its title.
        reason: what it replicates.
        sources: the published tables.
        lines: all comparisons in order.
        rows: titles and reasons by row.
        readings: titles and reasons by reading.
        series: reasons by series.
        advice: what it recommends, in sentences.
        canaries: ratios of the A/A starts that were mixed in.
        extra: what analyses recorded beyond the table, by kind.
        patches: by row about a patch, what there is to say of that (see `burnish.study.bundled.patches.facts`).
        architecture: the host's, as the kernel names it; '' in records that do not say.
        controls: what its negative controls say together; None without any.
        changed: by variant with patches, which functions these change, in words.
        advised: what it recommends to build with, by series, as values.
    """

    study: str
    title: str
    reason: str
    sources: tuple[str, ...]
    lines: tuple[Line, ...]
    rows: Mapping[str, Mapping[str, str]]
    readings: Mapping[str, Mapping[str, str]]
    series: Mapping[str, str]
    advice: tuple[str, ...]
    canaries: tuple[float, ...]
    extra: Mapping[str, Sequence[Mapping[str, Any]]]
    patches: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    architecture: str = ""
    controls: Controls | None = None
    changed: Mapping[str, str] = field(default_factory=dict)
    advised: tuple[Advice, ...] = ()
